//! The room's primitives, as loom has them, in a world that a model chooses: with or without asymmetric barriers, and
//! with a barrier left out where a model shows that it would notice.

pub(crate) use crate::segment::Segment;
pub(crate) use loom::sync::Mutex;
use loom::sync::atomic;
pub(crate) use loom::sync::atomic::Ordering;
use std::cell::Cell;

/// Loom remembers one last access per object, and takes two loads for independent; an order of accesses such as "I load,
/// you load, you store" then hides that my load and your store can change places. So each access is preceded by one to a
/// second object that depends on every other access there, and on nothing else.
macro_rules! atomic {
    ($name:ident $(<$t:ident>)?, $value:ty, $inner:ty $(, $arithmetic:ident)?) => {
        pub(crate) struct $name$(<$t>)? {
            value: $inner,
            order: atomic::AtomicU8,
        }

        #[allow(dead_code, reason = "not every type is used with every operation")]
        impl$(<$t>)? $name$(<$t>)? {
            pub(crate) fn new(value: $value) -> Self {
                Self { value: <$inner>::new(value), order: atomic::AtomicU8::new(0) }
            }
            fn at(&self) -> &$inner {
                self.order.fetch_add(0, Ordering::Relaxed);
                &self.value
            }
            pub(crate) fn load(&self, order: Ordering) -> $value {
                self.at().load(order)
            }
            /// Loom checks that nobody else writes meanwhile.
            #[expect(unsafe_code, reason = "loom checks it")]
            pub(crate) fn load_own(&self) -> $value {
                // SAFETY: see above.
                unsafe { self.at().unsync_load() }
            }
            pub(crate) fn store(&self, value: $value, order: Ordering) {
                self.at().store(value, order);
            }
            pub(crate) fn swap(&self, value: $value, order: Ordering) -> $value {
                self.at().swap(value, order)
            }
            pub(crate) fn compare_exchange(
                &self, from: $value, to: $value, order: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.at().compare_exchange(from, to, order, failure)
            }
            pub(crate) fn compare_exchange_weak(
                &self, from: $value, to: $value, order: Ordering, failure: Ordering,
            ) -> Result<$value, $value> {
                self.at().compare_exchange_weak(from, to, order, failure)
            }
            $(atomic!(@$arithmetic $value);)?
        }

        impl$(<$t>)? std::fmt::Debug for $name$(<$t>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
    (@integer $value:ty) => {
        pub(crate) fn fetch_add(&self, by: $value, order: Ordering) -> $value {
            self.at().fetch_add(by, order)
        }
        pub(crate) fn fetch_sub(&self, by: $value, order: Ordering) -> $value {
            self.at().fetch_sub(by, order)
        }
        pub(crate) fn fetch_or(&self, with: $value, order: Ordering) -> $value {
            self.at().fetch_or(with, order)
        }
        pub(crate) fn fetch_and(&self, with: $value, order: Ordering) -> $value {
            self.at().fetch_and(with, order)
        }
    };
}

atomic!(AtomicU8, u8, atomic::AtomicU8, integer);
atomic!(AtomicU32, u32, atomic::AtomicU32, integer);
atomic!(AtomicI32, i32, atomic::AtomicI32, integer);
atomic!(AtomicU64, u64, atomic::AtomicU64, integer);
atomic!(AtomicUsize, usize, atomic::AtomicUsize, integer);
atomic!(AtomicPtr<T>, *mut T, atomic::AtomicPtr<T>);

/// Which barriers there are. Loom runs all threads of a model on one thread of the system, so a thread-local will do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    /// The kernel's asymmetric barrier is there.
    pub(crate) asymmetric: bool,
    /// The light half works.
    pub(crate) light: bool,
    /// The heavy half works.
    pub(crate) heavy: bool,
    /// Ordinary fences work.
    pub(crate) fences: bool,
}

/// As on most machines.
pub(crate) const USUAL: World = World { asymmetric: true, light: true, heavy: true, fences: true };
/// Where the kernel has no asymmetric barrier.
pub(crate) const STRICT: World = World { asymmetric: false, ..USUAL };

thread_local! {
    static WORLD: Cell<World> = const { Cell::new(USUAL) };
}

/// Runs a model in all orders that matter, with at most `switches` forced changes of thread per order.
pub(crate) fn explore(world: World, switches: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(switches);
    builder.max_branches = 20_000;
    WORLD.set(world);
    builder.check(model);
}

pub(crate) fn is_asymmetric() -> bool {
    WORLD.get().asymmetric
}

/// Where the barriers are asymmetric, both halves together are as good as full barriers on both sides.
pub(crate) fn light_barrier() {
    let world = WORLD.get();
    if world.asymmetric && world.light {
        atomic::fence(Ordering::SeqCst);
    }
}

pub(crate) fn heavy_barrier() {
    if WORLD.get().heavy {
        atomic::fence(Ordering::SeqCst);
    }
}

pub(crate) fn is_reachable() -> bool {
    is_asymmetric()
}

/// Between processes: the same, as far as a model can tell.
pub(crate) fn far_barrier() {
    heavy_barrier();
}

pub(crate) fn fence(order: Ordering) {
    if WORLD.get().fences {
        atomic::fence(order);
    }
}

/// Whether the step before is a barrier by itself is a matter of the machine; the model takes it for none.
pub(crate) fn fence_after_step() {
    fence(Ordering::SeqCst);
}

pub(crate) fn spin() {
    loom::thread::yield_now();
}

pub(crate) fn stand_back() {
    loom::thread::yield_now();
}

/// A number that no other thread of the model has.
pub(crate) fn this_thread() -> usize {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    loom::thread::current().id().hash(&mut hasher);
    hasher.finish() as usize | 1
}

/// A cell that one party at a time has to itself; loom checks that it has.
#[derive(Debug)]
pub(crate) struct ProtocolCell<T>(loom::cell::UnsafeCell<T>);

impl<T> ProtocolCell<T> {
    pub(crate) fn new(value: T) -> ProtocolCell<T> {
        ProtocolCell(loom::cell::UnsafeCell::new(value))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        self.0.with_mut(f)
    }
}

impl<T: Copy> ProtocolCell<T> {
    /// The value, for the party that has it.
    #[expect(unsafe_code, reason = "loom checks every access")]
    pub(crate) fn get(&self) -> T {
        // SAFETY: loom stops the model when two parties are here at a time.
        self.0.with(|v| unsafe { *v })
    }

    /// Changes the value, for the party that has it.
    #[expect(unsafe_code, reason = "loom checks every access")]
    pub(crate) fn update(&self, f: impl FnOnce(T) -> T) {
        // SAFETY: as for `get`.
        self.0.with_mut(|v| unsafe { *v = f(*v) });
    }
}
// Whether accesses race is what loom finds out.
#[expect(unsafe_code, reason = "loom checks every access")]
// SAFETY: see above.
unsafe impl<T: Send> Sync for ProtocolCell<T> {}
