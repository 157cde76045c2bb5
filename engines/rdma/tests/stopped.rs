//! A peer whose process is stopped, but not gone: its machine goes on answering for it, and no connection breaks. Tasks
//! do not wait for it longer than they are told to.

mod common;

use common::machine::{Peer, has_fabric, offer};
use common::{in_own_folder_with, options, side};
use softdpu_rdma::{Happening, Read, Receive, Send, Write};
use std::io::BufRead as _;
use std::time::{Duration, Instant};

const DEADLINE: &str = "SOFTDPU_RDMA_DEADLINE";

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn peer() {
    common::watchdog();
    let b = side(2, options());
    let mut lines = std::io::stdin().lock().lines().map(Result::unwrap);
    let _joined = offer(&b, &mut lines);
    println!("joined");
    assert_eq!(lines.next().unwrap(), "end");
}

fn connect(peer: &mut Peer, a: &common::Side) -> (softdpu_rdma::Connection, softdpu_memory::RemoteMemory) {
    let (connection, remote) = peer.connect(a);
    peer.hear("joined");
    (connection, remote)
}

/// Tasks of each kind come back as failures, whether the program turns or sleeps meanwhile, and not before their time.
#[test]
fn tasks_do_not_wait_for_a_stopped_process_for_ever() {
    let test = "tasks_do_not_wait_for_a_stopped_process_for_ever";
    if !has_fabric() || in_own_folder_with(test, &[(DEADLINE, "2")]) {
        return;
    }
    let mut a = side(0, options());
    for sleeps in [false, true] {
        let mut peer = Peer::new("owner");
        let (connection, remote) = connect(&mut peer, &a);
        let to = connection.target();
        let write = |a: &mut common::Side| {
            let (src, dst) = (a.filled(0, &[7; 300_000]), remote.buf(..).unwrap());
            a.rdma.submit(Write { to, src, dst, immediate: None }).unwrap()
        };
        let first = write(&mut a);
        assert!(a.pe.run(first).result.is_ok());
        peer.signal("-STOP");
        let start = Instant::now();
        let mut src = remote.buf(..).unwrap();
        src.set_data(..100_000).unwrap();
        let read = a.rdma.submit(Read { from: to, src, dst: a.room(400_000, 100_000) }).unwrap();
        let write = write(&mut a);
        let send = a.rdma.submit(Send { to, src: None, immediate: None }).unwrap();
        if sleeps {
            a.pe.progress();
            std::thread::sleep(Duration::from_secs(1));
        }
        assert!(a.pe.run(read).result.is_err());
        assert!(start.elapsed() > Duration::from_secs(2), "given up before its time");
        assert!(a.pe.run(write).result.is_err() && a.pe.run(send).result.is_err());
        loop {
            a.pe.progress();
            if let Some(Happening::Ended(id)) = a.endpoint.happened() {
                assert_eq!(id, connection.id());
                break;
            }
        }
        peer.signal("-CONT");
    }
}

/// A peer without receives lives, and so does one that is stopped for less than the time: nothing fails.
#[test]
fn peers_that_live_are_waited_for() {
    let test = "peers_that_live_are_waited_for";
    if !has_fabric() || in_own_folder_with(test, &[(DEADLINE, "3")]) {
        return;
    }
    let mut a = side(0, options());
    let mut peer = Peer::new("owner");
    let (connection, remote) = connect(&mut peer, &a);
    let to = connection.target();
    let mut send = a.rdma.submit(Send { to, src: None, immediate: None }).unwrap();
    peer.signal("-STOP");
    let write = Write { to, src: a.filled(0, &[7; 8]), dst: remote.buf(..).unwrap(), immediate: None };
    let mut write = a.rdma.submit(write).unwrap();
    let start = Instant::now();
    let mut stopped = true;
    while start.elapsed() < Duration::from_secs(6) {
        a.pe.progress();
        send = send.try_take().expect_err("no receive was posted");
        write = write.try_take().expect_err("the message before it waits");
        if stopped && start.elapsed() > Duration::from_secs(1) {
            peer.signal("-CONT");
            stopped = false;
        }
        assert!(connection.is_connected());
    }
    drop(a.rdma.submit(Receive { dst: None, message: None }).unwrap());
    peer.end();
}
