//! The engine against ISA-L called directly, in one run: redundancy of 8 and 10 data blocks, 4 redundancy blocks each.
//!
//! `cargo run --release -p softdpu-erasure-coding --example yardstick`. ISA-L is looked for at run time
//! (`libisal.so.2`); without it the kernels are compared with each other alone. Figures are bytes of data per second;
//! ratios are medians over rounds in which every contestant had its turn. What happens on one thread alone is measured
//! in that thread's processor time, so that other programs of the machine disturb little; what workers help with, in
//! wall time.
#![expect(unsafe_code, reason = "calls a library that is found at run time")]

use softdpu_card::{EngineKind, Machine};
use softdpu_erasure_coding::{Create, ErasureCoding, Matrix, Recover, Update};
use softdpu_kernels::gf256::{Kernel, Table};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::typed::Context;
use std::ffi::{c_int, c_uchar};

type InitTables = unsafe extern "C" fn(c_int, c_int, *mut c_uchar, *mut c_uchar);
type Encode = unsafe extern "C" fn(c_int, c_int, c_int, *mut c_uchar, *mut *mut c_uchar, *mut *mut c_uchar);

/// ISA-L's two functions.
struct Isal(InitTables, Encode);

impl Isal {
    fn find() -> Option<Isal> {
        // SAFETY: the names and types are those of the library's public header.
        unsafe {
            let library = libc::dlopen(c"libisal.so.2".as_ptr(), libc::RTLD_NOW);
            if library.is_null() {
                return None;
            }
            let init = libc::dlsym(library, c"ec_init_tables".as_ptr());
            let encode = libc::dlsym(library, c"ec_encode_data".as_ptr());
            if init.is_null() || encode.is_null() {
                return None;
            }
            Some(Isal(
                std::mem::transmute::<*mut libc::c_void, InitTables>(init),
                std::mem::transmute::<*mut libc::c_void, Encode>(encode),
            ))
        }
    }

    /// A closure that multiplies the same blocks over and over.
    fn multiply(&self, matrix: &Matrix, block: usize, src: *mut u8, dst: *mut u8) -> impl FnMut() + use<> {
        let (k, m) = (matrix.inputs(), matrix.outputs());
        // Its rows are the outputs.
        let mut rows: Vec<u8> = (0..m)
            .flat_map(|j| (0..k).map(move |i| (i, j)))
            .map(|(i, j)| matrix.coefficient(i, j).unwrap_or(0))
            .collect();
        let mut tables = vec![0; 32 * k * m];
        // SAFETY: as many coefficients, and 32 bytes of table for each.
        unsafe { self.0(k as c_int, m as c_int, rows.as_mut_ptr(), tables.as_mut_ptr()) };
        let pointers = |at: *mut u8, n: usize| (0..n).map(|i| at.wrapping_add(i * block)).collect::<Vec<_>>();
        let (mut ins, mut outs, encode) = (pointers(src, k), pointers(dst, m), self.1);
        // SAFETY: all blocks lie in memory that the caller keeps.
        move || unsafe {
            encode(
                block as c_int,
                k as c_int,
                m as c_int,
                tables.as_mut_ptr(),
                ins.as_mut_ptr(),
                outs.as_mut_ptr(),
            );
        }
    }
}

struct Rig {
    pe: ProgressEngine,
    context: Context<ErasureCoding>,
    device: Device,
}

impl Rig {
    fn new(board: &'static dyn softdpu_room::board::Board) -> Rig {
        let session = Session::new(Machine::builder().build().expect("a machine"), board);
        let device = session.first_with(EngineKind::ErasureCoding).and_then(|d| d.open()).expect("a device");
        let mut pe = ProgressEngine::new(&session).expect("a progress engine");
        let context = Context::start(&mut pe, &device, Default::default())
            .and_then(|s| s.wait(&mut pe))
            .expect("a context");
        Rig { pe, context, device }
    }

    /// Memory with source and destination: the window of the source is full.
    fn bufs(&self, src: usize, dst: usize) -> (Buf, Buf) {
        let memory = Memory::heap(src + dst).access(Access::LOCAL_READ_WRITE).align(4096);
        let memory = memory.register(&[self.device.shared()]).expect("memory");
        let (mut from, to) = (memory.buf(..src).expect("a buffer"), memory.buf(src..).expect("a buffer"));
        from.push_slice(&(0..src).map(|n| (n * 31 + n / 999) as u8).collect::<Vec<_>>()).expect("room");
        (from, to)
    }
}

macro_rules! task {
    ($task:ident, $rig:expr, $matrix:expr, $block:expr, $src:ident, $dst:ident) => {{
        let (matrix, mut rig): (Matrix, Rig) = ($matrix, $rig);
        let ($src, $dst) = rig.bufs(matrix.inputs() * $block, matrix.outputs() * $block);
        let mut task = Some($task { matrix, $src, $dst });
        move || {
            let Some(mut next) = task.take() else { return };
            next.$dst.reset();
            let mut flight = rig.context.submit(next).map_err(|r| r.error).expect("accepted");
            task = loop {
                rig.pe.progress();
                match flight.try_take() {
                    Ok(done) => break Some(done.task),
                    Err(again) => flight = again,
                }
            };
        }
    }};
}

/// Name, what to do once.
type Contestant = (String, Box<dyn FnMut()>);

/// Seconds by a clock of the system.
fn seconds(clock: libc::clockid_t) -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: a local out parameter.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

const ALONE: libc::clockid_t = libc::CLOCK_THREAD_CPUTIME_ID;
const WALL: libc::clockid_t = libc::CLOCK_MONOTONIC;

/// Lets all of them run in turn; prints rates, and ratios to the first.
fn race(title: &str, bytes: usize, clock: libc::clockid_t, mut all: Vec<Contestant>) {
    const ROUNDS: usize = 15;
    let mut rates = vec![Vec::new(); all.len()];
    for round in 0..ROUNDS {
        for at in 0..all.len() {
            // A different one begins in each round.
            let at = (at + round) % all.len();
            let (start, mut count) = (seconds(clock), 0u32);
            while seconds(clock) - start < 0.006 {
                (0..8).for_each(|_| all[at].1());
                count += 8;
            }
            rates[at].push(f64::from(count) * bytes as f64 / (seconds(clock) - start) / 1e9);
        }
    }
    println!("{title}");
    for (at, (name, _)) in all.iter().enumerate() {
        let ratios = rates[at].iter().zip(&rates[0]).map(|(a, b)| a / b).collect();
        println!("  {name:<34} {:7.2} GB/s   {:5.2}x", median(rates[at].clone()), median(ratios));
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The kernel alone, on memory of its own.
fn bare(kernel: Kernel, matrix: &Matrix, block: usize) -> Box<dyn FnMut()> {
    let (k, m) = (matrix.inputs(), matrix.outputs());
    let all: Vec<u8> = (0..k)
        .flat_map(|i| (0..m).map(move |j| (i, j)))
        .map(|(i, j)| matrix.coefficient(i, j).unwrap_or(0))
        .collect();
    let table = Table::with(kernel, m, &all).expect("memory");
    let src: Vec<u8> = (0..k * block + 4096).map(|n| (n * 31 + n / 999) as u8).collect();
    let mut dst = vec![0; m * block + 4096];
    Box::new(move || {
        let (from, to) = (src.as_ptr().align_offset(4096), dst.as_ptr().align_offset(4096));
        let ins: Vec<&[u8]> = src[from..].chunks_exact(block).take(k).collect();
        let mut outs: Vec<&mut [u8]> = dst[to..].chunks_exact_mut(block).take(m).collect();
        table.multiply(&ins, &mut outs);
    })
}

fn main() {
    let isal = Isal::find();
    println!(
        "kernel {}, ISA-L {}",
        Kernel::best().name(),
        if isal.is_some() { "found" } else { "not found" }
    );
    let (inline, threads) = (softdpu_board::inline(), softdpu_board::threads());
    for (k, m) in [(8, 4), (10, 4)] {
        for block in [4 << 10, 64 << 10, 1 << 20] {
            let coding = Matrix::cauchy(k, m).expect("a code");
            let lost: Vec<u32> = (0..m as u32).collect();
            let (recovery, update) =
                (coding.recover(&lost).expect("a Cauchy matrix"), coding.update(&[1]).expect("an index"));
            let (mut src, mut dst) = (vec![1u8; k * block + 4096], vec![0u8; m * block + 4096]);
            let yardstick = |matrix: &Matrix| -> Vec<Contestant> {
                let aligned = |at: *mut u8| at.wrapping_add(at.align_offset(4096));
                let (from, to) = (aligned(src.as_ptr().cast_mut()), aligned(dst.as_ptr().cast_mut()));
                let run = isal.as_ref().map(|isal| isal.multiply(matrix, block, from, to));
                run.into_iter()
                    .map(|run| ("ISA-L, bare".to_owned(), Box::new(run) as Box<dyn FnMut()>))
                    .collect()
            };
            let mut all = yardstick(&coding);
            for kernel in Kernel::ALL.into_iter().filter(|k| k.is_available() && *k != Kernel::Portable) {
                all.push((format!("{} kernel, bare", kernel.name()), bare(kernel, &coding, block)));
            }
            let create = |board| task!(Create, Rig::new(board), coding.clone(), block, data, rdnc);
            all.push(("create task, no workers".into(), Box::new(create(inline))));
            let recover = task!(Recover, Rig::new(inline), recovery, block, available, recovered);
            all.push(("recover task, no workers".into(), Box::new(recover)));
            race(
                &format!("{k} + {m} blocks of {block} bytes, data per processor time"),
                k * block,
                ALONE,
                all,
            );
            let mut all = yardstick(&update);
            let task = task!(Update, Rig::new(inline), update, block, changes, rdnc);
            all.push(("update task (1 block), no workers".into(), Box::new(task)));
            race("  bytes read and written per processor time", (2 + 2 * m) * block, ALONE, all);
            let mut all = yardstick(&coding);
            all.push(("create task".into(), Box::new(create(threads))));
            race("  data per wall time", k * block, WALL, all);
            // The yardstick's memory, which it reaches by pointer.
            src.fill(0);
            dst.fill(0);
        }
    }
}
