//! Lists of devices as objects, and what a device can do in one structure.
#![expect(unsafe_code, reason = "C entry points")]

use super::{answer, refuse};
use crate::call::{enter, output};
use crate::dev::{self, DevInfo, function};
use softdpu_card::{EngineKind, Function, Profile};
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::Code;
use std::ffi::c_int;
use std::ptr::{NonNull, null_mut};

/// `struct doca_devinfo_list`: a list of the contract, with its length.
#[derive(Debug)]
#[repr(C)]
pub struct DevList {
    head: Head,
    array: usize,
    count: u32,
}

// SAFETY: repr(C), head first.
unsafe impl Object for DevList {
    const KIND: u32 = kind::DEVLIST;
    const NAME: &'static str = "device list";
}

static LISTS: Slab<DevList> = Slab::new();

/// A snapshot of the devices.
///
/// # Safety
/// `list` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_list_create(list: *mut *mut DevList) -> c_int {
    const CALL: &str = "doca_devinfo_list_create";
    crate::log::softdpu_log_init();
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(list, CALL) }?;
        let (mut array, mut count) = (null_mut(), 0);
        // SAFETY: two live locals.
        answer(unsafe { dev::doca_devinfo_create_list(&raw mut array, &raw mut count) })?;
        let made = LISTS.make(DevList { head: Head::unborn(), array: array as usize, count });
        // SAFETY: made above and given to nobody.
        let made = made.inspect_err(|_| _ = unsafe { dev::doca_devinfo_destroy_list(array) })?;
        slot.set(made.as_ptr());
        Ok(())
    })
}

/// How many devices the list has.
///
/// # Safety
/// NULL or a handle of this library; `size` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_list_get_size(list: *const DevList, size: *mut u32) -> c_int {
    const CALL: &str = "doca_devinfo_list_get_size";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (list, slot) = unsafe { (checked(list, CALL)?, output(size, CALL)?) };
        slot.set(list.count);
        Ok(())
    })
}

/// A device of the list.
///
/// # Safety
/// NULL or a handle of this library; `devinfo` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_list_get_devinfo(
    list: *const DevList,
    index: u32,
    devinfo: *mut *mut DevInfo,
) -> c_int {
    const CALL: &str = "doca_devinfo_list_get_devinfo";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (list, slot) = unsafe { (checked(list, CALL)?, output(devinfo, CALL)?) };
        if index >= list.count {
            let line = format_args!("{CALL}: index {index}, the list has {} devices", list.count);
            return Err(refuse(Code::InvalidValue, "outside of the list", line));
        }
        // SAFETY: the array has `count` records and lives as long as the list.
        slot.set(unsafe { *(list.array as *const *mut DevInfo).add(index as usize) });
        Ok(())
    })
}

/// Frees a list. Safe on NULL.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_list_destroy(list: *mut DevList) -> c_int {
    const CALL: &str = "doca_devinfo_list_destroy";
    enter(CALL, || {
        if list.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let this = unsafe { checked(list, CALL) }?;
        // SAFETY: the array is the list's own.
        answer(unsafe { dev::doca_devinfo_destroy_list(this.array as *mut *mut DevInfo) })?;
        // SAFETY: alive, and by the caller's promise nobody else uses it.
        unsafe { LISTS.retire(NonNull::from(this)) };
        Ok(())
    })
}

/// `struct doca_devinfo_caps`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Caps {
    dma: u8,
    sha: u8,
    compress: u8,
    aes_gcm: u8,
    erasure_coding: u8,
    rdma: u8,
    comch: u8,
    eth_rxq: u8,
    eth_txq: u8,
    sync_event: u8,
    model: u32,
    dma_max_buf_list_len: u32,
    dma_max_num_tasks: u32,
    dma_max_buf_size: u64,
    rdma_max_message_size: u32,
}

impl Caps {
    fn of(function: &Function) -> Caps {
        let has = |kind| u8::from(function.supports(kind));
        let limits = function.limits();
        let dma = has(EngineKind::Dma) == 1;
        let rdma = has(EngineKind::Rdma) == 1;
        Caps {
            dma: u8::from(dma),
            sha: has(EngineKind::Sha),
            compress: has(EngineKind::Compress),
            aes_gcm: has(EngineKind::AesGcm),
            erasure_coding: has(EngineKind::ErasureCoding),
            rdma: u8::from(rdma),
            comch: has(EngineKind::Comch),
            eth_rxq: has(EngineKind::EthRxq),
            eth_txq: has(EngineKind::EthTxq),
            sync_event: has(EngineKind::SyncEvent),
            model: match function.card().profile() {
                Profile::Bf2 => 2,
                Profile::Bf3 => 3,
                _ => 0,
            },
            dma_max_buf_list_len: if dma { limits.dma.max_buf_list_len } else { 0 },
            dma_max_num_tasks: if dma { limits.dma.max_num_tasks } else { 0 },
            dma_max_buf_size: if dma { limits.dma.max_buf_size } else { 0 },
            rdma_max_message_size: if rdma { limits.rdma.max_message_size } else { 0 },
        }
    }
}

/// What a device can do.
///
/// # Safety
/// NULL or a record of this library; `caps` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_get_caps(devinfo: *const DevInfo, caps: *mut Caps) -> c_int {
    const CALL: &str = "doca_devinfo_get_caps";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (function, slot) = unsafe { (function(devinfo, CALL)?, output(caps, CALL)?) };
        slot.set(Caps::of(function));
        Ok(())
    })
}
