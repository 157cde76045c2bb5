//! Nobody sleeps through a ring, and what is no doorbell is refused.

mod common;
#[path = "common/rig.rs"]
mod rig;

use common::{Process, alone, role, say};
use rig::{Side, guest, host};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::dup;
use softdpu_link::{Doorbell, Ringer, Segment};
use softdpu_status::Code;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

const BALLS: u64 = 10_000;

/// Each side sleeps until the other has answered.
fn play(side: &Side, serves: bool) -> u32 {
    let (mine, other) = if serves { (64, 128) } else { (128, 64) };
    let mut slept = 0;
    for ball in 1..=BALLS {
        if serves {
            side.segment.word64(mine).store(ball, Relaxed);
            side.other.ring();
        }
        slept += side.sleep_until(|| side.segment.word64(other).load(SeqCst) == ball);
        if !serves {
            side.segment.word64(mine).store(ball, Relaxed);
            side.other.ring();
        }
    }
    slept
}

#[test]
fn roles() {
    let Some((role, _)) = role() else { return };
    let side = guest("table", 4096);
    assert_eq!(role, "player");
    say(play(&side, false));
}

#[test]
fn two_processes_wake_each_other_ten_thousand_times() {
    alone("two_processes_wake_each_other_ten_thousand_times", || {
        let mut player = None;
        let side = host("table", 4096, || player = Some(Process::start("player", "")));
        let slept = play(&side, true);
        let mut player = player.unwrap();
        let other: u32 = player.hear().parse().unwrap();
        assert!(player.wait());
        assert!(slept > 1000 && other > 1000, "asleep {slept} and {other} times of {BALLS}");
    });
}

fn is_readable(fd: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
}

fn accept(bell: &Doorbell) -> Ringer {
    let invited = bell.invitation();
    Ringer::accept(dup(invited.page).unwrap(), invited.index, dup(invited.event).unwrap()).unwrap()
}

#[test]
fn one_ring_per_arming_and_none_without() {
    let bell = Doorbell::new().unwrap();
    let (one, two) = (accept(&bell), accept(&bell));
    one.ring();
    assert!(!is_readable(bell.event()), "not armed");
    for _ in 0..3 {
        bell.arm();
        assert_ne!(bell.arm_word().load(SeqCst), 0);
        two.ring();
        one.ring();
        bell.ring();
        assert!(is_readable(bell.event()));
        let mut count = [0; 8];
        rustix::io::read(bell.event(), &mut count).unwrap();
        assert_eq!(u64::from_ne_bytes(count), 1, "one of three signalled");
        assert_eq!(bell.arm_word().load(SeqCst), 0);
    }
    bell.arm();
    bell.ring();
    bell.disarm();
    assert!(!is_readable(bell.event()) && bell.arm_word().load(SeqCst) == 0);
}

/// A ringer of a doorbell that is gone must not disturb one that came after it.
#[test]
fn words_are_not_given_out_twice() {
    let old: Vec<(Doorbell, Ringer)> = (0..200)
        .map(|_| {
            let bell = Doorbell::new().unwrap();
            let ringer = accept(&bell);
            (bell, ringer)
        })
        .collect();
    let ringers: Vec<Ringer> = old.into_iter().map(|(_, ringer)| ringer).collect();
    let new: Vec<Doorbell> = (0..200).map(|_| Doorbell::new().unwrap()).collect();
    new.iter().for_each(Doorbell::arm);
    ringers.iter().for_each(Ringer::ring);
    for bell in &new {
        assert_ne!(bell.arm_word().load(SeqCst), 0, "disarmed by the ringer of another");
        accept(bell).ring();
        assert!(is_readable(bell.event()));
    }
}

/// With a counter that is full there is nothing to add, and nobody blocks.
#[test]
fn a_full_counter_does_not_block() {
    let bell = Doorbell::new().unwrap();
    rustix::io::write(bell.event(), &(u64::MAX - 1).to_ne_bytes()).unwrap();
    bell.arm();
    accept(&bell).ring();
    assert!(is_readable(bell.event()));
}

#[test]
fn what_is_no_doorbell_is_refused() {
    let bell = Doorbell::new().unwrap();
    let invited = bell.invitation();
    let code = |page: OwnedFd, index, event: OwnedFd| {
        Ringer::accept(page, index, event).map(|_| ()).map_err(|error| error.code())
    };
    let (page, event) = (|| dup(invited.page).unwrap(), || dup(invited.event).unwrap());
    assert_eq!(code(page(), invited.index, event()), Ok(()));
    let refused = Err(Code::InvalidValue);
    for index in [64, 1 << 20, u32::MAX] {
        assert_eq!(code(page(), index, event()), refused);
    }
    let blocking = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    assert_eq!(code(page(), 0, blocking), refused);
    assert_eq!(code(page(), 0, page()), refused);
    assert_eq!(code(page(), 0, std::fs::File::open("/dev/null").unwrap().into()), refused);
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::NONBLOCK).unwrap();
    assert_eq!(code(page(), 0, read), refused);
    assert_eq!(code(page(), 0, write), refused);
    let large = Segment::create("test", 8192).unwrap();
    assert_eq!(code(dup(large.fd()).unwrap(), 0, event()), refused);
    assert_eq!(code(event(), 0, event()), refused);
    assert!(Doorbell::with_event(eventfd(0, EventfdFlags::CLOEXEC).unwrap()).is_err());
    assert!(Doorbell::with_event(eventfd(0, EventfdFlags::NONBLOCK).unwrap()).is_ok());
}

/// Flags of a descriptor are shared with whoever has it: a peer can make it one that blocks.
#[test]
fn a_peer_that_changes_the_descriptor_does_not_stop_the_owner() {
    let bell = Doorbell::new().unwrap();
    let ringer = accept(&bell);
    let theirs = dup(bell.event()).unwrap();
    let (done, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        rustix::fs::fcntl_setfl(&theirs, rustix::fs::OFlags::empty()).unwrap();
        bell.arm();
        bell.disarm();
        bell.arm();
        // As full as it gets: one more would wait until somebody reads.
        rustix::io::write(&theirs, &(u64::MAX - 1).to_ne_bytes()).unwrap();
        ringer.ring();
        bell.arm();
        bell.ring();
        bell.disarm();
        done.send(is_readable(bell.event())).unwrap();
    });
    let readable = end.recv_timeout(std::time::Duration::from_secs(60)).expect("the owner waits");
    assert!(!readable, "what was there was taken");
}
