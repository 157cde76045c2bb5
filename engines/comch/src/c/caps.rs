//! Capabilities.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in the header of its object"
)]

use super::{null, put};
use crate::caps::Caps;
use softdpu_memory::handle::{DeviceRecord, checked};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};

unsafe fn caps(devinfo: *const DeviceRecord, call: &str) -> Result<Caps> {
    // SAFETY: a handle, or NULL.
    Caps::of(unsafe { checked(devinfo, call)? }.function())
}

macro_rules! ability {
    ($($name:ident = $field:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord) -> i32 {
            guard(|| {
                // SAFETY: a handle, or NULL.
                let yes = unsafe { caps(devinfo, stringify!($name)) }?.$field;
                if yes { Ok(()) } else { Err(Error::new(Code::NotSupported, "the device cannot do it")) }
            })
        }
    )*};
}

ability! {
    doca_comch_cap_server_is_supported = server;
    doca_comch_cap_client_is_supported = client;
    doca_comch_producer_cap_is_supported = producer;
    doca_comch_consumer_cap_is_supported = consumer;
}

macro_rules! limit {
    ($($name:ident($out:ident) = |$caps:ident| $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord, $out: *mut u32) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let found = unsafe { caps(devinfo, CALL) };
                if $out.is_null() {
                    return null(CALL, stringify!($out));
                }
                let $caps = found?;
                // SAFETY: checked above.
                unsafe { put(CALL, stringify!($out), $out, $value) }
            })
        }
    )*};
}

limit! {
    doca_comch_cap_get_max_name_len(max_name_len) = |caps| caps.max_name_len;
    doca_comch_cap_get_max_msg_size(size) = |caps| caps.max_msg_size;
    doca_comch_cap_get_max_recv_queue_size(size) = |caps| caps.max_recv_queue_size;
    doca_comch_cap_get_max_clients(num_clients) = |caps| caps.max_clients;
    doca_comch_cap_get_max_send_tasks(max_send_tasks) = |caps| caps.max_send_tasks;
    doca_comch_producer_cap_get_max_num_tasks(max_num_tasks) = |caps| caps.max_stream_tasks;
    doca_comch_producer_cap_get_max_buf_size(max_buf_size) = |caps| caps.max_stream_buf_size;
    doca_comch_producer_cap_get_max_buf_list_len(max_buf_list_len) = |caps| caps.max_stream_buf_list_len;
    doca_comch_producer_cap_get_max_producers(max_producers) = |caps| caps.max_streams;
    doca_comch_consumer_cap_get_max_num_tasks(max_num_tasks) = |caps| caps.max_stream_tasks;
    doca_comch_consumer_cap_get_max_buf_size(max_buf_size) = |caps| caps.max_stream_buf_size;
    doca_comch_consumer_cap_get_max_buf_list_len(max_buf_list_len) = |_caps| 1;
    doca_comch_consumer_cap_get_max_consumers(max_consumers) = |caps| caps.max_streams;
    doca_comch_consumer_cap_get_max_imm_data_len(max_imm_data_len) = |caps| caps.max_imm_data_len;
}
