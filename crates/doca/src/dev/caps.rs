//! Capability calls that take a device information record: devices, representor filters, memory maps, DMA.
//!
//! Programs scan all devices with these, so "not supported" is an ordinary answer and only logged for debugging.
#![expect(unsafe_code, reason = "C entry points")]

use super::call::{enter, of_device};
use super::object::{DevInfo, function};
use softdpu_card::{Feature, Function};
/// Longest access token of an exported map, in bytes.
pub use softdpu_memory::export::MAX_TOKEN as MAX_EXPORT_ACCESS_TOKEN;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;

/// Answers NOT_SUPPORTED for a device that lacks the feature.
fn require(call: &str, function: &Function, feature: Feature) -> Result<()> {
    if function.has(feature) {
        return Ok(());
    }
    let card = function.card();
    log::debug!(
        target: "softdpu::device",
        "{call}: device {function} has no {} (profile {}, mode {})",
        feature.name(),
        card.profile(),
        card.mode()
    );
    Err(Error::new(Code::NotSupported, "the device lacks this"))
}

/// Whether devices can be plugged in and out by this one: no.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_cap_is_hotplug_manager_supported(
    devinfo: *const DevInfo,
    is_hotplug_manager: *mut u8,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        of_device("doca_devinfo_cap_is_hotplug_manager_supported", devinfo, is_hotplug_manager, |_| Ok(0))
    }
}

/// Whether notifications can be thinned out: no, each arming gives one.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_cap_is_notification_moderation_supported(
    devinfo: *const DevInfo,
    is_notification_moderation_supported: *mut u8,
) -> c_int {
    let call = "doca_devinfo_cap_is_notification_moderation_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, is_notification_moderation_supported, |_| Ok(0)) }
}

/// Whether `doca_dev_accelerate_resource_reclaim` works: no.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_cap_is_accelerate_resource_reclaim_supported(
    devinfo: *const DevInfo,
    is_accelerate_resource_reclaim: *mut u8,
) -> c_int {
    let call = "doca_devinfo_cap_is_accelerate_resource_reclaim_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, is_accelerate_resource_reclaim, |_| Ok(0)) }
}

/// Whether all representors can be listed: on card functions.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_cap_is_filter_all_supported(
    devinfo: *const DevInfo,
    filter_all_supported: *mut u8,
) -> c_int {
    let call = "doca_devinfo_rep_cap_is_filter_all_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, filter_all_supported, |f| Ok(f.shows_representors().into())) }
}

/// Whether the representors of network functions can be listed: on card functions.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_cap_is_filter_net_supported(
    devinfo: *const DevInfo,
    filter_net_supported: *mut u8,
) -> c_int {
    let call = "doca_devinfo_rep_cap_is_filter_net_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, filter_net_supported, |f| Ok(f.shows_representors().into())) }
}

/// Whether the representors of emulated functions can be listed: no, there are none.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_devinfo_rep_cap_is_filter_emulated_supported(
    devinfo: *const DevInfo,
    filter_emulated_supported: *mut u8,
) -> c_int {
    let call = "doca_devinfo_rep_cap_is_filter_emulated_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, filter_emulated_supported, |_| Ok(0)) }
}

/// Whether memory maps can be exported across PCI with this device.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_cap_is_export_pci_supported(
    devinfo: *const DevInfo,
    mmap_export: *mut u8,
) -> c_int {
    let call = "doca_mmap_cap_is_export_pci_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, mmap_export, |f| Ok(f.can_export_pci().into())) }
}

/// Whether memory maps exported across PCI can be imported with this device.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_cap_is_create_from_export_pci_supported(
    devinfo: *const DevInfo,
    from_export: *mut u8,
) -> c_int {
    let call = "doca_mmap_cap_is_create_from_export_pci_supported";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, from_export, |f| Ok(f.can_import_pci().into())) }
}

/// The longest access token in bytes.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; the output is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_mmap_cap_get_max_export_access_token_size(
    devinfo: *const DevInfo,
    max_sz: *mut usize,
) -> c_int {
    let call = "doca_mmap_cap_get_max_export_access_token_size";
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, max_sz, |_| Ok(MAX_EXPORT_ACCESS_TOKEN)) }
}

/// Whether the device copies memory.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_cap_task_memcpy_is_supported(devinfo: *const DevInfo) -> c_int {
    let call = "doca_dma_cap_task_memcpy_is_supported";
    // SAFETY: the caller's promise.
    enter(call, || require(call, unsafe { function(devinfo, call)? }, Feature::DmaMemcpy))
}

/// Most bytes one copy may move.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `buf_size` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_cap_task_memcpy_get_max_buf_size(
    devinfo: *const DevInfo,
    buf_size: *mut u64,
) -> c_int {
    let call = "doca_dma_cap_task_memcpy_get_max_buf_size";
    let read = |function: &Function| {
        require(call, function, Feature::DmaMemcpy)?;
        Ok(function.limits().dma.max_buf_size)
    };
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, buf_size, read) }
}

/// Most elements of a source or destination list.
///
/// # Safety
/// `devinfo` is NULL or was given out by this library; `max_buf_list_len` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_dma_cap_task_memcpy_get_max_buf_list_len(
    devinfo: *const DevInfo,
    max_buf_list_len: *mut u32,
) -> c_int {
    let call = "doca_dma_cap_task_memcpy_get_max_buf_list_len";
    let read = |function: &Function| {
        require(call, function, Feature::DmaMemcpy)?;
        Ok(function.limits().dma.max_buf_list_len)
    };
    // SAFETY: the caller's promise.
    unsafe { of_device(call, devinfo, max_buf_list_len, read) }
}
