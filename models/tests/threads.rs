//! What the models prove on small cases, on real threads: contexts that rest, stop and go while other threads submit.

mod common;

use common::{again, check, machine, pair, start, watched};
use softdpu_dma::{Dma, Memcpy};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Device;
use softdpu_room::typed::Context;
use softdpu_status::Code;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::task::{Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// Fewer rounds where every access is watched.
fn rounds(n: usize) -> usize {
    std::env::var("SOFTDPU_TEST_SHARE")
        .ok()
        .and_then(|s| s.parse::<usize>().ok())
        .map_or(n, |part| (n / part).max(1))
}

/// Wakes a thread that waits for a future.
struct Unpark(thread::Thread);
impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future that another thread progresses.
fn block<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = std::task::Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = std::pin::Pin::new(&mut future).poll(&mut cx) {
            return output;
        }
        thread::park();
    }
}

/// Copies back and forth in time with nobody: at once, after a moment, or after so long that the context rests.
fn submitter(mut context: Context<Dma>, device: &Device, len: usize, n: usize) {
    let (src, dst) = pair(device, len);
    let mut task = Memcpy { src, dst };
    for i in 0..n {
        let done = block(context.submit(task).unwrap());
        assert_eq!(done.result.unwrap(), len as u64);
        check(&done.task);
        task = again(done.task);
        match i % 16 {
            0 => thread::sleep(Duration::from_micros(300)),
            1..5 => (0..i % 7 * 100).for_each(|_| std::hint::spin_loop()),
            _ => {}
        }
    }
}

/// Three contexts of one engine, each submitted to by a thread of its own.
fn submit_from_three_threads(sleeps: bool) {
    watched(move || {
        let (session, device) = machine(softdpu_board::threads());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let live = Arc::new(AtomicUsize::new(3));
        let submitters: Vec<_> = [64, 3000, 200_000]
            .map(|len| (start(&mut pe, &device, 4), len))
            .into_iter()
            .map(|(context, len)| {
                let (device, live) = (device.clone(), live.clone());
                thread::spawn(move || {
                    submitter(context, &device, len, rounds(3000));
                    live.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        while live.load(Ordering::SeqCst) > 0 {
            if sleeps {
                // The last one to go may have left its stop behind already.
                pe.wait(Some(Duration::from_secs(1))).unwrap();
            } else {
                pe.progress();
            }
        }
        for submitter in submitters {
            submitter.join().unwrap();
        }
    });
}

#[test]
fn a_polling_engine_serves_three_threads() {
    submit_from_three_threads(false);
}

#[test]
fn a_sleeping_engine_serves_three_threads() {
    submit_from_three_threads(true);
}

/// Contexts are made on the engine's thread and dropped on another one, with a task in flight, landed or taken.
#[test]
fn contexts_come_and_go() {
    watched(|| {
        let (session, device) = machine(softdpu_board::threads());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let (send, receive) = channel::<Context<Dma>>();
        let device_there = device.clone();
        let live = Arc::new(AtomicUsize::new(0));
        let live_there = live.clone();
        let other = thread::spawn(move || {
            for (i, mut context) in receive.into_iter().enumerate() {
                let (src, dst) = pair(&device_there, 500);
                let flight = context.submit(Memcpy { src, dst }).unwrap();
                match i % 4 {
                    0 => drop(context),
                    1 => {
                        drop(flight);
                        drop(context.stop());
                    }
                    2 => {
                        check(&block(flight).task);
                        drop(context);
                    }
                    _ => {
                        drop(context);
                        let done = block(flight);
                        assert!(
                            done.result.is_ok_and(|n| n == 500) || done.task.dst.data_len() == 0,
                            "copied, or flushed"
                        );
                    }
                }
                live_there.fetch_sub(1, Ordering::SeqCst);
            }
        });
        for _ in 0..rounds(2000) {
            live.fetch_add(1, Ordering::SeqCst);
            send.send(start(&mut pe, &device, 2)).unwrap();
            while live.load(Ordering::SeqCst) > 3 {
                pe.progress();
            }
        }
        drop(send);
        while live.load(Ordering::SeqCst) > 0 {
            pe.progress();
        }
        other.join().unwrap();
    });
}

/// The engine is dropped while another thread submits: every task that was accepted comes back.
#[test]
fn an_engine_goes_while_another_thread_submits() {
    watched(|| {
        let (session, device) = machine(softdpu_board::threads());
        for round in 0..rounds(400) {
            let mut pe = ProgressEngine::new(&session).unwrap();
            let mut context = start(&mut pe, &device, 8);
            let going = Arc::new(AtomicBool::new(false));
            let going_there = going.clone();
            let device_there = device.clone();
            let other = thread::spawn(move || {
                let mut flights = Vec::new();
                let (mut src, mut dst) = pair(&device_there, 64);
                going_there.store(true, Ordering::SeqCst);
                loop {
                    match context.submit(Memcpy { src, dst }) {
                        Ok(flight) => flights.push(flight),
                        Err(refused) if refused.error.code() == Code::Full => {
                            let done = block(flights.pop().unwrap());
                            let back = again(done.task);
                            (src, dst) = (back.src, back.dst);
                            continue;
                        }
                        Err(_) => break,
                    }
                    (src, dst) = pair(&device_there, 64);
                }
                flights.into_iter().map(block).count()
            });
            while !going.load(Ordering::SeqCst) {
                pe.progress();
            }
            for _ in 0..round % 20 * 10 {
                pe.progress();
            }
            drop(pe);
            other.join().unwrap();
        }
    });
}

/// A context that rests is stopped by another thread; the engine sleeps.
#[test]
fn a_resting_context_is_stopped_from_another_thread() {
    watched(|| {
        let (session, device) = machine(softdpu_board::threads());
        let mut pe = ProgressEngine::new(&session).unwrap();
        for round in 0..rounds(2000) {
            let context = start(&mut pe, &device, 2);
            let other = thread::spawn(move || {
                (0..round % 50 * 20).for_each(|_| std::hint::spin_loop());
                context.stop()
            });
            for _ in 0..round % 3 {
                pe.wait(Some(Duration::ZERO)).unwrap();
            }
            let stopping = other.join().unwrap();
            stopping.wait(&mut pe).unwrap();
        }
    });
}
