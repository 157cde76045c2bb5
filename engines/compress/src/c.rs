//! The C entry points of the compression engine.
//!
//! `struct doca_compress` is the context; each of the four task structures is the task's slot. The four families of
//! functions differ in names alone, so they are made by macros from the functions above them. Thread rule: a context and
//! its tasks belong to one thread at a time; capability queries on a device record may come from any.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_compress.h"
)]

mod support;

use crate::caps::{Caps, Kind};
use crate::hardware::Compress;
use core::ffi::c_int;
use softdpu_memory::handle::{DeviceRecord, OpenDevice, checked};
use softdpu_memory::node::{Lent, Node};
use softdpu_room::calls::Completion;
use softdpu_room::context::Core;
use softdpu_room::engine::Engine;
use softdpu_room::entry::{guard, guard_unforked, guard_value, number};
use softdpu_room::slot::Slot;
use std::sync::Arc;
use support::{alloc, caps_for, change, context, null, put, read, set_conf, sums};

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
pub unsafe extern "C" fn doca_compress_cap_get_max_num_tasks(
    compress: *const Core,
    max_num_tasks: *mut u32,
) -> c_int {
    const CALL: &str = "doca_compress_cap_get_max_num_tasks";
    guard(|| {
        // SAFETY: a handle, or NULL; an out parameter, or NULL.
        unsafe {
            put(max_num_tasks, Caps::of(context(compress, CALL)?.device().function())?.max_num_tasks, CALL)
        }
    })
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
            guard(|| unsafe {
                put(max_buffer_size, caps_for(devinfo, Kind::$kind, CALL)?.max_buf_size, CALL)
            })
        }

        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $list(devinfo: *const DeviceRecord, max_buf_list_len: *mut u32) -> c_int {
            const CALL: &str = stringify!($list);
            // SAFETY: a handle, or NULL; an out parameter, or NULL.
            guard(|| unsafe {
                put(max_buf_list_len, caps_for(devinfo, Kind::$kind, CALL)?.max_buf_list_len, CALL)
            })
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
            unsafe {
                change(task, Kind::$kind, stringify!($set_src), |job| job.src = Lent::from_handle(src_buff))
            }
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
            unsafe {
                change(task, Kind::$kind, stringify!($set_dst), |job| job.dst = Lent::from_handle(dst_buff))
            }
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
            number(unsafe {
                alloc(compress, what, [src_buff, dst_buff], user_data, task, stringify!($alloc))
            })
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
