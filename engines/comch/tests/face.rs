//! The Rust face: messages, buffers, back-pressure, dropped futures, ends.

mod common;

use common::process::{alone, until};
use common::{Job, all};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use softdpu::comch::{Client, Connection, ConsumerId, Incoming, Payload, Server};
use softdpu::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const BOARDS: [fn() -> Board; 2] = [Board::inline, Board::threads];

struct Rig {
    session: Session,
    pe: ProgressEngine,
    server: Server,
    client: Client,
    there: Connection,
}

fn session(board: Board) -> Session {
    Session::builder().profile(softdpu::card::Profile::All).board(board).open().unwrap()
}

/// Both ends on one progress engine.
fn rig(board: Board, queue: u32, tasks: u32) -> Rig {
    let session = session(board);
    let mut pe = ProgressEngine::new(&session).unwrap();
    let card = session.device("03:00.0").unwrap().open().unwrap();
    let host = session.device("b1:00.0").unwrap().open().unwrap();
    let server = Server::builder("rig").recv_queue(queue).tasks(tasks);
    let server = server.start(&mut pe, &card).unwrap().wait(&mut pe).unwrap();
    let client = Client::builder("rig").recv_queue(queue).tasks(tasks);
    let client = client.start(&mut pe, &host).unwrap().wait(&mut pe).unwrap();
    let there = pe.run(server.accept()).unwrap();
    Rig { session, pe, server, client, there }
}

/// Polls once; what a `select!` does that goes another way.
fn once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn messages_go_both_ways_in_order() {
    alone("messages_go_both_ways_in_order", || {
        for board in BOARDS {
            let Rig { mut pe, client, there, server, .. } = rig(board(), 8, 16);
            let body = |n: u32| n.to_le_bytes().repeat(1 + n as usize % 900);
            pe.run(async {
                let send = async |end: &Connection, base: u32| {
                    for n in 0..500 {
                        end.feed(body(base + n)).await.unwrap();
                    }
                    end.flush().await.unwrap();
                };
                let receive = async |end: &Connection, base: u32| {
                    for n in 0..500 {
                        assert_eq!(end.recv().await.unwrap(), body(base + n));
                    }
                };
                let four = all([
                    Box::pin(send(&client, 0)) as Job<'_>,
                    Box::pin(receive(&there, 0)),
                    Box::pin(send(&there, 10_000)),
                    Box::pin(receive(&client, 10_000)),
                ]);
                four.await;
            });
            let (ours, theirs) = (client.counters().unwrap(), there.counters().unwrap());
            assert_eq!((ours.sent_messages, theirs.received_messages), (500, 500));
            assert_eq!((ours.received_bytes, theirs.sent_bytes), (theirs.sent_bytes, ours.received_bytes));
            server.stop().wait(&mut pe).unwrap();
        }
    });
}

#[test]
fn dropped_futures_lose_nothing() {
    alone("dropped_futures_lose_nothing", || {
        let Rig { mut pe, client, there, server: _server, .. } = rig(Board::inline(), 4, 8);
        let (mut sent, mut got, mut dropped) = (0u32, 0u32, 0);
        while got < 2000 {
            // A send that is dropped after one poll was sent, or was never begun.
            let before = client.counters().unwrap().sent_messages;
            match once(client.send(sent.to_le_bytes())) {
                Poll::Ready(outcome) => outcome.unwrap(),
                Poll::Pending => dropped += 1,
            }
            let begun = client.try_feed(b"").is_ok(); // follows it, if there is room
            for _ in 0..20 {
                pe.progress();
            }
            let after = client.counters().unwrap().sent_messages;
            assert!(after - before <= 20);
            let _ = begun;
            // Receives that are dropped take nothing with them.
            while let Poll::Ready(message) = once(there.recv()) {
                let message = message.unwrap();
                if let Ok(bytes) = <[u8; 4]>::try_from(&*message) {
                    let number = u32::from_le_bytes(bytes);
                    assert!(number >= got && number <= sent, "{number}: {got} came, {sent} went");
                    got = number + 1;
                }
            }
            sent += 1;
        }
        assert!(dropped > 0);
        let (ours, theirs) = (client.counters().unwrap(), there.counters().unwrap());
        pe.run(client.flush()).unwrap();
        assert!(ours.sent_messages >= theirs.received_messages);
    });
}

#[test]
fn who_does_not_receive_stops_the_sender() {
    alone("who_does_not_receive_stops_the_sender", || {
        let Rig { mut pe, client, there, server: _server, .. } = rig(Board::inline(), 8, 16);
        let (mut sent, mut refused) = (0u32, 0);
        while refused < 1000 {
            match client.try_feed(sent.to_le_bytes()) {
                Ok(()) => sent += 1,
                Err(error) => {
                    assert_eq!(error.code(), Code::Full);
                    refused += 1;
                }
            }
            pe.progress();
        }
        // Mailbox and queue, and the client's share of its tasks.
        assert_eq!(sent, 8 + 8 + 8);
        assert!(once(client.flush()).is_pending());
        // An idle end with a full mailbox sleeps.
        assert!(pe.arm().unwrap(), "nothing can be done until somebody receives");
        pe.disarm();
        for n in 0..sent {
            assert_eq!(pe.run(there.recv()).unwrap(), n.to_le_bytes());
        }
        pe.run(client.flush()).unwrap();
    });
}

#[test]
fn a_consumer_starts_though_messages_are_not_taken() {
    alone("a_consumer_starts_though_messages_are_not_taken", || {
        for board in BOARDS {
            let Rig { mut pe, client, there, server: _server, .. } = rig(board(), 8, 64);
            let mut sent = 0u32;
            let mut flood = |pe: &mut ProgressEngine| {
                for refused in 0..1000 {
                    match client.try_feed(sent.to_le_bytes()) {
                        Ok(()) => sent += 1,
                        Err(_) if refused > 100 => break,
                        Err(_) => drop(pe.progress()),
                    }
                }
            };
            // Mailbox, queue and the client's tasks are full: what the client says of the consumer has to pass all that.
            flood(&mut pe);
            let mut consumers = Vec::new();
            for _ in 0..2 {
                let consumer = there.consumer().receives(4).start(&mut pe).unwrap().wait(&mut pe).unwrap();
                assert_eq!(pe.run(client.new_consumer()), Some(consumer.id()));
                consumers.push(consumer);
                flood(&mut pe);
            }
            for n in 0..sent {
                assert_eq!(pe.run(there.recv()).unwrap(), n.to_le_bytes());
            }
            pe.run(client.flush()).unwrap();
            client.try_feed(b"on it goes").unwrap();
            assert_eq!(pe.run(there.recv()).unwrap(), *b"on it goes");
        }
    });
}

#[test]
fn one_client_that_takes_nothing_stops_no_other() {
    alone("one_client_that_takes_nothing_stops_no_other", || {
        let Rig { session, mut pe, server, client, there } = rig(Board::inline(), 4, 16);
        let host = session.device("b1:00.0").unwrap().open().unwrap();
        let mut other_pe = ProgressEngine::new(&session).unwrap();
        let mut opening = pin!(Client::builder("rig").recv_queue(4).start(&mut other_pe, &host).unwrap());
        let mut other = None;
        until("the second client", || {
            pe.progress();
            other_pe.progress();
            if let Poll::Ready(client) = opening.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                other = Some(client.unwrap());
            }
            other.is_some()
        });
        let stuck = pe.run(server.accept()).unwrap();
        // Its progress engine rests.
        while stuck.try_feed(b"nobody reads this").is_ok() {}
        for n in 0..1000u32 {
            pe.run(there.send(n.to_le_bytes())).unwrap();
            assert_eq!(pe.run(client.recv()).unwrap(), n.to_le_bytes());
        }
        assert!(once(stuck.flush()).is_pending());
        drop(other);
    });
}

#[test]
fn buffers_arrive_where_they_were_posted() {
    alone("buffers_arrive_where_they_were_posted", || {
        for board in BOARDS {
            let Rig { mut pe, client, there, server: _server, .. } = rig(board(), 8, 16);
            let theirs = Memory::heap(1 << 16).access(Access::PCI_READ_WRITE);
            let theirs = theirs.register(&[there.device()]).unwrap();
            let blocks = theirs.pool(4096).unwrap();
            let ours = Memory::heap(1 << 20).register(&[client.device()]).unwrap();
            let source = ours.pool(8192).unwrap();
            let consumer = there.consumer().memory(&theirs).receives(8);
            let consumer = consumer.start(&mut pe).unwrap().wait(&mut pe).unwrap();
            let producer = client.producer().tasks(4).start(&mut pe).unwrap().wait(&mut pe).unwrap();
            let to = pe.run(client.new_consumer()).unwrap();
            assert_eq!((to, client.consumers()), (consumer.id(), vec![to]));
            pe.run(async {
                // Nothing is posted at first: the producer waits, and everything else goes on.
                let produce = async {
                    for n in 0..300u32 {
                        let mut buf = source.take().unwrap();
                        buf.push_slice(&n.to_le_bytes().repeat(1 + n as usize % 1024)).unwrap();
                        let payload = Payload::from(buf).with_imm(&n.to_le_bytes()).unwrap();
                        let back = producer.send(to, payload).await.unwrap();
                        assert_eq!(back.buf.unwrap().data_len(), 4 * (1 + n as usize % 1024));
                    }
                };
                let consume = async {
                    assert!(consumer.next().await.is_none(), "nothing is posted");
                    for n in 0..300u32 {
                        consumer.post(blocks.take().unwrap()).unwrap();
                        let delivery = consumer.next().await.unwrap().unwrap();
                        assert_eq!(delivery.imm.as_bytes(), n.to_le_bytes());
                        assert_eq!(delivery.producer, producer.id());
                        let buf = delivery.buf.unwrap();
                        assert_eq!(buf.to_vec(), n.to_le_bytes().repeat(1 + n as usize % 1024));
                        assert_eq!(delivery.bytes, buf.data_len());
                    }
                };
                all([Box::pin(produce) as Job<'_>, Box::pin(consume)]).await;
            });

            // What does not fit fails at both ends, and both get their buffers.
            consumer.post(blocks.take().unwrap()).unwrap();
            let mut long = source.take().unwrap();
            long.push_slice(&[7; 5000]).unwrap();
            let refused = pe.run(producer.send(to, long)).unwrap_err();
            assert_eq!(refused.error.code(), Code::TooBig);
            assert_eq!(refused.back.buf.unwrap().data_len(), 5000);
            let refused = pe.run(consumer.next()).unwrap().unwrap_err();
            assert_eq!(refused.back.unwrap().data_len(), 0);

            // A dropped send, and one that nobody can take.
            consumer.post_imm().unwrap();
            assert!(once(producer.send(to, Payload::imm(b"dropped").unwrap())).is_pending());
            let back = pe.run(producer.reclaim()).unwrap();
            assert_eq!((back.result, back.payload.imm.as_bytes()), (Ok(0), &b"dropped"[..]));
            assert_eq!(pe.run(consumer.next()).unwrap().unwrap().imm.as_bytes(), b"dropped");
            assert!(pe.run(producer.reclaim()).is_none());
            let nobody = pe.run(producer.send(ConsumerId::from(12345), Payload::imm(b"x").unwrap()));
            assert_eq!(nobody.unwrap_err().error.code(), Code::NotFound);
            let empty = pe.run(producer.send(to, Payload::default()));
            assert_eq!(
                empty.unwrap_err().error.code(),
                Code::InvalidValue,
                "neither buffer nor immediate data"
            );
            let early = producer.try_feed(to, Payload::imm(b"early").unwrap());
            assert_eq!(early.unwrap_err().error.code(), Code::Again, "no receive is posted");

            // The consumer goes: its memory is the program's alone again, the producer's end hears of it.
            consumer.post(blocks.take().unwrap()).unwrap();
            drop(consumer);
            let gone = pe.run(async {
                loop {
                    match client.next().await {
                        Some(Incoming::ExpiredConsumer(id)) => break id,
                        other => assert!(other.is_some()),
                    }
                }
            });
            assert_eq!((gone, client.consumers()), (to, vec![]));
            until("the buffers to be back", || {
                pe.progress();
                theirs.pool_in(.., 4096, 1).is_err() && blocks.available() == 16
            });
            let late = pe.run(producer.send(to, Payload::imm(b"late").unwrap())).unwrap_err();
            assert_eq!(late.error.code(), Code::NotFound);
        }
    });
}

/// Counts how often somebody is woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn who_waits_for_a_receive_is_told_of_it() {
    alone("who_waits_for_a_receive_is_told_of_it", || {
        for board in BOARDS {
            let Rig { session, mut pe, client, there, server: _server } = rig(board(), 8, 16);
            let consumer = there.consumer().start(&mut pe).unwrap().wait(&mut pe).unwrap();
            // On an engine of its own: news come over the connection's.
            let mut own = ProgressEngine::new(&session).unwrap();
            let producer = client.producer().start(&mut own).unwrap().wait(&mut own).unwrap();
            let to = pe.run(client.new_consumer()).unwrap();
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(woken.clone());
            let cx = &mut Context::from_waker(&waker);
            for round in 1..=20u8 {
                let mut send = pin!(producer.send(to, Payload::imm(&[round]).unwrap()));
                assert!(send.as_mut().poll(cx).is_pending());
                let before = woken.0.load(Ordering::SeqCst);
                for _ in 0..100 {
                    assert_eq!(pe.progress() + own.progress(), 0);
                }
                assert_eq!(woken.0.load(Ordering::SeqCst), before, "nothing has happened");
                assert!(pe.arm().unwrap() && own.arm().unwrap(), "both may sleep");
                consumer.post_imm().unwrap();
                until("news of a receive", || {
                    pe.progress();
                    woken.0.load(Ordering::SeqCst) > before
                });
                until("the send", || {
                    own.progress();
                    send.as_mut().poll(cx).is_ready()
                });
                assert_eq!(pe.run(consumer.next()).unwrap().unwrap().imm.as_bytes(), [round]);
            }
            // The consumer goes instead.
            let mut send = pin!(producer.send(to, Payload::imm(b"late").unwrap()));
            assert!(send.as_mut().poll(cx).is_pending());
            let before = woken.0.load(Ordering::SeqCst);
            drop(consumer);
            until("news of the end", || {
                pe.progress();
                woken.0.load(Ordering::SeqCst) > before
            });
            let Poll::Ready(Err(late)) = send.as_mut().poll(cx) else { panic!("nobody takes it") };
            assert_eq!(late.error.code(), Code::NotFound);
        }
    });
}

#[test]
fn a_client_that_nobody_takes_gives_up_though_its_program_sleeps() {
    alone("a_client_that_nobody_takes_gives_up_though_its_program_sleeps", || {
        // Without workers, which would take it.
        let session = session(Board::inline());
        let mut idle = ProgressEngine::new(&session).unwrap();
        let card = session.device("03:00.0").unwrap().open().unwrap();
        let _server = Server::builder("idle").start(&mut idle, &card).unwrap();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let host = session.device("b1:00.0").unwrap().open().unwrap();
        let begun = std::time::Instant::now();
        let opening = Client::builder("idle").start(&mut pe, &host).unwrap();
        // Sleeps without end, as nobody else wakes it.
        assert!(pe.run(opening).is_err());
        assert!(begun.elapsed() >= std::time::Duration::from_secs(5));
    });
}

#[test]
fn ends_are_told_to_whoever_waits() {
    alone("ends_are_told_to_whoever_waits", || {
        for board in BOARDS {
            // The server stops: accept, receivers and senders at both ends hear of it.
            let Rig { mut pe, client, there, server, .. } = rig(board(), 4, 8);
            pe.run(there.send(b"last words")).unwrap();
            server.stop().wait(&mut pe).unwrap();
            assert!(pe.run(there.recv()).is_none());
            assert_eq!(pe.run(client.recv()).unwrap(), b"last words");
            assert!(pe.run(client.recv()).is_none());
            assert_eq!(pe.run(client.send(b"late")).unwrap_err().code(), Code::ConnectionReset);
            assert_eq!(pe.run(there.send(b"late")).unwrap_err().code(), Code::ConnectionReset);
            until("the client to be idle", || {
                pe.progress();
                client.state() == State::Idle
            });

            // One connection is dropped: its client stops, the server goes on.
            let Rig { mut pe, client, there, server, .. } = rig(board(), 4, 8);
            pe.run(there.close()).unwrap();
            assert!(pe.run(client.recv()).is_none());
            until("the server to be alone", || {
                pe.progress();
                server.connections() == 0
            });
            assert_eq!(server.state(), State::Running);
        }
    });
}

#[test]
fn a_progress_engine_that_goes_ends_what_others_await() {
    alone("a_progress_engine_that_goes_ends_what_others_await", || {
        let Rig { session, pe, client, there, server } = rig(Board::threads(), 4, 8);
        let asleep = |what: Box<dyn FnOnce(&mut ProgressEngine) -> bool + Send>| {
            let mut other = ProgressEngine::new(&session).unwrap();
            std::thread::spawn(move || what(&mut other))
        };
        let threads = [
            asleep(Box::new(move |pe| pe.run(client.recv()).is_none())),
            asleep(Box::new(move |pe| pe.run(there.recv()).is_none())),
            asleep(Box::new(move |pe| pe.run(server.accept()).is_none())),
        ];
        std::thread::sleep(std::time::Duration::from_millis(50));
        drop(pe);
        for thread in threads {
            until("the end of a wait", || thread.is_finished());
            assert!(thread.join().unwrap());
        }
    });
}

#[test]
fn connections_are_shared_by_threads() {
    alone("connections_are_shared_by_threads", || {
        let Rig { session, mut pe, client, there, server } = rig(Board::threads(), 32, 64);
        let over = AtomicBool::new(false);
        std::thread::scope(|s| {
            s.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    pe.wait(Some(std::time::Duration::from_millis(1))).unwrap();
                }
            });
            let mut parts = Vec::new();
            for part in 0..2u32 {
                let (client, there, session) = (&client, &there, &session);
                parts.push(s.spawn(move || {
                    let mut pe = ProgressEngine::new(session).unwrap();
                    let sent = |n| 1000 * part + n;
                    pe.run(async {
                        for n in 0..1000 {
                            client.feed(sent(n).to_le_bytes()).await.unwrap();
                        }
                        client.flush().await.unwrap();
                    });
                    0
                }));
                parts.push(s.spawn(move || {
                    let mut pe = ProgressEngine::new(session).unwrap();
                    (0..1000)
                        .map(|_| u32::from_le_bytes(pe.run(there.recv()).unwrap()[..].try_into().unwrap()))
                        .sum()
                }));
            }
            let sum: u32 = parts.into_iter().map(|part| part.join().unwrap()).sum();
            over.store(true, Ordering::Relaxed);
            assert_eq!(sum, (0..2000).sum::<u32>());
        });
        drop(server);
    });
}

#[test]
fn driven_by_tokio() {
    alone("driven_by_tokio", || {
        for board in BOARDS {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let Rig { mut pe, client, there, server, .. } = rig(board(), 8, 16);
            runtime.block_on(async move {
                let memory = Memory::heap(1 << 16).access(Access::PCI_READ_WRITE);
                let memory = memory.register(&[there.device()]).unwrap();
                let starting = there.consumer().memory(&memory).start(&mut pe).unwrap();
                let producing = client.producer().start(&mut pe).unwrap();
                let progress = tokio::spawn(async move { pe.drive().await });
                let (consumer, producer) = (starting.await.unwrap(), producing.await.unwrap());
                let to = client.new_consumer().await.unwrap();
                let echo = tokio::spawn(async move {
                    while let Some(message) = there.recv().await {
                        there.send(&message).await.unwrap();
                    }
                });
                let blocks = memory.pool(4096).unwrap();
                let consume = tokio::spawn(async move {
                    for n in 0..100u8 {
                        consumer.post(blocks.take().unwrap()).unwrap();
                        let delivery = consumer.next().await.unwrap().unwrap();
                        assert_eq!(delivery.buf.unwrap().to_vec(), [n; 4096]);
                    }
                });
                let source = Memory::heap(4096).register(&[client.device()]).unwrap();
                let mut block = source.buf(..).unwrap();
                for n in 0..100u8 {
                    client.send([n]).await.unwrap();
                    assert_eq!(client.recv().await.unwrap(), [n]);
                    block.reset();
                    block.push_slice(&[n; 4096]).unwrap();
                    block = producer.send(to, block).await.unwrap().buf.unwrap();
                }
                consume.await.unwrap();
                drop((producer, client));
                echo.await.unwrap();
                server.stop().await.unwrap();
                progress.abort();
            });
        }
    });
}
