//! The yardsticks: the shortest loops there are over packet sockets and TAP interfaces, without this library.
#![allow(unsafe_code, reason = "system calls as a C program would make them")]

use std::ffi::CString;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

const BLOCK: usize = 1 << 18;
const BLOCKS: usize = 32;

/// The kernel's number of an interface.
pub(crate) fn index(name: &str) -> i32 {
    let name = CString::new(name).expect("no zero in a name");
    // SAFETY: a text that ends with a zero.
    unsafe { libc::if_nametoindex(name.as_ptr()) as i32 }
}

fn set<T>(fd: i32, option: i32, value: &T) {
    // SAFETY: the kernel reads the value.
    let failed = unsafe {
        libc::setsockopt(
            fd,
            libc::SOL_PACKET,
            option,
            core::ptr::from_ref(value).cast(),
            size_of::<T>() as u32,
        )
    };
    assert_eq!(failed, 0, "option {option}: {}", std::io::Error::last_os_error());
}

fn bind(fd: i32, name: &str, protocol: i32) {
    // SAFETY: a plain structure, filled here and read by the kernel.
    unsafe {
        let mut address: libc::sockaddr_ll = core::mem::zeroed();
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (protocol as u16).to_be();
        address.sll_ifindex = index(name);
        let bound = libc::bind(fd, (&raw const address).cast(), size_of::<libc::sockaddr_ll>() as u32);
        assert_eq!(bound, 0, "{}", std::io::Error::last_os_error());
    }
}

/// Counts frames that arrive at an interface, in a ring of version 3.
pub(crate) fn count_ring(name: &str, stop: &AtomicBool, count: &AtomicU64) {
    // SAFETY: a socket and its ring, which lives until the end of the function; words are read as the kernel lays them out.
    unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        set(fd, libc::PACKET_VERSION, &2i32);
        let ring = [BLOCK as u32, BLOCKS as u32, 2048, (BLOCK / 2048 * BLOCKS) as u32, 2, 0, 0];
        set(fd, libc::PACKET_RX_RING, &ring);
        let map = libc::mmap(core::ptr::null_mut(), BLOCK * BLOCKS, 3, libc::MAP_SHARED, fd, 0).cast::<u8>();
        bind(fd, name, libc::ETH_P_ALL);
        let (mut block, mut sum) = (0, 0u64);
        while !stop.load(Ordering::Relaxed) {
            let base = map.add(block * BLOCK);
            let status = &*base.add(8).cast::<AtomicU32>();
            if status.load(Ordering::Acquire) & 1 == 0 {
                let mut wait = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
                libc::poll(&raw mut wait, 1, 5);
                continue;
            }
            let frames = base.add(12).cast::<u32>().read();
            let mut at = base.add(base.add(16).cast::<u32>().read() as usize);
            for _ in 0..frames {
                sum += u64::from(at.add(at.add(24).cast::<u16>().read().into()).read());
                at = at.add(at.cast::<u32>().read() as usize);
            }
            count.fetch_add(frames.into(), Ordering::Relaxed);
            status.store(0, Ordering::Release);
            block = (block + 1) % BLOCKS;
        }
        std::hint::black_box(sum);
        libc::munmap(map.cast(), BLOCK * BLOCKS);
        libc::close(fd);
    }
}

/// Sends a frame through an interface, 64 per call.
pub(crate) fn send_many(name: &str, frame: &[u8], stop: &AtomicBool) {
    // SAFETY: messages point at a piece, the piece at the frame; all live until the end of the function.
    unsafe {
        let fd = libc::socket(libc::AF_PACKET, libc::SOCK_RAW, 0);
        set(fd, 20, &1i32);
        bind(fd, name, 0);
        let mut piece = libc::iovec { iov_base: frame.as_ptr().cast_mut().cast(), iov_len: frame.len() };
        let mut messages: [libc::mmsghdr; 64] = core::mem::zeroed();
        for message in &mut messages {
            message.msg_hdr.msg_iov = &raw mut piece;
            message.msg_hdr.msg_iovlen = 1;
        }
        while !stop.load(Ordering::Relaxed) {
            libc::sendmmsg(fd, messages.as_mut_ptr(), 64, 0);
        }
        libc::close(fd);
    }
}

/// A TAP interface.
pub(crate) fn open_tap(name: &str) -> i32 {
    // SAFETY: a plain structure, filled here and read by the kernel.
    unsafe {
        let fd = libc::open(c"/dev/net/tun".as_ptr(), libc::O_RDWR | libc::O_NONBLOCK);
        let mut request: libc::ifreq = core::mem::zeroed();
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as i16;
        assert!(
            libc::ioctl(fd, libc::TUNSETIFF, &raw mut request) >= 0,
            "{}",
            std::io::Error::last_os_error()
        );
        fd
    }
}

/// Writes frames into a TAP interface.
pub(crate) fn write_tap(tap: i32, frame: &[u8], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        // SAFETY: the frame is readable.
        unsafe { libc::write(tap, frame.as_ptr().cast(), frame.len()) };
    }
}

/// Counts frames that come out of a TAP interface.
pub(crate) fn count_tap(tap: i32, stop: &AtomicBool, count: &AtomicU64) {
    let mut place = [0u8; 2048];
    while !stop.load(Ordering::Relaxed) {
        // SAFETY: the place is writable; the descriptor of the poll lives on this stack frame.
        unsafe {
            if libc::read(tap, place.as_mut_ptr().cast(), place.len()) > 0 {
                count.fetch_add(1, Ordering::Relaxed);
            } else {
                let mut wait = libc::pollfd { fd: tap, events: libc::POLLIN, revents: 0 };
                libc::poll(&raw mut wait, 1, 5);
            }
        }
    }
}

/// Closes a TAP interface.
pub(crate) fn close(fd: i32) {
    // SAFETY: a descriptor of ours.
    unsafe { libc::close(fd) };
}
