//! Waiting for a free slot, batches, and trying again.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Count, Rig, boards, poll};
use softdpu::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

type Ctx = Context<Mock<false>>;

fn start(rig: &mut Rig, tasks: u32) -> Ctx {
    let config = mock::Config { tasks, ..Default::default() };
    Ctx::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap()
}

#[test]
fn ready_is_woken_when_a_result_is_taken() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 1);
    let count = Count::new();
    assert!(poll(&mut context.ready(), &count).is_ready());
    let flying = context.submit(Op::new(Act::Give(1))).unwrap();
    {
        let mut ready = context.ready();
        assert!(poll(&mut ready, &count).is_pending());
        assert!(poll(&mut ready, &count).is_pending());
        let done = rig.pe.run(flying);
        assert_eq!(done.result, Ok(1));
        assert!(count.get() >= 1);
        assert_eq!(poll(&mut ready, &count), Poll::Ready(Ok(())));
    }
    // A dropped one leaves nothing behind.
    let flying = context.submit(Op::new(Act::Give(1))).unwrap();
    let count = Count::new();
    assert!(poll(&mut context.ready(), &count).is_pending());
    assert_eq!(Arc::strong_count(&count), 1);
    // Progress elsewhere in the process may have woken it while it waited.
    let woken = count.get();
    drop(flying);
    rig.pe.progress();
    assert_eq!(count.get(), woken);
}

#[test]
fn ready_is_woken_when_a_posted_task_lands_and_when_the_context_stops() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 1);
    let count = Count::new();
    context.post(Op::new(Act::Give(1))).unwrap();
    let mut ready = context.ready();
    assert!(poll(&mut ready, &count).is_pending());
    rig.pe.progress();
    assert_eq!(count.get(), 1);
    assert_eq!(poll(&mut ready, &count), Poll::Ready(Ok(())));

    let mut context: Context<Mock<true>> =
        Context::start(&mut rig.pe, &rig.device, mock::Config { tasks: 1, handler: None })
            .unwrap()
            .wait(&mut rig.pe)
            .unwrap();
    let failing = context.submit(Op::new(Act::Fail)).unwrap();
    let mut ready = context.ready();
    assert!(poll(&mut ready, &count).is_pending());
    rig.pe.progress();
    assert_eq!(count.get(), 2);
    let Poll::Ready(Err(error)) = poll(&mut ready, &count) else {
        panic!("a stopped context is never ready")
    };
    assert_eq!(error.code(), Code::BadState);
    drop(failing);
}

#[test]
fn a_leaked_ready_harms_nothing() {
    let mut rig = Rig::new(Board::inline());
    let count = Count::new();
    let mut context = start(&mut rig, 1);
    let flying = context.submit(Op::new(Act::Give(1))).unwrap();
    let mut ready = context.ready();
    assert!(poll(&mut ready, &count).is_pending());
    std::mem::forget(ready);
    drop(flying);
    rig.pe.progress();
    context.stop().wait(&mut rig.pe).unwrap();
    drop(rig);
    assert_eq!(Arc::strong_count(&count), 1, "the waker is kept for good");
}

#[test]
fn many_through_few_slots_across_threads() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut context = start(&mut rig, 2);
        let mut elsewhere = ProgressEngine::new(&rig.session).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|s| {
            let progress = s.spawn(|| {
                let mut landed = 0;
                while !over.load(Ordering::SeqCst) {
                    landed += rig.pe.wait(Some(std::time::Duration::from_millis(1))).unwrap();
                }
                landed
            });
            elsewhere.run(async {
                for n in 0..2000 {
                    match n % 3 {
                        0 => assert!(
                            context.submit_ready(Op::new(Act::Give(n))).await.unwrap().await.result.is_ok()
                        ),
                        1 => drop(context.submit_ready(Op::new(Act::Give(n))).await.unwrap()),
                        _ => {
                            context.ready().await.unwrap();
                            context.post(Op::new(Act::Give(n))).unwrap();
                        }
                    }
                }
            });
            while context.in_flight() > 0 {
                std::thread::yield_now();
            }
            over.store(true, Ordering::SeqCst);
            assert_eq!(progress.join().unwrap(), 2000, "{board:?}");
        });
    }
}

#[test]
fn a_batch_counts_and_gives_back_what_is_refused() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 4);
    let mut batch = context.batch();
    assert!(batch.is_empty());
    let first = batch.submit(Op::new(Act::Give(1))).unwrap();
    let refused = batch.submit(Op::new(Act::Refuse)).unwrap_err();
    assert_eq!((refused.error.code(), batch.len()), (Code::InvalidValue, 1));
    let mut left = (2..).map(|n| Op::new(Act::Give(n)));
    let refused = batch.extend(left.by_ref().take(10)).unwrap_err();
    assert_eq!(refused.error.code(), Code::Full);
    assert!(matches!(refused.back.act, Act::Give(5)));
    assert!(batch.is_full());
    assert_eq!(batch.finish(), 4);
    assert_eq!(rig.pe.progress(), 4);
    assert_eq!(first.try_take().unwrap().result, Ok(1));
}

#[test]
fn retry_repeats_refusals_with_a_bound() {
    let mut rig = Rig::new(Board::inline());
    let mut tries = 0;
    let answer = Retry::times(3).call(&mut rig.pe, || {
        tries += 1;
        if tries < 3 { Err(Code::Again.into()) } else { Ok(tries) }
    });
    assert_eq!(answer, Ok(3));
    for (code, expected) in [(Code::Again, 4), (Code::Full, 4), (Code::InvalidValue, 1), (Code::BadState, 1)]
    {
        let mut tries = 0;
        let answer: softdpu::Result<()> = Retry::times(3).call(&mut rig.pe, || {
            tries += 1;
            Err(code.into())
        });
        assert_eq!((answer.unwrap_err().code(), tries), (code, expected));
    }
}

#[test]
fn retry_repeats_failed_tasks_only_when_asked() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 4);
    let done = rig.pe.run(Retry::times(5).task(&mut context, Op::new(Act::Fail))).unwrap();
    assert_eq!((done.result.unwrap_err().code(), done.task.runs), (Code::IoFailed, 1));
    let done = rig.pe.run(Retry::times(5).also_failed().task(&mut context, Op::new(Act::Fail))).unwrap();
    assert_eq!((done.result.unwrap_err().code(), done.task.runs), (Code::IoFailed, 6));
    // A panic of the engine is no I/O failure.
    let done = rig.pe.run(Retry::times(5).also_failed().task(&mut context, Op::new(Act::Panic))).unwrap();
    assert_eq!(done.task.runs, 1);
    // A context that stopped says so.
    let mut fragile: Context<Mock<true>> =
        Context::start(&mut rig.pe, &rig.device, Default::default()).unwrap().wait(&mut rig.pe).unwrap();
    let refused =
        rig.pe.run(Retry::times(5).also_failed().task(&mut fragile, Op::new(Act::Fail))).unwrap_err();
    assert_eq!((refused.error.code(), refused.back.runs), (Code::BadState, 1));
}

#[test]
fn retry_waits_for_a_slot() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 1);
    context.post(Op::new(Act::Give(0))).unwrap();
    let done = rig.pe.run(Retry::times(1).task(&mut context, Op::new(Act::Give(3)))).unwrap();
    assert_eq!(done.result, Ok(3));
    context.post(Op::new(Act::Give(0))).unwrap();
    let refused = rig.pe.run(Retry::times(0).task(&mut context, Op::new(Act::Give(3)))).unwrap_err();
    assert_eq!(refused.error.code(), Code::Full);
}

#[test]
fn starting_and_stopping_are_futures_that_sleep() {
    let mut rig = Rig::new(Board::inline());
    let starting = Ctx::start(&mut rig.pe, &rig.device, Default::default()).unwrap();
    let mut context = rig.pe.run(starting).unwrap();
    let wakes = Count::new();
    let flying = context.submit(Op::new(Act::Give(1))).unwrap();
    let mut stopping = context.stop();
    assert!(poll(&mut stopping, &wakes).is_pending());
    assert_eq!(wakes.get(), 0, "it does not wake itself");
    while wakes.get() == 0 {
        rig.pe.progress();
    }
    assert_eq!(poll(&mut stopping, &wakes), Poll::Ready(Ok(())));
    assert!(flying.is_done());
    // And one that is dropped half way stops all the same.
    let count = Arc::new(AtomicUsize::new(0));
    let starting = Ctx::start(&mut rig.pe, &rig.device, Default::default()).unwrap();
    let mut context = rig.pe.run(starting).unwrap();
    let flying = context.submit(Op::new(Act::Parts(2, count))).unwrap();
    drop(context.stop());
    while !flying.is_done() {
        rig.pe.progress();
    }
}
