//! Peers in processes of their own, and what is left when one of them is killed.

mod common;

use common::process::{Process, alone, role, say, until};
use common::{Client, Numbers, Server, Word, session};
use softdpu_room::context::State;
use softdpu_status::Code;
use std::time::Duration;

#[test]
fn roles() {
    let Some(role) = role() else { return };
    let session = session("");
    match role.as_str() {
        // Says everything back until it is stopped.
        "echo server" => {
            let mut server = Server::start(&session, "echo", Numbers::default()).unwrap();
            say("listening");
            until_killed(|| {
                server.pe.wait(Some(Duration::from_millis(100))).unwrap();
                for word in server.mail.all() {
                    if let Word::Message(bytes) = word {
                        drop(server.say(0, &bytes));
                    }
                }
            });
        }
        // Sends numbers without end, and takes what it is told.
        "talker" => {
            let numbers = Numbers { msg: 4000, queue: 8, tasks: 32 };
            let mut client = Client::start(&session, "hall", numbers, || ()).unwrap();
            say("talking");
            let mut flying = std::collections::VecDeque::new();
            let mut next = 0u32;
            until_killed(|| {
                client.pe.progress();
                client.mail.all();
                while flying.front().is_some_and(softdpu_room::inflight::InFlight::is_done) {
                    flying.pop_front();
                }
                if flying.len() < 32 {
                    flying.push_back(client.say(&next.to_le_bytes().repeat(1 + next as usize % 900)));
                    next += 1;
                }
            });
        }
        other => panic!("role {other}"),
    }
}

fn until_killed(mut step: impl FnMut()) {
    // Whoever plays a role ends with the test that started it.
    let parent = rustix::process::getppid();
    while rustix::process::getppid() == parent {
        step();
    }
}

#[test]
fn messages_cross_processes() {
    alone("messages_cross_processes", || {
        let mut process = Process::start("echo server");
        assert_eq!(process.hear(), "listening");
        let session = session("");
        let mut client = Client::start(&session, "echo", Numbers::default(), || ()).unwrap();
        for n in 0..1000u32 {
            let task = client.say(&n.to_le_bytes());
            until("the echo", || {
                client.pe.progress();
                match client.mail.next() {
                    Some(word) => {
                        assert_eq!(word, Word::Message(n.to_le_bytes().to_vec()));
                        true
                    }
                    None => false,
                }
            });
            drop(task);
        }
        // Both asleep in between.
        for n in 0..50u32 {
            let task = client.say(&n.to_le_bytes());
            until("the echo", || {
                client.pe.wait(Some(Duration::from_secs(1))).unwrap();
                client.mail.next().is_some()
            });
            drop(task);
        }
    });
}

#[test]
fn a_killed_server_ends_its_clients() {
    alone("a_killed_server_ends_its_clients", || {
        for _ in 0..10 {
            let mut process = Process::start("echo server");
            assert_eq!(process.hear(), "listening");
            let session = session("");
            let numbers = Numbers { tasks: 256, ..Numbers::default() };
            let mut client = Client::start(&session, "echo", numbers, || ()).unwrap();
            rustix::process::kill_process(pid(&process), rustix::process::Signal::STOP).unwrap();
            // More than its queue takes: the last ones wait.
            let tasks: Vec<_> = (0..200).map(|n| client.say(&[n])).collect();
            for _ in 0..50 {
                client.pe.progress();
            }
            assert!(!tasks[199].is_done());
            process.kill();
            until("the end of the client", || {
                client.pe.progress();
                client.context.state() == State::Idle
            });
            let results: Vec<_> = tasks.into_iter().map(|task| task.try_take().unwrap().result).collect();
            assert_eq!(results[0], Ok(()));
            assert_eq!(results[199].as_ref().unwrap_err().code(), Code::ConnectionReset);
        }
    });
}

fn pid(process: &Process) -> rustix::process::Pid {
    rustix::process::Pid::from_raw(process.pid().cast_signed()).unwrap()
}

#[test]
fn killed_clients_leave_whole_messages_and_a_disconnection() {
    alone("killed_clients_leave_whole_messages_and_a_disconnection", || {
        let session = session("");
        let numbers = Numbers { msg: 4000, queue: 8, tasks: 32 };
        let mut server = Server::start(&session, "hall", numbers).unwrap();
        for round in 0..20u64 {
            let mut process = Process::start("talker");
            until("the first message", || {
                server.pe.progress();
                server.mail.peers() == 1
            });
            assert_eq!(server.mail.next(), Some(Word::Connected));
            let (mut expected, mut over) = (0u32, false);
            let kill_at = 1 + round * 37 % 500;
            until("the disconnection", || {
                server.pe.progress();
                for word in server.mail.all() {
                    match word {
                        Word::Message(bytes) => {
                            // Complete and in order, whenever it was killed.
                            assert_eq!(bytes, expected.to_le_bytes().repeat(1 + expected as usize % 900));
                            expected += 1;
                            if u64::from(expected) == kill_at {
                                process.kill();
                            }
                            if server.mail.peers() == 1 && expected.is_multiple_of(8) {
                                drop(server.say(0, b"go on"));
                            }
                        }
                        Word::Disconnected => over = true,
                        other => panic!("{other:?}"),
                    }
                }
                over
            });
            assert!(u64::from(expected) >= kill_at);
        }
    });
}
