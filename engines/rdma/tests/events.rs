//! Sync events of peers in the Rust face, and memory that is not the peer's.

mod common;

use common::{both, in_own_folder, pair};
use softdpu_rdma::{EventAdd, EventGet, EventSet, FetchAdd, Read, Receives, RemoteEvent, Send, Write};
use softdpu_status::Code;
use softdpu_sync_event::{Condition, SyncEvent};
use std::sync::Arc;

#[test]
fn a_peer_changes_an_event_that_somebody_waits_for() {
    if in_own_folder("a_peer_changes_an_event_that_somebody_waits_for") {
        return;
    }
    let (mut a, b, ab, _ba) = pair();
    let event = SyncEvent::new(&b.device).unwrap();
    let remote = Arc::new(RemoteEvent::open(&event.export_net().unwrap(), a.device.shared()).unwrap());
    let to = ab.target();
    let waiter = {
        let event = event.clone();
        std::thread::spawn(move || event.wait(Condition::equal(12)))
    };
    let set = a.rdma.submit(EventSet { to, event: remote.clone(), value: 5 }).unwrap();
    assert_eq!(a.pe.run(set).result, Ok(5));
    let add = a.rdma.submit(EventAdd { to, event: remote.clone(), add: 7 }).unwrap();
    let done = a.pe.run(add);
    assert_eq!((done.result, done.task.add), (Ok(5), 7));
    assert_eq!(waiter.join().unwrap(), Ok(12));
    let get = a.rdma.submit(EventGet { from: to, event: remote.clone() }).unwrap();
    assert_eq!(a.pe.run(get).result, Ok(12));
    // The event ends: tasks fail, others go on over a fresh connection.
    drop(event);
    let late = a.rdma.submit(EventGet { from: to, event: remote }).unwrap();
    assert_eq!(a.pe.run(late).result.unwrap_err().code(), Code::IoFailed);
}

#[test]
fn receives_are_a_stream_that_owns_its_buffers() {
    if in_own_folder("receives_are_a_stream_that_owns_its_buffers") {
        return;
    }
    let (mut a, mut b, ab, ba) = pair();
    let mut receives = Receives::new();
    assert!(receives.try_next().is_none() && receives.is_empty());
    for at in 0..4 {
        receives.post(&mut b.rdma, b.memory.alias(at * 64..(at + 1) * 64).unwrap()).unwrap();
    }
    for round in 0..100u8 {
        let send =
            Send { to: ab.target(), src: Some(a.filled(4096, &[round; 5])), immediate: Some([round; 4]) };
        let send = a.rdma.submit(send).unwrap();
        assert_eq!(both(&mut a, &mut b, send).result, Ok(5));
        let received = b.pe.run(receives.next()).unwrap().unwrap();
        assert_eq!((received.bytes(), received.message.from), (vec![round; 5], ba.target()));
        assert_eq!(received.message.immediate, [round; 4]);
        let mut buf = received.buf;
        buf.reset();
        receives.post(&mut b.rdma, buf).unwrap();
        assert_eq!(receives.len(), 4);
    }
    // Buffers come back when the context stops.
    let stopping = b.rdma.stop();
    let mut back = 0;
    while let Some(unfilled) = b.pe.run(receives.next()) {
        let unfilled = unfilled.unwrap_err();
        assert_eq!((unfilled.error.code(), unfilled.buf.data_len()), (Code::IoFailed, 0));
        back += 1;
    }
    assert_eq!(back, 4);
    b.pe.run(stopping).unwrap();
}

/// Memory that was imported from somebody else than the peer is refused, for each kind of access.
#[test]
fn memory_of_others_is_not_reached_over_a_connection() {
    if in_own_folder("memory_of_others_is_not_reached_over_a_connection") {
        return;
    }
    let lender = common::lender();
    for attempt in 0..3 {
        let (mut a, b, ab, _ba) = pair();
        let (to, remote) = (ab.target(), a.import(&lender.export));
        let own = b.memory.export_rdma(b.device.shared()).unwrap();
        let own = a.import(own.bytes());
        let mut bytes = [0; 8];
        remote.read(0, &mut bytes).unwrap();
        for (foreign, memory) in [(false, &own), (true, &remote)] {
            let mut at = memory.buf(0..8).unwrap();
            let result = match attempt {
                0 => {
                    let task = Write { to, src: a.filled(0, b"12345678"), dst: at, immediate: None };
                    let task = a.rdma.submit(task).unwrap();
                    a.pe.run(task).result
                }
                1 => {
                    at.set_data(..8).unwrap();
                    let task = a.rdma.submit(Read { from: to, src: at, dst: a.room(0, 8) }).unwrap();
                    a.pe.run(task).result
                }
                _ => {
                    let task = a.rdma.submit(FetchAdd { to, word: at, add: 1 }).unwrap();
                    a.pe.run(task).result
                }
            };
            assert_eq!(result.is_err(), foreign, "{attempt}: {result:?}");
        }
        let mut now = [0; 8];
        remote.read(0, &mut now).unwrap();
        assert_eq!(now, bytes, "{attempt}");
    }
}

/// Not a test of its own: the process that lends memory, see `common::lender`.
#[test]
#[ignore = "started by others"]
fn lend_memory() {
    common::lend();
}
