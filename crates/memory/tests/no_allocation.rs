//! Taking a buffer from a pool, using it and giving it back allocates nothing; pools that go give their descriptors back.
#![expect(unsafe_code, reason = "an allocator that counts")]

mod common;

use softdpu_memory::{Access, Memory};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: hands everything to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|c| c.set(c.get() + 1));
        LARGEST.with(|l| l.set(l.get().max(layout.size())));
        // SAFETY: same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        COUNT.with(|c| c.set(c.get() + 1));
        // SAFETY: same contract.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn pooled_buffers_allocate_nothing() {
    let device = common::device(0);
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let before = COUNT.get();
    let pool = memory.pool(256).unwrap();
    assert!(COUNT.get() > before, "the counter counts");
    let before = COUNT.get();
    for round in 0..1000u32 {
        let (mut a, b) = (pool.take().unwrap(), pool.take().unwrap());
        a.push_slice(&round.to_ne_bytes()).unwrap();
        assert_eq!(a.as_slice(), Some(&round.to_ne_bytes()[..]));
        a.chain(b);
        let b = a.unchain().unwrap();
        a.chain(b);
        drop(a);
    }
    assert_eq!(COUNT.get(), before);
    assert_eq!(pool.available(), pool.capacity());
    drop(pool);

    // Descriptors of a pool that is gone serve the next one: room for so many is asked from the system once.
    for round in 0..4 {
        LARGEST.set(0);
        drop(memory.pool(4).unwrap());
        let largest = LARGEST.get();
        assert_eq!(largest > (1 << 14) * 16, round == 0, "round {round}: {largest} bytes in one piece");
    }
}
