//! Event channels: an RDMA context and what connects it to a progress engine.
//!
//! A channel that was made without a context has one of its own, connected to itself: what is written through it lands
//! in memory of this process.
#![expect(unsafe_code, reason = "C entry points")]

use super::write::{Route, failed, landed};
use super::{LOG, answer, refuse};
use crate::call::{enter, output};
use crate::dev::{self, Dev};
use crate::pe::doca_pe_connect_ctx;
use softdpu_engines::rdma::c as rdma;
use softdpu_memory::handle::{Head, Object, Slab, checked, explain, kind, live};
use softdpu_memory::node::Store;
use softdpu_memory::region::Access;
use softdpu_room::context::{Core, State};
use softdpu_room::pe::Pe;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::collections::HashSet;
use std::ffi::{c_int, c_void};
use std::ptr::{NonNull, null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// Tasks of a channel that are not freed, at most.
const TASKS: u32 = 1024;

/// `struct doca_event_channel`.
#[derive(Debug)]
#[repr(C)]
pub struct Channel {
    head: Head,
    core: &'static Core,
    /// The device of a context of its own, NULL for the program's.
    dev: *mut Dev,
    /// A task of its own context failed, and its connection with it.
    pub(super) broken: AtomicBool,
    /// Descriptors know where their store is; the channel stays in its place.
    pub(super) store: Store,
    state: Mutex<Inside>,
}

/// What changes.
#[derive(Debug, Default)]
pub(super) struct Inside {
    /// Who connected it to a progress engine.
    thread: Option<ThreadId>,
    /// Of a context of its own: the end that sends, and the one that is sent to.
    ends: Option<(usize, usize)>,
    /// Tasks that were made, freed or not.
    pub(super) tasks: HashSet<usize>,
    /// Ways to memory of this process.
    pub(super) routes: Vec<Route>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Channel {
    const KIND: u32 = kind::PRIMER_CHANNEL;
    const NAME: &'static str = "event channel";
}

static CHANNELS: Slab<Channel> = Slab::new();

struct All(Vec<NonNull<Channel>>);
// SAFETY: addresses of objects that are never given back.
unsafe impl Send for All {}
static ALL: Mutex<All> = Mutex::new(All(Vec::new()));

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Channel {
    pub(super) fn core(&self) -> &'static Core {
        self.core
    }

    /// Has it a context of its own?
    pub(super) fn is_own(&self) -> bool {
        !self.dev.is_null()
    }

    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(core: *const Core, dev: *mut Dev) -> Result<NonNull<Channel>> {
        let all = &mut all().0;
        all.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a channel"))?;
        let made = CHANNELS.make(Channel {
            head: Head::unborn(),
            // SAFETY: alive, as whoever calls found.
            core: unsafe { (*core).as_static() },
            dev,
            broken: AtomicBool::new(false),
            store: Store::new(),
            state: Mutex::default(),
        })?;
        all.push(made);
        Ok(made)
    }

    /// On the first device with RDMA that is open, else on the first there is.
    fn own() -> Result<NonNull<Channel>> {
        let (mut array, mut count, mut opened) = (null_mut(), 0, null_mut());
        // SAFETY: live locals; the array has `count` records until it is destroyed.
        unsafe {
            answer(dev::doca_devinfo_create_list(&raw mut array, &raw mut count))?;
            let infos = std::slice::from_raw_parts(array, count as usize);
            let able = || {
                infos.iter().copied().filter(|&i| rdma::doca_rdma_cap_task_write_is_supported(i.cast()) == 0)
            };
            let is_open = |info: &*mut dev::DevInfo| dev::function(*info, "").is_ok_and(|f| dev::is_open(f));
            let found = able().find(is_open).or_else(|| able().next());
            let status = found.map(|info| answer(dev::doca_dev_open(info, &raw mut opened)));
            dev::doca_devinfo_destroy_list(array);
            match status {
                Some(status) => status?,
                None => {
                    let line = format_args!("doca_rdma_create_event_channel: no device has RDMA");
                    return Err(refuse(Code::NotFound, "no device has RDMA", line));
                }
            }
            let mut core = null();
            let mut set_up = || -> Result<NonNull<Channel>> {
                answer(rdma::doca_rdma_create(opened.cast(), &raw mut core))?;
                let rights = (Access::LOCAL_READ_WRITE | Access::RDMA_WRITE).bits();
                answer(rdma::doca_rdma_set_permissions(core, rights))?;
                take_over(core)?;
                let made = Channel::publish(core, opened)?;
                (*core).set_user_data(made.as_ptr() as u64);
                Ok(made)
            };
            let made = set_up();
            made.inspect_err(|_| {
                if !core.is_null() {
                    rdma::doca_rdma_destroy(core);
                }
                dev::doca_dev_close(opened);
            })
        }
    }

    /// Over the program's context, which is not started yet.
    unsafe fn over(core: *const Core) -> Result<NonNull<Channel>> {
        const CALL: &str = "doca_rdma_create_event_channel";
        // SAFETY: NULL or a handle of this library.
        unsafe { checked(core, CALL)? }.require(State::Idle, CALL)?;
        // SAFETY: sessions have the same C type, so the kind was looked at above.
        if unsafe { find(core) }.is_some() {
            let line = format_args!("{CALL}: context {core:p} has a channel already");
            return Err(refuse(Code::AlreadyExist, "the context has a channel", line));
        }
        // SAFETY: alive.
        unsafe { take_over(core)? };
        Channel::publish(core, null_mut())
    }

    /// The connection that writes go through.
    pub(super) fn connection(&self, call: &str) -> Result<*const rdma::Handle> {
        if !self.is_own() {
            // SAFETY: alive as long as the channel.
            return unsafe { rdma::first_connection(self.core, call) };
        }
        let inside = &mut *self.inside();
        if self.broken.swap(false, Ordering::AcqRel) {
            inside.ends = None;
        }
        if inside.ends.is_none() {
            inside.ends = Some(self.meet()?);
        }
        Ok(inside.ends.map_or(null(), |(sender, _)| sender as *const rdma::Handle))
    }

    /// Connects the context to itself.
    fn meet(&self) -> Result<(usize, usize)> {
        let mut ends = [(null::<c_void>(), 0, null::<rdma::Handle>()); 2];
        // SAFETY: a context of ours and live locals; descriptions live as long as their connections.
        unsafe {
            for (bytes, len, handle) in &mut ends {
                answer(rdma::doca_rdma_export(self.core, bytes, len, handle))?;
            }
            let [(ours, our_len, one), (theirs, their_len, other)] = ends;
            answer(rdma::doca_rdma_connect(self.core, theirs, their_len, one))?;
            answer(rdma::doca_rdma_connect(self.core, ours, our_len, other))?;
            Ok((one as usize, other as usize))
        }
    }
}

/// The write tasks of a context are the channel's.
unsafe fn take_over(core: *const Core) -> Result<()> {
    // SAFETY: NULL or a handle of this library.
    answer(unsafe { rdma::doca_rdma_task_write_set_conf(core, Some(landed), Some(failed), TASKS) })
}

/// The channel over a context.
unsafe fn find(core: *const Core) -> Option<NonNull<Channel>> {
    // SAFETY: channels in the list are alive, and leave it under the lock.
    all().0.iter().copied().find(|channel| std::ptr::eq(unsafe { channel.as_ref() }.core, core))
}

/// The channel that a program means: by itself, by its context, or, with NULL, the one this thread connected last (or
/// the only one that is connected).
///
/// # Safety
/// NULL or a handle of this library.
pub(super) unsafe fn meant<'a>(ctx: *const c_void, call: &str) -> Result<&'a Channel> {
    // SAFETY: handles begin with a word that says what they are; channels in the list are alive.
    unsafe {
        if let Some(channel) = live(ctx.cast::<Channel>()) {
            return Ok(channel);
        }
        if let Some(core) = live(ctx.cast::<Core>()) {
            let found = find(core).map(|channel| channel.as_ref());
            return found.ok_or_else(|| {
                let line = format_args!("{call}: context {ctx:p} has no event channel");
                refuse(Code::BadState, "the context has no event channel", line)
            });
        }
        if !ctx.is_null() {
            return Err(explain(ctx.cast::<Channel>(), call));
        }
        let all = all();
        let connected =
            || all.0.iter().map(|channel| channel.as_ref()).filter(|c| c.inside().thread.is_some());
        let here = thread::current().id();
        let own = connected().rfind(|channel| channel.inside().thread == Some(here));
        let only = own.or_else(|| connected().next().filter(|_| connected().count() == 1));
        only.ok_or_else(|| {
            let line =
                format_args!("{call}: no context given, and no event channel of this thread is connected");
            refuse(Code::BadState, "no event channel is connected", line)
        })
    }
}

/// Makes a channel, over the program's RDMA context or with one of its own.
///
/// # Safety
/// NULL or a handle of this library; `channel` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_rdma_create_event_channel(
    rdma: *const Core,
    channel: *mut *mut Channel,
) -> c_int {
    const CALL: &str = "doca_rdma_create_event_channel";
    crate::log::softdpu_log_init();
    crate::prepare();
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(channel, CALL) }?;
        // SAFETY: as above.
        let made = if rdma.is_null() { Channel::own()? } else { unsafe { Channel::over(rdma)? } };
        slot.set(made.as_ptr());
        Ok(())
    })
}

/// Connects a channel to a progress engine; from then on a channel with a context of its own takes writes.
///
/// # Safety
/// NULL or handles of this library that belong to the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_pe_connect_event_channel(
    pe: *const Pe,
    channel: *mut Channel,
) -> c_int {
    const CALL: &str = "doca_pe_connect_event_channel";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let this = unsafe { checked(channel.cast_const(), CALL)? };
        if this.inside().thread.is_some() {
            let line = format_args!("{CALL}: event channel {channel:p} is connected already");
            return Err(refuse(Code::NotPermitted, "connected already", line));
        }
        // SAFETY: the caller's promise, and a context of the channel.
        answer(unsafe { doca_pe_connect_ctx(pe, this.core) })?;
        if this.is_own() {
            // SAFETY: a context of ours.
            answer(unsafe { crate::ctx::doca_ctx_start(this.core) })?;
            this.connection(CALL)?;
        }
        this.inside().thread = Some(thread::current().id());
        Ok(())
    })
}

/// Frees a channel and the tasks made through it. Safe on NULL.
///
/// # Safety
/// NULL or a handle of this library that belongs to the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_event_channel_destroy(channel: *mut Channel) -> c_int {
    const CALL: &str = "doca_event_channel_destroy";
    enter(CALL, || {
        if channel.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let this = unsafe { checked(channel.cast_const(), CALL)? };
        let core = this.core;
        let tasks = std::mem::take(&mut this.inside().tasks);
        let ours = |slot: &&Slot| std::ptr::eq(slot.context_of_stale().cast_const(), core);
        // SAFETY: tasks are never given back to the system.
        let held = |&task: &usize| unsafe { live(task as *const Slot) }.filter(ours);
        let flying = tasks.iter().filter_map(held).filter(|slot| slot.is_in_flight()).count();
        if flying > 0 || core.engine().is_some_and(Pe::is_in_callback) {
            this.inside().tasks = tasks;
            let line = format_args!(
                "{CALL}: event channel {channel:p} has {flying} writes in flight, or is destroyed \
                inside a callback of its progress engine"
            );
            return Err(refuse(Code::InUse, "the channel is in use", line));
        }
        for slot in tasks.iter().filter_map(held) {
            // SAFETY: alive, landed, and the program's until now.
            unsafe { crate::task::doca_task_free(slot) };
        }
        if this.is_own() {
            this.close()?;
        }
        all().0.retain(|other| other.as_ptr() != channel);
        this.store.dissolve();
        // SAFETY: alive, out of the list, and by the caller's promise nobody else uses it.
        unsafe { CHANNELS.retire(NonNull::from(this)) };
        Ok(())
    })
}

impl Channel {
    /// Ends the context and the device of its own.
    fn close(&self) -> Result<()> {
        // SAFETY: handles of ours; no task is left, so that stopping takes a few turns at most.
        unsafe {
            if self.core.state() != State::Idle {
                crate::ctx::doca_ctx_stop(self.core);
            }
            while self.core.state() != State::Idle
                && let Some(pe) = self.core.engine()
            {
                if !pe.step() {
                    thread::yield_now();
                }
            }
            self.inside().routes.clear();
            answer(rdma::doca_rdma_destroy(self.core))?;
            if dev::doca_dev_close(self.dev) != 0 {
                log::warn!(target: LOG, "doca_event_channel_destroy: its device stays open");
            }
        }
        Ok(())
    }
}
