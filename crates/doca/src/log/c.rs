//! Entry points of `doca_log.h`: sources, emission, backends and their limits. Any thread may call them.
#![expect(unsafe_code, reason = "C entry points")]

use super::backend::{self, Backend, Limit, MAX_BACKENDS};
use super::level::Level;
use super::record::Record;
pub use super::sink::FlushCallback;
use super::sink::{Buffer, Sink, Stream, Syslog};
use super::{sdk, softdpu_log_init, source};
use crate::entry::{SUCCESS, guard, out, text};
use softdpu_status::{Code, Error, Result};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::Mutex;

/// Handle of a backend; opaque to C.
pub type BackendHandle = *mut c_void;

/// Answer of [`softdpu_log_wants`]: somebody listens, format the record.
const WANTED: c_int = -1;

fn invalid(what: &'static str) -> Error {
    log::error!(target: "softdpu::log", "{what}");
    Error::new(Code::InvalidValue, what)
}

/// Gives an identifier for a source name.
///
/// # Safety
/// `source_name` is NULL or a C string; `source` is NULL or good for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_log_register_source(source_name: *const c_char, source: *mut c_int) -> c_int {
    guard(|| {
        // SAFETY: passed on from the caller.
        let (name, source) = unsafe { (text(source_name, "source name")?, out(source, "source")?) };
        source.set(source::register(name.to_bytes())?);
        Ok(())
    })
}

/// Kept for old programs: sources live as long as the process.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_unregister_source(_source: c_int) -> c_int {
    SUCCESS
}

/// Asked by `doca_log` (in `shim.c`) before it formats: `WANTED`, or the status to return at once.
#[unsafe(no_mangle)]
pub extern "C" fn softdpu_log_wants(level: u32, source: c_int) -> c_int {
    match Level::from_number(level) {
        None | Some(Level::Disable) => Code::InvalidValue.number(),
        Some(_) if !source::is_source(source) => Code::InvalidValue.number(),
        Some(level) if !backend::application_listens(level) => SUCCESS,
        Some(level) if source::admits(source, level) == Some(true) => WANTED,
        Some(_) => SUCCESS,
    }
}

/// Takes the formatted record from `doca_log`.
///
/// # Safety
/// `file` and `func` are NULL or C strings; `text` has `len` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softdpu_log_deliver(
    level: u32,
    _source: c_int,
    file: *const c_char,
    line: c_int,
    func: *const c_char,
    text: *const c_char,
    len: usize,
) -> c_int {
    // SAFETY: NULL, or a C string by the caller's word.
    let name = |name: *const c_char| if name.is_null() { c"?" } else { unsafe { CStr::from_ptr(name) } };
    guard(|| {
        let record = Record {
            level: backend::level(level)?,
            file: name(file).to_bytes(),
            line: u32::try_from(line).unwrap_or(0),
            function: Some(name(func).to_bytes()),
            // SAFETY: `len` readable bytes by the caller's word.
            text: unsafe { std::slice::from_raw_parts(text.cast(), len) },
        };
        backend::deliver_application(&record.lay_out()?);
        Ok(())
    })
}

/// Number of application backends that may exist.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_get_max_num_backends() -> u32 {
    MAX_BACKENDS as u32
}

/// Number of SDK backends that may exist.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_get_max_num_backends_sdk() -> u32 {
    MAX_BACKENDS as u32
}

/// Which of the two kinds a creation call makes.
#[derive(Clone, Copy)]
enum Side {
    Application,
    Sdk,
}

/// Shared end of the creation calls: checks the output, makes the sink, adds the backend.
///
/// # Safety
/// `backend` is NULL or good for a write.
unsafe fn create(side: Side, backend: *mut BackendHandle, sink: impl FnOnce() -> Result<Sink>) -> c_int {
    guard(|| {
        softdpu_log_init();
        // SAFETY: passed on from the caller.
        let backend =
            unsafe { out(backend, "backend") }.map_err(|_| invalid("log backend: the output is NULL"))?;
        let sink = sink()?;
        let handle = match side {
            Side::Application => backend::add_application(sink)?,
            Side::Sdk => backend::add_sdk(Backend::sdk(sink))?,
        };
        backend.set(std::ptr::with_exposed_provenance_mut(handle));
        if matches!(side, Side::Sdk) {
            sdk::greet(handle);
        }
        Ok(())
    })
}

/// # Safety
/// `stream` is NULL or an open stream that stays open.
unsafe fn stream_sink(stream: *mut libc::FILE) -> Result<Sink> {
    if stream.is_null() {
        return Err(invalid("log backend: the stream is NULL"));
    }
    // SAFETY: passed on from the caller.
    Ok(Sink::Stream(unsafe { Stream::new(stream) }))
}

fn fd_sink(fd: c_int) -> Result<Sink> {
    if fd < 0 {
        return Err(invalid("log backend: the file descriptor is negative"));
    }
    // SAFETY: a system call that only looks; a number that is no descriptor gives an error.
    let flags = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if flags < 0 || flags & libc::O_ACCMODE == libc::O_RDONLY {
        return Err(invalid("log backend: the file descriptor is not open for writing"));
    }
    Ok(Sink::Fd(Mutex::new(fd)))
}

/// # Safety
/// As for [`doca_log_backend_create_with_buf`].
unsafe fn buffer_sink(buf: *mut c_char, capacity: usize, handler: Option<FlushCallback>) -> Result<Sink> {
    match handler {
        _ if buf.is_null() => Err(invalid("log backend: the buffer is NULL")),
        _ if capacity == 0 => Err(invalid("log backend: the buffer has no capacity")),
        None => Err(invalid("log backend: the buffer has no handler")),
        // SAFETY: passed on from the caller.
        Some(handler) => Ok(Sink::Buffer(Mutex::new(unsafe { Buffer::new(buf, capacity, handler) }))),
    }
}

/// # Safety
/// `name` is NULL or a C string.
unsafe fn syslog_sink(name: *const c_char) -> Result<Sink> {
    // SAFETY: passed on from the caller.
    let name = unsafe { text(name, "name") }.map_err(|_| invalid("log backend: the syslog name is NULL"))?;
    Ok(Sink::Syslog(Syslog::new(name.to_bytes().into(), PathBuf::from("/dev/log"))))
}

/// The two forms, application and SDK, of one creation call.
macro_rules! creation {
    ($(#[$doc:meta])* $application:ident, $sdk:ident, ($($arg:ident: $type:ty),*), $sink:expr) => {
        $(#[$doc])*
        /// For records of the program.
        ///
        /// # Safety
        /// What is handed in must stay valid for the rest of the process; `backend` is NULL or good for a
        /// write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $application($($arg: $type,)* backend: *mut BackendHandle) -> c_int {
            // SAFETY: passed on from the caller.
            unsafe { create(Side::Application, backend, || $sink) }
        }

        $(#[$doc])*
        /// For records of the library.
        ///
        /// # Safety
        /// What is handed in must stay valid for the rest of the process; `backend` is NULL or good for a
        /// write.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $sdk($($arg: $type,)* backend: *mut BackendHandle) -> c_int {
            // SAFETY: passed on from the caller.
            unsafe { create(Side::Sdk, backend, || $sink) }
        }
    };
}

creation!(
    /// Adds a backend that writes to a stream.
    doca_log_backend_create_with_file, doca_log_backend_create_with_file_sdk,
    (fptr: *mut libc::FILE), stream_sink(fptr)
);
creation!(
    /// Adds a backend that writes to a file descriptor.
    doca_log_backend_create_with_fd, doca_log_backend_create_with_fd_sdk,
    (fd: c_int), fd_sink(fd)
);
creation!(
    /// Adds a backend that fills a buffer and calls a handler, record by record.
    doca_log_backend_create_with_buf, doca_log_backend_create_with_buf_sdk,
    (buf: *mut c_char, capacity: usize, handler: Option<FlushCallback>), buffer_sink(buf, capacity, handler)
);
creation!(
    /// Adds a backend that sends to the system's log daemon under the given identity.
    doca_log_backend_create_with_syslog, doca_log_backend_create_with_syslog_sdk,
    (name: *const c_char), syslog_sink(name)
);

/// Adds the standard pair: stdout for INFO and more verbose, stderr for WARNING and more severe.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_create_standard() -> c_int {
    guard(|| {
        softdpu_log_init();
        backend::add_standard()
    })
}

fn known(number: u32) -> Result<Level> {
    backend::level(number).inspect_err(|_| {
        log::error!(target: "softdpu::log", "{number} is not a log level: allowed are 10, 20 ... 70");
    })
}

/// Most verbose level an application backend shows.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_set_level_lower_limit(backend: BackendHandle, level: u32) -> c_int {
    guard(|| backend::set_limit(backend.addr(), Limit::Lower, known(level)?))
}

/// Most severe level an application backend shows.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_set_level_upper_limit(backend: BackendHandle, upper_limit: u32) -> c_int {
    guard(|| backend::set_limit(backend.addr(), Limit::Upper, known(upper_limit)?))
}

/// Pins the present lower limit: nothing widens it later.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_set_level_lower_limit_strict(backend: BackendHandle) -> c_int {
    guard(|| backend::set_strict(backend.addr(), Limit::Lower))
}

/// Pins the present upper limit: nothing widens it later.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_set_level_upper_limit_strict(backend: BackendHandle) -> c_int {
    guard(|| backend::set_strict(backend.addr(), Limit::Upper))
}

/// Most verbose level an SDK backend shows.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_backend_set_sdk_level(backend: BackendHandle, level: u32) -> c_int {
    guard(|| backend::set_sdk_level(backend.addr(), known(level)?))
}

/// Lower limit of all application backends and of those to come.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_set_global_lower_limit(level: u32) -> c_int {
    guard(|| known(level).map(backend::set_app_lower))
}

/// Upper limit of all application backends and of those to come.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_set_global_upper_limit(upper_limit: u32) -> c_int {
    guard(|| known(upper_limit).map(backend::set_app_upper))
}

/// Level of all SDK backends and of those to come.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_set_global_sdk_limit(level: u32) -> c_int {
    guard(|| known(level).map(backend::set_sdk_limit))
}

/// The global lower limit.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_get_global_lower_limit() -> u32 {
    backend::app_limits().0
}

/// The global upper limit.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_get_global_upper_limit() -> u32 {
    backend::app_limits().1
}

/// The global SDK limit.
#[unsafe(no_mangle)]
pub extern "C" fn doca_log_level_get_global_sdk_limit() -> u32 {
    backend::sdk_limit()
}
