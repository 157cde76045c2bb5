//! A connected endpoint: its queue of completions, and its buffers.
//!
//! All buffers are of one size and lie in one piece of memory, which is registered where the provider wants that. A
//! buffer belongs either to the library (it is being sent, or waits for a message) or to the owner of the plug; which
//! one is noted here, so that no call can touch a buffer that the library has. What the library has comes back at the
//! latest when the endpoint is closed, before its memory goes.
#![expect(unsafe_code, reason = "calls libfabric, with buffers that it keeps for a while")]

use super::abi::{
    AGAIN, CONNECTED, Completion, CompletionError, Domain, ENABLE, ERROR_THERE, Endpoint, Events, Fabric,
    NOBODY, Piece, Queue, RECEIVE, Region, SHUTDOWN, TRANSMIT,
};
use super::gate::{may_sleep, open_events, read_event};
use super::load::{Found, Library};
use super::object::{Own, text};
use super::parts::{Class, Got, State, next, open, register};
use super::store::{Shape, Store};
use core::ptr::{null, null_mut};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

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
    /// With which of them it has memory of the program, and for which request.
    borrows: [Option<u32>; Shape::REQUESTS as usize],
    /// It may have such.
    gathers: bool,
    /// Bytes of a message at most that it copies instead of keeping the buffer.
    copies: usize,
    /// Messages in a row that went so.
    unsure: u32,
    free: [Vec<u32>; 2],
    /// Buffers for messages that the library does not have. They are posted at the next look: an answer that is about to
    /// be sent comes before.
    spare: Vec<u32>,
    /// Buffers that wait for messages, and how many may.
    posted: usize,
    most_posted: usize,
    state: State,
    looks: u32,
    span: usize,
}

/// Messages in a row at most without word of their completion: what is behind the word of one has left, too, so the
/// library's queue of them stays short.
const MOST_UNSURE: u32 = 8;
/// Buffers for messages that need not be posted, beyond those that the peer counts on.
const SPARE: usize = (Shape::RECEIVES - Shape::REQUESTS - Shape::ANSWERS) as usize;
/// Where bytes wait for buffers, so many are enough, and the same few stay in the cache.
const FEW: usize = 4;

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
        let mut plug = Plug {
            endpoint,
            region,
            queue,
            events,
            _domain: domain,
            fabric,
            store,
            lent,
            borrows: [None; Shape::REQUESTS as usize],
            gathers: found.gathers(),
            copies: found.copies(),
            unsure: 0,
            free,
            spare: (Shape::FIRST_RECEIVE..Shape::ALL).rev().collect(),
            posted: 0,
            most_posted: if found.registers() { Shape::RECEIVES as usize } else { FEW },
            state: State::Dialing,
            looks: 0,
            span: 1,
        };
        plug.post_spare();
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
        self.post_spare();
        may_sleep(&self.fabric, &mut [self.queue.fid(), self.events.fid()])
    }

    /// Moves bytes, and notes what is through. `thorough`: also looks whether the peer is gone.
    pub(crate) fn poll(&mut self, thorough: bool, mut got: impl FnMut(Got)) {
        self.looks = self.looks.wrapping_add(1);
        if self.state == State::Dialing || thorough || self.looks.is_multiple_of(256) {
            self.look_at_events();
        }
        self.post_spare();
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
                if let Some(borrows) = self.borrows.get_mut(slot as usize) {
                    *borrows = None;
                }
                if slot >= Shape::FIRST_RECEIVE {
                    self.posted -= 1;
                    got(Got { slot, len: one.len.min(Shape::BYTES) as u32 });
                } else {
                    self.free[usize::from(slot >= Shape::REQUESTS)].push(slot);
                }
            }
            if count < done.len() {
                // The library may have read more than found buffers, and no descriptor tells of that.
                if self.posted > 0 || self.spare.is_empty() {
                    return;
                }
                self.post_spare();
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

    /// Buffers of each kind are used in turn from now on, so many of them, instead of the one that was used last.
    pub(crate) fn set_span(&mut self, span: usize) {
        self.span = span.max(1);
    }

    /// A buffer to fill and send, if one is free.
    pub(crate) fn take(&mut self, class: Class) -> Option<u32> {
        next(&mut self.free[class as usize], self.span)
    }

    /// Is one free?
    pub(crate) fn has(&self, class: Class) -> bool {
        !self.free[class as usize].is_empty()
    }

    /// Were short messages sent of which no later word will say that they have left?
    pub(crate) fn is_unsure(&self) -> bool {
        self.unsure > 0
    }

    /// Has the library sent everything that it gives word of?
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

    /// Sends the first `len` bytes of a buffer: short ones at once, without word of their completion.
    pub(crate) fn send(&mut self, slot: u32, len: usize) {
        let short = len <= self.copies && self.state == State::Open && self.unsure < MOST_UNSURE;
        if !short || !self.inject(slot, len) {
            self.send_later(slot, len);
        }
    }

    /// False: the library takes nothing more just now.
    fn inject(&mut self, slot: u32, len: usize) -> bool {
        assert!(!self.lent[slot as usize], "the library has the buffer");
        // SAFETY: an open endpoint; the bytes are the caller's, and copied.
        let code = unsafe {
            let (endpoint, bytes) = (self.endpoint.raw(), self.store.buffer(slot).cast());
            ((*(*endpoint).msg).inject)(endpoint, bytes, len, NOBODY)
        };
        if code == 0 {
            self.free[usize::from(slot >= Shape::REQUESTS)].push(slot);
            self.unsure += 1;
        }
        code == 0
    }

    /// Sends the first `len` bytes of a buffer, which is free again when everything up to here has been sent.
    pub(crate) fn send_later(&mut self, slot: u32, len: usize) {
        self.unsure = 0;
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

    /// Can messages go out from where they lie ([`Plug::send_from`])?
    pub(crate) fn gathers(&self) -> bool {
        self.gathers
    }

    /// Sends the first `len` bytes of a buffer of the first class, and behind them `n` bytes from where they lie, on
    /// behalf of a request.
    ///
    /// # Safety
    /// Those bytes stay mapped until [`Plug::borrows`] denies the request, or the plug is dropped.
    pub(crate) unsafe fn send_from(
        &mut self,
        slot: u32,
        len: usize,
        (at, n): (*const u8, usize),
        request: u32,
    ) {
        assert!(self.gathers && len + n <= Shape::BYTES, "no such message can be sent");
        self.borrows[slot as usize] = Some(request);
        let post = |plug: &Plug| {
            let pieces = [Piece { at: plug.store.buffer(slot), len }, Piece { at, len: n }];
            // SAFETY: an open endpoint that takes unregistered memory; buffer and bytes stay until the completion.
            unsafe {
                ((*(*plug.endpoint.raw()).msg).send_v)(
                    plug.endpoint.raw(),
                    pieces.as_ptr(),
                    [null_mut(); 2].as_mut_ptr(),
                    pieces.len(),
                    NOBODY,
                    plug.store.scratch(slot),
                )
            }
        };
        self.post(slot, post);
    }

    /// Has the library memory of the program that went with requests up to this number?
    pub(crate) fn borrows(&self, request: u32) -> bool {
        self.borrows.iter().flatten().any(|&of| request.wrapping_sub(of) < 1 << 31)
    }

    /// Has it any?
    pub(crate) fn borrows_any(&self) -> bool {
        self.borrows.iter().any(Option::is_some)
    }

    /// A buffer may take another message.
    pub(crate) fn give_back(&mut self, slot: u32) {
        self.spare.push(slot);
        // Hardware refuses what finds no buffer.
        if self.most_posted > FEW && self.spare.len() > SPARE {
            self.post_spare();
        }
    }

    /// As many as may wait are posted.
    fn post_spare(&mut self) {
        while self.posted < self.most_posted
            && let Some(slot) = next(&mut self.spare, self.span.saturating_sub(FEW - 1).max(1))
        {
            self.await_message(slot);
        }
    }

    fn await_message(&mut self, slot: u32) {
        self.posted += 1;
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

#[cfg(test)]
#[path = "plug_tests.rs"]
mod tests;
