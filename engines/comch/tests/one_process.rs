//! Servers and clients of one process, on one thread: connecting, messages, endings.

mod common;

use common::process::{alone, until};
use common::{Client, Numbers, Server, Word, session};
use softdpu_room::context::State;
use softdpu_status::Code;

fn pair(numbers: Numbers) -> (Server, Client) {
    let session = session("");
    let mut server = Server::start(&session, "pair", numbers).unwrap();
    let client = Client::start(&session, "pair", numbers, || {
        server.pe.progress();
    })
    .unwrap();
    assert_eq!(server.mail.next(), Some(Word::Connected));
    (server, client)
}

#[test]
fn messages_go_both_ways_in_order() {
    alone("messages_go_both_ways_in_order", || {
        // More than the ring and the queue take: most of them wait in their tasks.
        let (mut server, mut client) = pair(Numbers { msg: 4080, queue: 8, tasks: 512 });
        let body = |n: u32| n.to_le_bytes().repeat(1 + n as usize * 7 % 1000);
        let up: Vec<_> = (0..500).map(|n| client.say(&body(n))).collect();
        let down: Vec<_> = (0..500).map(|n| server.say(0, &body(n + 1000))).collect();
        let (mut got_up, mut got_down) = (0, 0);
        until("the exchange", || {
            server.pe.progress();
            client.pe.progress();
            for word in server.mail.all() {
                assert_eq!(word, Word::Message(body(got_up)));
                got_up += 1;
            }
            for word in client.mail.all() {
                assert_eq!(word, Word::Message(body(got_down + 1000)));
                got_down += 1;
            }
            got_up == 500 && got_down == 500
        });
        until("the last completion", || {
            server.pe.progress();
            client.pe.progress();
            up.iter().all(|task| task.is_done()) && down.iter().all(|task| task.is_done())
        });
        for task in up {
            assert_eq!(task.try_take().unwrap().result, Ok(()));
        }
        let counters = client.peer.connection().counters().unwrap();
        assert_eq!((counters.sent_messages, counters.received_messages), (500, 500));
        let theirs = server.mail.peer(0).connection().counters().unwrap();
        assert_eq!(
            (counters.sent_bytes, counters.received_bytes),
            (theirs.received_bytes, theirs.sent_bytes)
        );
    });
}

#[test]
fn a_full_queue_keeps_tasks_in_flight() {
    alone("a_full_queue_keeps_tasks_in_flight", || {
        let (mut server, mut client) = pair(Numbers { msg: 64, queue: 10, tasks: 64 });
        let tasks: Vec<_> = (0..30).map(|n| client.say(&[n])).collect();
        for _ in 0..100 {
            client.pe.progress();
        }
        // The server's program did nothing yet: its queue is full.
        assert_eq!(tasks.iter().filter(|task| task.is_done()).count(), 10);
        until("the rest", || {
            server.pe.progress();
            client.pe.progress();
            tasks.iter().all(|task| task.is_done())
        });
    });
}

#[test]
fn a_message_longer_than_the_peer_takes_fails_as_a_task() {
    alone("a_message_longer_than_the_peer_takes_fails_as_a_task", || {
        let session = session("");
        let small = Numbers { msg: 100, ..Numbers::default() };
        let mut server = Server::start(&session, "small", small).unwrap();
        let mut client = Client::start(&session, "small", Numbers::default(), || {
            server.pe.progress();
        })
        .unwrap();
        let (long, short) = (client.say(&[1; 101]), client.say(&[2; 100]));
        until("both tasks", || {
            client.pe.progress();
            long.is_done() && short.is_done()
        });
        assert_eq!(long.try_take().unwrap().result.unwrap_err().code(), Code::TooBig);
        assert_eq!(short.try_take().unwrap().result, Ok(()));
        until("the message", || server.pe.progress() > 0);
        assert_eq!(server.mail.all(), [Word::Connected, Word::Message(vec![2; 100])]);
    });
}

#[test]
fn what_was_submitted_before_a_stop_arrives_before_the_end() {
    alone("what_was_submitted_before_a_stop_arrives_before_the_end", || {
        let (mut server, mut client) = pair(Numbers { msg: 64, queue: 4, tasks: 64 });
        let tasks: Vec<_> = (0..20).map(|n| client.say(&[n])).collect();
        let stopping = client.context.stop();
        until("the end of the client", || {
            server.pe.progress();
            client.pe.progress();
            stopping.state() == State::Idle
        });
        assert!(tasks.into_iter().all(|task| task.try_take().unwrap().result == Ok(())));
        until("the disconnection", || {
            server.pe.progress();
            server.mail.peers() == 0
        });
        let mut expected: Vec<_> = (0..20).map(|n| Word::Message(vec![n])).collect();
        expected.push(Word::Disconnected);
        assert_eq!(server.mail.all(), expected);
    });
}

#[test]
fn a_server_that_stops_tells_its_clients() {
    alone("a_server_that_stops_tells_its_clients", || {
        let (mut server, mut client) = pair(Numbers::default());
        let last = server.say(0, b"closing time");
        let stopping = server.context.stop();
        until("the end of both", || {
            server.pe.progress();
            client.pe.progress();
            stopping.state() == State::Idle && client.context.state() == State::Idle
        });
        assert_eq!(last.try_take().unwrap().result, Ok(()));
        assert_eq!(client.mail.all(), [Word::Message(b"closing time".to_vec())]);
        assert!(client.peer.connection().counters().is_err());
        assert_eq!(server.mail.all(), [], "stopping is the program's own doing");
    });
}

#[test]
fn names_are_taken_once_and_free_again() {
    alone("names_are_taken_once_and_free_again", || {
        let session = session("");
        let first = Server::start(&session, "name", Numbers::default()).unwrap();
        let refused = Server::start(&session, "name", Numbers::default()).err().unwrap();
        assert_eq!(refused.code(), Code::AlreadyExist);
        let other = Server::start(&session, "name2", Numbers::default()).unwrap();
        let mut pe = first.pe;
        first.context.stop().wait(&mut pe).unwrap();
        let again = Server::start(&session, "name", Numbers::default()).unwrap();
        drop((other, again));
    });
}

#[test]
fn nobody_there_is_an_end_and_no_error_of_the_start() {
    alone("nobody_there_is_an_end_and_no_error_of_the_start", || {
        let session = session("");
        assert!(Client::start(&session, "nobody", Numbers::default(), || ()).is_err());
    });
}

#[test]
fn a_client_is_refused_inside_its_connection() {
    alone("a_client_is_refused_inside_its_connection", || {
        let session = session("");
        let mut server = Server::refusing(&session, "closed");
        let started = Client::start(&session, "closed", Numbers::default(), || {
            server.pe.progress();
        });
        // It may have been running for a moment.
        if let Ok(mut client) = started {
            until("the end of the client", || {
                server.pe.progress();
                client.pe.progress();
                client.context.state() == State::Idle
            });
        }
        for _ in 0..100 {
            server.pe.progress();
        }
        assert_eq!(server.mail.all(), [Word::Connected], "no news of what the program did itself");
    });
}

#[test]
fn two_hundred_clients_come_and_go() {
    alone("two_hundred_clients_come_and_go", || {
        let session = session("");
        let mut server = Server::start(&session, "inn", Numbers::default()).unwrap();
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let mut before = 0;
        for round in 0..200 {
            let mut client = Client::start(&session, "inn", Numbers::default(), || {
                server.pe.progress();
            })
            .unwrap();
            let task = client.say(&[round as u8]);
            if round % 2 == 0 {
                client.context.stop().wait(&mut client.pe).unwrap();
            } else {
                drop(client);
            }
            drop(task);
            until("the disconnection", || {
                server.pe.progress();
                server.mail.peers() == 0
            });
            let words = server.mail.all();
            assert_eq!((words.first(), words.last()), (Some(&Word::Connected), Some(&Word::Disconnected)));
            if round == 20 {
                before = descriptors();
            }
        }
        until("the last lines to close", || {
            std::thread::sleep(std::time::Duration::from_millis(1));
            descriptors() <= before + 4
        });
    });
}
