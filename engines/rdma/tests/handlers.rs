//! Tasks that are posted go to the handlers of their kinds, which post others and let tasks fly again.

mod common;

use common::machine::has_fabric;
use common::{Side, in_own_folder, in_own_folder_with, joined, options, side, side_with};
use softdpu_card::Machine;
use softdpu_rdma::{CompareSwap, Config, FetchAdd, Options, Read, Receive, Send, Write};
use softdpu_room::context::State;
use softdpu_room::task::Next;

use softdpu_status::Code;
use std::sync::mpsc::{TryRecvError, channel};
use std::sync::{Arc, Mutex};

const LONG: usize = 64;

fn with(options: Options, handlers: impl FnOnce(Config) -> Config) -> Side {
    side_with(Machine::builder(), 2, options, handlers)
}

/// A server that is nothing but handlers: each message goes back to where it came from, in the buffer that it came in, and
/// each answer that has left makes room for a message. It sleeps between them.
fn echo() {
    const RECEIVES: usize = 4;
    let flushed = Arc::new(Mutex::new(0));
    let (seen, sends) = (flushed.clone(), Options { receives: 4, sends: 2, ..options() });
    let server = with(sends, |config| {
        config
            .on_receive(Box::new(move |done, outbox| {
                let (Ok(bytes), Some(message)) = (done.result, done.task.message) else {
                    *seen.lock().unwrap() += 1;
                    return Next::Free;
                };
                assert_eq!(bytes, u64::from(message.len));
                outbox.post(Send { to: message.from, src: done.task.dst, immediate: Some([7; 4]) }).unwrap();
                Next::Free
            }))
            .on_send(Box::new(|done, outbox| {
                let mut buf = done.task.src.unwrap();
                if done.result.is_ok() {
                    buf.reset();
                    outbox.post(Receive { dst: Some(buf), message: None }).unwrap();
                }
                Next::Free
            }))
    });
    let (mut client, mut server, there, _back) = joined(side(0, options()), server);
    for at in 0..RECEIVES {
        let dst = Some(server.room(at * LONG, LONG));
        server.rdma.post(Receive { dst, message: None }).unwrap();
    }
    let (over, told) = channel::<()>();
    let serving = std::thread::spawn(move || {
        while told.try_recv() == Err(TryRecvError::Empty) {
            server.pe.wait(Some(std::time::Duration::from_millis(20))).unwrap();
        }
        server
    });
    for round in 0..500u32 {
        let text = format!("message {round}");
        let receive =
            client.rdma.submit(Receive { dst: Some(client.room(1000, LONG)), message: None }).unwrap();
        let src = Some(client.filled(0, text.as_bytes()));
        let send = client.rdma.submit(Send { to: there.target(), src, immediate: None }).unwrap();
        let answer = client.pe.run(receive);
        assert_eq!(answer.result, Ok(text.len() as u64));
        assert_eq!(answer.task.dst.unwrap().to_vec(), text.as_bytes());
        assert_eq!(answer.task.message.unwrap().immediate, [7; 4]);
        client.pe.run(send).result.unwrap();
    }
    drop(over);
    let Side { mut pe, rdma, .. } = serving.join().unwrap();
    assert_eq!(rdma.in_flight(), RECEIVES);
    // What flies when the context stops comes back to its handler as well, wherever it was posted from.
    rdma.stop().wait(&mut pe).unwrap();
    assert_eq!(*flushed.lock().unwrap(), RECEIVES);
}

#[test]
fn a_server_of_handlers() {
    if !in_own_folder("a_server_of_handlers") {
        echo();
    }
}

#[test]
fn a_server_of_handlers_over_the_network() {
    let network = [("SOFTDPU_RDMA_PATH", "network")];
    if has_fabric() && !in_own_folder_with("a_server_of_handlers_over_the_network", &network) {
        echo();
    }
}

/// One-sided tasks; and what flies again takes no place in the connection's send queue for good.
#[test]
fn every_kind_has_its_handler() {
    if in_own_folder("every_kind_has_its_handler") {
        return;
    }
    const ROUNDS: u64 = 100;
    let seen: Arc<Mutex<Vec<(&str, u64)>>> = Arc::default();
    let note = |what| {
        let seen = seen.clone();
        move |value| seen.lock().unwrap().push((what, value))
    };
    let (added, swapped, wrote, read) = (note("add"), note("swap"), note("write"), note("read"));
    let client = with(Options { sends: 4, ..options() }, |config| {
        config
            .on_fetch_add(Box::new(move |done, _| {
                let before = done.result.unwrap();
                added(before);
                if before + 1 < ROUNDS { Next::Again(done.task) } else { Next::Free }
            }))
            .on_compare_swap(Box::new(move |done, _| {
                swapped(done.result.unwrap());
                Next::Free
            }))
            .on_write(Box::new(move |done, outbox| {
                wrote(done.result.unwrap());
                let (mut src, mut dst) = (done.task.dst, done.task.src);
                src.set_data(..4).unwrap();
                dst.reset();
                outbox.post(Read { from: done.task.to, src, dst }).unwrap();
                Next::Free
            }))
            .on_read(Box::new(move |done, _| {
                assert_eq!(done.task.dst.to_vec(), b"four");
                read(done.result.unwrap());
                Next::Free
            }))
    });
    let (mut client, server, there, _back) = joined(client, side(0, options()));
    let export = server.memory.export_rdma(server.device.shared()).unwrap();
    let (remote, to) = (client.import(export.bytes()), there.target());
    let word = || remote.buf(0..8).unwrap();
    client.rdma.post(FetchAdd { to, word: word(), add: 1 }).unwrap();
    let write =
        Write { to, src: client.filled(0, b"four"), dst: remote.buf(64..68).unwrap(), immediate: None };
    client.rdma.post(write).unwrap();
    while client.rdma.in_flight() > 0 {
        client.pe.progress();
    }
    client.rdma.post(CompareSwap { to, word: word(), expected: ROUNDS, new: 5 }).unwrap();
    while client.rdma.in_flight() > 0 {
        client.pe.progress();
    }
    let seen = seen.lock().unwrap();
    let of = |what| seen.iter().filter(|s| s.0 == what).map(|s| s.1).collect::<Vec<_>>();
    assert_eq!(of("add"), (0..ROUNDS).collect::<Vec<_>>());
    assert_eq!((of("swap"), of("write"), of("read")), (vec![ROUNDS], vec![4], vec![4]));
    // All four places of the send queue are there.
    let task = |add| FetchAdd { to, word: word(), add };
    let flying: Vec<_> = (0..4).map(|add| client.rdma.submit(task(add)).unwrap()).collect();
    assert_eq!(client.rdma.submit(task(9)).unwrap_err().error.code(), Code::Full);
    let before: Vec<_> = flying.into_iter().map(|task| client.pe.run(task).result.unwrap()).collect();
    assert_eq!(before, [5, 5, 6, 8]);
    assert_eq!(client.rdma.state(), State::Running);
}
