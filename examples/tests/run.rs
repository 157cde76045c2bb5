//! Runs every example.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(Duration::from_secs(300));
        eprintln!("watchdog: an example hangs");
        std::process::abort();
    });
}

/// Cargo builds the examples of a package before its tests.
fn program(name: &str) -> PathBuf {
    let mut path = std::env::current_exe().expect("this test has a path");
    path.pop();
    path.pop();
    path.join("examples").join(name)
}

fn run(name: &str, arguments: &[&str], says: &str) {
    watchdog();
    let output = Command::new(program(name))
        .args(arguments)
        .env_remove("SOFTDPU_CONFIG")
        .env_remove("SOFTDPU_PROFILE")
        .env_remove("SOFTDPU_SIDE")
        .output()
        .expect("the example is there");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} {arguments:?}: {}\n{text}\n{errors}", output.status);
    assert!(text.contains(says), "{name} {arguments:?} does not say {says:?}:\n{text}");
}

#[test]
fn dma_copy() {
    run("dma_copy", &[], "every byte is the same");
    run("dma_copy", &["0000:b1:00.1"], "7 stopped");
}

#[test]
fn textbook_first() {
    run("textbook_first", &[], "the device read 1500 bytes");
    run("textbook_first", &[], "phase 4: DOCA_ERROR_INVALID_VALUE");
}

#[test]
fn textbook_second() {
    run_two("textbook_second", &["1024 bytes written, 0 in flight", "every byte has arrived"]);
}

#[test]
fn l2_forward() {
    run("l2_forward", &[], "10000 frames forwarded, in order");
}

#[test]
fn flow_counter() {
    run("flow_counter", &[], "10 flows, 55 packets, 0 with wrong checksums");
}

#[test]
fn chains() {
    run("chains", &[], "scatter 30 bytes");
}

#[test]
fn event_driven() {
    run("event_driven", &[], "100 lines were copied");
}

/// Two processes in a runtime folder of their own.
fn run_two(name: &str, says: &[&str]) {
    run_in_folder(name, &[], says);
}

/// In a runtime folder of its own.
fn run_in_folder(name: &str, arguments: &[&str], says: &[&str]) {
    let folder = std::env::temp_dir().join(format!("softdpu-examples-{}-{name}", std::process::id()));
    watchdog();
    let output = Command::new(program(name))
        .args(arguments)
        .env("SOFTDPU_RUNTIME_DIR", &folder)
        .env_remove("SOFTDPU_CONFIG")
        .env_remove("SOFTDPU_PROFILE")
        .env_remove("SOFTDPU_SIDE")
        .output()
        .expect("the example is there");
    let _ = std::fs::remove_dir_all(&folder);
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {}\n{text}\n{errors}", output.status);
    for says in says {
        assert!(text.contains(says), "{name} does not say {says:?}:\n{text}\n{errors}");
    }
}

#[test]
fn two_sides() {
    run_two(
        "two_sides",
        &["reach: mapped", "card: stored 1048576 bytes", "the card has inverted 1048576 bytes"],
    );
}

#[test]
fn host_and_card() {
    let says = ["card: 10000 blocks came", "31415926 add up to 31", "host: so do we"];
    run_two("host_and_card", &says);
}

#[test]
fn sync_event() {
    run_two("sync_event", &["card: 10000 turns", "host: 10000 turns"]);
}

#[test]
fn shared_hugepage() {
    let both = ["second process sees: written by the first", "first process sees: written by the second"];
    run_two("shared_hugepage", &both);
}

#[test]
fn two_engines_two_threads() {
    run("two_engines_two_threads", &[], "10000 buffers");
}

#[test]
#[cfg(feature = "tokio")]
fn tokio() {
    run("tokio", &[], "100 of 100");
}

#[test]
fn caps() {
    run("caps", &["all"], "10000000 bytes copied");
    run("caps", &["bf2"], "pieces of 1048576 bytes");
    run("caps", &["bf3"], "10000000 bytes copied");
    run("caps", &["cx7"], "the processor does");
}

#[test]
fn rdma_ping_pong() {
    run_in_folder("rdma_ping_pong", &[], &["1000 messages there and back"]);
    run_in_folder("rdma_ping_pong", &["two"], &["1000 messages there and back"]);
}

#[test]
fn rdma_kv() {
    run_in_folder("rdma_kv", &[], &["500 values found by"]);
    run_in_folder("rdma_kv", &["two"], &["500 values found by"]);
}

/// A program that runs until somebody ends it.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn tool(line: &str) -> bool {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().expect("a line has a word"));
    command.args(words).output().is_ok_and(|output| output.status.success())
}

/// The program at a TAP interface, and this machine's own tools at the other end, in a network name space of their own.
#[test]
fn udp_echo() {
    const INSIDE: &str = "SOFTDPU_EXAMPLES_INSIDE";
    if std::env::var_os(INSIDE).is_some() {
        return echoes();
    }
    if !tool("unshare -n true") {
        println!("skipped: no right, or no tool, to make a network name space");
        return;
    }
    watchdog();
    let mut inside = Command::new("unshare");
    inside.arg("-n").arg(std::env::current_exe().expect("this test has a path"));
    inside.args(["--exact", "udp_echo", "--nocapture"]);
    assert!(inside.env(INSIDE, "1").status().expect("it ran a moment ago").success());
}

fn echoes() {
    watchdog();
    if !tool("ip tuntap add sd0 mode tap") {
        println!("skipped: no tool, or no driver, to make a TAP interface");
        return;
    }
    assert!(tool("ip addr add 192.0.2.1/24 dev sd0") && tool("ip link set sd0 up"));
    let folder = std::env::temp_dir().join(format!("softdpu-examples-{}-udp_echo", std::process::id()));
    let mut command = Command::new(program("udp_echo"));
    command.env("SOFTDPU_PORT_p0", "tap:sd0").env("SOFTDPU_RUNTIME_DIR", &folder);
    for name in ["SOFTDPU_CONFIG", "SOFTDPU_PROFILE", "SOFTDPU_SIDE"] {
        command.env_remove(name);
    }
    let mut server = Server(command.stdout(Stdio::piped()).spawn().expect("the example is there"));
    let mut said = String::new();
    BufReader::new(server.0.stdout.take().expect("it is piped")).read_line(&mut said).expect("text");
    assert_eq!(said, "192.0.2.2 answers\n");

    let socket = UdpSocket::bind("192.0.2.1:0").expect("the address is there");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a time");
    socket.connect("192.0.2.2:7").expect("a route");
    for len in [1, 2, 17, 100, 1471, 1472] {
        let sent: Vec<u8> = (0..len).map(|at| (at * 7 + len) as u8).collect();
        let mut got = [0; 2048];
        socket.send(&sent).expect("it is sent");
        let n = socket.recv(&mut got).expect("an answer");
        assert!(got[..n] == sent, "other bytes came back of {len}: {n}");
    }
    if !tool("ping -V") {
        println!("pings skipped: no ping here");
    } else {
        assert!(tool("ping -c 3 -i 0.2 -W 20 192.0.2.2"));
        assert!(tool("ping -c 1 -s 1472 -W 20 192.0.2.2"));
        // Somebody else's address is not answered for.
        assert!(!tool("ping -c 1 -W 1 192.0.2.3"));
    }
    assert!(server.0.try_wait().expect("a child").is_none(), "it has ended by itself");
    drop(server);
    let _ = std::fs::remove_dir_all(&folder);
}
