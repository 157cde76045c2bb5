//! Sleeping and waking.

use crate::way::{Rig, Subject, Way};
use std::time::Duration;

/// `wait` lands a task, however often it must sleep for that.
pub fn wait<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    for n in 0..50 {
        let flying = context.submit(rig.subject.task(n).unwrap()).unwrap();
        while !flying.is_done() {
            rig.pe.wait(None).unwrap();
        }
        W::Subject::check(n, flying.try_take().unwrap());
    }
}

/// `run` drives many futures at once.
pub fn run<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(8);
    let flying: Vec<_> = (0..8).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
    rig.pe.run(async {
        // Backwards, so that most are back when their turn comes.
        for (n, task) in flying.into_iter().enumerate().rev() {
            W::Subject::check(n as u64, task.await);
        }
    });
}

/// An event loop: arm, sleep on the descriptor, progress.
pub fn armed_descriptor<W: Way>() {
    use rustix::event::{PollFd, PollFlags, poll};
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(8);
    for round in 0..20 {
        let flying: Vec<_> =
            (0..8).map(|n| context.submit(rig.subject.task(round * 8 + n).unwrap()).unwrap()).collect();
        while context.in_flight() > 0 {
            if rig.pe.arm().unwrap() {
                while poll(&mut [PollFd::new(&rig.pe, PollFlags::IN)], None).is_err() {}
            }
            rig.pe.progress();
        }
        for (n, task) in flying.into_iter().enumerate() {
            W::Subject::check(round * 8 + n as u64, task.try_take().unwrap());
        }
    }
}

/// Nothing to do: a wait with a limit lands nothing, and arming says that it may be slept on.
pub fn sleeps_when_idle<W: Way>() {
    let mut rig = Rig::new::<W>();
    let _context = rig.start(8);
    assert_eq!(rig.pe.wait(Some(Duration::from_millis(1))).unwrap(), 0);
    assert!(rig.pe.arm().unwrap());
    rig.pe.disarm();
}

/// A sleeping engine wakes by the submit of another thread.
pub fn wakes_by_another_thread<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    let Rig { subject, mut pe, .. } = rig;
    let other = std::thread::spawn(move || {
        let mut landed = 0;
        while landed < 300 {
            landed += pe.wait(None).unwrap();
        }
        pe
    });
    for n in 0..300 {
        let flying = context.submit(subject.task(n).unwrap()).unwrap();
        while !flying.is_done() {
            std::thread::yield_now();
        }
        W::Subject::check(n, flying.try_take().unwrap());
    }
    drop(other.join().unwrap());
}
