//! Ports with the kernel behind them: each test in a network name space of its own, with interfaces of its own. Skipped,
//! with the reason, where name spaces cannot be made or a tool is missing.

mod common;
#[path = "../../link/tests/common/mod.rs"]
mod process;

use common::{Count, frame, receive, send};
use process::{Process, alone, role, say, until};
use softdpu_card::{Function, Machine};
use softdpu_net::steer::{Action, Match, Rules};
use softdpu_net::{Inlet, InletSetup, Link, Port, Sent, Taken, checksum, port};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const INSIDE: &str = "SOFTDPU_NET_TEST_INSIDE";

/// Runs the body of a test in a network name space that it has to itself.
fn in_namespace(test: &str, body: impl FnOnce()) {
    alone(test, || {
        if std::env::var_os(INSIDE).is_some() {
            return body();
        }
        if !run("unshare", &["-n", "true"]) {
            println!("skipped: no right, or no tool, to make a network name space");
            return;
        }
        let mut inside = Command::new("unshare");
        inside.arg("-n").arg(std::env::current_exe().unwrap()).args(["--exact", test, "--nocapture"]);
        assert!(inside.env(INSIDE, "1").status().unwrap().success());
    });
}

fn run(tool: &str, arguments: &[&str]) -> bool {
    Command::new(tool).args(arguments).output().is_ok_and(|output| output.status.success())
}

fn ip(line: &str) {
    let arguments: Vec<_> = line.split(' ').collect();
    assert!(run("ip", &arguments), "ip {line}");
}

/// A pair of interfaces that are wired to each other.
fn pair() {
    ip("link add va type veth peer name vb");
    for name in ["va", "vb"] {
        // Its own chatter would only be in the way.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
        ip(&format!("link set {name} up"));
    }
}

/// Card functions p0, p1 and so on with these backends.
fn functions(backends: &[&str]) -> Vec<Arc<Function>> {
    let mut text = "[[card]]\n".to_owned();
    for (number, backend) in backends.iter().enumerate() {
        let (kind, detail) = backend.split_once(':').unwrap_or((backend, ""));
        text +=
            &format!("[[card.function]]\nside = \"dpu\"\npci = \"03:00.{number}\"\nbackend = \"{kind}\"\n");
        for part in detail.split(',').filter(|part| !part.is_empty()) {
            let (key, value) = part.split_once('=').unwrap_or(("interface", part));
            text += &format!("{key} = \"{value}\"\n");
        }
    }
    Machine::builder().config_text(text).build().unwrap().functions().to_vec()
}

/// A queue for the frames of these tests, and nothing else.
fn inlet(port: &Arc<Port>, wakes: &Arc<Count>) -> Inlet {
    let inlet = port.inlet(InletSetup::new(wakes.clone())).unwrap();
    let number = inlet.queue().number();
    let rules = Rules::new().rule(Match::any().ether_type(0x88b5), Action::queue(number));
    port.steer(Some(Arc::new(rules.compile().unwrap())));
    inlet
}

fn carries(backend: &str) {
    pair();
    let functions = functions(&[&format!("{backend}:va"), &format!("{backend}:vb")]);
    let ports = [port(&functions[0]), port(&functions[1])];
    let wakes = [Arc::new(Count::default()), Arc::new(Count::default())];
    let mut inlets = [inlet(&ports[0], &wakes[0]), inlet(&ports[1], &wakes[1])];
    let mut outlets = [ports[0].outlet().unwrap(), ports[1].outlet().unwrap()];
    assert_eq!(ports[0].mtu(), 1500);
    for (from, to) in [(0, 1), (1, 0)] {
        let mut frames: Vec<_> =
            (0..100).map(|number| frame(number, [60, 129, 1514][number as usize % 3])).collect();
        // A VLAN tag is still there, though the kernel takes it out on the way.
        frames[50].splice(12..12, [0x81, 0, 0x60, 7]);
        let mut got = Vec::new();
        for part in frames.chunks(40) {
            send(&mut outlets[from], part);
            until("frames", || {
                got.extend(receive(&mut inlets[to]));
                !got.is_empty() && got.len() % 40 == part.len() % 40
            });
        }
        assert!(got == frames, "other frames arrived");
        // Woken while asleep.
        let before = wakes[to].0.load(Ordering::Relaxed);
        until("silence", || {
            inlets[to].arm();
            let silent = !inlets[to].is_ready();
            receive(&mut inlets[to]);
            silent
        });
        let slept = wakes[to].0.load(Ordering::Relaxed);
        assert!(slept - before <= 1);
        inlets[to].arm();
        send(&mut outlets[from], &frames[..1]);
        until("a wake", || wakes[to].0.load(Ordering::Relaxed) > before);
        until("the frame", || receive(&mut inlets[to]) == frames[..1]);
        assert_eq!(ports[from].counters().tx_lost, 0);
    }
    // Too long, too short.
    let mut batch = outlets[0].batch();
    assert_eq!(batch.send(&[&[0; 1523]]), Sent::Bad);
    assert_eq!(batch.send(&[&[0; 13]]), Sent::Bad);
    drop(batch);
    // The interface goes down and comes up again.
    assert_eq!(ports[0].link(), Link::Up);
    ip("link set va down");
    assert_eq!(ports[0].link(), Link::Down);
    until("the end of the carrier", || ports[1].link() == Link::Down);
    send(&mut outlets[0], &[frame(0, 60)]);
    assert!(receive(&mut inlets[1]).is_empty() && receive(&mut inlets[0]).is_empty());
    ip("link set va up");
    until("the link", || ports[0].link() == Link::Up);
    until("frames again", || {
        send(&mut outlets[0], &[frame(1, 60)]);
        receive(&mut inlets[1]).contains(&frame(1, 60))
    });
    // Queues end and begin again.
    drop(inlets);
    let mut again = inlet(&ports[1], &wakes[1]);
    until("frames for a new queue", || {
        send(&mut outlets[0], &[frame(2, 60)]);
        receive(&mut again).contains(&frame(2, 60))
    });
}

#[test]
fn packet_sockets_carry_frames() {
    in_namespace("packet_sockets_carry_frames", || carries("packet"));
}

#[test]
fn af_xdp_carries_frames() {
    in_namespace("af_xdp_carries_frames", || {
        pair();
        let probe = port(&functions(&["afxdp:va"])[0]);
        match probe.inlet(InletSetup::new(Arc::new(Count::default()))) {
            Err(error) if error.code() == softdpu_status::Code::NotSupported => {
                println!("skipped: this kernel has no AF_XDP");
                return;
            }
            other => drop(other.unwrap()),
        }
        drop(probe);
        ip("link del va");
        carries("afxdp");
    });
}

#[test]
fn a_flood_is_counted_and_does_not_block() {
    in_namespace("a_flood_is_counted_and_does_not_block", || {
        pair();
        let functions = functions(&["packet:va", "packet:vb"]);
        let (p0, p1) = (port(&functions[0]), port(&functions[1]));
        let mut inlet = inlet(&p1, &Arc::new(Count::default()));
        let mut outlet = p0.outlet().unwrap();
        const COUNT: u32 = 30_000;
        for first in (0..COUNT).step_by(100) {
            send(&mut outlet, &(first..first + 100).map(|number| frame(number, 1000)).collect::<Vec<_>>());
        }
        let mut last = None;
        let mut got = 0;
        until("the end of the flood", || {
            for bytes in receive(&mut inlet) {
                let number = u32::from_be_bytes(bytes[14..18].try_into().unwrap());
                assert!(last < Some(number) && bytes == frame(number, 1000));
                last = Some(number);
                got += 1;
            }
            got + p1.counters().rx_missed == u64::from(COUNT)
        });
        assert!(p1.counters().rx_missed > 0, "4 MiB hold no {COUNT} frames");
    });
}

#[test]
fn ping_reaches_a_program_through_a_tap() {
    in_namespace("ping_reaches_a_program_through_a_tap", || {
        let functions = functions(&["tap:sd0"]);
        let port = port(&functions[0]);
        let wakes = Arc::new(Count::default());
        let inlet = match port.inlet(InletSetup::new(wakes)) {
            Err(error) if error.code() == softdpu_status::Code::NotFound => {
                println!("skipped: this kernel has no TAP interfaces");
                return;
            }
            inlet => inlet.unwrap(),
        };
        let number = inlet.queue().number();
        port.steer(Some(Arc::new(Rules::all_to(number).compile().unwrap())));
        ip("addr add 192.0.2.1/24 dev sd0");
        until("the link", || port.link() == Link::Up);
        // Another process cannot have it, too.
        let mut other = Process::start("open", "tap:sd0");
        assert_eq!(other.hear(), "InUse");
        let done = Arc::new(std::sync::atomic::AtomicBool::new(false));
        let answers = std::thread::spawn({
            let (done, port) = (Arc::clone(&done), Arc::clone(&port));
            move || answer(inlet, &port, &done)
        });
        let ping = Command::new("ping").args(["-c", "3", "-i", "0.2", "-W", "20", "192.0.2.2"]).output();
        done.store(true, Ordering::Relaxed);
        let echoes = answers.join().unwrap();
        match ping {
            Err(_) => println!("skipped: no ping here"),
            Ok(ping) => {
                assert!(ping.status.success(), "{}", String::from_utf8_lossy(&ping.stdout));
                assert!(echoes >= 3, "{echoes}");
            }
        }
    });
}

/// Answers ARP and echo requests for 192.0.2.2 until `done`; returns the echoes.
fn answer(mut inlet: Inlet, port: &Arc<Port>, done: &std::sync::atomic::AtomicBool) -> u32 {
    let mut outlet = port.outlet().unwrap();
    let mut echoes = 0;
    while !done.load(Ordering::Relaxed) {
        let mut replies = Vec::new();
        inlet.receive(16, |frame| {
            let mut bytes = frame.bytes().to_vec();
            let sender: [u8; 6] = bytes[6..12].try_into().unwrap();
            bytes[..6].copy_from_slice(&sender);
            bytes[6..12].copy_from_slice(&port.mac());
            if bytes[12..14] == [8, 6] && bytes[21] == 1 && bytes[38..42] == [192, 0, 2, 2] {
                let asker: [u8; 10] = bytes[22..32].try_into().unwrap();
                bytes[21] = 2;
                bytes[22..28].copy_from_slice(&port.mac());
                bytes[28..32].copy_from_slice(&[192, 0, 2, 2]);
                bytes[32..42].copy_from_slice(&asker);
                replies.push(bytes);
            } else if bytes[12..14] == [8, 0] && bytes[23] == 1 && bytes[34] == 8 {
                let (src, dst) = (bytes[26..30].to_vec(), bytes[30..34].to_vec());
                bytes[26..30].copy_from_slice(&dst);
                bytes[30..34].copy_from_slice(&src);
                bytes[34] = 0;
                bytes[36..38].fill(0);
                let sum = !checksum::fold(checksum::sum(&bytes[34..]));
                bytes[36..38].copy_from_slice(&sum.to_be_bytes());
                echoes += 1;
                replies.push(bytes);
            }
            Taken::Yes
        });
        if !replies.is_empty() {
            send(&mut outlet, &replies);
        }
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
    echoes
}

#[test]
fn capture_files_are_written_and_read() {
    alone("capture_files_are_written_and_read", || {
        let folder = std::path::PathBuf::from(std::env::var_os("SOFTDPU_RUNTIME_DIR").unwrap());
        let path = folder.join("out.pcap");
        let frames: Vec<_> = (0..5).map(|number| frame(number, 60 + number as usize)).collect();
        let text = path.display().to_string();
        {
            let functions = functions(&[&format!("pcap:pcap_write={text}")]);
            let port = port(&functions[0]);
            send(&mut port.outlet().unwrap(), &frames);
            let mut silent = inlet(&port, &Arc::new(Count::default()));
            assert!(!silent.is_ready() && receive(&mut silent).is_empty());
        }
        match Command::new("tcpdump").args(["-r", &text, "-e", "-n"]).output() {
            Err(_) => println!("skipped: no tcpdump here"),
            Ok(output) => {
                let lines = String::from_utf8_lossy(&output.stdout).into_owned();
                let frames = lines.lines().filter(|line| line.contains("02:00:00:00:00:01"));
                assert_eq!(frames.count(), 5, "{lines}{}", String::from_utf8_lossy(&output.stderr));
            }
        }
        let read_all = |path: &str| {
            let functions = functions(&[&format!("pcap:pcap_read={path}")]);
            let port = port(&functions[0]);
            let mut inlet = inlet(&port, &Arc::new(Count::default()));
            send(&mut port.outlet().unwrap(), &frames[..1]);
            assert_eq!(port.counters().tx_lost, 1, "nothing is written");
            receive(&mut inlet)
        };
        assert_eq!(read_all(&text), frames);
        // Cut off in the middle of a frame: what is whole is read.
        let bytes = std::fs::read(&path).unwrap();
        let cut = folder.join("cut.pcap");
        std::fs::write(&cut, &bytes[..bytes.len() - 10]).unwrap();
        assert_eq!(read_all(&cut.display().to_string()), frames[..4]);
        std::fs::write(&cut, b"no capture file at all").unwrap();
        let bad = port(&functions(&[&format!("pcap:pcap_read={}", cut.display())])[0]);
        let refused =
            |port: &Arc<Port>| port.inlet(InletSetup::new(Arc::new(Count::default()))).unwrap_err().code();
        assert_eq!(refused(&bad), softdpu_status::Code::InvalidValue);
        let missing = port(&functions(&["pcap:pcap_read=/nonexistent/in.pcap"])[0]);
        assert_eq!(refused(&missing), softdpu_status::Code::NotFound);
    });
}

// ---- Refusals ---------------------------------------------------------------------------------------

#[test]
fn roles() {
    let Some((role, backend)) = role() else { return };
    assert_eq!(role, "open");
    let port = port(&functions(&[&backend])[0]);
    match port.inlet(InletSetup::new(Arc::new(Count::default()))) {
        Ok(_) => say("opened"),
        Err(error) => say(format!("{:?}", error.code())),
    }
}

#[test]
fn what_is_not_there_or_not_allowed_is_refused() {
    in_namespace("what_is_not_there_or_not_allowed_is_refused", || {
        for backend in ["packet:no-such-if", "afxdp:no-such-if"] {
            let port = port(&functions(&[backend])[0]);
            let code = port.inlet(InletSetup::new(Arc::new(Count::default()))).unwrap_err().code();
            assert_eq!(code, softdpu_status::Code::NotFound, "{backend}");
            assert_eq!(port.outlet().unwrap_err().code(), softdpu_status::Code::NotFound, "{backend}");
        }
        // The same without capabilities, when there is a tool that takes them away.
        let exe = std::env::current_exe().unwrap();
        let drop = ["--bounding-set=-all", "--inh-caps=-all", "--"];
        if !run("setpriv", &[&drop[..], &["true"]].concat()) {
            println!("skipped: no setpriv here");
            return;
        }
        pair();
        for backend in ["packet:lo", "afxdp:va", "tap:sd9"] {
            let output = Command::new("setpriv")
                .args(drop)
                .arg(&exe)
                .args(["--exact", "roles", "--nocapture"])
                .env("SOFTDPU_LINK_ROLE", "open")
                .env("SOFTDPU_LINK_ARGUMENT", backend)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(said.contains("@NotPermitted"), "{backend}: {said}");
        }
    });
}
