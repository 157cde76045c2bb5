//! Probes: places at which other tools (bpftrace, perf, SystemTap) can look on, as notes in the library's ELF file.
//!
//! | probe | arguments |
//! |---|---|
//! | `softdpu:task_submitted` | context, task, kind, address |
//! | `softdpu:task_refused` | context, task, kind, error |
//! | `softdpu:task_begun` | context, task, kind |
//! | `softdpu:task_ended` | context, task, kind, error (0: none), what the engine reports |
//! | `softdpu:task_delivered` | context, task, kind |
//! | `softdpu:task_returned` | context, task, kind |
//!
//! Contexts and tasks by their numbers, kinds by theirs, -1 where it is not known. A probe is one `nop`, and stands where
//! tasks come by only while this instrument is installed.

use probe::probe;
use softdpu_room::instrument::{self, Observer, TaskId};
use softdpu_status::Code;
use std::sync::{Arc, Once};

/// The variable that asks for probes.
pub const VARIABLE: &str = "SOFTDPU_PROBES";

#[derive(Debug)]
struct Probes;

/// Context, number and kind.
fn of(task: &TaskId) -> (u32, u64, isize) {
    let kind = if task.kind == TaskId::NO_KIND { -1 } else { task.kind as isize };
    (task.context, task.number, kind)
}

/// Has tasks of contexts that start from now on come by the probes. Repeating it changes nothing.
pub fn start() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| instrument::observe(Arc::new(Probes)));
}

impl Observer for Probes {
    fn submitted(&self, task: &TaskId) {
        let (context, number, kind) = of(task);
        probe!(softdpu, task_submitted, context, number, kind, task.address);
    }

    fn refused(&self, task: &TaskId, code: Code) {
        let (context, number, kind) = of(task);
        probe!(softdpu, task_refused, context, number, kind, code.number());
    }

    fn begun(&self, task: &TaskId) {
        let (context, number, kind) = of(task);
        probe!(softdpu, task_begun, context, number, kind);
    }

    fn ended(&self, task: &TaskId, result: Result<u64, Code>, _: bool) {
        let (context, number, kind) = of(task);
        let (error, value) = match result {
            Ok(value) => (0, value),
            Err(code) => (code.number(), 0),
        };
        probe!(softdpu, task_ended, context, number, kind, error, value);
    }

    fn delivered(&self, task: &TaskId) {
        let (context, number, kind) = of(task);
        probe!(softdpu, task_delivered, context, number, kind);
    }

    fn returned(&self, task: &TaskId) {
        let (context, number, kind) = of(task);
        probe!(softdpu, task_returned, context, number, kind);
    }
}
