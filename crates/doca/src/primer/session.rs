//! Sessions: what the first skeleton begins and ends with. A session has its own list of devices, its own handles for
//! the devices opened from it, and the readers of what was submitted in it.
#![expect(unsafe_code, reason = "C entry points")]

use super::reader::Reader;
use super::{LOG, answer, memory, refuse};
use crate::call::{enter, output};
use crate::dev::{self, Dev, DevInfo};
use crate::entry::guard_value;
use crate::log::doca_log_level_set_global_sdk_limit;
use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_memory::node::Node;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::ptr::{NonNull, null_mut};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the textbook calls a context. Its C type is that of the engines' contexts; the kind word tells them apart.
#[derive(Debug)]
#[repr(C)]
pub struct Session {
    head: Head,
    /// The list of devices: the array, and how many there are.
    infos: (usize, usize),
    readers: Mutex<Vec<Reader>>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Session {
    const KIND: u32 = kind::SESSION;
    const NAME: &'static str = "session";
}

static SESSIONS: Slab<Session> = Slab::new();

struct All(Vec<NonNull<Session>>);
// SAFETY: addresses of objects that all threads share.
unsafe impl Send for All {}
static ALL: Mutex<All> = Mutex::new(All(Vec::new()));

fn all() -> MutexGuard<'static, All> {
    ALL.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Session {
    fn new() -> Result<NonNull<Session>> {
        crate::log::softdpu_log_init();
        crate::prepare();
        let (mut array, mut count) = (null_mut(), 0);
        // SAFETY: two live locals.
        answer(unsafe { dev::doca_devinfo_create_list(&raw mut array, &raw mut count) }).map_err(
            |error| match error.code() {
                Code::NotFound => Error::new(Code::Initialization, "the software cards cannot be made"),
                _ => error,
            },
        )?;
        let infos = (array as usize, count as usize);
        let all = &mut all().0;
        let room = all.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a session"));
        let made = room
            .and_then(|()| SESSIONS.make(Session { head: Head::unborn(), infos, readers: Mutex::default() }));
        match made {
            Ok(made) => all.push(made),
            // SAFETY: made above and given to nobody.
            Err(_) => _ = unsafe { dev::doca_devinfo_destroy_list(array) },
        }
        made
    }

    /// The records of its list.
    fn infos(&self) -> &[*mut DevInfo] {
        // SAFETY: the array belongs to the session and lives as long; it is never empty memory, as a NULL ends it.
        unsafe { std::slice::from_raw_parts(self.infos.0 as *const *mut DevInfo, self.infos.1) }
    }

    /// How its devices name their owner.
    pub(super) fn owner(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    pub(super) fn readers(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session that a record belongs to, as owner of devices.
pub(super) fn owner_of(info: *const DevInfo) -> usize {
    let all = all();
    // SAFETY: sessions in the list are alive, and leave it under the lock.
    let mut sessions = all.0.iter().map(|session| unsafe { session.as_ref() });
    sessions
        .find(|session| session.infos().iter().any(|own| std::ptr::eq(own.cast_const(), info)))
        .map_or(dev::NOBODY, Session::owner)
}

/// Runs `act` on the readers of every session.
fn with_readers(mut act: impl FnMut(&mut Vec<Reader>)) {
    for session in &all().0 {
        // SAFETY: sessions in the list are alive, and leave it under the lock.
        act(&mut unsafe { session.as_ref() }.readers());
    }
}

/// Waits until no device reads the buffer.
pub(super) fn wait_for(buf: &Node) {
    with_readers(|readers| {
        readers.iter_mut().for_each(|reader| while reader.reads(buf) && reader.turn() {});
    });
}

/// Nobody reads through the device any more.
pub(super) fn release_device(device: &Device) {
    with_readers(|readers| readers.retain(|reader| reader.device().id() != device.id()));
}

/// Prepares the library. Any thread, any number of times.
#[unsafe(no_mangle)]
pub extern "C" fn softdpu_primer_init() -> c_int {
    crate::log::softdpu_log_init();
    enter("doca_init", || {
        crate::prepare();
        let machine = dev::machine().map(|_| ());
        machine.map_err(|_| Error::new(Code::Initialization, "the software cards cannot be made"))
    })
}

/// Makes a session.
///
/// # Safety
/// `ctx` is NULL or good for one write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_ctx_create(ctx: *mut *mut Session) -> c_int {
    const CALL: &str = "doca_ctx_create";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let slot = unsafe { output(ctx, CALL) }?;
        slot.set(Session::new()?.as_ptr());
        Ok(())
    })
}

/// Makes a session, or returns NULL.
#[unsafe(no_mangle)]
pub extern "C" fn softdpu_primer_ctx_new() -> *mut Session {
    guard_value(null_mut(), || match dev::check_fork("doca_ctx_create").and_then(|()| Session::new()) {
        Ok(made) => made.as_ptr(),
        Err(error) => {
            log::error!(target: LOG, "doca_ctx_create: no session: {error}");
            null_mut()
        }
    })
}

/// Sets how much the library says, and sees to it that it has somewhere to say it: stderr, unless the program has made
/// a backend for its records.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_ctx_set_log_level(ctx: *const Session, level: u32) -> c_int {
    const CALL: &str = "doca_ctx_set_log_level";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        unsafe { checked(ctx, CALL) }?;
        answer(doca_log_level_set_global_sdk_limit(level)).map_err(|_| {
            refuse(Code::InvalidValue, "no log level", format_args!("{CALL}: {level} is no log level"))
        })?;
        crate::log::ensure_sdk_backend()
    })
}

/// Ends a session; devices that are still open in it are dead from now on.
///
/// # Safety
/// NULL or a handle of this library that no other thread uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_ctx_destroy(ctx: *mut Session) -> c_int {
    const CALL: &str = "doca_ctx_destroy";
    enter(CALL, || {
        if ctx.is_null() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        let this = unsafe { checked(ctx, CALL) }?;
        let readers = std::mem::take(&mut *this.readers());
        drop(readers);
        all().0.retain(|session| session.as_ptr() != ctx);
        let left = dev::orphan(this.owner(), memory::any_on);
        if left > 0 {
            log::warn!(target: LOG, "{CALL}: {left} devices of session {ctx:p} were not closed; their handles are dead");
        }
        // SAFETY: the list is the session's; nobody uses it any more.
        answer(unsafe { dev::doca_devinfo_destroy_list(this.infos.0 as *mut *mut DevInfo) })?;
        // SAFETY: alive, out of the list, and by the caller's promise nobody else uses it.
        unsafe { SESSIONS.retire(NonNull::from(this)) };
        Ok(())
    })
}

/// The first device, NULL when there is none.
///
/// # Safety
/// NULL or a handle of this library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_devinfo_get_first(ctx: *const Session) -> *mut DevInfo {
    guard_value(null_mut(), || {
        // SAFETY: the caller's promise.
        let session = unsafe { checked(ctx, "doca_devinfo_get_first") };
        session.ok().and_then(|session| session.infos().first().copied()).unwrap_or(null_mut())
    })
}

/// Lets the device read the buffer once; see [`super::reader`].
///
/// # Safety
/// NULL or handles of this library that belong to the calling thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_primer_task_submit(ctx: *const Session, buf: *const Node) -> c_int {
    const CALL: &str = "doca_task_submit";
    enter(CALL, || {
        // SAFETY: the caller's promise.
        let (session, node) = unsafe { (checked(ctx, CALL)?, checked(buf, CALL)?) };
        let dev = device_for(session, node)?;
        let readers = &mut *session.readers();
        readers.iter_mut().for_each(Reader::collect);
        // SAFETY: open, as just found.
        let device = unsafe { dev::device(dev, CALL)? };
        // One whose context stopped makes room for a fresh one.
        readers.retain(|reader| reader.device().id() != device.id() || reader.is_running());
        if !readers.iter().any(|reader| reader.device().id() == device.id()) {
            readers.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a reader"))?;
            readers.push(Reader::new(dev)?);
        }
        let mut found = readers.iter_mut().filter(|reader| reader.device().id() == device.id());
        found.next().map_or(Err(Code::Unexpected.into()), |reader| reader.submit(node))
    })
}

/// The device that reads a buffer: one of the session's, else one opened otherwise, with which the memory is registered.
fn device_for(session: &Session, node: &Node) -> Result<*const Dev> {
    let word = node.region().word();
    let fits = |device: &Device| word & device.bit() != 0;
    dev::first_open(session.owner(), fits)
        .or_else(|| dev::first_open(dev::NOBODY, fits))
        .map(|dev| dev.as_ptr().cast_const())
        .ok_or_else(|| {
            let line = format_args!(
                "doca_task_submit: buffer {node:p} is not in memory of an open device of session {session:p}"
            );
            refuse(Code::InvalidValue, "no open device has the memory", line)
        })
}
