//! Two network namespaces with a cable between them: two machines, as far as the network goes. Skipped, with the reason,
//! where namespaces cannot be made or libfabric is not installed.

mod common;

use common::machine::{ADDRESSES, Machines};
use common::{Folder, options, side};
use softdpu_rdma::{Address, AddressKind, Happening, Opcode, Receive, Send};
use std::process::Command;

/// This program again, on one of the machines.
fn run(machines: &Machines, which: usize, role: &str, folder: &Folder) -> Command {
    let mut command = machines.command(which);
    command.args([role, "--exact", "--nocapture", "--include-ignored"]).env("SOFTDPU_RUNTIME_DIR", &folder.0);
    command
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
                assert!(request.address().unwrap().text().starts_with(ADDRESSES[0]));
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
    let address = Address::parse(AddressKind::Ipv4, ADDRESSES[1], PORT).unwrap();
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
    let mut server = run(&machines, 1, "server", &folders[1]).spawn().unwrap();
    let client = run(&machines, 0, "client", &folders[0]).status().unwrap();
    if !client.success() {
        let _ = server.kill();
    }
    let server = server.wait().unwrap();
    assert!(client.success() && server.success(), "client: {client}, server: {server}");
}
