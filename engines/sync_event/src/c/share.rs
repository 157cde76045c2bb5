//! Exports, imports, and events of RDMA peers.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sync_event.h"
)]

use super::object::{EventObject, Mode, Publisher, State, bad_state};
use super::{give, null_argument, object};
use crate::cell::LOG;
use crate::descriptor::Kind;
use crate::live::Live;
use crate::remote::RemoteEvent;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, OpenDevice, Slab, checked, kind, live};
use softdpu_room::context::State as ContextState;
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// The bytes that C handed in.
unsafe fn bytes<'a>(data: *const u8, sz: usize, call: &str) -> Result<&'a [u8]> {
    if data.is_null() {
        return null_argument(call, "data");
    }
    // SAFETY: the program vouches for `sz` readable bytes during the call.
    Ok(unsafe { core::slice::from_raw_parts(data, sz.min(isize::MAX as usize)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_create_from_export(
    dev: *const OpenDevice,
    data: *const u8,
    sz: usize,
    event: *mut *const EventObject,
) -> i32 {
    const CALL: &str = "doca_sync_event_create_from_export";
    // SAFETY: a handle, a buffer and an out parameter, or NULL.
    guard_unforked(CALL, || unsafe {
        let device = checked(dev, CALL)?.device();
        let bytes = bytes(data, sz, CALL)?;
        give(event, CALL, "event", || {
            let live = Arc::new(Live::import(bytes, device)?);
            EventObject::make(Some((live, device.clone())))
        })
    })
}

fn refuse<T>(call: &str, object: &EventObject, why: &str) -> Result<T> {
    log::error!(target: LOG, "{call}: sync event {object:p} {why}");
    Err(Error::new(Code::InvalidValue, "not an event for this export"))
}

/// The event, while it is started in either mode.
fn started(object: &EventObject, state: &State, call: &str) -> Result<Arc<Live>> {
    let runs = match state.mode {
        Mode::Fresh => false,
        Mode::Direct { running } => running,
        Mode::Context => object.core().is_some_and(|core| core.state() == ContextState::Running),
    };
    match &state.live {
        Some(live) if runs => Ok(live.clone()),
        _ => bad_state(call, object, "is not started"),
    }
}

unsafe fn export(
    object: &EventObject,
    kind: Kind,
    device: &Arc<Device>,
    live: &Live,
    (data, sz): (*mut *const u8, *mut usize),
    call: &str,
) -> Result<()> {
    if data.is_null() || sz.is_null() {
        return null_argument(call, if data.is_null() { "data" } else { "sz" });
    }
    live.export(kind, device, |bytes| {
        // SAFETY: non-NULL out parameters; the bytes stay in their place until the event ends.
        unsafe {
            data.write(bytes.as_ptr());
            sz.write(bytes.len());
        }
    })
    .inspect_err(|error| log::debug!(target: LOG, "{call}: sync event {object:p}: {error}"))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_export_to_remote_pci(
    event: *const EventObject,
    dev: *const OpenDevice,
    data: *mut *const u8,
    sz: *mut usize,
) -> i32 {
    const CALL: &str = "doca_sync_event_export_to_remote_pci";
    guard_unforked(CALL, || {
        // SAFETY: handles, or NULL.
        let (object, device) = unsafe { (object(event, CALL)?, checked(dev, CALL)?.device()) };
        let state = object.state();
        if object.is_imported() {
            return refuse(CALL, object, "was imported; its owner can export it");
        }
        if matches!(state.publisher, Some(Publisher::Net)) {
            return refuse(CALL, object, "has a network location: locations must be CPU or remote PCI");
        }
        let live = started(object, &state, CALL)?;
        let (pci, card) = (device.function().pci(), device.function().card().name());
        let same = |d: &Arc<Device>| d.function().pci() == pci && d.function().card().name() == card;
        if state.devices().next().is_some() && !state.devices().any(same) {
            let why = format!("acts through another device than {pci}");
            return refuse(CALL, object, &why);
        }
        // SAFETY: out parameters, or NULL.
        unsafe { export(object, Kind::Pci, device, &live, (data, sz), CALL) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_export_to_remote_net(
    event: *const EventObject,
    data: *mut *const u8,
    sz: *mut usize,
) -> i32 {
    const CALL: &str = "doca_sync_event_export_to_remote_net";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, CALL)? };
        let state = object.state();
        if object.is_imported() {
            return refuse(CALL, object, "was imported; its owner can export it");
        }
        if !matches!(state.publisher, Some(Publisher::Net)) {
            return refuse(CALL, object, "must have the network as its publisher");
        }
        let live = started(object, &state, CALL)?;
        let Some(device) = state.devices().next() else {
            return refuse(CALL, object, "needs a CPU as its subscriber");
        };
        // SAFETY: out parameters, or NULL.
        unsafe { export(object, Kind::Net, device, &live, (data, sz), CALL) }
    })
}

/// What C calls `struct doca_sync_event_remote_net`.
#[derive(Debug)]
#[repr(C)]
pub struct RemoteObject {
    head: Head,
    event: RemoteEvent,
}

// SAFETY: repr(C), head first.
unsafe impl Object for RemoteObject {
    const KIND: u32 = kind::SYNC_EVENT_NET;
    const NAME: &'static str = "sync event of an RDMA peer";
}

static REMOTES: Slab<RemoteObject> = Slab::new();

/// The event behind a handle that RDMA tasks carry, if it lives.
///
/// # Safety
/// NULL, or a handle this library gave out (possibly stale).
pub unsafe fn remote<'a>(event: *const RemoteObject) -> Option<&'a RemoteEvent> {
    // SAFETY: per this function's contract.
    unsafe { live(event) }.map(|object| &object.event)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_remote_net_create_from_export(
    dev: *const OpenDevice,
    data: *const u8,
    sz: usize,
    event: *mut *const RemoteObject,
) -> i32 {
    const CALL: &str = "doca_sync_event_remote_net_create_from_export";
    // SAFETY: a handle, a buffer and an out parameter, or NULL.
    guard_unforked(CALL, || unsafe {
        let device = checked(dev, CALL)?.device();
        let bytes = bytes(data, sz, CALL)?;
        give(event, CALL, "event", || {
            let event = RemoteEvent::open(bytes, device)?;
            REMOTES.make(RemoteObject { head: Head::unborn(), event }).map(|made| made.as_ptr().cast_const())
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_remote_net_destroy(event: *const RemoteObject) -> i32 {
    const CALL: &str = "doca_sync_event_remote_net_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; made by the slab, and not used any more.
        unsafe {
            checked(event, CALL)?;
            REMOTES.retire_at(event);
        }
        Ok(())
    })
}
