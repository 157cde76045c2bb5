//! Connections.
#![expect(unsafe_code, reason = "C entry points")]

use super::address::{self, AddressObject};
use super::{context, control, null_argument, output};
use crate::conn::Conn;
use crate::control::Control;
use crate::engine::Event;
use crate::job::ConnRef;
use crate::sync::{AtomicPtr, Ordering};
use core::ffi::c_void;
use core::ptr::{NonNull, null_mut};
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_room::context::{Core, State};
use softdpu_room::entry::guard;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// A connection, as C programs hold it.
#[derive(Debug)]
#[repr(C)]
pub struct Handle {
    head: Head,
    core: *const Core,
    which: ConnRef,
    pub(crate) conn: Arc<Conn>,
    /// The program's address object while an attempt to connect uses it.
    lent: AtomicPtr<AddressObject>,
    /// The object of the peer's address, once it was asked for.
    pub(crate) own: AtomicPtr<AddressObject>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Handle {
    const KIND: u32 = kind::RDMA_CONNECTION;
    const NAME: &'static str = "RDMA connection";
}

static HANDLES: Slab<Handle> = Slab::new();

impl Handle {
    #[inline]
    pub(crate) fn core(&self) -> *const Core {
        self.core
    }
    #[inline]
    pub(crate) fn which(&self) -> ConnRef {
        self.which
    }

    /// The program's address object is not used any more.
    fn give_back(&self) {
        let lent = self.lent.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: it is not destroyed while it is used, and its memory is never given back.
        if let Some(object) = unsafe { lent.as_ref() } {
            object.uses.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The object that stands for a connection of `core`.
fn handle_of(core: &Core, conn: &Arc<Conn>) -> Result<*const Handle> {
    let there = conn.handle.load(Ordering::Acquire);
    if there != 0 {
        return Ok(there as *const Handle);
    }
    let made = HANDLES.make(Handle {
        head: Head::unborn(),
        core,
        which: conn.here,
        conn: conn.clone(),
        lent: AtomicPtr::default(),
        own: AtomicPtr::default(),
    })?;
    conn.handle.store(made.as_ptr() as usize, Ordering::Release);
    Ok(made.as_ptr())
}

/// The object of a connection goes; the program's thread.
pub(crate) fn retire(conn: &Arc<Conn>) {
    let Some(handle) = NonNull::new(conn.handle.swap(0, Ordering::AcqRel) as *mut Handle) else { return };
    // SAFETY: alive: whoever swapped its address out of the connection is the one who ends it.
    unsafe {
        handle.as_ref().give_back();
        if let Some(own) = NonNull::new(handle.as_ref().own.swap(null_mut(), Ordering::AcqRel)) {
            address::unmake(own);
        }
        HANDLES.retire(handle);
    }
}

/// Objects that nobody needs any more go.
fn sweep(control: &Control) {
    control.sweep().iter().for_each(retire);
}

/// Keys of the callbacks among the context's settings.
const CALLBACKS: [u32; 4] = [0x100, 0x101, 0x102, 0x103];
type RequestCallback = unsafe extern "C" fn(*const Handle, u64);
type StateCallback = unsafe extern "C" fn(*const Handle, u64, u64);

/// Calls the program.
pub(crate) fn tell(core: &'static Core, event: Event) {
    let (which, conn) = match &event {
        Event::Requested(conn) => (0, conn),
        Event::Established(conn) => (1, conn),
        Event::Failed(conn) => (2, conn),
        Event::Ended(conn) => (3, conn),
    };
    if which == 0
        && let Some(control) = conn.control.upgrade()
    {
        sweep(&control);
    }
    let callback = core.setting(CALLBACKS[which]).unwrap_or(0) as usize as *const c_void;
    match handle_of(core, conn) {
        Ok(handle) => {
            // SAFETY: alive until `retire`.
            let object = unsafe { &*handle };
            if matches!(event, Event::Established(_) | Event::Failed(_)) {
                object.give_back();
            }
            let user = core.user_data();
            if callback.is_null() {
                // Left out: only the first one may be.
            } else if which == 0 {
                // SAFETY: stored by `doca_rdma_set_connection_state_callbacks` from a function of this type; nothing of
                // ours is borrowed or locked here.
                unsafe { core::mem::transmute::<*const c_void, RequestCallback>(callback)(handle, user) };
            } else {
                // SAFETY: as above.
                unsafe {
                    core::mem::transmute::<*const c_void, StateCallback>(callback)(
                        handle,
                        conn.user_data(),
                        user,
                    )
                };
            }
        }
        Err(_) => {
            log::error!(target: crate::LOG, "connection {}: no memory to tell the program of it", conn.id())
        }
    }
    if matches!(event, Event::Failed(_) | Event::Ended(_)) {
        conn.finished.store(true, Ordering::Release);
        if matches!(event, Event::Failed(_)) {
            conn.released.store(true, Ordering::Release);
        }
    }
}

pub(crate) unsafe fn handle<'a>(connection: *const Handle, call: &str) -> Result<&'a Handle> {
    // SAFETY: a handle, or NULL.
    unsafe { checked(connection, call) }
}

fn control_of(conn: &Conn, call: &str) -> Result<Arc<Control>> {
    conn.control.upgrade().ok_or_else(|| {
        log::error!(target: crate::LOG, "{call}: the connection's context is gone");
        Error::new(Code::InvalidValue, "the context is gone")
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_set_connection_state_callbacks(
    rdma: *const Core,
    doca_rdma_connect_request_cb: Option<RequestCallback>,
    doca_rdma_connect_established_cb: Option<StateCallback>,
    doca_rdma_connect_failure_cb: Option<StateCallback>,
    doca_rdma_disconnect_cb: Option<StateCallback>,
) -> i32 {
    const CALL: &str = "doca_rdma_set_connection_state_callbacks";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, CALL)? };
        let (Some(established), Some(failure), Some(disconnect)) =
            (doca_rdma_connect_established_cb, doca_rdma_connect_failure_cb, doca_rdma_disconnect_cb)
        else {
            return null_argument(CALL, "a callback");
        };
        core.require(State::Idle, CALL)?;
        control(core, CALL)?.configure(|settings, _| settings.told = true);
        let request = doca_rdma_connect_request_cb.map_or(0, |f| f as usize);
        let all = [request, established as usize, failure as usize, disconnect as usize];
        CALLBACKS.iter().zip(all).for_each(|(&key, callback)| core.set(key, callback as u64));
        Ok(())
    })
}

/// The first connection of a context that takes tasks: for the textbook face, whose write names none.
///
/// # Errors
/// InvalidValue (not a context of this face), NotConnected.
///
/// # Safety
/// NULL or a handle of this library.
pub unsafe fn first_connection(rdma: *const Core, call: &str) -> Result<*const Handle> {
    // SAFETY: a handle, or NULL.
    let core = unsafe { context(rdma, call)? };
    let control = control(core, call)?;
    let mut conns = control.connections().into_iter().map(|(conn, _)| conn);
    match conns.find(|conn| conn.phase() == crate::conn::Phase::Connected) {
        Some(conn) => handle_of(core, &conn),
        None => {
            log::error!(target: crate::LOG, "{call}: context {rdma:p} is connected to nobody");
            Err(Error::new(Code::NotConnected, "not connected"))
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_export(
    rdma: *const Core,
    local_rdma_conn_details: *mut *const c_void,
    local_rdma_conn_details_size: *mut usize,
    rdma_connection: *mut *const Handle,
) -> i32 {
    const CALL: &str = "doca_rdma_export";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, CALL)? };
        output(local_rdma_conn_details, CALL, "local_rdma_conn_details")?;
        output(local_rdma_conn_details_size, CALL, "local_rdma_conn_details_size")?;
        output(rdma_connection, CALL, "rdma_connection")?;
        core.require(State::Running, CALL)?;
        let control = control(core, CALL)?;
        sweep(&control);
        let conn = control.export()?;
        let handle = handle_of(core, &conn).inspect_err(|_| control.give_up(&conn))?;
        // SAFETY: non-NULL out parameters; the bytes live as long as the connection.
        unsafe {
            local_rdma_conn_details.write(conn.description().as_ptr().cast());
            local_rdma_conn_details_size.write(conn.description().len());
            rdma_connection.write(handle);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connect(
    rdma: *const Core,
    remote_rdma_conn_details: *const c_void,
    remote_rdma_conn_details_size: usize,
    rdma_connection: *const Handle,
) -> i32 {
    const CALL: &str = "doca_rdma_connect";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (core, object) = unsafe { (context(rdma, CALL)?, handle(rdma_connection, CALL)?) };
        if remote_rdma_conn_details.is_null() || remote_rdma_conn_details_size == 0 {
            return null_argument(CALL, "the peer's description (or its size)");
        }
        if !core::ptr::eq(object.core, core) {
            log::error!(target: crate::LOG, "{CALL}: connection {rdma_connection:p} belongs to another context");
            return Err(Error::new(Code::InvalidValue, "the connection belongs to another context"));
        }
        core.require(State::Running, CALL)?;
        let len = remote_rdma_conn_details_size;
        if len > 64 << 10 {
            return Err(crate::meet::aborted(format_args!("{CALL}: {len} bytes are no description")));
        }
        // SAFETY: as many bytes as the program says; only read during the call.
        let bytes = unsafe { core::slice::from_raw_parts(remote_rdma_conn_details.cast(), len) };
        control(core, CALL)?.connect(&object.conn, bytes)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_start_listen_to_port(rdma: *const Core, port: u16) -> i32 {
    const CALL: &str = "doca_rdma_start_listen_to_port";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, CALL)? };
        core.require(State::Running, CALL)?;
        control(core, CALL)?.listen(port)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_stop_listen_to_port(rdma: *const Core, port: u16) -> i32 {
    const CALL: &str = "doca_rdma_stop_listen_to_port";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(rdma, CALL)? };
        if control(core, CALL)?.stop_listening(port) {
            return Ok(());
        }
        log::error!(target: crate::LOG, "{CALL}: port {port} is not listened to");
        Err(Error::new(Code::InvalidValue, "the port is not listened to"))
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connect_to_addr(
    rdma: *const Core,
    addr: *const AddressObject,
    connection_user_data: u64,
) -> i32 {
    const CALL: &str = "doca_rdma_connect_to_addr";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (core, object) = unsafe { (context(rdma, CALL)?, checked(addr, CALL)?) };
        core.require(State::Running, CALL)?;
        let control = control(core, CALL)?;
        sweep(&control);
        let conn = control.reserve(object.address(), connection_user_data)?;
        let handle = handle_of(core, &conn).inspect_err(|_| control.give_up(&conn))?;
        object.uses.fetch_add(1, Ordering::AcqRel);
        // SAFETY: just made, or found alive.
        unsafe { &*handle }.lent.store(addr.cast_mut(), Ordering::Release);
        control.reach(&conn);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_accept(
    rdma_connection: *const Handle,
    private_data: *const c_void,
    private_data_len: u8,
) -> i32 {
    const CALL: &str = "doca_rdma_connection_accept";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let object = unsafe { handle(rdma_connection, CALL)? };
        if private_data.is_null() && private_data_len > 0 {
            return null_argument(CALL, "private_data");
        }
        let private = if private_data.is_null() {
            &[]
        } else {
            // SAFETY: as many bytes as the program says; only read during the call.
            unsafe { core::slice::from_raw_parts(private_data.cast(), private_data_len.into()) }
        };
        control_of(&object.conn, CALL)?.accept(&object.conn, private)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_reject(rdma_connection: *const Handle) -> i32 {
    const CALL: &str = "doca_rdma_connection_reject";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let conn = unsafe { handle(rdma_connection, CALL)? }.conn.clone();
        control_of(&conn, CALL)?.reject(&conn)?;
        retire(&conn);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_rdma_connection_disconnect(rdma_connection: *const Handle) -> i32 {
    const CALL: &str = "doca_rdma_connection_disconnect";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let conn = unsafe { handle(rdma_connection, CALL)? }.conn.clone();
        control_of(&conn, CALL)?.disconnect(&conn);
        conn.released.store(true, Ordering::Release);
        Ok(())
    })
}
