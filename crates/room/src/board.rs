//! Who turns a lane besides the thread that calls progress.

use crate::context::Core;
use crate::engine::{EngineInfo, Work};
use crate::sync::{AtomicU32, Ordering};
use softdpu_memory::device::Device;
use softdpu_status::Result;
use std::sync::{Arc, Mutex};
use std::thread::Thread;

/// A software machine's workers, or none.
pub trait Board: Send + Sync + core::fmt::Debug {
    /// A context runs from now on.
    fn attach(&'static self, core: &'static Core);
    /// A context is idle; on return no worker looks at it. Contexts that were never attached are fine.
    fn detach(&self, core: &'static Core);
    /// What a submit rings when the workers sleep.
    fn bell(&self) -> &Bell;
    /// Is everything carried out inside progress?
    fn has_no_workers(&self) -> bool {
        false
    }
    /// Shows every context that is attached. None of them is detached, and so none ends, while it is looked at; the look
    /// must be short and must not start or stop contexts.
    fn visit(&self, look: &mut dyn FnMut(&'static Core));
    /// How many workers there are.
    fn workers(&self) -> u32 {
        0
    }
    /// Name for messages.
    fn name(&self) -> &'static str;

    /// A context of the Rust face is about to start: a board whose work is done elsewhere (by a real card) puts its own
    /// in the place of the software's, which goes on landing the tasks.
    ///
    /// # Errors
    /// What the start answers.
    fn fit(
        &self,
        engine: &'static EngineInfo,
        device: &Arc<Device>,
        tasks: u32,
        work: Box<dyn Work>,
    ) -> Result<Box<dyn Work>> {
        let _ = (engine, device, tasks);
        Ok(work)
    }
}

/// A worker sleeps.
const SLEEPING: u32 = 1;

/// Wakes sleeping workers; looking at it costs one load.
#[derive(Debug)]
pub struct Bell {
    asleep: AtomicU32,
    sleepers: Mutex<Vec<Thread>>,
}

impl Bell {
    /// Nobody sleeps.
    pub const fn new() -> Bell {
        // Submits look behind a barrier until the first ring finds out whether they need to.
        Bell { asleep: AtomicU32::new(2), sleepers: Mutex::new(Vec::new()) }
    }

    /// Where submits have no barrier, they must look every time.
    fn always(&self) -> u32 {
        if crate::sync::is_asymmetric() { 0 } else { 2 }
    }

    /// Does a worker sleep?
    #[inline(always)]
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed) != 0
    }

    /// A worker is going to sleep. After this it must look for work once more (the barrier pays for the plain load of
    /// every submit) and then park.
    pub fn lie_down(&self, me: Thread) {
        self.sleepers.lock().unwrap_or_else(|e| e.into_inner()).push(me);
        self.asleep.store(self.always() | SLEEPING, Ordering::SeqCst);
        crate::sync::heavy_barrier();
    }

    /// Wakes all sleepers.
    #[cold]
    #[inline(never)]
    pub fn ring(&self) {
        if !crate::sync::is_asymmetric() {
            crate::sync::fence(Ordering::SeqCst);
            if self.asleep.load(Ordering::Relaxed) & SLEEPING == 0 {
                return;
            }
        }
        let mut sleepers = self.sleepers.lock().unwrap_or_else(|e| e.into_inner());
        self.asleep.store(self.always(), Ordering::SeqCst);
        for thread in sleepers.drain(..) {
            thread.unpark();
        }
    }
}

impl Default for Bell {
    fn default() -> Self {
        Bell::new()
    }
}

static OF_PROCESS: std::sync::OnceLock<&'static dyn Board> = std::sync::OnceLock::new();

/// Chooses the board of the C face, once, before its first context.
pub fn choose_for_process(board: &'static dyn Board) {
    let _ = OF_PROCESS.set(board);
}

/// The board of the C face: the one chosen, else the one without workers.
pub fn of_process() -> &'static dyn Board {
    static INLINE: Inline = Inline::new();
    *OF_PROCESS.get_or_init(|| &INLINE)
}

/// No workers: everything is carried out inside progress, in a fixed order. For tests, and for machines where a second
/// thread is unwelcome.
#[derive(Debug)]
pub struct Inline {
    bell: Bell,
    running: Mutex<Vec<&'static Core>>,
}

impl Inline {
    /// The board.
    pub const fn new() -> Inline {
        Inline { bell: Bell::new(), running: Mutex::new(Vec::new()) }
    }
}

impl Inline {
    fn running(&self) -> std::sync::MutexGuard<'_, Vec<&'static Core>> {
        self.running.lock().unwrap_or_else(|e| e.into_inner())
    }
}

impl Default for Inline {
    fn default() -> Self {
        Inline::new()
    }
}

impl Board for Inline {
    fn attach(&'static self, core: &'static Core) {
        self.running().push(core);
    }
    fn detach(&self, core: &'static Core) {
        self.running().retain(|known| !core::ptr::eq(*known, core));
    }
    fn visit(&self, look: &mut dyn FnMut(&'static Core)) {
        self.running().iter().copied().for_each(look);
    }
    fn bell(&self) -> &Bell {
        &self.bell
    }
    fn has_no_workers(&self) -> bool {
        true
    }
    fn name(&self) -> &'static str {
        "inline"
    }
}
