//! Encryption on the card.
//!
//! A key of the Rust face belongs to no context, one of the card to one. So every context keeps the keys that its last
//! tasks used; of those beyond a few the one that was not used for longest goes first.

use super::{Driven, Lists, Made, Task, ask, both, configured, limit, tasked, there};
use crate::abi::{AesGcm, Landing, Object};
use crate::card::{Card, Found, check, made};
use softdpu::{Code, Error, Result};
use softdpu_aes_gcm::{Direction, Message};
use softdpu_memory::device::Device;
use softdpu_memory::node::Lent;
use std::collections::HashMap;
use std::sync::Arc;

/// Names of what a device may be able to do, in a topology.
const FEATURES: &[&str] = &[
    "aes_gcm_encrypt",
    "aes_gcm_decrypt",
    "aes_gcm_key_128",
    "aes_gcm_key_256",
    "aes_gcm_tag_96",
    "aes_gcm_tag_128",
];
/// Numbers of the two sizes of keys.
const KEY_128: i32 = 1;
const KEY_256: i32 = 2;

impl AesGcm {
    /// What a function's engine reports.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        let encrypts = self.doca_aes_gcm_cap_task_encrypt_is_supported(info) == 0;
        let decrypts = self.doca_aes_gcm_cap_task_decrypt_is_supported(info) == 0;
        if !encrypts && !decrypts {
            return None;
        }
        // What it cannot do both ways, if it goes both ways, a program had better not count on.
        let both = |encrypt: i32, decrypt: i32| (!encrypts || encrypt == 0) && (!decrypts || decrypt == 0);
        let key = |kind| {
            both(
                self.doca_aes_gcm_cap_task_encrypt_is_key_type_supported(info, kind),
                self.doca_aes_gcm_cap_task_decrypt_is_key_type_supported(info, kind),
            )
        };
        let has = [
            encrypts,
            decrypts,
            key(KEY_128),
            key(KEY_256),
            both(
                self.doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(info),
                self.doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(info),
            ),
            both(
                self.doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(info),
                self.doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(info),
            ),
        ];
        let bytes = ask::<u64>(|n| self.doca_aes_gcm_cap_task_encrypt_get_max_buf_size(info, n));
        let list = ask::<u32>(|n| self.doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(info, n));
        let iv = ask::<u32>(|n| self.doca_aes_gcm_cap_task_encrypt_get_max_iv_len(info, n));
        let limits = [
            limit("max_buf_size", bytes, super::MOST_BYTES),
            limit("max_buf_list_len", list, super::MOST_ELEMENTS),
            limit("max_iv_len", iv, 64),
        ];
        Some(Found {
            engine: "aes_gcm",
            features: FEATURES,
            lacks: FEATURES.iter().zip(has).filter(|(_, has)| !has).map(|(name, _)| *name).collect(),
            limits: limits.into_iter().flatten().collect(),
        })
    }
}

/// What a context keeps for its tasks.
#[derive(Default)]
pub(crate) struct Store {
    keys: Vec<Held>,
    /// Vectors of tasks in flight, by task: the card may look at them until the task is through.
    vectors: HashMap<Object, Box<[u8; 12]>>,
    /// Counts uses of keys.
    clock: u64,
}

/// A key that the context has on the card.
struct Held {
    raw: Raw,
    key: Object,
    /// Tasks in flight that use it.
    flying: u32,
    used: u64,
}

/// The bytes of a key, wiped when they go.
struct Raw {
    /// In a place of its own, so that no move leaves a copy behind.
    bytes: Box<[u8; 32]>,
    len: usize,
}

impl Raw {
    fn of(key: &[u8]) -> Option<Raw> {
        let mut raw = Raw { bytes: Box::new([0; 32]), len: key.len() };
        raw.bytes.get_mut(..key.len())?.copy_from_slice(key);
        Some(raw)
    }

    fn kind(&self) -> i32 {
        if self.len == 16 { KEY_128 } else { KEY_256 }
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.bytes.fill(0);
        core::hint::black_box(&self.bytes);
    }
}

/// So many keys are kept.
const KEPT: usize = 32;

impl Store {
    /// The key of the card for these bytes; it counts as flying.
    fn key(&mut self, table: &AesGcm, context: Object, bytes: &[u8]) -> Result<Object> {
        self.clock += 1;
        if let Some(held) = self.keys.iter_mut().find(|held| held.raw.bytes[..held.raw.len] == *bytes) {
            held.flying += 1;
            held.used = self.clock;
            return Ok(held.key);
        }
        self.make_room(table);
        let raw = Raw::of(bytes).ok_or(Error::new(Code::InvalidValue, "a key has 16 or 32 bytes"))?;
        let mut key = None;
        let status = table.doca_aes_gcm_key_create(context, &raw.bytes, raw.kind(), &mut key);
        let key = made(status, key, "doca_aes_gcm_key_create")?;
        self.keys.push(Held { raw, key, flying: 1, used: self.clock });
        Ok(key)
    }

    fn make_room(&mut self, table: &AesGcm) {
        while self.keys.len() >= KEPT {
            let idle = self.keys.iter().enumerate().filter(|(_, held)| held.flying == 0);
            let Some((at, _)) = idle.min_by_key(|(_, held)| held.used) else { return };
            drop_key(table, self.keys.swap_remove(at).key);
        }
    }

    fn landed(&mut self, key: Object) {
        if let Some(held) = self.keys.iter_mut().find(|held| held.key == key) {
            held.flying -= 1;
        }
    }
}

fn drop_key(table: &AesGcm, key: Object) {
    // One that cannot be destroyed stays; the log line says why.
    let _ = check(table.doca_aes_gcm_key_destroy(key), "doca_aes_gcm_key_destroy");
}

impl Driven for softdpu_aes_gcm::AesGcm {
    type Store = Store;
    /// The contract is silent about a source and a destination that are one.
    const REFUSED: &'static str = "messages in place: no card promises to take them";

    fn store(_: &Arc<Device>, _: Object, _: u32) -> Store {
        Store::default()
    }

    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)> {
        job.message().map(|message| (message.src, Some(message.dst)))
    }

    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made> {
        let table = there(&card.aes_gcm)?;
        let mut engine = None;
        let status = table.doca_aes_gcm_create(device, &mut engine);
        configured(
            status,
            engine,
            "doca_aes_gcm_create",
            |engine| table.doca_aes_gcm_as_ctx(engine),
            |engine| {
                let (note, tasks) = (Landing::note, tasks);
                let encrypts = table.doca_aes_gcm_task_encrypt_set_conf(engine, note, note, tasks);
                let decrypts = table.doca_aes_gcm_task_decrypt_set_conf(engine, note, note, tasks);
                // A device may go one way only.
                check(if decrypts == 0 { 0 } else { encrypts }, "doca_aes_gcm_task_encrypt_set_conf")
            },
            |engine| table.doca_aes_gcm_destroy(engine),
        )
    }

    fn destroy(card: &Card, made: Made, store: Store) -> Result<()> {
        let table = there(&card.aes_gcm)?;
        store.keys.iter().for_each(|held| drop_key(table, held.key));
        check(table.doca_aes_gcm_destroy(made.engine), "doca_aes_gcm_destroy")
    }

    fn task(
        card: &Card,
        at: Made,
        store: &mut Store,
        job: &Self::Job,
        lists: Lists,
        number: u64,
    ) -> Result<Task> {
        let (src, dst) = both(lists)?;
        let table = there(&card.aes_gcm)?;
        let message = job.message().ok_or(Error::new(Code::NotSupported, "a message in place"))?;
        let key = store.key(table, at.engine, message.key)?;
        let Message { iv, aad_len, tag_len, direction, .. } = message;
        let vector = Box::new(iv.to_array());
        let (len, mut own) = (iv.len() as u32, None);
        let task = match direction {
            Direction::Encrypt => {
                let status = table.doca_aes_gcm_task_encrypt_alloc_init(
                    at.engine, src, dst, key, &vector, len, tag_len, aad_len, number, &mut own,
                );
                let call = "doca_aes_gcm_task_encrypt_alloc_init";
                tasked(status, own, call, |own| table.doca_aes_gcm_task_encrypt_as_task(own))
            }
            Direction::Decrypt => {
                let status = table.doca_aes_gcm_task_decrypt_alloc_init(
                    at.engine, src, dst, key, &vector, len, tag_len, aad_len, number, &mut own,
                );
                let call = "doca_aes_gcm_task_decrypt_alloc_init";
                tasked(status, own, call, |own| table.doca_aes_gcm_task_decrypt_as_task(own))
            }
        };
        let task = task.inspect_err(|_| store.landed(key))?;
        store.vectors.insert(task.own, vector);
        Ok(Task { extra: Some(key), ..task })
    }

    fn over(card: &Card, store: &mut Store, task: Task) {
        card.common.doca_task_free(task.task);
        store.vectors.remove(&task.own);
        if let Some(key) = task.extra {
            store.landed(key);
        }
    }
}
