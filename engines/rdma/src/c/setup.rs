//! Settings.
#![expect(unsafe_code, reason = "C entry points")]

use super::{context, control, null_argument, output};
use softdpu_room::context::{Core, State};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error};

macro_rules! setters {
    ($($name:ident($value:ident: $type:ty) = |$settings:ident, $caps:ident| $set:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(rdma: *const Core, $value: $type) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let core = unsafe { context(rdma, CALL)? };
                core.require(State::Idle, CALL)?;
                control(core, CALL)?.configure(|$settings, $caps| $set(CALL))
            })
        }
    )*};
}

setters! {
    doca_rdma_set_send_queue_size(size: u32) = |s, caps| |call| s.set_send_queue(size, caps, call);
    doca_rdma_set_max_send_buf_list_len(len: u32) = |s, caps| |call| s.set_send_list(len, caps, call);
    doca_rdma_set_transport_type(kind: u32) = |s, caps| |call| s.set_transport(kind, caps, call);
    doca_rdma_set_mtu(mtu: u32) = |s, caps| |call| s.set_mtu(mtu, caps, call);
    doca_rdma_set_permissions(mask: u32) = |s, _caps| |call| s.set_rights(mask, call);
    doca_rdma_set_grh_enabled(on: u8) = |s, _caps| |call| s.set_grh(on, call);
    doca_rdma_set_gid_index(row: u32) = |s, caps| |call| s.set_gid_index(row, caps, call);
    doca_rdma_set_sl(sl: u32) = |s, _caps| |call| s.set_sl(sl, call);
    doca_rdma_set_connection_request_timeout(ms: u16) = |s, _caps| |call| s.set_timeout(ms, call);
    doca_rdma_set_max_num_connections(count: u16) = |s, caps| |call| s.set_connections(count, caps, call);
    doca_rdma_set_rnr_retry_count(count: u8) = |s, _caps| |call| s.set_rnr(count, call);
    doca_rdma_task_receive_set_dst_buf_list_len(len: u32) = |s, caps| |call| s.set_receive_list(len, caps, call);
}

macro_rules! getters {
    ($($name:ident: $type:ty = |$settings:ident, $caps:ident| $get:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(rdma: *const Core, value: *mut $type) -> i32 {
            const CALL: &str = stringify!($name);
            guard(|| {
                // SAFETY: a handle, or NULL.
                let core = unsafe { context(rdma, CALL)? };
                output(value, CALL, "the output")?;
                let got = control(core, CALL)?.configure(|$settings, $caps| $get);
                // SAFETY: non-NULL out parameter.
                unsafe { value.write(got) };
                Ok(())
            })
        }
    )*};
}

getters! {
    doca_rdma_get_send_queue_size: u32 = |s, caps| s.send_queue(caps);
    doca_rdma_get_max_send_buf_list_len: u32 = |s, _caps| s.send_list;
    doca_rdma_get_transport_type: u32 = |s, _caps| s.transport as u32;
    doca_rdma_get_mtu: u32 = |s, _caps| s.mtu;
    doca_rdma_get_permissions: u32 = |s, _caps| s.rights;
    doca_rdma_get_grh_enabled: u8 = |_s, _caps| 1;
    doca_rdma_get_gid_index: u32 = |s, _caps| s.gid_index;
    doca_rdma_get_sl: u32 = |s, _caps| s.sl;
    doca_rdma_get_connection_request_timeout: u16 = |s, _caps| s.timeout;
    doca_rdma_get_max_num_connections: u16 = |s, _caps| s.connections;
    doca_rdma_get_rnr_retry_count: u8 = |s, _caps| s.rnr;
    doca_rdma_task_receive_get_dst_buf_list_len: u32 = |s, _caps| s.receive_list;
}

/// On the processor the receive queue follows the number of receive tasks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_set_recv_queue_size(rdma: *const Core, recv_queue_size: u32) -> i32 {
    const CALL: &str = "doca_rdma_set_recv_queue_size";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(rdma, CALL)? }.require(State::Idle, CALL)?;
        log::error!(target: crate::LOG,
            "{CALL}: {recv_queue_size} asked for; the queue follows the number of receive tasks");
        Err(Error::new(Code::NotSupported, "the receive queue follows the tasks"))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_get_recv_queue_size(rdma: *const Core, recv_queue_size: *mut u32) -> i32 {
    const CALL: &str = "doca_rdma_get_recv_queue_size";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(rdma, CALL)? };
        if recv_queue_size.is_null() {
            return null_argument(CALL, "recv_queue_size");
        }
        Err(Error::new(Code::NotSupported, "the receive queue follows the tasks"))
    })
}
