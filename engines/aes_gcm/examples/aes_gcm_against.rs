//! The engine's whole task path against aws-lc and OpenSSL called directly, in turn, in one run.
//!
//! ```text
//! cargo run --release -p softdpu-aes-gcm --example aes_gcm_against
//! ```
//!
//! Nanoseconds per message (median of the rounds) and the rate over aws-lc's (median of the rounds' ratios): AES-256-GCM,
//! 12-byte vector, fresh for every message, 16-byte tag, from one place to another. OpenSSL is taken from the system when
//! it is there.
#![expect(unsafe_code, reason = "calls the yardsticks as C programs do")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "each call as its manual page says")]

use aws_lc_sys as lc;
use softdpu_aes_gcm::bare::Bare;
use softdpu_aes_gcm::{AesGcm, Config, Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu_card::{EngineKind, Machine};
use softdpu_memory::{Access, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Next;
use softdpu_room::typed::Context;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::{null, null_mut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const KEY: [u8; 32] = [7; 32];
const ROUNDS: usize = 31;

type Contestant = Box<dyn FnMut(u64)>;

fn fresh(counter: &mut u64) -> [u8; 12] {
    *counter += 1;
    let mut iv = [0; 12];
    iv[..8].copy_from_slice(&counter.to_le_bytes());
    iv
}

/// On so many pairs of places in turn.
fn aws_lc(size: usize, depth: usize) -> Contestant {
    let context = unsafe { lc::EVP_AEAD_CTX_new(lc::EVP_aead_aes_256_gcm(), KEY.as_ptr(), 32, 16) };
    let mut pairs: Vec<_> = (0..depth).map(|_| (vec![0x5a; size], vec![0u8; size + 16])).collect();
    let (mut counter, mut at) = (0, 0);
    Box::new(move |n| {
        for _ in 0..n {
            at = (at + 1) % depth;
            let (src, dst) = &mut pairs[at];
            let (iv, mut tag_len) = (fresh(&mut counter), 0);
            let (out, tag) = dst.split_at_mut(size);
            let ok = unsafe {
                lc::EVP_AEAD_CTX_seal_scatter(
                    context,
                    out.as_mut_ptr(),
                    tag.as_mut_ptr(),
                    &raw mut tag_len,
                    16,
                    iv.as_ptr(),
                    12,
                    src.as_ptr(),
                    size,
                    null(),
                    0,
                    null(),
                    0,
                )
            };
            assert_eq!(ok, 1);
        }
    })
}

fn kernel(size: usize) -> Option<Contestant> {
    use softdpu_kernels::gcm::{GcmKey, Text, Way};
    let key = GcmKey::new(&KEY)?;
    let (src, mut dst, mut counter) = (vec![0x5a; size], vec![0u8; size + 16], 0);
    Some(Box::new(move |n| {
        for _ in 0..n {
            let iv = fresh(&mut counter);
            let (out, tag) = dst.split_at_mut(size);
            tag.copy_from_slice(&key.run(Way::Encrypt, &iv, &[], Text::Apart(&src, out)));
        }
    }))
}

type Fetch = unsafe extern "C" fn(*mut c_void, *const i8, *const i8) -> *mut c_void;
type New = unsafe extern "C" fn() -> *mut c_void;
type Init = unsafe extern "C" fn(*mut c_void, *mut c_void, *mut c_void, *const u8, *const u8) -> c_int;
type Update = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int, *const u8, c_int) -> c_int;
type Final = unsafe extern "C" fn(*mut c_void, *mut u8, *mut c_int) -> c_int;
type Ctrl = unsafe extern "C" fn(*mut c_void, c_int, c_int, *mut c_void) -> c_int;

fn openssl(size: usize) -> Option<Contestant> {
    let library = unsafe { libc::dlopen(c"libcrypto.so.3".as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if library.is_null() {
        return None;
    }
    let symbol = |name: &CStr| unsafe { libc::dlsym(library, name.as_ptr()) };
    let (fetch, new, init, update, last, ctrl) = unsafe {
        (
            std::mem::transmute::<*mut c_void, Fetch>(symbol(c"EVP_CIPHER_fetch")),
            std::mem::transmute::<*mut c_void, New>(symbol(c"EVP_CIPHER_CTX_new")),
            std::mem::transmute::<*mut c_void, Init>(symbol(c"EVP_EncryptInit_ex")),
            std::mem::transmute::<*mut c_void, Update>(symbol(c"EVP_EncryptUpdate")),
            std::mem::transmute::<*mut c_void, Final>(symbol(c"EVP_EncryptFinal_ex")),
            std::mem::transmute::<*mut c_void, Ctrl>(symbol(c"EVP_CIPHER_CTX_ctrl")),
        )
    };
    let context = unsafe {
        let cipher = fetch(null_mut(), c"AES-256-GCM".as_ptr().cast(), null());
        let context = new();
        init(context, cipher, null_mut(), KEY.as_ptr(), [0; 12].as_ptr());
        context
    };
    let (src, mut dst, mut counter) = (vec![0x5a; size], vec![0u8; size + 32], 0);
    Some(Box::new(move |n| {
        for _ in 0..n {
            let (iv, mut len, mut tag) = (fresh(&mut counter), 0, [0u8; 16]);
            unsafe {
                init(context, null_mut(), null_mut(), null(), iv.as_ptr());
                update(context, dst.as_mut_ptr(), &raw mut len, src.as_ptr(), size as c_int);
                last(context, dst.as_mut_ptr().add(size), &raw mut len);
                assert_eq!(ctrl(context, 0x10, 16, tag.as_mut_ptr().cast()), 1);
            }
        }
    }))
}

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Encrypt,
    Decrypt,
    /// Into memory that others may be reading.
    DecryptShared,
}

/// A message to encrypt and one to decrypt, for each task in flight.
fn tasks(device: &Device, size: usize, depth: usize, shared: bool) -> (Vec<Encrypt>, Vec<Decrypt>) {
    let stride = (size + 16).next_multiple_of(64);
    let memory = |access| {
        Memory::heap(2 * depth * stride).access(access).register(&[device.shared()]).expect("memory")
    };
    let private = memory(Access::LOCAL_READ_WRITE);
    let others =
        memory(Access::LOCAL_READ_WRITE | if shared { Access::RDMA_READ } else { Access::LOCAL_READ_WRITE });
    let (key, iv, tag, aad_len) = (Key::new(&KEY).expect("a key"), Iv::from([9; 12]), TagLen::Bits128, 0);
    let bare = Bare::new(&KEY).expect("a key");
    let plain = vec![0x5a; size];
    let mut sealed = vec![0; size + 16];
    bare.seal(iv, &plain, &mut sealed).expect("sealed");
    let window = |memory: &Memory, n: usize| memory.buf(n * stride..(n + 1) * stride).expect("a window");
    let task = |i: usize, bytes: &[u8]| {
        let mut src = window(&private, 2 * i + usize::from(bytes.len() > size));
        src.push_slice(bytes).expect("room");
        (src, window(&others, 2 * i + usize::from(bytes.len() > size)))
    };
    let seal = |i| {
        let (src, dst) = task(i, &plain);
        Encrypt { src, dst, key: key.clone(), iv, aad_len, tag }
    };
    let open = |i| {
        let (src, dst) = task(i, &sealed);
        Decrypt { src, dst, key: key.clone(), iv, aad_len, tag }
    };
    ((0..depth).map(seal).collect(), (0..depth).map(open).collect())
}

/// How many tasks are still to be submitted, and how many came back.
#[derive(Default)]
struct Count {
    left: AtomicU64,
    back: AtomicU64,
}

impl Count {
    /// One came back: shall it fly again?
    fn again(&self) -> bool {
        self.back.store(self.back.load(Relaxed) + 1, Relaxed);
        let left = self.left.load(Relaxed);
        self.left.store(left.saturating_sub(1), Relaxed);
        left > 0
    }
}

fn engine(session: &Session, device: &Device, size: usize, depth: usize, way: Way) -> Contestant {
    let (mut to_seal, mut to_open) = tasks(device, size, depth, way == Way::DecryptShared);
    let mut pe = ProgressEngine::new(session).expect("an engine");
    let count = Arc::new(Count::default());
    let (sealing, opening, mut vectors) = (count.clone(), count.clone(), 0);
    let (out, sealed) = std::sync::mpsc::channel();
    let (out2, opened) = std::sync::mpsc::channel();
    let config = Config {
        tasks: depth as u32,
        on_encrypt: Some(Box::new(move |mut done, _| {
            done.result.expect("encrypted");
            done.task.dst.reset();
            done.task.iv = Iv::from(fresh(&mut vectors));
            if sealing.again() {
                return Next::Again(done.task);
            }
            out.send(done.task).expect("kept");
            Next::Free
        })),
        on_decrypt: Some(Box::new(move |mut done, _| {
            done.result.expect("decrypted");
            done.task.dst.reset();
            if opening.again() {
                return Next::Again(done.task);
            }
            out2.send(done.task).expect("kept");
            Next::Free
        })),
        ..Config::default()
    };
    let started = Context::<AesGcm>::start(&mut pe, device, config);
    let mut context = started.and_then(|s| s.wait(&mut pe)).expect("running");
    Box::new(move |n| {
        let flying = n.min(depth as u64);
        count.left.store(n - flying, Relaxed);
        count.back.store(0, Relaxed);
        for _ in 0..flying {
            match way {
                Way::Encrypt => context.post(to_seal.pop().expect("idle")).expect("posted"),
                _ => context.post(to_open.pop().expect("idle")).expect("posted"),
            }
        }
        while count.back.load(Relaxed) < n {
            pe.progress();
        }
        to_seal.extend(sealed.try_iter());
        to_open.extend(opened.try_iter());
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Nanoseconds this thread was carried out: others use the machine, too.
fn cpu_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

fn main() {
    let machine = Machine::builder().build().expect("a machine");
    let board = if std::env::args().any(|a| a == "threads") {
        softdpu_board::threads()
    } else {
        softdpu_room::session::inline()
    };
    let session = Session::new(machine, board);
    let device = session.first_with(EngineKind::AesGcm).and_then(|d| d.open()).expect("a device");
    println!("{:>8}  {:30} {:>12} {:>8} {:>14}", "bytes", "contestant", "ns/message", "GB/s", "x to aws-lc");
    let sizes: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let all_sizes = [64, 256, 1024, 4096, 16384, 65536, 262_144, 1 << 20];
    for &size in if sizes.is_empty() { &all_sizes[..] } else { &sizes } {
        let mut all: Vec<(&str, Contestant)> =
            vec![("aws-lc, one place", aws_lc(size, 1)), ("aws-lc, 32 places", aws_lc(size, 32))];
        all.extend(kernel(size).map(|k| ("the kernel alone", k)));
        all.extend(openssl(size).map(|o| ("OpenSSL EVP", o)));
        all.push(("engine, encrypt, 1 in flight", engine(&session, &device, size, 1, Way::Encrypt)));
        all.push(("engine, encrypt, 32 in flight", engine(&session, &device, size, 32, Way::Encrypt)));
        all.push(("engine, decrypt, 32 in flight", engine(&session, &device, size, 32, Way::Decrypt)));
        all.push(("engine, decrypt to shared, 32", engine(&session, &device, size, 32, Way::DecryptShared)));
        // ONLY=text leaves out the contestants without it, for a profiler.
        if let Ok(only) = std::env::var("ONLY") {
            all.retain(|(name, _)| name.contains(&only) || name.starts_with("aws"));
        }
        let amount = (4_000_000 / (size as u64 / 8 + 80)).max(4);
        let mut times = vec![Vec::new(); all.len()];
        for round in 0..ROUNDS + 2 {
            for (contestant, times) in all.iter_mut().zip(&mut times) {
                let start = cpu_time();
                contestant.1(amount);
                if round >= 2 {
                    times.push((cpu_time() - start) / amount as f64);
                }
            }
        }
        for ((name, _), ns) in all.iter().zip(&times) {
            // Who has 32 places is compared with who has 32.
            let yardstick = &times[usize::from(name.contains("32"))];
            let ratio = median(yardstick.iter().zip(ns).map(|(a, b)| a / b).collect());
            let mid = median(ns.clone());
            println!("{size:>8}  {name:30} {mid:>12.1} {:>8.2} {ratio:>14.3}", size as f64 / mid);
        }
    }
}
