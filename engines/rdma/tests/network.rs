//! Two processes with runtime folders of their own, as two machines have: nothing is shared but the network. Without
//! libfabric the tests say so and end.

mod common;

use common::machine::{Peer, ROLE, has_fabric, hex, unhex};
use common::{options, side};
use softdpu_rdma::{
    Address, AddressKind, CompareSwap, FetchAdd, Happening, Opcode, Read, Receive, Send, Write,
};
use softdpu_status::Code;
use std::io::BufRead as _;
use std::time::{Duration, Instant};

/// A process with a runtime folder of its own runs this test alone. True in the outer one.
fn outer(test: &str) -> bool {
    common::in_own_folder(test)
}

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn peer() {
    common::watchdog();
    let mut b = side(2, options());
    let mut lines = std::io::stdin().lock().lines().map(Result::unwrap);
    let mut line = || lines.next().unwrap();
    match std::env::var(ROLE).unwrap().as_str() {
        "owner" => {
            // Exports memory and blocks: everything one-sided happens without it.
            let export = b.memory.export_rdma(b.device.shared()).unwrap();
            let connection = b.endpoint.export().unwrap();
            println!("blob {}", hex(connection.description()));
            println!("memory {}", hex(export.bytes()));
            let theirs = line();
            if theirs != "end" {
                connection.join(&unhex(&theirs)).unwrap();
                println!("joined");
                let mut all = vec![0; 64];
                assert_eq!(line(), "look");
                b.memory
                    .alias(0..64)
                    .map(|mut w| w.advance(64).map(|()| w.read_at(0, &mut all)))
                    .unwrap()
                    .unwrap()
                    .unwrap();
                println!("bytes {}", hex(&all));
                assert_eq!(line(), "stop");
                drop(export);
                println!("stopped");
                assert_eq!(line(), "end");
            }
        }
        "echo" => {
            let connection = b.endpoint.export().unwrap();
            println!("blob {}", hex(connection.description()));
            connection.join(&unhex(&line())).unwrap();
            println!("joined");
            echo(&mut b, 1);
        }
        "shouter" => {
            // Takes nothing, and sends more than anybody has room for.
            let connection = b.endpoint.export().unwrap();
            println!("blob {}", hex(connection.description()));
            connection.join(&unhex(&line())).unwrap();
            println!("joined");
            assert_eq!(line(), "shout");
            let src = Some(b.filled(0, &[9; 30_000]));
            let shout = b.rdma.submit(Send { to: connection.target(), src, immediate: None }).unwrap();
            assert_eq!(b.pe.run(shout).result.unwrap_err().code(), Code::IoFailed);
            println!("shouted");
            assert_eq!(line(), "end");
        }
        "server" => {
            let port: u16 = line().parse().unwrap();
            b.endpoint.listen(port).unwrap();
            println!("listening");
            echo(&mut b, 3);
        }
        "traffic" => {
            let export = b.memory.export_rdma(b.device.shared()).unwrap();
            let connection = b.endpoint.export().unwrap();
            println!("blob {}", hex(connection.description()));
            println!("memory {}", hex(export.bytes()));
            connection.join(&unhex(&line())).unwrap();
            let remote = b.import(&unhex(&line()));
            println!("joined");
            let to = connection.target();
            loop {
                let src = b.filled(0, &[7; 100_000]);
                drop(b.rdma.submit(Write { to, src, dst: remote.buf(..).unwrap(), immediate: None }));
                drop(b.rdma.submit(Receive { dst: Some(b.room(300_000, 65536)), message: None }));
                let src = Some(b.filled(0, &[9; 30_000]));
                if b.rdma.submit(Send { to, src, immediate: None }).is_err() {
                    b.pe.progress();
                }
                b.pe.progress();
            }
        }
        other => panic!("{other}"),
    }
}

/// Sends every message back, until so many connections have ended.
fn echo(b: &mut common::Side, connections: usize) {
    let mut kept = Vec::new();
    let (mut ended, mut answers) = (0, Vec::new());
    let mut receive = Some(b.rdma.submit(Receive { dst: Some(b.room(0, 400_000)), message: None }).unwrap());
    while ended < connections {
        b.pe.progress();
        match b.endpoint.happened() {
            Some(Happening::Requested(request)) => kept.push(request.accept(b"welcome").unwrap()),
            Some(Happening::Ended(_)) => ended += 1,
            Some(Happening::Established(_) | Happening::Failed(_)) | None => {}
        }
        match receive.take().map(|r| r.try_take()) {
            Some(Ok(done)) if done.result.is_ok() => {
                let message = done.task.message.unwrap();
                let immediate = (message.opcode == Opcode::SendImm).then_some(message.immediate);
                answers
                    .push(b.rdma.submit(Send { to: message.from, src: done.task.dst, immediate }).unwrap());
                let dst = Some(b.room(0, 400_000));
                receive = Some(b.rdma.submit(Receive { dst, message: None }).unwrap());
            }
            Some(Ok(_)) | None => {}
            Some(Err(still)) => receive = Some(still),
        }
        answers = answers.into_iter().filter_map(|answer| answer.try_take().err()).collect();
    }
}

#[test]
fn memory_of_another_machine_is_read_and_written_while_its_program_sleeps() {
    if !has_fabric() || outer("memory_of_another_machine_is_read_and_written_while_its_program_sleeps") {
        return;
    }
    let mut peer = Peer::new("owner");
    let mut a = side(0, options());
    let connection = a.endpoint.export().unwrap();
    let blob = unhex(&peer.hear("blob "));
    let letter = unhex(&peer.hear("memory "));
    connection.join(&blob).unwrap();
    let remote = a.import(&letter);
    assert_eq!(remote.reach(), softdpu_memory::Reach::Network);
    assert!(remote.read(0, &mut [0; 8]).is_err(), "its bytes are nothing for copies");
    let to = connection.target();
    peer.say(&hex(connection.description()));
    peer.hear("joined");

    let pattern: Vec<u8> = (0..500_000usize).map(|at| (at * 31 / 8) as u8).collect();
    let write = Write { to, src: a.filled(0, &pattern), dst: remote.buf(1000..).unwrap(), immediate: None };
    let write = a.rdma.submit(write).unwrap();
    assert_eq!(a.pe.run(write).result, Ok(500_000));
    let mut src = remote.buf(..).unwrap();
    src.set_data(1000..501_000).unwrap();
    let read = a.rdma.submit(Read { from: to, src, dst: a.room(500_000, 500_000) }).unwrap();
    let done = a.pe.run(read);
    assert_eq!(done.result, Ok(500_000));
    assert!(done.task.dst.to_vec() == pattern, "other bytes came back");

    // Many small ones in flight, in order.
    let writes: Vec<_> = (0..60u8)
        .map(|n| {
            let dst = remote.buf(..64).unwrap();
            a.rdma.submit(Write { to, src: a.filled(64 * usize::from(n), &[n; 64]), dst, immediate: None })
        })
        .map(Result::unwrap)
        .collect();
    for write in writes {
        assert_eq!(a.pe.run(write).result, Ok(64));
    }
    peer.say("look");
    assert_eq!(unhex(&peer.hear("bytes ")), [59; 64]);

    let word = || remote.buf(800..808).unwrap();
    let swap = a.rdma.submit(CompareSwap { to, word: word(), expected: 0, new: 40 }).unwrap();
    assert_eq!(a.pe.run(swap).result, Ok(0));
    let add = a.rdma.submit(FetchAdd { to, word: word(), add: 2 }).unwrap();
    assert_eq!(a.pe.run(add).result, Ok(40));
    let add = a.rdma.submit(FetchAdd { to, word: word(), add: 0 }).unwrap();
    assert_eq!(a.pe.run(add).result, Ok(42));

    // The owner takes its memory back: the next task fails, and with it the connection.
    peer.say("stop");
    peer.hear("stopped");
    let write = a.rdma.submit(Write {
        to,
        src: a.filled(0, &[1; 8]),
        dst: remote.buf(..8).unwrap(),
        immediate: None,
    });
    assert_eq!(a.pe.run(write.unwrap()).result.unwrap_err().code(), Code::IoFailed);
    peer.end();
}

#[test]
fn messages_of_every_length_come_back() {
    if !has_fabric() || outer("messages_of_every_length_come_back") {
        return;
    }
    let mut peer = Peer::new("echo");
    let mut a = side(0, options());
    let connection = a.endpoint.export().unwrap();
    let blob = unhex(&peer.hear("blob "));
    // Connected, and in use, before the peer has connected.
    connection.join(&blob).unwrap();
    assert_eq!(connection.join(&blob).unwrap_err().code(), Code::BadState);
    assert_eq!(shown_of_network(), 1, "softdpu top does not show the path");
    let before = sockets();
    let first = round_trip(&mut a, connection.target(), 5, None, || {
        peer.say(&hex(connection.description()));
        peer.hear("joined");
    });
    assert_eq!(first, None);
    assert!(sockets() <= before, "the way back is another one");
    for (round, len) in [0, 1, 63, 64, 4096, 65_000, 65_536, 130_000, 400_000].into_iter().enumerate() {
        let immediate = (round % 2 == 0).then_some([round as u8; 4]);
        assert_eq!(round_trip(&mut a, connection.target(), len, immediate, || {}), immediate);
    }
    drop(connection);
    peer.until_it_ends(&mut a);
    assert_eq!(shown_of_network(), 0);
}

#[test]
fn a_message_that_is_too_long_ends_a_connection_on_which_something_flies() {
    if !has_fabric() || outer("a_message_that_is_too_long_ends_a_connection_on_which_something_flies") {
        return;
    }
    let mut peer = Peer::new("shouter");
    let mut a = side(0, options());
    let connection = a.endpoint.export().unwrap();
    connection.join(&unhex(&peer.hear("blob "))).unwrap();
    let receive = a.rdma.submit(Receive { dst: Some(a.room(0, 100)), message: None }).unwrap();
    let src = Some(a.filled(1000, &[1; 100]));
    // Nobody there has room for it: it flies until the connection ends.
    let send = a.rdma.submit(Send { to: connection.target(), src, immediate: None }).unwrap();
    a.pe.progress();
    peer.say(&hex(connection.description()));
    peer.hear("joined");
    peer.say("shout");
    assert_eq!(a.pe.run(receive).result.unwrap_err().code(), Code::IoFailed);
    assert_eq!(a.pe.run(send).result.unwrap_err().code(), Code::IoFailed);
    peer.hear("shouted");
    peer.end();
}

/// Sockets of this process.
fn sockets() -> usize {
    let is_socket = |link: std::io::Result<std::path::PathBuf>| {
        link.is_ok_and(|l| l.to_string_lossy().starts_with("socket:"))
    };
    let fds = std::fs::read_dir("/proc/self/fd").unwrap();
    fds.filter(|fd| is_socket(std::fs::read_link(fd.as_ref().unwrap().path()))).count()
}

/// Connections over the network, in what this process tells `softdpu top`.
fn shown_of_network() -> usize {
    // Whoever runs this on a machine with an RDMA device says that it is to be used.
    let provider = std::env::var("NETWORK_TEST_PROVIDER").unwrap_or_default();
    softdpu_link::report::write().matches(&format!(r#""role":"rc network {provider}"#)).count()
}

fn round_trip(
    a: &mut common::Side,
    to: softdpu_rdma::Target,
    len: usize,
    immediate: Option<[u8; 4]>,
    meanwhile: impl FnOnce(),
) -> Option<[u8; 4]> {
    let bytes: Vec<u8> = (0..len).map(|at| (at * 13 + len) as u8).collect();
    let receive = a.rdma.submit(Receive { dst: Some(a.room(500_000, 400_000)), message: None }).unwrap();
    let src = (len > 0).then(|| a.filled(0, &bytes));
    let send = a.rdma.submit(Send { to, src, immediate }).unwrap();
    a.pe.progress();
    meanwhile();
    let done = a.pe.run(receive);
    assert_eq!(done.result, Ok(len as u64));
    assert!(done.task.dst.unwrap().to_vec() == bytes, "{len} other bytes came back");
    assert_eq!(a.pe.run(send).result, Ok(len as u64));
    let message = done.task.message.unwrap();
    (message.opcode == Opcode::SendImm).then_some(message.immediate)
}

#[test]
fn an_address_on_the_network_is_reached() {
    if !has_fabric() || outer("an_address_on_the_network_is_reached") {
        return;
    }
    let mut peer = Peer::new("server");
    let mut a = side(0, options());
    let port = 20_000 + std::process::id() as u16 % 20_000;
    peer.say(&port.to_string());
    peer.hear("listening");
    for (kind, text) in
        [(AddressKind::Ipv4, "127.0.0.1"), (AddressKind::Ipv6, "::1"), (AddressKind::Gid, "::ffff:127.0.0.1")]
    {
        let connection = a.endpoint.connect(&Address::parse(kind, text, port).unwrap()).unwrap();
        wait_for(&mut a, |h| matches!(h, Happening::Established(id) if *id == connection.id()));
        assert!(connection.is_connected());
        assert_eq!(round_trip(&mut a, connection.target(), 1000, Some([3; 4]), || {}), Some([3; 4]));
    }
    peer.until_it_ends(&mut a);
    // Nobody listens any more.
    let nobody = Address::parse(AddressKind::Ipv4, "127.0.0.1", port).unwrap();
    let connection = a.endpoint.connect(&nobody).unwrap();
    wait_for(&mut a, |h| matches!(h, Happening::Failed(id) if *id == connection.id()));
}

fn wait_for(a: &mut common::Side, is_it: impl Fn(&Happening) -> bool) {
    loop {
        a.pe.progress();
        match a.endpoint.happened() {
            Some(happening) if is_it(&happening) => return,
            Some(Happening::Ended(_)) | None => std::thread::yield_now(),
            Some(other) => panic!("{other:?}"),
        }
    }
}

/// An address of documentation, to which nothing leads, or from which nothing comes back.
#[test]
fn an_address_that_nobody_has_fails_in_time() {
    if !has_fabric() || outer("an_address_that_nobody_has_fails_in_time") {
        return;
    }
    let mut a = side(0, softdpu_rdma::Options { timeout: 300, ..options() });
    let nobody = Address::parse(AddressKind::Ipv4, "192.0.2.1", 4711).unwrap();
    let connection = a.endpoint.connect(&nobody).unwrap();
    wait_for(&mut a, |h| matches!(h, Happening::Failed(id) if *id == connection.id()));
}

#[test]
fn descriptions_that_were_bent_cut_or_used_before_are_refused() {
    if !has_fabric() || outer("descriptions_that_were_bent_cut_or_used_before_are_refused") {
        return;
    }
    let mut peer = Peer::new("owner");
    let a = side(0, options());
    let blob = unhex(&peer.hear("blob "));
    let fresh = || a.endpoint.export().unwrap();
    let code = |bytes: &[u8]| fresh().join(bytes).unwrap_err().code();
    for at in [0, 8, 20, 40, 60, 100, 127] {
        let mut bent = blob.clone();
        bent[at] ^= 0x10;
        assert_eq!(code(&bent), Code::ConnectionAborted);
    }
    assert_eq!(code(&blob[..127]), Code::ConnectionAborted);
    // With a secret that was guessed, and a checksum that fits: the peer itself refuses.
    let mut forged = blob.clone();
    forged[36] ^= 1;
    let sum = softdpu_link::checksum64(&forged[..120]);
    let sum = (sum ^ sum >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    forged[120..].copy_from_slice(&sum.to_le_bytes());
    assert_eq!(code(&forged), Code::ConnectionAborted);
    let first = fresh();
    first.join(&blob).unwrap();
    // The connection has a peer now.
    assert_eq!(code(&blob), Code::ConnectionAborted);
    drop(first);
    peer.end();
}

/// Killed in the middle of traffic: every task comes back, in bounded time, and the context goes on.
#[test]
fn a_machine_that_dies_takes_nothing_with_it() {
    if !has_fabric() || outer("a_machine_that_dies_takes_nothing_with_it") {
        return;
    }
    let mut a = side(0, options());
    let export = a.memory.export_rdma(a.device.shared()).unwrap();
    for round in 0..6u64 {
        let mut peer = Peer::new("traffic");
        let connection = a.endpoint.export().unwrap();
        let to = connection.target();
        let blob = unhex(&peer.hear("blob "));
        connection.join(&blob).unwrap();
        let remote = a.import(&unhex(&peer.hear("memory ")));
        peer.say(&hex(connection.description()));
        peer.say(&hex(export.bytes()));
        peer.hear("joined");
        let (mut receives, mut tasks, mut reads) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..8 {
            receives
                .push(a.rdma.submit(Receive { dst: Some(a.room(200_000, 32_768)), message: None }).unwrap());
            let src = Some(a.filled(0, &[3; 20_000]));
            tasks.push(a.rdma.submit(Send { to, src, immediate: None }).unwrap());
            let mut src = remote.buf(..).unwrap();
            src.set_data(..200_000).unwrap();
            reads.push(a.rdma.submit(Read { from: to, src, dst: a.room(300_000, 200_000) }).unwrap());
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(round * round * 1000) {
            a.pe.progress();
        }
        peer.child.kill().unwrap();
        // Whatever waits for the peer comes back, one way or the other; receives stay for the next one.
        tasks.into_iter().for_each(|task| drop(a.pe.run(task)));
        reads.into_iter().for_each(|task| drop(a.pe.run(task)));
        wait_for(&mut a, |h| matches!(h, Happening::Ended(id) if *id == connection.id()));
        let late = a.rdma.submit(Send { to, src: None, immediate: None }).unwrap();
        assert!(a.pe.run(late).result.is_err());
        drop(connection);
        drop(receives);
    }
}
