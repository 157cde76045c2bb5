//! The C entry points of sync events.
//!
//! `struct doca_sync_event` is an [`EventObject`], its context a context of the room, a task the task's slot. Thread rule:
//! an object belongs to one thread at a time.
//!
//! | file | what |
//! |---|---|
//! | `object.rs` | the object, its modes, and what may be done when |
//! | `direct.rs` | the synchronous mode: start, stop, get, set, add, waits |
//! | `tasks.rs` | the tasks of the asynchronous mode |
//! | `share.rs` | exports, imports, events of RDMA peers |
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_sync_event.h"
)]

pub mod direct;
mod object;
pub mod share;
pub mod tasks;

pub use object::EventObject;
pub use share::{RemoteObject, remote};

use crate::caps::Caps;
use crate::cell::LOG;
use crate::word::Word;
use core::ptr::null;
use object::{Home, Publisher, Subscriber};
use softdpu_memory::handle::{DeviceRecord, OpenDevice, checked};
use softdpu_memory::node::{Lent, Node};
use softdpu_memory::region::{Access, GUARDED};
use softdpu_memory::word::check_word;
use softdpu_room::context::Core;
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_status::{Code, Error, Result};

/// The object behind a handle.
unsafe fn object<'a>(event: *const EventObject, call: &str) -> Result<&'a EventObject> {
    // SAFETY: handles of this library, as the contract demands.
    unsafe { checked(event, call) }
}

fn null_argument<T>(call: &str, what: &str) -> Result<T> {
    log::error!(target: LOG, "{call}: {what} is NULL");
    Err(Error::new(Code::InvalidValue, "argument is NULL"))
}

/// Stores a result through an out parameter, if there is one to begin with.
unsafe fn give<T>(to: *mut T, call: &str, name: &str, value: impl FnOnce() -> Result<T>) -> Result<()> {
    if to.is_null() {
        return null_argument(call, name);
    }
    let value = value()?;
    // SAFETY: a non-NULL out parameter of the program.
    unsafe { to.write(value) };
    Ok(())
}

/// Answers a capability query.
unsafe fn query(devinfo: *const DeviceRecord, call: &str, can: impl FnOnce(&Caps) -> bool) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL.
        let caps = Caps::of(unsafe { checked(devinfo, call)? }.function())?;
        Caps::demand(can(&caps))
    })
}

macro_rules! capabilities {
    ($($name:ident: $can:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(devinfo: *const DeviceRecord) -> i32 {
            // SAFETY: a handle, or NULL.
            unsafe { query(devinfo, stringify!($name), $can) }
        }
    )*};
}

capabilities! {
    doca_sync_event_cap_is_create_from_export_supported: |caps| caps.import_pci;
    doca_sync_event_cap_remote_net_is_create_from_export_supported: |caps| caps.net;
    doca_sync_event_cap_is_export_to_remote_pci_supported: |caps| caps.export_pci;
    doca_sync_event_cap_is_export_to_remote_net_supported: |caps| caps.net;
    doca_sync_event_cap_is_export_to_dpa_supported: |_| false;
    doca_sync_event_cap_is_export_to_gpu_supported: |_| false;
    doca_sync_event_cap_remote_net_is_export_to_dpa_supported: |_| false;
    doca_sync_event_cap_remote_net_is_export_to_gpu_supported: |_| false;
    doca_sync_event_cap_task_get_is_supported: |caps| caps.local;
    doca_sync_event_cap_task_notify_set_is_supported: |caps| caps.local;
    doca_sync_event_cap_task_notify_add_is_supported: |caps| caps.local;
    doca_sync_event_cap_task_wait_eq_is_supported: |caps| caps.local;
    doca_sync_event_cap_task_wait_neq_is_supported: |caps| caps.local;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_create(event: *mut *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_create";
    // SAFETY: an out parameter, or NULL.
    guard_unforked(CALL, || unsafe { give(event, CALL, "event", || EventObject::make(None)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_destroy(event: *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_destroy";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { EventObject::destroy(object(event, CALL)?, CALL) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_add_publisher_location_cpu(
    event: *const EventObject,
    dev: *const OpenDevice,
) -> i32 {
    const CALL: &str = "doca_sync_event_add_publisher_location_cpu";
    // SAFETY: handles, or NULL.
    guard(|| unsafe {
        let device = checked(dev, CALL).map(OpenDevice::device);
        object(event, CALL)?.add_publisher(Publisher::Cpu(device?.clone()), CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_add_publisher_location_remote_pci(event: *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_add_publisher_location_remote_pci";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { object(event, CALL) }?.add_publisher(Publisher::Pci, CALL))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_add_publisher_location_remote_net(event: *const EventObject) -> i32 {
    const CALL: &str = "doca_sync_event_add_publisher_location_remote_net";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { object(event, CALL) }?.add_publisher(Publisher::Net, CALL))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_add_subscriber_location_cpu(
    event: *const EventObject,
    dev: *const OpenDevice,
) -> i32 {
    const CALL: &str = "doca_sync_event_add_subscriber_location_cpu";
    // SAFETY: handles, or NULL.
    guard(|| unsafe {
        let device = checked(dev, CALL).map(OpenDevice::device);
        object(event, CALL)?.add_subscriber(Subscriber::Cpu(device?.clone()), CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_add_subscriber_location_remote_pci(
    event: *const EventObject,
) -> i32 {
    const CALL: &str = "doca_sync_event_add_subscriber_location_remote_pci";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { object(event, CALL) }?.add_subscriber(Subscriber::Pci, CALL))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_set_addr(event: *const EventObject, addr: *mut u64) -> i32 {
    const CALL: &str = "doca_sync_event_set_addr";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { object(event, CALL)? };
        if addr.is_null() {
            return null_argument(CALL, "addr");
        }
        if !addr.is_aligned() {
            log::error!(target: LOG, "{CALL}: {addr:p} is not aligned to {} bytes", align_of::<u64>());
            return Err(Error::new(Code::InvalidValue, "address is not aligned"));
        }
        // SAFETY: aligned; the program keeps the cell alive as long as the event, and changes it atomically.
        object.set_home(Home::Program(unsafe { Word::new(addr) }), CALL)
    })
}

/// What the map of a buffer must grant for a value to live there.
const BUFFER_RIGHTS: [Access; 4] =
    [Access::LOCAL_READ_WRITE, Access::RDMA_READ, Access::RDMA_WRITE, Access::RDMA_ATOMIC];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_set_doca_buf(event: *const EventObject, buf: *const Node) -> i32 {
    const CALL: &str = "doca_sync_event_set_doca_buf";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (object, node) = unsafe { (object(event, CALL)?, checked(buf, CALL)?) };
        check_word(node)?;
        let granted = node.region().granted();
        let imported = node.region().word() & GUARDED != 0;
        if let Some(missing) = BUFFER_RIGHTS.iter().find(|&&r| !imported && !granted.contains(r)) {
            log::error!(target: LOG, "{CALL}: the map of buffer {buf:p} must grant {missing:?}, it grants {granted:?}");
            return Err(Error::new(Code::NotPermitted, "the buffer's map grants too little"));
        }
        // SAFETY: a live handle.
        object.set_home(Home::Buffer(unsafe { Lent::from_handle(buf) }), CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_sync_event_as_ctx(event: *const EventObject) -> *const Core {
    const CALL: &str = "doca_sync_event_as_ctx";
    // SAFETY: a handle, or NULL.
    guard_value(null(), || match unsafe { object(event, CALL) }.and_then(|o| o.choose_context(CALL)) {
        Ok(core) => core,
        Err(_) => null(),
    })
}
