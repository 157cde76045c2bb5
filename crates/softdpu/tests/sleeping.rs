//! Sleeping: nothing that happens is slept through.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Rig, boards};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use softdpu::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

type Ctx = Context<Mock<false>>;

fn start(pe: &mut ProgressEngine, device: &Device, tasks: u32) -> Ctx {
    let config = mock::Config { tasks, ..Default::default() };
    Ctx::start(pe, device, config).unwrap().wait(pe).unwrap()
}

/// Is the descriptor readable now?
fn readable(pe: &ProgressEngine) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(pe, PollFlags::IN)], Some(&now)).unwrap() > 0
}

/// Waits until the descriptor is readable; the watchdog is the limit.
fn sleep(pe: &ProgressEngine) {
    while poll(&mut [PollFd::new(pe, PollFlags::IN)], None).is_err() {}
}

#[test]
fn arming_says_whether_there_is_something() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig.pe, &rig.device, 4);
    assert!(rig.pe.arm().unwrap(), "nothing flies");
    assert!(!readable(&rig.pe));
    let flying = context.submit(Op::new(Act::Give(1))).unwrap();
    assert!(readable(&rig.pe), "a submit to an idle context signals");
    assert!(!rig.pe.arm().unwrap(), "a task waits to be carried out");
    rig.pe.progress();
    assert!(rig.pe.arm().unwrap());
    rig.pe.disarm();
    assert!(!readable(&rig.pe));
    drop(flying);
}

#[test]
fn an_idle_context_wakes_by_a_submit_from_another_thread() {
    for board in boards() {
        let mut rig = Rig::new(board);
        // Several contexts: all leave the ring when idle, one comes back.
        let mut contexts: Vec<_> = (0..4).map(|_| start(&mut rig.pe, &rig.device, 4)).collect();
        let (go, wait) = mpsc::channel::<usize>();
        let other = std::thread::spawn(move || {
            for n in wait {
                let context = &mut contexts[n];
                context.post(Op::new(Act::Give(1))).unwrap();
            }
            contexts
        });
        for round in 0..2000 {
            while !rig.pe.arm().unwrap() {
                rig.pe.progress();
            }
            go.send(round % 4).unwrap();
            sleep(&rig.pe);
            rig.pe.disarm();
            while rig.pe.progress() == 0 {}
        }
        drop(go);
        drop(other.join().unwrap());
    }
}

#[test]
fn wait_loses_no_wake_up() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut one = start(&mut rig.pe, &rig.device, 8);
        let mut two = start(&mut rig.pe, &rig.device, 8);
        let landed = Arc::new(AtomicUsize::new(0));
        let seen = landed.clone();
        let other = std::thread::spawn(move || {
            // One at a time, so that the engine goes to sleep between any two.
            for round in 0..10_000 {
                let context = if round % 3 == 0 { &mut two } else { &mut one };
                context.post(Op::new(Act::Give(1))).unwrap();
                while seen.load(Ordering::SeqCst) <= round {
                    std::hint::spin_loop();
                    std::thread::yield_now();
                }
            }
            (one, two)
        });
        let mut total = 0;
        while total < 10_000 {
            total += rig.pe.wait(None).unwrap();
            landed.store(total, Ordering::SeqCst);
        }
        drop(other.join().unwrap());
    }
}

#[test]
fn run_loses_no_wake_up() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut elsewhere = ProgressEngine::new(&rig.session).unwrap();
        let mut context = start(&mut rig.pe, &rig.device, 8);
        let over = Arc::new(AtomicBool::new(false));
        let stop = over.clone();
        let mut pe = rig.pe;
        let progress = std::thread::spawn(move || {
            while !stop.load(Ordering::SeqCst) {
                pe.wait(Some(Duration::from_millis(1))).unwrap();
            }
            pe
        });
        // This thread sleeps in an engine that has nothing; only wakers wake it.
        for round in 0..10_000 {
            let flying = context.submit(Op::new(Act::Give(round))).unwrap();
            assert_eq!(elsewhere.run(flying).result, Ok(round));
        }
        over.store(true, Ordering::SeqCst);
        progress.join().unwrap();
    }
}

#[test]
fn a_large_task_is_finished_by_a_sleeper() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut context = start(&mut rig.pe, &rig.device, 4);
        let parts = Arc::new(AtomicUsize::new(0));
        let flying = context.submit(Op::new(Act::Parts(20, parts.clone()))).unwrap();
        while !flying.is_done() {
            rig.pe.wait(None).unwrap();
        }
        assert_eq!(flying.try_take().unwrap().result, Ok(20 * mock::PART));
        assert_eq!(parts.load(Ordering::SeqCst) as u64, 20 * mock::PART);
        // The other shapes of large tasks.
        let at = Arc::new(AtomicUsize::new(0));
        for act in [Act::Steps(20, at.clone()), Act::Whole(7)] {
            let flying = context.submit(Op::new(act)).unwrap();
            while !flying.is_done() {
                rig.pe.wait(None).unwrap();
            }
            assert!(flying.try_take().unwrap().result.is_ok());
        }
        assert_eq!(at.load(Ordering::SeqCst) as u64, 20 * mock::PART);
        // More parts than `run` has patience for.
        let flying = context.submit(Op::new(Act::Parts(5000, parts.clone()))).unwrap();
        assert!(rig.pe.run(flying).result.is_ok());
        assert_eq!(parts.load(Ordering::SeqCst) as u64, 5020 * mock::PART);
    }
}

#[test]
fn a_stop_from_another_thread_wakes() {
    for board in boards() {
        for others in 0..3 {
            let mut rig = Rig::new(board);
            let _others: Vec<_> = (0..others).map(|_| start(&mut rig.pe, &rig.device, 4)).collect();
            for _ in 0..300 {
                let context = start(&mut rig.pe, &rig.device, 4);
                let session = rig.session.clone();
                let other = std::thread::spawn(move || {
                    let mut elsewhere = ProgressEngine::new(&session).unwrap();
                    context.stop().wait(&mut elsewhere).unwrap();
                });
                while !other.is_finished() {
                    rig.pe.wait(Some(Duration::from_millis(1))).unwrap();
                }
                other.join().unwrap();
            }
        }
    }
}

#[test]
fn a_wait_with_a_limit_comes_back() {
    let mut rig = Rig::new(Board::threads());
    let _context = start(&mut rig.pe, &rig.device, 4);
    assert_eq!(rig.pe.wait(Some(Duration::from_millis(2))).unwrap(), 0);
    assert_eq!(rig.pe.wait(Some(Duration::ZERO)).unwrap(), 0);
}
