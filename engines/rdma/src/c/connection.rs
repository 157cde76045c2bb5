//! What a connection is asked for.
#![expect(unsafe_code, reason = "C entry points")]

use super::address::{self, AddressObject};
use super::connect::{Handle, handle};
use super::output;
use crate::sync::Ordering;
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_set_user_data(
    rdma_connection: *const Handle,
    connection_user_data: u64,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { handle(rdma_connection, "doca_rdma_connection_set_user_data")? };
        object.conn.set_user_data(connection_user_data);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_get_user_data(
    rdma_connection: *const Handle,
    connection_user_data: *mut u64,
) -> i32 {
    const CALL: &str = "doca_rdma_connection_get_user_data";
    guard(|| {
        output(connection_user_data, CALL, "connection_user_data")?;
        // SAFETY: a handle, or NULL; a non-NULL out parameter.
        unsafe { connection_user_data.write(handle(rdma_connection, CALL)?.conn.user_data()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_get_id(
    rdma_connection: *const Handle,
    connection_id: *mut u32,
) -> i32 {
    const CALL: &str = "doca_rdma_connection_get_id";
    guard(|| {
        output(connection_id, CALL, "connection_id")?;
        // SAFETY: a handle, or NULL; a non-NULL out parameter.
        unsafe { connection_id.write(handle(rdma_connection, CALL)?.conn.id()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_get_addr(
    rdma_connection: *const Handle,
    addr: *mut *const AddressObject,
) -> i32 {
    const CALL: &str = "doca_rdma_connection_get_addr";
    guard(|| {
        output(addr, CALL, "addr")?;
        // SAFETY: a handle, or NULL.
        let object = unsafe { handle(rdma_connection, CALL)? };
        let mut own = object.own.load(Ordering::Acquire);
        if own.is_null() {
            let Some(peer) = object.conn.address() else {
                log::error!(target: crate::LOG, "{CALL}: connection {} was made without addresses", object.conn.id());
                return Err(Error::new(Code::InvalidValue, "the connection has no address"));
            };
            // One use for good: the program cannot destroy it.
            own = address::make(peer, 1)?.as_ptr();
            object.own.store(own, Ordering::Release);
        }
        // SAFETY: non-NULL out parameter.
        unsafe { addr.write(own) };
        Ok(())
    })
}
