//! The whole task path against the bare libraries with the same checksums, round by round in one process.
//!
//! `cargo run --release -p softdpu-compress --example against_bare -- [CORPUS [contexts]]`: a file of at least 1 MiB;
//! without one, this program itself; with `contexts` the last part alone. Rates are of plain bytes per second of the thread's processor time, everything carried out
//! inside progress; `x` is the median over the rounds of the task path's rate over the yardstick's of the same round.
//! Both write to buffers of their own for each task. At the end two contexts on two threads.
#![expect(unsafe_code, reason = "calls the bare libraries")]

use softdpu_card::{EngineKind, Machine};
use softdpu_compress::{Compress, CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, Level};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Handler, Next, Task};
use softdpu_room::typed::Context;
use std::ffi::{c_int, c_void};
use std::hint::black_box;
use std::sync::{Arc, Mutex};

const ROUNDS: usize = 21;
const SAMPLE: usize = 4 << 20;

fn sums(plain: &[u8]) -> (u32, u32) {
    // SAFETY: slices.
    unsafe {
        let (at, n) = (plain.as_ptr().cast(), plain.len());
        (libdeflate_sys::libdeflate_crc32(0, at, n), libdeflate_sys::libdeflate_adler32(1, at, n))
    }
}

/// A bare compressor of libdeflate.
fn bare_deflate(level: i32) -> impl FnMut(&[u8], &mut [u8]) -> usize {
    // SAFETY: never freed: it lives as long as the program.
    let compressor = unsafe { libdeflate_sys::libdeflate_alloc_compressor(level) };
    move |from, to| {
        let (source, room) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: slices.
        unsafe { libdeflate_sys::libdeflate_deflate_compress(compressor, source, from.len(), room, to.len()) }
    }
}

fn bare_inflate() -> impl FnMut(&[u8], &mut [u8]) -> usize {
    // SAFETY: never freed.
    let inflater = unsafe { libdeflate_sys::libdeflate_alloc_decompressor() };
    move |from, to| {
        let mut n = 0;
        let (source, room) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: slices.
        let result = unsafe {
            libdeflate_sys::libdeflate_deflate_decompress(
                inflater,
                source,
                from.len(),
                room,
                to.len(),
                &raw mut n,
            )
        };
        assert_eq!(result, 0);
        n
    }
}

fn bare_lz4(from: &[u8], to: &mut [u8]) -> usize {
    // SAFETY: slices.
    let n = unsafe {
        lz4_sys::LZ4_decompress_safe(
            from.as_ptr().cast(),
            to.as_mut_ptr().cast(),
            from.len() as c_int,
            to.len() as c_int,
        )
    };
    usize::try_from(n).expect("a good block")
}

unsafe extern "C" {
    /// The reference implementation that comes with lz4.
    #[link_name = "XXH32"]
    fn reference_xxh32(input: *const c_void, length: usize, seed: u32) -> u32;
}

/// XXH32 of the reference implementation.
fn xxh32(plain: &[u8]) -> u32 {
    // SAFETY: a slice.
    unsafe { reference_xxh32(plain.as_ptr().cast(), plain.len(), 0) }
}

/// ISA-L's one-shot inflate, where it is installed.
fn isal_inflate() -> Option<impl FnMut(&[u8], &mut [u8]) -> usize> {
    #[repr(C)]
    struct State {
        next_out: *mut u8,
        avail_out: u32,
        total_out: u32,
        next_in: *const u8,
        read_in: u64,
        avail_in: u32,
    }
    type Init = unsafe extern "C" fn(*mut State);
    type Run = unsafe extern "C" fn(*mut State) -> c_int;
    // SAFETY: functions of ISA-L with these types; the state has room for 87368 bytes and more.
    unsafe {
        let library = libc::dlopen(c"libisal.so.2".as_ptr(), libc::RTLD_NOW);
        if library.is_null() {
            return None;
        }
        let init =
            std::mem::transmute::<*mut c_void, Init>(libc::dlsym(library, c"isal_inflate_init".as_ptr()));
        let run =
            std::mem::transmute::<*mut c_void, Run>(libc::dlsym(library, c"isal_inflate_stateless".as_ptr()));
        let mut state = vec![0_u64; 32 << 10];
        Some(move |from: &[u8], to: &mut [u8]| {
            let state = state.as_mut_ptr().cast::<State>();
            init(state);
            (*state).next_in = from.as_ptr();
            (*state).avail_in = from.len() as u32;
            (*state).next_out = to.as_mut_ptr();
            (*state).avail_out = to.len() as u32;
            assert_eq!(run(state), 0);
            (*state).total_out as usize
        })
    }
}

/// A handler that puts finished tasks back.
fn put_back<T: Task<Engine = Compress>>(back: Arc<Mutex<Vec<Done<T>>>>) -> Option<Handler<T>> {
    Some(Box::new(move |done, _| {
        back.lock().expect("not poisoned").push(done);
        Next::Free
    }))
}

/// A context whose handler puts finished tasks back.
struct Lane<T: Task<Engine = Compress>> {
    context: Context<Compress>,
    pe: ProgressEngine,
    back: Arc<Mutex<Vec<Done<T>>>>,
}

impl<T: Task<Engine = Compress>> Lane<T> {
    fn new(
        session: &Session,
        device: &Device,
        configure: impl FnOnce(&mut Config, Arc<Mutex<Vec<Done<T>>>>),
    ) -> Lane<T> {
        let back = Arc::new(Mutex::new(Vec::new()));
        let mut config = Config::default();
        configure(&mut config, Arc::clone(&back));
        let mut pe = ProgressEngine::new(session).expect("a progress engine");
        let context =
            Context::start(&mut pe, device, config).and_then(|s| s.wait(&mut pe)).expect("a context");
        Lane { context, pe, back }
    }

    /// All tasks, `depth` of them in flight at most.
    fn run(&mut self, tasks: &mut Vec<T>, depth: usize, mut reset: impl FnMut(&mut T)) {
        let (mut waiting, mut done) = (std::mem::take(tasks), Vec::new());
        waiting.reverse();
        let count = waiting.len();
        let mut flying = 0;
        while done.len() < count {
            while flying < depth
                && let Some(mut task) = waiting.pop()
            {
                reset(&mut task);
                self.context.post(task).map_err(|refused| refused.error).expect("accepted");
                flying += 1;
            }
            self.pe.progress();
            for landed in self.back.lock().expect("not poisoned").drain(..) {
                assert!(landed.result.is_ok());
                done.push(landed.task);
                flying -= 1;
            }
        }
        *tasks = done;
    }
}

/// Windows on one memory, one after the other as vectors would lie.
struct Place {
    memory: Memory,
    at: usize,
}

impl Place {
    fn new(device: &Device, len: usize, count: usize) -> Place {
        let memory = Memory::heap((len + 128) * count).access(Access::LOCAL_READ_WRITE);
        Place { memory: memory.register(&[device.shared()]).expect("memory"), at: 16 }
    }

    fn empty(&mut self, room: usize) -> Buf {
        let at = self.at;
        self.at += room.next_multiple_of(16) + 16;
        self.memory.buf(at..at + room).expect("a buffer")
    }

    fn full(&mut self, bytes: &[u8]) -> Buf {
        let mut buf = self.empty(bytes.len());
        buf.push_slice(bytes).expect("room");
        buf
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Seconds of processor time of this thread.
fn processor_time() -> f64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a valid place for the result.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut now) }, 0);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

/// Rounds of both contestants in turn; prints one line.
fn compare(name: &str, bytes: usize, mut engine: impl FnMut(), mut bare: impl FnMut()) {
    let (mut rates, mut bares, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    engine();
    bare();
    for _ in 0..ROUNDS {
        let start = processor_time();
        engine();
        let between = processor_time();
        bare();
        let (mine, theirs) = (between - start, processor_time() - between);
        rates.push(bytes as f64 / mine / 1e9);
        bares.push(bytes as f64 / theirs / 1e9);
        ratios.push(theirs / mine);
    }
    println!(
        "{name:<58} {:7.3} GB/s  bare {:7.3} GB/s  x {:.3}",
        median(rates),
        median(bares),
        median(ratios)
    );
}

fn main() {
    let path = std::env::args_os().nth(1).unwrap_or_else(|| std::env::current_exe().expect("a path").into());
    let corpus = std::fs::read(path).expect("a corpus");
    let session = Session::new(Machine::builder().build().expect("a machine"), softdpu_board::inline());
    let device = session.first_with(EngineKind::Compress).and_then(|d| d.open()).expect("a device");
    let sizes: &[usize] =
        if std::env::args().any(|a| a == "contexts") { &[] } else { &[4 << 10, 64 << 10, 1 << 20] };
    for &size in sizes {
        let count = (SAMPLE / size).max(2);
        let step = corpus.len().saturating_sub(size) / count;
        let chunks: Vec<&[u8]> =
            (0..count).map(|i| &corpus[i * step..(i * step + size).min(corpus.len())]).collect();
        let bytes: usize = chunks.iter().map(|c| c.len()).sum();
        for depth in [1, 32] {
            println!("# chunks of {size} bytes, {depth} in flight");
            deflating(&session, &device, &chunks, bytes, depth);
            inflating(&session, &device, &chunks, bytes, depth);
            unpacking_lz4(&session, &device, &chunks, bytes, depth);
        }
    }
    two_contexts(&corpus[..SAMPLE.min(corpus.len())]);
}

/// Two contexts on two threads against one, compressing pieces of 64 KiB: by the processor time of the threads, which is
/// what they cost each other if each has a core to itself.
fn two_contexts(corpus: &[u8]) {
    let work = || {
        let session = Session::new(Machine::builder().build().expect("a machine"), softdpu_board::inline());
        let device = session.first_with(EngineKind::Compress).and_then(|d| d.open()).expect("a device");
        let mut lane = compressing(&session, &device, Level::FAST);
        let mut place = Place::new(&device, 66 << 10, 2 * corpus.len().div_ceil(64 << 10));
        let mut tasks: Vec<_> = corpus
            .chunks(64 << 10)
            .map(|c| CompressDeflate { src: place.full(c), dst: place.empty(c.len() + 1000) })
            .collect();
        let start = processor_time();
        (0..8).for_each(|_| lane.run(&mut tasks, 32, |task| task.dst.reset()));
        processor_time() - start
    };
    let ratios = (0..7)
        .map(|_| {
            let alone = work();
            let together = std::thread::scope(|scope| {
                let other = scope.spawn(work);
                work().max(other.join().expect("the other thread"))
            });
            2.0 * alone / together
        })
        .collect();
    println!("two contexts on two threads, compress 64 KiB: {:.2} times one", median(ratios));
}

fn compressing(session: &Session, device: &Device, level: Level) -> Lane<CompressDeflate> {
    Lane::new(session, device, |config, back| {
        config.level = level;
        config.on_compress_deflate = put_back(back);
    })
}

fn deflating(session: &Session, device: &Device, chunks: &[&[u8]], bytes: usize, depth: usize) {
    let room = chunks[0].len() + 1000;
    let mut out = vec![0; room];
    let mut outs = vec![vec![0; room]; chunks.len()];
    let places = || (Place::new(device, room, chunks.len()), Place::new(device, room, chunks.len()));
    for level in [Level::FAST, Level::BALANCED] {
        let mut lane = compressing(session, device, level);
        let level = level.get();
        let (mut from, mut to) = places();
        let mut tasks: Vec<_> =
            chunks.iter().map(|c| CompressDeflate { src: from.full(c), dst: to.empty(room) }).collect();
        let mut deflate = bare_deflate(level.into());
        let plain: Vec<Vec<u8>> = chunks.iter().map(|c| c.to_vec()).collect();
        let engine = || lane.run(&mut tasks, depth, |task| task.dst.reset());
        let bare = || {
            for (chunk, out) in plain.iter().zip(&mut outs) {
                black_box((deflate(chunk, out), sums(chunk)));
            }
        };
        compare(&format!("compress, level {level}, to libdeflate"), bytes, engine, bare);
        let written: usize = tasks.iter().map(|t| t.dst.data_len()).sum();
        let theirs: usize = plain.iter().map(|c| deflate(c, &mut out)).sum();
        println!(
            "    ratio {:.3}, of libdeflate {:.3}",
            bytes as f64 / written as f64,
            bytes as f64 / theirs as f64
        );
    }
}

fn inflating(session: &Session, device: &Device, chunks: &[&[u8]], bytes: usize, depth: usize) {
    let room = chunks[0].len() + 1000;
    let mut out = vec![0; room];
    let mut outs = vec![vec![0; room]; chunks.len()];
    let places = || (Place::new(device, room, chunks.len()), Place::new(device, room, chunks.len()));
    let mut deflate = bare_deflate(6);
    let streams: Vec<Vec<u8>> = chunks
        .iter()
        .map(|c| {
            let n = deflate(c, &mut out);
            out[..n].to_vec()
        })
        .collect();
    let mut lane = Lane::<DecompressDeflate>::new(session, device, |config, back| {
        config.on_decompress_deflate = put_back(back);
    });
    let (mut from, mut to) = places();
    let mut tasks: Vec<_> = streams
        .iter()
        .map(|s| DecompressDeflate { src: from.full(s), dst: to.empty(chunks[0].len()) })
        .collect();
    let mut against = |name: &str, inflate: &mut dyn FnMut(&[u8], &mut [u8]) -> usize| {
        let bare = || {
            for (stream, out) in streams.iter().zip(&mut outs) {
                let n = inflate(stream, out);
                black_box(sums(&out[..n]));
            }
        };
        compare(name, bytes, || lane.run(&mut tasks, depth, |t| t.dst.reset()), bare);
    };
    against("decompress deflate, to libdeflate", &mut bare_inflate());
    if let Some(mut inflate) = isal_inflate() {
        against("decompress deflate, to ISA-L", &mut inflate);
    }
}

fn unpacking_lz4(session: &Session, device: &Device, chunks: &[&[u8]], bytes: usize, depth: usize) {
    let room = chunks[0].len() + 1000;
    let mut outs = vec![vec![0; room]; chunks.len()];
    let places = || (Place::new(device, room, chunks.len()), Place::new(device, room, chunks.len()));
    let blocks: Vec<Vec<u8>> = chunks.iter().map(|c| lz4_flex::block::compress(c)).collect();
    let mut lane = Lane::<DecompressLz4Block>::new(session, device, |config, back| {
        config.on_decompress_lz4_block = put_back(back);
    });
    let (mut from, mut to) = places();
    let mut tasks: Vec<_> = blocks
        .iter()
        .map(|b| DecompressLz4Block { src: from.full(b), dst: to.empty(chunks[0].len()) })
        .collect();
    compare(
        "decompress LZ4 block, to lz4 + crc32 + xxh32",
        bytes,
        || lane.run(&mut tasks, depth, |t| t.dst.reset()),
        || {
            for (block, out) in blocks.iter().zip(&mut outs) {
                let n = bare_lz4(block, out);
                // SAFETY: a slice.
                black_box(unsafe { libdeflate_sys::libdeflate_crc32(0, out.as_ptr().cast(), n) });
                black_box(xxh32(&out[..n]));
            }
        },
    );
}
