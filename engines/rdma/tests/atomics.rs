//! Atomics on memory of another process of this machine that is not mapped here: its owner carries them out, so they are
//! exact whoever else changes the word.

mod common;

use common::machine::{Peer, hex, unhex};
use common::{in_own_folder, options, side, side_on};
use softdpu_card::Machine;
use softdpu_memory::Reach;
use softdpu_rdma::{CompareSwap, FetchAdd};
use softdpu_status::Code;
use std::io::BufRead as _;

const TIMES: u64 = 100;

#[test]
#[ignore = "run by the other tests, in a process of its own"]
fn peer() {
    common::watchdog();
    let mut lines = std::io::stdin().lock().lines().map(Result::unwrap);
    let b = side(2, options());
    let connection = b.endpoint.export().unwrap();
    println!("blob {}", hex(connection.description()));
    connection.join(&unhex(&lines.next().unwrap())).unwrap();
    println!("joined");
    let export = b.memory.export_rdma(b.device.shared()).unwrap();
    println!("memory {}", hex(export.bytes()));
    assert_eq!(lines.next().unwrap(), "look");
    let mut word = b.memory.alias(64..72).unwrap();
    word.set_data(..8).unwrap();
    println!("word {}", u64::from_le_bytes(word.to_vec().try_into().unwrap()));
    assert_eq!(lines.next().unwrap(), "end");
    drop(connection);
}

fn of_reach(reach: Reach) {
    let mut a = side_on(Machine::builder().reach(reach), 0, options());
    let mut peer = Peer::here("owner");
    let connection = a.endpoint.export().unwrap();
    let blob = unhex(&peer.hear("blob "));
    peer.say(&hex(connection.description()));
    peer.hear("joined");
    connection.join(&blob).unwrap();
    let remote = a.import(&unhex(&peer.hear("memory ")));
    assert_eq!(remote.reach(), reach);
    let to = connection.target();
    let word = || remote.buf(64..72).unwrap();
    for before in 0..TIMES {
        let add = a.rdma.submit(FetchAdd { to, word: word(), add: 1 }).unwrap();
        assert_eq!(a.pe.run(add).result, Ok(before));
    }
    for (expected, before) in [(TIMES, TIMES), (TIMES, 7)] {
        let swap = a.rdma.submit(CompareSwap { to, word: word(), expected, new: 7 }).unwrap();
        assert_eq!(a.pe.run(swap).result, Ok(before));
    }
    peer.say("look");
    assert_eq!(peer.hear("word "), "7");
    peer.end();
    // Its owner is gone: a failure, in bounded time.
    let add = a.rdma.submit(FetchAdd { to, word: word(), add: 1 }).unwrap();
    assert_eq!(a.pe.run(add).result.unwrap_err().code(), Code::IoFailed);
}

#[test]
fn words_that_the_kernel_copies_are_changed_by_their_owner() {
    let test = "words_that_the_kernel_copies_are_changed_by_their_owner";
    if !in_own_folder(test) {
        of_reach(Reach::KernelCopy);
    }
}

#[test]
fn words_that_the_owner_copies_are_changed_by_it() {
    let test = "words_that_the_owner_copies_are_changed_by_it";
    if !in_own_folder(test) {
        of_reach(Reach::Worker);
    }
}
