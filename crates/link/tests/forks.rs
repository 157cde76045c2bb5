//! Children that were forked: before the service all is well, afterwards they are refused, and they disturb nobody.
#![expect(unsafe_code, reason = "forks")]

mod common;

use common::{Process, WATCHDOG, alone, listen, role, say};
use softdpu_link::{Answer, Desk, Owner, Peer, Tie, Topic, ask, call, ensure, keep, processes, serve};
use softdpu_status::Code;
use std::os::fd::OwnedFd;
use std::sync::Arc;

const TOPIC: Topic = Topic(100);

struct Echo;

impl Desk for Echo {
    fn ask(&self, _: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        Answer { bytes: request.to_vec(), ..Answer::default() }
    }
}

/// Runs `f` in a forked child, which ends without any destructor; true if it returned true.
fn in_child(f: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child only runs `f` and `_exit`; the C library makes its allocator usable there.
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0);
    if pid == 0 {
        let good = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).unwrap_or(false);
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!good)) };
    }
    let mut status = 0;
    // SAFETY: `status` is ours.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn roles() {
    let Some((role, _)) = role() else { return };
    assert_eq!(role, "leaves a child");
    serve(TOPIC, &Echo);
    let me = ensure().unwrap();
    let listener = softdpu_link::listen("inherited", Arc::new(Echo)).unwrap();
    // SAFETY: the child only reads, and ends.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        listen();
        // SAFETY: ends the child.
        unsafe { libc::_exit(0) };
    }
    say(format_args!("{} {}", me.pid, me.started));
    // Not `listen`, which the child does.
    std::thread::sleep(10 * WATCHDOG);
    drop(listener);
}

#[test]
fn a_child_of_before_is_a_process_like_others_and_one_of_afterwards_is_refused() {
    alone("a_child_of_before_is_a_process_like_others_and_one_of_afterwards_is_refused", || {
        serve(TOPIC, &Echo);
        let before = || {
            let me = ensure().unwrap();
            me.pid == std::process::id() && ask(me, TOPIC, b"x", &[], WATCHDOG).unwrap().0 == b"x"
        };
        assert!(in_child(before));
        let me = ensure().unwrap();
        let listener = softdpu_link::listen("name", Arc::new(Echo)).unwrap();
        let mut listener = Some(listener);
        let afterwards = || {
            let bad = |code: Code| assert_eq!(code, Code::BadState);
            bad(ensure().unwrap_err().code());
            bad(ask(me, TOPIC, b"x", &[], WATCHDOG).map(|_| ()).unwrap_err().code());
            bad(call("name", b"x", &[], WATCHDOG).map(|_| ()).unwrap_err().code());
            bad(softdpu_link::listen("other", Arc::new(Echo)).map(|_| ()).unwrap_err().code());
            // Must not take the parent's file away.
            drop(listener.take());
            processes().is_empty()
        };
        assert!(in_child(afterwards));
        assert_eq!(ask(me, TOPIC, b"x", &[], WATCHDOG).unwrap().0, b"x");
        assert_eq!(call("name", b"y", &[], WATCHDOG).unwrap().0, b"y");
        drop(listener);
        assert_eq!(call("name", b"y", &[], WATCHDOG).map(|_| ()).unwrap_err().code(), Code::NotFound);
    });
}

/// The child holds the sockets of its parent open: connections are made, and nobody answers.
#[test]
fn a_process_that_died_is_dead_though_its_child_holds_the_sockets() {
    alone("a_process_that_died_is_dead_though_its_child_holds_the_sockets", || {
        let mut parent = Process::start("leaves a child", "");
        let said = parent.hear();
        let (pid, started) = said.split_once(' ').unwrap();
        let owner = Owner { pid: pid.parse().unwrap(), started: started.parse().unwrap() };
        assert_eq!(processes(), [owner]);
        assert_eq!(call("inherited", b"y", &[], WATCHDOG).unwrap().0, b"y");
        parent.kill();
        let code = |result: softdpu_status::Result<(Vec<u8>, Vec<OwnedFd>, _)>| {
            result.map(|_| ()).unwrap_err().code()
        };
        assert_eq!(code(ask(owner, TOPIC, b"x", &[], WATCHDOG)), Code::NotFound);
        assert_eq!(code(call("inherited", b"y", &[], WATCHDOG)), Code::NotFound);
        let again = softdpu_link::listen("inherited", Arc::new(Echo)).unwrap();
        assert_eq!(call("inherited", b"z", &[], WATCHDOG).unwrap().0, b"z");
        assert_eq!(processes(), [ensure().unwrap()]);
        drop(again);
        // The child ends with the pipe of its parent.
    });
}

struct Held;

impl Desk for Held {
    fn ask(&self, _: &Peer, _: &[u8], _: Vec<OwnedFd>) -> Answer {
        Answer { tie: Some(Box::new(Back)), ..Answer::default() }
    }
}

/// Says the same again.
struct Back;

impl Tie for Back {
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
    fn gone(&mut self) {}
}

struct Ear(std::sync::mpsc::Sender<Vec<u8>>);

impl Tie for Ear {
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        self.0.send(bytes.to_vec()).unwrap();
        None
    }
    fn gone(&mut self) {}
}

/// Sockets are shared with children: what a child ends would be ended for its parent.
#[test]
fn a_child_does_not_hang_up_for_its_parent() {
    alone("a_child_does_not_hang_up_for_its_parent", || {
        serve(TOPIC, &Held);
        let me = ensure().unwrap();
        let (_, _, line) = ask(me, TOPIC, b"x", &[], WATCHDOG).unwrap();
        let (heard, words) = std::sync::mpsc::channel();
        let handle = keep(line, Box::new(Ear(heard)));
        let inherited = handle.clone();
        assert!(in_child(move || {
            inherited.hang_up();
            inherited.send(b"from a child", &[]).is_err()
        }));
        handle.send(b"still here", &[]).unwrap();
        assert_eq!(words.recv_timeout(WATCHDOG).unwrap(), b"still here");
    });
}
