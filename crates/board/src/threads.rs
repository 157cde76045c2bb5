//! The threaded board.
//!
//! A worker looks at every running context, helps with the parts of large tasks, and takes small ones over when their
//! lane stood still since its last look. While others want its processor it leaves parts alone ([`Watch`]). It naps between looks while anything happened lately, then lies down until a
//! submit rings. No thread exists before the first context runs.

use crate::watch::Watch;
use softdpu_room::board::{Bell, Board};
use softdpu_room::context::Core;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, RwLock};
use std::time::{Duration, Instant};

/// A board with worker threads.
#[derive(Debug)]
pub struct Threads {
    bell: Bell,
    /// Read by a worker around each single look, written to attach and detach: a detach returns when no worker looks.
    running: RwLock<Vec<&'static Core>>,
    attached: AtomicU64,
    started: OnceLock<usize>,
    starting: Mutex<()>,
}

/// First and longest nap between looks.
const NAPS: [Duration; 2] = [Duration::from_micros(100), Duration::from_millis(1)];
/// How long after the last work a worker keeps napping before it lies down.
const AWAKE: Duration = Duration::from_millis(10);
/// Looks in a row without work before the first nap.
const SPINS: u32 = 200;
/// More would only fight over memory bandwidth.
const MOST_WORKERS: usize = 4;

/// The board of this process: one worker per core beyond the first, at least one, at most four.
pub fn threads() -> &'static dyn Board {
    static THREADS: Threads = Threads {
        bell: Bell::new(),
        running: RwLock::new(Vec::new()),
        attached: AtomicU64::new(0),
        started: OnceLock::new(),
        starting: Mutex::new(()),
    };
    &THREADS
}

impl Threads {
    fn start(&'static self) {
        let _guard = self.starting.lock().unwrap_or_else(|e| e.into_inner());
        if self.started.get().is_some() {
            return;
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let wanted = (cores - 1).clamp(1, MOST_WORKERS);
        let mut started = 0;
        for i in 0..wanted {
            let thread = std::thread::Builder::new().name(format!("softdpu-{i}")).stack_size(256 << 10);
            let spawned = softdpu_link::with_signals_blocked(|| thread.spawn(move || self.work()));
            match spawned {
                Ok(_) => started += 1,
                Err(e) => {
                    log::warn!(target: "softdpu::board", "worker {i} of {wanted} could not be started: {e}");
                    break;
                }
            }
        }
        let _ = self.started.set(started);
    }

    /// One look at every running context. True when there was work.
    fn look(&self, napped: bool, helps: bool) -> bool {
        let mut worked = false;
        let mut at = 0;
        loop {
            // The lock is held for one look only, so that attaching waits for no more than that.
            let running = self.running.read().unwrap_or_else(|e| e.into_inner());
            let Some(core) = running.get(at) else { return worked };
            worked |= core.assist(napped, helps);
            at += 1;
        }
    }

    fn anything_to_do(&self) -> bool {
        self.running.read().unwrap_or_else(|e| e.into_inner()).iter().any(|c| c.wants_worker())
    }

    fn work(&self) -> ! {
        let mut last = Instant::now();
        let mut idle = 0u32;
        let mut nap = NAPS[0];
        let mut napped = false;
        let mut watch = Watch::new();
        loop {
            let attached = self.attached.load(Ordering::Relaxed);
            if self.look(napped, watch.helps()) {
                watch.look();
                last = Instant::now();
                idle = 0;
                nap = NAPS[0];
                continue;
            }
            idle += 1;
            napped = idle >= SPINS;
            if !napped {
                std::hint::spin_loop();
            } else if last.elapsed() < AWAKE || self.anything_to_do() {
                std::thread::park_timeout(nap);
                watch.reset();
                nap = (nap * 2).min(NAPS[1]);
            } else {
                self.bell.lie_down(std::thread::current());
                // Whoever submitted before the bell was seen set is seen here; whoever comes later rings.
                if !self.anything_to_do() && attached == self.attached.load(Ordering::SeqCst) {
                    std::thread::park();
                } else {
                    self.bell.ring();
                }
                watch.reset();
                last = Instant::now();
                nap = NAPS[0];
            }
        }
    }
}

impl Board for Threads {
    fn attach(&'static self, core: &'static Core) {
        self.running.write().unwrap_or_else(|e| e.into_inner()).push(core);
        self.attached.fetch_add(1, Ordering::SeqCst);
        if self.started.get().is_none() {
            self.start();
        }
    }

    fn detach(&self, core: &'static Core) {
        let mut running = self.running.write().unwrap_or_else(|e| e.into_inner());
        if let Some(at) = running.iter().position(|c| std::ptr::eq(*c, core)) {
            running.swap_remove(at);
        }
    }

    fn visit(&self, look: &mut dyn FnMut(&'static Core)) {
        self.running.read().unwrap_or_else(|e| e.into_inner()).iter().copied().for_each(look);
    }

    fn workers(&self) -> u32 {
        self.started.get().map_or(0, |n| *n as u32)
    }

    fn bell(&self) -> &Bell {
        &self.bell
    }

    fn has_no_workers(&self) -> bool {
        self.started.get() == Some(&0)
    }

    fn name(&self) -> &'static str {
        "threads"
    }
}
