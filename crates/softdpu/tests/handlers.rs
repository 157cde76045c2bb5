//! Handlers: they post, fly tasks again, panic, and end their own context.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Rig, boards};
use softdpu::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type Task = Op<false>;
type Ctx = Context<Mock<false>>;

fn start(rig: &mut Rig, tasks: u32, handler: Handler<Task>) -> Ctx {
    let config = mock::Config { tasks, handler: Some(handler) };
    Ctx::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap()
}

fn land(pe: &mut ProgressEngine, context: &Ctx) -> usize {
    let mut landed = 0;
    while context.in_flight() > 0 {
        landed += pe.progress();
    }
    landed
}

#[test]
fn again_flies_in_the_same_slot() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut context = start(
            &mut rig,
            1,
            Box::new(|done, _| if done.task.runs < 100 { Next::Again(done.task) } else { Next::Free }),
        );
        let token = Arc::new(());
        context.post(Op::held(Act::Give(0), &token)).unwrap();
        assert_eq!(context.post(Op::new(Act::Give(0))).unwrap_err().error.code(), Code::Full);
        assert_eq!(land(&mut rig.pe, &context), 100);
        assert_eq!(Arc::strong_count(&token), 1);
        context.post(Op::new(Act::Give(0))).unwrap();
    }
}

#[test]
fn a_handler_posts_through_its_outbox_while_another_thread_submits() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let count = Arc::new(AtomicUsize::new(0));
        let refused = Arc::new(AtomicUsize::new(0));
        let (counted, full) = (count.clone(), refused.clone());
        // Each task of the program lets two follow, which let none follow.
        let mut context = start(
            &mut rig,
            8,
            Box::new(move |done, outbox| {
                counted.fetch_add(1, Ordering::SeqCst);
                if done.result == Ok(1) {
                    for _ in 0..2 {
                        if outbox.post(Op::new(Act::Give(0))).is_err() {
                            full.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
                Next::Free
            }),
        );
        const ROUNDS: usize = 5000;
        let other = std::thread::spawn(move || {
            let mut posted = 0;
            while posted < ROUNDS {
                match context.post(Op::new(Act::Give(1))) {
                    Ok(()) => posted += 1,
                    Err(e) => {
                        assert_eq!(e.error.code(), Code::Full);
                        std::thread::yield_now();
                    }
                }
            }
            context
        });
        let mut landed = 0;
        while !other.is_finished() {
            landed += rig.pe.progress();
        }
        let context = other.join().unwrap();
        landed += land(&mut rig.pe, &context);
        let (count, refused) = (count.load(Ordering::SeqCst), refused.load(Ordering::SeqCst));
        assert_eq!((count, landed), (3 * ROUNDS - refused, count), "{board:?}");
    }
}

#[test]
fn a_panic_comes_out_of_progress_and_everything_else_goes_on() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let list = seen.clone();
        let mut context = start(
            &mut rig,
            4,
            Box::new(move |done, _| {
                let n = done.result.unwrap();
                list.lock().unwrap_or_else(|e| e.into_inner()).push(n);
                assert!(n % 3 != 1, "the test wants a panic in the handler");
                Next::Free
            }),
        );
        let token = Arc::new(());
        for round in 0..20 {
            let from = round * 4;
            for n in from..from + 4 {
                context.post(Op::held(Act::Give(n), &token)).unwrap();
            }
            let mut panics = 0;
            while context.in_flight() > 0 {
                panics += usize::from(catch_unwind(AssertUnwindSafe(|| rig.pe.progress())).is_err());
            }
            assert_eq!(panics, (from..from + 4).filter(|n| n % 3 == 1).count());
            assert_eq!(Arc::strong_count(&token), 1, "a task is still held");
        }
        assert_eq!(*seen.lock().unwrap_or_else(|e| e.into_inner()), (0..80).collect::<Vec<_>>());
        context.stop().wait(&mut rig.pe).unwrap();
    }
}

#[test]
fn without_a_handler_a_posted_task_is_dropped_when_it_lands() {
    let mut rig = Rig::new(Board::inline());
    let mut context =
        Ctx::start(&mut rig.pe, &rig.device, Default::default()).unwrap().wait(&mut rig.pe).unwrap();
    let token = Arc::new(());
    context.post(Op::held(Act::Give(0), &token)).unwrap();
    assert_eq!(Arc::strong_count(&token), 2);
    assert_eq!(rig.pe.progress(), 1);
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_handler_may_end_its_own_context() {
    for board in boards() {
        for drop_it in [true, false] {
            let mut rig = Rig::new(board);
            let place: Arc<Mutex<Option<Ctx>>> = Arc::default();
            let (mine, token) = (Arc::downgrade(&place), Arc::new(()));
            let mut context = start(
                &mut rig,
                4,
                Box::new(move |done, outbox| {
                    let place = mine.upgrade().unwrap();
                    if let Some(context) = place.lock().unwrap().take() {
                        if drop_it {
                            drop(context);
                        } else {
                            drop(context.stop());
                        }
                    }
                    // Flying again and posting are over now, and harm nothing.
                    let code = outbox.post(Op::new(Act::Give(0))).unwrap_err().error.code();
                    assert_eq!(code, Code::BadState);
                    Next::Again(done.task)
                }),
            );
            let flying = context.submit(Op::held(Act::Give(1), &token)).unwrap();
            for _ in 0..3 {
                context.post(Op::held(Act::Give(2), &token)).unwrap();
            }
            *place.lock().unwrap() = Some(context);
            while Arc::strong_count(&token) > 2 {
                rig.pe.progress();
            }
            assert!(flying.try_take().unwrap().result.is_ok());
            assert_eq!(Arc::strong_count(&token), 1, "{board:?}, drop {drop_it}");
        }
    }
}

#[test]
fn a_handler_may_progress_another_engine() {
    let mut rig = Rig::new(Board::inline());
    let mut inner = ProgressEngine::new(&rig.session).unwrap();
    let mut other =
        Ctx::start(&mut inner, &rig.device, Default::default()).unwrap().wait(&mut inner).unwrap();
    let sum = Arc::new(AtomicUsize::new(0));
    let total = sum.clone();
    let mut context = start(
        &mut rig,
        4,
        Box::new(move |done, _| {
            let n = done.result.unwrap();
            let flying = other.submit(Op::new(Act::Give(n * 10))).unwrap();
            total.fetch_add(inner.run(flying).result.unwrap() as usize, Ordering::SeqCst);
            Next::Free
        }),
    );
    for n in 1..=4 {
        context.post(Op::new(Act::Give(n))).unwrap();
    }
    land(&mut rig.pe, &context);
    assert_eq!(sum.load(Ordering::SeqCst), 100);
}

#[test]
fn the_handler_is_dropped_with_its_context() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let token = Arc::new(());
        let held = token.clone();
        let context = start(
            &mut rig,
            4,
            Box::new(move |_, _| {
                let _ = &held;
                Next::Free
            }),
        );
        context.stop().wait(&mut rig.pe).unwrap();
        // Another test may be clearing it away on its thread; the watchdog is the limit.
        while Arc::strong_count(&token) > 1 {
            std::thread::yield_now();
        }
    }
}
