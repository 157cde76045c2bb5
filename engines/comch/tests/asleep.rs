//! Both ends asleep between messages: how often anybody of the process wakes for one. Counted, not timed.

mod common;

use common::process::alone;
use softdpu::comch::{Client, Connection, Server};
use softdpu::prelude::*;
use std::fs;
use std::sync::Barrier;

const ROUNDS: u32 = 300;

/// How often threads of this process went to sleep of their own accord, and how often all but the two with this name.
fn sleeps(own: &str) -> (u64, u64) {
    let (mut all, mut others) = (0, 0);
    for thread in fs::read_dir("/proc/self/task").unwrap().flatten() {
        let read = |file| fs::read_to_string(thread.path().join(file)).unwrap_or_default();
        let status = read("status");
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        let count: u64 = count.map_or(0, |count| count.trim().parse().unwrap());
        all += count;
        others += if read("comm").trim() == own { 0 } else { count };
    }
    (all, others)
}

/// Waits for a message as a program does that has nothing else to do.
fn hear(pe: &mut ProgressEngine, from: &Connection) {
    while from.try_recv().is_none() {
        pe.wait(None).unwrap();
        assert!(from.is_up());
    }
}

#[test]
fn a_message_wakes_its_receiver_alone_and_once() {
    alone("a_message_wakes_its_receiver_alone_and_once", || {
        const OWN: &str = "end";
        let session =
            Session::builder().profile(softdpu::card::Profile::All).board(Board::threads()).open().unwrap();
        let (session, ready) = (&session, &Barrier::new(3));
        let (first, last) = std::thread::scope(|scope| {
            let named = || std::thread::Builder::new().name(OWN.to_owned());
            let server = move || {
                let mut pe = ProgressEngine::new(session).unwrap();
                let card = session.device("03:00.0").unwrap().open().unwrap();
                let server = Server::builder("asleep").start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
                ready.wait();
                let there = pe.run(server.accept()).unwrap();
                // One more, after which nobody sleeps for the other.
                for _ in 0..=ROUNDS {
                    hear(&mut pe, &there);
                    there.try_feed(b"back").unwrap();
                    if there.counters().unwrap().sent_messages == 1 {
                        ready.wait();
                    }
                }
                pe.run(there.flush()).unwrap();
                ready.wait();
                ready.wait();
            };
            let client = move || {
                let mut pe = ProgressEngine::new(session).unwrap();
                let host = session.device("b1:00.0").unwrap().open().unwrap();
                ready.wait();
                let client = Client::builder("asleep").start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
                for round in 0..=ROUNDS {
                    client.try_feed(b"there").unwrap();
                    hear(&mut pe, &client);
                    if round == 0 {
                        ready.wait();
                    }
                }
                ready.wait();
                ready.wait();
            };
            named().spawn_scoped(scope, server).unwrap();
            named().spawn_scoped(scope, client).unwrap();
            ready.wait(); // the server listens
            ready.wait(); // the first message is through
            let first = sleeps(OWN);
            ready.wait(); // all are
            let last = sleeps(OWN);
            ready.wait();
            (first, last)
        });
        let (all, others) = (last.0 - first.0, last.1 - first.1);
        let per_round = (all - others) as f64 / f64::from(ROUNDS);
        eprintln!("{per_round:.2} sleeps per round of the two ends, {others} of other threads");
        // One each; a second one where an answer takes more than a moment, as on a busy machine.
        assert!(per_round <= 4.5, "{all} sleeps of all threads, {others} of them of others");
        // Timers of the library may come and go, but nobody else has to do with messages.
        assert!(others < u64::from(ROUNDS) / 2, "{others} sleeps of threads that have nothing to do with it");
    });
}
