//! Frames from AF_XDP sockets, and what the two directions of an interface share.

use crate::drain::Feed;
use crate::headers::HEAD;
use crate::source::pause::Pause;
use crate::sys::bpf::{MOST_QUEUES, Mode, Redirect, SocketMap};
use crate::sys::interface;
use crate::sys::xdp::{self, XdpReceiver, XdpSender};
use rustix::io::Errno;
use softdpu_link::Receiver;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The sockets of an interface: one on each of its receive queues, the first one sends.
#[derive(Debug)]
pub(crate) struct XdpDevice {
    interface: u32,
    map: SocketMap,
    /// Receiving directions that no intake has, by their queues.
    idle: Mutex<Vec<(u32, XdpReceiver)>>,
    pub(crate) sender: Mutex<XdpSender>,
}

impl XdpDevice {
    /// Opens the sockets; frames have room for `longest` bytes.
    pub(crate) fn open(name: &str, longest: usize) -> Result<XdpDevice, Errno> {
        let number = interface::index(name)?;
        let chunk = if longest <= xdp::longest(2048) { 2048 } else { 4096 };
        let map = SocketMap::new()?;
        let (mut idle, mut sender) = (Vec::new(), None);
        for queue in 0..interface::receive_queues(name).min(MOST_QUEUES) {
            let (receiver, more) = open_patiently(number, queue, chunk)?;
            idle.push((queue, receiver));
            sender.get_or_insert(more);
        }
        let sender = Mutex::new(sender.ok_or(Errno::NODEV)?);
        Ok(XdpDevice { interface: number, map, idle: Mutex::new(idle), sender })
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<(u32, XdpReceiver)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The receiving directions, with the program that hands them frames; it goes when the last of them does.
    pub(crate) fn receive(self: &Arc<XdpDevice>) -> Result<Vec<XdpSource>, Errno> {
        let attach = |mode| Redirect::attach(&self.map, self.interface, mode);
        let program = match attach(Mode::Driver) {
            Err(Errno::OPNOTSUPP | Errno::INVAL) => attach(Mode::Generic)?,
            other => other?,
        };
        let program = Arc::new(program);
        let sockets = std::mem::take(&mut *self.idle());
        let mut sources = Vec::new();
        for (queue, receiver) in sockets {
            self.map.set(queue, receiver.fd())?;
            sources.push(XdpSource {
                device: Arc::clone(self),
                queue,
                receiver: Some(receiver),
                front: None,
                pause: Pause::default(),
                _program: Arc::clone(&program),
            });
        }
        Ok(sources)
    }
}

/// How often, and how far apart, a queue that is in use is asked for: the kernel gives one back only a moment after its
/// last user has gone.
const TRIES: u32 = 20;
const BETWEEN: Duration = Duration::from_millis(25);

fn open_patiently(interface: u32, queue: u32, chunk: usize) -> Result<(XdpReceiver, XdpSender), Errno> {
    let mut copies = false;
    for _ in 1..TRIES {
        match xdp::open(interface, queue, chunk, copies) {
            // Drivers that begin without copies and fail are asked for copies.
            Err(Errno::OPNOTSUPP | Errno::INVAL) if !copies => copies = true,
            Err(Errno::BUSY) => std::thread::sleep(BETWEEN),
            other => return other,
        }
    }
    xdp::open(interface, queue, chunk, copies)
}

/// The receiving direction of a socket; goes back to its device when dropped.
#[derive(Debug)]
pub(crate) struct XdpSource {
    device: Arc<XdpDevice>,
    queue: u32,
    receiver: Option<XdpReceiver>,
    front: Option<(u64, usize)>,
    pause: Pause,
    _program: Arc<Redirect>,
}

impl XdpSource {
    pub(crate) fn is_ready(&mut self) -> bool {
        self.pause.ends_if(self.receiver.as_mut().is_some_and(XdpReceiver::is_ready))
    }

    pub(crate) fn missed(&self) -> u64 {
        self.receiver.as_ref().map_or(0, XdpReceiver::missed)
    }

    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.receiver.as_ref().map(XdpReceiver::fd)
    }
}

impl Drop for XdpSource {
    fn drop(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            self.device.idle().push((self.queue, receiver));
        }
    }
}

impl Feed for XdpSource {
    #[inline]
    fn front(&mut self) -> Option<usize> {
        if self.pause.lasts() {
            return None;
        }
        self.front = self.receiver.as_mut()?.front();
        if self.front.is_none() {
            self.pause.begin();
        }
        self.front.map(|(_, len)| len)
    }

    #[inline]
    fn look<'a>(&'a self, _head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>) {
        let bytes = match (&self.receiver, self.front) {
            (Some(receiver), Some((at, len))) => receiver.bytes(at, len),
            _ => &[],
        };
        (bytes, None)
    }

    #[inline]
    fn pop(&mut self) {
        if let (Some(receiver), Some(_)) = (&mut self.receiver, self.front.take()) {
            receiver.pop();
        }
    }

    fn settle(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            receiver.settle();
        }
    }
}
