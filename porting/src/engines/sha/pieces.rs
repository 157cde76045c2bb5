//! Messages in pieces.
//!
//! On the card a hash under way is a task, which belongs to its context and is submitted once per piece; in the program it
//! is a value that travels with tasks. So the value holds a ticket here, and the context the task of each ticket. The
//! digest goes to a place of the context's own, because the card wants to know it before the first piece and the program
//! says it with the last one.
//!
//! A program may forget such a value at any time, and nobody is told. Of the messages under way in a context the one that
//! rested longest gives way when there are too many. A copy of a value ends where the other one goes on: the card has the
//! hash once.

use super::super::{Made, Task, tasked, there};
use crate::abi::Object;
use crate::card::{Card, check, made};
use softdpu::{Access, Buf, BufPool, Code, Error, Memory, Result};
use softdpu_memory::buf::Lend as _;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::Node;
use softdpu_memory::view::Hold;
use softdpu_sha::{Job, Piece};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Messages under way in a context, unless it has more tasks.
const USUAL: u32 = 64;
/// Bytes of the longest digest.
const DIGEST: usize = 64;

/// How many messages may be under way in a context of `tasks` tasks, where the card takes `limit` (0: it does not say). A
/// power of two.
pub(super) fn most(tasks: u32, limit: u32) -> u32 {
    let wanted = tasks.max(USUAL).next_power_of_two();
    let limit = if limit == 0 { wanted } else { limit };
    // The largest power of two in the limit.
    wanted.min(1 << limit.ilog2())
}

/// See the module.
pub(crate) struct Pieces {
    home: Arc<Device>,
    device: Object,
    tasks: u32,
    under_way: HashMap<u64, Message>,
    ground: Option<Ground>,
    clock: u64,
}

/// A message under way.
struct Message {
    task: Task,
    /// Where its digest goes, and the card's descriptor of that.
    place: Buf,
    list: Object,
    /// Bytes hashed, or given to be hashed.
    bytes: u64,
    flies: bool,
    used: u64,
}

/// Where digests go.
struct Ground {
    places: BufPool,
    inventory: Object,
}

impl Ground {
    fn new(card: &Card, home: &Arc<Device>, count: u32) -> Result<Ground> {
        let memory = Memory::heap(DIGEST * count as usize).access(Access::LOCAL_READ_WRITE);
        let places = memory.register(&[home])?.pool(DIGEST)?;
        let mut inventory = None;
        let status = card.common.doca_buf_inventory_create(count as usize, &mut inventory);
        let inventory = made(status, inventory, "doca_buf_inventory_create")?;
        let started = check(card.common.doca_buf_inventory_start(inventory), "doca_buf_inventory_start");
        started.inspect_err(|_| {
            let status = card.common.doca_buf_inventory_destroy(inventory);
            let _ = check(status, "doca_buf_inventory_destroy");
        })?;
        Ok(Ground { places, inventory })
    }

    /// A place, and the card's descriptor of it; none while all are taken.
    fn take(&self, card: &Card, device: Object) -> Result<Option<(Buf, Object)>> {
        let Some(place) = self.places.take() else { return Ok(None) };
        let node = place.node();
        let map = card.maps.of(&card.common, node.region(), device)?;
        let mut list = None;
        let (at, len) = (node.addr(), node.len());
        let status =
            card.common.doca_buf_inventory_buf_get_by_args(self.inventory, map, at, len, at, 0, &mut list);
        Ok(Some((place, made(status, list, "doca_buf_inventory_buf_get_by_args")?)))
    }
}

/// A number that no other message of the process has.
fn ticket() -> u64 {
    static LAST: Mutex<u64> = Mutex::new(0);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *last += 1;
    *last
}

fn refuse<T>(what: &'static str) -> Result<T> {
    log::error!(target: "softdpu::bridge", "sha: {what}");
    Err(Error::new(Code::BadState, what))
}

impl Pieces {
    pub(super) fn new(home: &Arc<Device>, device: Object, tasks: u32) -> Pieces {
        Pieces { home: home.clone(), device, tasks, under_way: HashMap::new(), ground: None, clock: 0 }
    }

    /// Does the task stay?
    pub(super) fn keeps(&self, task: Task) -> bool {
        self.under_way.values().any(|message| message.task.own == task.own)
    }

    /// The task of a piece, ready to be submitted.
    pub(super) fn task(
        &mut self,
        card: &Card,
        at: Made,
        piece: &Piece,
        src: Object,
        number: u64,
    ) -> Result<Task> {
        let sha = there(&card.sha)?;
        let bytes = piece.src.node().map_or(0, copy::volume);
        self.clock += 1;
        let Some(ticket) = piece.ticket else {
            if piece.before > 0 {
                return refuse("the hash was begun elsewhere, and not on the card");
            }
            return self.begin(card, at, piece, src, number);
        };
        let Some(message) = self.under_way.get_mut(&ticket) else {
            return refuse(
                "the card does not have the hash any more: its context ended, or too many others were under way",
            );
        };
        if message.flies || message.bytes != piece.before {
            return refuse(
                "the hash went on with another copy of its state; on a card it cannot go on twice",
            );
        }
        let own = message.task.own;
        let status = sha.doca_sha_task_partial_hash_set_src(own, src);
        check(status, "doca_sha_task_partial_hash_set_src")?;
        card.common.doca_task_set_user_data(message.task.task, number);
        if piece.dst.is_some() {
            let status = sha.doca_sha_task_partial_hash_set_is_final_buf(own);
            check(status, "doca_sha_task_partial_hash_set_is_final_buf")?;
        }
        message.flies = true;
        message.used = self.clock;
        message.bytes += bytes;
        Ok(message.task)
    }

    /// The first piece.
    fn begin(&mut self, card: &Card, at: Made, piece: &Piece, src: Object, number: u64) -> Result<Task> {
        let sha = there(&card.sha)?;
        if self.ground.is_none() {
            let count = most(self.tasks, sha.most_tasks(at.engine));
            self.ground = Some(Ground::new(card, &self.home, count)?);
        }
        let (place, list) = self.place(card)?;
        let (algorithm, mut own) = (piece.algorithm as i32, None);
        let status =
            sha.doca_sha_task_partial_hash_alloc_init(at.engine, algorithm, src, list, number, &mut own);
        let task = tasked(status, own, "doca_sha_task_partial_hash_alloc_init", |own| {
            sha.doca_sha_task_partial_hash_as_task(own)
        });
        let task = task.inspect_err(|_| release(card, list))?;
        let bytes = piece.src.node().map_or(0, copy::volume);
        let message = Message { task, place, list, bytes, flies: true, used: self.clock };
        self.under_way.insert(ticket(), message);
        Ok(task)
    }

    /// A place for a digest, which another message may have to give up.
    fn place(&mut self, card: &Card) -> Result<(Buf, Object)> {
        let none = Error::new(Code::Full, "all hashes of the context are in flight");
        loop {
            let ground = self.ground.as_ref().ok_or(none)?;
            if let Some(taken) = ground.take(card, self.device)? {
                return Ok(taken);
            }
            let idle = self.under_way.iter().filter(|(_, message)| !message.flies);
            let Some(oldest) = idle.min_by_key(|(_, message)| message.used).map(|(ticket, _)| *ticket) else {
                log::error!(target: "softdpu::bridge", "sha: {} hashes in flight, as many as the card takes",
                    self.under_way.len());
                return Err(none);
            };
            log::warn!(target: "softdpu::bridge", "sha: {} hashes under way, as many as the card takes: the one that rested longest is given up",
                self.under_way.len());
            self.forget(card, oldest);
        }
    }

    /// A piece is through, or has failed.
    pub(super) fn result(
        &mut self,
        card: &Card,
        job: &mut Job,
        piece: &Piece,
        task: Task,
        outcome: Result<u64>,
    ) -> Result<u64> {
        let ours = self.under_way.iter_mut().find(|(_, message)| message.task.own == task.own);
        let bytes = piece.src.node().map_or(0, copy::volume);
        let Some((ticket, message)) = ours else {
            // A message in one piece.
            match outcome {
                Ok(_) => job.finished_elsewhere(bytes),
                Err(_) => job.lost_elsewhere(),
            }
            return outcome;
        };
        let ticket = *ticket;
        message.flies = false;
        let total = message.bytes;
        let result = match (outcome, piece.dst) {
            (Err(error), _) => Err(error),
            (Ok(_), None) => {
                job.hashed_elsewhere(ticket, total);
                return Ok(total);
            }
            (Ok(_), Some(dst)) => match dst.node() {
                Some(dst) => self.hand_over(ticket, dst, piece.algorithm.digest_len()),
                None => Err(Error::new(Code::InvalidValue, "a buffer is missing")),
            },
        };
        match result {
            Ok(_) => job.finished_elsewhere(total),
            Err(_) => job.lost_elsewhere(),
        }
        // Its task goes with it.
        self.forget_but_task(card, ticket);
        result
    }

    /// The digest, from its place to where the program wants it.
    fn hand_over(&mut self, ticket: u64, dst: &Node, len: usize) -> Result<u64> {
        let gone = Error::new(Code::Unexpected, "the digest has no place");
        let place = &mut self.under_way.get_mut(&ticket).ok_or(gone)?.place;
        let mut digest = [0; DIGEST];
        let digest = digest.get_mut(..len).ok_or(gone)?;
        place.read_at(0, digest)?;
        let gate = Gate::new(self.home.bit(), u64::MAX, u32::MAX);
        let mut hold = Hold::room(dst, &gate)?;
        let (_, mut sink) = hold.split();
        sink.write(digest);
        hold.check()?;
        drop(hold);
        copy::commit(dst, len as u64);
        Ok(len as u64)
    }

    /// The message and its task go.
    fn forget(&mut self, card: &Card, ticket: u64) {
        if let Some(task) = self.forget_but_task(card, ticket) {
            card.common.doca_task_free(task.task);
        }
    }

    fn forget_but_task(&mut self, card: &Card, ticket: u64) -> Option<Task> {
        let message = self.under_way.remove(&ticket)?;
        release(card, message.list);
        Some(message.task)
    }

    /// Everything under way goes: the context is about to stop.
    pub(super) fn clear(&mut self, card: &Card) {
        let all: Vec<u64> = self.under_way.keys().copied().collect();
        all.into_iter().for_each(|ticket| self.forget(card, ticket));
    }

    /// The context is at rest.
    pub(super) fn end(self, card: &Card) {
        if let Some(ground) = self.ground {
            let status = card.common.doca_buf_inventory_destroy(ground.inventory);
            let _ = check(status, "doca_buf_inventory_destroy");
        }
    }
}

fn release(card: &Card, list: Object) {
    crate::live::release(&card.common, list);
}
