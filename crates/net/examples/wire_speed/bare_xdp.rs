//! The yardstick of AF_XDP: the shortest loops over its rings, in the mode that the library uses on the same interface:
//! the program in the driver, frames copied unless the driver can do without, the kernel woken where it asks for it.
#![allow(unsafe_code, reason = "system calls and shared rings as a C program would use them")]

use crate::bare;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

const ENTRIES: u32 = 2048;
const FRAME: u64 = 2048;
/// `XDP_RING_NEED_WAKEUP`.
const NEED_WAKEUP: u32 = 1;

/// A ring that is shared with the kernel.
struct Ring {
    map: *mut u8,
    len: usize,
    at: libc::xdp_ring_offset,
}

impl Ring {
    /// # Safety
    /// A socket with this ring.
    unsafe fn new(fd: i32, at: libc::xdp_ring_offset, entry: usize, page: i64) -> Ring {
        let len = at.desc as usize + ENTRIES as usize * entry;
        // SAFETY: a new mapping.
        let map = unsafe {
            libc::mmap(core::ptr::null_mut(), len, 3, libc::MAP_SHARED | libc::MAP_POPULATE, fd, page)
        };
        assert_ne!(map, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
        Ring { map: map.cast(), len, at }
    }

    fn word(&self, at: u64) -> &AtomicU32 {
        // SAFETY: offsets of the kernel, inside of the mapping, which stays.
        unsafe { AtomicU32::from_ptr(self.map.add(at as usize).cast()) }
    }

    fn producer(&self) -> &AtomicU32 {
        self.word(self.at.producer)
    }

    fn consumer(&self) -> &AtomicU32 {
        self.word(self.at.consumer)
    }

    fn needs_wakeup(&self) -> bool {
        self.word(self.at.flags).load(Ordering::Relaxed) & NEED_WAKEUP != 0
    }

    fn entry<T>(&self, index: u32) -> *mut T {
        // SAFETY: inside of the mapping.
        unsafe { self.map.add(self.at.desc as usize).cast::<T>().add((index % ENTRIES) as usize) }
    }
}

/// A socket on the first queue of an interface.
pub(crate) struct Socket {
    fd: i32,
    frames: *mut u8,
    fill: Ring,
    done: Ring,
    receive: Ring,
    transmit: Ring,
}

// SAFETY: each direction is used by one thread.
unsafe impl Sync for Socket {}

impl Socket {
    pub(crate) fn open(name: &str) -> Socket {
        // SAFETY: structures that the kernel reads or fills, memory that stays mapped.
        unsafe {
            let fd = libc::socket(libc::AF_XDP, libc::SOCK_RAW, 0);
            let bytes = (2 * u64::from(ENTRIES) * FRAME) as usize;
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
            let frames = libc::mmap(core::ptr::null_mut(), bytes, 3, flags, -1, 0).cast::<u8>();
            let mut memory: libc::xdp_umem_reg = core::mem::zeroed();
            (memory.addr, memory.len, memory.chunk_size) = (frames as u64, bytes as u64, FRAME as u32);
            set(fd, libc::XDP_UMEM_REG, &memory);
            for ring in [
                libc::XDP_UMEM_FILL_RING,
                libc::XDP_UMEM_COMPLETION_RING,
                libc::XDP_RX_RING,
                libc::XDP_TX_RING,
            ] {
                set(fd, ring, &ENTRIES);
            }
            let mut at: libc::xdp_mmap_offsets = core::mem::zeroed();
            let mut len = size_of_val(&at) as u32;
            let (level, option) = (libc::SOL_XDP, libc::XDP_MMAP_OFFSETS);
            assert_eq!(libc::getsockopt(fd, level, option, (&raw mut at).cast(), &raw mut len), 0);
            let socket = Socket {
                fd,
                frames,
                fill: Ring::new(fd, at.fr, 8, libc::XDP_UMEM_PGOFF_FILL_RING as i64),
                done: Ring::new(fd, at.cr, 8, libc::XDP_UMEM_PGOFF_COMPLETION_RING as i64),
                receive: Ring::new(fd, at.rx, 16, libc::XDP_PGOFF_RX_RING),
                transmit: Ring::new(fd, at.tx, 16, libc::XDP_PGOFF_TX_RING),
            };
            (0..ENTRIES).for_each(|n| socket.fill.entry::<u64>(n).write(u64::from(n) * FRAME));
            socket.fill.producer().store(ENTRIES, Ordering::Release);
            let mut address: libc::sockaddr_xdp = core::mem::zeroed();
            address.sxdp_family = libc::AF_XDP as u16;
            address.sxdp_flags = libc::XDP_USE_NEED_WAKEUP;
            address.sxdp_ifindex = bare::index(name) as u32;
            // The kernel gives a queue back a moment after its last user has gone.
            for _ in 0..40 {
                if libc::bind(fd, (&raw const address).cast(), size_of_val(&address) as u32) == 0 {
                    return socket;
                }
                std::thread::sleep(std::time::Duration::from_millis(25));
            }
            panic!("{name}: {}", std::io::Error::last_os_error());
        }
    }

    pub(crate) fn fd(&self) -> i32 {
        self.fd
    }

    /// Counts frames that arrive.
    pub(crate) fn count(&self, stop: &AtomicBool, count: &AtomicU64) {
        let (mut seen, mut sum) = (0u32, 0u64);
        while !stop.load(Ordering::Relaxed) {
            let new = self.receive.producer().load(Ordering::Acquire).wrapping_sub(seen).min(64);
            if new == 0 {
                let mut wait = libc::pollfd { fd: self.fd, events: libc::POLLIN, revents: 0 };
                // SAFETY: one descriptor, on this stack frame.
                unsafe { libc::poll(&raw mut wait, 1, 5) };
                continue;
            }
            for _ in 0..new {
                // SAFETY: an entry that the kernel has filled, and the frame that it tells of; as many entries of the fill
                // ring are free as frames are here.
                unsafe {
                    let frame = self.receive.entry::<libc::xdp_desc>(seen).read();
                    sum += u64::from(self.frames.add(frame.addr as usize).read());
                    self.fill.entry::<u64>(seen).write(frame.addr & !(FRAME - 1));
                }
                seen = seen.wrapping_add(1);
            }
            self.receive.consumer().store(seen, Ordering::Release);
            self.fill.producer().store(seen.wrapping_add(ENTRIES), Ordering::Release);
            if self.fill.needs_wakeup() {
                // SAFETY: no bytes are received.
                unsafe { libc::recv(self.fd, core::ptr::null_mut(), 0, libc::MSG_DONTWAIT) };
            }
            count.fetch_add(new.into(), Ordering::Relaxed);
        }
        std::hint::black_box(sum);
    }

    /// Sends a frame again and again, 64 per call.
    pub(crate) fn send(&self, frame: &[u8], stop: &AtomicBool) {
        let place = |n: u32| u64::from(ENTRIES + n % ENTRIES) * FRAME;
        for n in 0..ENTRIES {
            // SAFETY: frames of the upper half, which are ours.
            unsafe {
                core::ptr::copy_nonoverlapping(
                    frame.as_ptr(),
                    self.frames.add(place(n) as usize),
                    frame.len(),
                );
            }
        }
        let (mut head, mut done) = (0u32, 0u32);
        while !stop.load(Ordering::Relaxed) {
            for _ in 0..64.min(ENTRIES - head.wrapping_sub(done)) {
                let entry = libc::xdp_desc { addr: place(head), len: frame.len() as u32, options: 0 };
                // SAFETY: an entry that is free.
                unsafe { self.transmit.entry::<libc::xdp_desc>(head).write(entry) };
                head = head.wrapping_add(1);
            }
            self.transmit.producer().store(head, Ordering::Release);
            if self.transmit.needs_wakeup() {
                // SAFETY: no bytes are sent.
                unsafe { libc::send(self.fd, core::ptr::null(), 0, libc::MSG_DONTWAIT) };
            }
            done = self.done.producer().load(Ordering::Acquire);
            self.done.consumer().store(done, Ordering::Release);
        }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The kernel keeps the queue for as long as a ring is mapped.
        for ring in [&self.fill, &self.done, &self.receive, &self.transmit] {
            // SAFETY: a mapping of ours.
            unsafe { libc::munmap(ring.map.cast(), ring.len) };
        }
        // SAFETY: as above.
        unsafe { libc::munmap(self.frames.cast(), (2 * u64::from(ENTRIES) * FRAME) as usize) };
        bare::close(self.fd);
    }
}

fn set<T>(fd: i32, option: i32, value: &T) {
    let place = core::ptr::from_ref(value).cast();
    // SAFETY: the kernel reads the value.
    let failed = unsafe { libc::setsockopt(fd, libc::SOL_XDP, option, place, size_of::<T>() as u32) };
    assert_eq!(failed, 0, "option {option}: {}", std::io::Error::last_os_error());
}

/// Hands the frames of an interface to a socket, until the descriptors that it returns are closed.
pub(crate) fn redirect(name: &str, socket: &Socket) -> [i32; 2] {
    let call = |command: i64, arguments: &[u64]| {
        // SAFETY: the kernel reads the arguments and what they point at, which lives until the end of the function.
        let result =
            unsafe { libc::syscall(libc::SYS_bpf, command, arguments.as_ptr(), size_of_val(arguments)) };
        assert!(result >= 0, "bpf {command}: {}", std::io::Error::last_os_error());
        result as i32
    };
    let pair = |low: u64, high: u64| low | high << 32;
    // A map of sockets with keys and values of four bytes, and one place.
    let map = call(0, &[pair(17, 4), pair(4, 1)]);
    let (key, value) = (0u32, socket.fd());
    call(2, &[map as u64, &raw const key as u64, &raw const value as u64, 0]);
    // redirect_map(map, queue of the frame, pass)
    let program = [0x0010_1261, 0x1118 | (map as u64) << 32, 0, 0x03b7 | 2 << 32, 0x85 | 51 << 32, 0x95u64];
    let licence = c"Dual MIT/GPL";
    let mut arguments = [0; 18];
    arguments[0] = pair(6, program.len() as u64);
    arguments[1] = program.as_ptr() as u64;
    arguments[2] = licence.as_ptr() as u64;
    arguments[8] = pair(0, 37);
    let program = call(5, &arguments);
    let link = call(28, &[pair(program as u64, bare::index(name) as u64), pair(37, 4), 0, 0, 0, 0]);
    bare::close(program);
    [map, link]
}
