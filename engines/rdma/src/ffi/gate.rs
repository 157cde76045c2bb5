//! A place where one peer may connect. It is opened for a peer that is known already, and told to it alone.
#![expect(unsafe_code, reason = "calls libfabric")]

use super::abi::{
    AGAIN, ConnectionEvent, EventAttr, EventError, Events, Fabric, Passive, REQUESTED, WAIT_FD,
};
use super::load::{Found, Library};
use super::object::{Begins, Own, text};
use super::plug::Plug;
use core::ptr::null_mut;
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

// SAFETY: declared so.
unsafe impl Begins for Passive {}
// SAFETY: declared so.
unsafe impl Begins for Events {}

/// See the module.
pub(crate) struct Gate {
    passive: Own<Passive>,
    events: Own<Events>,
    fabric: Arc<Own<Fabric>>,
    library: &'static Library,
}

/// A queue of events that can be waited for by its descriptor.
pub(super) fn open_events(fabric: &Own<Fabric>) -> Result<Own<Events>, String> {
    let mut attr = EventAttr { wait: WAIT_FD, ..EventAttr::default() };
    let mut events = null_mut();
    // SAFETY: an open fabric; on success an open object is stored.
    let made = unsafe {
        let code = ((*(*fabric.raw()).ops).events)(fabric.raw(), &raw mut attr, &raw mut events, null_mut());
        (code == 0).then(|| Own::new(events)).flatten().ok_or(code)
    };
    made.map_err(|code| format!("no queue of events: {}", text(code)))
}

/// Reads an event of a connection.
pub(super) fn read_event(events: &Own<Events>) -> Result<Option<(u32, ConnectionEvent)>, String> {
    let mut kind = 0;
    // SAFETY: zero is a value of the structure; the call fills at most its size.
    let (read, event) = unsafe {
        let mut event: ConnectionEvent = core::mem::zeroed();
        let len = size_of::<ConnectionEvent>();
        let ops = (*events.raw()).ops;
        (((*ops).read)(events.raw(), &raw mut kind, (&raw mut event).cast(), len, 0), event)
    };
    if read >= 0 {
        return Ok(Some((kind, event)));
    }
    if read == AGAIN {
        return Ok(None);
    }
    // SAFETY: as above.
    let error = unsafe {
        let mut error: EventError = core::mem::zeroed();
        ((*(*events.raw()).ops).error)(events.raw(), &raw mut error, 0);
        error.error
    };
    Err(text(if error == 0 { read as i32 } else { error }))
}

/// May the thread sleep on the descriptors of these? Otherwise there is something to read.
pub(super) fn may_sleep(fabric: &Own<Fabric>, fids: &mut [*mut super::abi::Fid]) -> bool {
    // SAFETY: open objects of this fabric.
    unsafe { ((*(*fabric.raw()).ops).try_wait)(fabric.raw(), fids.as_mut_ptr(), fids.len() as i32) == 0 }
}

impl Gate {
    /// At an address of this machine.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn open(library: &'static Library, provider: &str, ip: IpAddr) -> Result<Gate, String> {
        let found = library.find(provider, ip, None, true)?;
        let fabric = found.fabric()?;
        let events = open_events(&fabric)?;
        let mut passive = null_mut();
        // SAFETY: open objects; on success an open object is stored.
        let made = unsafe {
            let code =
                ((*(*fabric.raw()).ops).passive)(fabric.raw(), found.raw(), &raw mut passive, null_mut());
            (code == 0).then(|| Own::new(passive)).flatten().ok_or(code)
        };
        let passive = made.map_err(|code| format!("no endpoint to listen: {}", text(code)))?;
        let code = match passive.bind(&events, 0) {
            // SAFETY: an open object.
            0 => unsafe { ((*(*passive.raw()).cm).listen)(passive.raw()) },
            code => code,
        };
        if code != 0 {
            return Err(format!("listening at {ip}: {}", text(code)));
        }
        Ok(Gate { passive, events, fabric: Arc::new(fabric), library })
    }

    /// The port that it has, if the provider has such.
    pub(crate) fn port(&self) -> Option<u16> {
        let (mut address, mut len) = ([0u8; 128], 128);
        // SAFETY: an open object; at most `len` bytes are stored.
        let code = unsafe {
            ((*(*self.passive.raw()).cm).get_name)(
                self.passive.fid(),
                address.as_mut_ptr().cast(),
                &raw mut len,
            )
        };
        // Of both kinds of internet addresses the port comes second, in the order of the network.
        (code == 0 && len >= 16).then(|| u16::from_be_bytes([address[2], address[3]]))
    }

    /// What wakes who waits for the peer.
    pub(crate) fn wait_fd(&self) -> Option<BorrowedFd<'_>> {
        self.events.wait_fd()
    }

    /// May the thread sleep now?
    pub(crate) fn may_sleep(&mut self) -> bool {
        may_sleep(&self.fabric, &mut [self.events.fid()])
    }

    /// The peer's endpoint, as soon as it comes.
    ///
    /// # Errors
    /// Why none will, in words.
    pub(crate) fn poll(&mut self) -> Result<Option<Plug>, String> {
        let Some((kind, event)) = read_event(&self.events)? else { return Ok(None) };
        let info = self.library.adopt(event.info);
        let (REQUESTED, Some(info)) = (kind, info) else { return Ok(None) };
        accept(&self.fabric, &info).map(Some)
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // Who connected and was not let in keeps nothing.
        while let Ok(Some((kind, event))) = read_event(&self.events) {
            let Some(info) = self.library.adopt(event.info).filter(|_| kind == REQUESTED) else { continue };
            let passive = self.passive.raw();
            // SAFETY: an open object, and the request that the event brought, which nobody has accepted.
            unsafe { ((*(*passive).cm).reject)(passive, (*info.raw()).handle, core::ptr::null(), 0) };
        }
    }
}

fn accept(fabric: &Arc<Own<Fabric>>, info: &Found) -> Result<Plug, String> {
    let plug = Plug::new(fabric.clone(), info)?;
    plug.accept()?;
    Ok(plug)
}
