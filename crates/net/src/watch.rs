//! Waking queues whose frames come from the kernel: a thread, `softdpu-net`, that sleeps until a descriptor of a source
//! becomes readable while a queue sleeps. Started with the first such source; it never runs code of the program.

use crate::intake::Intake;
use crate::sync::{AtomicU64, Ordering};
use rustix::event::epoll;
use rustix::io::Errno;
use softdpu_status::{Code, Error, Result};
use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

/// What the thread and the others share.
#[derive(Debug)]
struct Watch {
    epoll: OwnedFd,
    intakes: Mutex<HashMap<u64, Weak<Intake>>>,
    next: AtomicU64,
}

static WATCH: OnceLock<Watch> = OnceLock::new();

fn short(what: &dyn std::fmt::Display) -> Error {
    log::error!(target: crate::LOG, "the thread that watches interfaces: {what}");
    Error::new(Code::NoMemory, "cannot watch an interface")
}

fn watch() -> Result<&'static Watch> {
    static STARTING: Mutex<()> = Mutex::new(());
    let _one = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(watch) = WATCH.get() {
        return Ok(watch);
    }
    let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|errno| short(&errno))?;
    let watch = WATCH.get_or_init(|| Watch { epoll, intakes: Mutex::default(), next: AtomicU64::new(0) });
    let thread = std::thread::Builder::new().name("softdpu-net".to_owned());
    softdpu_link::with_signals_blocked(|| thread.spawn(|| watch.run())).map_err(|error| short(&error))?;
    Ok(watch)
}

impl Watch {
    fn run(&self) {
        let mut events = Vec::with_capacity(64);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) | Err(Errno::INTR) => {}
                // It cannot fail otherwise; should it, sleepers stay with what they have.
                Err(_) => return,
            }
            for event in &events {
                let intake = {
                    let intakes = self.intakes.lock().unwrap_or_else(PoisonError::into_inner);
                    intakes.get(&event.data.u64()).and_then(Weak::upgrade)
                };
                if let Some(intake) = intake {
                    intake.rouse();
                }
            }
        }
    }
}

/// A descriptor that the thread watches whenever it is armed.
#[derive(Debug)]
pub(crate) struct Watched {
    fd: OwnedFd,
    id: u64,
}

impl Watched {
    pub(crate) fn new(fd: OwnedFd, intake: &Arc<Intake>) -> Result<Watched> {
        let watch = watch()?;
        let id = watch.next.fetch_add(1, Ordering::Relaxed);
        let flags = epoll::EventFlags::ONESHOT;
        epoll::add(&watch.epoll, &fd, epoll::EventData::new_u64(id), flags).map_err(|errno| short(&errno))?;
        let mut intakes = watch.intakes.lock().unwrap_or_else(PoisonError::into_inner);
        intakes.insert(id, Arc::downgrade(intake));
        Ok(Watched { fd, id })
    }

    /// Wakes the queues of the intake when there is something, once.
    pub(crate) fn arm(&self) {
        if let Some(watch) = WATCH.get() {
            let flags = epoll::EventFlags::IN | epoll::EventFlags::ONESHOT;
            let _ = epoll::modify(&watch.epoll, &self.fd, epoll::EventData::new_u64(self.id), flags);
        }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(watch) = WATCH.get() {
            let _ = epoll::delete(&watch.epoll, &self.fd);
            watch.intakes.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        }
    }
}
