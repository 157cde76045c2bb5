//! What the program and the engine of a context share: settings, connections, and the engine's mail.
//!
//! The program's calls (export, connect, accept, ...) make connections and the ways they use; the engine, which is turned
//! by progress or by a worker, learns of both through its mail and looks there when its attention is called. Peers of
//! other processes and contexts come in through [`Control::admit`], on whatever thread.

use crate::blob::{Blob, Name, checksum};
use crate::caps::Caps;
use crate::config::{Settings, senders};
use crate::conn::{Conn, Phase};
use crate::desk::Desk;
use crate::engine::Event;
use crate::inbox::{Attention, Inbound, Outbound};
use crate::job::ConnRef;
use crate::net::{Joint, Reachable};
use crate::roster;
use crate::senders::Senders;
use crate::sync::Ordering;
use softdpu_link::{Folder, Listener, Owner, Ringer, Segment};
use softdpu_memory::device::Device;
use softdpu_room::context::Core;
use softdpu_room::hardware::Alarm;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;

/// Something the engine has to know.
#[derive(Debug)]
pub(crate) enum Mail {
    /// A way to the peer of a connection; take messages from it, too, as soon as it comes.
    Out(ConnRef, Box<Outbound>),
    /// A peer's way to us.
    In(ConnRef, Box<Inbound>),
    /// A way over the network.
    Net(ConnRef, Joint),
    /// The program ends a connection.
    Leave(Arc<Conn>),
    /// Tell the program.
    Tell(Event),
    /// An attempt to connect has come to nothing.
    Failed(Arc<Conn>),
}

/// How the program is told of events.
pub(crate) type Teller = fn(&'static Core, Event);
/// C: the object that stands for a connection goes.
pub(crate) type Retire = fn(&Arc<Conn>);

/// What peers need for waking us.
#[derive(Debug)]
pub(crate) struct Bell {
    pub(crate) page: OwnedFd,
    pub(crate) event: OwnedFd,
    pub(crate) index: u32,
    pub(crate) ringer: Arc<Ringer>,
}

/// Ended connections whose handles stay good, though the program did not give them up.
const MOST_ENDED: usize = 4096;

type Doors = (Vec<Listener>, Option<crate::net::Listening>);

/// A port that is listened to.
#[derive(Debug)]
pub(crate) struct Listening {
    pub(crate) port: u16,
    _doors: Doors,
}

/// What there is while the context is not idle.
#[derive(Debug)]
pub(crate) struct Live {
    owner: Owner,
    pub(crate) srq: Arc<Segment>,
    pub(crate) bell: Arc<Bell>,
    desk: Arc<Desk>,
    conns: Vec<Option<Arc<Conn>>>,
    uid: u32,
    listening: Vec<Listening>,
    /// Connections that have ended, whose handles the program may still use.
    pub(crate) ended: Vec<Arc<Conn>>,
    pub(crate) closing: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Control {
    pub(crate) number: u64,
    device: Arc<Device>,
    pub(crate) caps: Caps,
    settings: Mutex<Settings>,
    pub(crate) attention: Arc<Attention>,
    mail: Mutex<Vec<Mail>>,
    live: Mutex<Option<Live>>,
    pub(crate) senders: Senders,
    /// Rust: what the program has not looked at.
    pub(crate) happened: Mutex<VecDeque<Event>>,
    /// Rust: who waits for something to happen.
    listeners: Mutex<Vec<Waker>>,
    pub(crate) teller: OnceLock<Teller>,
    pub(crate) retire: OnceLock<Retire>,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn refused(code: Code, what: &'static str, line: std::fmt::Arguments<'_>) -> Error {
    log::error!(target: crate::LOG, "{line}");
    Error::new(code, what)
}

impl Control {
    /// Of a context on `device`.
    ///
    /// # Errors
    /// NotSupported when the device has no RDMA engine.
    pub fn new(device: &Arc<Device>) -> Result<Arc<Control>> {
        let caps = Caps::of(device.function())?;
        let control = Arc::new(Control {
            number: roster::number(),
            device: device.clone(),
            settings: Mutex::new(Settings::new(&caps)),
            caps,
            attention: Arc::default(),
            mail: Mutex::default(),
            live: Mutex::default(),
            senders: Senders::default(),
            happened: Mutex::default(),
            listeners: Mutex::default(),
            teller: OnceLock::new(),
            retire: OnceLock::new(),
        });
        roster::enter(&control);
        Ok(control)
    }

    /// The device it works on.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// The settings.
    pub(crate) fn settings(&self) -> Settings {
        *lock(&self.settings)
    }

    /// Changes settings.
    pub(crate) fn configure<R>(&self, change: impl FnOnce(&mut Settings, &Caps) -> R) -> R {
        change(&mut lock(&self.settings), &self.caps)
    }

    /// The context starts.
    pub(crate) fn start(&self, srq: Arc<Segment>, desk: Arc<Desk>, alarm: &Arc<Alarm>) -> Result<()> {
        let bell = alarm.with_signal(|signal| {
            let bell = signal.doorbell()?.invitation();
            let copy = |fd: std::os::fd::BorrowedFd<'_>| {
                fd.try_clone_to_owned().map_err(|_| Error::new(Code::NoMemory, "no descriptor"))
            };
            let ringer = Ringer::accept(copy(bell.page)?, bell.index, copy(bell.event)?)?;
            Ok(Bell {
                page: copy(bell.page)?,
                event: copy(bell.event)?,
                index: bell.index,
                ringer: Arc::new(ringer),
            })
        });
        let bell = Arc::new(bell.unwrap_or(Err(Error::new(Code::NotConnected, "no progress engine")))?);
        let settings = self.settings();
        self.senders.start(senders(&settings));
        *lock(&self.live) = Some(Live {
            owner: Owner::this_process()?,
            srq,
            bell,
            desk,
            conns: (0..settings.connections).map(|_| None).collect(),
            uid: 0,
            listening: Vec::new(),
            ended: Vec::new(),
            closing: false,
        });
        lock(&self.mail).clear();
        self.attention.set(Some(alarm.clone()));
        Ok(())
    }

    /// The context stops: nobody comes in any more. Listeners go.
    pub(crate) fn close(&self) {
        let listening = match &mut *lock(&self.live) {
            Some(live) => {
                live.closing = true;
                std::mem::take(&mut live.listening)
            }
            None => Vec::new(),
        };
        drop(listening);
    }

    /// The context is idle. Returns its connections, none of which lives any more.
    pub(crate) fn end(&self) -> Vec<Arc<Conn>> {
        self.attention.set(None);
        let live = lock(&self.live).take();
        drop(std::mem::take(&mut *lock(&self.mail)));
        self.wake_listeners();
        let Some(live) = live else { return Vec::new() };
        let conns: Vec<_> = live.conns.into_iter().flatten().chain(live.ended).collect();
        for conn in &conns {
            conn.end();
            conn.abandon();
        }
        conns
    }

    /// Runs `f` on what there is while the context is not idle.
    ///
    /// # Errors
    /// BadState when it is idle or stopping.
    pub(crate) fn with_live<R>(&self, call: &str, f: impl FnOnce(&mut Live) -> Result<R>) -> Result<R> {
        match &mut *lock(&self.live) {
            Some(live) if !live.closing => f(live),
            _ => Err(refused(
                Code::BadState,
                "the context does not run",
                format_args!("{call}: the context does not run"),
            )),
        }
    }

    /// Runs `f` even while the context stops.
    pub(crate) fn with_any<R>(&self, f: impl FnOnce(&mut Live) -> R) -> Option<R> {
        lock(&self.live).as_mut().map(f)
    }

    /// Is the context not idle?
    pub(crate) fn is_live(&self) -> bool {
        lock(&self.live).is_some()
    }

    /// Is woken when something has happened, or nothing can any more.
    pub(crate) fn listen_for(&self, waker: &Waker) {
        let mut listeners = lock(&self.listeners);
        if !listeners.iter().any(|known| known.will_wake(waker)) {
            listeners.push(waker.clone());
        }
    }

    /// Wakes them; with nothing held.
    pub(crate) fn wake_listeners(&self) {
        let listeners = std::mem::take(&mut *lock(&self.listeners));
        listeners.into_iter().for_each(Waker::wake);
    }

    /// Leaves something for the engine.
    pub(crate) fn send(&self, mail: Mail) {
        lock(&self.mail).push(mail);
        self.attention.call();
    }

    /// What was left for the engine.
    pub(crate) fn take_mail(&self) -> Vec<Mail> {
        std::mem::take(&mut *lock(&self.mail))
    }

    /// A fresh connection.
    ///
    /// # Errors
    /// BadState (not running), Full, Driver (no random numbers).
    pub(crate) fn add(self: &Arc<Control>, phase: Phase, call: &str) -> Result<Arc<Conn>> {
        let mut secret = [0; 16];
        let got = rustix::rand::getrandom(&mut secret, rustix::rand::GetRandomFlags::empty());
        if got != Ok(secret.len()) {
            return Err(refused(
                Code::Driver,
                "no random numbers",
                format_args!("{call}: no random numbers"),
            ));
        }
        let folder = Folder::of_process().map_or(0, Folder::number);
        let transport = self.settings().transport;
        let function = self.device.function();
        let reachable =
            if phase == Phase::Exported { crate::net::reachable(self) } else { Reachable::default() };
        self.with_live(call, |live| {
            let Some(slot) = live.conns.iter().position(Option::is_none) else {
                let line = format_args!("{call}: all {} connections are taken", live.conns.len());
                return Err(refused(Code::Full, "all connections are taken", line));
            };
            live.uid += 1;
            let conn = ConnRef { slot: slot as u32, uid: live.uid };
            let blob = Blob {
                name: Name { owner: live.owner, context: self.number, conn },
                secret,
                transport,
                folder,
                card: checksum(function.card().name().as_bytes()),
                topology: function.card().topology_hash(),
                gid: function.gid(),
                reachable,
            };
            let before = live.desk.through(conn.slot);
            let conn = Conn::new(self, conn, phase, secret, blob.encode(), before);
            live.conns[slot] = Some(conn.clone());
            Ok(conn)
        })
    }

    /// The connection, if it is not over.
    pub(crate) fn conn(&self, which: ConnRef) -> Option<Arc<Conn>> {
        let live = lock(&self.live);
        let conn = live.as_ref()?.conns.get(which.slot as usize)?.as_ref()?;
        (conn.here == which).then(|| conn.clone())
    }

    /// The connections there are, and how many send-side tasks of each were through.
    pub(crate) fn connections(&self) -> Vec<(Arc<Conn>, u32)> {
        let look = |live: &mut Live| {
            let conns = live.conns.iter().flatten();
            let sent = |conn: &Conn| live.desk.through(conn.here.slot).wrapping_sub(conn.before);
            conns.map(|conn| (conn.clone(), sent(conn))).collect()
        };
        self.with_any(look).unwrap_or_default()
    }

    /// The connection is over; its place is free. Handles of it may still be in the program's hands.
    pub(crate) fn remove(&self, conn: &Arc<Conn>) {
        self.with_any(|live| {
            let place = live.conns.get_mut(conn.here.slot as usize);
            if let Some(place) = place.filter(|place| place.as_ref().is_some_and(|c| Arc::ptr_eq(c, conn))) {
                live.ended.extend(place.take());
            }
        });
    }

    /// A connection that nothing came of.
    #[cfg(feature = "capi")]
    pub(crate) fn give_up(&self, conn: &Arc<Conn>) {
        conn.end();
        conn.finished.store(true, Ordering::Release);
        self.remove(conn);
    }

    /// Takes out what has ended and is not needed any more.
    pub(crate) fn sweep(&self) -> Vec<Arc<Conn>> {
        self.with_any(|live| {
            let mut spare = live.ended.len().saturating_sub(MOST_ENDED);
            let over = |conn: &mut Arc<Conn>| {
                let finished = conn.finished.load(Ordering::Acquire);
                let released = conn.released.load(Ordering::Acquire) || spare > 0;
                if finished && released {
                    spare = spare.saturating_sub(1);
                }
                finished && released
            };
            live.ended.extract_if(.., over).collect()
        })
        .unwrap_or_default()
    }

    /// Notes a port, once.
    pub(crate) fn add_listening(&self, port: u16, doors: Doors) {
        self.with_any(|live| live.listening.push(Listening { port, _doors: doors }));
    }

    /// Stops listening; false when the port was not listened to.
    pub(crate) fn stop_listening(&self, port: u16) -> bool {
        let gone = self.with_any(|live| {
            let at = live.listening.iter().position(|l| l.port == port)?;
            Some(live.listening.swap_remove(at))
        });
        gone.flatten().is_some()
    }
}
