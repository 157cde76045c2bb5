//! Several threads: one submits, one progresses, others wait; and all the moments at which they can meet.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Dice, Rig, boards, copy};
use softdpu::prelude::*;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

type Ctx<const FATAL: bool> = Context<Mock<FATAL>>;

fn start<const FATAL: bool>(pe: &mut ProgressEngine, device: &Device, tasks: u32) -> Ctx<FATAL> {
    let config = mock::Config { tasks, ..Default::default() };
    Ctx::start(pe, device, config).unwrap().wait(pe).unwrap()
}

/// Submits here, progresses there, awaits on a third thread; some are dropped, some taken late, some moved.
#[test]
fn submit_progress_and_await_on_three_threads() {
    const ROUNDS: usize = 10_000;
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(16);
        let Rig { session, mut pe, pool, .. } = rig;
        let over = Arc::new(AtomicBool::new(false));
        let (stop, (send, flying)) = (over.clone(), mpsc::sync_channel(64));
        let progress = std::thread::spawn(move || {
            let mut landed = 0;
            while !stop.load(Ordering::SeqCst) {
                match pe.progress() {
                    0 => std::thread::yield_now(),
                    n => landed += n,
                }
            }
            (pe, landed)
        });
        let awaiting = std::thread::spawn(move || {
            let mut elsewhere = ProgressEngine::new(&session).unwrap();
            let mut dice = Dice::new(3);
            let mut late: Vec<(u64, InFlight<softdpu::dma::Memcpy>)> = Vec::new();
            let check = |n: u64, done: Done<softdpu::dma::Memcpy>| {
                assert_eq!(done.result, Ok(8));
                assert_eq!(done.task.dst.as_slice(), Some(&n.to_le_bytes()[..]));
            };
            for (n, task) in flying {
                match dice.roll(4) {
                    0 => drop(task),
                    1 => late.push((n, task)),
                    _ => check(n, elsewhere.run(task)),
                }
                if late.len() > 3 || dice.roll(8) == 0 {
                    for (n, mut task) in late.drain(..) {
                        loop {
                            match task.try_take() {
                                Ok(done) => break check(n, done),
                                Err(back) => {
                                    task = back;
                                    std::thread::yield_now();
                                }
                            }
                        }
                    }
                }
            }
        });
        let mut n = 0u64;
        while (n as usize) < ROUNDS {
            if dma.is_full() || pool.available() < 2 {
                std::thread::yield_now();
                continue;
            }
            let task = copy(&pool, &n.to_le_bytes());
            send.send((n, dma.submit(task).unwrap())).unwrap();
            n += 1;
        }
        drop(send);
        awaiting.join().unwrap();
        while dma.in_flight() > 0 {
            std::thread::yield_now();
        }
        over.store(true, Ordering::SeqCst);
        let (pe, landed) = progress.join().unwrap();
        assert_eq!(landed, ROUNDS, "{board:?}");
        drop((dma, pe));
        assert_eq!(pool.available(), pool.capacity(), "{board:?}: buffers are missing");
    }
}

/// Contexts leave the list of those that are visited when idle, and come back by submits of another thread, at any moment.
#[test]
fn contexts_that_come_and_go() {
    for board in boards() {
        for seed in 0..2 {
            let mut rig = Rig::new(board);
            let mut contexts: Vec<Ctx<false>> = (0..5).map(|_| start(&mut rig.pe, &rig.device, 4)).collect();
            let other = std::thread::spawn(move || {
                let mut dice = Dice::new(seed);
                for _ in 0..20_000 {
                    let at = dice.roll(5);
                    while contexts[at].is_full() {
                        std::thread::yield_now();
                    }
                    contexts[at].post(Op::new(Act::Give(0))).unwrap();
                    for _ in 0..dice.roll(200) {
                        std::hint::spin_loop();
                    }
                }
                contexts
            });
            let mut landed = 0;
            while landed < 20_000 {
                // Arming makes idle contexts leave at once.
                let _ = rig.pe.arm().unwrap();
                match rig.pe.progress() {
                    0 => std::thread::yield_now(),
                    n => landed += n,
                }
            }
            let contexts = other.join().unwrap();
            assert!(contexts.iter().all(|c| c.in_flight() == 0));
            for context in contexts {
                context.stop().wait(&mut rig.pe).unwrap();
            }
        }
    }
}

/// A failure that stops the context is told while another thread submits: whatever was accepted comes back.
#[test]
fn submits_that_meet_a_failure_come_back() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let token = Arc::new(());
        for round in 0..1000 {
            let mut context: Ctx<true> = start(&mut rig.pe, &rig.device, 8);
            let mine = token.clone();
            let other = std::thread::spawn(move || {
                let mut flying = Vec::new();
                context.post(Op::held(Act::Fail, &mine)).unwrap();
                loop {
                    match context.submit(Op::held(Act::Give(1), &mine)) {
                        Ok(task) => flying.push(task),
                        Err(refused) if refused.error.code() == Code::BadState => break,
                        Err(_) => std::thread::yield_now(),
                    }
                }
                (context, flying)
            });
            while !other.is_finished() {
                if rig.pe.progress() == 0 {
                    std::thread::yield_now();
                }
            }
            let (context, flying) = other.join().unwrap();
            let late = flying.len();
            for task in flying {
                rig.pe.run(task).result.ok();
            }
            if round % 2 == 0 {
                context.stop().wait(&mut rig.pe).unwrap();
            } else {
                drop(context);
            }
            rig.pe.progress();
            assert_eq!(Arc::strong_count(&token), 1, "{board:?}, round {round}, {late} behind the failure");
        }
    }
}

/// The progress engine is dropped while another thread submits.
#[test]
fn submits_that_meet_the_end_of_the_engine_come_back() {
    for board in boards() {
        let rig = Rig::new(board);
        let token = Arc::new(());
        for round in 0..2000 {
            let mut pe = ProgressEngine::new(&rig.session).unwrap();
            let mut context: Ctx<false> = start(&mut pe, &rig.device, 8);
            let mine = token.clone();
            let other = std::thread::spawn(move || {
                let mut flying = Vec::new();
                let mut posted = 0;
                loop {
                    let outcome = if posted % 2 == 0 {
                        context.submit(Op::held(Act::Give(1), &mine)).map(|task| flying.push(task))
                    } else {
                        context.post(Op::held(Act::Give(1), &mine))
                    };
                    match outcome {
                        Ok(()) => posted += 1,
                        Err(refused) if refused.error.code() == Code::BadState => break,
                        Err(_) => flying.retain(|task| !task.is_done()),
                    }
                }
                (context, flying)
            });
            for _ in 0..round % 50 {
                pe.progress();
            }
            drop(pe);
            let (context, flying) = other.join().unwrap();
            assert_eq!(context.state(), State::Idle);
            for task in flying {
                assert!(task.is_done(), "{board:?}, round {round}: a task did not come back");
            }
            drop(context);
            assert_eq!(Arc::strong_count(&token), 1, "{board:?}, round {round}");
        }
    }
}

/// Two engines on two threads copy within one memory, handing buffers to and fro.
#[test]
fn two_engines_share_one_memory() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut one = rig.dma(8);
        let Rig { session, device, mut pe, pool, .. } = rig;
        let mut other_pe = ProgressEngine::new(&session).unwrap();
        let mut two = Context::start(&mut other_pe, &device, softdpu::dma::Config::default())
            .unwrap()
            .wait(&mut other_pe)
            .unwrap();
        let (there, arrived) = mpsc::sync_channel::<(u64, Buf)>(8);
        let (back, returned) = mpsc::sync_channel::<(u64, Buf)>(8);
        let taken = pool.clone();
        let thread = std::thread::spawn(move || {
            for (n, src) in arrived {
                let dst = loop {
                    match taken.take() {
                        Some(buf) => break buf,
                        None => std::thread::yield_now(),
                    }
                };
                let done = other_pe.run(two.submit(softdpu::dma::Memcpy { src, dst }).unwrap());
                assert_eq!(done.result, Ok(8));
                back.send((n, done.task.dst)).unwrap();
            }
        });
        let mut flying = 0;
        let check = |(n, buf): (u64, Buf)| assert_eq!(buf.as_slice(), Some(&n.to_le_bytes()[..]));
        for n in 0..10_000u64 {
            let done = pe.run(one.submit(copy(&pool, &n.to_le_bytes())).unwrap());
            there.send((n, done.task.dst)).unwrap();
            flying += 1;
            while flying > 6 {
                check(returned.recv().unwrap());
                flying -= 1;
            }
        }
        drop(there);
        returned.iter().for_each(check);
        thread.join().unwrap();
    }
}

/// Several engines on several threads copy overlapping aliases at the same time: no order, but no tearing of rules either.
#[test]
fn aliases_are_written_by_several_engines() {
    let mut rig = Rig::new(Board::threads());
    let memory = Memory::heap(4096 * 3).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
    memory.alias(..4096).unwrap().write_at(0, &[1; 4096]).unwrap();
    memory.alias(4096..8192).unwrap().write_at(0, &[2; 4096]).unwrap();
    let contexts: Vec<_> = (0..2)
        .map(|_| {
            let mut pe = ProgressEngine::new(&rig.session).unwrap();
            let dma = Context::start(&mut pe, &rig.device, softdpu::dma::Config::default())
                .unwrap()
                .wait(&mut pe)
                .unwrap();
            (pe, dma)
        })
        .collect();
    std::thread::scope(|s| {
        for (i, (mut pe, mut dma)) in contexts.into_iter().enumerate() {
            let memory = &memory;
            s.spawn(move || {
                for _ in 0..2000 {
                    let mut src = memory.alias(i * 4096..(i + 1) * 4096).unwrap();
                    src.advance(4096).unwrap();
                    let dst = memory.alias(8192..).unwrap();
                    let task = softdpu::dma::Memcpy { src, dst };
                    assert_eq!(pe.run(dma.submit(task).unwrap()).result, Ok(4096));
                }
            });
        }
    });
    let mut seen = [0; 4096];
    memory.alias(8192..).unwrap().read_at(0, &mut seen).unwrap();
    assert!(seen.iter().all(|b| [1, 2].contains(b)));
    rig.pe.progress();
}

/// The engine itself moves between threads between calls.
#[test]
fn an_engine_moves_between_threads() {
    let mut rig = Rig::new(Board::threads());
    let mut dma = rig.dma(4);
    for n in 0..200u64 {
        let task = dma.submit(copy(&rig.pool, &n.to_le_bytes())).unwrap();
        let mut pe = rig.pe;
        (rig.pe, dma) = std::thread::spawn(move || {
            assert_eq!(pe.run(task).result, Ok(8));
            (pe, dma)
        })
        .join()
        .unwrap();
    }
}

/// Workers take over what nobody progresses, sleep, and wake again.
#[test]
fn workers_wake_after_a_long_sleep() {
    let mut rig = Rig::new(Board::threads());
    let mut context: Ctx<false> = start(&mut rig.pe, &rig.device, 4);
    for _ in 0..5 {
        std::thread::sleep(Duration::from_millis(40));
        let count = Arc::new(AtomicUsize::new(0));
        let flying = context.submit(Op::new(Act::Parts(3, count.clone()))).unwrap();
        while (count.load(Ordering::SeqCst) as u64) < 3 * mock::PART {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(rig.pe.run(flying).result.is_ok());
    }
}
