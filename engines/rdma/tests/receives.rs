//! Receives as a stream: whatever is through is found at the next look, also what overtook others, and wakes who waits.

mod common;

use common::{Side, in_own_folder, options, side};
use softdpu_rdma::{Connection, Receives, Send};
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

const ROOM: usize = 300_000;

#[derive(Default)]
struct Counting(Mutex<u32>);

impl Counting {
    fn count(&self) -> u32 {
        *self.0.lock().unwrap()
    }
}

impl Wake for Counting {
    fn wake(self: Arc<Self>) {
        *self.0.lock().unwrap() += 1;
    }
}

/// A receiver with some receives of which a long message, half here, has the first one.
fn half_here() -> (Side, Side, Side, Vec<Connection>, Receives) {
    let (mut slow, quick, mut server) = (side(0, options()), side(1, options()), side(2, options()));
    let mut connections = Vec::new();
    for client in [&slow, &quick] {
        let (there, back) = (client.endpoint.export().unwrap(), server.endpoint.export().unwrap());
        there.join(back.description()).unwrap();
        back.join(there.description()).unwrap();
        connections.extend([there, back]);
    }
    let mut receives = Receives::new();
    for at in 0..3 {
        let buf = server.room(at * ROOM, ROOM);
        receives.post(&mut server.rdma, buf).unwrap();
    }
    server.pe.progress();
    // More than the ring between the two holds.
    let src = Some(slow.filled(0, &[7; ROOM]));
    drop(slow.rdma.submit(Send { to: connections[0].target(), src, immediate: None }).unwrap());
    for _ in 0..10 {
        slow.pe.progress();
    }
    assert!(receives.try_next().is_none());
    (slow, quick, server, connections, receives)
}

fn send(from: &mut Side, connection: &Connection, bytes: &[u8]) {
    let src = Some(from.filled(0, bytes));
    let task = from.rdma.submit(Send { to: connection.target(), src, immediate: None }).unwrap();
    from.pe.run(task).result.unwrap();
}

#[test]
fn one_that_overtook_is_found_at_once() {
    if in_own_folder("one_that_overtook_is_found_at_once") {
        return;
    }
    let (mut slow, mut quick, mut server, connections, mut receives) = half_here();
    for round in 0..2u8 {
        send(&mut quick, &connections[2], &[round; 5]);
        while server.pe.progress() == 0 {}
        let received = receives.try_next().expect("it is here").unwrap();
        assert_eq!((received.bytes(), received.message.from), (vec![round; 5], connections[3].target()));
        assert!(receives.try_next().is_none());
    }
    let long = loop {
        slow.pe.progress();
        server.pe.progress();
        if let Some(received) = receives.try_next() {
            break received.unwrap();
        }
    };
    assert!(long.bytes() == [7; ROOM]);
    assert_eq!((receives.len(), long.message.from), (0, connections[1].target()));
    // And what the context's end flushes.
    let buf = server.room(0, ROOM);
    receives.post(&mut server.rdma, buf).unwrap();
    let Side { mut pe, rdma, .. } = server;
    rdma.stop().wait(&mut pe).unwrap();
    assert!(receives.try_next().expect("flushed").is_err());
}

#[test]
fn who_waits_is_woken_by_any_of_them() {
    if in_own_folder("who_waits_is_woken_by_any_of_them") {
        return;
    }
    let (mut slow, mut quick, mut server, connections, mut receives) = half_here();
    let woken = Arc::new(Counting::default());
    let waker = Waker::from(woken.clone());
    let cx = &mut Context::from_waker(&waker);
    for round in 0..2u32 {
        assert!(pin!(receives.next()).poll(cx).is_pending());
        assert_eq!(woken.count(), round);
        send(&mut quick, &connections[2], b"quick");
        while server.pe.progress() == 0 {}
        assert_eq!(woken.count(), round + 1);
        let Poll::Ready(Some(received)) = pin!(receives.next()).poll(cx) else { panic!("it is here") };
        assert_eq!(received.unwrap().bytes(), b"quick");
    }
    assert!(pin!(receives.next()).poll(cx).is_pending());
    // Another one waits from now on.
    let second = Arc::new(Counting::default());
    let waker = Waker::from(second.clone());
    let cx = &mut Context::from_waker(&waker);
    assert!(pin!(receives.next()).poll(cx).is_pending());
    while second.count() == 0 {
        slow.pe.progress();
        server.pe.progress();
    }
    assert_eq!((woken.count(), second.count()), (2, 1));
    let Poll::Ready(Some(received)) = pin!(receives.next()).poll(cx) else { panic!("it is here") };
    assert!(received.unwrap().bytes() == [7; ROOM]);
    assert!(matches!(pin!(receives.next()).poll(cx), Poll::Ready(None)));
}
