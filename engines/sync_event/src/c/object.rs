//! What a C program holds as an event: its configuration, its mode, and every rule about what it may do when.
//!
//! ```text
//! fresh --start--> direct (running) --stop--> direct --start--> ...
//!       --as_ctx--> context, for life; the context's state says the rest
//! ```
#![expect(unsafe_code, reason = "the object behind a handle, found again by its context")]

use crate::caps::Caps;
use crate::cell::LOG;
use crate::hardware::{SyncEvents, Waits};
use crate::live::Live;
use crate::word::Word;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, Slab, kind, live};
use softdpu_memory::node::Lent;
use softdpu_room::context::{Core, State as ContextState};
use softdpu_room::engine::Engine;
use softdpu_room::life::Equipment;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Keys of the context's settings: tasks of each kind (by its number), and the address of its event.
pub(super) const EVENT: u32 = 16;
/// Task kinds.
pub(super) const KINDS: u32 = 5;

/// Who changes the value.
#[derive(Clone, Debug)]
pub(super) enum Publisher {
    /// This program, through a device.
    Cpu(Arc<Device>),
    Pci,
    Net,
}

/// Who waits for it.
#[derive(Clone, Debug)]
pub(super) enum Subscriber {
    /// This program, through a device.
    Cpu(Arc<Device>),
    Pci,
}

/// Where the value is to live.
#[derive(Clone, Copy, Debug)]
pub(super) enum Home {
    Library,
    Program(Word),
    Buffer(Lent),
}

/// How the event is used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Fresh,
    Direct { running: bool },
    Context,
}

/// What C calls `struct doca_sync_event`.
#[derive(Debug)]
#[repr(C)]
pub struct EventObject {
    head: Head,
    /// Made when it is first needed; becomes the program's with `doca_sync_event_as_ctx`.
    core: OnceLock<&'static Core>,
    /// The event of another object, and the device it is reached through.
    imported: Option<(Arc<Live>, Arc<Device>)>,
    state: Mutex<State>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for EventObject {
    const KIND: u32 = kind::SYNC_EVENT;
    const NAME: &'static str = "sync event";
}

static EVENTS: Slab<EventObject> = Slab::new();

/// Everything that changes.
#[derive(Debug)]
pub(super) struct State {
    pub(super) mode: Mode,
    pub(super) publisher: Option<Publisher>,
    pub(super) subscriber: Option<Subscriber>,
    home: Home,
    /// While it is started.
    pub(super) live: Option<Arc<Live>>,
}

impl State {
    /// The devices through which this program acts, the subscriber's first.
    pub(super) fn devices(&self) -> impl Iterator<Item = &Arc<Device>> {
        let subscriber = match &self.subscriber {
            Some(Subscriber::Cpu(device)) => Some(device),
            _ => None,
        };
        let publisher = match &self.publisher {
            Some(Publisher::Cpu(device)) => Some(device),
            _ => None,
        };
        subscriber.into_iter().chain(publisher)
    }
}

/// BAD_STATE, with its log line.
pub(super) fn bad_state<T>(call: &str, object: &EventObject, why: &str) -> Result<T> {
    log::error!(target: LOG, "{call}: sync event {object:p} {why}");
    Err(Error::new(Code::BadState, "not in this state"))
}

impl EventObject {
    /// An event of this program, or the one that was imported.
    pub(super) fn make(imported: Option<(Arc<Live>, Arc<Device>)>) -> Result<*const EventObject> {
        let state =
            State { mode: Mode::Fresh, publisher: None, subscriber: None, home: Home::Library, live: None };
        let object =
            EventObject { head: Head::unborn(), core: OnceLock::new(), imported, state: Mutex::new(state) };
        EVENTS.make(object).map(|made| made.as_ptr().cast_const())
    }

    /// Frees a stopped event.
    ///
    /// # Safety
    /// The reference is not used any more afterwards.
    pub(super) unsafe fn destroy(object: &EventObject, call: &str) -> Result<()> {
        if (object.state().mode == Mode::Direct { running: true }) {
            return bad_state(call, object, "runs; stop it first");
        }
        if let Some(core) = object.core() {
            if core.state() != ContextState::Idle {
                let why = format!("is a context that is {:?}; stop it and progress until idle", core.state());
                return bad_state(call, object, &why);
            }
            core.destroy()?;
        }
        // SAFETY: made by `make`, alive, and nobody else refers to it any more.
        unsafe { EVENTS.retire_at(object) };
        Ok(())
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its context, if one was made.
    #[inline]
    pub(super) fn core(&self) -> Option<&'static Core> {
        self.core.get().copied()
    }

    /// Was it imported?
    pub(super) fn is_imported(&self) -> bool {
        self.imported.is_some()
    }

    /// The state, if the event may be configured.
    fn configurable(&self, call: &str) -> Result<MutexGuard<'_, State>> {
        if self.is_imported() {
            log::error!(target: LOG, "{call}: sync event {self:p} was imported; its owner configures it");
            return Err(Error::new(Code::NotPermitted, "an imported event is not configurable"));
        }
        let state = self.state();
        let idle = self.core().is_none_or(|core| core.state() == ContextState::Idle);
        if state.mode == (Mode::Direct { running: true }) || !idle {
            return bad_state(call, self, "was started");
        }
        Ok(state)
    }

    fn admit(&self, device: &Device, call: &str) -> Result<()> {
        let function = device.function();
        Caps::of(function).map(|_| ()).inspect_err(|_| {
            log::error!(target: LOG, "{call}: device {} has no sync events (profile {})", function.pci(),
                function.card().profile());
        })
    }

    pub(super) fn add_publisher(&self, publisher: Publisher, call: &str) -> Result<()> {
        let mut state = self.configurable(call)?;
        if let Publisher::Cpu(device) = &publisher {
            self.admit(device, call)?;
        }
        if state.publisher.is_some() {
            return bad_state(call, self, "has a publisher location already");
        }
        state.publisher = Some(publisher);
        Ok(())
    }

    pub(super) fn add_subscriber(&self, subscriber: Subscriber, call: &str) -> Result<()> {
        let mut state = self.configurable(call)?;
        if let Subscriber::Cpu(device) = &subscriber {
            self.admit(device, call)?;
        }
        if state.subscriber.is_some() {
            return bad_state(call, self, "has a subscriber location already");
        }
        state.subscriber = Some(subscriber);
        Ok(())
    }

    pub(super) fn set_home(&self, home: Home, call: &str) -> Result<()> {
        self.configurable(call)?.home = home;
        Ok(())
    }

    /// The event begins to live.
    pub(super) fn begin(&self, state: &mut State, call: &str) -> Result<Arc<Live>> {
        if let Some((live, _)) = &self.imported {
            return Ok(live.clone());
        }
        if state.publisher.is_none() || state.subscriber.is_none() {
            return bad_state(call, self, "needs one publisher and one subscriber location");
        }
        let live = Arc::new(match state.home {
            Home::Library => Live::own()?,
            Home::Program(word) => Live::of_program(word),
            Home::Buffer(lent) => Live::in_buffer(lent, None)?,
        });
        log::debug!(target: LOG, "sync event {self:p} is number {} of this process", live.number());
        Ok(live)
    }

    /// The device its context runs on.
    fn device(&self, state: &State) -> Option<Arc<Device>> {
        match &self.imported {
            Some((_, device)) => Some(device.clone()),
            None => state.devices().next().cloned(),
        }
    }

    /// Its context, made now if there is none.
    pub(super) fn make_core(&self, call: &str) -> Result<&'static Core> {
        if let Some(core) = self.core() {
            return Ok(core);
        }
        let state = self.state();
        let Some(device) = self.device(&state) else {
            return bad_state(call, self, "needs a CPU location, whose device its context runs on");
        };
        let core = Core::create(SyncEvents::INFO, device, softdpu_room::board::of_process())?;
        core.set(EVENT, core::ptr::from_ref(self).expose_provenance() as u64);
        core.set_starter(start);
        Ok(self.core.get_or_init(|| core))
    }

    /// Chooses the asynchronous mode.
    pub(super) fn choose_context(&self, call: &str) -> Result<&'static Core> {
        if let Mode::Direct { .. } = self.state().mode {
            return bad_state(call, self, "is used synchronously");
        }
        let core = self.make_core(call)?;
        self.state().mode = Mode::Context;
        Ok(core)
    }
}

/// Makes the engine of an event's context.
fn start(core: &'static Core) -> Result<Equipment> {
    const CALL: &str = "doca_ctx_start";
    let address = core.setting(EVENT).unwrap_or(0) as usize;
    // SAFETY: set by `make_core`; objects of the slab stay readable for ever.
    let Some(object) = (unsafe { live(core::ptr::with_exposed_provenance::<EventObject>(address)) }) else {
        return Err(Error::new(Code::Unexpected, "a context without its event"));
    };
    let pools: Vec<(u8, u32)> =
        (0..KINDS).map(|kind| (kind as u8, core.setting(kind).unwrap_or(0) as u32)).collect();
    let total = pools.iter().fold(0u32, |sum, pool| sum.saturating_add(pool.1));
    let mut state = object.state();
    let live = object.begin(&mut state, CALL)?;
    state.live = Some(live.clone());
    Ok((Waits::on(live, total, !object.is_imported())?, pools))
}
