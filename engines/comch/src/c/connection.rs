//! Connections.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch.h"
)]

use super::{null, owner, put, refuse};
use crate::connection::Side;
use crate::lent::Handle;
use crate::sync::Ordering::Relaxed;
use core::ptr;
use softdpu_memory::handle::{checked, live};
use softdpu_room::context::Core;
use softdpu_room::entry::{guard, guard_value};
use softdpu_status::Code;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_connection_set_user_data(
    connection: *const Handle,
    user_data: u64,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { checked(connection, "doca_comch_connection_set_user_data")? }
            .user()
            .store(user_data, Relaxed);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_connection_get_user_data(connection: *const Handle) -> u64 {
    // SAFETY: a handle, or NULL.
    match unsafe { live(connection) } {
        Some(handle) => handle.user().load(Relaxed),
        None => guard_value(0, || {
            // SAFETY: as above; this names the refusal in the log.
            let _ = unsafe { checked(connection, "doca_comch_connection_get_user_data") };
            0
        }),
    }
}

unsafe fn context_of(connection: *const Handle, side: Side) -> *const Core {
    // SAFETY: a handle, or NULL.
    match unsafe { live(connection) } {
        Some(handle) if handle.connection().side() == side => owner(handle),
        _ => ptr::null(),
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_get_server_ctx(connection: *const Handle) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { context_of(connection, Side::Server) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_get_client_ctx(connection: *const Handle) -> *const Core {
    // SAFETY: a handle, or NULL.
    unsafe { context_of(connection, Side::Client) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_connection_update_info(connection: *const Handle) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let handle = unsafe { checked(connection, "doca_comch_connection_update_info")? };
        let now = handle.connection().counters()?;
        let values = [now.sent_messages, now.sent_bytes, now.received_messages, now.received_bytes];
        handle.snapshot().iter().zip(values).for_each(|(place, value)| place.store(value, Relaxed));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_connection_get_counter(
    connection: *const Handle,
    counter_type: u32,
    counter_value: *mut u64,
) -> i32 {
    const CALL: &str = "doca_comch_connection_get_counter";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let handle = unsafe { checked(connection, CALL)? };
        if counter_value.is_null() {
            return null(CALL, "counter_value");
        }
        match handle.snapshot().get((counter_type as usize).wrapping_sub(1)) {
            // SAFETY: checked above.
            Some(counter) => unsafe { put(CALL, "counter_value", counter_value, counter.load(Relaxed)) },
            None => refuse(
                Code::InvalidValue,
                "unknown counter",
                format_args!("{CALL}: counter {counter_type}, known are 1 to 4"),
            ),
        }
    })
}
