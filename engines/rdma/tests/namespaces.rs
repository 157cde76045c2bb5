//! Two network namespaces with a cable between them: two machines, as far as the network goes. Skipped, with the reason,
//! where namespaces cannot be made or libfabric is not installed.

mod common;

use common::{Folder, options, side};
use softdpu_rdma::{Address, AddressKind, Happening, Opcode, Receive, Send};
use std::process::{Command, Stdio};

/// Two namespaces, joined by a cable; they go with this value.
struct Machines([String; 2]);

impl Machines {
    fn new() -> Result<Machines, String> {
        let id = std::process::id();
        let names = [format!("sdpu-{id}-a"), format!("sdpu-{id}-b")];
        let machines = Machines(names.clone());
        let [a, b] = names;
        let (end, other) = (format!("sd{id}a"), format!("sd{id}b"));
        let script = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add {end} netns {a} type veth peer name {other} netns {b}"),
            format!("-n {a} addr add 10.77.0.1/24 dev {end}"),
            format!("-n {b} addr add 10.77.0.2/24 dev {other}"),
            format!("-n {a} link set {end} up"),
            format!("-n {b} link set {other} up"),
            format!("-n {a} link set lo up"),
            format!("-n {b} link set lo up"),
        ];
        for line in script {
            let ran = Command::new("ip").args(line.split(' ')).stderr(Stdio::piped()).output();
            let ran = ran.map_err(|error| format!("ip: {error}"))?;
            if !ran.status.success() {
                return Err(format!("ip {line}: {}", String::from_utf8_lossy(&ran.stderr).trim()));
            }
        }
        Ok(machines)
    }

    /// This program again, on one of the machines.
    fn run(&self, which: usize, role: &str, folder: &Folder) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.0[which]])
            .arg(std::env::current_exe().unwrap())
            .args([role, "--exact", "--nocapture", "--include-ignored"])
            .env("SOFTDPU_RUNTIME_DIR", &folder.0);
        command
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
        }
    }
}

const PORT: u16 = 4791;

#[test]
#[ignore = "run by the other test, on a machine of its own"]
fn server() {
    common::watchdog();
    let mut b = side(2, options());
    b.endpoint.listen(PORT).unwrap();
    let mut receive = b.rdma.submit(Receive { dst: Some(b.room(0, 400_000)), message: None }).unwrap();
    let (mut kept, mut answers) = (None, Vec::new());
    loop {
        b.pe.progress();
        match b.endpoint.happened() {
            Some(Happening::Requested(request)) => {
                assert!(request.address().unwrap().text().starts_with("10.77.0.1"));
                kept = Some(request.accept(&[]).unwrap());
            }
            Some(Happening::Ended(_)) => break,
            Some(Happening::Established(_)) | None => {}
            Some(other) => panic!("{other:?}"),
        }
        receive = match receive.try_take() {
            Ok(done) if done.result.is_ok() => {
                let to = done.task.message.unwrap().from;
                answers.push(b.rdma.submit(Send { to, src: done.task.dst, immediate: None }).unwrap());
                b.rdma.submit(Receive { dst: Some(b.room(0, 400_000)), message: None }).unwrap()
            }
            Ok(done) => panic!("{:?}", done.result),
            Err(still) => still,
        };
        answers.retain(|answer: &softdpu_room::inflight::InFlight<Send>| !answer.is_done());
    }
    drop(kept);
}

#[test]
#[ignore = "run by the other test, on a machine of its own"]
fn client() {
    common::watchdog();
    let mut a = side(0, options());
    let address = Address::parse(AddressKind::Ipv4, "10.77.0.2", PORT).unwrap();
    // The server may be on its way still.
    let connection = loop {
        let attempt = a.endpoint.connect(&address).unwrap();
        let happening = loop {
            a.pe.progress();
            if let Some(happening) = a.endpoint.happened() {
                break happening;
            }
        };
        match happening {
            Happening::Established(_) => break attempt,
            Happening::Failed(_) | Happening::Ended(_) => std::thread::sleep(common::PAUSE),
            Happening::Requested(request) => panic!("{request:?}"),
        }
    };
    let to = connection.target();
    for len in [1usize, 4096, 300_000] {
        let bytes: Vec<u8> = (0..len).map(|at| (at * 11 + len) as u8).collect();
        let receive = a.rdma.submit(Receive { dst: Some(a.room(500_000, 400_000)), message: None }).unwrap();
        let send = a.rdma.submit(Send { to, src: Some(a.filled(0, &bytes)), immediate: None }).unwrap();
        let done = a.pe.run(receive);
        assert_eq!(done.task.message.map(|m| m.opcode), Some(Opcode::Send));
        assert!(done.task.dst.unwrap().to_vec() == bytes, "{len} other bytes came back");
        assert_eq!(a.pe.run(send).result, Ok(len as u64));
    }
    drop(connection);
    while !matches!(a.endpoint.happened(), Some(Happening::Ended(_))) {
        a.pe.progress();
    }
}

#[test]
fn two_machines_on_a_cable() {
    common::watchdog();
    if let Err(why) = common::fabric() {
        return eprintln!("skipped: {why}");
    }
    let machines = match Machines::new() {
        Ok(machines) => machines,
        Err(why) => return eprintln!("skipped: network namespaces cannot be made: {why}"),
    };
    let folders = [Folder::new(), Folder::new()];
    let mut server = machines.run(1, "server", &folders[1]).spawn().unwrap();
    let client = machines.run(0, "client", &folders[0]).status().unwrap();
    if !client.success() {
        let _ = server.kill();
    }
    let server = server.wait().unwrap();
    assert!(client.success() && server.success(), "client: {client}, server: {server}");
}
