//! Every task of the Rust face in one process; connections as owned objects; the connection manager.

mod common;

use common::{both, happening, in_own_folder, options, pair, side};
use softdpu_rdma::{
    Address, AddressKind, CompareSwap, FetchAdd, Happening, Opcode, Options, Read, Receive, Send, Write,
};
use softdpu_status::Code;

#[test]
fn every_task_and_its_result() {
    if in_own_folder("every_task_and_its_result") {
        return;
    }
    let (mut a, mut b, ab, ba) = pair();
    let export = b.memory.export_rdma(b.device.shared()).unwrap();
    let remote = a.import(export.bytes());
    let to = ab.target();

    let write =
        Write { to, src: a.filled(0, b"one-sided"), dst: remote.buf(100..200).unwrap(), immediate: None };
    let done = a.rdma.submit(write).unwrap();
    assert_eq!(a.pe.run(done).result, Ok(9));
    let mut seen = [0; 9];
    let mut window = b.room(100, 9);
    window.advance(9).unwrap();
    window.read_at(0, &mut seen).unwrap();
    assert_eq!(&seen, b"one-sided");

    let mut src = remote.buf(100..109).unwrap();
    src.set_data(4..9).unwrap();
    let read = a.rdma.submit(Read { from: to, src, dst: a.room(500, 64) }).unwrap();
    let done = a.pe.run(read);
    assert_eq!((done.result, done.task.dst.to_vec()), (Ok(5), b"sided".to_vec()));

    let word = || remote.buf(256..264).unwrap();
    let before = |a: &mut common::Side, add| {
        let task = a.rdma.submit(FetchAdd { to, word: word(), add }).unwrap();
        a.pe.run(task).result.unwrap()
    };
    let first = before(&mut a, 5);
    assert_eq!(before(&mut a, 1), first.wrapping_add(5));
    let swap = CompareSwap { to, word: word(), expected: first.wrapping_add(6), new: 77 };
    let swap = a.rdma.submit(swap).unwrap();
    assert_eq!(a.pe.run(swap).result, Ok(first.wrapping_add(6)));
    assert_eq!(before(&mut a, 0), 77);

    for (immediate, opcode) in [(None, Opcode::Send), (Some([1, 2, 3, 4]), Opcode::SendImm)] {
        let receive = b.rdma.submit(Receive { dst: Some(b.room(0, 64)), message: None }).unwrap();
        let send = Send { to, src: Some(a.filled(0, b"message")), immediate };
        let send = a.rdma.submit(send).unwrap();
        let done = both(&mut a, &mut b, receive);
        let message = done.task.message.unwrap();
        assert_eq!((done.result, done.task.dst.unwrap().to_vec()), (Ok(7), b"message".to_vec()));
        assert_eq!((message.from, message.opcode, message.len), (ba.target(), opcode, 7));
        assert_eq!(message.immediate, immediate.unwrap_or_default());
        assert_eq!(a.pe.run(send).result, Ok(7));
    }
    let receive = b.rdma.submit(Receive { dst: None, message: None }).unwrap();
    let write =
        Write { to, src: a.filled(0, b"told"), dst: remote.buf(0..64).unwrap(), immediate: Some([9; 4]) };
    let write = a.rdma.submit(write).unwrap();
    let message = both(&mut a, &mut b, receive).task.message.unwrap();
    assert_eq!((message.opcode, message.len, message.immediate), (Opcode::WriteImm, 4, [9; 4]));
    assert_eq!(a.pe.run(write).result, Ok(4));

    // A dropped connection ends at both ends.
    drop(ab);
    let Happening::Ended(id) = happening(&mut b, &mut a) else { panic!("something else happened") };
    assert_eq!(id, ba.id());
    let late = a.rdma.submit(Send { to, src: None, immediate: None }).unwrap();
    assert_eq!(a.pe.run(late).result.unwrap_err().code(), Code::IoFailed);
}

#[test]
fn peers_find_each_other_by_address() {
    if in_own_folder("peers_find_each_other_by_address") {
        return;
    }
    let (mut server, mut client) = (side(0, options()), side(2, options()));
    server.endpoint.listen(4000).unwrap();
    assert_eq!(server.endpoint.listen(4000).unwrap_err().code(), Code::ConnectionAborted);
    let v4 = std::net::Ipv4Addr::from(server.device.function().ipv4().unwrap()).to_string();
    let address = Address::parse(AddressKind::Ipv4, &v4, 4000).unwrap();
    for round in 0..20 {
        let here = client.endpoint.connect(&address).unwrap();
        let Happening::Requested(request) = happening(&mut server, &mut client) else { panic!("no request") };
        let there = request.accept(b"hello").unwrap();
        assert!(matches!(happening(&mut client, &mut server), Happening::Established(id) if id == here.id()));
        assert!(
            matches!(happening(&mut server, &mut client), Happening::Established(id) if id == there.id())
        );
        assert!(here.is_connected() && there.is_connected());
        let receive = client.rdma.submit(Receive { dst: None, message: None }).unwrap();
        let send =
            server.rdma.submit(Send { to: there.target(), src: None, immediate: Some([round; 4]) }).unwrap();
        let message = both(&mut server, &mut client, receive).task.message.unwrap();
        assert_eq!((message.immediate, message.from), ([round; 4], here.target()));
        server.pe.run(send).result.unwrap();
        drop(if round % 2 == 0 { here } else { there });
        assert!(matches!(happening(&mut server, &mut client), Happening::Ended(_)));
        assert!(matches!(happening(&mut client, &mut server), Happening::Ended(_)));
    }
    // A request that is dropped is refused.
    let here = client.endpoint.connect(&address).unwrap();
    drop(happening(&mut server, &mut client));
    assert!(matches!(happening(&mut client, &mut server), Happening::Failed(id) if id == here.id()));
}

#[test]
fn rights_of_the_context_count_too() {
    if in_own_folder("rights_of_the_context_count_too") {
        return;
    }
    let (mut a, b) = (side(0, options()), side(2, Options { peers: common::PEERS, ..Options::default() }));
    let export = b.memory.export_rdma(b.device.shared()).unwrap();
    let remote = a.import(export.bytes());
    for (allowed, attempt) in [(true, 0), (false, 1), (false, 2)] {
        let (ab, ba) = (a.endpoint.export().unwrap(), b.endpoint.export().unwrap());
        ab.join(ba.description()).unwrap();
        let (to, mut src) = (ab.target(), remote.buf(0..8).unwrap());
        let result = match attempt {
            0 => {
                src.set_data(..8).unwrap();
                let task = a.rdma.submit(Read { from: to, src, dst: a.room(0, 8) }).unwrap();
                a.pe.run(task).result
            }
            1 => {
                let task = Write { to, src: a.filled(0, b"12345678"), dst: src, immediate: None };
                let task = a.rdma.submit(task).unwrap();
                a.pe.run(task).result
            }
            _ => {
                let task = a.rdma.submit(FetchAdd { to, word: src, add: 1 }).unwrap();
                a.pe.run(task).result
            }
        };
        assert_eq!(result.map_err(|e| e.code()).is_ok(), allowed, "{attempt}");
    }
}

#[test]
fn a_sleeping_receiver_is_woken() {
    if in_own_folder("a_sleeping_receiver_is_woken") {
        return;
    }
    let (mut a, mut b, ab, _ba) = pair();
    let receive = b.rdma.submit(Receive { dst: None, message: None }).unwrap();
    let (ready, told) = std::sync::mpsc::channel();
    let sleeper = std::thread::spawn(move || {
        ready.send(()).unwrap();
        let mut receive = receive;
        loop {
            b.pe.wait(None).unwrap();
            match receive.try_take() {
                Ok(done) => return done.task.message.unwrap().immediate,
                Err(still) => receive = still,
            }
        }
    });
    told.recv().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let send = a.rdma.submit(Send { to: ab.target(), src: None, immediate: Some([5; 4]) }).unwrap();
    a.pe.run(send).result.unwrap();
    assert_eq!(sleeper.join().unwrap(), [5; 4]);
}

#[test]
fn a_large_message_needs_no_progress_of_the_receiver() {
    if in_own_folder("a_large_message_needs_no_progress_of_the_receiver") {
        return;
    }
    let (mut a, mut b, ab, _ba) = pair();
    let bytes: Vec<u8> = (0..700_000u32).map(|n| (n % 251) as u8).collect();
    let receive = b.rdma.submit(Receive { dst: Some(b.room(0, 800_000)), message: None }).unwrap();
    let send = Send { to: ab.target(), src: Some(a.filled(0, &bytes)), immediate: None };
    let send = a.rdma.submit(send).unwrap();
    // Only the sender's program moves.
    assert_eq!(a.pe.run(send).result, Ok(700_000));
    let done = b.pe.run(receive);
    assert_eq!(done.task.dst.unwrap().to_vec(), bytes);
}
