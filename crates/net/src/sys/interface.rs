//! Questions about network interfaces, and making TAP interfaces. They are asked of the kernel, not read from `/sys`, which
//! may show another network name space.
#![expect(unsafe_code, reason = "requests that take a structure by address")]

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, netdevice, socket_with};
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// A request about the interface of this name; longer names are cut off, which no name is that was checked.
fn request(name: &str) -> libc::ifreq {
    // SAFETY: all zero is a value of this plain structure.
    let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
    for (place, byte) in request.ifr_name[..libc::IFNAMSIZ - 1].iter_mut().zip(name.bytes()) {
        *place = byte as libc::c_char;
    }
    request
}

fn ask(fd: BorrowedFd<'_>, what: libc::Ioctl, request: &mut libc::ifreq) -> Result<(), Errno> {
    // SAFETY: these requests read and write the structure, and what it points at, which `ethtool` below keeps alive.
    match unsafe { libc::ioctl(fd.as_raw_fd(), what, request) } {
        -1 => Err(last()),
        _ => Ok(()),
    }
}

/// Any socket can be asked.
fn socket() -> Result<OwnedFd, Errno> {
    socket_with(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)
}

/// The number of an interface.
pub(crate) fn index(name: &str) -> Result<u32, Errno> {
    netdevice::name_to_index(socket()?, name)
}

/// The longest payload.
pub(crate) fn mtu(name: &str) -> Result<usize, Errno> {
    let (socket, mut request) = (socket()?, request(name));
    ask(borrow(&socket), libc::SIOCGIFMTU, &mut request)?;
    // SAFETY: the kernel filled this member.
    Ok(usize::try_from(unsafe { request.ifr_ifru.ifru_mtu }).unwrap_or(0))
}

/// Switched on, with carrier.
pub(crate) fn is_up(name: &str) -> bool {
    let Ok(flags) = flags(name) else { return false };
    let needed = libc::IFF_UP | libc::IFF_RUNNING;
    libc::c_int::from(flags) & needed == needed
}

fn flags(name: &str) -> Result<i16, Errno> {
    let (socket, mut request) = (socket()?, request(name));
    ask(borrow(&socket), libc::SIOCGIFFLAGS, &mut request)?;
    // SAFETY: the kernel filled this member.
    Ok(unsafe { request.ifr_ifru.ifru_flags })
}

/// Switches an interface on.
pub(crate) fn switch_on(name: &str) -> Result<(), Errno> {
    let (socket, mut request) = (socket()?, request(name));
    request.ifr_ifru.ifru_flags = flags(name)? | libc::IFF_UP as i16;
    ask(borrow(&socket), libc::SIOCSIFFLAGS, &mut request)
}

/// Receive queues of an interface, 1 when it cannot tell.
pub(crate) fn receive_queues(name: &str) -> u32 {
    /// `ETHTOOL_GCHANNELS`; then maxima of receive, send, other and combined channels, then the numbers there are.
    const CHANNELS: u32 = 0x3c;
    let mut answer = [0u32; 9];
    answer[0] = CHANNELS;
    let mut request = request(name);
    request.ifr_ifru.ifru_data = answer.as_mut_ptr().cast();
    let asked = socket().and_then(|socket| ask(borrow(&socket), libc::SIOCETHTOOL, &mut request));
    // The kernel wrote behind the compiler's back.
    let answer = std::hint::black_box(answer);
    asked.map_or(1, |()| (answer[5] + answer[8]).max(1))
}

fn borrow(socket: &OwnedFd) -> BorrowedFd<'_> {
    std::os::fd::AsFd::as_fd(socket)
}

/// Ties an open `/dev/net/tun` to a TAP interface of this name, which is made if it is not there.
pub(crate) fn tie_tap(fd: BorrowedFd<'_>, name: &str) -> Result<(), Errno> {
    let mut request = request(name);
    let tap = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
    request.ifr_ifru.ifru_flags = tap;
    match ask(fd, libc::TUNSETIFF, &mut request) {
        // One that was made for several queues wants to be asked for one of them.
        Err(Errno::INVAL) => {
            request.ifr_ifru.ifru_flags = tap | libc::IFF_MULTI_QUEUE as i16;
            ask(fd, libc::TUNSETIFF, &mut request)
        }
        other => other,
    }
}
