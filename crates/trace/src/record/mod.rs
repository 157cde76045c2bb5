//! Recording: threads put events into rings of their own, one thread writes them to a file.
//!
//! | file | what |
//! |---|---|
//! | `writer.rs` | takes events out of the rings and puts them in order |
//! | `story.rs` | which spans, arrows and counters come of them |
//! | `shown.rs` | what is known of contexts and tasks meanwhile |
//! | `rows.rs`, `thread.rs` | where spans stand, so that they nest |
//! | `json.rs` | lines of the file |
//! | `sink.rs` | the file, which several processes write |
//!
//! There is one recorder per process. Its memory is bounded by the rings ([`CAPACITY`](crate::ring::CAPACITY) events for
//! each of at most [`MOST_RINGS`] threads); whatever finds no room is counted, and the trace says how many and when.

mod json;
mod rows;
mod shown;
mod sink;
mod story;
mod thread;
mod writer;

pub use sink::create;

use crate::clock::{Clock, Counter};
use crate::event::Event;
use crate::ring::Ring;
use crate::sync::{AtomicBool, AtomicU64, Ordering};
use sink::Sink;
use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::Thread as Handle;
use std::time::Duration;
use writer::Writer;

/// Threads that have a ring at the same time.
pub const MOST_RINGS: usize = 256;
/// Bytes that a file gets at most where nobody says more.
pub const LIMIT: u64 = 256 << 20;
/// Between two looks while there are events, and how many looks in vain are made before the writer sleeps.
const NAP: Duration = Duration::from_millis(2);
const VAIN: u32 = 10;
/// A sleeping writer looks this often all the same.
const SLEEP: Duration = Duration::from_secs(1);

/// A task: its context's number and its address.
pub(crate) type Task = (u32, u64);

/// A context, when it starts for the first time.
#[derive(Clone, Debug)]
pub struct Context {
    /// Its number in this process, from 1.
    pub number: u32,
    /// Its engine.
    pub engine: String,
    /// The function it works on.
    pub device: String,
    /// Names of its task kinds, by number.
    pub kinds: Vec<String>,
    /// Its address, as log lines have it.
    pub id: u64,
    /// Does its engine report numbers of bytes?
    pub bytes: bool,
    /// Are its tasks carried out by threads of this process, which say so?
    pub computes: bool,
}

/// What threads and the writer share.
#[derive(Debug)]
pub(crate) struct Shared {
    rings: Mutex<Vec<Arc<Ring>>>,
    contexts: Mutex<Vec<Context>>,
    /// Events of threads without a ring.
    lost: AtomicU64,
    asleep: AtomicBool,
    sleeper: OnceLock<Handle>,
}

impl Shared {
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The recorder of this process.
#[derive(Debug)]
pub struct Recorder {
    shared: Shared,
    path: PathBuf,
    limit: u64,
    counter: Counter,
    /// From the first context on; `None` where it could not begin.
    begun: OnceLock<Option<Begun>>,
}

/// What there is from the first context on: before it the process may fork, and both have a trace then.
#[derive(Debug)]
struct Begun {
    writer: Mutex<Writer>,
    /// The process; a child that was forked later must not write.
    home: u32,
}

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The ring of a thread, as long as the thread lives.
struct Mine(OnceCell<Option<Arc<Ring>>>);

impl Drop for Mine {
    fn drop(&mut self) {
        if let Some(Some(ring)) = self.0.get() {
            ring.close();
        }
    }
}

thread_local! {
    static MINE: Mine = const { Mine(OnceCell::new()) };
}

impl Recorder {
    /// Records into the file at `path`, which is added to, up to `limit` bytes, from the first context on. `counter` is
    /// what events are stamped with. Ends by itself when the process ends.
    ///
    /// # Errors
    /// What the system says of the file; AlreadyExists: this process records already.
    pub(crate) fn start(path: &Path, limit: u64, counter: Counter) -> io::Result<&'static Recorder> {
        // Only a look: each process that writes opens it for itself.
        Sink::open(path, limit)?;
        let path = std::path::absolute(path)?;
        let shared = Shared {
            rings: Mutex::default(),
            contexts: Mutex::default(),
            lost: AtomicU64::new(0),
            asleep: AtomicBool::new(false),
            sleeper: OnceLock::new(),
        };
        let recorder = Recorder { shared, path, limit, counter, begun: OnceLock::new() };
        if RECORDER.set(recorder).is_err() {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "this process is traced already"));
        }
        RECORDER.get().ok_or(io::ErrorKind::Other.into())
    }

    /// The first context starts.
    fn begin(&'static self) -> io::Result<Begun> {
        let sink = Sink::open(&self.path, self.limit)?;
        let writer = Mutex::new(Writer::new(Clock::new(self.counter), sink));
        let thread = softdpu_link::with_signals_blocked(|| {
            std::thread::Builder::new().name("softdpu-trace".into()).spawn(|| self.work())
        })?;
        let _ = self.shared.sleeper.set(thread.thread().clone());
        softdpu_link::at_exit(end);
        Ok(Begun { writer, home: std::process::id() })
    }

    /// A context starts; it may be known. Its events come after this.
    pub fn context(&'static self, context: Context) {
        self.begun.get_or_init(|| {
            let begun = self.begin();
            begun
                .inspect_err(|e| {
                    say!("{}: there is no trace: {e}", self.path.display());
                })
                .ok()
        });
        let mut contexts = lock(&self.shared.contexts);
        if contexts.iter().all(|known| known.number != context.number) {
            contexts.push(context);
        }
    }

    /// Writes down an event. Any thread; neither allocates, locks nor calls the system, but for the first event of a
    /// thread and the first after a while.
    #[inline]
    pub fn event(&'static self, event: &Event) {
        let words = event.words();
        let put = MINE.try_with(|mine| match mine.0.get() {
            Some(Some(ring)) => {
                ring.push(words);
                true
            }
            _ => self.first(mine, words),
        });
        if put != Ok(true) {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
        if self.shared.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn first(&'static self, mine: &Mine, words: [u64; 4]) -> bool {
        let ring = mine.0.get_or_init(|| {
            let mut rings = lock(&self.shared.rings);
            if rings.len() >= MOST_RINGS || rings.try_reserve(1).is_err() {
                return None;
            }
            let name = rustix::thread::name().map(|n| n.to_string_lossy().into_owned());
            let tid = rustix::thread::gettid().as_raw_nonzero().get();
            let ring = Arc::new(Ring::new(tid as u32, name.unwrap_or_default())?);
            rings.push(ring.clone());
            Some(ring)
        });
        ring.as_ref().inspect(|ring| ring.push(words)).is_some()
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        if self.shared.asleep.swap(false, Ordering::Relaxed)
            && let Some(writer) = self.shared.sleeper.get()
        {
            writer.unpark();
        }
    }

    /// The writer's thread.
    fn work(&self) {
        // Waits until it has begun.
        let Some(begun) = self.begun.wait() else { return };
        let mut vain = 0;
        loop {
            let (found, done) = {
                let mut writer = lock(&begun.writer);
                (writer.round(&self.shared, false), writer.is_done())
            };
            if done {
                return;
            }
            vain = if found { 0 } else { vain + 1 };
            if vain < VAIN {
                std::thread::sleep(NAP);
                continue;
            }
            // An event that comes at this very moment waits for the next look.
            self.shared.asleep.store(true, Ordering::SeqCst);
            std::thread::park_timeout(SLEEP);
            self.shared.asleep.store(false, Ordering::Relaxed);
        }
    }

    /// Writes what is left, and ends the recording. Repeating it changes nothing.
    pub fn finish(&self) {
        let Some(Some(begun)) = self.begun.get() else { return };
        // In a child that was forked, the file and perhaps the lock are the parent's.
        if std::process::id() != begun.home {
            return;
        }
        let totals = lock(&begun.writer).finish(&self.shared);
        if let Some(totals) = totals.filter(|totals| totals.lost > 0) {
            say!(
                "the trace lacks {} of {} events: they came faster than they could be written",
                totals.lost,
                totals.events + totals.lost
            );
        }
    }
}

/// Is this process recorded, or was it?
pub(crate) fn is_recording() -> bool {
    RECORDER.get().is_some()
}

/// Ends the recording of this process, if there is one; see [`Recorder::finish`].
pub fn finish() {
    if let Some(recorder) = RECORDER.get() {
        recorder.finish();
    }
}

extern "C" fn end() {
    finish();
}
