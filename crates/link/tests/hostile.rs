//! Peers that keep to no rules: they lose their connections, and nobody else notices.

mod common;
#[path = "common/raw.rs"]
mod raw;

use common::{Process, Random, WATCHDOG, alone, listen, role, say, until};
use raw::{Raw, request};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use softdpu_link::{Answer, Desk, Line, Owner, Peer, Segment, Tie, Topic, ask, ensure, serve};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const TOPIC: Topic = Topic(100);
static TIED: AtomicU32 = AtomicU32::new(0);
static GONE: AtomicU32 = AtomicU32::new(0);

struct Host;
struct Echo;

impl Desk for Host {
    fn ask(&self, _: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        TIED.fetch_add(1, SeqCst);
        Answer { bytes: request.to_vec(), fds: Vec::new(), tie: Some(Box::new(Echo)) }
    }
}

impl Tie for Echo {
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        Some(bytes.to_vec())
    }
    fn gone(&mut self) {
        GONE.fetch_add(1, SeqCst);
    }
}

/// Keeps what the library says.
struct Lines(Mutex<Vec<String>>);

static LINES: Lines = Lines(Mutex::new(Vec::new()));

impl log::Log for Lines {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        self.0.lock().unwrap().push(record.args().to_string());
    }
    fn flush(&self) {}
}

/// Serves, with the lines of the log kept; the file name of its socket.
fn victim() -> (Owner, String) {
    log::set_logger(&LINES).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    serve(TOPIC, &Host);
    let owner = ensure().unwrap();
    (owner, format!("{}-{}.sock", owner.pid, owner.started))
}

fn about(pid: u32) -> Vec<String> {
    let lines = LINES.0.lock().unwrap();
    lines.iter().filter(|line| line.contains(&format!("process {pid}:"))).cloned().collect()
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// One that behaves is still answered.
fn assert_well(owner: Owner) -> Line {
    let (bytes, _, line) = ask(owner, TOPIC, b"well?", &[], WATCHDOG).unwrap();
    assert_eq!(bytes, b"well?");
    line
}

fn garbage(file: &str, random: &mut Random) {
    let segment = Segment::create("test", 4096).unwrap();
    let null = std::fs::File::open("/dev/null").unwrap();
    let mut lines = Vec::new();
    for _ in 0..4_000 {
        let Ok(raw) = Raw::connect(file) else { continue };
        for _ in 0..random.below(4) {
            let mut bytes = match random.below(4) {
                0 => request(TOPIC.0, &vec![1; random.below(4000)]),
                1 => request(random.next() as u16, b""),
                _ => (0..random.below(5000)).map(|_| random.next() as u8).collect(),
            };
            if random.below(3) == 0 {
                bytes.truncate(random.below(10));
            }
            if random.below(3) == 0 && !bytes.is_empty() {
                let at = random.below(bytes.len().min(8));
                bytes[at] = random.next() as u8;
            }
            let mut fds = Vec::new();
            if random.below(3) == 0 {
                let kinds = [segment.fd(), null.as_fd(), raw.0.as_fd()];
                fds = (0..random.below(20)).map(|_| kinds[random.below(3)]).collect();
            }
            let _ = raw.send(&bytes, &fds);
        }
        // Some stay open for a while, without a word.
        lines.push(raw);
        if lines.len() > 50 {
            lines.clear();
        }
    }
}

#[test]
fn roles() {
    let Some((role, argument)) = role() else { return };
    match &role[..] {
        "garbage" => {
            let (seed, file) = argument.split_once(' ').unwrap();
            garbage(file, &mut Random(seed.parse().unwrap()));
            say("done");
        }
        // Asks, then floods and never reads.
        "flood" => {
            let raw = Raw::connect(&argument).unwrap();
            raw.send(&request(TOPIC.0, b"x"), &[]).unwrap();
            let end = loop {
                match raw.send(&[7; 4000], &[]) {
                    Ok(()) => {}
                    Err(Errno::AGAIN) => std::thread::yield_now(),
                    Err(errno) => break errno,
                }
            };
            say(end == Errno::PIPE || end == Errno::CONNRESET);
        }
        // As many connections as go, and not a word.
        "silent" => {
            let raws: Vec<Raw> = (0..10_000).map_while(|_| Raw::connect(&argument).ok()).collect();
            say(raws.len());
            listen();
        }
        "stranger" => match Raw::connect(&argument) {
            Ok(raw) => {
                let _ = raw.send(&request(TOPIC.0, b"x"), &[]);
                say(format_args!("{} bytes", raw.receive().len()));
            }
            Err(errno) => say(if errno == Errno::ACCESS { "no way" } else { "another error" }),
        },
        _ => panic!("no role {role}"),
    }
}

#[test]
fn garbage_costs_only_its_own_connections() {
    alone("garbage_costs_only_its_own_connections", || {
        let (owner, file) = victim();
        let line = assert_well(owner);
        let before = descriptors();
        let seeds = [0x1111_2222_3333_4445u64, 0x7654_3210_fedc_ba99, 0xabcd_ef01_2345_6789];
        let mut all: Vec<Process> =
            seeds.map(|seed| Process::start("garbage", &format!("{seed} {file}"))).into_iter().collect();
        for process in &mut all {
            assert_eq!(process.hear(), "done");
            assert!(process.wait());
        }
        line.send(b"still here", &[]).unwrap();
        assert_eq!(line.receive(None).unwrap().unwrap().0, b"still here");
        // Nothing of what they sent is left: neither connections nor descriptors. (Their pipes are ours.)
        let pids: Vec<u32> = all.iter().map(Process::pid).collect();
        drop(all);
        until("the end of all connections", || descriptors() == before);
        assert_eq!(TIED.load(SeqCst), GONE.load(SeqCst) + 1);
        assert!(TIED.load(SeqCst) > 100, "some of it made sense");
        for pid in pids {
            assert_eq!(about(pid).len(), 1, "{:?}", about(pid));
        }
        assert_well(owner);
    });
}

#[test]
fn a_peer_that_does_not_read_is_dropped() {
    alone("a_peer_that_does_not_read_is_dropped", || {
        let (owner, file) = victim();
        let mut flood = Process::start("flood", &file);
        assert_eq!(flood.hear(), "true", "its connection was ended");
        until("gone", || GONE.load(SeqCst) == 1);
        let lines = about(flood.pid());
        assert!(lines.len() == 1 && lines[0].contains("does not read"), "{lines:?}");
        assert_well(owner);
    });
}

/// Few descriptors, and a peer that wants them all.
#[test]
fn silent_connections_do_not_use_descriptors_up() {
    alone("silent_connections_do_not_use_descriptors_up", || {
        let (owner, file) = victim();
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(256), ..before }).unwrap();
        let mut silent = Process::start_with("silent", &file, |_| ());
        let count: usize = silent.hear().parse().unwrap();
        assert!(count > 100, "{count} connections");
        drop(assert_well(owner));
        assert!(descriptors() < 200, "{} of 256 descriptors", descriptors());
        assert!(about(silent.pid()).len() <= 1);
        silent.kill();
        until("the end of all connections", || descriptors() < 40);
        drop(assert_well(owner));
    });
}

/// Without any descriptor left the caller is told, and the thread does not spin.
#[test]
fn without_descriptors_callers_are_refused() {
    alone("without_descriptors_callers_are_refused", || {
        let (owner, _) = victim();
        let line = assert_well(owner);
        let both_ends = descriptors();
        drop(line);
        until("the end of the line", || descriptors() == both_ends - 2);
        let before = getrlimit(Resource::Nofile);
        let spare = std::fs::File::open("/dev/null").unwrap();
        let mut hoard: Vec<OwnedFd> = Vec::new();
        setrlimit(Resource::Nofile, Rlimit { current: Some(64), ..before }).unwrap();
        while let Ok(fd) = rustix::io::dup(&spare) {
            hoard.push(fd);
        }
        hoard.pop();
        // One for the caller, none for the service.
        let refused = ask(owner, TOPIC, b"x", &[], Duration::from_secs(30)).map(|_| ()).unwrap_err();
        let code = refused.code();
        use softdpu_status::Code::{ConnectionReset, NoMemory};
        assert!([ConnectionReset, NoMemory].contains(&code), "{code:?}");
        drop(hoard);
        until("well again", || ask(owner, TOPIC, b"x", &[], WATCHDOG).is_ok());
    });
}

/// The runtime folder as it is made keeps others out already; here it is opened, and the socket, too.
#[test]
fn other_users_are_refused() {
    alone("other_users_are_refused", || {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can become another user");
            return;
        }
        let (owner, file) = victim();
        let folder = std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        std::fs::set_permissions(raw::path(&file), PermissionsExt::from_mode(0o666)).unwrap();
        let exe = std::env::current_exe().unwrap();
        let runs = std::process::Command::new(&exe)
            .arg("--list")
            .uid(65534)
            .stdout(std::process::Stdio::null())
            .status();
        if !runs.is_ok_and(|status| status.success()) {
            println!("skipped: another user cannot run {}", exe.display());
            return;
        }
        for _ in 0..3 {
            let mut stranger = Process::start_with("stranger", &file, |command| {
                command.uid(65534);
            });
            assert_eq!(stranger.hear(), "0 bytes");
            assert!(stranger.wait());
            let lines = about(stranger.pid());
            assert!(lines.len() == 1 && lines[0].contains("user 65534"), "{lines:?}");
        }
        assert_eq!(TIED.load(SeqCst), 0);
        // With the rights as they are made, it does not come that far.
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o700)).unwrap();
        let mut stranger = Process::start_with("stranger", &file, |command| {
            command.uid(65534);
        });
        assert_eq!(stranger.hear(), "no way");
        assert_well(owner);
    });
}

/// What the service thread has done so far: times it slept, nanoseconds it ran.
fn work() -> (u64, u64) {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let is_it = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path.join("comm")).is_ok_and(|name| name.trim() == "softdpu-link")
    };
    let path = tasks.into_iter().find(is_it).expect("the thread");
    let status = std::fs::read_to_string(path.join("status")).unwrap();
    let switches = status.lines().find_map(|l| l.strip_prefix("voluntary_ctxt_switches:")).unwrap();
    let ran = std::fs::read_to_string(path.join("schedstat")).unwrap_or_default();
    (switches.trim().parse().unwrap(), ran.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0))
}

#[test]
fn a_thousand_idle_lines_cost_nothing() {
    alone("a_thousand_idle_lines_cost_nothing", || {
        let limit = getrlimit(Resource::Nofile);
        let most = limit.maximum.unwrap_or(8192).min(8192);
        setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: limit.maximum }).unwrap();
        let (owner, _) = victim();
        let count = 1000.min(most as usize / 4);
        let lines: Vec<Line> = (0..count).map(|_| assert_well(owner)).collect();
        until("the thread sleeps", || {
            let before = work();
            std::thread::sleep(Duration::from_millis(20));
            work() == before
        });
        let before = work();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(work(), before, "it worked while nobody asked");
        assert!(before.0 > 10, "it slept {} times until now", before.0);
        for line in &lines {
            line.send(b"x", &[]).unwrap();
            assert_eq!(line.receive(None).unwrap().unwrap().0, b"x");
        }
        assert_ne!(work(), before);
        assert_eq!(GONE.load(SeqCst), 0);
        drop(lines);
        until("gone", || GONE.load(SeqCst) as usize == count);
        assert!(LINES.0.lock().unwrap().is_empty(), "{:?}", LINES.0.lock().unwrap());
    });
}
