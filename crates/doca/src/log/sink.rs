//! Where lines go. Each sink delivers one line as one piece, whatever the number of threads.
#![expect(unsafe_code, reason = "C streams, file descriptors and buffers that belong to the program")]

use super::level::Level;
use super::record::{Line, broken_down};
use std::cell::Cell;
use std::ffi::{c_char, c_int};
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// `log_flush_callback`.
pub type FlushCallback = unsafe extern "C" fn(buf: *mut c_char);

unsafe extern "C" {
    /// In `shim.c`: 1 is the process's stdout, anything else its stderr.
    fn softdpu_stream(number: c_int) -> *mut libc::FILE;
}

/// Where the lines of one backend go.
#[derive(Debug)]
pub(crate) enum Sink {
    /// The process's stdout (1) or stderr (2), through stdio so that the order with `printf` is kept.
    Standard(c_int),
    /// A stream of the program.
    Stream(Stream),
    /// A file descriptor of the program; the lock keeps partial writes together.
    Fd(Mutex<c_int>),
    /// A buffer of the program and its callback.
    Buffer(Mutex<Buffer>),
    /// The system's log daemon.
    Syslog(Syslog),
}

/// A `FILE *` of the program.
#[derive(Debug)]
pub(crate) struct Stream(*mut libc::FILE);

// SAFETY: stdio streams lock themselves; the program keeps the stream open (contract of the backend).
unsafe impl Send for Stream {}
// SAFETY: as above.
unsafe impl Sync for Stream {}

/// A buffer and its callback, as handed in.
#[derive(Debug)]
pub(crate) struct Buffer {
    start: *mut c_char,
    capacity: usize,
    flush: FlushCallback,
}

// SAFETY: the program lends the buffer to the backend for good; the mutex around it orders the threads.
unsafe impl Send for Buffer {}

thread_local! {
    /// Set while a flush callback runs on this thread.
    static FLUSHING: Cell<bool> = const { Cell::new(false) };
}

impl Stream {
    /// # Safety
    /// `stream` is an open stream that stays open for the rest of the process.
    pub(crate) unsafe fn new(stream: *mut libc::FILE) -> Self {
        Self(stream)
    }
}

impl Buffer {
    /// # Safety
    /// `start` has room for `capacity` bytes, which belong to the backend for the rest of the process;
    /// `flush` may be called from any thread with `start`.
    pub(crate) unsafe fn new(start: *mut c_char, capacity: usize, flush: FlushCallback) -> Self {
        Self { start, capacity, flush }
    }
}

impl Sink {
    /// Delivers one line. What cannot be delivered is dropped: there is nobody to tell.
    pub(crate) fn write(&self, line: &Line) {
        match self {
            Self::Standard(number) => {
                // SAFETY: no arguments but a number.
                put(unsafe { softdpu_stream(*number) }, line.bytes());
            }
            Self::Stream(stream) => put(stream.0, line.bytes()),
            Self::Fd(fd) => {
                let fd = fd.lock().unwrap_or_else(PoisonError::into_inner);
                // SAFETY: the program keeps the descriptor open (contract of the backend).
                put_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, line.bytes());
            }
            Self::Buffer(buffer) => put_buffer(buffer, line.bytes()),
            Self::Syslog(syslog) => syslog.put(line),
        }
    }

    /// Whether lines land on the process's stderr.
    pub(crate) fn is_stderr(&self) -> bool {
        match self {
            Self::Standard(number) => *number == 2,
            // SAFETY: no arguments but a number.
            Self::Stream(stream) => stream.0 == unsafe { softdpu_stream(2) },
            Self::Fd(fd) => *fd.lock().unwrap_or_else(PoisonError::into_inner) == 2,
            Self::Buffer(_) | Self::Syslog(_) => false,
        }
    }
}

fn put(stream: *mut libc::FILE, bytes: &[u8]) {
    // SAFETY: an open stream (standard, or by the contract of the backend) and a live slice. One `fwrite`
    // holds the stream's lock throughout, so lines of several threads do not mix.
    unsafe {
        libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), stream);
        libc::fflush(stream);
    }
}

fn put_fd(fd: BorrowedFd<'_>, mut bytes: &[u8]) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    // A full non-blocking descriptor is waited for a while; a reader that is gone costs the record.
    let patience = Timespec { tv_sec: 1, tv_nsec: 0 };
    while !bytes.is_empty() {
        match rustix::io::write(fd, bytes) {
            Ok(0) => return,
            Ok(done) => bytes = &bytes[done..],
            Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::AGAIN) => {
                match poll(&mut [PollFd::new(&fd, PollFlags::OUT)], Some(&patience)) {
                    Ok(0) => return,
                    Ok(_) | Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                }
            }
            Err(_) => return,
        }
    }
}

fn put_buffer(buffer: &Mutex<Buffer>, bytes: &[u8]) {
    // A callback that logs would come back here for ever (and meet the lock): its records skip buffers.
    if FLUSHING.replace(true) {
        return;
    }
    {
        let buffer = buffer.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes.len() < buffer.capacity {
            // SAFETY: the program lent `capacity` bytes at `start`; line and terminator fit; the lock
            // keeps other threads away until the callback has returned.
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), buffer.start, bytes.len());
                buffer.start.add(bytes.len()).write(0);
                (buffer.flush)(buffer.start);
            }
        }
    }
    FLUSHING.set(false);
}

/// The system's log daemon, spoken to directly: `openlog` would take the identity of the whole process.
#[derive(Debug)]
pub(crate) struct Syslog {
    identity: Box<[u8]>,
    path: PathBuf,
    socket: Mutex<Option<UnixDatagram>>,
}

impl Syslog {
    /// Lines will carry `identity`; the daemon is looked for when the first one comes.
    pub(crate) fn new(identity: Box<[u8]>, path: PathBuf) -> Self {
        Self { identity, path, socket: Mutex::new(None) }
    }

    fn put(&self, line: &Line) {
        const FACILITY_USER: u32 = 1 << 3;
        let severity = match line.level {
            Level::Disable | Level::Critical => 2,
            Level::Error => 3,
            Level::Warning => 4,
            Level::Info => 6,
            Level::Debug | Level::Trace => 7,
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let tm = broken_down(now.as_secs());
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let month = usize::try_from(tm.tm_mon).ok().and_then(|m| MONTHS.get(m)).unwrap_or(&"Jan");
        let mut packet = format!(
            "<{}>{month} {:2} {:02}:{:02}:{:02} ",
            FACILITY_USER | severity,
            tm.tm_mday,
            tm.tm_hour,
            tm.tm_min,
            tm.tm_sec
        )
        .into_bytes();
        packet.extend_from_slice(&self.identity);
        packet.extend_from_slice(format!("[{}]: ", std::process::id()).as_bytes());
        packet.extend_from_slice(line.untimed());

        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        // Twice: the daemon may have been started or restarted since the last record.
        for _ in 0..2 {
            if socket.is_none() {
                *socket = UnixDatagram::unbound().ok().filter(|new| new.connect(&self.path).is_ok());
            }
            match socket.as_ref().map(|socket| socket.send(&packet)) {
                Some(Ok(_)) | None => return,
                Some(Err(_)) => *socket = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::record::Record;
    use std::io::Read;
    use std::os::fd::AsRawFd;

    fn line(text: &str) -> Line {
        let record =
            Record { level: Level::Warning, file: b"f.c", line: 1, function: None, text: text.as_bytes() };
        record.lay_out().expect("memory")
    }

    #[test]
    fn a_descriptor_gets_whole_lines_even_when_it_is_full() {
        let (reader, writer) = std::io::pipe().expect("pipe");
        rustix::io::ioctl_fionbio(&writer, true).expect("non-blocking");
        let sink = Sink::Fd(Mutex::new(writer.as_raw_fd()));
        let text = "y".repeat(300_000);
        let expected = line(&text).bytes().len();
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            let mut reader = reader;
            reader.read_to_end(&mut all).map(|_| all)
        });
        sink.write(&line(&text));
        drop(writer);
        let all = reading.join().expect("reader").expect("read");
        assert_eq!(all.len(), expected);
        assert!(all.ends_with(b"yy\n"));
    }

    #[test]
    fn the_daemon_gets_identity_and_severity_and_may_restart() {
        let path = std::env::temp_dir().join(format!("softdpu-syslog-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let syslog = Syslog::new((*b"ident").into(), path.clone());
        syslog.put(&line("nobody there"));
        for round in 0..2 {
            let daemon = UnixDatagram::bind(&path).expect("bind");
            syslog.put(&line("hello"));
            let mut packet = [0u8; 512];
            let len = daemon.recv(&mut packet).expect("packet");
            let text = std::str::from_utf8(&packet[..len]).expect("UTF-8");
            assert!(text.starts_with("<12>"), "round {round}: {text}");
            assert!(text.contains(&format!(" ident[{}]: [", std::process::id())), "{text}");
            assert!(text.ends_with("[DOCA][WRN][f.c:1] hello"), "{text}");
            drop(daemon);
            std::fs::remove_file(&path).expect("remove");
        }
    }
}
