//! Servers and clients: making and ending them, and what each has for itself.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_comch.h"
)]

use super::face::{Callbacks, Face, StatusCallback, handle, retire};
use super::{PART, context, destroy, null, owner, part, put, refuse, set_part};
use crate::caps::Caps;
use crate::client::{ClientSetup, Found};
use crate::engine::{ComchClient, ComchServer, Ends};
use crate::lent::Handle;
use crate::server::ServerSetup;
use core::ptr::null as nil;
use softdpu_memory::handle::{OpenDevice, OpenRep, OpenRepresentor, checked};
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Engine, EngineInfo};
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_room::life::Equipment;
use softdpu_status::{Code, Error, Result};
use std::ffi::{CStr, c_char};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the program said of a server or client.
#[derive(Debug)]
pub(super) struct Part {
    name: Vec<u8>,
    device: *const OpenDevice,
    representor: *const OpenRepresentor,
    /// Keeps it open.
    open: Option<Arc<OpenRep>>,
    found: Arc<Found>,
    settings: Mutex<Settings>,
}

/// What may be changed while idle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub(super) msg: u32,
    pub(super) queue: u32,
    pub(super) tasks: u32,
    pub(super) calls: Callbacks,
}

impl Part {
    fn new(name: Vec<u8>, device: *const OpenDevice, caps: &Caps) -> Part {
        let (msg, queue) = (caps.max_msg_size, caps.default_recv_queue_size());
        let settings = Settings { msg, queue, tasks: 0, calls: Callbacks::default() };
        let found = Arc::default();
        Part { name, device, representor: nil(), open: None, found, settings: Mutex::new(settings) }
    }

    pub(super) fn settings(&self) -> MutexGuard<'_, Settings> {
        self.settings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ends(&self, core: &Core) -> Result<(Ends, u32)> {
        let now = *self.settings();
        let face = Arc::new(Face { calls: now.calls });
        Ok((Ends::new(core.device().function(), now.msg, now.queue, now.tasks, face)?, now.tasks))
    }
}

/// A server's name, as the program gave it.
unsafe fn name_of(name: *const c_char, caps: &Caps, call: &str) -> Result<Vec<u8>> {
    if name.is_null() {
        return null(call, "name");
    }
    // SAFETY: a text that ends with a zero, by contract.
    let bytes = unsafe { CStr::from_ptr(name) }.to_bytes();
    if bytes.is_empty() || bytes.len() >= caps.max_name_len as usize {
        let line = format_args!(
            "{call}: a name of {} bytes, allowed 1 to {} (the terminating zero not counted)",
            bytes.len(),
            caps.max_name_len - 1
        );
        return refuse(Code::InvalidValue, "length of the name", line);
    }
    Ok(bytes.to_vec())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_create(
    dev: *const OpenDevice,
    repr: *const OpenRepresentor,
    name: *const c_char,
    comch_server: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_server_create";
    guard_unforked(CALL, || {
        // SAFETY: handles, or NULL.
        let (device, open) = unsafe { (checked(dev, CALL)?.device(), checked(repr, CALL)?.open()) };
        if comch_server.is_null() || name.is_null() {
            return null(CALL, "name or comch_server");
        }
        let function = device.function();
        let caps = Caps::of(function).ok().filter(|caps| caps.server);
        let Some(caps) = caps else {
            let line = format_args!(
                "{CALL}: no server can run on {function} (profile {}): servers run on the card, in mode dpu",
                function.card().profile()
            );
            return refuse(Code::NotSupported, "no server can run on the device", line);
        };
        if open.manager().function().card().name() != function.card().name() {
            let line = format_args!(
                "{CALL}: the representor of {} belongs to card `{}`, the device to `{}`",
                open.representor().pci(),
                open.manager().function().card().name(),
                function.card().name()
            );
            return refuse(Code::InvalidValue, "representor of another card", line);
        }
        // SAFETY: a text, see above.
        let name = unsafe { name_of(name, &caps, CALL)? };
        let core = Core::create(ComchServer::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        let part = Part::new(name, dev, &caps);
        set_part(core, Part { representor: repr, open: Some(open.clone()), ..part });
        // SAFETY: checked above.
        unsafe { put(CALL, "comch_server", comch_server, core) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_create(
    dev: *const OpenDevice,
    name: *const c_char,
    comch_client: *mut *const Core,
) -> i32 {
    const CALL: &str = "doca_comch_client_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let device = unsafe { checked(dev, CALL)? }.device();
        if comch_client.is_null() || name.is_null() {
            return null(CALL, "name or comch_client");
        }
        let function = device.function();
        let caps = Caps::of(function).ok().filter(|caps| caps.client);
        let Some(caps) = caps else {
            let line = format_args!(
                "{CALL}: no client can run on {function} (profile {}): clients run on the host, with the card in mode dpu",
                function.card().profile()
            );
            return refuse(Code::NotSupported, "no client can run on the device", line);
        };
        // SAFETY: a text, see above.
        let name = unsafe { name_of(name, &caps, CALL)? };
        let core = Core::create(ComchClient::INFO, Arc::clone(device), softdpu_room::board::of_process())?;
        set_part(core, Part::new(name, dev, &caps));
        // SAFETY: checked above.
        unsafe { put(CALL, "comch_client", comch_client, core) }
    })
}

/// Makes the engine of a server when it starts.
pub(super) fn start_server(core: &'static Core) -> Result<Equipment> {
    // SAFETY: set as the starter of servers alone, which have a part of this type.
    let part = unsafe { part::<Part>(core) };
    let (ends, tasks) = part.ends(core)?;
    let Some(open) = &part.open else {
        return Err(Error::new(Code::Unexpected, "a server without representor"));
    };
    let representor = open.representor();
    let setup = ServerSetup {
        name: part.name.clone(),
        host_function: representor.vhca_id(),
        host_text: format!("host function {} (representor {})", representor.pci(), representor.iface()),
        ends,
    };
    let (work, _) = ComchServer::build(core.device(), Some(setup))?;
    Ok((work, vec![(0, tasks)]))
}

/// The same of a client.
pub(super) fn start_client(core: &'static Core) -> Result<Equipment> {
    // SAFETY: set as the starter of clients alone, which have a part of this type.
    let part = unsafe { part::<Part>(core) };
    let (ends, tasks) = part.ends(core)?;
    let setup = ClientSetup { server: part.name.clone(), ends, found: part.found.clone() };
    let (work, _) = ComchClient::build(core.device(), Some(setup))?;
    Ok((work, vec![(0, tasks)]))
}

unsafe fn end(core: *const Core, info: &EngineInfo, call: &str) -> Result<()> {
    // SAFETY: a handle, or NULL; contexts of both kinds have a part of this type.
    unsafe {
        let core = context(core, info, call)?;
        debug_assert!(core.setting(PART).is_some());
        destroy::<Part>(core)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_destroy(comch_server: *const Core) -> i32 {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { end(comch_server, ComchServer::INFO, "doca_comch_server_destroy") })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_destroy(comch_client: *const Core) -> i32 {
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { end(comch_client, ComchClient::INFO, "doca_comch_client_destroy") })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_as_ctx(comch_server: *const Core) -> *const Core {
    const CALL: &str = "doca_comch_server_as_ctx";
    guard_value(nil(), || {
        // SAFETY: a handle, or NULL.
        unsafe { context(comch_server, ComchServer::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_as_ctx(comch_client: *const Core) -> *const Core {
    const CALL: &str = "doca_comch_client_as_ctx";
    guard_value(nil(), || {
        // SAFETY: a handle, or NULL.
        unsafe { context(comch_client, ComchClient::INFO, CALL) }.map_or(nil(), core::ptr::from_ref)
    })
}

/// Gives one of the handles back that the program made it with.
unsafe fn given<T>(
    core: *const Core,
    info: &EngineInfo,
    out: *mut *const T,
    call: &str,
    read: impl FnOnce(&Part) -> *const T,
) -> i32 {
    guard(|| {
        // SAFETY: a handle, or NULL; contexts of both kinds have a part of this type.
        let value = unsafe { read(part::<Part>(context(core, info, call)?)) };
        // SAFETY: an out parameter, or NULL.
        unsafe { put(call, "the output", out, value) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_get_device(
    comch_server: *const Core,
    dev: *mut *const OpenDevice,
) -> i32 {
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { given(comch_server, ComchServer::INFO, dev, "doca_comch_server_get_device", |part| part.device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_get_device(
    comch_client: *const Core,
    dev: *mut *const OpenDevice,
) -> i32 {
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { given(comch_client, ComchClient::INFO, dev, "doca_comch_client_get_device", |part| part.device) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_get_device_rep(
    comch_server: *const Core,
    rep: *mut *const OpenRepresentor,
) -> i32 {
    const CALL: &str = "doca_comch_server_get_device_rep";
    // SAFETY: a handle and an out parameter, or NULL.
    unsafe { given(comch_server, ComchServer::INFO, rep, CALL, |part| part.representor) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_event_connection_status_changed_register(
    comch_server: *const Core,
    connect_event_cb: Option<StatusCallback>,
    disconnect_event_cb: Option<StatusCallback>,
) -> i32 {
    const CALL: &str = "doca_comch_server_event_connection_status_changed_register";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let core = unsafe { context(comch_server, ComchServer::INFO, CALL)? };
        let (Some(connect), Some(disconnect)) = (connect_event_cb, disconnect_event_cb) else {
            return null(CALL, "a callback");
        };
        core.require(State::Idle, CALL)?;
        // SAFETY: servers have a part of this type.
        unsafe { part::<Part>(core) }.settings().calls.status = Some([connect, disconnect]);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_server_disconnect(
    comch_server: *const Core,
    connection: *const Handle,
) -> i32 {
    const CALL: &str = "doca_comch_server_disconnect";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (core, handle) =
            unsafe { (context(comch_server, ComchServer::INFO, CALL)?, checked(connection, CALL)?) };
        if !core::ptr::eq(owner(handle), core) {
            let line =
                format_args!("{CALL}: connection {connection:p} is not one of server {comch_server:p}");
            return refuse(Code::InvalidValue, "connection of another context", line);
        }
        let connection = handle.connection().clone();
        connection.disconnect()?;
        retire(&connection);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_comch_client_get_connection(
    comch_client: *const Core,
    connection: *mut *const Handle,
) -> i32 {
    const CALL: &str = "doca_comch_client_get_connection";
    guard(|| {
        // SAFETY: a handle, or NULL; clients have a part of this type.
        let (core, part) = unsafe {
            let core = context(comch_client, ComchClient::INFO, CALL)?;
            (core, part::<Part>(core))
        };
        if connection.is_null() {
            return null(CALL, "connection");
        }
        if !matches!(core.state(), State::Running | State::Stopping) {
            core.require(State::Running, CALL)?;
        }
        let found = part.found.get().ok_or(Error::new(Code::BadState, "the client has no connection"))?;
        // SAFETY: checked above.
        unsafe { put(CALL, "connection", connection, handle(&found, core)?) }
    })
}
