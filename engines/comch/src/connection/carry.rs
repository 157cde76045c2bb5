//! Producers and consumers on a connection. News of consumers: a parcel through the line, then a record in the stream.

use super::{Connection, Phase};
use crate::caps::Caps;
use crate::outlet::tag;
use crate::remote::Parcel;
use crate::streams::{Carrier, Member, News, Role, Streams};
use crate::sync::Ordering;
use crate::wire::{self, Kind};
use softdpu_link::Ringer;
use softdpu_status::{Code, Error, Result};
use std::os::fd::OwnedFd;
use std::sync::{Arc, PoisonError};

impl Connection {
    /// A new producer's place.
    ///
    /// # Errors
    /// BadState (not established, or over), NotSupported, NoMemory (as many as one end may have).
    pub fn producer(self: &Arc<Self>) -> Result<Member> {
        self.member(Role::Producer)
    }

    /// A new consumer's place.
    ///
    /// # Errors
    /// As [`Connection::producer`].
    pub fn consumer(self: &Arc<Self>) -> Result<Member> {
        self.member(Role::Consumer)
    }

    fn member(self: &Arc<Self>, role: Role) -> Result<Member> {
        if !self.is_up() {
            log::error!(target: crate::LOG, "{role:?} on a connection that is {:?}, must be Up", self.phase());
            return Err(Error::new(Code::BadState, "the connection is not established"));
        }
        let (device, caps) = self.device().and_then(|it| Caps::of(it.function()).map(|caps| (it, caps)))?;
        if !caps.has(role) {
            log::error!(target: crate::LOG, "{} has none of what is asked for here: a {role:?}", device.function());
            return Err(Error::new(Code::NotSupported, "the device has none of these"));
        }
        Member::new(self.clone(), role)
    }

    /// A packet over the line: the parcel of a consumer. Service thread. False: it is none, the line is to end.
    pub(crate) fn parcel(&self, bytes: &[u8], fds: Vec<OwnedFd>) -> bool {
        let put = unpack(bytes, fds).and_then(|parcel| {
            let fits = self.streams.put_parcel(parcel);
            if fits { Ok(()) } else { Err(Error::new(Code::Full, "more parcels than a peer may send")) }
        });
        if let Err(error) = &put {
            log::error!(target: crate::LOG, "process {} sent {} bytes that announce no consumer ({error}); it is dropped",
                self.peer, bytes.len());
        }
        self.todo.look_at(self.seat);
        put.is_ok()
    }
}

fn unpack(bytes: &[u8], fds: Vec<OwnedFd>) -> Result<Parcel> {
    let bad = Error::new(Code::InvalidValue, "damaged packet");
    let ([id, slots, imm, word], descriptor) = wire::read(Kind::Parcel, bytes).ok_or(bad)?;
    let [segment, page, event]: [OwnedFd; 3] = fds.try_into().map_err(|_| bad)?;
    Ok(Parcel {
        id,
        imm: imm.min(crate::caps::MAX_IMM),
        receives: crate::receives::Receives::accept(segment, slots)?,
        ringer: Some(Ringer::accept(page, word, event)?),
        descriptor: descriptor.to_vec(),
    })
}

impl Carrier for Connection {
    fn streams(&self) -> &Streams {
        &self.streams
    }

    fn announce(&self, news: &News<'_>) -> Result<()> {
        let numbers = [news.id, news.receives.slots(), news.imm, news.bell.word];
        let packet = wire::packet(Kind::Parcel, &numbers, news.descriptor);
        let line = self.line.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let line = line.ok_or(Error::new(Code::ConnectionReset, "the connection is over"))?;
        let [page, event] = news.bell.fds();
        line.send(&packet, &[news.receives.fd(), page, event])?;
        self.record(tag::CONSUMER, news.id);
        if self.paused.load(Ordering::Acquire) {
            // The answer is looked for among messages that nobody takes.
            self.look();
        }
        Ok(())
    }

    fn feed(&self, id: u32) {
        self.record(tag::FEED, id);
    }

    fn retract(&self, id: u32) {
        self.record(tag::EXPIRED, id);
    }

    fn peer(&self) -> u32 {
        self.peer
    }

    fn is_up(&self) -> bool {
        self.phase() == Phase::Up && !self.is_lost()
    }

    fn sever(&self) -> bool {
        Connection::sever(self)
    }
}
