//! What a C program is told, and what it holds of connections.

use super::refuse;
use crate::connection::Connection;
use crate::event::{Event, Listener, Message};
use crate::lent::Handle;
use core::ptr::NonNull;
use softdpu_memory::handle::Slab;
use softdpu_room::context::Core;
use softdpu_status::{Code, Result};
use std::ffi::c_void;
use std::sync::Arc;

/// `doca_comch_event_msg_recv_cb_t`.
pub type MessageCallback = unsafe extern "C" fn(*const c_void, *mut u8, u32, *const Handle);
/// `doca_comch_event_connection_status_changed_cb_t`.
pub type StatusCallback = unsafe extern "C" fn(*const c_void, *const Handle, u8);
/// `doca_comch_event_consumer_cb_t`.
pub type ConsumerCallback = unsafe extern "C" fn(*const c_void, *const Handle, u32);

static HANDLES: Slab<Handle> = Slab::new();

/// The callbacks of a server or client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Callbacks {
    pub(super) message: Option<MessageCallback>,
    /// Connect and disconnect.
    pub(super) status: Option<[StatusCallback; 2]>,
    /// New and expired.
    pub(super) consumer: Option<[ConsumerCallback; 2]>,
}

/// Calls them.
pub(super) struct Face {
    pub(super) calls: Callbacks,
}

/// The handle of a connection, made when it is first needed.
///
/// # Errors
/// NoMemory.
pub(super) fn handle(connection: &Arc<Connection>, core: &'static Core) -> Result<*const Handle> {
    if connection.face() == 0 {
        let handle = HANDLES.make(Handle::new(connection.clone(), core::ptr::from_ref(core) as usize))?;
        connection.set_face(handle.as_ptr() as usize);
    }
    Ok(connection.face() as *const Handle)
}

/// The program's handle of a connection is dead from now on.
pub(super) fn retire(connection: &Connection) {
    if let Some(handle) = NonNull::new(connection.face() as *mut Handle) {
        connection.set_face(0);
        // SAFETY: made by `handle`, alive until now; whoever looks at it later finds it dead.
        unsafe { HANDLES.retire(handle) };
    }
}

impl Listener for Face {
    fn wants_messages(&self) -> bool {
        self.calls.message.is_some()
    }

    fn wants_consumers(&self) -> bool {
        self.calls.consumer.is_some()
    }

    fn tell(&self, core: &'static Core, event: Event) {
        // The event object carries nothing; programs only hand it around.
        let about = core::ptr::from_ref(core).cast::<c_void>();
        let status = |at: usize, connection: &Arc<Connection>| {
            if let (Some(calls), Ok(handle)) = (self.calls.status, handle(connection, core)) {
                // SAFETY: the program promised a callback of this type; nothing of ours is borrowed or locked here.
                unsafe { calls[at](about, handle, 1) };
            }
        };
        let consumer = |at: usize, connection: &Arc<Connection>, id: u32| {
            if let (Some(calls), Ok(handle)) = (self.calls.consumer, handle(connection, core)) {
                // SAFETY: as above.
                unsafe { calls[at](about, handle, id) };
            }
        };
        match event {
            Event::Connected(connection) => {
                if handle(&connection, core).is_err() {
                    let _: Result<()> =
                        refuse(Code::NoMemory, "no memory", format_args!("a client is refused: no memory"));
                    let _ = connection.disconnect();
                    return;
                }
                status(0, &connection);
            }
            Event::Disconnected(connection) => {
                // A program that dropped it meanwhile has no handle of it any more.
                if connection.face() != 0 {
                    status(1, &connection);
                    retire(&connection);
                }
            }
            Event::Message(..) => {}
            Event::NewConsumer(connection, id) => consumer(0, &connection, id),
            Event::ExpiredConsumer(connection, id) => {
                if connection.face() != 0 {
                    consumer(1, &connection, id);
                }
            }
        }
    }

    fn message(
        &self,
        core: &'static Core,
        connection: &Arc<Connection>,
        mut message: Message,
    ) -> Option<Message> {
        if let (Some(call), Ok(handle)) = (self.calls.message, handle(connection, core)) {
            let about = core::ptr::from_ref(core).cast::<c_void>();
            let len = message.bytes().len() as u32;
            // SAFETY: the program promised a callback of this type; nothing of ours is borrowed or locked here. The bytes, and
            // one behind them, are the callback's until it returns.
            unsafe { call(about, message.room().as_mut_ptr(), len, handle) };
        }
        Some(message)
    }

    fn forget(&self, connection: &Arc<Connection>) {
        retire(connection);
    }
}
