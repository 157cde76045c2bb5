//! How fast the ring is, against the least that two processors need to tell each other something: a flag in a shared
//! cache line.
//!
//! Two threads on two processors, each with a mapping of its own, as two processes have. Every figure is the median of
//! several rounds, and both sides of a comparison are measured in turn, since machines are not quiet.
//!
//! ```text
//! cargo run --release -p softdpu-link --example ring_speed
//! ```

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use softdpu_link::sync::Ordering::{Acquire, Release};
use softdpu_link::{Receiver, Segment, Sender, ring_bytes};
use std::sync::Arc;
use std::time::{Duration, Instant};

const DATA: usize = 1 << 16;
const MESSAGE: usize = 64;
const ROUNDS: usize = 15;
const BALLS: u64 = 100_000;
const STREAM: u64 = 2_000_000;

/// The first two processors that this process may use.
fn processors() -> Option<[usize; 2]> {
    let all = sched_getaffinity(None).ok()?;
    let mut found = (0..CpuSet::MAX_CPU).filter(|&n| all.is_set(n));
    Some([found.next()?, found.next()?])
}

fn pin(processor: Option<usize>) {
    if let Some(processor) = processor {
        let mut one = CpuSet::new();
        one.set(processor);
        sched_setaffinity(None, &one).expect("one of our processors");
    }
}

/// Two mappings of the same memory.
fn mappings(bytes: usize) -> [Arc<Segment>; 2] {
    let one = Segment::create("ring-speed", bytes).expect("memory");
    let fd = one.fd().try_clone_to_owned().expect("a descriptor");
    [Arc::new(one), Arc::new(Segment::from_fd(fd, bytes).expect("our own segment"))]
}

/// Runs both sides on their processors, from a common start; how long the first one took.
fn race(first: impl FnOnce() + Send, second: impl FnOnce() + Send) -> Duration {
    let both = processors();
    let start = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            pin(both.map(|p| p[1]));
            start.wait();
            second();
        });
        let timed = scope.spawn(|| {
            pin(both.map(|p| p[0]));
            start.wait();
            let begin = Instant::now();
            first();
            begin.elapsed()
        });
        timed.join().expect("it ran")
    })
}

/// A number goes to and fro, in two cache lines.
fn flag() -> Duration {
    let [a, b] = mappings(4096);
    let wait = |word: &softdpu_link::sync::AtomicU64, n| {
        while word.load(Acquire) != n {
            core::hint::spin_loop();
        }
    };
    race(
        || {
            for n in 1..=BALLS {
                a.word64(0).store(n, Release);
                wait(a.word64(512), n);
            }
        },
        || {
            for n in 1..=BALLS {
                wait(b.word64(0), n);
                b.word64(512).store(n, Release);
            }
        },
    )
}

fn receive(receiver: &mut Receiver, into: &mut [u8; MESSAGE]) -> u32 {
    loop {
        if let Some(front) = receiver.front().expect("our own ring") {
            receiver.take(into);
            receiver.pop();
            return front.tag;
        }
        core::hint::spin_loop();
    }
}

/// A message of 64 bytes goes to and fro.
fn ping_pong() -> Duration {
    let bytes = 2 * ring_bytes(DATA);
    let [a, b] = mappings(bytes);
    let (mut out, mut back) = (Sender::new(a.clone(), 0, DATA), Receiver::new(a, ring_bytes(DATA), DATA));
    let (mut inward, mut home) = (Receiver::new(b.clone(), 0, DATA), Sender::new(b, ring_bytes(DATA), DATA));
    race(
        || {
            let mut message = [7; MESSAGE];
            for n in 0..BALLS as u32 {
                assert!(out.push(n, &[&message]).expect("our own ring"));
                assert_eq!(receive(&mut back, &mut message), n);
            }
        },
        || {
            let mut message = [0; MESSAGE];
            for n in 0..BALLS as u32 {
                assert_eq!(receive(&mut inward, &mut message), n);
                assert!(home.push(n, &[&message]).expect("our own ring"));
            }
        },
    )
}

/// Messages of 64 bytes one after the other, `group` to each publication.
fn stream(group: u64) -> Duration {
    let [a, b] = mappings(ring_bytes(DATA));
    let (mut sender, mut receiver) = (Sender::new(a, 0, DATA), Receiver::new(b, 0, DATA));
    race(
        || {
            let mut message = [0; MESSAGE];
            for n in 0..STREAM as u32 {
                assert_eq!(receive(&mut receiver, &mut message), n);
            }
        },
        || {
            let message = [7; MESSAGE];
            for n in 0..STREAM {
                while !sender.stage(n as u32, &[&message]).expect("our own ring") {
                    sender.publish();
                    core::hint::spin_loop();
                }
                if (n + 1).is_multiple_of(group) {
                    sender.publish();
                }
            }
            sender.publish();
        },
    )
}

/// The best and the median of several rounds.
fn two(mut all: Vec<f64>) -> (f64, f64) {
    all.sort_by(f64::total_cmp);
    (all[0], all[all.len() / 2])
}

fn main() {
    if processors().is_none() {
        eprintln!("one processor only: the figures say how fast threads are switched");
    }
    let per = |time: Duration, count: u64| time.as_secs_f64() * 1e9 / count as f64;
    let (mut flags, mut pings, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (flag, ping) = (per(flag(), BALLS), per(ping_pong(), BALLS));
        flags.push(flag);
        pings.push(ping);
        ratios.push(ping / flag);
    }
    let (flag, ping, ratio) = (two(flags), two(pings), two(ratios));
    println!("to and fro, best and median of {ROUNDS} rounds");
    println!("  bare flag            {:7.1} {:7.1} ns", flag.0, flag.1);
    println!("  message of {MESSAGE} bytes  {:7.1} {:7.1} ns", ping.0, ping.1);
    println!("  ratio                {:7.2} {:7.2}", ratio.0, ratio.1);
    println!("stream of {MESSAGE} byte messages, best and median of {ROUNDS} rounds");
    for group in [1, 4, 16, 64] {
        let times = two((0..ROUNDS).map(|_| per(stream(group), STREAM)).collect());
        println!("  {group:2} to a publication  {:7.1} {:7.1} million/s", 1e3 / times.0, 1e3 / times.1);
    }
}
