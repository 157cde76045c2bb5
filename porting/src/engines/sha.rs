//! Hashes on the card: whole messages, and messages in pieces ([`pieces`]).

mod pieces;

use super::{Driven, Lists, Made, Task, ask, both, configured, limit, tasked, there};
use crate::abi::{Landing, Object, Sha};
use crate::card::{Card, Found, check};
use pieces::Pieces;
use softdpu::{Code, Error, Result};
use softdpu_memory::device::Device;
use softdpu_memory::node::Lent;
use std::sync::Arc;

/// Names of hash functions in a topology, by number: of whole messages, then of messages in pieces.
const HASHES: &[&str] = &["sha1", "sha256", "sha512", "sha1_partial", "sha256_partial", "sha512_partial"];
/// How many hash functions there are.
const FUNCTIONS: usize = HASHES.len() / 2;

impl Sha {
    /// What a function's SHA engine reports.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        let has = |n: &usize| {
            0 == match *n {
                whole if whole < FUNCTIONS => self.doca_sha_cap_task_hash_get_supported(info, whole as i32),
                pieces => {
                    self.doca_sha_cap_task_partial_hash_get_supported(info, (pieces - FUNCTIONS) as i32)
                }
            }
        };
        let (has, lacks): (Vec<usize>, Vec<usize>) = (0..HASHES.len()).partition(has);
        if has.is_empty() {
            return None;
        }
        let bytes = ask::<u64>(|n| self.doca_sha_cap_get_max_src_buf_size(info, n));
        let list = ask::<u32>(|n| self.doca_sha_cap_get_max_list_buf_num_elem(info, n));
        let limits = [
            limit("max_src_buf_size", bytes, super::MOST_BYTES),
            limit("max_buf_list_len", list, super::MOST_ELEMENTS),
        ];
        Some(Found {
            engine: "sha",
            features: HASHES,
            lacks: lacks.into_iter().map(|n| HASHES[n]).collect(),
            limits: limits.into_iter().flatten().collect(),
        })
    }

    /// Most tasks of a kind of one context; 0 where it is not told.
    fn most_tasks(&self, engine: Object) -> u32 {
        let mut tasks = 0;
        let told = self.doca_sha_cap_get_max_num_tasks(engine, &mut tasks) == 0;
        if told { tasks } else { 0 }
    }

    /// Configures both kinds of tasks; a device may have one of them only.
    fn configure(&self, engine: Object, tasks: u32) -> Result<()> {
        let (note, log) = (Landing::note, tasks.next_power_of_two().trailing_zeros() as u8);
        let whole = self.doca_sha_task_hash_set_conf(engine, note, note, log);
        let log = pieces::most(tasks, self.most_tasks(engine)).trailing_zeros() as u8;
        let pieces = self.doca_sha_task_partial_hash_set_conf(engine, note, note, log);
        check(if pieces == 0 { 0 } else { whole }, "doca_sha_task_hash_set_conf")
    }
}

impl Driven for softdpu_sha::Sha {
    type Store = Pieces;
    const REFUSED: &'static str = "a last piece without bytes: the last piece of a message must hold some";

    fn store(home: &Arc<Device>, device: Object, tasks: u32) -> Pieces {
        Pieces::new(home, device, tasks)
    }

    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)> {
        match job.piece() {
            None => job.whole_message().map(|(_, src, dst)| (src, Some(dst))),
            Some(piece) => {
                let empty = piece.src.node().is_none_or(|src| softdpu_memory::copy::volume(src) == 0);
                // A message that is its own last piece is a whole one.
                let whole = piece.dst.filter(|_| piece.ticket.is_none());
                (!empty).then_some((piece.src, whole))
            }
        }
    }

    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made> {
        let sha = there(&card.sha)?;
        let mut engine = None;
        let status = sha.doca_sha_create(device, &mut engine);
        configured(
            status,
            engine,
            "doca_sha_create",
            |engine| sha.doca_sha_as_ctx(engine),
            |engine| sha.configure(engine, tasks),
            |engine| sha.doca_sha_destroy(engine),
        )
    }

    fn clear(card: &Card, store: &mut Pieces) {
        store.clear(card);
    }

    fn destroy(card: &Card, made: Made, store: Pieces) -> Result<()> {
        store.end(card);
        check(there(&card.sha)?.doca_sha_destroy(made.engine), "doca_sha_destroy")
    }

    fn task(
        card: &Card,
        at: Made,
        store: &mut Pieces,
        job: &Self::Job,
        lists: Lists,
        number: u64,
    ) -> Result<Task> {
        let sha = there(&card.sha)?;
        let algorithm = match (job.piece(), lists) {
            (Some(piece), (src, None)) => return store.task(card, at, &piece, src, number),
            (Some(piece), (_, Some(_))) if piece.before > 0 => {
                log::error!(target: "softdpu::bridge", "sha: a hash of {} bytes so far, none of them hashed on the card", piece.before);
                return Err(Error::new(Code::BadState, "the hash was begun elsewhere"));
            }
            (Some(piece), _) => piece.algorithm,
            (None, _) => {
                let whole = job.whole_message();
                whole.map(|whole| whole.0).ok_or(Error::new(Code::InvalidValue, "no message"))?
            }
        };
        let (src, dst) = both(lists)?;
        let mut own = None;
        let status =
            sha.doca_sha_task_hash_alloc_init(at.engine, algorithm as i32, src, dst, number, &mut own);
        tasked(status, own, "doca_sha_task_hash_alloc_init", |own| sha.doca_sha_task_hash_as_task(own))
    }

    fn result(
        card: &Card,
        store: &mut Pieces,
        job: &mut Self::Job,
        task: Task,
        outcome: Result<u64>,
    ) -> Result<u64> {
        let Some(piece) = job.piece() else { return outcome };
        store.result(card, job, &piece, task, outcome)
    }

    fn over(card: &Card, store: &mut Pieces, task: Task) {
        // The task of a message under way stays with it.
        if !store.keeps(task) {
            card.common.doca_task_free(task.task);
        }
    }
}
