//! Sessions, devices, and what they refuse.

mod common;
use common::watchdog;
use softdpu::card::{Machine, Plane, Profile, Side, View};
use softdpu::dma::{Config, Dma};
use softdpu::prelude::*;

fn inline() -> softdpu::SessionBuilder {
    Session::builder().board(Board::inline())
}

#[test]
fn what_is_not_said_comes_from_the_environment() {
    watchdog();
    // In a process of its own each, since the environment belongs to the whole process.
    for (variable, value, devices) in
        [("SOFTDPU_SIDE", "dpu", 2), ("SOFTDPU_SIDE", "host", 2), ("SOFTDPU_PROFILE", "bf3", 4)]
    {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "helper_counts_devices", "--nocapture", "--ignored"])
            .env_remove("SOFTDPU_CONFIG")
            .env_remove("SOFTDPU_SIDE")
            .env_remove("SOFTDPU_PROFILE")
            .env(variable, value)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains(&format!("devices: {devices}\n")), "{variable}={value}: {text}");
    }
}

#[test]
#[ignore = "run by the test above, in another process"]
fn helper_counts_devices() {
    println!("devices: {}", Session::open().unwrap().devices().len());
}

#[test]
fn a_described_machine_beats_the_environment() {
    let session = inline().profile(Profile::Bf2).side(View::Host).open().unwrap();
    assert!(session.devices().iter().all(|d| d.function().side() == Side::Host));
    assert!(session.devices().iter().all(|d| d.function().card().profile() == Profile::Bf2));
    let machine = Machine::builder().profile(Profile::Cx7).build().unwrap();
    let session = inline().machine(machine).open().unwrap();
    assert_eq!(session.first_with(EngineKind::Dma).unwrap_err().code(), Code::NotFound);
}

#[test]
fn devices_are_found_by_every_name() {
    let session = inline().profile(Profile::All).open().unwrap();
    for device in session.devices() {
        let function = device.function();
        let pci = function.pci().to_string();
        let short = pci.strip_prefix("0000:").unwrap();
        for name in [pci.as_str(), short, &pci.to_uppercase(), function.iface(), function.ibdev()] {
            assert_eq!(session.device(name).unwrap().function().vhca_id(), function.vhca_id(), "{name}");
        }
    }
    for name in ["", "0000:03:00.7", "nothing", "0000:03:00.0 "] {
        assert_eq!(session.device(name).unwrap_err().code(), Code::NotFound, "{name:?}");
    }
}

#[test]
fn a_configuration_that_is_refused_says_bad_config() {
    assert_eq!(inline().config_file("/no/such/file").open().unwrap_err().code(), Code::BadConfig);
}

#[test]
fn planes_restrict_handles_not_devices() {
    let session = inline().profile(Profile::All).open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let info = session.first_with(EngineKind::Dma).unwrap();
    let (network, storage, all) = (
        info.open_plane(Plane::Network).unwrap(),
        info.open_plane(Plane::Storage).unwrap(),
        info.open().unwrap(),
    );
    assert_eq!((network.plane(), all.plane()), (Some(Plane::Network), None));
    let refused = Context::<Dma>::start(&mut pe, &network, Config::default()).unwrap_err();
    assert_eq!(refused.code(), Code::NotSupported);
    for device in [&storage, &all] {
        Context::<Dma>::start(&mut pe, device, Config::default()).unwrap().wait(&mut pe).unwrap();
    }
    // One registration serves all handles on the function.
    let memory = Memory::heap(64).register(&[&network]).unwrap();
    assert_eq!(memory.mkey(&storage).unwrap(), memory.mkey(&all).unwrap());
}

#[test]
fn memory_is_registered_with_handles_of_the_face() {
    let session = inline().profile(Profile::All).open().unwrap();
    let devices: Vec<_> = session.devices().iter().map(|d| d.open().unwrap()).collect();
    let references: Vec<_> = devices.iter().collect();
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&references).unwrap();
    for device in &devices {
        assert_ne!(memory.mkey(device).unwrap(), 0);
        assert_ne!(memory.device_addr(device).unwrap(), 0);
    }
    let refused = Memory::heap(4096).register::<Device>(&[]).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidValue);
    let one = Memory::heap(4096).register(&[&devices[0]]).unwrap();
    assert_eq!(one.mkey(&devices[1]).unwrap_err().code(), Code::NotFound);
}

#[test]
fn errors_are_errors() {
    fn any(e: impl std::error::Error + Send + Sync + 'static) -> Box<dyn std::error::Error + Send + Sync> {
        Box::new(e)
    }
    let error = Error::new(Code::Full, "all tasks are in flight");
    let rejected = Rejected { error, back: 7 };
    assert_eq!(rejected.to_string(), error.to_string());
    let boxed = any(rejected);
    assert!(boxed.source().is_some_and(|s| s.downcast_ref::<Error>() == Some(&error)));
    any(error);
}
