//! No allocation on the way of a task: submitted and awaited, polled, or handled.
#![expect(unsafe_code, reason = "a counting allocator")]

mod common;
use common::{Count, Rig, poll};
use softdpu::dma::{Config, Memcpy};
use softdpu::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: same contract.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: same contract.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Allocations of this thread while `f` runs.
fn allocations(f: impl FnOnce()) -> usize {
    let before = COUNT.get();
    f();
    COUNT.get() - before
}

#[test]
fn counting_works() {
    assert_eq!(allocations(|| drop(std::hint::black_box(Box::new(1)))), 1);
}

#[test]
fn futures() {
    let mut rig = Rig::new(Board::inline());
    let mut dma = rig.dma(16);
    let mut task = Some(rig.copy(b"over and over"));
    let count = Count::new();
    let n = allocations(|| {
        for _ in 0..1000 {
            let mut next = task.take().unwrap();
            next.dst.reset();
            let mut flying = dma.submit(next).unwrap();
            assert!(poll(&mut flying, &count).is_pending());
            while rig.pe.progress() == 0 {}
            let std::task::Poll::Ready(done) = poll(&mut flying, &count) else { panic!("landed") };
            task = Some(done.task);
        }
    });
    assert_eq!((n, count.get()), (0, 1000));
}

#[test]
fn polling_with_buffers_from_a_pool() {
    let mut rig = Rig::new(Board::inline());
    let mut dma = rig.dma(16);
    let pool = rig.pool.clone();
    let n = allocations(|| {
        for _ in 0..1000 {
            let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
            src.push_slice(b"fresh ones").unwrap();
            let flying = dma.submit(Memcpy { src, dst }).unwrap();
            rig.pe.progress();
            assert_eq!(flying.try_take().unwrap().result, Ok(10));
        }
    });
    assert_eq!(n, 0);
}

#[test]
fn handlers_batches_and_refusals() {
    let mut rig = Rig::new(Board::inline());
    let config = Config {
        memcpy: 16,
        on_memcpy: Some(Box::new(|done, _| {
            let Memcpy { src, mut dst } = done.task;
            dst.reset();
            Next::Again(Memcpy { src, dst })
        })),
        ..Config::default()
    };
    let mut dma = rig.dma_with(config);
    let mut batch = dma.batch();
    while !batch.is_full() {
        batch.post(rig.copy(b"round")).unwrap();
    }
    assert_eq!(batch.finish(), 16);
    let mut extra = Some(rig.copy(b"too many"));
    let n = allocations(|| {
        for _ in 0..1000 {
            assert!(rig.pe.progress() >= 16);
            extra = Some(dma.post(extra.take().unwrap()).unwrap_err().back);
        }
    });
    assert_eq!(n, 0);
}

#[test]
fn sleeping() {
    let mut rig = Rig::new(Board::inline());
    let mut dma = rig.dma(16);
    let mut task = Some(rig.copy(b"bytes"));
    let n = allocations(|| {
        for _ in 0..100 {
            let flying = dma.submit(task.take().unwrap()).unwrap();
            while rig.pe.wait(None).unwrap() == 0 {}
            let mut done = flying.try_take().unwrap();
            done.task.dst.reset();
            task = Some(done.task);
        }
    });
    assert_eq!(n, 0);
}
