//! What the bridge knows of each engine: how a context of it is made on the card, how a job becomes a task, and what the
//! task's result is.

mod aes_gcm;
mod erasure_coding;
mod sha;

use crate::abi::{Compress, Dma, Landing, Object};
use crate::card::{Card, Found, check, made};
use softdpu::{Code, Error, Result};
use softdpu_compress::Kind;
use softdpu_memory::device::Device;
use softdpu_memory::node::Lent;
use softdpu_room::engine::Engine;
use std::sync::Arc;

/// A context of the card: the engine's own object, and the same as a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) engine: Object,
    pub(crate) context: Object,
}

/// A task of the card: the engine's own object, and the same as a task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    pub(crate) own: Object,
    pub(crate) task: Object,
    /// What was made for this task alone.
    pub(crate) extra: Option<Object>,
}

/// Descriptors of a job on the card: source, and the destination where the job has one.
pub(crate) type Lists = (Object, Option<Object>);

/// An engine that the bridge drives.
pub(crate) trait Driven: Engine {
    /// What a context keeps for its tasks.
    type Store: Send;
    /// Which jobs cannot go to the card, in words.
    const REFUSED: &'static str = "";
    /// The store of a context of so many tasks on a device.
    fn store(home: &Arc<Device>, device: Object, tasks: u32) -> Self::Store;
    /// Source and destination of a job, none where the result goes to a place that the context keeps; `None` for a job
    /// that cannot go to the card.
    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)>;
    /// A context, configured but not started.
    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made>;
    /// What tasks left behind is given back, before the context stops.
    fn clear(card: &Card, store: &mut Self::Store) {
        let _ = (card, store);
    }
    /// Ends it.
    fn destroy(card: &Card, made: Made, store: Self::Store) -> Result<()>;
    /// A task for a job between two lists of descriptors; its completions are told with `number`.
    fn task(
        card: &Card,
        made: Made,
        store: &mut Self::Store,
        job: &Self::Job,
        lists: Lists,
        number: u64,
    ) -> Result<Task>;
    /// The result of a task that wrote `bytes`, or failed.
    fn result(
        card: &Card,
        store: &mut Self::Store,
        job: &mut Self::Job,
        task: Task,
        outcome: Result<u64>,
    ) -> Result<u64> {
        let _ = (card, store, job, task);
        outcome
    }
    /// The task is done with, and so is what was made for it alone.
    fn over(card: &Card, store: &mut Self::Store, task: Task) {
        let _ = store;
        card.common.doca_task_free(task.task);
    }
}

fn there<T>(table: &Option<T>) -> Result<&T> {
    table.as_ref().ok_or(Error::new(Code::NotSupported, "the card's library for this engine is missing"))
}

/// A context from what the library made; destroyed again when it cannot be configured.
fn configured(
    status: i32,
    engine: Option<Object>,
    call: &'static str,
    as_context: impl FnOnce(Object) -> Option<Object>,
    configure: impl FnOnce(Object) -> Result<()>,
    destroy: impl FnOnce(Object) -> i32,
) -> Result<Made> {
    let engine = made(status, engine, call)?;
    let ready = configure(engine).and_then(|()| made(0, as_context(engine), call));
    match ready {
        Ok(context) => Ok(Made { engine, context }),
        Err(error) => {
            let _ = check(destroy(engine), "destroy");
            Err(error)
        }
    }
}

/// A task from what the library made.
fn tasked(
    status: i32,
    own: Option<Object>,
    call: &'static str,
    as_task: impl FnOnce(Object) -> Option<Object>,
) -> Result<Task> {
    let own = made(status, own, call)?;
    Ok(Task { own, task: made(0, as_task(own), call)?, extra: None })
}

/// Both lists of a job that has both.
fn both((src, dst): Lists) -> Result<(Object, Object)> {
    Ok((src, dst.ok_or(Error::new(Code::InvalidValue, "a buffer is missing"))?))
}

/// A limit that the card reports, within what a topology may say.
pub(crate) fn limit(name: &'static str, value: u64, most: u64) -> Option<(&'static str, u64)> {
    (value != 0).then_some((name, value.min(most)))
}

const MOST_BYTES: u64 = 1 << 48;
const MOST_ELEMENTS: u64 = 4096;

/// Asks for a number; 0 where there is no answer.
fn ask<N: Default + Into<u64>>(call: impl FnOnce(&mut N) -> i32) -> u64 {
    let mut value = N::default();
    if call(&mut value) == 0 { value.into() } else { 0 }
}

impl Dma {
    /// What a function's DMA engine reports; `None` when it has none.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        if self.doca_dma_cap_task_memcpy_is_supported(info) != 0 {
            return None;
        }
        let bytes = ask::<u64>(|n| self.doca_dma_cap_task_memcpy_get_max_buf_size(info, n));
        let list = ask::<u32>(|n| self.doca_dma_cap_task_memcpy_get_max_buf_list_len(info, n));
        let limits =
            [limit("max_buf_size", bytes, MOST_BYTES), limit("max_buf_list_len", list, MOST_ELEMENTS)];
        Some(Found {
            engine: "dma",
            features: &[],
            lacks: vec![],
            limits: limits.into_iter().flatten().collect(),
        })
    }
}

impl Driven for softdpu_dma::Dma {
    type Store = ();

    fn store(_: &Arc<Device>, _: Object, _: u32) {}

    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)> {
        Some((job.src(), Some(job.dst())))
    }

    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made> {
        let dma = there(&card.dma)?;
        let mut engine = None;
        let status = dma.doca_dma_create(device, &mut engine);
        configured(
            status,
            engine,
            "doca_dma_create",
            |engine| dma.doca_dma_as_ctx(engine),
            |engine| {
                let status = dma.doca_dma_task_memcpy_set_conf(engine, Landing::note, Landing::note, tasks);
                check(status, "doca_dma_task_memcpy_set_conf")
            },
            |engine| dma.doca_dma_destroy(engine),
        )
    }

    fn destroy(card: &Card, made: Made, (): ()) -> Result<()> {
        check(there(&card.dma)?.doca_dma_destroy(made.engine), "doca_dma_destroy")
    }

    fn task(card: &Card, made: Made, (): &mut (), _: &Self::Job, lists: Lists, number: u64) -> Result<Task> {
        let (src, dst) = both(lists)?;
        let dma = there(&card.dma)?;
        let mut own = None;
        let status = dma.doca_dma_task_memcpy_alloc_init(made.engine, src, dst, number, &mut own);
        tasked(status, own, "doca_dma_task_memcpy_alloc_init", |own| dma.doca_dma_task_memcpy_as_task(own))
    }
}

/// Names of the task kinds in a topology, by number.
const KINDS: &[&str] =
    &["compress_deflate", "decompress_deflate", "decompress_lz4_stream", "decompress_lz4_block"];

impl Compress {
    /// What a function's compression engine reports.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        let has = Kind::ALL.map(|kind| self.has(info, kind));
        if has == [false; 4] {
            return None;
        }
        let either = |a: u64, b: u64| if a == 0 { b } else { a };
        let bytes = either(
            ask::<u64>(|n| self.doca_compress_cap_task_decompress_deflate_get_max_buf_size(info, n)),
            ask::<u64>(|n| self.doca_compress_cap_task_compress_deflate_get_max_buf_size(info, n)),
        );
        let list = either(
            ask::<u32>(|n| self.doca_compress_cap_task_decompress_deflate_get_max_buf_list_len(info, n)),
            ask::<u32>(|n| self.doca_compress_cap_task_compress_deflate_get_max_buf_list_len(info, n)),
        );
        let limits =
            [limit("max_buf_size", bytes, MOST_BYTES), limit("max_buf_list_len", list, MOST_ELEMENTS)];
        Some(Found {
            engine: "compress",
            features: KINDS,
            lacks: KINDS.iter().zip(has).filter(|(_, has)| !has).map(|(name, _)| *name).collect(),
            limits: limits.into_iter().flatten().collect(),
        })
    }

    fn has(&self, info: Object, kind: Kind) -> bool {
        0 == match kind {
            Kind::CompressDeflate => self.doca_compress_cap_task_compress_deflate_is_supported(info),
            Kind::DecompressDeflate => self.doca_compress_cap_task_decompress_deflate_is_supported(info),
            Kind::DecompressLz4Stream => self.doca_compress_cap_task_decompress_lz4_stream_is_supported(info),
            Kind::DecompressLz4Block => self.doca_compress_cap_task_decompress_lz4_block_is_supported(info),
        }
    }

    /// Configures every kind that the device has; one at least must be there.
    fn configure(&self, engine: Object, tasks: u32) -> Result<()> {
        let note = Landing::note;
        let answers = [
            self.doca_compress_task_compress_deflate_set_conf(engine, note, note, tasks),
            self.doca_compress_task_decompress_deflate_set_conf(engine, note, note, tasks),
            self.doca_compress_task_decompress_lz4_stream_set_conf(engine, note, note, tasks),
            self.doca_compress_task_decompress_lz4_block_set_conf(engine, note, note, tasks),
        ];
        if answers.contains(&0) {
            Ok(())
        } else {
            check(answers[0], "doca_compress_task_compress_deflate_set_conf")
        }
    }
}

impl Driven for softdpu_compress::Compress {
    type Store = ();

    fn store(_: &Arc<Device>, _: Object, _: u32) {}

    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)> {
        Some((job.src(), Some(job.dst())))
    }

    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made> {
        let compress = there(&card.compress)?;
        let mut engine = None;
        let status = compress.doca_compress_create(device, &mut engine);
        configured(
            status,
            engine,
            "doca_compress_create",
            |engine| compress.doca_compress_as_ctx(engine),
            |engine| compress.configure(engine, tasks),
            |engine| compress.doca_compress_destroy(engine),
        )
    }

    fn destroy(card: &Card, made: Made, (): ()) -> Result<()> {
        check(there(&card.compress)?.doca_compress_destroy(made.engine), "doca_compress_destroy")
    }

    fn task(
        card: &Card,
        made: Made,
        (): &mut (),
        job: &Self::Job,
        lists: Lists,
        number: u64,
    ) -> Result<Task> {
        let (src, dst) = both(lists)?;
        let c = there(&card.compress)?;
        let (engine, mut own) = (made.engine, None);
        let out = &mut own;
        match job.kind() {
            Kind::CompressDeflate => {
                let status = c.doca_compress_task_compress_deflate_alloc_init(engine, src, dst, number, out);
                tasked(status, own, "doca_compress_task_compress_deflate_alloc_init", |own| {
                    c.doca_compress_task_compress_deflate_as_task(own)
                })
            }
            Kind::DecompressDeflate => {
                let status =
                    c.doca_compress_task_decompress_deflate_alloc_init(engine, src, dst, number, out);
                tasked(status, own, "doca_compress_task_decompress_deflate_alloc_init", |own| {
                    c.doca_compress_task_decompress_deflate_as_task(own)
                })
            }
            Kind::DecompressLz4Stream => {
                let (sums, independent) = job.lz4_flags();
                let status = c.doca_compress_task_decompress_lz4_stream_alloc_init(
                    engine,
                    sums,
                    independent,
                    src,
                    dst,
                    number,
                    out,
                );
                tasked(status, own, "doca_compress_task_decompress_lz4_stream_alloc_init", |own| {
                    c.doca_compress_task_decompress_lz4_stream_as_task(own)
                })
            }
            Kind::DecompressLz4Block => {
                let status =
                    c.doca_compress_task_decompress_lz4_block_alloc_init(engine, src, dst, number, out);
                tasked(status, own, "doca_compress_task_decompress_lz4_block_alloc_init", |own| {
                    c.doca_compress_task_decompress_lz4_block_as_task(own)
                })
            }
        }
    }

    /// The checksums.
    fn result(
        card: &Card,
        (): &mut (),
        job: &mut Self::Job,
        task: Task,
        outcome: Result<u64>,
    ) -> Result<u64> {
        let c = there(&card.compress)?;
        let (crc, other) = match job.kind() {
            Kind::CompressDeflate => (
                c.doca_compress_task_compress_deflate_get_crc_cs(task.own),
                c.doca_compress_task_compress_deflate_get_adler_cs(task.own),
            ),
            Kind::DecompressDeflate => (
                c.doca_compress_task_decompress_deflate_get_crc_cs(task.own),
                c.doca_compress_task_decompress_deflate_get_adler_cs(task.own),
            ),
            Kind::DecompressLz4Stream => (
                c.doca_compress_task_decompress_lz4_stream_get_crc_cs(task.own),
                c.doca_compress_task_decompress_lz4_stream_get_xxh_cs(task.own),
            ),
            Kind::DecompressLz4Block => (
                c.doca_compress_task_decompress_lz4_block_get_crc_cs(task.own),
                c.doca_compress_task_decompress_lz4_block_get_xxh_cs(task.own),
            ),
        };
        outcome.map(|_| softdpu_compress::sums(crc, other))
    }
}
