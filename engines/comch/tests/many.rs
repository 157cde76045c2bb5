//! A server with a thousand clients that have nothing to say, and one that has.

mod common;

use common::process::{alone, until};
use common::{Client, Numbers, Server, Word, session};
use rustix::time::{ClockId, clock_gettime};
use softdpu_room::pump::ProgressEngine;
use std::time::Duration;

const CROWD: usize = 1000;
const TOPOLOGY: &str = "[[card]]\n[card.limits.comch]\nmax_clients = 2000\n";

/// Processor time of this thread.
fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec as u32)
}

#[test]
fn a_thousand_idle_clients_cost_nothing() {
    alone("a_thousand_idle_clients_cost_nothing", || {
        let session = session(TOPOLOGY);
        let numbers = Numbers { msg: 64, queue: 4, tasks: 4 };
        let mut server = Server::start(&session, "crowd", numbers).unwrap();
        let mut clients: Vec<_> = (0..CROWD)
            .map(|_| {
                Client::start(&session, "crowd", numbers, || {
                    server.pe.progress();
                })
                .unwrap()
            })
            .collect();
        assert_eq!(server.mail.all(), vec![Word::Connected; CROWD]);

        // Asleep: what it uses of its core.
        let (begun, mut slept) = (used(), 0);
        for _ in 0..10 {
            slept += usize::from(server.pe.wait(Some(Duration::from_millis(100))).unwrap() == 0);
        }
        assert_eq!(slept, 10, "nothing happened");
        let share = (used() - begun).as_secs_f64() / 1.0;
        assert!(share < 0.02, "asleep with {CROWD} clients it uses {:.1} % of a core", share * 100.0);

        // Awake: an empty progress looks at none of them. Against a server with none, in processor time of this thread.
        let mut lonely = Server::start(&session, "lonely", numbers).unwrap();
        let cost = |pe: &mut ProgressEngine| {
            let begun = used();
            (0..100_000).for_each(|_| assert_eq!(pe.progress(), 0));
            used() - begun
        };
        let (crowded, alone) = (cost(&mut server.pe), cost(&mut lonely.pe));
        assert!(
            crowded < 20 * alone.max(Duration::from_millis(1)),
            "{crowded:?} with a crowd, {alone:?} without"
        );

        // Any of them is heard, awake and asleep.
        for at in [0, 1, 63, 64, 500, CROWD - 1] {
            let task = clients[at].say(&(at as u32).to_le_bytes());
            until("the message", || server.pe.wait(Some(Duration::from_secs(10))).unwrap() > 0);
            assert_eq!(server.mail.all(), [Word::Message((at as u32).to_le_bytes().to_vec())]);
            until("the completion", || {
                clients[at].pe.progress();
                task.is_done()
            });
        }

        // All of them at once.
        let tasks: Vec<_> = clients.iter_mut().map(|client| client.say(b"all")).collect();
        let mut heard = 0;
        until("the chorus", || {
            server.pe.progress();
            heard += server.mail.all().len();
            heard == CROWD
        });
        drop(tasks);
        drop(clients);
        until("the exodus", || {
            server.pe.progress();
            server.mail.peers() == 0
        });
    });
}
