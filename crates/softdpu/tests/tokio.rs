//! Progress as a task of a tokio runtime.
#![cfg(feature = "tokio")]

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Rig, boards, copy};
use softdpu::prelude::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap(),
    ]
}

#[test]
fn tasks_are_awaited_anywhere_in_the_runtime() {
    for board in boards() {
        for runtime in runtimes() {
            let mut rig = Rig::new(board);
            let mut dma = rig.dma(8);
            let Rig { mut pe, pool, .. } = rig;
            runtime.block_on(async move {
                let progress = tokio::spawn(async move { pe.drive().await });
                let mut waiting = Vec::new();
                for n in 0..500u64 {
                    let flying = dma.submit_ready(copy(&pool, &n.to_le_bytes())).await.unwrap();
                    waiting.push(tokio::spawn(async move {
                        let done = flying.await;
                        assert_eq!(done.task.dst.as_slice(), Some(&n.to_le_bytes()[..]));
                        done.result
                    }));
                }
                for task in waiting {
                    assert_eq!(task.await.unwrap(), Ok(8));
                }
                dma.stop().await.unwrap();
                progress.abort();
                assert!(progress.await.unwrap_err().is_cancelled());
                assert_eq!(pool.available(), pool.capacity());
            });
        }
    }
}

#[test]
fn it_sleeps_and_wakes() {
    for board in boards() {
        for runtime in runtimes() {
            let mut rig = Rig::new(board);
            let config = mock::Config { tasks: 4, ..Default::default() };
            let starting = Context::<Mock<false>>::start(&mut rig.pe, &rig.device, config).unwrap();
            let mut context = starting.wait(&mut rig.pe).unwrap();
            let mut pe = rig.pe;
            runtime.block_on(async move {
                let progress = tokio::spawn(async move { pe.drive().await });
                for n in 0..300 {
                    // Everything is asleep when this comes.
                    if n % 50 == 0 {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    let done = context.submit(Op::new(Act::Give(n))).unwrap().await;
                    assert_eq!(done.result, Ok(n));
                }
                // Parts, which it does itself between other tasks.
                let parts = Arc::new(AtomicUsize::new(0));
                let done = context.submit(Op::new(Act::Parts(40, parts))).unwrap().await;
                assert!(done.result.is_ok());
                progress.abort();
            });
        }
    }
}

#[test]
fn it_may_be_cancelled_and_taken_up_again() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut rig = Rig::new(Board::inline());
    let mut dma = rig.dma(8);
    runtime.block_on(async {
        for n in 0..100u64 {
            let flying = dma.submit(copy(&rig.pool, &n.to_le_bytes())).unwrap();
            let drive = std::pin::pin!(rig.pe.drive());
            let mut drive = Some(drive);
            let mut flying = std::pin::pin!(flying);
            let done = std::future::poll_fn(|cx| {
                if let Some(drive) = &mut drive {
                    assert!(drive.as_mut().poll(cx).is_pending(), "it never ends");
                }
                flying.as_mut().poll(cx)
            })
            .await;
            assert_eq!(done.result, Ok(8));
        }
    });
    // And by hand.
    assert_eq!(rig.pe.run(dma.submit(copy(&rig.pool, b"by hand")).unwrap()).result, Ok(7));
}

#[test]
fn other_tasks_run_meanwhile() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let mut rig = Rig::new(Board::inline());
    let config = mock::Config { tasks: 4, ..Default::default() };
    let mut context =
        Context::<Mock<false>>::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap();
    let mut pe = rig.pe;
    runtime.block_on(async move {
        let progress = tokio::spawn(async move { pe.drive().await });
        let flying = context.submit(Op::new(Act::Parts(1000, Arc::default()))).unwrap();
        // On one thread, with nobody else to do the parts: each turn of this loop proves that it gave way.
        let other = tokio::spawn(async move {
            let mut turns = 0;
            while !flying.is_done() {
                turns += 1;
                // Not the runtime's own call, which lets 60 others go first.
                let mut given = false;
                std::future::poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    if std::mem::replace(&mut given, true) { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            }
            turns
        });
        let turns = other.await.unwrap();
        assert!(turns > 100, "{turns}");
        progress.abort();
    });
}
