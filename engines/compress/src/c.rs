//! The C entry points of the compression engine.
//!
//! `struct doca_compress` is the context; each of the four task structures is the task's slot. The four families of
//! functions differ in names alone, so they are made by macros from the functions above them. Thread rule: a context and
//! its tasks belong to one thread at a time; capability queries on a device record may come from any.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(missing_docs, clippy::missing_safety_doc, reason = "the contract of every entry point is its declaration in doca_compress.h")]

use crate::caps::{Caps, Kind};
use crate::hardware::{Compress, Config, Level};
use crate::task::{Job, unpack};
use core::ffi::c_int;
use softdpu_memory::handle::{DEAD_BIT, DeviceRecord, Head, OpenDevice, checked, explain, kind, live};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked, guard_value, number};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

unsafe fn context<'a>(compress: *const Core, call: &str) -> Result<&'a Core> {
    // SAFETY: handles of this library, as the contract demands.
    let core = unsafe { checked(compress, call)? };
    if core.info().kind != Compress::INFO.kind {
        log::error!(target: "softdpu::handle",
            "{call}: context {compress:p} is a {} context, not a compress context", core.info().name);
        return Err(Error::new(Code::InvalidValue, "not a compress context"));
    }
    Ok(core)
}

fn null<T>(call: &str, what: &str) -> Result<T> {
    log::error!(target: "softdpu::compress", "{call}: {what} is NULL");
    Err(Error::new(Code::InvalidValue, "argument is NULL"))
}

unsafe fn put<T>(to: *mut T, value: T, call: &str) -> Result<()> {
    if to.is_null() {
        return null(call, "the result pointer");
    }
    // SAFETY: a non-NULL out parameter.
    unsafe { to.write(value) };
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_compress_create(dev: *const OpenDevice, compress: *mut *const Core) -> c_int {
    const CALL: &str = "doca_compress_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if compress.is_null() {
            return null(CALL, "compress");
        }
        let core = Core::create(Compress::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        // SAFETY: non-NULL out parameter.
        unsafe { compress.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_compress_destroy(compress: *const Core) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(compress, "doca_compress_destroy")? }.as_static().destroy()
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_compress_as_ctx(compress: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(core::ptr::null(), || match unsafe { context(compress, "doca_compress_as_ctx") } {
        Ok(core) => core,
        Err(_) => core::ptr::null(),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_compress_cap_get_max_num_tasks(compress: *const Core, max_num_tasks: *mut u32) -> c_int {
    const CALL: &str = "doca_compress_cap_get_max_num_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL; an out parameter, or NULL.
        unsafe { put(max_num_tasks, Caps::of(context(compress, CALL)?.device().function())?.max_num_tasks, CALL) }
    })
}

/// The engine of the device behind a record, if it can do this kind of task. Programs scan devices with this, so that it
/// cannot is an ordinary answer.
unsafe fn caps_for(devinfo: *const DeviceRecord, kind: Kind, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    let function = unsafe { checked(devinfo, call)? }.function();
    let caps = Caps::of(function).ok().filter(|caps| caps.supports(kind));
    caps.ok_or_else(|| {
        log::debug!(target: "softdpu::compress", "{call}: device {} has no {} (profile {})",
            function.pci(), kind.name(), function.card().profile());
        Error::new(Code::NotSupported, "the device lacks this task")
    })
}

unsafe fn set_conf(compress: *const Core, calls: [Option<Completion>; 2], tasks: u32, kind: Kind, call: &str) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(compress, call)? }.as_static();
    let [Some(success), Some(error)] = calls else { return null(call, "a callback") };
    core.require(State::Idle, call)?;
    let caps = Caps::of(core.device().function())?;
    if !caps.supports(kind) {
        log::error!(target: "softdpu::compress", "{call}: device {} has no {}", core.device().function().pci(), kind.name());
        return Err(Error::new(Code::NotSupported, "the device lacks this task"));
    }
    let others: u64 = Kind::ALL.iter().filter(|k| **k != kind).filter_map(|k| core.setting(*k as u32)).sum();
    if tasks == 0 || others + u64::from(tasks) > caps.max_num_tasks.into() {
        log::error!(target: "softdpu::compress",
            "{call}: {tasks} tasks asked for, with {others} of other kinds; allowed 1 to {} together", caps.max_num_tasks);
        return Err(Error::new(Code::InvalidValue, "number of tasks out of range"));
    }
    core.set_callbacks(kind as usize, success, error);
    core.set(kind as u32, tasks.into());
    core.set_starter(start);
    Ok(())
}

fn start(core: &'static Core) -> Result<softdpu_room::life::Equipment> {
    let pool = |kind: Kind| core.setting(kind as u32).map(|tasks| (kind as u8, tasks as u32));
    let pools = Kind::ALL.into_iter().filter_map(pool).collect();
    Ok((Compress::on(core.device(), Level::default())?.work(Config::default()), pools))
}

unsafe fn alloc(
    compress: *const Core,
    (kind, flags): (Kind, [u8; 2]),
    bufs: [*const Node; 2],
    user: u64,
    task: *mut *const Slot,
    call: &str,
) -> Result<()> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(compress, call)? }.as_static();
    if task.is_null() {
        return null(call, "task");
    }
    for buf in bufs {
        // SAFETY: a handle, or NULL.
        unsafe { checked(buf, call)? };
    }
    let slot = core.allocate_checked(kind as usize, user, call)?;
    // SAFETY: the slot is the program's until it is submitted; its context is of this engine. Buffers are only noted.
    unsafe {
        let (src, dst) = (Lent::from_handle(bufs[0]), Lent::from_handle(bufs[1]));
        let job = Job { kind, block_checksums: flags[0], independent_blocks: flags[1], src, dst, owned: None };
        slot.job::<Job>().write(job);
        task.write(slot);
    }
    Ok(())
}

/// The slot of a task of this kind. Getters also work on a task that was just freed (`stale`), whose memory stays.
unsafe fn slot<'a>(task: *const Slot, wanted: Kind, call: &str, stale: bool) -> Option<&'a Slot> {
    // SAFETY: a handle, or NULL; slots are never given back to the system.
    let found = unsafe {
        match live(task) {
            Some(slot) => Some(slot),
            None if stale && !task.is_null() && (*task.cast::<Head>()).is(kind::TASK | DEAD_BIT) => Some(&*task),
            None => {
                explain(task, call);
                None
            }
        }
    }?;
    // A slot that never had a context holds no job.
    let fits = !found.context_of_stale().is_null()
        && found.context().info().kind == Compress::INFO.kind
        && found.op() == wanted as usize;
    if !fits {
        log::error!(target: "softdpu::compress", "{call}: task {task:p} is no {} task", wanted.name());
    }
    fits.then_some(found)
}

/// Reads a task's job.
unsafe fn read<T>(task: *const Slot, kind: Kind, call: &str, look: impl FnOnce(&Job) -> T) -> Option<T> {
    // SAFETY: a handle, or NULL; a slot of this kind holds a job since it was allocated.
    unsafe { slot(task, kind, call, true).map(|slot| look(&*slot.job::<Job>())) }
}

/// Changes a task's job.
unsafe fn change(task: *const Slot, kind: Kind, call: &str, make: impl FnOnce(&mut Job)) {
    // SAFETY: as in `read`; the program owns the task while it is not in flight.
    unsafe {
        if let Some(slot) = slot(task, kind, call, false) {
            make(&mut *slot.job::<Job>());
        }
    }
}

/// CRC-32 and the other checksum of a task that succeeded.
unsafe fn sums(task: *const Slot, kind: Kind, call: &str) -> (u32, u32) {
    // SAFETY: a handle, or NULL.
    unsafe { slot(task, kind, call, true) }.map_or((0, 0), |slot| unpack(slot.output()))
}

/// The functions that every kind has.
macro_rules! family {
    ($kind:ident: $supported:ident, $size:ident, $list:ident, $conf:ident, $as_task:ident,
     $set_src:ident, $get_src:ident, $set_dst:ident, $get_dst:ident, $crc:ident, $other:ident = $show:expr) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $supported(devinfo: *const DeviceRecord) -> c_int {
            // SAFETY: a handle, or NULL.
            guard(|| unsafe { caps_for(devinfo, Kind::$kind, stringify!($supported)) }.map(|_| ()))
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $size(devinfo: *const DeviceRecord, max_buffer_size: *mut u64) -> c_int {
            const CALL: &str = stringify!($size);
            // SAFETY: a handle, or NULL; an out parameter, or NULL.
            guard(|| unsafe { put(max_buffer_size, caps_for(devinfo, Kind::$kind, CALL)?.max_buf_size, CALL) })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $list(devinfo: *const DeviceRecord, max_buf_list_len: *mut u32) -> c_int {
            const CALL: &str = stringify!($list);
            // SAFETY: a handle, or NULL; an out parameter, or NULL.
            guard(|| unsafe { put(max_buf_list_len, caps_for(devinfo, Kind::$kind, CALL)?.max_buf_list_len, CALL) })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $conf(
            compress: *const Core,
            task_completion_cb: Option<Completion>,
            task_error_cb: Option<Completion>,
            num_tasks: u32,
        ) -> c_int {
            let calls = [task_completion_cb, task_error_cb];
            // SAFETY: a handle, or NULL.
            guard(|| unsafe { set_conf(compress, calls, num_tasks, Kind::$kind, stringify!($conf)) })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $as_task(task: *const Slot) -> *const Slot {
            task
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_src(task: *const Slot, src_buff: *const Node) {
            // SAFETY: handles, or NULL.
            unsafe { change(task, Kind::$kind, stringify!($set_src), |job| job.src = Lent::from_handle(src_buff)) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_src(task: *const Slot) -> *const Node {
            // SAFETY: a handle, or NULL.
            let found = unsafe { read(task, Kind::$kind, stringify!($get_src), |job| job.src.handle()) };
            found.unwrap_or(core::ptr::null())
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set_dst(task: *const Slot, dst_buff: *const Node) {
            // SAFETY: handles, or NULL.
            unsafe { change(task, Kind::$kind, stringify!($set_dst), |job| job.dst = Lent::from_handle(dst_buff)) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get_dst(task: *const Slot) -> *const Node {
            // SAFETY: a handle, or NULL.
            let found = unsafe { read(task, Kind::$kind, stringify!($get_dst), |job| job.dst.handle()) };
            found.unwrap_or(core::ptr::null())
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $crc(task: *const Slot) -> u32 {
            // SAFETY: a handle, or NULL.
            unsafe { sums(task, Kind::$kind, stringify!($crc)) }.0
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $other(task: *const Slot) -> u32 {
            let show: fn(u32) -> u32 = $show;
            // SAFETY: a handle, or NULL.
            show(unsafe { sums(task, Kind::$kind, stringify!($other)) }.1)
        }
    };
}

/// Allocation of the kinds without flags.
macro_rules! allocation {
    ($kind:ident: $alloc:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $alloc(
            compress: *const Core,
            src_buff: *const Node,
            dst_buff: *const Node,
            user_data: u64,
            task: *mut *const Slot,
        ) -> c_int {
            let what = (Kind::$kind, [0; 2]);
            // SAFETY: handles, or NULL.
            number(unsafe { alloc(compress, what, [src_buff, dst_buff], user_data, task, stringify!($alloc)) })
        }
    };
}

/// A flag of LZ4 stream tasks.
macro_rules! flag {
    ($field:ident: $set:ident, $get:ident) => {
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(task: *const Slot, value: u8) {
            // SAFETY: a handle, or NULL.
            unsafe { change(task, Kind::DecompressLz4Stream, stringify!($set), |job| job.$field = value) }
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(task: *const Slot) -> u8 {
            // SAFETY: a handle, or NULL.
            unsafe { read(task, Kind::DecompressLz4Stream, stringify!($get), |job| job.$field) }.unwrap_or(0)
        }
    };
}

family!(CompressDeflate:
    doca_compress_cap_task_compress_deflate_is_supported,
    doca_compress_cap_task_compress_deflate_get_max_buf_size,
    doca_compress_cap_task_compress_deflate_get_max_buf_list_len,
    doca_compress_task_compress_deflate_set_conf,
    doca_compress_task_compress_deflate_as_task,
    doca_compress_task_compress_deflate_set_src,
    doca_compress_task_compress_deflate_get_src,
    doca_compress_task_compress_deflate_set_dst,
    doca_compress_task_compress_deflate_get_dst,
    doca_compress_task_compress_deflate_get_crc_cs,
    doca_compress_task_compress_deflate_get_adler_cs = |adler| adler);
allocation!(CompressDeflate: doca_compress_task_compress_deflate_alloc_init);

family!(DecompressDeflate:
    doca_compress_cap_task_decompress_deflate_is_supported,
    doca_compress_cap_task_decompress_deflate_get_max_buf_size,
    doca_compress_cap_task_decompress_deflate_get_max_buf_list_len,
    doca_compress_task_decompress_deflate_set_conf,
    doca_compress_task_decompress_deflate_as_task,
    doca_compress_task_decompress_deflate_set_src,
    doca_compress_task_decompress_deflate_get_src,
    doca_compress_task_decompress_deflate_set_dst,
    doca_compress_task_decompress_deflate_get_dst,
    doca_compress_task_decompress_deflate_get_crc_cs,
    doca_compress_task_decompress_deflate_get_adler_cs = |adler| adler);
allocation!(DecompressDeflate: doca_compress_task_decompress_deflate_alloc_init);

// C programs get XXH32 as a big-endian word: its bytes in memory are in the order of the checksum's text form.
family!(DecompressLz4Stream:
    doca_compress_cap_task_decompress_lz4_stream_is_supported,
    doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size,
    doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len,
    doca_compress_task_decompress_lz4_stream_set_conf,
    doca_compress_task_decompress_lz4_stream_as_task,
    doca_compress_task_decompress_lz4_stream_set_src,
    doca_compress_task_decompress_lz4_stream_get_src,
    doca_compress_task_decompress_lz4_stream_set_dst,
    doca_compress_task_decompress_lz4_stream_get_dst,
    doca_compress_task_decompress_lz4_stream_get_crc_cs,
    doca_compress_task_decompress_lz4_stream_get_xxh_cs = u32::to_be);

family!(DecompressLz4Block:
    doca_compress_cap_task_decompress_lz4_block_is_supported,
    doca_compress_cap_task_decompress_lz4_block_get_max_buf_size,
    doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len,
    doca_compress_task_decompress_lz4_block_set_conf,
    doca_compress_task_decompress_lz4_block_as_task,
    doca_compress_task_decompress_lz4_block_set_src,
    doca_compress_task_decompress_lz4_block_get_src,
    doca_compress_task_decompress_lz4_block_set_dst,
    doca_compress_task_decompress_lz4_block_get_dst,
    doca_compress_task_decompress_lz4_block_get_crc_cs,
    doca_compress_task_decompress_lz4_block_get_xxh_cs = u32::to_be);
allocation!(DecompressLz4Block: doca_compress_task_decompress_lz4_block_alloc_init);

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_compress_task_decompress_lz4_stream_alloc_init(
    compress: *const Core,
    has_block_checksum: u8,
    are_blocks_independent: u8,
    src_buff: *const Node,
    dst_buff: *const Node,
    user_data: u64,
    task: *mut *const Slot,
) -> c_int {
    const CALL: &str = "doca_compress_task_decompress_lz4_stream_alloc_init";
    let what = (Kind::DecompressLz4Stream, [has_block_checksum, are_blocks_independent]);
    // SAFETY: handles, or NULL.
    number(unsafe { alloc(compress, what, [src_buff, dst_buff], user_data, task, CALL) })
}

flag!(block_checksums:
    doca_compress_task_decompress_lz4_stream_set_has_block_checksum,
    doca_compress_task_decompress_lz4_stream_get_has_block_checksum);
flag!(independent_blocks:
    doca_compress_task_decompress_lz4_stream_set_are_blocks_independent,
    doca_compress_task_decompress_lz4_stream_get_are_blocks_independent);
