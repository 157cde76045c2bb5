//! The program that hands frames of an interface to AF_XDP sockets: six instructions, no compiler, no library.
#![expect(unsafe_code, reason = "the bpf system call takes structures by address")]

use rustix::io::Errno;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Sockets of a map: most receive queues of an interface.
pub(crate) const MOST_QUEUES: u32 = 64;

const MAP_CREATE: i32 = 0;
const MAP_UPDATE: i32 = 2;
const PROG_LOAD: i32 = 5;
const LINK_CREATE: i32 = 28;
/// `BPF_MAP_TYPE_XSKMAP`, `BPF_PROG_TYPE_XDP`, `BPF_XDP`.
const XSKMAP: u32 = 17;
const XDP_PROGRAM: u32 = 6;
const ATTACH_XDP: u32 = 37;

/// Two halves of a word of the argument.
const fn pair(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// One command; `arguments` is `union bpf_attr`, as words.
fn call(command: i32, arguments: &mut [u64]) -> Result<i32, Errno> {
    // SAFETY: the kernel reads the arguments, and what they point at; each caller keeps that alive during the call.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, arguments.as_mut_ptr(), size_of_val(arguments)) };
    if result < 0 {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    }
    Ok(result as i32)
}

fn owned(fd: i32) -> OwnedFd {
    // SAFETY: the kernel has just made this descriptor for us.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// Sockets by the receive queue they serve.
#[derive(Debug)]
pub(crate) struct SocketMap(OwnedFd);

impl SocketMap {
    pub(crate) fn new() -> Result<SocketMap, Errno> {
        let mut arguments = [0u64; 16];
        arguments[0] = pair(XSKMAP, 4);
        arguments[1] = pair(4, MOST_QUEUES);
        call(MAP_CREATE, &mut arguments).map(|fd| SocketMap(owned(fd)))
    }

    /// Frames of a queue go to this socket from now on.
    pub(crate) fn set(&self, queue: u32, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        let value = socket.as_raw_fd();
        let mut arguments = [self.0.as_raw_fd() as u64, &raw const queue as u64, &raw const value as u64, 0];
        call(MAP_UPDATE, &mut arguments).map(|_| ())
    }
}

/// The program on an interface; it goes with this value.
#[derive(Debug)]
pub(crate) struct Redirect {
    _link: OwnedFd,
}

/// How the program is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// By the driver, before the kernel makes a packet of the frame: `XDP_FLAGS_DRV_MODE`.
    Driver = 4,
    /// By the kernel afterwards, with any interface: `XDP_FLAGS_SKB_MODE`.
    Generic = 2,
}

impl Redirect {
    /// Hands the frames of an interface to the sockets of a map; those of queues without one go on to the kernel.
    pub(crate) fn attach(map: &SocketMap, interface: u32, mode: Mode) -> Result<Redirect, Errno> {
        let program = [
            // r2 = queue of the frame: the word at 16 of what r1 points at
            0x61 | 2 << 8 | 1 << 12 | 16 << 16,
            // r1 = the map (a load of 64 bits takes two)
            0x18 | 1 << 8 | 1 << 12 | (map.0.as_raw_fd() as u64) << 32,
            0,
            // r3 = what to do without a socket: pass
            0xb7 | 3 << 8 | 2 << 32,
            // redirect_map(r1, r2, r3)
            0x85 | 51u64 << 32,
            // its result is ours
            0x95,
        ];
        let licence = c"Dual MIT/GPL";
        let mut arguments = [0u64; 18];
        arguments[0] = pair(XDP_PROGRAM, program.len() as u32);
        arguments[1] = program.as_ptr() as u64;
        arguments[2] = licence.as_ptr() as u64;
        // `expected_attach_type` stands behind version, flags, name and interface of the program.
        arguments[8] = pair(0, ATTACH_XDP);
        let program = owned(call(PROG_LOAD, &mut arguments)?);
        let mut arguments = [0u64; 6];
        arguments[0] = pair(program.as_fd().as_raw_fd() as u32, interface);
        arguments[1] = pair(ATTACH_XDP, mode as u32);
        call(LINK_CREATE, &mut arguments).map(|link| Redirect { _link: owned(link) })
    }
}
