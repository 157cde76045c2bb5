//! The C entry points of the RDMA engine.
//!
//! `struct doca_rdma` is the context, every task type is the task's slot, a connection is a [`Handle`], an address an
//! [`AddressObject`]. Thread rule: a context, its tasks and its connections belong to one thread at a time; address
//! objects and capability queries to any.
//!
//! | file | what |
//! |---|---|
//! | `c/caps.rs`, `c/setup.rs` | capabilities, settings |
//! | `c/connect.rs`, `c/connection.rs`, `c/address.rs` | connections and addresses |
//! | `c/bridge.rs` | what needs verbs |
//! | `c/tasks.rs`, `c/events.rs` | tasks; those on sync events of peers |
#![expect(unsafe_code, reason = "C entry points")]
#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_rdma.h"
)]

mod address;
mod bridge;
mod caps;
mod connect;
mod connection;
mod setup;
// Its macros are those of `events`, too.
#[macro_use]
mod tasks;
mod events;

pub use address::*;
pub use bridge::*;
pub use caps::*;
pub use connect::*;
pub use connection::*;
pub use events::*;
pub use setup::*;
pub use tasks::*;

use crate::control::{Control, lock};
use crate::engine::Rdma;
use crate::job::Op;
use core::ptr::null;
use softdpu_memory::handle::{OpenDevice, checked};
use softdpu_room::context::{Core, State};
use softdpu_room::engine::Engine;
use softdpu_room::entry::context_of;
use softdpu_room::entry::{self, guard, guard_unforked, guard_value};
use softdpu_room::life::Equipment;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex};

/// What belongs to the contexts of C programs, by their addresses.
static CONTROLS: Mutex<Vec<(usize, Arc<Control>)>> = Mutex::new(Vec::new());

pub(crate) fn control(core: &Core, call: &str) -> Result<Arc<Control>> {
    let address = core::ptr::from_ref(core) as usize;
    let found = lock(&CONTROLS).iter().find(|(at, _)| *at == address).map(|(_, control)| control.clone());
    found.ok_or_else(|| {
        log::error!(target: "softdpu::handle", "{call}: context {core:p} was not made by doca_rdma_create");
        Error::new(Code::InvalidValue, "not an rdma context of this face")
    })
}

pub(crate) unsafe fn context<'a>(rdma: *const Core, call: &str) -> Result<&'a Core> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { context_of(rdma, Rdma::INFO, call) }
}

pub(crate) fn null_argument<T>(call: &str, what: &str) -> Result<T> {
    entry::null(crate::LOG, call, what)
}

/// Refuses a NULL output before anything is done for it.
pub(crate) fn output<T>(to: *mut T, call: &str, what: &str) -> Result<()> {
    if to.is_null() { null_argument(call, what) } else { Ok(()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_create(dev: *const OpenDevice, rdma: *mut *const Core) -> i32 {
    const CALL: &str = "doca_rdma_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        output(rdma, CALL, "rdma")?;
        let create = || -> Result<&'static Core> {
            let control = Control::new(device)?;
            let core = Core::create(Rdma::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
            let _ = control.teller.set(tell);
            let _ = control.retire.set(retire);
            lock(&CONTROLS).push((core::ptr::from_ref(core) as usize, control));
            Ok(core)
        };
        let core = create().map_err(|error| match error.code() {
            Code::NotSupported => {
                log::error!(target: crate::LOG, "{CALL}: device {} has no RDMA", device.function());
                Error::new(Code::Initialization, "the device has no RDMA engine")
            }
            _ => error,
        })?;
        // SAFETY: non-NULL out parameter.
        unsafe { rdma.write(core) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_destroy(rdma: *const Core) -> i32 {
    const CALL: &str = "doca_rdma_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, CALL)? }.as_static();
        core.require(State::Idle, CALL)?;
        let control = control(core, CALL)?;
        core.destroy()?;
        lock(&CONTROLS).retain(|(at, _)| *at != rdma as usize);
        // Peers that come at this very moment hold it for an instant; with it goes the device.
        for _ in 0..1000 {
            if Arc::strong_count(&control) == 1 {
                break;
            }
            std::thread::sleep(std::time::Duration::from_micros(50));
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_as_ctx(rdma: *const Core) -> *const Core {
    // SAFETY: a handle, or NULL.
    guard_value(null(), || match unsafe { context(rdma, "doca_rdma_as_ctx") } {
        Ok(core) => core,
        Err(_) => null(),
    })
}

/// Makes the engine from the settings.
pub(crate) fn start(core: &'static Core) -> Result<Equipment> {
    let control = control(core, "doca_ctx_start")?;
    let settings = control.settings();
    let pools = Op::ALL.iter().map(|&op| (op as u8, settings.tasks[op as usize]));
    let pools = pools.filter(|(_, tasks)| *tasks > 0).collect();
    Ok((crate::hardware::work(&control, None)?, pools))
}
