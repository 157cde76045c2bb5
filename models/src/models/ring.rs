//! Contexts without work leave their engine's ring; a submit or a stop on another thread at that very moment is not lost.

use crate::context::{Core, PARTS, SMALL, active};
use crate::handle::Kept;
use crate::pe::Pe;
use crate::slot::Slot;
use crate::sync::{Ordering, STRICT, USUAL, World, explore};
use loom::thread;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// An engine whose ring holds two contexts without work.
pub(super) struct Rig {
    pub(super) pe: Kept<Pe>,
    pub(super) one: Kept<Core>,
    pub(super) two: Kept<Core>,
    pub(super) slot: Kept<Slot>,
}

impl Rig {
    pub(super) fn new() -> Rig {
        let pe = Kept::pe();
        let rig = Rig {
            one: Core::running(pe.get()),
            two: Core::running(pe.get()),
            pe,
            slot: Kept::new(Slot::new()),
        };
        for core in [rig.one.get(), rig.two.get()] {
            core.active.store(active(), Ordering::Relaxed);
            rig.pe.get().link(core);
        }
        rig
    }

    /// What another thread does to the first context.
    fn other(&self, act: Act) -> thread::JoinHandle<()> {
        let (core, slot) = (self.one.get(), self.slot.get());
        thread::spawn(move || match act {
            Act::Submit => {
                slot.fill(SMALL);
                core.launch(slot, core.lane());
            }
            Act::Stop => crate::ending::request_stop(core),
        })
    }

    /// The contexts that progress would visit, each once.
    pub(super) fn visited(&self) -> Vec<&'static Core> {
        let pe = self.pe.get();
        pe.adopt();
        let count = pe.count.load(Ordering::Relaxed);
        let mut at = pe.cursor.load(Ordering::Relaxed);
        let mut all: Vec<&'static Core> = Vec::new();
        for _ in 0..count {
            let core = crate::handle::core_ref(at).expect("the ring is closed");
            assert!(!all.iter().any(|c| std::ptr::eq(*c, core)), "a context is twice in the ring");
            all.push(core);
            at = core.next.load(Ordering::Relaxed);
        }
        assert!(at == pe.cursor.load(Ordering::Relaxed), "the ring closes where it began");
        all
    }

    fn visits(&self, core: &Core) -> bool {
        self.visited().iter().any(|c| std::ptr::eq(*c, core))
    }

    fn is_readable(&self) -> bool {
        let mut fds = [PollFd::new(self.pe.get().signal(), PollFlags::IN)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
    }
}

#[derive(Clone, Copy)]
enum Act {
    Submit,
    Stop,
}

fn leaves_meanwhile(world: World, act: Act) {
    explore(world, 3, move || {
        let rig = Rig::new();
        let other = rig.other(act);
        rig.pe.get().rest(rig.two.get(), rig.one.get());
        other.join().unwrap();
        assert!(rig.visits(rig.one.get()), "lost: progress does not visit the context");
        assert!(rig.visits(rig.two.get()), "the other context fell out of the ring");
    });
}

fn sleeps_meanwhile(world: World, act: Act) {
    explore(world, 3, move || {
        let rig = Rig::new();
        let other = rig.other(act);
        let pending = rig.pe.get().arm();
        other.join().unwrap();
        assert!(pending || rig.is_readable(), "asleep, and nobody rang");
        assert!(rig.visits(rig.one.get()), "lost: progress does not visit the context");
    });
}

#[test]
fn a_submit_while_the_context_leaves() {
    leaves_meanwhile(USUAL, Act::Submit);
    leaves_meanwhile(STRICT, Act::Submit);
}

#[test]
fn a_stop_while_the_context_leaves() {
    leaves_meanwhile(USUAL, Act::Stop);
    leaves_meanwhile(STRICT, Act::Stop);
}

#[test]
fn a_submit_wakes_a_sleeper() {
    sleeps_meanwhile(USUAL, Act::Submit);
    sleeps_meanwhile(STRICT, Act::Submit);
}

#[test]
fn a_stop_wakes_a_sleeper() {
    sleeps_meanwhile(USUAL, Act::Stop);
    sleeps_meanwhile(STRICT, Act::Stop);
}

/// A worker finishes what the sleeper waits for.
fn completes_meanwhile(world: World) {
    explore(world, 3, || {
        let rig = Rig::new();
        let (core, slot) = (rig.one.get(), rig.slot.get());
        slot.fill(PARTS);
        core.launch(slot, core.lane());
        // Opened for claims, and all but the last part carried out.
        assert!(!core.carry_out(core.lane().next().unwrap(), core.lane()) && core.do_own_part(core.lane()));
        let worker = thread::spawn(move || {
            core.assist(false, true);
        });
        let pending = rig.pe.get().arm();
        worker.join().unwrap();
        assert!(slot.is_ready());
        assert!(pending || rig.is_readable(), "asleep, and nobody rang");
    });
}

#[test]
fn a_completion_wakes_a_sleeper() {
    completes_meanwhile(USUAL);
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_completion_without_fences() {
    completes_meanwhile(World { fences: false, ..USUAL });
}

#[test]
#[should_panic(expected = "lost")]
fn broken_submit_without_the_light_barrier() {
    leaves_meanwhile(World { light: false, ..USUAL }, Act::Submit);
}

#[test]
#[should_panic(expected = "lost")]
fn broken_submit_without_the_heavy_barrier() {
    leaves_meanwhile(World { heavy: false, ..USUAL }, Act::Submit);
}

#[test]
#[should_panic(expected = "lost")]
fn broken_submit_without_the_fence_of_the_slow_path() {
    leaves_meanwhile(World { fences: false, ..STRICT }, Act::Submit);
}

#[test]
#[should_panic(expected = "lost")]
fn broken_stop_without_the_heavy_barrier() {
    leaves_meanwhile(World { heavy: false, ..USUAL }, Act::Stop);
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_sleep_without_fences() {
    sleeps_meanwhile(World { fences: false, ..USUAL }, Act::Submit);
}
