//! Two endpoints in one process, over the loopback interface.

use super::*;
use crate::ffi::Gate;
use std::time::{Duration, Instant};

fn pair() -> Option<(Plug, Plug)> {
    let library = match Library::get() {
        Ok(library) => library,
        Err(why) => {
            eprintln!("skipped: {why}");
            return None;
        }
    };
    let ip = "127.0.0.1".parse().unwrap();
    let mut gate = Gate::open(library, "tcp", ip).unwrap();
    let mut there = Plug::dial(library, "tcp", ip, gate.port().unwrap()).unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    let mut here = None;
    while here.as_ref().map(Plug::state) != Some(State::Open) || there.state() != State::Open {
        assert!(Instant::now() < end, "they do not meet");
        match &mut here {
            None => here = gate.poll().unwrap(),
            Some(here) => here.poll(true, |_| panic!("a message out of nowhere")),
        }
        there.poll(true, |_| panic!("a message out of nowhere"));
    }
    Some((here.unwrap(), there))
}

fn wait(plug: &mut Plug, other: &mut Plug) -> Got {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        assert!(Instant::now() < end, "no message");
        other.poll(false, |_| panic!("a message out of nowhere"));
        let mut first = None;
        plug.poll(false, |got| assert!(first.replace(got).is_none(), "two messages"));
        if let Some(got) = first {
            return got;
        }
    }
}

#[test]
fn short_messages_are_gone_at_once_up_to_a_number() {
    let Some((mut a, mut b)) = pair() else { return };
    if a.copies < 16 {
        eprintln!("skipped: the provider copies at most {} bytes", a.copies);
        return;
    }
    for number in 0..=MOST_UNSURE as u8 {
        let slot = a.take(Class::Request).unwrap();
        a.fill(slot)[..16].fill(number);
        a.send(slot, 16);
        assert_eq!(a.is_idle(), number < MOST_UNSURE as u8, "{number}");
        assert_eq!(a.is_unsure(), a.is_idle());
    }
    let end = Instant::now() + Duration::from_secs(60);
    let mut came = Vec::new();
    while came.len() <= MOST_UNSURE as usize || !a.is_idle() {
        assert!(Instant::now() < end, "{} messages came", came.len());
        a.poll(false, |_| panic!("a message out of nowhere"));
        b.poll(false, |got| came.push(got));
    }
    for (number, got) in (0..).zip(came) {
        assert_eq!(b.bytes(got), [number; 16]);
    }
}

#[test]
fn messages_come_as_they_were_sent_and_buffers_are_used_again() {
    let Some((mut a, mut b)) = pair() else { return };
    for round in 0..500usize {
        let len = [1, 16, 64, 4096, Shape::BYTES][round % 5];
        let class = if round % 3 == 0 { Class::Answer } else { Class::Request };
        let slot = loop {
            match a.take(class) {
                Some(slot) => break slot,
                None => a.poll(false, |_| panic!("a message out of nowhere")),
            }
        };
        let bytes: Vec<u8> = (0..len).map(|at| (at * 7 + round) as u8).collect();
        a.fill(slot)[..len].copy_from_slice(&bytes);
        a.send(slot, len);
        let got = wait(&mut b, &mut a);
        assert_eq!(b.bytes(got), bytes);
        b.give_back(got.slot);
    }
}

#[test]
fn who_hangs_up_is_noticed_and_sleepers_wake() {
    let Some((mut a, b)) = pair() else { return };
    while !a.may_sleep() {
        a.poll(true, |_| {});
    }
    drop(b);
    let [Some(one), Some(other)] = a.wait_fds() else { panic!("no descriptors") };
    let mut fds =
        [one, other].map(|fd| rustix::event::PollFd::from_borrowed_fd(fd, rustix::event::PollFlags::IN));
    let patience = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
    assert_ne!(rustix::event::poll(&mut fds, Some(&patience)).unwrap(), 0, "it sleeps on");
    let end = Instant::now() + Duration::from_secs(60);
    while a.state() != State::Closed {
        assert!(Instant::now() < end, "the end was not noticed");
        a.poll(true, |_| {});
    }
    // Whatever is done now harms nobody.
    let slot = a.take(Class::Request).unwrap();
    a.send(slot, 64);
}

#[test]
fn nobody_there_is_noticed() {
    let Ok(library) = Library::get() else { return };
    let ip = "127.0.0.1".parse().unwrap();
    // The port of a gate that is gone.
    let port = Gate::open(library, "tcp", ip).unwrap().port().unwrap();
    let Ok(mut plug) = Plug::dial(library, "tcp", ip, port) else { return };
    let end = Instant::now() + Duration::from_secs(60);
    while plug.state() != State::Closed {
        assert!(Instant::now() < end, "the refusal was not noticed");
        plug.poll(true, |_| panic!("a message out of nowhere"));
    }
}

#[test]
#[should_panic(expected = "the library has the buffer")]
fn a_buffer_that_is_being_sent_cannot_be_touched() {
    let Some((mut a, _b)) = pair() else { panic!("the library has the buffer: skipped") };
    let slot = a.take(Class::Request).unwrap();
    a.send(slot, 4096);
    a.fill(slot)[0] = 1;
}
