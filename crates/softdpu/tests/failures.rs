//! Tasks that fail, engines that panic, contexts that stop: every task comes back exactly once.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Rig, boards};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

fn start<const FATAL: bool>(rig: &mut Rig, tasks: u32) -> Context<Mock<FATAL>> {
    let config = mock::Config { tasks, ..Default::default() };
    Context::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap()
}

#[test]
fn a_failed_task_stops_a_context_of_that_kind() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut context = start::<true>(&mut rig, 8);
        let tasks: Vec<_> = [Act::Give(1), Act::Fail, Act::Give(2), Act::Give(3)]
            .into_iter()
            .map(|act| context.submit(Op::new(act)).unwrap())
            .collect();
        // Nothing is told before progress tells it.
        assert_eq!(context.state(), State::Running);
        while context.in_flight() > 0 {
            rig.pe.progress();
        }
        let results: Vec<_> =
            tasks.into_iter().map(|t| t.try_take().unwrap().result.map_err(|e| e.code())).collect();
        assert_eq!(results[..2], [Ok(1), Err(Code::IoFailed)], "{board:?}");
        // Those behind it may have been carried out before it was told, or come back flushed.
        assert!(results[2..].iter().all(|r| matches!(r, Ok(2 | 3) | Err(Code::IoFailed))), "{results:?}");
        let refused = context.submit(Op::new(Act::Give(4))).unwrap_err();
        assert_eq!(refused.error.code(), Code::BadState);
        assert_eq!(context.state(), State::Idle);
        context.stop().wait(&mut rig.pe).unwrap();
        // A new one starts on the same engine.
        let mut again = start::<true>(&mut rig, 8);
        assert_eq!(rig.pe.run(again.submit(Op::new(Act::Give(5))).unwrap()).result, Ok(5));
    }
}

#[test]
fn a_failed_task_leaves_other_contexts_alone() {
    let mut rig = Rig::new(Board::inline());
    let mut sturdy = start::<false>(&mut rig, 4);
    let mut fragile = start::<true>(&mut rig, 4);
    let failing = fragile.submit(Op::new(Act::Fail)).unwrap();
    assert!(rig.pe.run(failing).result.is_err());
    for _ in 0..10 {
        let failing = sturdy.submit(Op::new(Act::Fail)).unwrap();
        assert_eq!(rig.pe.run(failing).result.unwrap_err().code(), Code::IoFailed);
    }
    assert_eq!((sturdy.state(), fragile.state()), (State::Running, State::Idle));
}

#[test]
fn a_panic_in_the_engine_fails_its_task_alone() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut context = start::<false>(&mut rig, 8);
        let token = Arc::new(());
        for _ in 0..20 {
            let before = context.submit(Op::held(Act::Give(1), &token)).unwrap();
            let broken = context.submit(Op::held(Act::Panic, &token)).unwrap();
            let behind = context.submit(Op::held(Act::Give(2), &token)).unwrap();
            assert_eq!(rig.pe.run(before).result, Ok(1));
            let done = rig.pe.run(broken);
            assert_eq!(done.result.unwrap_err().code(), Code::Unexpected);
            assert!(matches!(done.task.act, Act::Panic), "the task comes back all the same");
            assert_eq!(rig.pe.run(behind).result, Ok(2));
        }
        assert_eq!(Arc::strong_count(&token), 1);
    }
}

#[test]
fn a_stop_brings_every_task_back_once() {
    for board in boards() {
        for progressed in 0..4 {
            let mut rig = Rig::new(board);
            let landed = Arc::new(Mutex::new(Vec::new()));
            let list = landed.clone();
            let config = Config {
                memcpy: 32,
                on_memcpy: Some(Box::new(move |done, _| {
                    list.lock().unwrap().push((done.task.src.to_vec(), done.result));
                    Next::Again(done.task) // must not fly again once the context stops
                })),
                ..Config::default()
            };
            let mut dma = rig.dma_with(config);
            let mut flying = Vec::new();
            for n in 0..32u8 {
                let task = rig.copy(&[n]);
                if n % 2 == 0 {
                    flying.push((n, dma.submit(task).unwrap()));
                } else {
                    dma.post(task).unwrap();
                }
            }
            for _ in 0..progressed {
                rig.pe.progress();
            }
            dma.stop().wait(&mut rig.pe).unwrap();
            for (n, task) in flying {
                let done = task.try_take().expect("back after the stop");
                assert_eq!(done.task.src.as_slice(), Some(&[n][..]));
                match done.result {
                    Ok(1) => assert_eq!(done.task.dst.as_slice(), Some(&[n][..])),
                    Err(e) if e.code() == Code::IoFailed => assert_eq!(done.task.dst.data_len(), 0),
                    other => panic!("{other:?}"),
                }
            }
            let landed = landed.lock().unwrap();
            for n in (1..32).step_by(2) {
                let times = landed.iter().filter(|(src, _)| src[..] == [n]).count();
                assert!(times >= 1, "{board:?}, {progressed}: task {n} did not come back");
                if progressed == 0 {
                    assert_eq!(times, 1, "{board:?}: task {n} came back {times} times");
                }
            }
            drop(landed);
            assert_eq!(rig.pool.available(), rig.pool.capacity(), "buffers are missing");
        }
    }
}

#[test]
fn a_stop_waits_for_what_a_worker_has_begun() {
    let mut rig = Rig::new(Board::threads());
    let mut context = start::<false>(&mut rig, 4);
    let gate = Arc::new(mock::Gate::default());
    let begun = context.submit(Op::new(Act::Until(gate.clone()))).unwrap();
    let queued = context.submit(Op::new(Act::Give(1))).unwrap();
    // Nobody progresses, so a worker takes both over and is kept by the first.
    while !gate.begun.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let stopping = context.stop();
    for _ in 0..100 {
        rig.pe.progress();
    }
    let held = !begun.is_done();
    gate.open.store(true, Ordering::SeqCst);
    stopping.wait(&mut rig.pe).unwrap();
    assert!(begun.try_take().is_ok() && queued.try_take().is_ok());
    assert!(held, "it was told before it was through");
}

#[test]
fn work_goes_on_without_progress() {
    let mut rig = Rig::new(Board::threads());
    let mut context = start::<false>(&mut rig, 16);
    let count = Arc::new(AtomicUsize::new(0));
    let flying = context.submit(Op::new(Act::Parts(8, count.clone()))).unwrap();
    while (count.load(Ordering::SeqCst) as u64) < 8 * mock::PART {
        std::thread::yield_now();
    }
    // Carried out, but told by progress alone.
    assert!(!flying.is_done());
    assert!(rig.pe.run(flying).result.is_ok());
}

#[test]
fn a_refusal_names_its_reason() {
    let mut rig = Rig::new(Board::inline());
    let mut dma = rig.dma(4);
    let small = rig.memory.pool(8).map(|_| ()).unwrap_err();
    assert_eq!(small.code(), Code::InvalidValue); // the rig's pool has it all
    let mut task = rig.copy(&[7; 40]);
    task.dst.advance(30).unwrap();
    let refused = dma.submit(task).unwrap_err();
    assert_eq!((refused.error.code(), refused.error.class()), (Code::InvalidValue, Class::Parameter));
    // Memory that devices may only read is no destination.
    let readable = Memory::heap(64).register(&[&rig.device]).unwrap().buf(..).unwrap();
    let Memcpy { src, .. } = refused.back;
    let refused = dma.submit(Memcpy { src, dst: readable }).unwrap_err();
    assert_eq!(refused.error.code(), Code::NotPermitted);
    // Neither is memory of another device.
    let other = rig.session.devices()[1].open().unwrap();
    let foreign =
        Memory::heap(64).access(Access::LOCAL_READ_WRITE).register(&[&other]).unwrap().buf(..).unwrap();
    let refused = dma.submit(Memcpy { src: refused.back.src, dst: foreign }).unwrap_err();
    assert_eq!(refused.error.class(), Class::Parameter);
    assert_eq!(dma.in_flight(), 0);
    assert_eq!(dma.state(), State::Running);
}

#[test]
fn limits_of_a_device_are_kept() {
    let mut rig = Rig::new(Board::inline());
    let caps = rig.session.devices()[0].caps::<Dma>().unwrap();
    let config = Config { memcpy: caps.max_num_tasks + 1, ..Config::default() };
    let refused = Context::<Dma>::start(&mut rig.pe, &rig.device, config).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidValue);
    // A list that is one too long.
    let mut dma = rig.dma(4);
    let n = caps.max_buf_list_len as usize + 1;
    let memory = Memory::heap(n + 8).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
    let mut list: Option<Buf> = None;
    for at in (0..n).rev() {
        let mut buf = memory.buf(at..=at).unwrap();
        buf.advance(1).unwrap();
        if let Some(tail) = list.take() {
            buf.chain(tail);
        }
        list = Some(buf);
    }
    let big = Memory::heap(n).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
    let dst = big.buf(..).unwrap();
    let refused = dma.submit(Memcpy { src: list.unwrap(), dst }).unwrap_err();
    assert_eq!(refused.error.class(), Class::Parameter);
    let Memcpy { mut src, dst } = refused.back;
    let shorter = src.unchain().unwrap();
    assert_eq!(rig.pe.run(dma.submit(Memcpy { src: shorter, dst }).unwrap()).result, Ok(n as u64 - 1));
}
