//! The recorder as an instrument of the room: tasks become events.

use crate::event::{Event, What};
use crate::record::{Context, Recorder};
use softdpu_room::instrument::{self, Instrument, Task};
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
    instrument::install(Arc::new(Trace(recorder)));
    Ok(recorder)
}

/// Is what the engine reports with success a number of bytes? The others report something else.
#[inline]
pub(crate) fn tells_bytes(task: &Task<'_>) -> bool {
    use softdpu_card::EngineKind::{AesGcm, Dma, ErasureCoding, Sha};
    matches!(task.context().engine().kind, AesGcm | Dma | ErasureCoding | Sha)
}

impl Trace {
    #[inline(always)]
    fn put(&self, what: What, task: &Task<'_>, status: i32, value: u64) {
        let at = cycles();
        let kind = task.kind().map_or(u8::MAX, |(kind, _)| kind as u8);
        let (context, task) = (task.context().number(), task.number());
        self.0.event(&Event { at, task, context, what, kind, status, value });
    }
}

impl Instrument for Trace {
    fn started(&self, context: &instrument::Context<'_>) {
        let (core, info) = (context.core(), context.engine());
        self.0.context(Context {
            number: context.number(),
            engine: info.name.to_owned(),
            device: core.device().function().pci().to_string(),
            kinds: info.tasks.iter().map(|&name| name.to_owned()).collect(),
            id: core::ptr::from_ref(core).addr() as u64,
        });
    }

    fn idle(&self, context: &instrument::Context<'_>) {
        let context = context.number();
        let (at, what) = (cycles(), What::Idle);
        self.0.event(&Event { at, task: 0, context, what, kind: 0, status: 0, value: 0 });
    }

    fn submitted(&self, task: &Task<'_>) {
        self.put(What::Submitted, task, 0, task.address() as u64);
    }

    fn begun(&self, task: &Task<'_>) {
        self.put(What::Begun, task, 0, 0);
    }

    fn worked(&self, task: &Task<'_>) {
        self.put(What::Worked, task, 0, 0);
    }

    fn part(&self, task: &Task<'_>, over: bool) {
        self.put(if over { What::PartOver } else { What::Part }, task, 0, 0);
    }

    fn ended(&self, task: &Task<'_>, result: Result<u64, Code>) {
        let what = if task.is_called() { What::Ended } else { What::Over };
        match result {
            Ok(value) if tells_bytes(task) => self.put(what, task, 0, value),
            Ok(_) => self.put(what, task, 0, u64::MAX),
            Err(code) => self.put(what, task, code.number(), 0),
        }
    }

    fn delivered(&self, task: &Task<'_>) {
        self.put(What::Reported, task, 0, 0);
    }

    fn returned(&self, task: &Task<'_>) {
        self.put(What::Returned, task, 0, 0);
    }
}
