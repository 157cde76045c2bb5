//! A connected endpoint: its queue of completions, and its buffers.
//!
//! All buffers are of one size and lie in one piece of memory, which is registered where the provider wants that. A
//! buffer belongs either to the library (it is being sent, or waits for a message) or to the owner of the plug; which
//! one is noted here, so that no call can touch a buffer that the library has. What the library has comes back at the
//! latest when the endpoint is closed, before its memory goes.
#![expect(unsafe_code, reason = "calls libfabric, with buffers that it keeps for a while")]

use super::abi::{
    AGAIN, CONNECTED, Completion, CompletionError, Domain, ENABLE, ERROR_THERE, Endpoint, Events, FORMAT_MSG,
    Fabric, NOBODY, Queue, QueueAttr, RECEIVE, Region, SHUTDOWN, TRANSMIT, WAIT_FD,
};
use super::gate::{may_sleep, open_events, read_event};
use super::load::{Found, Library};
use super::object::{Begins, Own, text};
use super::store::{Shape, Store};
use core::ptr::{null, null_mut};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

// SAFETY: declared so.
unsafe impl Begins for Domain {}
// SAFETY: declared so.
unsafe impl Begins for Queue {}
// SAFETY: declared so.
unsafe impl Begins for Endpoint {}
// SAFETY: declared so.
unsafe impl Begins for Region {}

/// What a buffer that is sent is for; each has its own, so that one never waits for the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Requests.
    Request = 0,
    /// Answers.
    Answer = 1,
}

/// Where the connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is being made.
    Dialing,
    /// It carries messages.
    Open,
    /// It is over.
    Closed,
}

/// A message that came, in a buffer that is the owner's until it is given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) slot: u32,
    pub(crate) len: u32,
}

/// See the module.
pub(crate) struct Plug {
    // The order is that in which they are closed.
    endpoint: Own<Endpoint>,
    region: Option<Own<Region>>,
    queue: Own<Queue>,
    events: Own<Events>,
    _domain: Own<Domain>,
    fabric: Arc<Own<Fabric>>,
    store: Store,
    /// Which buffers the library has.
    lent: Box<[bool]>,
    free: [Vec<u32>; 2],
    state: State,
    looks: u32,
}

impl Plug {
    /// Connects to a peer; [`Plug::poll`] tells when it is there.
    ///
    /// # Errors
    /// Why not, in words.
    pub(crate) fn dial(
        library: &'static Library,
        provider: &str,
        ip: IpAddr,
        port: u16,
    ) -> Result<Plug, String> {
        let found = library.find(provider, ip, Some(port), false)?;
        let plug = Plug::new(Arc::new(found.fabric()?), &found)?;
        // SAFETY: an open endpoint, and the address that was found.
        let code = unsafe {
            ((*(*plug.endpoint.raw()).cm).connect)(plug.endpoint.raw(), (*found.raw()).dest, null(), 0)
        };
        if code == 0 { Ok(plug) } else { Err(text(code)) }
    }

    /// An endpoint as described, with receives posted.
    pub(super) fn new(fabric: Arc<Own<Fabric>>, found: &Found) -> Result<Plug, String> {
        if found.longest() < Shape::BYTES {
            return Err(format!("messages of at most {} bytes, needed {}", found.longest(), Shape::BYTES));
        }
        let events = open_events(&fabric)?;
        let (domain, queue, endpoint) = open(&fabric, found)?;
        let store = Store::new().ok_or("no memory for buffers")?;
        let region = found.registers().then(|| register(&domain, &store)).transpose()?;
        let codes =
            [endpoint.bind(&events, 0), endpoint.bind(&queue, TRANSMIT | RECEIVE), endpoint.command(ENABLE)];
        if let Some(code) = codes.into_iter().find(|&code| code != 0) {
            return Err(format!("the endpoint cannot be used: {}", text(code)));
        }
        let free =
            [(0..Shape::REQUESTS).rev().collect(), (Shape::REQUESTS..Shape::FIRST_RECEIVE).rev().collect()];
        let lent = vec![false; Shape::ALL as usize].into();
        let (state, looks) = (State::Dialing, 0);
        let mut plug = Plug {
            endpoint,
            region,
            queue,
            events,
            _domain: domain,
            fabric,
            store,
            lent,
            free,
            state,
            looks,
        };
        for slot in Shape::FIRST_RECEIVE..Shape::ALL {
            plug.give_back(slot);
        }
        if plug.state == State::Closed { Err("no receives can be posted".into()) } else { Ok(plug) }
    }

    pub(super) fn accept(&self) -> Result<(), String> {
        // SAFETY: an open endpoint made for a request.
        let code = unsafe { ((*(*self.endpoint.raw()).cm).accept)(self.endpoint.raw(), null(), 0) };
        if code == 0 { Ok(()) } else { Err(text(code)) }
    }

    /// Where it is.
    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// What wakes who waits: for completions, and for events.
    pub(crate) fn wait_fds(&self) -> [Option<BorrowedFd<'_>>; 2] {
        [self.queue.wait_fd(), self.events.wait_fd()]
    }

    /// May the thread sleep now?
    pub(crate) fn may_sleep(&mut self) -> bool {
        may_sleep(&self.fabric, &mut [self.queue.fid(), self.events.fid()])
    }

    /// Moves bytes, and notes what is through. `thorough`: also looks whether the peer is gone.
    pub(crate) fn poll(&mut self, thorough: bool, mut got: impl FnMut(Got)) {
        self.looks = self.looks.wrapping_add(1);
        if self.state == State::Dialing || thorough || self.looks.is_multiple_of(256) {
            self.look_at_events();
        }
        let mut done = [Completion { context: null_mut(), flags: 0, len: 0 }; 16];
        while self.state != State::Closed {
            // SAFETY: an open queue of this format; at most so many entries are stored.
            let n =
                unsafe { ((*(*self.queue.raw()).ops).read)(self.queue.raw(), done.as_mut_ptr(), done.len()) };
            if n == AGAIN {
                return;
            }
            let Ok(count) = usize::try_from(n) else { return self.failed(n) };
            for one in done.iter().take(count) {
                let Some(slot) = self.store.slot(one.context) else { continue };
                self.lent[slot as usize] = false;
                if slot >= Shape::FIRST_RECEIVE {
                    got(Got { slot, len: one.len.min(Shape::BYTES) as u32 });
                } else {
                    self.free[usize::from(slot >= Shape::REQUESTS)].push(slot);
                }
            }
            if count < done.len() {
                return;
            }
        }
    }

    #[cold]
    fn failed(&mut self, code: isize) {
        let mut error = code as i32;
        if code == ERROR_THERE {
            // SAFETY: an open queue; zero is a value of the structure, which the call fills.
            error = unsafe {
                let mut entry: CompletionError = core::mem::zeroed();
                ((*(*self.queue.raw()).ops).error)(self.queue.raw(), &raw mut entry, 0);
                entry.error
            };
        }
        log::debug!(target: crate::LOG, "fabric: the connection is over: {}", text(error));
        self.state = State::Closed;
    }

    fn look_at_events(&mut self) {
        loop {
            match read_event(&self.events) {
                Ok(None) => return,
                Ok(Some((CONNECTED, _))) if self.state == State::Dialing => self.state = State::Open,
                Ok(Some((SHUTDOWN, _))) => return self.state = State::Closed,
                Ok(Some(_)) => {}
                Err(why) => {
                    log::debug!(target: crate::LOG, "fabric: {why}");
                    return self.state = State::Closed;
                }
            }
        }
    }

    /// A buffer to fill and send, if one is free.
    pub(crate) fn take(&mut self, class: Class) -> Option<u32> {
        self.free[class as usize].pop()
    }

    /// Is one free?
    pub(crate) fn has(&self, class: Class) -> bool {
        !self.free[class as usize].is_empty()
    }

    /// Has the library sent everything?
    pub(crate) fn is_idle(&self) -> bool {
        !self.lent[..Shape::FIRST_RECEIVE as usize].contains(&true)
    }

    /// The bytes of a buffer that is not being sent.
    pub(crate) fn fill(&mut self, slot: u32) -> &mut [u8] {
        assert!(!self.lent[slot as usize], "the library has the buffer");
        // SAFETY: the library does not have it, and the plug is borrowed.
        unsafe { core::slice::from_raw_parts_mut(self.store.buffer(slot), Shape::BYTES) }
    }

    /// The bytes of a message that came and was not given back.
    pub(crate) fn bytes(&self, got: Got) -> &[u8] {
        assert!(!self.lent[got.slot as usize], "the library has the buffer");
        // SAFETY: as above; at most as long as a buffer.
        unsafe { core::slice::from_raw_parts(self.store.buffer(got.slot), got.len as usize) }
    }

    /// Sends the first `len` bytes of a buffer, which is free again later.
    pub(crate) fn send(&mut self, slot: u32, len: usize) {
        let post = |plug: &Plug| {
            // SAFETY: an open endpoint; the buffer stays untouched until the completion.
            unsafe {
                ((*(*plug.endpoint.raw()).msg).send)(
                    plug.endpoint.raw(),
                    plug.store.buffer(slot).cast(),
                    len.min(Shape::BYTES),
                    plug.desc(),
                    NOBODY,
                    plug.store.scratch(slot),
                )
            }
        };
        self.post(slot, post);
    }

    /// A buffer may take another message.
    pub(crate) fn give_back(&mut self, slot: u32) {
        let post = |plug: &Plug| {
            // SAFETY: as above.
            unsafe {
                ((*(*plug.endpoint.raw()).msg).receive)(
                    plug.endpoint.raw(),
                    plug.store.buffer(slot).cast(),
                    Shape::BYTES,
                    plug.desc(),
                    NOBODY,
                    plug.store.scratch(slot),
                )
            }
        };
        self.post(slot, post);
    }

    fn post(&mut self, slot: u32, post: impl Fn(&Plug) -> isize) {
        assert!(!core::mem::replace(&mut self.lent[slot as usize], true), "the library has the buffer");
        if self.state == State::Closed {
            return;
        }
        // The library's own queues are longer than there are buffers.
        let code = post(self);
        if code != 0 {
            log::warn!(target: crate::LOG, "fabric: a buffer cannot be posted: {}", text(code as i32));
            self.state = State::Closed;
        }
    }

    fn desc(&self) -> *mut core::ffi::c_void {
        // SAFETY: an open object.
        self.region.as_ref().map_or(null_mut(), |region| unsafe { (*region.raw()).desc })
    }
}

type Parts = (Own<Domain>, Own<Queue>, Own<Endpoint>);

/// Each connection has a domain to itself: whoever moves the bytes of one moves those of no other.
fn open(fabric: &Own<Fabric>, found: &Found) -> Result<Parts, String> {
    let mut attr = QueueAttr {
        size: 2 * Shape::ALL as usize,
        format: FORMAT_MSG,
        wait: WAIT_FD,
        ..QueueAttr::default()
    };
    let (mut domain, mut queue, mut endpoint) = (null_mut(), null_mut(), null_mut());
    // SAFETY: open objects; on success open objects are stored.
    unsafe {
        let code = ((*(*fabric.raw()).ops).domain)(fabric.raw(), found.raw(), &raw mut domain, null_mut());
        let domain = (code == 0)
            .then(|| Own::new(domain))
            .flatten()
            .ok_or_else(|| format!("no domain: {}", text(code)))?;
        let code = ((*(*domain.raw()).ops).queue)(domain.raw(), &raw mut attr, &raw mut queue, null_mut());
        let queue = (code == 0)
            .then(|| Own::new(queue))
            .flatten()
            .ok_or_else(|| format!("no queue: {}", text(code)))?;
        let code =
            ((*(*domain.raw()).ops).endpoint)(domain.raw(), found.raw(), &raw mut endpoint, null_mut());
        let endpoint = (code == 0)
            .then(|| Own::new(endpoint))
            .flatten()
            .ok_or_else(|| format!("no endpoint: {}", text(code)))?;
        Ok((domain, queue, endpoint))
    }
}

fn register(domain: &Own<Domain>, store: &Store) -> Result<Own<Region>, String> {
    let mut region = null_mut();
    // SAFETY: an open domain, and memory that stays until the region is closed.
    let made = unsafe {
        let code = ((*(*domain.raw()).mr).register)(
            domain.fid(),
            store.buffer(0).cast(),
            Store::SCRATCH,
            RECEIVE | TRANSMIT,
            0,
            0,
            0,
            &raw mut region,
            null_mut(),
        );
        (code == 0).then(|| Own::new(region)).flatten().ok_or(code)
    };
    made.map_err(|code| format!("buffers cannot be registered: {}", text(code)))
}

#[cfg(test)]
#[path = "plug_tests.rs"]
mod tests;
