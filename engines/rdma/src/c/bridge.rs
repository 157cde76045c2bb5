//! What needs verbs: a software device has none, so all of it is refused.
#![expect(unsafe_code, reason = "C entry points")]

use super::{context, null_argument};
use core::ffi::c_void;
use softdpu_room::context::Core;
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};

fn no_verbs(call: &str, given: &[*const c_void]) -> Result<()> {
    if given.iter().any(|pointer| pointer.is_null()) {
        return null_argument(call, "an argument");
    }
    log::error!(target: crate::LOG, "{call}: a software device has no verbs");
    Err(Error::new(Code::NotSupported, "no verbs"))
}

macro_rules! refused {
    ($($name:ident($($argument:ident),*);)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: *const c_void),*) -> i32 {
            guard(|| no_verbs(stringify!($name), &[$($argument),*]))
        }
    )*};
}

refused! {
    doca_rdma_bridge_get_dev_pd(dev, pd);
    doca_rdma_bridge_open_dev_from_pd(pd, dev);
    doca_rdma_bridge_get_buf_mkey(buf, dev, mkey);
    doca_rdma_bridge_get_mmap_mkey_from_pd(mmap, pd, mkey);
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_bridge_prepare_connection(
    rdma: *const Core,
    cm_id: *const c_void,
    rdma_connection: *const c_void,
) -> i32 {
    const CALL: &str = "doca_rdma_bridge_prepare_connection";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(rdma, CALL)? };
        no_verbs(CALL, &[cm_id, rdma_connection])
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_bridge_accept(
    rdma: *const Core,
    _private_data: *const c_void,
    _private_data_len: u8,
    rdma_connection: *const c_void,
) -> i32 {
    const CALL: &str = "doca_rdma_bridge_accept";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(rdma, CALL)? };
        no_verbs(CALL, &[rdma_connection])
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_bridge_established(
    rdma: *const Core,
    rdma_connection: *const c_void,
) -> i32 {
    const CALL: &str = "doca_rdma_bridge_established";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { context(rdma, CALL)? };
        no_verbs(CALL, &[rdma_connection])
    })
}
