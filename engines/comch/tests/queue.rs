//! Message queues of the Rust face: order, back-pressure, limits, ends; on one progress engine and between threads.

mod common;

use common::process::{alone, until};
use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use softdpu::comch::{Consumer, ConsumerId, MessageQueue, Payload, Producer};
use softdpu::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

const BOARDS: [fn() -> Board; 2] = [Board::inline, Board::threads];

fn session(board: Board) -> Session {
    Session::builder().profile(softdpu::card::Profile::All).board(board).open().unwrap()
}

fn device(session: &Session) -> Device {
    session.device("03:00.0").unwrap().open().unwrap()
}

fn producer(queue: &MessageQueue, pe: &mut ProgressEngine) -> Producer {
    queue.producer().tasks(8).start(pe).unwrap().wait(pe).unwrap()
}

fn consumer(queue: &MessageQueue, pe: &mut ProgressEngine, receives: u32) -> Consumer {
    queue.consumer().receives(receives).start(pe).unwrap().wait(pe).unwrap()
}

fn number(n: u32) -> Payload {
    Payload::imm(&n.to_le_bytes()).unwrap()
}

fn code<T>(refused: Result<T, Rejected<Payload>>) -> Option<Code> {
    refused.err().map(|refused| refused.error.code())
}

#[test]
fn each_consumer_gets_what_is_sent_to_it() {
    alone("each_consumer_gets_what_is_sent_to_it", || {
        for board in BOARDS {
            let session = session(board());
            let mut pe = ProgressEngine::new(&session).unwrap();
            let queue = MessageQueue::new(&device(&session)).unwrap();
            assert_eq!(queue.consumers(), []);
            let producers = [0; 2].map(|_| producer(&queue, &mut pe));
            let consumers = [0; 2].map(|_| consumer(&queue, &mut pe, 4));
            assert_eq!(queue.consumers(), [consumers[0].id(), consumers[1].id()]);
            assert_ne!(producers[0].id(), producers[1].id());
            // The queue lives as long as somebody is on it.
            drop(queue);
            for n in 0..500u32 {
                let (from, to) = (&producers[n as usize % 2], &consumers[n as usize / 2 % 2]);
                to.post_imm().unwrap();
                let back = pe.run(from.send(to.id(), number(n))).unwrap();
                assert_eq!(back.imm.as_bytes(), n.to_le_bytes());
                let delivery = pe.run(to.next()).unwrap().unwrap();
                assert_eq!((delivery.imm.as_bytes(), delivery.bytes), (&n.to_le_bytes()[..], 0));
                assert_eq!(delivery.producer, from.id());
                assert!(delivery.buf.is_none() && consumers.iter().all(|one| one.posted() == 0));
            }
        }
    });
}

#[test]
fn what_a_queue_refuses() {
    alone("what_a_queue_refuses", || {
        let session = session(Board::inline());
        let device = device(&session);
        let mut pe = ProgressEngine::new(&session).unwrap();
        for (producers, consumers) in [(0, 1), (1, 0)] {
            let none = MessageQueue::with_limits(&device, producers, consumers);
            assert_eq!(none.unwrap_err().code(), Code::InvalidValue);
        }
        let queue = MessageQueue::with_limits(&device, 2, 1).unwrap();
        let memory = Memory::heap(4096).access(Access::PCI_READ_WRITE).register(&[&device]).unwrap();
        let with_memory = queue.consumer().memory(&memory).start(&mut pe);
        assert_eq!(with_memory.unwrap_err().code(), Code::InvalidValue);
        // That took no place.
        let taker = queue.consumer().max_imm(8).receives(2).start(&mut pe).unwrap().wait(&mut pe).unwrap();
        assert_eq!(queue.consumer().start(&mut pe).unwrap_err().code(), Code::NoMemory);
        let (one, two) = (producer(&queue, &mut pe), producer(&queue, &mut pe));
        assert_eq!(queue.producer().start(&mut pe).unwrap_err().code(), Code::NoMemory);
        drop(two);

        let early = one.try_feed(taker.id(), number(1));
        assert_eq!(code(early), Some(Code::Again), "no receive is posted");
        taker.post_imm().unwrap();
        taker.post_imm().unwrap();
        assert_eq!(taker.post_imm().unwrap_err().code(), Code::Full);
        assert_eq!(taker.post(memory.buf(..).unwrap()).unwrap_err().error.code(), Code::InvalidValue);
        let long = pe.run(one.send(taker.id(), Payload::imm(&[7; 9]).unwrap()));
        assert_eq!(code(long), Some(Code::InvalidValue), "more than the consumer takes");
        assert_eq!(taker.posted(), 2);
        let mut buf = memory.buf(..).unwrap();
        buf.push_slice(b"a block").unwrap();
        assert_eq!(code(pe.run(one.send(taker.id(), buf))), Some(Code::TooBig));
        assert_eq!(pe.run(taker.next()).unwrap().unwrap_err().error.code(), Code::TooBig);
        assert_eq!(code(pe.run(one.send(ConsumerId::from(4321), number(1)))), Some(Code::NotFound));

        // The receive that is left comes back, and another consumer may come.
        let id = taker.id();
        taker.stop().wait(&mut pe).unwrap();
        assert_eq!(queue.consumers(), []);
        assert_eq!(code(pe.run(one.send(id, number(1)))), Some(Code::NotFound));
        let next = consumer(&queue, &mut pe, 1);
        assert!(next.id() != id && queue.consumers() == [next.id()]);
    });
}

/// What somebody may do who is woken: uses the consumer at once, from inside the call.
struct Nosy {
    consumer: Mutex<Option<Arc<Consumer>>>,
    woken: AtomicUsize,
}

impl std::task::Wake for Nosy {
    fn wake(self: Arc<Self>) {
        if let Some(consumer) = &*self.consumer.lock().unwrap() {
            let _ = (consumer.posted(), consumer.try_next(), consumer.post_imm());
        }
        self.woken.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn who_posts_a_receive_wakes_who_waits_for_it() {
    alone("who_posts_a_receive_wakes_who_waits_for_it", || {
        for board in BOARDS {
            let session = session(board());
            let mut pe = ProgressEngine::new(&session).unwrap();
            let queue = MessageQueue::new(&device(&session)).unwrap();
            let from = producer(&queue, &mut pe);
            let to = Arc::new(consumer(&queue, &mut pe, 8));
            let nosy = Arc::new(Nosy { consumer: Mutex::new(Some(to.clone())), woken: AtomicUsize::new(0) });
            let waker = Waker::from(nosy.clone());
            let cx = &mut Context::from_waker(&waker);
            let woken = || nosy.woken.load(Ordering::SeqCst);
            for round in 0..50u32 {
                // Receives that come back together are posted again together, by progress.
                let many = if round % 2 == 0 { 1 } else { 5 };
                let mut send = pin!(from.send(to.id(), number(round)));
                assert!(send.as_mut().poll(cx).is_pending());
                let before = woken();
                for _ in 0..10 {
                    pe.progress();
                }
                assert_eq!(woken(), before, "nothing has happened");
                (0..many).for_each(|_| to.post_imm().unwrap());
                until("news of a receive", || {
                    pe.progress();
                    woken() > before
                });
                until("the send", || {
                    pe.progress();
                    send.as_mut().poll(cx).is_ready()
                });
                until("all receives to be filled", || {
                    while from.try_feed(to.id(), number(round)).is_ok() {}
                    pe.progress();
                    while to.try_next().is_some() || from.try_reclaim().is_some() {}
                    to.posted() == 0
                });
                while pe.run(from.reclaim()).is_some() {}
            }

            // The consumer goes instead, and whoever waits for it is told.
            let id = to.id();
            let mut send = pin!(from.send(id, number(0)));
            assert!(send.as_mut().poll(cx).is_pending());
            let before = woken();
            nosy.consumer.lock().unwrap().take();
            drop(to);
            until("news of the end", || {
                pe.progress();
                woken() > before
            });
            let Poll::Ready(late) = send.as_mut().poll(cx) else { panic!("nobody takes it") };
            assert_eq!(code(late), Some(Code::NotFound));
        }
    });
}

const SENDERS: u32 = 3;
const EACH: u32 = 2000;

/// A thread that sends numbered items to all consumers in turn.
fn send_all(session: &Session, queue: &MessageQueue, consumers: &[ConsumerId], sender: u32) {
    let mut pe = ProgressEngine::new(session).unwrap();
    let from = producer(queue, &mut pe);
    pe.run(async {
        for n in 0..EACH {
            let to = consumers[n as usize % consumers.len()];
            let item = [sender.to_le_bytes(), n.to_le_bytes()].concat();
            // Some are awaited, some only on their way.
            if n % 8 == 0 {
                from.send(to, Payload::imm(&item).unwrap()).await.unwrap();
            } else {
                from.feed(to, Payload::imm(&item).unwrap()).await.unwrap();
            }
        }
        let mut back = 0;
        while let Some(returned) = from.reclaim().await {
            assert_eq!(returned.result, Ok(0));
            back += 1;
        }
        assert_eq!(back, EACH - EACH / 8);
    });
}

/// A thread that takes its share with few receives; for each sender in order.
fn take_share(session: &Session, queue: &MessageQueue, share: u32, tell: &mpsc::Sender<ConsumerId>) -> u32 {
    let mut pe = ProgressEngine::new(session).unwrap();
    let to = consumer(queue, &mut pe, 2);
    to.post_imm().unwrap();
    to.post_imm().unwrap();
    tell.send(to.id()).unwrap();
    let mut last = [None; SENDERS as usize];
    let mut sum = 0;
    pe.run(async {
        for _ in 0..share {
            let delivery = to.next().await.unwrap().unwrap();
            let [sender, n] =
                [0, 4].map(|at| u32::from_le_bytes(delivery.imm.as_bytes()[at..at + 4].try_into().unwrap()));
            assert!(last[sender as usize].replace(n) < Some(n), "sender {sender}: out of order");
            sum += n;
            to.post_imm().unwrap();
        }
    });
    sum
}

#[test]
fn between_threads() {
    alone("between_threads", || {
        for board in BOARDS {
            let session = session(board());
            let queue = MessageQueue::new(&device(&session)).unwrap();
            let (tell, told) = mpsc::channel();
            let (session, queue) = (&session, &queue);
            std::thread::scope(|s| {
                let takers = [0; 2].map(|_| {
                    let tell = tell.clone();
                    s.spawn(move || take_share(session, queue, SENDERS * EACH / 2, &tell))
                });
                let ids = [told.recv().unwrap(), told.recv().unwrap()];
                for sender in 0..SENDERS {
                    s.spawn(move || send_all(session, queue, &ids, sender));
                }
                let sum: u32 = takers.map(|taker| taker.join().unwrap()).iter().sum();
                assert_eq!(sum, SENDERS * (0..EACH).sum::<u32>());
            });
            until("the places to be free", || queue.consumers().is_empty());
        }
    });
}

#[test]
fn consumers_are_named_once_whoever_asks() {
    alone("consumers_are_named_once_whoever_asks", || {
        for board in BOARDS {
            let session = session(board());
            let mut pe = ProgressEngine::new(&session).unwrap();
            let queue = MessageQueue::new(&device(&session)).unwrap();
            let again = queue.clone();
            // Asked before, by two handles: each consumer is named to one of them.
            let waker = Waker::noop();
            let mut cx = Context::from_waker(waker);
            let (mut first, mut second) = (pin!(queue.new_consumer()), pin!(again.new_consumer()));
            assert!(first.as_mut().poll(&mut cx).is_pending() && second.as_mut().poll(&mut cx).is_pending());
            let made = [0; 2].map(|_| consumer(&queue, &mut pe, 1));
            let named = [pe.run(first), pe.run(second)];
            assert_eq!(named, [made[0].id(), made[1].id()]);
            // One that ended before anybody asked is passed over.
            let [gone, stays] = [0; 2].map(|_| consumer(&queue, &mut pe, 1));
            gone.stop().wait(&mut pe).unwrap();
            assert_eq!(pe.run(again.new_consumer()), stays.id());
            let mut none = pin!(queue.new_consumer());
            assert!(none.as_mut().poll(&mut cx).is_pending());
        }
    });
}

#[test]
fn a_consumer_started_on_another_thread_wakes_who_waits_for_one() {
    alone("a_consumer_started_on_another_thread_wakes_who_waits_for_one", || {
        let session = session(Board::threads());
        let queue = MessageQueue::new(&device(&session)).unwrap();
        let (theirs, other) = (queue.clone(), session.clone());
        let (hold, held) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            // Long enough that the other one sleeps by then; right whether or not it does.
            std::thread::sleep(core::time::Duration::from_millis(30));
            let mut pe = ProgressEngine::new(&other).unwrap();
            let made = consumer(&theirs, &mut pe, 1);
            let id = made.id();
            held.recv().unwrap_err();
            id
        });
        let mut pe = ProgressEngine::new(&session).unwrap();
        let found = pe.run(queue.new_consumer());
        drop(hold);
        assert_eq!(thread.join().unwrap(), found);
    });
}

#[test]
fn receives_are_posted_and_taken_as_lists() {
    alone("receives_are_posted_and_taken_as_lists", || {
        let session = session(Board::inline());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let queue = MessageQueue::new(&device(&session)).unwrap();
        let (from, to) = (producer(&queue, &mut pe), consumer(&queue, &mut pe, 4));
        (0..4).for_each(|_| to.post_imm().unwrap());
        for n in 0..4u32 {
            from.try_feed(to.id(), number(n)).unwrap();
        }
        let mut arrived = Vec::new();
        assert_eq!(to.take(&mut arrived, 8), 0);
        while to.take(&mut arrived, 3) == 0 {
            pe.progress();
        }
        while arrived.len() < 4 {
            pe.progress();
            to.take(&mut arrived, 8);
        }
        let numbers: Vec<_> = arrived.iter().map(|a| a.as_ref().unwrap().imm.as_bytes()[0]).collect();
        assert_eq!(numbers, [0, 1, 2, 3]);
        // Buffers are not for consumers of a queue: all of them come back.
        let memory = Memory::heap(128).register(&[&device(&session)]).unwrap();
        let bufs = vec![memory.buf(..64).unwrap(), memory.buf(64..).unwrap()];
        let refused = to.post_all(bufs).unwrap_err();
        assert_eq!((refused.error.code(), refused.back.len()), (Code::InvalidValue, 2));
        assert!(to.post_all(Vec::new()).is_ok());
    });
}
