//! Anything may be dropped in any order, with tasks in flight or without.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{boards, watchdog};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::any::Any;
use std::sync::Arc;

/// Calls `f` with every order of `0..n`.
fn permutations(n: usize, f: &mut impl FnMut(&[usize])) {
    fn go(rest: &mut Vec<usize>, order: &mut Vec<usize>, f: &mut impl FnMut(&[usize])) {
        if rest.is_empty() {
            return f(order);
        }
        for i in 0..rest.len() {
            order.push(rest.remove(i));
            go(rest, order, f);
            if let Some(back) = order.pop() {
                rest.insert(i, back);
            }
        }
    }
    go(&mut (0..n).collect(), &mut Vec::new(), f);
}

#[derive(Clone, Copy, Debug)]
enum When {
    InFlight,
    Landed,
}

type Everything = Vec<Option<Box<dyn Any>>>;

/// Session, device, memory, pool, progress engine, context, a future, a spare buffer.
fn everything(board: Board, when: When) -> Everything {
    let session = Session::builder().board(board).open().unwrap();
    let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
    let memory = Memory::heap(1024).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let pool = memory.pool(64).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let config = Config { memcpy: 4, ..Config::default() };
    let mut dma = Context::<Dma>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
    let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
    src.push_slice(b"bytes").unwrap();
    let spare = pool.take().unwrap();
    let task = dma.submit(Memcpy { src, dst }).unwrap();
    if let When::Landed = when {
        while dma.in_flight() > 0 {
            pe.progress();
        }
    }
    vec![
        Some(Box::new(session)),
        Some(Box::new(device)),
        Some(Box::new(memory)),
        Some(Box::new(pool)),
        Some(Box::new(pe)),
        Some(Box::new(dma)),
        Some(Box::new(task)),
        Some(Box::new(spare)),
    ]
}

#[test]
fn every_order_on_the_inline_board() {
    watchdog();
    for when in [When::InFlight, When::Landed] {
        permutations(8, &mut |order| {
            let mut all = everything(Board::inline(), when);
            order.iter().for_each(|&i| drop(all[i].take()));
        });
    }
}

#[test]
fn some_orders_on_the_threaded_board() {
    watchdog();
    let mut count = 0;
    permutations(8, &mut |order| {
        count += 1;
        if count % 37 == 0 {
            let mut all = everything(Board::threads(), When::InFlight);
            order.iter().for_each(|&i| drop(all[i].take()));
        }
    });
}

/// Everything that hangs on a context is gone when the last of context, engine and futures is.
#[test]
fn the_last_one_takes_everything_with_it() {
    watchdog();
    for board in boards() {
        for landed in [false, true] {
            permutations(4, &mut |order| {
                let session = Session::builder().board(board).open().unwrap();
                let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
                let mut pe = ProgressEngine::new(&session).unwrap();
                let (tokens, held) = (Arc::new(()), Arc::new(()));
                let kept = held.clone();
                let handler: Handler<Op<false>> = Box::new(move |_, _| {
                    let _ = &kept;
                    Next::Free
                });
                let config = mock::Config { tasks: 4, handler: Some(handler) };
                let mut context =
                    Context::<Mock<false>>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
                let one = context.submit(Op::held(Act::Give(1), &tokens)).unwrap();
                let two = context.submit(Op::held(Act::Give(2), &tokens)).unwrap();
                context.post(Op::held(Act::Give(3), &tokens)).unwrap();
                while landed && context.in_flight() > 0 {
                    pe.progress();
                }
                let mut all: Everything = vec![
                    Some(Box::new(pe)),
                    Some(Box::new(context)),
                    Some(Box::new(one)),
                    Some(Box::new(two)),
                ];
                order.iter().for_each(|&i| drop(all[i].take()));
                assert_eq!(
                    Arc::strong_count(&tokens),
                    1,
                    "{board:?}, {order:?}, landed {landed}: a task is left"
                );
                // Another test may be clearing away on its thread what ended here; the watchdog is the limit.
                while Arc::strong_count(&held) > 1 {
                    std::thread::yield_now();
                }
            });
        }
    }
}

/// Devices are not kept by what is over: more come and go than can be open at once.
#[test]
fn devices_close() {
    watchdog();
    for n in 0..200 {
        let text = format!("[[card]]\nname = \"card{n}\"");
        let machine = softdpu::card::Machine::builder().config_text(text).build().unwrap();
        let session = Session::new(machine, Board::inline());
        let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
        let memory = Memory::heap(128).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let mut dma =
            Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
        let mut src = memory.buf(..64).unwrap();
        src.advance(64).unwrap();
        let task = dma.submit(Memcpy { src, dst: memory.buf(64..).unwrap() }).unwrap();
        drop((device, memory, dma, pe));
        drop(task);
    }
}
