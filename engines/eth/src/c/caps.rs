//! Capabilities, and how much packet memory a managed queue should have.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_eth_rxq.h and doca_eth_txq.h"
)]

use super::{null, put, refuse, within};
use crate::caps::{RxCaps, TxCaps};
use softdpu_card::Function;
use softdpu_memory::handle::{DeviceRecord, checked};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};

unsafe fn function<'a>(devinfo: *const DeviceRecord, call: &str) -> Result<&'a Function> {
    // SAFETY: a handle, or NULL.
    Ok(unsafe { checked(devinfo, call)? }.function())
}

macro_rules! capability {
    ($($caps:ident: $name:ident($out:ident: $type:ty) = $field:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord, $out: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle and an out parameter, or NULL.
                unsafe {
                    let function = function(devinfo, CALL)?;
                    if $out.is_null() {
                        return null(CALL, stringify!($out));
                    }
                    put(CALL, stringify!($out), $out, $caps::of(function)?.$field)
                }
            })
        }
    )*};
}

capability! {
    RxCaps: doca_eth_rxq_cap_get_max_burst_size(max_burst_size: u32) = max_burst_size;
    RxCaps: doca_eth_rxq_cap_get_max_metadata_num(max_metadata_num: u8) = max_metadata_num;
    RxCaps: doca_eth_rxq_cap_get_max_packet_headroom(max_packet_headroom: u16) = max_packet_headroom;
    RxCaps: doca_eth_rxq_cap_get_max_packet_tailroom(max_packet_tailroom: u16) = max_packet_tailroom;
    RxCaps: doca_eth_rxq_cap_get_max_recv_buf_list_len(max_recv_buf_list_len: u32) = max_recv_buf_list_len;
    RxCaps: doca_eth_rxq_cap_get_max_packet_size(max_packet_size: u32) = max_packet_size;
    TxCaps: doca_eth_txq_cap_get_max_send_buf_list_len(max_send_buf_list_len: u32) = max_send_buf_list_len;
    TxCaps: doca_eth_txq_cap_get_max_metadata_num(max_metadata_num: u8) = max_metadata_num;
    TxCaps: doca_eth_txq_cap_get_max_lso_header_size(max_lso_header_size: u16) = max_lso_header_size;
    TxCaps: doca_eth_txq_cap_get_max_lso_msg_size(max_lso_msg_size: u32) = max_lso_msg_size;
}

fn supported(yes: bool) -> Result<()> {
    if yes { Ok(()) } else { Err(Error::new(Code::NotSupported, "the device lacks this")) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_cap_is_type_supported(
    devinfo: *const DeviceRecord,
    r#type: u32,
    data_path_type: u32,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_cap_is_type_supported";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let function = unsafe { function(devinfo, CALL)? };
        within(CALL, "type", r#type.into(), 0, 2)?;
        within(CALL, "data path", data_path_type.into(), 0, 1)?;
        let caps = RxCaps::of(function)?;
        supported(data_path_type == 0 && (r#type == 1 && caps.managed || r#type == 2 && caps.regular))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_cap_is_type_supported(
    devinfo: *const DeviceRecord,
    r#type: u32,
    data_path_type: u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_cap_is_type_supported";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let function = unsafe { function(devinfo, CALL)? };
        within(CALL, "type", r#type.into(), 0, 0)?;
        within(CALL, "data path", data_path_type.into(), 0, 1)?;
        supported(TxCaps::of(function)?.regular && data_path_type == 0)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_cap_get_max_burst_size(
    devinfo: *const DeviceRecord,
    max_send_buf_list_len: u32,
    max_lso_header_size: u16,
    max_burst_size: *mut u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_cap_get_max_burst_size";
    guard(|| {
        // SAFETY: a handle and an out parameter, or NULL.
        unsafe {
            let function = function(devinfo, CALL)?;
            if max_burst_size.is_null() {
                return null(CALL, "max_burst_size");
            }
            let caps = TxCaps::of(function)?;
            within(CALL, "list length", max_send_buf_list_len.into(), 1, caps.max_send_buf_list_len.into())?;
            within(CALL, "header size", max_lso_header_size.into(), 0, caps.max_lso_header_size.into())?;
            let burst = caps.max_burst_for(max_send_buf_list_len, max_lso_header_size);
            put(CALL, "max_burst_size", max_burst_size, burst)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_cap_is_l3_chksum_offload_supported(
    devinfo: *const DeviceRecord,
) -> i32 {
    const CALL: &str = "doca_eth_txq_cap_is_l3_chksum_offload_supported";
    // SAFETY: a handle, or NULL.
    guard(|| supported(TxCaps::of(unsafe { function(devinfo, CALL)? })?.l3_checksum))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_cap_is_l4_chksum_offload_supported(
    devinfo: *const DeviceRecord,
) -> i32 {
    const CALL: &str = "doca_eth_txq_cap_is_l4_chksum_offload_supported";
    // SAFETY: a handle, or NULL.
    guard(|| supported(TxCaps::of(unsafe { function(devinfo, CALL)? })?.l4_checksum))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_txq_cap_get_wait_on_time_offload_supported(
    devinfo: *const DeviceRecord,
    wait_on_time_mode: *mut u32,
) -> i32 {
    const CALL: &str = "doca_eth_txq_cap_get_wait_on_time_offload_supported";
    guard(|| {
        // SAFETY: a handle and an out parameter, or NULL.
        unsafe {
            TxCaps::of(function(devinfo, CALL)?)?;
            // None: a processor that waits for a point in time would block progress.
            put(CALL, "wait_on_time_mode", wait_on_time_mode, 0)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_eth_rxq_estimate_packet_buf_size(
    r#type: u32,
    rate: u32,
    pkt_max_time: u16,
    max_packet_size: u32,
    max_burst_size: u32,
    log_max_lro_pkt_sz: u8,
    head_size: u16,
    tail_size: u16,
    buf_size: *mut u32,
) -> i32 {
    const CALL: &str = "doca_eth_rxq_estimate_packet_buf_size";
    guard(|| {
        if buf_size.is_null() {
            return null(CALL, "buf_size");
        }
        within(CALL, "type", r#type.into(), 0, 2)?;
        if r#type == 2 {
            let line = format_args!("{CALL}: a regular queue has no packet memory of its own");
            return refuse(Code::NotSupported, "regular queue", line);
        }
        within(CALL, "packet size", max_packet_size.into(), 1, u16::MAX.into())?;
        within(CALL, "burst size", max_burst_size.into(), 1, u32::MAX.into())?;
        within(CALL, "logarithm of coalesced packets", log_max_lro_pkt_sz.into(), 0, 31)?;
        let window = usize::from(head_size) + max_packet_size as usize + usize::from(tail_size);
        // Twice the burst: one is handled while the next arrives; and what arrives while packets are held. MB per second
        // times microseconds are bytes.
        let held = (u64::from(rate) * u64::from(pkt_max_time)).div_ceil(max_packet_size.into());
        let packets = 2 * u64::from(max_burst_size) + held;
        let bytes = packets.saturating_mul(crate::rxq::stride(window) as u64).saturating_add(64);
        match u32::try_from(bytes) {
            // SAFETY: checked above.
            Ok(bytes) => unsafe { put(CALL, "buf_size", buf_size, bytes) },
            Err(_) => refuse(
                Code::InvalidValue,
                "more memory than can be given",
                format_args!("{CALL}: {bytes} bytes of packet memory, more than can be asked for"),
            ),
        }
    })
}
