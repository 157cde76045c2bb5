//! The producers and consumers of one end of a connection, and what it knows of the other end's consumers.
//!
//! Shared by the threads that drive them and the one that drives the connection; all of it is off the path of data.

use crate::remote::{Parcel, Remote};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use softdpu_room::hardware::Alarm;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What carries the news of consumers: a connection, or a queue inside a process.
pub(crate) trait Carrier: Send + Sync {
    /// Who is on it.
    fn streams(&self) -> &Streams;

    /// Tells the other end of a consumer that was started. Again: not yet; ask once more.
    fn announce(&self, news: &News<'_>) -> Result<()>;

    /// Tells the other end that a consumer is gone.
    fn retract(&self, id: u32);

    /// Tells the producers of the other end that receives of this consumer were posted: one of them waits for that.
    fn feed(&self, id: u32);

    /// Wakes whom [`Carrier::feed`] only noted, since the caller of that had something locked. Nothing is locked now.
    fn wake(&self) {}

    /// The process at the other end.
    fn peer(&self) -> u32;

    /// Is it established, and not over?
    fn is_up(&self) -> bool;

    /// Ends it, as if the peer were gone; false where there is none, or it is gone already.
    fn sever(&self) -> bool {
        false
    }
}

/// A consumer that was started.
#[derive(Debug)]
pub(crate) struct News<'a> {
    pub(crate) id: u32,
    pub(crate) imm: u32,
    pub(crate) receives: &'a crate::receives::Receives,
    pub(crate) bell: &'a crate::bell::Bell,
    pub(crate) descriptor: &'a [u8],
}

/// Producer or consumer?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Producer,
    Consumer,
}

/// A consumer of this end that waits to be seen by the other.
#[derive(Debug)]
struct Unseen {
    id: u32,
    seen: Arc<AtomicBool>,
    alarm: Arc<Alarm>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Streams {
    remotes: Mutex<Vec<Arc<Remote>>>,
    parcels: Mutex<Vec<Parcel>>,
    /// Consumers of this end that wait to be seen by the other.
    unseen: Mutex<Vec<Unseen>>,
    /// Everybody who must learn that the connection is over.
    alarms: Mutex<Vec<(u64, Arc<Alarm>)>>,
    next_alarm: AtomicU64,
    /// The next number of each role, and the distance to the one after.
    next: [AtomicU32; 2],
    alive: [AtomicU32; 2],
    /// What this end says, counted: messages, and sends of its producers. Some may be missed.
    said: AtomicU32,
    limits: [u32; 2],
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Most parcels that wait to be announced: more says that the peer plays foul.
const MOST_PARCELS: usize = 1 << 16;
/// A number that programs use for "no consumer yet", besides 0.
const NO_CONSUMER: u32 = 0xffff;

impl Streams {
    /// Numbers are odd at one end and even at the other, so that they are unique on the connection.
    pub(crate) fn new(first: u32, limits: [u32; 2]) -> Streams {
        Streams {
            remotes: Mutex::default(),
            parcels: Mutex::default(),
            unseen: Mutex::default(),
            alarms: Mutex::default(),
            next_alarm: AtomicU64::new(0),
            next: [AtomicU32::new(first), AtomicU32::new(first)],
            alive: [AtomicU32::new(0), AtomicU32::new(0)],
            said: AtomicU32::new(0),
            limits,
        }
    }

    /// This end said something.
    #[inline]
    pub(crate) fn say(&self) {
        self.said.store(self.said.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// How much this end has said, to see whether it did between two moments.
    #[inline]
    pub(crate) fn said(&self) -> u32 {
        self.said.load(Ordering::Relaxed)
    }

    /// A new member.
    ///
    /// # Errors
    /// NoMemory: as many of this role as are allowed.
    fn enroll(&self, role: Role) -> Result<u32> {
        let (alive, limit) = (&self.alive[role as usize], self.limits[role as usize]);
        let more = |n| if n < limit { Some(n + 1) } else { None };
        if alive.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_err() {
            log::error!(target: crate::LOG, "one more {role:?} on a connection end, limit {limit}");
            return Err(Error::new(Code::NoMemory, "as many of them as one end may have"));
        }
        let mut id = self.next[role as usize].fetch_add(2, Ordering::Relaxed);
        while id == 0 || id == NO_CONSUMER {
            id = self.next[role as usize].fetch_add(2, Ordering::Relaxed);
        }
        Ok(id)
    }

    /// Producers and consumers that were not destroyed.
    pub(crate) fn children(&self) -> u32 {
        self.alive.iter().map(|n| n.load(Ordering::Acquire)).sum()
    }

    /// "2 producers and 1 consumer", for log lines.
    pub(crate) fn roll(&self) -> String {
        let [producers, consumers] = [0, 1].map(|role| self.alive[role].load(Ordering::Acquire));
        format!("{producers} producers and {consumers} consumers")
    }

    /// The consumer of the peer with this number.
    pub(crate) fn remote(&self, id: u32) -> Option<Arc<Remote>> {
        lock(&self.remotes).iter().find(|remote| remote.parcel.id == id).cloned()
    }

    /// A parcel came. False: more than an honest peer sends.
    pub(crate) fn put_parcel(&self, parcel: Parcel) -> bool {
        let mut parcels = lock(&self.parcels);
        parcels.retain(|other| other.id != parcel.id);
        if parcels.len() >= MOST_PARCELS {
            return false;
        }
        parcels.push(parcel);
        true
    }

    /// Is the parcel of this consumer there?
    pub(crate) fn has_parcel(&self, id: u32) -> bool {
        lock(&self.parcels).iter().any(|parcel| parcel.id == id)
    }

    /// The peer's consumer is known from now on.
    pub(crate) fn add_remote(&self, id: u32) -> bool {
        let mut parcels = lock(&self.parcels);
        let Some(at) = parcels.iter().position(|parcel| parcel.id == id) else { return false };
        let parcel = parcels.swap_remove(at);
        drop(parcels);
        self.add(Remote::new(parcel))
    }

    /// As [`Streams::add_remote`], without a line.
    pub(crate) fn add(&self, remote: Arc<Remote>) -> bool {
        let mut remotes = lock(&self.remotes);
        let known = remotes.iter().any(|other| other.parcel.id == remote.parcel.id);
        if !known {
            remotes.push(remote);
        }
        !known
    }

    /// The peer's consumer is gone; false when it was not known.
    pub(crate) fn end_remote(&self, id: u32) -> bool {
        self.take_remote(id).inspect(|remote| remote.end()).is_some()
    }

    /// Takes a consumer of the peer out of the list, to be ended.
    pub(crate) fn take_remote(&self, id: u32) -> Option<Arc<Remote>> {
        let mut remotes = lock(&self.remotes);
        let at = remotes.iter().position(|remote| remote.parcel.id == id)?;
        Some(remotes.swap_remove(at))
    }

    /// The numbers of the peer's consumers, in the order of their making.
    pub(crate) fn remotes(&self) -> Vec<u32> {
        let mut ids: Vec<_> = lock(&self.remotes).iter().map(|remote| remote.parcel.id).collect();
        ids.sort_unstable();
        ids
    }

    /// The connection is over: names the consumers that go with it.
    pub(crate) fn end_all(&self) -> Vec<u32> {
        let remotes = core::mem::take(&mut *lock(&self.remotes));
        remotes.iter().for_each(|remote| remote.end());
        lock(&self.parcels).clear();
        remotes.iter().map(|remote| remote.parcel.id).collect()
    }

    /// A consumer of this end waits for the peer to see it.
    pub(crate) fn wait_seen(&self, id: u32, seen: &Arc<AtomicBool>, alarm: &Arc<Alarm>) {
        lock(&self.unseen).push(Unseen { id, seen: seen.clone(), alarm: alarm.clone() });
    }

    /// Does any consumer of this end wait for the peer to see it?
    pub(crate) fn has_unseen(&self) -> bool {
        !lock(&self.unseen).is_empty()
    }

    /// Does this one?
    pub(crate) fn is_unseen(&self, id: u32) -> bool {
        lock(&self.unseen).iter().any(|unseen| unseen.id == id)
    }

    /// The peer saw it, or it does not wait any more.
    pub(crate) fn seen(&self, id: u32, yes: bool) {
        let mut unseen = lock(&self.unseen);
        let Some(at) = unseen.iter().position(|other| other.id == id) else { return };
        let Unseen { seen, alarm, .. } = unseen.swap_remove(at);
        drop(unseen);
        if yes {
            seen.store(true, Ordering::Release);
            alarm.ring();
        }
    }

    /// Wakes everybody on it.
    pub(crate) fn ring_all(&self) {
        // Not under the lock: ringing takes another.
        let alarms: Vec<_> = lock(&self.alarms).iter().map(|(_, alarm)| alarm.clone()).collect();
        alarms.iter().for_each(|alarm| alarm.ring());
    }

    /// Whoever this alarm wakes wants to know when it is over. Returns what to leave by.
    pub(crate) fn listen(&self, alarm: &Arc<Alarm>) -> u64 {
        let number = self.next_alarm.fetch_add(1, Ordering::Relaxed);
        lock(&self.alarms).push((number, alarm.clone()));
        number
    }

    /// See [`Streams::listen`].
    pub(crate) fn leave(&self, number: u64) {
        lock(&self.alarms).retain(|(other, _)| *other != number);
    }
}

/// A producer's or consumer's membership, from its making to its end.
pub struct Member {
    carrier: Arc<dyn Carrier>,
    role: Role,
    id: u32,
    /// It is over when its context is idle (Rust), and not only when that is destroyed (C).
    ends_idle: bool,
    over: AtomicBool,
}

impl std::fmt::Debug for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} {}", self.role, self.id)
    }
}

impl Member {
    pub(crate) fn new(carrier: Arc<dyn Carrier>, role: Role) -> Result<Member> {
        let id = carrier.streams().enroll(role)?;
        Ok(Member { carrier, role, id, ends_idle: false, over: AtomicBool::new(false) })
    }

    /// One that is over when its context is idle.
    pub(crate) fn ending_idle(mut self) -> Member {
        self.ends_idle = true;
        self
    }

    /// Its context is idle.
    pub(crate) fn idle(&self) {
        if self.ends_idle {
            self.end();
        }
    }

    fn end(&self) {
        if !self.over.swap(true, Ordering::AcqRel) {
            self.streams().alive[self.role as usize].fetch_sub(1, Ordering::AcqRel);
            // Whoever waits for the last of them to go.
            self.streams().ring_all();
        }
    }

    /// Its number on the connection.
    pub fn id(&self) -> u32 {
        self.id
    }

    pub(crate) fn carrier(&self) -> &Arc<dyn Carrier> {
        &self.carrier
    }

    pub(crate) fn streams(&self) -> &Streams {
        self.carrier.streams()
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_unique_and_never_those_that_mean_none() {
        let ends = [Streams::new(1, [u32::MAX; 2]), Streams::new(2, [u32::MAX; 2])];
        let mut seen = std::collections::HashSet::new();
        for _ in 0..40_000 {
            for end in &ends {
                let id = end.enroll(Role::Consumer).unwrap();
                assert!(id != 0 && id != NO_CONSUMER && seen.insert(id));
            }
        }
    }

    #[test]
    fn one_end_has_its_limit() {
        let end = Streams::new(1, [1, 2]);
        assert!(end.enroll(Role::Producer).is_ok());
        assert_eq!(end.enroll(Role::Producer).unwrap_err().code(), Code::NoMemory);
        assert!(end.enroll(Role::Consumer).is_ok() && end.enroll(Role::Consumer).is_ok());
        assert_eq!(end.children(), 3);
        assert_eq!(end.roll(), "1 producers and 2 consumers");
    }
}
