//! Publish, then look whether somebody sleeps; arm, then look whether something was published.

use crate::arm::Arm;
use crate::sync::{AtomicU32, Ordering, USUAL, World, explore};
use loom::sync::Arc;
use loom::thread;

struct Sleeper {
    arm: Arm,
    work: AtomicU32,
    rung: AtomicU32,
}

impl Sleeper {
    fn publish(&self) {
        self.work.fetch_add(1, Ordering::Release);
        if self.arm.published() {
            self.rung.fetch_add(1, Ordering::Release);
        }
    }
}

/// One or two parties publish (a worker that completes, another thread that submits); nobody sleeps through it.
fn publishers(world: World, count: usize) {
    explore(world, 3, move || {
        let sleeper = Arc::new(Sleeper { arm: Arm::new(), work: AtomicU32::new(0), rung: AtomicU32::new(0) });
        let others: Vec<_> = (0..count)
            .map(|_| {
                let sleeper = sleeper.clone();
                thread::spawn(move || sleeper.publish())
            })
            .collect();
        sleeper.arm.arm();
        let seen = sleeper.work.load(Ordering::Acquire);
        for other in others {
            other.join().unwrap();
        }
        let rung = sleeper.rung.load(Ordering::Acquire);
        assert!(seen > 0 || rung == 1, "asleep, and nobody rang");
        assert!(rung <= 1, "rung twice for one arming");
        assert_eq!(sleeper.arm.is_armed(), rung == 0);
    });
}

#[test]
fn a_completion_wakes_a_sleeper() {
    publishers(USUAL, 1);
}

#[test]
fn of_two_parties_one_rings() {
    publishers(USUAL, 2);
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_without_fences() {
    publishers(World { fences: false, ..USUAL }, 1);
}
