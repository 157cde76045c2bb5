//! Processes ask each other: by number and by name, with descriptors, with lines that stay.

mod common;

use common::{Process, WATCHDOG, alone, listen, role, say, until};
use softdpu_link::{
    Answer, Desk, LineHandle, Owner, Peer, Segment, Tie, Topic, ask, call, ensure, keep, processes, serve,
};
use softdpu_status::Code;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TOPIC: Topic = Topic(100);

/// Answers with the request, backwards, and the descriptors that came with it; adds one to the first word of the segment.
struct Mirror;

impl Desk for Mirror {
    fn ask(&self, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Answer {
        assert!(peer.pid > 0);
        assert_eq!(std::thread::current().name(), Some("softdpu-link"));
        for fd in &fds {
            let segment = Segment::from_fd(fd.try_clone().unwrap(), 64).unwrap();
            segment.word64(0).fetch_add(1, SeqCst);
        }
        Answer { bytes: request.iter().rev().copied().collect(), fds, tie: None }
    }
}

/// Ties every line; answers each message with its length; on "bye" hangs up.
#[derive(Default)]
struct Host {
    tied: AtomicU32,
    gone: AtomicU32,
    handles: Mutex<Vec<LineHandle>>,
}

struct Guest(Arc<Host>, Option<LineHandle>);

struct HostDesk(Arc<Host>);

impl Desk for HostDesk {
    fn ask(&self, _: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        Answer { bytes: request.to_vec(), fds: Vec::new(), tie: Some(Box::new(Guest(self.0.clone(), None))) }
    }
}

impl Tie for Guest {
    fn tied(&mut self, line: LineHandle) {
        self.0.tied.fetch_add(1, SeqCst);
        self.0.handles.lock().unwrap().push(line.clone());
        self.1 = Some(line);
    }

    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if bytes == b"bye" {
            self.1.as_ref().unwrap().hang_up();
            return None;
        }
        assert_ne!(bytes, b"panic", "as the test wants");
        Some(bytes.len().to_string().into_bytes())
    }

    fn gone(&mut self) {
        self.0.gone.fetch_add(1, SeqCst);
    }
}

fn owner(text: &str) -> Owner {
    let (pid, started) = text.split_once(' ').unwrap();
    Owner { pid: pid.parse().unwrap(), started: started.parse().unwrap() }
}

#[test]
fn timers_are_called_when_they_are_due_and_not_before() {
    alone("timers_are_called_when_they_are_due_and_not_before", || {
        let (send, receive) = std::sync::mpsc::channel();
        let begun = std::time::Instant::now();
        for millis in [150, 0, 50, 100] {
            let send = send.clone();
            let delay = Duration::from_millis(millis);
            softdpu_link::after(delay, move || {
                assert_eq!(std::thread::current().name(), Some("softdpu-link"));
                assert!(begun.elapsed() >= delay, "{millis} ms");
                send.send(millis).unwrap();
            });
        }
        softdpu_link::after(Duration::ZERO, || panic!("on purpose: hurts nobody"));
        let due: Vec<_> = (0..4).map(|_| receive.recv_timeout(WATCHDOG).unwrap()).collect();
        assert_eq!(due, [0, 50, 100, 150]);
    });
}

#[test]
fn roles() {
    let Some((role, argument)) = role() else { return };
    match &role[..] {
        "mirror" => {
            serve(TOPIC, &Mirror);
            let me = ensure().unwrap();
            say(format_args!("{} {}", me.pid, me.started));
            listen();
        }
        "named mirror" => {
            let listener = softdpu_link::listen(&argument, Arc::new(Mirror)).map_err(|e| e.code());
            say(format_args!("{:?}", listener.as_ref().map(|_| ())));
            listen();
        }
        _ => panic!("no role {role}"),
    }
}

#[test]
fn a_request_with_descriptors_crosses_processes() {
    alone("a_request_with_descriptors_crosses_processes", || {
        let mut mirror = Process::start("mirror", "");
        let owner = owner(&mirror.hear());
        assert_eq!(owner.pid, mirror.pid());
        assert_eq!(processes(), [owner]);
        let segment = Segment::create("test", 4096).unwrap();
        for n in 0..=softdpu_link::MAX_FDS {
            let fds = vec![segment.fd(); n];
            let (bytes, back, line) = ask(owner, TOPIC, b"abc", &fds, WATCHDOG).unwrap();
            assert_eq!((&bytes[..], back.len()), (&b"cba"[..], n));
            assert_eq!(line.peer().pid, owner.pid);
            for fd in back {
                assert!(rustix::io::fcntl_getfd(&fd).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
                assert_eq!(
                    Segment::from_fd(fd, 4096).unwrap().word64(0).load(SeqCst),
                    (n * (n + 1) / 2) as u64
                );
            }
            // Without a tie the line ends with the answer.
            assert_eq!(line.receive(None).unwrap_err().code(), Code::ConnectionReset);
        }
        let long = vec![7; softdpu_link::MAX_REQUEST];
        assert_eq!(ask(owner, TOPIC, &long, &[], WATCHDOG).unwrap().0, long);
        assert!(ask(owner, TOPIC, &[], &[], WATCHDOG).unwrap().0.is_empty());
        let code = |result: softdpu_status::Result<_>| {
            result.map(|_: (Vec<u8>, Vec<OwnedFd>, _)| ()).unwrap_err().code()
        };
        assert_eq!(
            code(ask(owner, TOPIC, &[0; softdpu_link::MAX_REQUEST + 1], &[], WATCHDOG)),
            Code::InvalidValue
        );
        assert_eq!(code(ask(owner, TOPIC, &[], &[segment.fd(); 9], WATCHDOG)), Code::InvalidValue);
        assert_eq!(code(ask(owner, Topic(101), &[], &[], WATCHDOG)), Code::NotSupported);
        assert_eq!(code(ask(Owner { started: 0, ..owner }, TOPIC, &[], &[], WATCHDOG)), Code::NotFound);
        assert_eq!(code(call("nobody", &[], &[], WATCHDOG)), Code::NotFound);
        mirror.kill();
        assert_eq!(code(ask(owner, TOPIC, &[], &[], WATCHDOG)), Code::NotFound);
        assert_eq!(processes(), []);
    });
}

#[test]
fn a_process_asks_itself() {
    alone("a_process_asks_itself", || {
        serve(TOPIC, &Mirror);
        let me = ensure().unwrap();
        assert_eq!(ensure().unwrap(), me);
        assert_eq!(me, Owner::this_process().unwrap());
        assert_eq!(ask(me, TOPIC, b"xy", &[], WATCHDOG).unwrap().0, b"yx");
        assert_eq!(processes(), [me]);
    });
}

/// Handlers of the program run on threads of the program.
#[test]
fn the_service_thread_takes_no_signals() {
    let blocked = |task: &std::path::Path| {
        let status = std::fs::read_to_string(task.join("status")).unwrap();
        let mask = status.lines().find_map(|l| l.strip_prefix("SigBlk:")).unwrap();
        u64::from_str_radix(mask.trim(), 16).unwrap()
    };
    alone("the_service_thread_takes_no_signals", || {
        let mine = std::path::Path::new("/proc/thread-self");
        let before = blocked(mine);
        ensure().unwrap();
        assert_eq!(blocked(mine), before, "the caller's own mask");
        let tasks = || std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
        let is_it = |task: &std::path::PathBuf| {
            std::fs::read_to_string(task.join("comm")).is_ok_and(|name| name.trim() == "softdpu-link")
        };
        until("the thread has its name", || tasks().any(|task| is_it(&task)));
        let mask = blocked(&tasks().find(is_it).unwrap());
        for signal in (1..32).filter(|n| ![9, 19].contains(n)) {
            assert!(mask >> (signal - 1) & 1 == 1, "signal {signal} in {mask:#x}");
        }
    });
}

/// A desk that asks would wait for itself.
#[test]
fn the_service_thread_does_not_wait_for_itself() {
    struct Asks;
    impl Desk for Asks {
        fn ask(&self, _: &Peer, _: &[u8], _: Vec<OwnedFd>) -> Answer {
            let code = ask(ensure().unwrap(), TOPIC, b"", &[], WATCHDOG).map(|_| ()).unwrap_err().code();
            Answer { bytes: code.name().into(), ..Answer::default() }
        }
    }
    alone("the_service_thread_does_not_wait_for_itself", || {
        serve(TOPIC, &Asks);
        let (bytes, ..) = ask(ensure().unwrap(), TOPIC, b"", &[], WATCHDOG).unwrap();
        assert_eq!(bytes, Code::BadState.name().as_bytes());
    });
}

#[test]
fn one_at_a_time_listens_on_a_name_and_the_next_takes_over() {
    alone("one_at_a_time_listens_on_a_name_and_the_next_takes_over", || {
        let name = "any name / \0 \u{1f980} ".repeat(50);
        assert_eq!(call(&name, b"", &[], WATCHDOG).unwrap_err().code(), Code::NotFound);
        let first = softdpu_link::listen(&name, Arc::new(Mirror)).unwrap();
        assert_eq!(softdpu_link::listen(&name, Arc::new(Mirror)).unwrap_err().code(), Code::AlreadyExist);
        assert_eq!(call(&name, b"12", &[], WATCHDOG).unwrap().0, b"21");
        assert_eq!(call("another", b"", &[], WATCHDOG).unwrap_err().code(), Code::NotFound);
        drop(first);
        assert_eq!(call(&name, b"", &[], WATCHDOG).unwrap_err().code(), Code::NotFound);
        // One that is killed leaves its file behind.
        let name = "left behind";
        let mut other = Process::start("named mirror", name);
        assert_eq!(other.hear(), "Ok(())");
        assert_eq!(softdpu_link::listen(name, Arc::new(Mirror)).unwrap_err().code(), Code::AlreadyExist);
        other.kill();
        assert_eq!(call(name, b"", &[], WATCHDOG).unwrap_err().code(), Code::NotFound);
        let again = softdpu_link::listen(name, Arc::new(Mirror)).unwrap();
        assert_eq!(call(name, b"12", &[], WATCHDOG).unwrap().0, b"21");
        drop(again);
    });
}

/// Many processes want one name whose last owner was killed: one gets it, in every round.
#[test]
fn of_many_that_want_a_name_one_wins() {
    alone("of_many_that_want_a_name_one_wins", || {
        for round in 0..10 {
            let mut all: Vec<Process> = (0..6).map(|_| Process::start("named mirror", "wanted")).collect();
            let said: Vec<String> = all.iter_mut().map(Process::hear).collect();
            assert_eq!(said.iter().filter(|s| *s == "Ok(())").count(), 1, "round {round}: {said:?}");
            assert_eq!(
                said.iter().filter(|s| *s == "Err(AlreadyExist)").count(),
                5,
                "round {round}: {said:?}"
            );
            assert_eq!(call("wanted", b"12", &[], WATCHDOG).unwrap().0, b"21");
            // Killed, not ended.
            drop(all);
        }
    });
}

#[test]
fn files_of_the_dead_are_removed_and_no_others() {
    alone("files_of_the_dead_are_removed_and_no_others", || {
        let files = || {
            let folder = std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap();
            let all =
                std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
            let mut all: Vec<String> = all.filter(|name| name.ends_with(".sock")).collect();
            all.sort();
            all
        };
        let mut living = Process::start("mirror", "");
        let living_owner = owner(&living.hear());
        let mut named = Process::start("named mirror", "x");
        assert_eq!(named.hear(), "Ok(())");
        let mut dead = Process::start("mirror", "");
        dead.hear();
        dead.kill();
        named.kill();
        // Something that is not ours stays.
        let foreign =
            std::path::PathBuf::from(std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap()).join("other.sock");
        std::fs::write(&foreign, "x").unwrap();
        assert_eq!(files().len(), 5, "{:?}", files());
        // The service sweeps first of all; all of these are dead by their process numbers, or are looked at.
        let me = ensure().unwrap();
        let name = |owner: Owner| format!("{}-{}.sock", owner.pid, owner.started);
        let mut left = [name(living_owner), name(me), "other.sock".to_owned()];
        left.sort();
        until("the dead are gone", || files() == left);
        living.kill();
        assert_eq!(processes(), [me]);
        assert_eq!(files(), [name(me), "other.sock".to_owned()]);
    });
}

#[test]
fn lines_stay_and_their_ends_are_told_once() {
    alone("lines_stay_and_their_ends_are_told_once", || {
        let host = Arc::new(Host::default());
        let listener = softdpu_link::listen("host", Arc::new(HostDesk(host.clone()))).unwrap();
        let (bytes, _, line) = call("host", b"hello", &[], WATCHDOG).unwrap();
        assert_eq!(bytes, b"hello");
        for n in 1..100 {
            line.send(&vec![0; n * 40], &[]).unwrap();
            assert_eq!(line.receive(None).unwrap().unwrap().0, (n * 40).to_string().as_bytes());
        }
        // From the other side, by its handle, and nothing comes by itself.
        assert!(line.receive(Some(std::time::Instant::now() + Duration::from_millis(20))).unwrap().is_none());
        until("tied", || host.tied.load(SeqCst) == 1);
        let handle = host.handles.lock().unwrap()[0].clone();
        handle.send(b"news", &[]).unwrap();
        assert_eq!(line.receive(None).unwrap().unwrap().0, b"news");
        assert_eq!(host.gone.load(SeqCst), 0);
        // The caller hangs up.
        drop(line);
        until("gone", || host.gone.load(SeqCst) == 1);
        assert_eq!(handle.send(b"x", &[]).unwrap_err().code(), Code::ConnectionReset);
        handle.hang_up();
        // The tie hangs up; a panic of the tie ends the line, too, and nothing else.
        for (round, word) in [&b"bye"[..], b"panic"].into_iter().enumerate() {
            let (_, _, line) = call("host", b"hello", &[], WATCHDOG).unwrap();
            line.send(word, &[]).unwrap();
            assert_eq!(line.receive(None).unwrap_err().code(), Code::ConnectionReset);
            until("gone", || host.gone.load(SeqCst) == 2 + round as u32);
        }
        // Lines outlive their listener.
        let (_, _, line) = call("host", b"hello", &[], WATCHDOG).unwrap();
        drop(listener);
        line.send(b"123", &[]).unwrap();
        assert_eq!(line.receive(None).unwrap().unwrap().0, b"3");
        drop(line);
        until("gone", || host.gone.load(SeqCst) == 4);
        assert_eq!(host.tied.load(SeqCst), 4);
    });
}

#[test]
fn the_caller_may_watch_its_end() {
    struct Watch(std::sync::mpsc::Sender<String>);
    impl Tie for Watch {
        fn tied(&mut self, line: LineHandle) {
            line.send(b"four", &[]).unwrap();
        }
        fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
            self.0.send(String::from_utf8(bytes.to_vec()).unwrap()).unwrap();
            None
        }
        fn gone(&mut self) {
            self.0.send("gone".to_owned()).unwrap();
        }
    }
    alone("the_caller_may_watch_its_end", || {
        let host = Arc::new(Host::default());
        let _listener = softdpu_link::listen("host", Arc::new(HostDesk(host.clone()))).unwrap();
        let (_, _, line) = call("host", b"hello", &[], WATCHDOG).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        let handle = keep(line, Box::new(Watch(send)));
        assert_eq!(receive.recv_timeout(WATCHDOG).unwrap(), "4");
        handle.send(b"bye", &[]).unwrap();
        assert_eq!(receive.recv_timeout(WATCHDOG).unwrap(), "gone");
        // The tie was dropped, and with it the sender.
        assert!(receive.recv_timeout(WATCHDOG).is_err());
        until("gone", || host.gone.load(SeqCst) == 1);
    });
}

#[test]
fn a_desk_that_panics_or_says_too_much_loses_the_one_connection() {
    struct Odd;
    impl Desk for Odd {
        fn ask(&self, _: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
            match request {
                b"panic" => panic!("as the test wants"),
                b"bytes" => Answer { bytes: vec![0; 1 << 20], ..Answer::default() },
                b"descriptors" => {
                    let segment = Segment::create("test", 64).unwrap();
                    let fds = (0..9).map(|_| segment.fd().try_clone_to_owned().unwrap()).collect();
                    Answer { fds, ..Answer::default() }
                }
                _ => Answer::default(),
            }
        }
    }
    alone("a_desk_that_panics_or_says_too_much_loses_the_one_connection", || {
        serve(TOPIC, &Odd);
        let me = ensure().unwrap();
        let (_, _, kept) = {
            let _listener = softdpu_link::listen("host", Arc::new(HostDesk(Arc::default()))).unwrap();
            call("host", b"hello", &[], WATCHDOG).unwrap()
        };
        let code = |word: &[u8]| ask(me, TOPIC, word, &[], WATCHDOG).map(|_| ()).map_err(|e| e.code());
        for _ in 0..3 {
            assert_eq!(code(b"panic"), Err(Code::Unexpected));
            assert_eq!(code(b"bytes"), Err(Code::ConnectionReset));
            assert_eq!(code(b"descriptors"), Err(Code::ConnectionReset));
            assert_eq!(code(b"fine"), Ok(()));
        }
        kept.send(b"12", &[]).unwrap();
        assert_eq!(kept.receive(None).unwrap().unwrap().0, b"2");
        assert!(kept.peer().uid == rustix::process::getuid().as_raw());
    });
}
