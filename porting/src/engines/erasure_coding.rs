//! Erasure coding on the card.
//!
//! All four kinds of tasks multiply blocks by a matrix, and the matrices of the Rust face are finished products: what was
//! lost or changed is worked into them. So all go to the card as the task that multiplies by any matrix, with the
//! coefficients as they are; each task brings its matrix along.

use super::{Driven, Lists, Made, Task, ask, both, configured, limit, tasked, there};
use crate::abi::{Ec, Landing, Object};
use crate::card::{Card, Found, check, made};
use softdpu::{Code, Error, Result};
use softdpu_memory::device::Device;
use softdpu_memory::node::Lent;
use std::sync::Arc;

/// Names of the task kinds in a topology.
const KINDS: &[&str] = &["ec_galois_mul", "ec_create", "ec_update", "ec_recover"];

impl Ec {
    /// What a function's engine reports.
    pub(crate) fn limits(&self, info: Object) -> Option<Found> {
        if self.doca_ec_cap_task_galois_mul_is_supported(info) != 0 {
            return None;
        }
        let bytes = ask::<u64>(|n| self.doca_ec_cap_get_max_block_size(info, n));
        let list = ask::<u32>(|n| self.doca_ec_cap_get_max_buf_list_len(info, n));
        let bytes = limit("max_block_size", bytes, 1 << 40).filter(|(_, n)| *n >= 64);
        let limits = [bytes, limit("max_buf_list_len", list, 4096)];
        Some(Found {
            engine: "erasure_coding",
            features: KINDS,
            lacks: vec![],
            limits: limits.into_iter().flatten().collect(),
        })
    }
}

impl Driven for softdpu_erasure_coding::ErasureCoding {
    type Store = ();
    const REFUSED: &'static str = "tasks without a matrix";

    fn store(_: &Arc<Device>, _: Object, _: u32) {}

    fn lists(job: &Self::Job) -> Option<(Lent, Option<Lent>)> {
        job.product().map(|(_, src, dst)| (src, Some(dst)))
    }

    fn make(card: &Card, device: Object, tasks: u32) -> Result<Made> {
        let ec = there(&card.ec)?;
        let mut engine = None;
        let status = ec.doca_ec_create(device, &mut engine);
        configured(
            status,
            engine,
            "doca_ec_create",
            |engine| ec.doca_ec_as_ctx(engine),
            |engine| {
                let status = ec.doca_ec_task_galois_mul_set_conf(engine, Landing::note, Landing::note, tasks);
                check(status, "doca_ec_task_galois_mul_set_conf")
            },
            |engine| ec.doca_ec_destroy(engine),
        )
    }

    fn destroy(card: &Card, made: Made, (): ()) -> Result<()> {
        check(there(&card.ec)?.doca_ec_destroy(made.engine), "doca_ec_destroy")
    }

    fn task(card: &Card, at: Made, (): &mut (), job: &Self::Job, lists: Lists, number: u64) -> Result<Task> {
        let (src, dst) = both(lists)?;
        let ec = there(&card.ec)?;
        let (matrix, ..) = job.product().ok_or(Error::new(Code::InvalidValue, "no matrix"))?;
        let (inputs, outputs) = (matrix.inputs(), matrix.outputs());
        let cells = (0..inputs).flat_map(|input| (0..outputs).map(move |output| (input, output)));
        let mut raw: Vec<u8> = cells.filter_map(|(i, o)| matrix.coefficient(i, o)).collect();
        let mut product = None;
        let status =
            ec.doca_ec_matrix_create_from_raw(at.engine, raw.as_mut_ptr(), inputs, outputs, &mut product);
        let product = made(status, product, "doca_ec_matrix_create_from_raw")?;
        let mut own = None;
        let status = ec.doca_ec_task_galois_mul_allocate_init(at.engine, product, src, dst, number, &mut own);
        let task = tasked(status, own, "doca_ec_task_galois_mul_allocate_init", |own| {
            ec.doca_ec_task_galois_mul_as_task(own)
        });
        match task {
            Ok(task) => Ok(Task { extra: Some(product), ..task }),
            Err(error) => {
                drop_matrix(card, product);
                Err(error)
            }
        }
    }

    fn over(card: &Card, (): &mut (), task: Task) {
        card.common.doca_task_free(task.task);
        if let Some(matrix) = task.extra {
            drop_matrix(card, matrix);
        }
    }
}

fn drop_matrix(card: &Card, matrix: Object) {
    if let Some(ec) = &card.ec {
        // One that cannot be destroyed stays; the log line says why.
        let _ = check(ec.doca_ec_matrix_destroy(matrix), "doca_ec_matrix_destroy");
    }
}
