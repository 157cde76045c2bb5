//! Export and import inside one process: who may, what it gives, when it ends.

use super::*;
use crate::lease::Lease;
use crate::region::{ALIVE, CAN_READ, CAN_WRITE, GUARDED, PEER_ATOMIC, PEER_READ};
use crate::register::{Registration, Request, register};
use softdpu_card::{Machine, Profile, Side};

/// A started map as both faces make one.
struct Map {
    memory: Vec<u8>,
    access: Access,
    devices: Vec<Arc<Device>>,
    lease: Lease,
    registration: Registration,
}

fn machine(profile: Profile) -> Machine {
    Machine::builder().profile(profile).build().unwrap()
}

fn open(machine: &Machine, side: Side) -> Arc<Device> {
    let function = machine.functions().iter().find(|function| function.side() == side).unwrap();
    Device::open(function.clone()).unwrap()
}

impl Map {
    fn new(access: Access, devices: &[Arc<Device>]) -> Map {
        let memory = vec![0u8; 10_000];
        let lease = Lease::new().unwrap();
        let registration = register(&lease, &Map::request(&memory, access, devices)).unwrap();
        Map { memory, access, devices: devices.to_vec(), lease, registration }
    }

    fn request<'a>(memory: &[u8], access: Access, devices: &'a [Arc<Device>]) -> Request<'a> {
        let (base, len) = (memory.as_ptr() as usize, memory.len());
        Request {
            object: &"test map",
            base,
            len,
            delta: 0,
            access,
            devices,
            shared: false,
            trusted: false,
            everywhere: false,
        }
    }

    fn export(&self, kind: Kind, token: Option<&[u8]>) -> Result<Exported> {
        let origin = Origin {
            region: &self.lease,
            access: self.access,
            writable: self.registration.is_writable(),
            mkey: self.registration.mkey(&self.devices[0]).unwrap(),
            parent: None,
            backing: None,
        };
        export(&"test map", origin, &self.devices[0], kind, token)
    }
}

fn code<T: std::fmt::Debug>(result: Result<T>) -> Code {
    result.unwrap_err().code()
}

const PCI_RW: Access = Access::PCI_READ_WRITE;

#[test]
fn rights_of_the_importer_follow_the_mask() {
    let machine = machine(Profile::All);
    let (host, card) = (open(&machine, Side::Host), open(&machine, Side::Dpu));
    let both = PCI_RW | Access::RDMA_READ;
    let rows = [
        (Access::LOCAL_READ_WRITE, Err(()), Err(())),
        (Access::PCI_READ_ONLY, Ok(CAN_READ), Err(())),
        (PCI_RW, Ok(CAN_READ | CAN_WRITE), Err(())),
        (Access::RDMA_ATOMIC, Err(()), Ok(SHARED | PEER_ATOMIC)),
        (both, Ok(CAN_READ | CAN_WRITE), Ok(SHARED | PEER_READ)),
    ];
    for (access, pci, rdma) in rows {
        let map = Map::new(access, std::slice::from_ref(&host));
        for (kind, expected) in [(Kind::Pci, pci), (Kind::Rdma, rdma)] {
            let exported = map.export(kind, None);
            let Ok(rights) = expected else {
                assert_eq!(code(exported), Code::NotPermitted, "{access:?} {kind}");
                continue;
            };
            let exported = exported.unwrap();
            assert!(exported.bytes().len() <= MAX_DESCRIPTOR);
            let imported = import(exported.bytes(), &card).unwrap();
            let region = imported.region();
            assert_eq!(region.word(), ALIVE | GUARDED | rights | card.bit(), "{access:?} {kind}");
            assert_eq!((region.base(), region.len()), (map.memory.as_ptr() as usize, map.memory.len()));
            assert_eq!((imported.access(), imported.kind(), region.delta()), (access, kind, 0));
        }
    }
}

#[test]
fn the_end_of_an_export_closes_all_importers_and_kills_the_bytes() {
    let machine = machine(Profile::All);
    let (host, card) = (open(&machine, Side::Host), open(&machine, Side::Dpu));
    let map = Map::new(PCI_RW, &[host]);
    let exported = map.export(Kind::Pci, None).unwrap();
    let bytes = exported.bytes().to_vec();
    let imports: Vec<_> = (0..5).map(|_| import(&bytes, &card).unwrap()).collect();
    drop(exported);
    assert!(imports.iter().all(|import| !import.region().is_open()));
    assert_eq!(code(import(&bytes, &card)), Code::InvalidValue);
    let again = map.export(Kind::Pci, None).unwrap();
    assert_ne!(again.bytes(), bytes);
    assert!(import(again.bytes(), &card).is_ok());
    assert_eq!(code(import(&bytes, &card)), Code::InvalidValue);
}

#[test]
fn an_export_through_an_import_ends_with_the_first_owner() {
    let machine = machine(Profile::All);
    let (host, card) = (open(&machine, Side::Host), open(&machine, Side::Dpu));
    let map = Map::new(PCI_RW | Access::RDMA_WRITE, &[host]);
    let first = map.export(Kind::Pci, None).unwrap();
    let middle = import(first.bytes(), &card).unwrap();
    let onward = |middle: &Imported| {
        let origin = Origin {
            region: middle.region(),
            access: middle.access(),
            writable: middle.is_writable(),
            mkey: 1,
            parent: Some(middle),
            backing: None,
        };
        export(&"imported map", origin, &card, Kind::Rdma, None)
    };
    let second = onward(&middle).unwrap();
    let last = import(second.bytes(), &card).unwrap();
    assert!(last.region().is_open());
    drop(first);
    assert!(!middle.region().is_open() && !last.region().is_open());
    assert_eq!(code(import(second.bytes(), &card)), Code::InvalidValue);
    assert_eq!(code(onward(&middle)), Code::NotPermitted);
}

#[test]
fn an_import_that_goes_away_leaves_the_others_alone() {
    let machine = machine(Profile::All);
    let host = open(&machine, Side::Host);
    let map = Map::new(PCI_RW, std::slice::from_ref(&host));
    let exported = map.export(Kind::Pci, None).unwrap();
    let (one, two) = (import(exported.bytes(), &host).unwrap(), import(exported.bytes(), &host).unwrap());
    let gone = one.region();
    drop(one);
    // Its place may belong to the next lease now, which the end of the export must not close.
    let next: Vec<_> = (0..32).map(|_| Lease::new().unwrap()).collect();
    for lease in &next {
        lease.open(0x1000, 1, 0, 0);
    }
    assert!(two.region().is_open() && !core::ptr::eq(gone, two.region()));
    drop(exported);
    assert!(!two.region().is_open() && next.iter().all(|lease| lease.is_open()));
}

#[test]
fn forged_bytes_are_refused_even_with_a_good_checksum() {
    let machine = machine(Profile::All);
    let host = open(&machine, Side::Host);
    let map = Map::new(PCI_RW, std::slice::from_ref(&host));
    let exported = map.export(Kind::Pci, None).unwrap();
    let good = Descriptor::decode(exported.bytes()).unwrap();
    let forged = [
        Descriptor { len: good.len + 1, ..good },
        Descriptor { base: good.base - 16, ..good },
        Descriptor { access: PCI_RW | Access::LOCAL_READ_WRITE, ..good },
        Descriptor { kind: Kind::Rdma, ..good },
        Descriptor { id: good.id + 1000, ..good },
        Descriptor { mkey: good.mkey ^ 1, ..good },
        Descriptor { secret: descriptor::Secret::of(&[0; 16]).unwrap(), ..good },
        Descriptor { card: Card { topology: good.card.topology ^ 1, ..good.card }, ..good },
        Descriptor { card: Card { folder: good.card.folder ^ 1, ..good.card }, ..good },
        Descriptor { owner: Owner { started: good.owner.started + 1, ..good.owner }, ..good },
    ];
    for descriptor in forged {
        let mut bytes = Vec::new();
        descriptor.encode(&mut bytes);
        assert_eq!(code(import(&bytes, &host)), Code::InvalidValue, "{descriptor:?}");
    }
    // A process that lives, but exports nothing.
    let mut other = Vec::new();
    let parent = std::os::unix::process::parent_id();
    let stat = std::fs::read_to_string(format!("/proc/{parent}/stat")).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap().parse().unwrap();
    Descriptor { owner: Owner { pid: parent, started }, ..good }.encode(&mut other);
    assert_eq!(code(import(&other, &host)), Code::InvalidValue);
}

#[test]
fn profiles_decide_who_shares_across_pci() {
    for profile in [Profile::Bf2, Profile::Bf3] {
        let machine = machine(profile);
        let (host, card) = (open(&machine, Side::Host), open(&machine, Side::Dpu));
        let map = Map::new(PCI_RW, std::slice::from_ref(&host));
        let exported = map.export(Kind::Pci, None).unwrap();
        assert!(import(exported.bytes(), &card).is_ok());
        assert!(import(exported.bytes(), &host).is_ok(), "its own export");
    }
    let all = machine(Profile::All);
    let cx7 = machine(Profile::Cx7);
    let plain = open(&cx7, Side::Host);
    let map = Map::new(PCI_RW | Access::RDMA_READ, std::slice::from_ref(&plain));
    assert_eq!(code(map.export(Kind::Pci, None)), Code::NotSupported);
    let rdma = map.export(Kind::Rdma, None).unwrap();
    assert!(import(rdma.bytes(), &open(&all, Side::Dpu)).is_ok(), "RDMA crosses cards");
    let shared = Map::new(PCI_RW, &[open(&all, Side::Host)]);
    let exported = shared.export(Kind::Pci, None).unwrap();
    assert_eq!(code(import(exported.bytes(), &plain)), Code::NotSupported);
    assert_eq!(code(import(exported.bytes(), &open(&machine(Profile::Bf3), Side::Dpu))), Code::InvalidValue);
}

#[test]
fn tokens_replace_the_secret_up_to_their_limit() {
    let machine = machine(Profile::All);
    let host = open(&machine, Side::Host);
    let map = Map::new(PCI_RW, std::slice::from_ref(&host));
    let token = [0xa5; MAX_TOKEN];
    let exported = map.export(Kind::Pci, Some(&token)).unwrap();
    assert!(exported.bytes().windows(MAX_TOKEN).any(|window| window == token));
    assert!(import(exported.bytes(), &host).is_ok());
    assert_eq!(code(map.export(Kind::Pci, Some(&[1; MAX_TOKEN + 1]))), Code::InvalidValue);
    let (a, b) = (map.export(Kind::Pci, None).unwrap(), map.export(Kind::Pci, None).unwrap());
    let secret = |exported: &Exported| Descriptor::decode(exported.bytes()).unwrap().secret;
    assert_ne!(secret(&a), secret(&b));
}

/// Threads that import and let go while the owner exports and stops.
#[test]
fn imports_race_with_the_end_of_the_export() {
    let machine = machine(Profile::All);
    let host = open(&machine, Side::Host);
    let map = Map::new(PCI_RW, std::slice::from_ref(&host));
    for _ in 0..200 {
        let exported = map.export(Kind::Pci, None).unwrap();
        let bytes = exported.bytes().to_vec();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..3).map(|_| scope.spawn(|| import(&bytes, &host))).collect();
            drop(exported);
            for thread in threads {
                match thread.join().unwrap() {
                    Ok(import) => assert!(!import.region().is_open()),
                    Err(error) => assert_eq!(error.code(), Code::InvalidValue),
                }
            }
        });
    }
}
