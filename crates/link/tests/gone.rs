//! Every tie learns exactly once that its peer is gone, whenever and however that goes.

mod common;
#[path = "common/raw.rs"]
mod raw;

use common::{Process, Random, alone, listen, role, say, until};
use raw::Raw;
use rustix::io::FdFlags;
use softdpu_link::{Answer, Desk, LineHandle, Owner, Peer, Tie, Topic, call, ensure, serve};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const TOPIC: Topic = Topic(100);

/// What became of each tie: how often it was told, and whether it was dropped.
#[derive(Default)]
struct Ends(Mutex<Vec<(u32, bool)>>, AtomicUsize);

struct End(usize, Arc<Ends>);

impl Tie for End {
    fn tied(&mut self, _: LineHandle) {
        assert_eq!(self.1.0.lock().unwrap()[self.0].0, 0, "tied after it was gone");
        self.1.1.fetch_add(1, SeqCst);
    }
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        assert_eq!(self.1.0.lock().unwrap()[self.0].0, 0, "a message after it was gone");
        Some(bytes.to_vec())
    }
    fn gone(&mut self) {
        self.1.0.lock().unwrap()[self.0].0 += 1;
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.1.0.lock().unwrap()[self.0].1 = true;
    }
}

struct Host(Arc<Ends>);

impl Desk for Host {
    fn ask(&self, _: &Peer, _: &[u8], _: Vec<OwnedFd>) -> Answer {
        let mut ends = self.0.0.lock().unwrap();
        ends.push((0, false));
        Answer { tie: Some(Box::new(End(ends.len() - 1, self.0.clone()))), ..Answer::default() }
    }
}

#[test]
fn roles() {
    let Some((role, argument)) = role() else { return };
    match &role[..] {
        // Connects, talks and hangs up without end.
        "guest" => {
            let mut random = Random(argument.parse().unwrap());
            let mut lines = Vec::new();
            say("here");
            loop {
                match random.below(4) {
                    0 => lines.push(call("host", b"x", &[], Duration::from_secs(60)).unwrap().2),
                    1 if !lines.is_empty() => drop(lines.swap_remove(random.below(lines.len()))),
                    _ => {
                        for line in &lines {
                            line.send(b"message", &[]).unwrap();
                            if random.below(2) == 0 {
                                line.receive(None).unwrap().unwrap();
                            }
                        }
                    }
                }
                if lines.len() > 8 {
                    lines.clear();
                }
            }
        }
        // Leaves a child that holds its connection open.
        "parent" => {
            let raw = Raw::connect(&argument).unwrap();
            rustix::io::fcntl_setfd(&raw.0, FdFlags::empty()).unwrap();
            raw.send(&raw::request(TOPIC.0, b"x"), &[]).unwrap();
            assert!(!raw.receive().is_empty());
            let child =
                std::process::Command::new("sleep").arg("1000").stdout(std::process::Stdio::null()).spawn();
            raw.send(b"last words", &[]).unwrap();
            say(child.unwrap().id());
            listen();
        }
        _ => panic!("no role {role}"),
    }
}

#[test]
fn peers_that_are_killed_are_gone_once() {
    alone("peers_that_are_killed_are_gone_once", || {
        let ends = Arc::new(Ends::default());
        let _listener = softdpu_link::listen("host", Arc::new(Host(ends.clone()))).unwrap();
        let mut random = Random(0x9999_8888_7777_1235);
        for _ in 0..15 {
            let mut guests: Vec<Process> =
                (0..4).map(|_| Process::start("guest", &random.next().to_string())).collect();
            for guest in &mut guests {
                assert_eq!(guest.hear(), "here");
            }
            for guest in &mut guests {
                std::thread::sleep(Duration::from_micros(random.below(8000) as u64));
                guest.kill();
            }
            drop(guests);
        }
        until("the end of every tie", || ends.0.lock().unwrap().iter().all(|end| end.0 > 0 && end.1));
        let all = ends.0.lock().unwrap();
        assert!(all.len() > 60, "{} lines", all.len());
        assert!(all.iter().all(|end| *end == (1, true)), "told more than once");
        assert!(ends.1.load(SeqCst) <= all.len());
    });
}

#[test]
fn a_peer_that_died_is_gone_though_its_child_holds_the_connection() {
    alone("a_peer_that_died_is_gone_though_its_child_holds_the_connection", || {
        let ends = Arc::new(Ends::default());
        serve(TOPIC, Box::leak(Box::new(Host(ends.clone()))));
        let Owner { pid, started } = ensure().unwrap();
        let mut parent = Process::start("parent", &format!("{pid}-{started}.sock"));
        let child: u32 = parent.hear().parse().unwrap();
        until("tied", || ends.1.load(SeqCst) == 1);
        assert_eq!(ends.0.lock().unwrap()[0], (0, false));
        parent.kill();
        until("gone", || ends.0.lock().unwrap()[0] == (1, true));
        let holds = || {
            let all = std::fs::read_dir(format!("/proc/{child}/fd")).unwrap();
            all.filter_map(|fd| std::fs::read_link(fd.ok()?.path()).ok())
                .any(|to| to.to_string_lossy().starts_with("socket:"))
        };
        assert!(holds(), "the child lives and holds it");
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(child.cast_signed()).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
    });
}
