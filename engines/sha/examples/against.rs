//! The engine's whole task path against OpenSSL and the hash crates called directly, in turn, in one run.
//!
//! ```text
//! cargo run --release -p softdpu-sha --example against [BYTES...] [one]
//! ```
//!
//! Nanoseconds of processor time per message (median of the rounds) and the rate over OpenSSL's (median of the rounds'
//! ratios; over the crate's where there is no OpenSSL). OpenSSL hashes one message after the other: init, update, final on one context,
//! the function fetched beforehand. The last column is what two contexts on two threads do in the time of one, if each
//! has a core to itself: it is below 2 by what they cost each other; `one` leaves it out.
#![expect(unsafe_code, reason = "calls the yardstick as C programs do")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "each call as its manual page says")]

use sha2::Digest as _;
use softdpu_card::{EngineKind, Machine};
use softdpu_memory::{Access, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Next;
use softdpu_room::typed::Context;
use softdpu_sha::{Algorithm, Config, Hash, Sha};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::hint::black_box;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};

const ROUNDS: usize = 31;

/// Hashes so many messages.
type Contestant = Box<dyn FnMut(u64)>;

type Fetch = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char) -> *mut c_void;
type New = unsafe extern "C" fn() -> *mut c_void;
type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *const u8, usize) -> c_int;
type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut u32) -> c_int;

fn messages(size: usize, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|m| (0..size).map(|i| (i * 7 + m * 13) as u8).collect()).collect()
}

fn openssl(algorithm: Algorithm, size: usize) -> Option<Contestant> {
    let library = unsafe { libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return None;
    }
    let symbol = |name: &CStr| {
        let found = unsafe { libc::dlsym(library, name.as_ptr()) };
        assert!(!found.is_null(), "{name:?}");
        found
    };
    let fetch: Fetch = unsafe { std::mem::transmute(symbol(c"EVP_MD_fetch")) };
    let new: New = unsafe { std::mem::transmute(symbol(c"EVP_MD_CTX_new")) };
    let init: Init = unsafe { std::mem::transmute(symbol(c"EVP_DigestInit_ex")) };
    let update: Update = unsafe { std::mem::transmute(symbol(c"EVP_DigestUpdate")) };
    let finish: Final = unsafe { std::mem::transmute(symbol(c"EVP_DigestFinal_ex")) };
    let name = match algorithm {
        Algorithm::Sha1 => c"SHA1",
        Algorithm::Sha256 => c"SHA256",
        Algorithm::Sha512 => c"SHA512",
    };
    let (function, context) = unsafe { (fetch(null_mut(), name.as_ptr(), null()), new()) };
    let messages = messages(size, 32);
    Some(Box::new(move |n| {
        for i in 0..n {
            let (message, mut digest) = (&messages[i as usize % 32], [0u8; 64]);
            let ok = unsafe {
                init(context, function, null_mut()) == 1
                    && update(context, message.as_ptr(), size) == 1
                    && finish(context, digest.as_mut_ptr(), null_mut()) == 1
            };
            assert!(ok);
            black_box(&digest);
        }
    }))
}

fn crates(algorithm: Algorithm, size: usize) -> Contestant {
    let messages = messages(size, 32);
    Box::new(move |n| {
        for i in 0..n {
            let message = &messages[i as usize % 32];
            match algorithm {
                Algorithm::Sha1 => drop(black_box(sha1::Sha1::digest(message))),
                Algorithm::Sha256 => drop(black_box(sha2::Sha256::digest(message))),
                Algorithm::Sha512 => drop(black_box(sha2::Sha512::digest(message))),
            }
        }
    })
}

fn engine(session: &Session, device: &Device, algorithm: Algorithm, size: usize, depth: usize) -> Contestant {
    let mut pe = ProgressEngine::new(session).unwrap();
    let left = Arc::new(AtomicU64::new(0));
    let done = Arc::new(AtomicU64::new(0));
    let parked = Arc::new(std::sync::Mutex::new(Vec::<Hash>::new()));
    let mut config = Config { tasks: depth as u32, ..Config::default() };
    let (in_left, in_done, in_parked) = (left.clone(), done.clone(), parked.clone());
    config.handlers.hash = Some(Box::new(move |result, _| {
        assert!(result.result.is_ok());
        let mut task = result.task;
        task.dst.reset();
        in_done.store(in_done.load(Relaxed) + 1, Relaxed);
        let left = in_left.load(Relaxed);
        if left == 0 {
            in_parked.lock().unwrap().push(task);
            return Next::Free;
        }
        in_left.store(left - 1, Relaxed);
        Next::Again(task)
    }));
    let mut context = Context::<Sha>::start(&mut pe, device, config).unwrap().wait(&mut pe).unwrap();
    let stride = size.next_multiple_of(64);
    let memory = Memory::heap(depth * (stride + 64)).access(Access::LOCAL_READ_WRITE);
    let memory = memory.register(&[device.shared()]).unwrap();
    for (i, message) in messages(size, depth).iter().enumerate() {
        let mut src = memory.buf(i * stride..i * stride + size).unwrap();
        src.push_slice(message).unwrap();
        let dst = depth * stride + i * 64;
        parked.lock().unwrap().push(Hash { algorithm, src, dst: memory.buf(dst..dst + 64).unwrap() });
    }
    Box::new(move |n| {
        let first = n.min(depth as u64);
        done.store(0, Relaxed);
        left.store(n - first, Relaxed);
        let tasks: Vec<Hash> = parked.lock().unwrap().drain(..first as usize).collect();
        for task in tasks {
            context.post(task).map_err(|r| r.error).unwrap();
        }
        while done.load(Relaxed) < n {
            pe.progress();
        }
    })
}

/// Nanoseconds of processor time of this thread: all contestants work on it alone.
fn thread_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) };
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// How much more two contexts on two threads hash in the same time than one, by the processor time of one of them.
fn scaling(session: &Session, device: &Device, algorithm: Algorithm, size: usize) -> f64 {
    let (barrier, count) = (Barrier::new(2), (20_000_000 / (size as u64 + 200)).max(32));
    let ratios = std::thread::scope(|s| {
        let second = s.spawn(|| {
            let mut work = engine(session, device, algorithm, size, 32);
            for _ in 0..ROUNDS {
                barrier.wait();
                work(count);
                barrier.wait();
            }
        });
        let mut work = engine(session, device, algorithm, size, 32);
        let round = |_| {
            let start = thread_time();
            work(count);
            let alone = thread_time() - start;
            barrier.wait();
            let start = thread_time();
            work(count);
            let together = thread_time() - start;
            barrier.wait();
            2.0 * alone / together
        };
        let ratios = (0..ROUNDS).map(round).collect();
        second.join().unwrap();
        ratios
    });
    median(ratios)
}

fn main() {
    let sizes: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let both = !std::env::args().any(|a| a == "one");
    let sizes = if sizes.is_empty() { vec![64, 1024, 16 << 10, 64 << 10, 1 << 20] } else { sizes };
    let session = Session::new(Machine::builder().build().unwrap(), softdpu_board::inline());
    let device = session.first_with(EngineKind::Sha).and_then(|d| d.open()).unwrap();
    println!(
        "{:8} {:>8} {:>22} {:>22} {:>22} {:>22} {:>12}",
        "", "bytes", "OpenSSL ns", "crate ns (x)", "1 in flight ns (x)", "32 in flight ns (x)", "2 contexts"
    );
    for algorithm in Algorithm::ALL {
        for &size in &sizes {
            let openssl = openssl(algorithm, size);
            let there = openssl.is_some();
            let mut contestants = [
                openssl.unwrap_or_else(|| crates(algorithm, size)),
                crates(algorithm, size),
                engine(&session, &device, algorithm, size, 1),
                engine(&session, &device, algorithm, size, 32),
            ];
            let count = (4_000_000 / (size as u64 + 200)).max(32);
            let mut times = vec![Vec::new(); contestants.len()];
            for round in 0..=ROUNDS {
                for (contestant, times) in contestants.iter_mut().zip(&mut times) {
                    let start = thread_time();
                    contestant(count);
                    if round > 0 {
                        times.push((thread_time() - start) / count as f64);
                    }
                }
            }
            print!("{:8} {size:>8}", algorithm.to_string());
            for (i, mine) in times.iter().enumerate() {
                let ratio = median(times[0].iter().zip(mine).map(|(a, b)| a / b).collect());
                let text = if i == 0 && there { String::new() } else { format!("({ratio:.2})") };
                print!(" {:>22}", format!("{:.0} {text:>7}", median(mine.clone())));
            }
            let both = both.then(|| format!("{:.2}", scaling(&session, &device, algorithm, size)));
            println!(" {:>12}", both.unwrap_or_default());
        }
    }
}
