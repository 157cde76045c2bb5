//! The recorder as an observer of the room: tasks become events.

use crate::event::{Event, What};
use crate::record::{Context, Recorder};
use softdpu_card::EngineKind;
use softdpu_room::instrument::{self, Observer, TaskId};
use softdpu_room::sys::cycles;
use softdpu_status::Code;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Writes down what happens to the tasks of every context that starts while it is installed.
#[derive(Debug)]
struct Trace(&'static Recorder);

/// Traces this process into the file at `path`, which is added to, from the next context that starts on; at most `limit`
/// bytes of it.
///
/// # Errors
/// See [`Recorder::start`].
pub fn trace(path: &Path, limit: u64) -> io::Result<&'static Recorder> {
    let recorder = Recorder::start(path, limit, cycles)?;
    instrument::observe(Arc::new(Trace(recorder)));
    Ok(recorder)
}

/// Is what the engine reports with success a number of bytes? The others report something else.
pub(crate) fn tells_bytes(kind: EngineKind) -> bool {
    use EngineKind::{AesGcm, Dma, ErasureCoding, Sha};
    matches!(kind, AesGcm | Dma | ErasureCoding | Sha)
}

impl Trace {
    #[inline(always)]
    fn put(&self, at: u64, what: What, task: &TaskId, status: i32, value: u64) {
        let &TaskId { context, kind, number, .. } = task;
        self.0.event(&Event { at, task: number, context, what, kind, status, value });
    }

    #[inline(always)]
    fn mark(&self, what: What, task: &TaskId) {
        self.put(cycles(), what, task, 0, 0);
    }

    fn end(&self, what: What, task: &TaskId, result: Result<u64, Code>) {
        let (status, value) = match result {
            Ok(value) => (0, value),
            Err(code) => (code.number(), 0),
        };
        self.put(cycles(), what, task, status, value);
    }
}

impl Observer for Trace {
    fn started(&self, context: &instrument::Context<'_>) {
        let (core, info) = (context.core(), context.engine());
        self.0.context(Context {
            number: context.number(),
            engine: info.name.to_owned(),
            device: core.device().function().pci().to_string(),
            kinds: info.tasks.iter().map(|&name| name.to_owned()).collect(),
            id: core::ptr::from_ref(core).addr() as u64,
            bytes: tells_bytes(info.kind),
            computes: context.computes(),
        });
    }

    fn idle(&self, context: &instrument::Context<'_>) {
        let context = context.number();
        let (at, what) = (cycles(), What::Idle);
        self.0.event(&Event { at, task: 0, context, what, kind: 0, status: 0, value: 0 });
    }

    fn submitted(&self, task: &TaskId) {
        self.put(cycles(), What::Submitted, task, 0, task.address as u64);
    }

    fn begun(&self, task: &TaskId) {
        self.mark(What::Begun, task);
    }

    fn worked(&self, task: &TaskId) {
        self.mark(What::Worked, task);
    }

    fn carried_out(&self, task: &TaskId, since: u64) {
        let at = cycles();
        self.put(at, What::Carried, task, 0, counts(since, at));
    }

    fn part(&self, task: &TaskId, over: bool) {
        self.mark(if over { What::PartOver } else { What::Part }, task);
    }

    fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.end(if called { What::Ended } else { What::Over }, task, result);
    }

    fn delivered(&self, task: &TaskId) {
        self.mark(What::Reported, task);
    }

    fn landed(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        self.end(if called { What::Landed } else { What::Over }, task, result);
    }

    fn forgotten(&self, task: &TaskId) {
        self.mark(What::Forgotten, task);
    }

    fn at_once(&self, task: &TaskId, since: u64, value: u64) {
        let at = cycles();
        let counts = counts(since, at).min(u64::from(u32::MAX)) as u32;
        self.put(at, What::AtOnce, task, counts as i32, value);
    }

    fn returned(&self, task: &TaskId) {
        self.mark(What::Returned, task);
    }
}

/// Counts from `since`, which 0 leaves open, until `now`.
#[inline(always)]
fn counts(since: u64, now: u64) -> u64 {
    if since == 0 { 0 } else { now.saturating_sub(since) }
}
