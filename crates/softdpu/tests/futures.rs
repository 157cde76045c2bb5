//! Tasks in flight: awaited, polled, dropped, leaked, moved, at every point of their way.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Count, Dice, Rig, boards, poll};
use softdpu::dma::Memcpy;
use softdpu::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

type Ctx = Context<Mock<false>>;

fn start(rig: &mut Rig, tasks: u32) -> Ctx {
    let config = mock::Config { tasks, ..Default::default() };
    Ctx::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap()
}

/// Progresses until nothing flies.
fn land(pe: &mut ProgressEngine, context: &Ctx) {
    while context.in_flight() > 0 {
        pe.progress();
    }
}

#[test]
fn awaited() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(4);
        let task = rig.copy(b"awaited");
        let done = rig.pe.run(dma.submit(task).unwrap());
        assert_eq!(done.result, Ok(7));
        assert_eq!(done.task.dst.as_slice(), Some(&b"awaited"[..]));
        assert_eq!(done.task.src.as_slice(), Some(&b"awaited"[..]));
    }
}

#[test]
fn polled_twice_keeps_the_last_waker_only() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 4);
    let (first, second) = (Count::new(), Count::new());
    let mut flying = context.submit(Op::new(Act::Give(1))).unwrap();
    assert!(poll(&mut flying, &first).is_pending());
    assert!(poll(&mut flying, &second).is_pending());
    assert_eq!(rig.pe.progress(), 1);
    assert_eq!((first.get(), second.get()), (0, 1));
    let Poll::Ready(done) = poll(&mut flying, &first) else { panic!("woken but not ready") };
    assert_eq!(done.result, Ok(1));
    // No reference to either waker is left behind.
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
}

#[test]
fn polled_after_ready_panics_and_harms_nothing() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 1);
    let count = Count::new();
    let mut flying = context.submit(Op::new(Act::Give(1))).unwrap();
    rig.pe.progress();
    assert!(poll(&mut flying, &count).is_ready());
    assert!(catch_unwind(AssertUnwindSafe(|| poll(&mut flying, &count))).is_err());
    let again = context.submit(Op::new(Act::Give(2))).unwrap();
    drop(flying); // must not take the new flight of the same slot
    assert_eq!(rig.pe.run(again).result, Ok(2));
}

#[test]
fn try_take_gives_the_handle_back_until_it_landed() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 4);
    let flying = context.submit(Op::new(Act::Give(5))).unwrap();
    let flying = flying.try_take().expect_err("nobody progressed");
    assert!(!flying.is_done());
    rig.pe.progress();
    assert!(flying.is_done());
    assert_eq!(flying.try_take().expect("landed").result, Ok(5));
}

#[test]
fn a_dropped_task_is_carried_out() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(4);
        let memory = Memory::heap(1 << 20).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
        // A line, a page, and parts.
        for size in [64, 4096, 500_000] {
            let mut bytes = vec![0; size];
            Dice::new(size as u64).fill(&mut bytes);
            let mut src = memory.alias(..size).unwrap();
            src.push_slice(&bytes).unwrap();
            let dst = memory.alias(size..2 * size).unwrap();
            drop(dma.submit(Memcpy { src, dst }).unwrap());
            while dma.in_flight() > 0 {
                rig.pe.progress();
            }
            let mut seen = vec![0; size];
            memory.alias(size..).unwrap().read_at(0, &mut seen).unwrap();
            assert!(seen == bytes, "{size} bytes, {board:?}");
            assert_eq!(dma.state(), State::Running, "{size} bytes, {board:?}");
        }
    }
}

#[test]
fn a_dropped_task_does_not_stop_a_context_that_stops_on_failures() {
    let mut rig = Rig::new(Board::inline());
    let mut context = Context::<Mock<true>>::start(&mut rig.pe, &rig.device, Default::default())
        .unwrap()
        .wait(&mut rig.pe)
        .unwrap();
    let parts = Arc::new(AtomicUsize::new(0));
    drop(context.submit(Op::new(Act::Give(1))).unwrap());
    drop(context.submit(Op::new(Act::Parts(3, parts.clone()))).unwrap());
    while context.in_flight() > 0 {
        rig.pe.progress();
    }
    assert_eq!((context.state(), parts.load(Ordering::SeqCst) as u64), (State::Running, 3 * mock::PART));
}

/// Where on its way a task loses its holder.
#[derive(Clone, Copy, Debug)]
enum Point {
    Submitted,
    Polled,
    PolledTwice,
    Landed,
    Woken,
}
const POINTS: [Point; 5] = [Point::Submitted, Point::Polled, Point::PolledTwice, Point::Landed, Point::Woken];

/// Brings a fresh task to `point`.
fn at(point: Point, context: &mut Ctx, pe: &mut ProgressEngine, token: &Arc<()>) -> InFlight<Op<false>> {
    let count = Count::new();
    let mut flying = context.submit(Op::held(Act::Give(1), token)).unwrap();
    let polls = match point {
        Point::Submitted | Point::Landed => 0,
        Point::Polled | Point::Woken => 1,
        Point::PolledTwice => 2,
    };
    for _ in 0..polls {
        assert!(poll(&mut flying, &count).is_pending());
    }
    if matches!(point, Point::Landed | Point::Woken) {
        land(pe, context);
        assert_eq!(count.get(), polls);
    }
    flying
}

#[test]
fn dropped_at_every_point() {
    for point in POINTS {
        let mut rig = Rig::new(Board::inline());
        let mut context = start(&mut rig, 2);
        let token = Arc::new(());
        // More often than there are slots: none may be lost.
        for round in 0..10 {
            let flying = at(point, &mut context, &mut rig.pe, &token);
            drop(flying);
            land(&mut rig.pe, &context);
            assert_eq!(Arc::strong_count(&token), 1, "{point:?}, round {round}: the task is still held");
        }
        assert_eq!(context.state(), State::Running, "{point:?}");
    }
}

#[test]
fn leaked_at_every_point_costs_a_slot_and_no_more() {
    for point in POINTS {
        let mut rig = Rig::new(Board::inline());
        let mut context = start(&mut rig, 2);
        let token = Arc::new(());
        std::mem::forget(at(point, &mut context, &mut rig.pe, &token));
        land(&mut rig.pe, &context);
        assert_eq!(Arc::strong_count(&token), 2, "{point:?}: its slot keeps it");
        // The other slot works, over and over, and so does stopping.
        for _ in 0..10 {
            let flying = context.submit(Op::new(Act::Give(3))).unwrap();
            assert_eq!(rig.pe.run(flying).result, Ok(3), "{point:?}");
        }
        let flying = context.submit(Op::new(Act::Give(4))).unwrap();
        assert_eq!(context.submit(Op::new(Act::Give(5))).unwrap_err().error.code(), Code::Full, "{point:?}");
        context.stop().wait(&mut rig.pe).unwrap();
        drop(flying);
        drop(rig);
    }
}

#[test]
fn dropped_unpolled_polled_or_landed_after_everything_else_is_gone() {
    for point in POINTS {
        let mut rig = Rig::new(Board::inline());
        let mut context = start(&mut rig, 2);
        let token = Arc::new(());
        let flying = at(point, &mut context, &mut rig.pe, &token);
        drop(context);
        drop(rig);
        assert!(flying.is_done(), "{point:?}: the engine's drop brings everything back");
        drop(flying);
        assert_eq!(Arc::strong_count(&token), 1, "{point:?}");
    }
}

#[test]
fn moved_between_threads_at_every_point() {
    for point in POINTS {
        let mut rig = Rig::new(Board::inline());
        let mut context = start(&mut rig, 2);
        let token = Arc::new(());
        let flying = at(point, &mut context, &mut rig.pe, &token);
        let session = rig.session.clone();
        let other = std::thread::spawn(move || {
            let mut elsewhere = ProgressEngine::new(&session).unwrap();
            elsewhere.run(flying).result
        });
        while !other.is_finished() {
            rig.pe.progress();
        }
        assert_eq!(other.join().unwrap(), Ok(1), "{point:?}");
    }
}

#[test]
fn a_refused_task_comes_back_as_it_was() {
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 1);
    let token = Arc::new(());
    let refused = context.submit(Op::held(Act::Refuse, &token)).unwrap_err();
    assert_eq!(refused.error.code(), Code::InvalidValue);
    assert!(refused.back.token.is_some());
    drop(refused);
    let flying = context.submit(Op::held(Act::Give(0), &token)).unwrap();
    let refused = context.submit(Op::held(Act::Give(9), &token)).unwrap_err();
    assert_eq!(refused.error.code(), Code::Full);
    assert!(matches!(refused.back.act, Act::Give(9)));
    assert_eq!(rig.pe.run(flying).task.runs, 1);
    assert_eq!(rig.pe.run(context.submit(refused.back).unwrap()).result, Ok(9));
    assert_eq!(Arc::strong_count(&token), 1);
}

#[test]
fn a_waker_that_panics_harms_nobody() {
    struct Bomb;
    impl std::task::Wake for Bomb {
        fn wake(self: Arc<Self>) {
            panic!("the test wants a panic in a waker");
        }
    }
    let mut rig = Rig::new(Board::inline());
    let mut context = start(&mut rig, 4);
    let mut first = context.submit(Op::new(Act::Give(1))).unwrap();
    let second = context.submit(Op::new(Act::Give(2))).unwrap();
    let waker = std::task::Waker::from(Arc::new(Bomb));
    assert!(std::pin::Pin::new(&mut first).poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| rig.pe.progress())).is_err());
    assert_eq!(first.try_take().expect("landed before it was woken").result, Ok(1));
    assert_eq!(rig.pe.run(second).result, Ok(2));
}

#[test]
fn a_waker_that_wakes_late_is_harmless_when_the_engine_is_gone() {
    let mut rig = Rig::new(Board::inline());
    let mut kept = None;
    rig.pe.run(std::future::poll_fn(|cx| {
        kept = Some(cx.waker().clone());
        Poll::Ready(())
    }));
    rig.pe.arm().unwrap();
    drop(rig);
    kept.unwrap().wake();
}
