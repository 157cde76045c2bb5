//! Opening what is behind a port.

use crate::intake::Intake;
use crate::pcap::{Reader, Writer};
use crate::port::Port;
use crate::source::{CaptureSource, PacketSource, Source, TapSource, XdpDevice};
use crate::sys::interface;
use crate::sys::packet::{PacketRing, PacketSender};
use crate::sys::xdp;
use crate::way::{Capture, Way};
use crate::wire;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use softdpu_card::Backend;
use softdpu_status::{Code, Error, Result};
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What all queues of a port use together, while there is one.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    tap: Mutex<Weak<OwnedFd>>,
    xdp: Mutex<Weak<XdpDevice>>,
    capture: Mutex<Weak<Mutex<Capture>>>,
}

/// What is there already, or what `open` makes.
fn shared<T>(place: &Mutex<Weak<T>>, open: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
    let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(there) = place.upgrade() {
        return Ok(there);
    }
    let made = Arc::new(open()?);
    *place = Arc::downgrade(&made);
    Ok(made)
}

/// Opens the receiving side: adds sources to an intake.
pub(crate) fn open_incoming(port: &Port, intake: &Arc<Intake>) -> Result<()> {
    let failed = |errno| refused(port, errno);
    match port.backend() {
        // Senders come by themselves.
        Backend::Loop => Ok(()),
        Backend::Tap(name) => {
            let tap = open_tap(port, name)?;
            intake.add_source(Source::Tap(TapSource::new(tap)))
        }
        Backend::Packet(name) => {
            let ring = interface::index(name).and_then(PacketRing::open).map_err(failed)?;
            intake.add_source(Source::Packet(PacketSource::new(ring)))
        }
        Backend::AfXdp(_) => {
            for source in open_xdp(port)?.receive().map_err(failed)? {
                intake.add_source(Source::Xdp(source))?;
            }
            Ok(())
        }
        Backend::Pcap { read: Some(path), .. } => {
            let name = path.display().to_string();
            let file = File::open(path).map_err(|error| no_file(&name, &error))?;
            let reader = Reader::new(BufReader::new(file)).map_err(|cause| {
                log::error!(target: crate::LOG, "port {}: capture file {name}: {cause}", port.name());
                Error::new(Code::InvalidValue, "capture file")
            })?;
            intake.add_source(Source::Capture(CaptureSource::new(reader, name)))
        }
        // Nothing ever arrives.
        Backend::Pcap { read: None, .. } => Ok(()),
        _ => Err(unknown(port)),
    }
}

/// Opens the sending side.
pub(crate) fn open_outgoing(port: &Port) -> Result<Way> {
    match port.backend() {
        Backend::Loop => Ok(Way::Wire(wire::send_to(port.other_end())?)),
        Backend::Tap(name) => Ok(Way::Tap(open_tap(port, name)?)),
        Backend::Packet(name) => {
            let number = interface::index(name);
            let sender = number.and_then(|number| PacketSender::open(number, port.longest_frame()));
            Ok(Way::Packet(Box::new(sender.map_err(|errno| refused(port, errno))?)))
        }
        Backend::AfXdp(_) => Ok(Way::Xdp(open_xdp(port)?)),
        Backend::Pcap { write: Some(path), .. } => {
            Ok(Way::Capture(shared(&port.shared.capture, || create(path))?))
        }
        Backend::Pcap { write: None, .. } => Ok(Way::Nowhere),
        _ => Err(unknown(port)),
    }
}

fn open_tap(port: &Port, name: &str) -> Result<Arc<OwnedFd>> {
    shared(&port.shared.tap, || {
        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let open = || -> Result<OwnedFd, Errno> {
            let tap = openat(CWD, "/dev/net/tun", flags, Mode::empty())?;
            interface::tie_tap(tap.as_fd(), name)?;
            Ok(tap)
        };
        let tap = open().map_err(|errno| refused(port, errno))?;
        // Who may make interfaces may switch them on; others use one that its maker has switched on.
        let _ = interface::switch_on(name);
        Ok(tap)
    })
}

fn open_xdp(port: &Port) -> Result<Arc<XdpDevice>> {
    let name = port.backend().interface().unwrap_or_default();
    interface::index(name).map_err(|errno| refused(port, errno))?;
    let longest = port.longest_frame();
    if longest > xdp::longest(4096) {
        log::error!(target: crate::LOG, "port {}: frames of up to {longest} bytes, AF_XDP takes at most {}; lower the MTU",
            port.name(), xdp::longest(4096));
        return Err(Error::new(Code::NotSupported, "MTU too large for AF_XDP"));
    }
    shared(&port.shared.xdp, || XdpDevice::open(name, longest).map_err(|errno| refused(port, errno)))
}

fn create(path: &Path) -> Result<Mutex<Capture>> {
    let name = path.display().to_string();
    let made = File::create(path).and_then(|file| Writer::new(BufWriter::new(file)));
    let writer = made.map_err(|error| no_file(&name, &error))?;
    Ok(Mutex::new(Capture { writer, name, is_broken: false }))
}

#[cold]
fn no_file(name: &str, error: &std::io::Error) -> Error {
    log::error!(target: crate::LOG, "capture file {name}: {error}");
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => Code::NotFound,
        std::io::ErrorKind::PermissionDenied => Code::NotPermitted,
        _ => Code::IoFailed,
    };
    Error::new(code, "capture file")
}

/// What the kernel's refusal means, in one line.
#[cold]
fn refused(port: &Port, errno: Errno) -> Error {
    let backend = port.backend();
    let needed = match backend {
        Backend::Tap(_) => "CAP_NET_ADMIN, or a TAP interface that was made for this user",
        Backend::AfXdp(_) => "CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF",
        _ => "CAP_NET_RAW",
    };
    let (code, what) = match errno {
        Errno::PERM | Errno::ACCESS => (Code::NotPermitted, format!("needs {needed}")),
        Errno::NODEV | Errno::NXIO | Errno::NOENT => {
            (Code::NotFound, "there is no such interface in this network name space".into())
        }
        Errno::BUSY | Errno::EXIST => {
            (Code::InUse, "the interface is used by another process or program".into())
        }
        Errno::NOMEM | Errno::NOBUFS | Errno::MFILE | Errno::NFILE => (Code::NoMemory, errno.to_string()),
        Errno::OPNOTSUPP | Errno::AFNOSUPPORT | Errno::PROTONOSUPPORT | Errno::NOSYS => {
            (Code::NotSupported, format!("not supported by this kernel or interface ({errno})"))
        }
        _ => (Code::Driver, errno.to_string()),
    };
    log::error!(target: crate::LOG, "port {}, backend `{backend}`: {what}", port.name());
    Error::new(code, "backend of a port")
}

#[cold]
fn unknown(port: &Port) -> Error {
    log::error!(target: crate::LOG, "port {}: backend `{}` is not known here", port.name(), port.backend());
    Error::new(Code::NotSupported, "backend of a port")
}
