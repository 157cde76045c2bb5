//! Messages between the two sides of "a card".

mod common;

use common::{finish, letter, run_child, run_child_on, run_children, session, start_peer};
use softdpu::comch::{Client, MessageQueue, Server};
use softdpu::prelude::*;
use std::env;
use std::time::{Duration, Instant};

#[test]
fn programs_run_on_a_card() {
    run_children(8);
}

struct Sides {
    card: Device,
    host: Device,
    pe: ProgressEngine,
}

fn sides() -> Sides {
    let session = session();
    let card = session.device("03:00.0").unwrap().open().unwrap();
    let host = session.device("b1:00.0").unwrap().open().unwrap();
    Sides { card, host, pe: ProgressEngine::new(&session).unwrap() }
}

fn name(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

/// Progresses until something holds.
fn until(pe: &mut ProgressEngine, what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        pe.progress();
        assert!(Instant::now() < end, "{what}");
    }
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_messages_go_both_ways() {
    let Sides { card, host, mut pe } = sides();
    let name = name("both");
    let server =
        Server::builder(&name).representor("pf0hpf").start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
    let client = Client::builder(&name).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    let connection = pe.run(server.accept()).unwrap();
    assert!(client.is_up() && connection.is_up());
    assert_eq!((client.peer(), client.max_msg_size(), server.connections()), (0, 4080, 1));
    pe.run(async {
        for n in 0..500u32 {
            let long = vec![n as u8; 1 + (n as usize * 37) % 4080];
            client.send(long.clone()).await.unwrap();
            assert_eq!(connection.recv().await.unwrap(), long[..]);
            connection.send(n.to_le_bytes()).await.unwrap();
            assert_eq!(client.recv().await.unwrap(), n.to_le_bytes());
        }
    });
    let (here, there) = (client.counters().unwrap(), connection.counters().unwrap());
    assert_eq!((here.sent_messages, here.received_messages, here.received_bytes), (500, 500, 2000));
    assert_eq!((there.sent_bytes, there.received_bytes), (2000, here.sent_bytes));

    // The client goes; what it said last is still there, and then nothing.
    pe.run(client.send("good-bye")).unwrap();
    client.stop().wait(&mut pe).unwrap();
    assert_eq!(pe.run(connection.recv()).unwrap(), b"good-bye");
    assert!(pe.run(connection.recv()).is_none());
    assert!(!connection.is_up());
    assert!(pe.run(connection.send("too late")).is_err());
    assert_eq!(connection.counters().unwrap_err().code(), Code::ConnectionAborted);
    server.stop().wait(&mut pe).unwrap();
}

/// More messages than anybody has room for, and a reader that begins late.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_back_pressure_loses_nothing() {
    let Sides { card, host, mut pe } = sides();
    let name = name("pressure");
    let server = Server::builder(&name).recv_queue(4).start(&mut pe, &card);
    let server = server.unwrap().wait(&mut pe).unwrap();
    let client = Client::builder(&name).tasks(8).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    let connection = pe.run(server.accept()).unwrap();
    let sending = async {
        for n in 0..2000u32 {
            client.feed(n.to_le_bytes()).await.unwrap();
        }
        client.flush().await.unwrap();
    };
    let mut sending = Box::pin(sending);
    // Nobody reads at first.
    for _ in 0..200 {
        let waker = std::task::Waker::noop();
        let _ = sending.as_mut().poll(&mut std::task::Context::from_waker(waker));
        pe.progress();
    }
    let reading = async {
        for n in 0..2000u32 {
            assert_eq!(connection.recv().await.unwrap(), n.to_le_bytes());
        }
    };
    let mut reading = Box::pin(reading);
    pe.run(std::future::poll_fn(|cx| {
        let sent = sending.as_mut().poll(cx).is_ready();
        let read = reading.as_mut().poll(cx).is_ready();
        if sent || read { std::task::Poll::Ready((sent, read)) } else { std::task::Poll::Pending }
    }));
    drop(sending);
    pe.run(reading);
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_several_clients_come_and_go() {
    let Sides { card, host, mut pe } = sides();
    let name = name("several");
    let server = Server::builder(&name).start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
    let mut pairs = Vec::new();
    for n in 0..5u8 {
        let client = Client::builder(&name).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
        let connection = pe.run(server.accept()).unwrap();
        pe.run(client.send([n])).unwrap();
        pairs.push((client, connection));
    }
    for (n, (client, connection)) in pairs.iter().enumerate() {
        assert_eq!(pe.run(connection.recv()).unwrap(), [n as u8]);
        pe.run(connection.send([n as u8, 1])).unwrap();
        assert_eq!(pe.run(client.recv()).unwrap(), [n as u8, 1]);
    }
    // The server drops one: its client is told, after what was sent, and stops.
    let (client, connection) = pairs.remove(2);
    pe.run(connection.send("out")).unwrap();
    drop(connection);
    assert_eq!(pe.run(client.recv()).unwrap(), b"out");
    assert!(pe.run(client.recv()).is_none());
    until(&mut pe, "the client stops", || client.state() == State::Idle);
    until(&mut pe, "the others stay", || server.connections() == 4);
    // The server goes: so do the others.
    server.stop().wait(&mut pe).unwrap();
    for (client, connection) in &pairs {
        assert!(pe.run(client.recv()).is_none() && pe.run(connection.recv()).is_none());
    }
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_what_does_not_start_says_so() {
    let Sides { card, host, mut pe } = sides();
    let name = name("refused");
    let nobody = Client::builder(&name).start(&mut pe, &host).and_then(|client| client.wait(&mut pe));
    assert_eq!(nobody.unwrap_err().code(), Code::BadState);
    assert_eq!(Server::builder(&name).start(&mut pe, &host).unwrap_err().code(), Code::NotSupported);
    assert_eq!(Client::builder(&name).start(&mut pe, &card).unwrap_err().code(), Code::NotSupported);
    let server = Server::builder(&name).start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
    let second = Server::builder(&name).start(&mut pe, &card);
    assert_eq!(second.unwrap_err().code(), Code::AlreadyExist);
    // The name is free again afterwards, and one that was just dropped counts as well.
    drop(server);
    until(&mut pe, "it is over", || Server::builder(&name).start(&mut pe_of(&card), &card).is_ok());
}

/// A progress engine that is dropped with what it progressed.
fn pe_of(_: &Device) -> ProgressEngine {
    ProgressEngine::new(&session()).unwrap()
}

/// Producers and consumers are left out.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_streams_are_refused() {
    let Sides { card, host, mut pe } = sides();
    let name = name("streams");
    let server = Server::builder(&name).start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
    let client = Client::builder(&name).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    let connection = pe.run(server.accept()).unwrap();
    let memory = Memory::heap(4096).access(Access::PCI_READ_WRITE).register(&[&card]).unwrap();
    assert_eq!(connection.producer().start(&mut pe).unwrap_err().code(), Code::NotSupported);
    let consumer = connection.consumer().memory(&memory).start(&mut pe);
    assert_eq!(consumer.unwrap_err().code(), Code::NotSupported);
    assert_eq!(MessageQueue::new(&card).unwrap_err().code(), Code::NotSupported);
    // The connection is none the worse for it.
    pe.run(client.send("still there")).unwrap();
    assert_eq!(pe.run(connection.recv()).unwrap(), b"still there");
}

/// Everything is dropped in the wrong order, with messages on their way.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_ends_in_any_order() {
    let Sides { card, host, mut pe } = sides();
    for round in 0..4 {
        let name = name(&format!("order{round}"));
        let server = Server::builder(&name).start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
        let client = Client::builder(&name).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
        let connection = pe.run(server.accept()).unwrap();
        pe.run(async {
            for _ in 0..4 {
                client.feed("unread").await.unwrap();
                connection.feed("unread").await.unwrap();
            }
        });
        match round {
            0 => drop((server, client, connection)),
            1 => drop((connection, client, server)),
            2 => {
                drop(server);
                until(&mut pe, "the client is told", || client.state() == State::Idle);
            }
            _ => {
                drop(pe);
                assert_eq!((server.state(), client.state()), (State::Idle, State::Idle));
                return;
            }
        }
        pe.progress();
    }
}

#[test]
fn processes_talk() {
    run_child("child_serves_another_process");
}

/// The card's own processors see no host functions but by their representors, and the host no others.
#[test]
fn the_two_sides_talk() {
    run_child_on("dpu", "child_serves_another_process");
}

#[test]
#[ignore = "run by processes_talk"]
fn child_serves_another_process() {
    if env::var_os("ALONE").is_none() {
        return;
    }
    let session = session();
    let own = env::var("SOFTDPU_SIDE").unwrap() == "dpu";
    assert_eq!(session.devices().len(), if own { 2 } else { 4 });
    let card = session.device("03:00.0").unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let name = name("process");
    let server = Server::builder(&name).representor("b1:00.0").start(&mut pe, &card);
    let server = server.unwrap().wait(&mut pe).unwrap();
    for how in ["politely", "suddenly"] {
        let mut peer = start_peer("peer_is_a_client", &format!("{how} {name}"));
        let connection = pe.run(server.accept()).unwrap();
        for n in 0..100u32 {
            assert_eq!(pe.run(connection.recv()).unwrap(), n.to_le_bytes());
            pe.run(connection.send((n + 1).to_le_bytes())).unwrap();
        }
        // It goes, or dies.
        if how == "suddenly" {
            peer.kill().unwrap();
        }
        assert!(pe.run(connection.recv()).is_none());
        let (success, text) = finish(peer);
        assert_eq!(success, how == "politely", "{text}");
    }
    server.stop().wait(&mut pe).unwrap();
}

#[test]
#[ignore = "run by child_serves_another_process"]
fn peer_is_a_client() {
    let Some(letter) = letter() else { return };
    let (how, name) = letter.split_once(' ').unwrap();
    let session = session();
    let host = session.device("b1:00.0").unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let client = Client::builder(name).start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    for n in 0..100u32 {
        pe.run(client.send(n.to_le_bytes())).unwrap();
        assert_eq!(pe.run(client.recv()).unwrap(), (n + 1).to_le_bytes());
    }
    if how == "suddenly" {
        // It is ended from outside.
        std::thread::sleep(common::LAST_RESORT);
    }
    client.stop().wait(&mut pe).unwrap();
}
