//! Frames per second through every backend, beside the shortest loops there are without this library, in the same run:
//! sender on one core, receiver on another, frames counted where they arrive. `wire` is the card's own, between two
//! processes, whose receiver looks all the time; the others sleep while the kernel has nothing. Kernel backends are measured
//! in a network name space that this program makes for itself.
//!
//! `cargo run --release -p softdpu-net --example wire_speed [wire|packet|tap|afxdp]...`

mod bare;
mod bare_xdp;

use rustix::thread::{CpuSet, sched_setaffinity};
use softdpu_card::{Backend, Machine};
use softdpu_net::steer::Rules;
use softdpu_net::{InletSetup, Outlet, Port, Sent, Taken, Wake, port};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const ROUNDS: usize = 7;
const WARM: Duration = Duration::from_millis(60);
const WINDOW: Duration = Duration::from_millis(300);
const BATCH: usize = 64;
/// How long a receiver looks in vain before it sleeps.
const LOOK: Duration = Duration::from_micros(50);

/// Wakes the receiver.
struct Waker(std::thread::Thread);

impl Wake for Waker {
    fn wake(&self) {
        self.0.unpark();
    }
}

fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    set.set(cpu % std::thread::available_parallelism().map_or(1, usize::from));
    let _ = sched_setaffinity(None, &set);
}

/// The ports p0 and p1 with these backends.
fn ports(backends: [&str; 2]) -> [Arc<Port>; 2] {
    let mut text = "[[card]]\n".to_owned();
    for (number, backend) in backends.iter().enumerate() {
        text += &format!("[[card.function]]\nside = \"dpu\"\npci = \"03:00.{number}\"\n");
        let backend: Backend = backend.parse().expect("a backend");
        text += &format!("backend = \"{}\"\n", backend.kind());
        if let Some(interface) = backend.interface() {
            text += &format!("interface = \"{interface}\"\n");
        }
    }
    let machine = Machine::builder().config_text(text).build().expect("a machine");
    [port(&machine.functions()[0]), port(&machine.functions()[1])]
}

fn frame(len: usize) -> Vec<u8> {
    let mut frame = vec![0xab; len];
    frame[..14].copy_from_slice(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame
}

fn send(outlet: &mut Outlet, frame: &[u8], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let mut batch = outlet.batch();
        for _ in 0..BATCH {
            if batch.send(&[frame]) == Sent::Full {
                break;
            }
        }
    }
}

fn receive(port: &Arc<Port>, stop: &AtomicBool, count: &AtomicU64) {
    let waker = Arc::new(Waker(std::thread::current()));
    let mut inlet = port.inlet(InletSetup::new(waker)).expect("a receive queue");
    port.steer(Some(Arc::new(Rules::all_to(inlet.queue().number()).compile().expect("sound rules"))));
    let mut place = vec![0; 16384];
    let mut since = None;
    while !stop.load(Ordering::Relaxed) {
        let got = inlet.receive(BATCH, |frame| {
            frame.copy_to(0, &mut place);
            Taken::Yes
        });
        if got == 0 {
            if *port.backend() == Backend::Loop {
                std::hint::spin_loop();
                continue;
            }
            // For a while it looks, as progress engines do; then it sleeps, as the bare loops do.
            if since.get_or_insert_with(Instant::now).elapsed() < LOOK || inlet.is_ready() {
                continue;
            }
            inlet.arm();
            if !inlet.is_ready() {
                std::thread::park_timeout(Duration::from_millis(5));
            }
            inlet.disarm();
        } else {
            since = None;
        }
        count.fetch_add(got as u64, Ordering::Relaxed);
    }
}

/// Million frames per second that arrive while a sender and a receiver run.
fn rate(
    sender: impl FnOnce(&AtomicBool) + Send,
    receiver: impl FnOnce(&AtomicBool, &AtomicU64) + Send,
) -> f64 {
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(1);
            receiver(&stop, &count);
        });
        std::thread::sleep(WARM / 2);
        scope.spawn(|| {
            pin(0);
            sender(&stop);
        });
        std::thread::sleep(WARM);
        let (before, start) = (count.load(Ordering::Relaxed), Instant::now());
        std::thread::sleep(WINDOW);
        let rate = (count.load(Ordering::Relaxed) - before) as f64 / start.elapsed().as_secs_f64() / 1e6;
        stop.store(true, Ordering::Relaxed);
        rate
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// One path, ours and bare in turns.
fn compare(name: &str, len: usize, mut ours: impl FnMut() -> f64, mut bare: impl FnMut() -> f64) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        a.push(ours());
        b.push(bare());
    }
    let ratios: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a / b).collect();
    println!(
        "{name:24} {len:5} bytes: {:6.3} million/s, bare {:6.3}, ratio {:.2}",
        median(a),
        median(b),
        median(ratios)
    );
}

fn ip(line: &str) {
    let done = Command::new("ip").args(line.split(' ')).status().expect("the ip command");
    assert!(done.success(), "ip {line}");
}

fn quiet(name: &str) {
    let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    ip(&format!("link set {name} up promisc on"));
}

fn packet(len: usize) {
    let frame = frame(len);
    let ours = || {
        let [from, to] = ports(["packet:vb", "packet:va"]);
        let mut outlet = from.outlet().expect("a send queue");
        rate(|stop| send(&mut outlet, &frame, stop), |stop, count| receive(&to, stop, count))
    };
    let bare = || {
        rate(|stop| bare::send_many("vb", &frame, stop), |stop, count| bare::count_ring("va", stop, count))
    };
    compare("packet", len, ours, bare);
}

fn tap(len: usize) {
    let frame = frame(len);
    let write = || {
        let [from, _] = ports(["tap:sd0", "loop"]);
        let mut outlet = from.outlet().expect("a send queue");
        quiet("sd0");
        rate(|stop| send(&mut outlet, &frame, stop), |stop, count| bare::count_ring("sd0", stop, count))
    };
    let bare_write = || {
        let tap = bare::open_tap("sd0");
        quiet("sd0");
        let rate = rate(
            |stop| bare::write_tap(tap, &frame, stop),
            |stop, count| bare::count_ring("sd0", stop, count),
        );
        bare::close(tap);
        rate
    };
    compare("tap, sending", len, write, bare_write);
    let read = || {
        let [to, _] = ports(["tap:sd0", "loop"]);
        let keep = to.outlet().expect("a send queue");
        quiet("sd0");
        let rate = rate(|stop| bare::send_many("sd0", &frame, stop), |stop, count| receive(&to, stop, count));
        drop(keep);
        rate
    };
    let bare_read = || {
        let tap = bare::open_tap("sd0");
        quiet("sd0");
        let rate = rate(
            |stop| bare::send_many("sd0", &frame, stop),
            |stop, count| bare::count_tap(tap, stop, count),
        );
        bare::close(tap);
        rate
    };
    compare("tap, receiving", len, read, bare_read);
}

fn afxdp(len: usize) {
    let frame = frame(len);
    let ours = || {
        let [from, to] = ports(["afxdp:vb", "afxdp:va"]);
        let mut outlet = from.outlet().expect("a send queue");
        rate(|stop| send(&mut outlet, &frame, stop), |stop, count| receive(&to, stop, count))
    };
    let bare = || {
        let (from, to) = (bare_xdp::Socket::open("vb"), bare_xdp::Socket::open("va"));
        let program = bare_xdp::redirect("va", &to);
        let rate = rate(|stop| from.send(&frame, stop), |stop, count| to.count(stop, count));
        program.into_iter().for_each(bare::close);
        rate
    };
    compare("afxdp", len, ours, bare);
}

/// The card's wire, to this process from another.
fn wire(len: usize) {
    let exe = std::env::current_exe().expect("this program");
    let rates = (0..ROUNDS)
        .map(|_| {
            let mut sender = Command::new(&exe)
                .args(["wire-sender", &len.to_string()])
                .stdin(Stdio::piped())
                .spawn()
                .expect("another process");
            let [_, to] = ports(["loop", "loop"]);
            let rate = rate(|_| (), |stop, count| receive(&to, stop, count));
            let _ = sender.kill();
            let _ = sender.wait();
            rate
        })
        .collect();
    let rate = median(rates);
    println!(
        "{:24} {len:5} bytes: {rate:6.3} million/s, {:.1} Gbit/s",
        "wire, two processes",
        rate * len as f64 * 8e-3
    );
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "wire-sender") {
        pin(0);
        let len = arguments[1].parse().expect("a length");
        let mut outlet = ports(["loop", "loop"])[0].outlet().expect("a send queue");
        return send(&mut outlet, &frame(len), &AtomicBool::new(false));
    }
    if arguments.is_empty() {
        arguments = ["wire", "packet", "tap", "afxdp"].map(str::to_owned).into();
    }
    let inside = "SOFTDPU_WIRE_SPEED_INSIDE";
    if std::env::var_os(inside).is_none() && arguments.iter().any(|path| path != "wire") {
        let mut again = Command::new("unshare");
        again.arg("-n").arg(std::env::current_exe().expect("this program")).args(&arguments).env(inside, "1");
        assert!(again.status().is_ok_and(|status| status.success()), "needs the right to make a name space");
        return;
    }
    for path in &arguments {
        if path == "packet" || path == "afxdp" {
            ip("link add va type veth peer name vb");
            ["va", "vb"].iter().for_each(|name| quiet(name));
        }
        for len in [60, 1514] {
            match path.as_str() {
                "wire" => wire(len.max(64)),
                "packet" => packet(len),
                "tap" => tap(len),
                "afxdp" => afxdp(len),
                other => panic!("`{other}`: wire, packet, tap or afxdp"),
            }
        }
        if path == "packet" || path == "afxdp" {
            ip("link del va");
        }
    }
}
