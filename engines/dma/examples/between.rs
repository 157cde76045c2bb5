//! Copies into memory of another process: the engine's whole task path against `memcpy` into a shared mapping, and against
//! `process_vm_writev` called directly, in turn, in one run.
//!
//! ```text
//! cargo run --release -p softdpu-dma --example between [local] [mapped] [kernel] [BYTES...]
//! ```
//!
//! Wall-clock time per copy (median of the rounds), the rate over the yardstick's (median of the rounds' ratios), and how
//! long an import takes. The owner of the memory sleeps in another process. `local` stands for the same copies within
//! this process.
#![expect(unsafe_code, reason = "calls the yardsticks as C programs do")]
#![expect(clippy::undocumented_unsafe_blocks, reason = "each call as its manual page says")]

use softdpu_card::{Machine, Reach};
use softdpu_dma::{Config, Dma, Memcpy};
use softdpu_memory::buf::Buf;
use softdpu_memory::{Access, Memory, RemoteBuf, RemoteMemory};
use softdpu_room::job::Outbox;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Handler, Next, Task};
use softdpu_room::typed::Context;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Rounds; `ROUNDS` in the environment for a longer look.
fn rounds() -> usize {
    std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(21)
}
const MOST: usize = 128 << 20;

type Contestant = Box<dyn FnMut(u64)>;

fn session(reach: Reach) -> Session {
    let machine = Machine::builder().reach(reach).build().unwrap();
    Session::new(machine, softdpu_board::threads())
}

fn device(session: &Session, pci: &str) -> Device {
    session.device(pci).unwrap().open().unwrap()
}

/// The owner: `mapped` memory or plain heap; its letter, then sleep until the input ends.
fn owner(kind: &str) {
    let session = session(Reach::Mapped);
    let device = device(&session, "b1:00.0");
    let builder = if kind == "heap" { Memory::heap(MOST) } else { Memory::vec(vec![1; MOST]) };
    let memory = builder.access(Access::PCI_READ_WRITE).register(&[&device]).unwrap();
    let mut buf = memory.buf(..).unwrap();
    buf.write_at(0, &vec![1; MOST]).unwrap();
    let export = memory.export(&device).unwrap();
    println!("{}", export.bytes().iter().map(|b| format!("{b:02x}")).collect::<String>());
    std::io::stdin().lines().for_each(drop);
}

fn start(kind: &str) -> (Child, Vec<u8>) {
    let this = std::env::current_exe().unwrap();
    let mut child = Command::new(this)
        .args(["owner", kind])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let letter = (0..line.trim().len() / 2).map(|i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16).unwrap());
    (child, letter.collect())
}

/// Places in `len` bytes for copies of `size` bytes, in turn.
fn places(size: usize) -> impl Fn(u64) -> usize {
    let stride = size.next_multiple_of(64);
    // Small ones stay in the cache, as they would in a ring of buffers.
    let most = std::env::var("PLACES").ok().and_then(|n| n.parse().ok()).unwrap_or(256);
    let count = ((8 << 20).max(2 * stride).min(MOST) / stride).min(most);
    move |i| (i as usize % count) * stride
}

fn memcpy(size: usize) -> Contestant {
    let from = vec![3u8; MOST];
    let to = unsafe {
        let fd = libc::memfd_create(c"between".as_ptr(), 0);
        assert!(fd >= 0 && libc::ftruncate(fd, MOST as i64) == 0);
        let rw = libc::PROT_READ | libc::PROT_WRITE;
        let to = libc::mmap(std::ptr::null_mut(), MOST, rw, libc::MAP_SHARED, fd, 0).cast::<u8>();
        to.write_bytes(1, MOST);
        to
    };
    let place = places(size);
    Box::new(move |n| {
        for i in 0..n {
            unsafe {
                libc::memcpy(to.add(place(i)).cast(), black_box(&from)[place(i)..].as_ptr().cast(), size)
            };
        }
    })
}

fn kernel(size: usize, remote: &RemoteMemory) -> Contestant {
    let (from, pid, base) = (vec![3u8; MOST], remote.owner() as i32, remote.owner_addr() as usize);
    let place = places(size);
    Box::new(move |n| {
        for i in 0..n {
            let here = libc::iovec { iov_base: from[place(i)..].as_ptr().cast_mut().cast(), iov_len: size };
            let there = libc::iovec { iov_base: (base + place(i)) as *mut _, iov_len: size };
            assert_eq!(unsafe { libc::process_vm_writev(pid, &here, 1, &there, 1, 0) }, size as isize);
        }
    })
}

/// Memory that is copied to: this process's own, or another's.
trait Target {
    type Dst: Send + 'static;
    fn buf(&self, at: usize, size: usize) -> Self::Dst;
    fn reset(dst: &mut Self::Dst);
    fn handle(config: &mut Config, handler: Handler<Memcpy<Buf, Self::Dst>>)
    where
        Memcpy<Buf, Self::Dst>: Task;
}

impl Target for Memory {
    type Dst = Buf;
    fn buf(&self, at: usize, size: usize) -> Buf {
        self.buf(at..at + size).unwrap()
    }
    fn reset(dst: &mut Buf) {
        dst.reset();
    }
    fn handle(config: &mut Config, handler: Handler<Memcpy>) {
        config.on_memcpy = Some(handler);
    }
}

impl Target for RemoteMemory {
    type Dst = RemoteBuf;
    fn buf(&self, at: usize, size: usize) -> RemoteBuf {
        self.buf(at..at + size).unwrap()
    }
    fn reset(dst: &mut RemoteBuf) {
        dst.reset();
    }
    fn handle(config: &mut Config, handler: Handler<Memcpy<Buf, RemoteBuf>>) {
        config.on_store = Some(handler);
    }
}

/// Tasks that fly again until enough have been carried out.
fn engine<T: Target>(session: &Session, device: &Device, to: &T, size: usize, depth: usize) -> Contestant
where
    Memcpy<Buf, T::Dst>: Task<Engine = Dma>,
{
    let memory = Memory::vec(vec![3; MOST]).access(Access::LOCAL_READ_WRITE).register(&[device]).unwrap();
    let place = places(size);
    let task = |i: usize| -> Memcpy<Buf, T::Dst> {
        let at = place(i as u64);
        let mut src = memory.buf(at..at + size).unwrap();
        src.set_data(..).unwrap();
        Memcpy { src, dst: to.buf(at, size) }
    };
    // One task per place, so that the copies walk through memory as the yardstick's do. Those that do not fly are the
    // handler's: a lock would have to wait for the stores of the copy before it.
    let count = (1..).find(|&i| place(i as u64) == 0).unwrap_or(1);
    let (mut waiting, mut next) = ((depth.min(count)..count).map(task).collect::<Vec<_>>(), 0);
    let grounded = Arc::new(Mutex::new((0..depth.min(count)).map(task).collect::<Vec<_>>()));
    let (left, parked) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let mut config = Config { memcpy: depth as u32, ..Config::default() };
    let (in_grounded, in_left, in_parked) = (grounded.clone(), left.clone(), parked.clone());
    let handler = move |mut done: Done<Memcpy<Buf, T::Dst>>, _: &mut Outbox<'_, Dma>| {
        done.result.unwrap();
        T::reset(&mut done.task.dst);
        let left = in_left.load(Relaxed);
        if left == 0 {
            in_grounded.lock().unwrap().push(done.task);
            in_parked.store(in_parked.load(Relaxed) + 1, Relaxed);
            return Next::Free;
        }
        in_left.store(left - 1, Relaxed);
        let Some(place) = waiting.get_mut(next) else { return Next::Again(done.task) };
        let task = std::mem::replace(place, done.task);
        next = if next + 1 == waiting.len() { 0 } else { next + 1 };
        Next::Again(task)
    };
    T::handle(&mut config, Box::new(handler));
    let mut pe = ProgressEngine::new(session).unwrap();
    let mut dma = Context::<Dma>::start(&mut pe, device, config).unwrap().wait(&mut pe).unwrap();
    Box::new(move |n| {
        let flying = n.min(depth.min(count) as u64);
        left.store(n - flying, Relaxed);
        parked.store(0, Relaxed);
        for _ in 0..flying {
            let task = grounded.lock().unwrap().pop().unwrap();
            dma.post(task).map_err(|e| e.error).unwrap();
        }
        while parked.load(Relaxed) < flying {
            pe.progress();
        }
    })
}

fn measure(contestant: &mut Contestant, n: u64) -> f64 {
    if std::env::var_os("CPU").is_some() {
        let now = || {
            let t = unsafe {
                let mut t = std::mem::zeroed::<libc::timespec>();
                libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t);
                t
            };
            t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
        };
        let start = now();
        contestant(n);
        return (now() - start) / n as f64;
    }
    let start = Instant::now();
    contestant(n);
    start.elapsed().as_secs_f64() / n as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn import_time(device: &Device, letter: &[u8]) -> Duration {
    let times = (0..51).map(|_| {
        let start = Instant::now();
        let remote = RemoteMemory::import(device, letter).unwrap();
        let time = start.elapsed();
        drop(remote);
        time
    });
    let mut times: Vec<_> = times.collect();
    times.sort();
    times[25]
}

/// One table: `yardstick` and the engine, in turn, with the sizes asked for.
fn table(
    sizes: &[usize],
    name: &str,
    yardstick: impl Fn(usize) -> Contestant,
    engine: impl Fn(usize, usize) -> Contestant,
) {
    println!(
        "{:>10} {:>18} {:>12} {:>12} {:>8} {:>12} {:>8}",
        "bytes", "yardstick", "its us", "depth 1 us", "ratio", "depth 8 us", "ratio"
    );
    for &size in sizes.iter().filter(|&&size| size <= MOST / 2) {
        let mut all = [yardstick(size), engine(size, 1), engine(size, 8)];
        let n = ((32 << 20) / size as u64).clamp(4, 20_000);
        all.iter_mut().for_each(|c| c(n));
        let mut times = vec![Vec::new(); 3];
        let mut ratios = vec![Vec::new(); 3];
        for _ in 0..rounds() {
            for (i, contestant) in all.iter_mut().enumerate() {
                times[i].push(measure(contestant, n));
                let (mine, base) = (*times[i].last().unwrap(), *times[0].last().unwrap());
                ratios[i].push(base / mine);
            }
        }
        let [base, one, eight] = [0, 1, 2].map(|i| median(times[i].clone()) * 1e6);
        println!(
            "{size:>10} {name:>18} {base:>12.3} {one:>12.3} {:>8.2} {eight:>12.3} {:>8.2}",
            median(ratios[1].clone()),
            median(ratios[2].clone())
        );
    }
}

fn local(sizes: &[usize]) {
    let session = session(Reach::Mapped);
    let device = device(&session, "03:00.0");
    let memory = || {
        let memory = Memory::heap(MOST).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
        memory.buf(..).unwrap().write_at(0, &vec![1; MOST]).unwrap();
        memory
    };
    println!("local: within this process");
    table(sizes, "memcpy", memcpy, |size, depth| engine(&session, &device, &memory(), size, depth));
}

fn between(sizes: &[usize], reach: Reach) {
    let (mut child, letter) = start(if reach == Reach::Mapped { "heap" } else { "vec" });
    let session = session(reach);
    let device = device(&session, "03:00.0");
    println!("{reach}: import of {} MiB takes {:?}", MOST >> 20, import_time(&device, &letter));
    let remote = RemoteMemory::import(&device, &letter).unwrap();
    let engine = |size, depth| engine(&session, &device, &remote, size, depth);
    match reach {
        Reach::Mapped => table(sizes, "memcpy", memcpy, engine),
        _ => table(sizes, "process_vm_writev", |size| kernel(size, &remote), engine),
    }
    drop(child.stdin.take());
    child.wait().unwrap();
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [word, kind] = &arguments[..]
        && word == "owner"
    {
        return owner(kind);
    }
    let mut sizes: Vec<usize> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![4 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20];
    }
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|a| a.parse::<usize>().is_err()).collect();
    let wanted = |word| words.is_empty() || words.contains(&word);
    if wanted("local") {
        local(&sizes);
    }
    if wanted("mapped") {
        between(&sizes, Reach::Mapped);
    }
    if wanted("kernel") {
        between(&sizes, Reach::KernelCopy);
    }
}
