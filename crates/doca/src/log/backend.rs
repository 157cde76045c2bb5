//! The backends: where records may go, and who lets what through.
//!
//! Backends live in two static tables (application, SDK) and are never taken out, so delivery walks them
//! without a lock, and a handle is the address of a table entry: it is looked up, never followed.
//!
//! A record of level `L` passes when `upper <= L <= lower`; the *lower* limit is the most verbose level
//! shown, the *upper* one the most severe. A pin (the "strict" calls) bounds how far a limit may be
//! widened later. An SDK backend has a lower limit only.

use super::level::{Level, facade_filter};
use super::record::Line;
use super::sink::Sink;
use softdpu_status::{Code, Error, Result};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// How many backends of each kind there may be; the standard pair counts as two.
pub(crate) const MAX_BACKENDS: usize = 64;

/// First word of every backend: "backend" in ASCII, so that no other kind of object is taken for one.
const KIND: u64 = 0x0064_6e65_6b63_6162;

/// One destination with its limits.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Backend {
    kind: u64,
    lower: AtomicU32,
    upper: AtomicU32,
    lower_pin: AtomicU32,
    upper_pin: AtomicU32,
    /// Levels it can show at all: the standard pair shares the range between its two streams.
    window: (Level, Level),
    /// Stays as it is whatever the program sets: asked for from outside.
    private: bool,
    sink: Sink,
}

type Table = [OnceLock<Backend>; MAX_BACKENDS];

static APPLICATION: Table = [const { OnceLock::new() }; MAX_BACKENDS];
static SDK: Table = [const { OnceLock::new() }; MAX_BACKENDS];
/// Held while backends are added or limits change.
static CHANGE: Mutex<()> = Mutex::new(());

static GLOBAL_LOWER: AtomicU32 = AtomicU32::new(Level::Info as u32);
static GLOBAL_UPPER: AtomicU32 = AtomicU32::new(Level::Critical as u32);
static GLOBAL_SDK: AtomicU32 = AtomicU32::new(Level::Info as u32);
/// Most verbose level any application backend shows; 0: none shows anything.
static WIDEST_APPLICATION: AtomicU32 = AtomicU32::new(0);
static WIDEST_SDK: AtomicU32 = AtomicU32::new(0);

/// Which limit of an application backend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Limit {
    Lower,
    Upper,
}

impl Backend {
    /// An application backend with the present global limits.
    pub(crate) fn application(sink: Sink) -> Self {
        Self::build(sink, GLOBAL_LOWER.load(Relaxed), GLOBAL_UPPER.load(Relaxed))
    }

    /// An SDK backend with the present global limit.
    pub(crate) fn sdk(sink: Sink) -> Self {
        Self::build(sink, GLOBAL_SDK.load(Relaxed), 0)
    }

    fn build(sink: Sink, lower: u32, upper: u32) -> Self {
        Self {
            kind: KIND,
            lower: AtomicU32::new(lower),
            upper: AtomicU32::new(upper),
            lower_pin: AtomicU32::new(u32::MAX),
            upper_pin: AtomicU32::new(0),
            window: (Level::Disable, Level::Trace),
            private: false,
            sink,
        }
    }

    /// Shows only levels inside the window, whatever the limits say.
    pub(crate) fn within(mut self, most_severe: Level, most_verbose: Level) -> Self {
        self.window = (most_severe, most_verbose);
        self
    }

    /// An SDK backend that keeps `level` whatever the program sets.
    pub(crate) fn private(mut self, level: Level) -> Self {
        self.lower = AtomicU32::new(level.number());
        self.private = true;
        self
    }

    fn admits(&self, level: Level) -> bool {
        (self.window.0..=self.window.1).contains(&level)
            && self.upper.load(Relaxed) <= level.number()
            && level.number() <= self.lower.load(Relaxed)
    }

    fn widest(&self) -> u32 {
        self.lower.load(Relaxed).min(self.window.1.number())
    }

    fn limit(&self, limit: Limit) -> &AtomicU32 {
        match limit {
            Limit::Lower => &self.lower,
            Limit::Upper => &self.upper,
        }
    }

    fn pin(&self, limit: Limit) -> &AtomicU32 {
        match limit {
            Limit::Lower => &self.lower_pin,
            Limit::Upper => &self.upper_pin,
        }
    }

    /// As far towards `level` as the pin allows.
    fn clamp(&self, limit: Limit, level: u32) -> u32 {
        let pin = self.pin(limit).load(Relaxed);
        match limit {
            Limit::Lower => level.min(pin),
            Limit::Upper => level.max(pin),
        }
    }

    fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }
}

fn live(table: &'static Table) -> impl Iterator<Item = &'static Backend> {
    table.iter().map_while(OnceLock::get)
}

fn change() -> MutexGuard<'static, ()> {
    CHANGE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The level with this number, or `INVALID_VALUE`.
pub(crate) fn level(number: u32) -> Result<Level> {
    Level::from_number(number).ok_or(Error::new(Code::InvalidValue, "not a log level"))
}

fn refresh(_held: &MutexGuard<'static, ()>) {
    let widest = |table| live(table).map(Backend::widest).max().unwrap_or(0);
    WIDEST_APPLICATION.store(widest(&APPLICATION), Relaxed);
    let sdk = widest(&SDK);
    WIDEST_SDK.store(sdk, Relaxed);
    super::sdk::set_facade_filter(facade_filter(sdk));
}

fn add(table: &'static Table, backends: impl IntoIterator<Item = Backend>) -> Result<usize> {
    let held = change();
    let mut backends = backends.into_iter().peekable();
    let used = live(table).count();
    let wanted = backends.size_hint().0;
    if used + wanted > MAX_BACKENDS {
        return Err(Error::new(Code::NoMemory, "no room for another log backend"));
    }
    let mut address = 0;
    for (room, backend) in table[used..].iter().zip(&mut backends) {
        debug_assert_eq!(backend.kind, KIND);
        address = room.get_or_init(|| backend).address();
    }
    refresh(&held);
    Ok(address)
}

/// Adds one application backend and gives its handle.
pub(crate) fn add_application(sink: Sink) -> Result<usize> {
    add(&APPLICATION, [Backend::application(sink)])
}

/// Adds an SDK backend and gives its handle.
pub(crate) fn add_sdk(backend: Backend) -> Result<usize> {
    super::sdk::install();
    add(&SDK, [backend])
}

/// Adds an SDK backend on stderr when the program has none of its own.
pub(crate) fn ensure_sdk() -> Result<()> {
    static HELD: Mutex<()> = Mutex::new(());
    let _held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    if live(&SDK).any(|backend| !backend.private) {
        return Ok(());
    }
    add_sdk(Backend::sdk(Sink::Standard(2))).map(drop)
}

/// Adds the standard pair: stdout for INFO and more verbose, stderr for WARNING and more severe. A second
/// call changes nothing, so that no record comes twice.
pub(crate) fn add_standard() -> Result<()> {
    static DONE: Mutex<bool> = Mutex::new(false);
    let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
    if !*done {
        let out = Backend::application(Sink::Standard(1)).within(Level::Info, Level::Trace);
        let err = Backend::application(Sink::Standard(2)).within(Level::Disable, Level::Warning);
        add(&APPLICATION, [out, err])?;
        *done = true;
    }
    Ok(())
}

/// Whether any application backend could show the level. One load and one compare.
pub(crate) fn application_listens(level: Level) -> bool {
    level.number() <= WIDEST_APPLICATION.load(Relaxed)
}

/// Whether any SDK backend could show the level.
pub(crate) fn sdk_listens(level: Level) -> bool {
    level.number() <= WIDEST_SDK.load(Relaxed)
}

/// Hands a line to every application backend that admits it.
pub(crate) fn deliver_application(line: &Line) {
    live(&APPLICATION).filter(|backend| backend.admits(line.level)).for_each(|b| b.sink.write(line));
}

/// Hands a line to every SDK backend that admits it. A private backend on stderr keeps quiet when the
/// program's own one has just written the line there.
pub(crate) fn deliver_sdk(line: &Line) {
    let mut on_stderr = false;
    for backend in live(&SDK).filter(|b| !b.private && b.admits(line.level)) {
        backend.sink.write(line);
        on_stderr |= backend.sink.is_stderr();
    }
    for backend in live(&SDK).filter(|b| b.private && b.admits(line.level)) {
        if !(on_stderr && backend.sink.is_stderr()) {
            backend.sink.write(line);
        }
    }
}

/// Hands a line to one SDK backend.
pub(crate) fn deliver_to(handle: usize, line: &Line) {
    if let Some(backend) = live(&SDK).find(|b| b.address() == handle && b.admits(line.level)) {
        backend.sink.write(line);
    }
}

fn find(table: &'static Table, handle: usize) -> Option<&'static Backend> {
    live(table).find(|backend| backend.address() == handle && !backend.private)
}

fn not_a_backend() -> Error {
    log::error!(target: "softdpu::log", "the handle is not a log backend");
    Error::new(Code::InvalidValue, "not a log backend")
}

fn set(backend: &Backend, limit: Limit, level: Level) -> Result<()> {
    let held = change();
    if backend.clamp(limit, level.number()) != level.number() {
        return Err(Error::new(Code::NotPermitted, "the limit of this log backend is strict"));
    }
    backend.limit(limit).store(level.number(), Relaxed);
    refresh(&held);
    Ok(())
}

/// Sets one limit of one application backend.
pub(crate) fn set_limit(handle: usize, limit: Limit, level: Level) -> Result<()> {
    match find(&APPLICATION, handle) {
        Some(backend) => set(backend, limit, level),
        None if find(&SDK, handle).is_some() => {
            Err(Error::new(Code::NotPermitted, "an SDK backend has an SDK level only"))
        }
        None => Err(not_a_backend()),
    }
}

/// Sets the level of one SDK backend.
pub(crate) fn set_sdk_level(handle: usize, level: Level) -> Result<()> {
    match find(&SDK, handle) {
        Some(backend) => set(backend, Limit::Lower, level),
        None if find(&APPLICATION, handle).is_some() => {
            Err(Error::new(Code::NotPermitted, "an application backend has no SDK level"))
        }
        None => Err(not_a_backend()),
    }
}

/// Pins one limit of a backend at its present value.
pub(crate) fn set_strict(handle: usize, limit: Limit) -> Result<()> {
    let backend = find(&APPLICATION, handle).or_else(|| find(&SDK, handle)).ok_or_else(not_a_backend)?;
    let _held = change();
    backend.pin(limit).store(backend.limit(limit).load(Relaxed), Relaxed);
    Ok(())
}

fn set_global(table: &'static Table, global: &AtomicU32, limit: Limit, level: Level) {
    let held = change();
    global.store(level.number(), Relaxed);
    for backend in live(table).filter(|backend| !backend.private) {
        backend.limit(limit).store(backend.clamp(limit, level.number()), Relaxed);
    }
    refresh(&held);
}

/// Lower limit of all application backends and of those to come.
pub(crate) fn set_app_lower(level: Level) {
    set_global(&APPLICATION, &GLOBAL_LOWER, Limit::Lower, level);
}

/// Upper limit of all application backends and of those to come.
pub(crate) fn set_app_upper(level: Level) {
    set_global(&APPLICATION, &GLOBAL_UPPER, Limit::Upper, level);
}

/// Level of all SDK backends and of those to come.
pub(crate) fn set_sdk_limit(level: Level) {
    set_global(&SDK, &GLOBAL_SDK, Limit::Lower, level);
}

/// The global (lower, upper) limits of application backends.
pub(crate) fn app_limits() -> (u32, u32) {
    (GLOBAL_LOWER.load(Relaxed), GLOBAL_UPPER.load(Relaxed))
}

/// The global limit of SDK backends.
pub(crate) fn sdk_limit() -> u32 {
    GLOBAL_SDK.load(Relaxed)
}
