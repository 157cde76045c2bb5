//! Capabilities.
#![expect(unsafe_code, reason = "C entry points")]

use super::{null_argument, output};
use crate::caps::{Caps, Transport};
use crate::job::Op;
use softdpu_memory::handle::{DeviceRecord, checked};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};

unsafe fn caps(devinfo: *const DeviceRecord, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    Caps::of(unsafe { checked(devinfo, call)? }.function())
}

fn supported(yes: bool) -> Result<()> {
    if yes { Ok(()) } else { Err(Error::new(Code::NotSupported, "the device cannot do it")) }
}

macro_rules! numbers {
    ($($name:ident = $field:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord, number: *mut u32) -> i32 {
            guard(|| {
                output(number, stringify!($name), "the output")?;
                // SAFETY: a handle, or NULL; a non-NULL out parameter.
                unsafe { number.write(caps(devinfo, stringify!($name))?.$field) };
                Ok(())
            })
        }
    )*};
}

numbers! {
    doca_rdma_cap_get_max_recv_queue_size = max_recv_queue_size;
    doca_rdma_cap_get_max_send_queue_size = max_send_queue_size;
    doca_rdma_cap_get_max_send_buf_list_len = max_send_buf_list_len;
    doca_rdma_cap_get_max_message_size = max_message_size;
    doca_rdma_cap_get_gid_table_size = gid_table_size;
}

macro_rules! tasks {
    ($($name:ident = $op:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord) -> i32 {
            // SAFETY: a handle, or NULL.
            guard(|| supported(unsafe { caps(devinfo, stringify!($name)) }?.has(Op::$op)))
        }
    )*};
}

tasks! {
    doca_rdma_cap_task_receive_is_supported = Receive;
    doca_rdma_cap_task_send_is_supported = Send;
    doca_rdma_cap_task_send_imm_is_supported = SendImm;
    doca_rdma_cap_task_read_is_supported = Read;
    doca_rdma_cap_task_write_is_supported = Write;
    doca_rdma_cap_task_write_imm_is_supported = WriteImm;
    doca_rdma_cap_task_atomic_cmp_swp_is_supported = CmpSwap;
    doca_rdma_cap_task_atomic_fetch_add_is_supported = FetchAdd;
    doca_rdma_cap_task_remote_net_sync_event_get_is_supported = EventGet;
    doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported = EventSet;
    doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported = EventAdd;
}

fn transport(caps: &Caps, number: u32, call: &str) -> Result<()> {
    let Some(transport) = Transport::from_number(number) else {
        log::error!(target: crate::LOG, "{call}: transport type {number}, allowed 0 and 1");
        return Err(Error::new(Code::InvalidValue, "no such transport type"));
    };
    supported(caps.has_transport(transport))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_cap_transport_type_is_supported(
    devinfo: *const DeviceRecord,
    transport_type: u32,
) -> i32 {
    const CALL: &str = "doca_rdma_cap_transport_type_is_supported";
    // SAFETY: a handle, or NULL.
    guard(|| transport(&unsafe { caps(devinfo, CALL) }?, transport_type, CALL))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
    devinfo: *const DeviceRecord,
    transport_type: u32,
    max_buf_list_len: *mut u32,
) -> i32 {
    const CALL: &str = "doca_rdma_cap_task_receive_get_max_dst_buf_list_len";
    guard(|| {
        output(max_buf_list_len, CALL, "max_buf_list_len")?;
        // SAFETY: a handle, or NULL.
        let caps = unsafe { caps(devinfo, CALL)? };
        transport(&caps, transport_type, CALL)?;
        // SAFETY: non-NULL out parameter.
        unsafe { max_buf_list_len.write(caps.max_recv_buf_list_len) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_cap_get_gid(
    devinfo: *const DeviceRecord,
    start_index: u32,
    num_entries: u32,
    gid_array: *mut [u8; 16],
) -> i32 {
    const CALL: &str = "doca_rdma_cap_get_gid";
    guard(|| {
        if gid_array.is_null() {
            return null_argument(CALL, "gid_array");
        }
        // SAFETY: a handle, or NULL.
        let caps = unsafe { caps(devinfo, CALL)? };
        let end =
            start_index.checked_add(num_entries).filter(|&end| num_entries > 0 && end <= caps.gid_table_size);
        let Some(end) = end else {
            log::error!(target: crate::LOG, "{CALL}: rows [{start_index}, +{num_entries}), the table has {}",
                caps.gid_table_size);
            return Err(Error::new(Code::InvalidValue, "rows outside of the table"));
        };
        for row in start_index..end {
            // SAFETY: the program's array has a place for every row it asked for.
            unsafe { gid_array.add((row - start_index) as usize).write(caps.gid(row).unwrap_or_default()) };
        }
        Ok(())
    })
}
