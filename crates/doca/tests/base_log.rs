//! Logging in one process: backends, limits, sources, loggers, the library's own records. The state is that of
//! the process, so the tests take turns.
#![expect(unsafe_code, reason = "calls C entry points")]

mod base_common;

use base_common::watchdog;
use softdpu_c::log::*;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SUCCESS: c_int = 0;
const NOT_PERMITTED: c_int = 2;
const INVALID_VALUE: c_int = 6;
const NOT_FOUND: c_int = 16;

unsafe extern "C" {
    fn doca_log(
        level: u32,
        source: c_int,
        file: *const c_char,
        line: c_int,
        func: *const c_char,
        format: *const c_char,
        ...
    ) -> c_int;
}

/// Takes the turn and begins with the limits a process begins with.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    watchdog();
    let guard = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(doca_log_level_set_global_lower_limit(50), SUCCESS);
    assert_eq!(doca_log_level_set_global_upper_limit(20), SUCCESS);
    assert_eq!(doca_log_level_set_global_sdk_limit(50), SUCCESS);
    seen();
    guard
}

/// Silences a backend for the rest of the process.
fn shut(backend: BackendHandle) {
    assert_eq!(doca_log_backend_set_level_lower_limit(backend, 10), SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit_strict(backend), SUCCESS);
}

fn source(name: &str) -> c_int {
    let name = CString::new(name).expect("name");
    let mut id = -1;
    // SAFETY: a C string and a live output.
    assert_eq!(unsafe { doca_log_register_source(name.as_ptr(), &raw mut id) }, SUCCESS);
    id
}

fn say(level: u32, source: c_int, text: &str) -> c_int {
    let text = CString::new(text).expect("text");
    // SAFETY: C strings; the format has one value.
    unsafe {
        doca_log(level, source, c"/x/file.c".as_ptr(), 7, c"func".as_ptr(), c"%s".as_ptr(), text.as_ptr())
    }
}

/// What buffer handlers have seen.
static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

unsafe extern "C" fn collect(buffer: *mut c_char) {
    // SAFETY: the backend hands over a terminated record.
    let text = unsafe { CStr::from_ptr(buffer) }.to_string_lossy().into_owned();
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).push(text);
}

fn seen() -> Vec<String> {
    let all = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    all.iter().map(|record| record.rsplit("] ").next().unwrap_or_default().trim_end().to_owned()).collect()
}

/// One application and one SDK backend for the whole process: backends are never destroyed.
fn backend(sdk: bool) -> BackendHandle {
    static HANDLES: Mutex<[usize; 2]> = Mutex::new([0; 2]);
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    let handle = &mut handles[usize::from(sdk)];
    if *handle == 0 {
        let buffer = Box::leak(vec![0u8; 256].into_boxed_slice());
        let create =
            if sdk { doca_log_backend_create_with_buf_sdk } else { doca_log_backend_create_with_buf };
        let mut made = null_mut();
        // SAFETY: the buffer and the handler live as long as the process.
        let status =
            unsafe { create(buffer.as_mut_ptr().cast(), buffer.len(), Some(collect), &raw mut made) };
        assert_eq!(status, SUCCESS);
        if sdk {
            assert!(seen()[0].starts_with("DOCA version 3.3.0000"), "an SDK backend opens with a greeting");
        }
        *handle = made.expose_provenance();
    }
    std::ptr::with_exposed_provenance_mut(*handle)
}

#[test]
fn records_pass_between_the_limits() {
    let _turn = turn();
    let (one, id) = (backend(false), source("BASE::LIMITS"));
    let passing = || {
        for level in [20, 30, 40, 50, 60, 70] {
            assert_eq!(say(level, id, &level.to_string()), SUCCESS);
        }
        seen()
    };
    assert_eq!(passing(), ["20", "30", "40", "50"]);
    assert_eq!(doca_log_backend_set_level_lower_limit(one, 70), SUCCESS);
    assert_eq!(doca_log_backend_set_level_upper_limit(one, 40), SUCCESS);
    assert_eq!(passing(), ["40", "50", "60", "70"]);
    assert_eq!(doca_log_level_set_global_lower_limit(60), SUCCESS);
    assert_eq!(doca_log_level_get_global_lower_limit(), 60);
    assert_eq!(passing(), ["40", "50", "60"]);
    assert_eq!(doca_log_level_set_global_upper_limit(60), SUCCESS);
    assert_eq!(doca_log_level_get_global_upper_limit(), 60);
    assert_eq!(passing(), ["60"]);
    assert_eq!(doca_log_level_set_global_lower_limit(10), SUCCESS);
    assert_eq!(passing(), Vec::<String>::new());
    for bad in [0, 15, 80, u32::MAX] {
        assert_eq!(doca_log_level_set_global_lower_limit(bad), INVALID_VALUE);
        assert_eq!(doca_log_level_set_global_upper_limit(bad), INVALID_VALUE);
        assert_eq!(doca_log_backend_set_level_lower_limit(one, bad), INVALID_VALUE);
        assert_eq!(say(bad, id, "x"), INVALID_VALUE);
    }
    assert_eq!(say(10, id, "x"), INVALID_VALUE, "no record has the level DISABLE");
    assert_eq!(say(30, 1 << 20, "x"), INVALID_VALUE);
    assert_eq!(say(30, -1, "x"), INVALID_VALUE);
}

#[test]
fn strict_limits_cannot_be_widened() {
    let _turn = turn();
    let buffer = Box::leak(vec![0u8; 256].into_boxed_slice());
    let mut strict = null_mut();
    // SAFETY: the buffer and the handler live as long as the process.
    let status = unsafe {
        doca_log_backend_create_with_buf(
            buffer.as_mut_ptr().cast(),
            buffer.len(),
            Some(collect),
            &raw mut strict,
        )
    };
    assert_eq!(status, SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit(strict, 30), SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit_strict(strict), SUCCESS);
    assert_eq!(doca_log_backend_set_level_upper_limit(strict, 30), SUCCESS);
    assert_eq!(doca_log_backend_set_level_upper_limit_strict(strict), SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit(strict, 40), NOT_PERMITTED);
    assert_eq!(doca_log_backend_set_level_upper_limit(strict, 20), NOT_PERMITTED);
    // The other backend follows the global limits and is shut here; this one stays where it is pinned.
    let id = source("BASE::STRICT");
    assert_eq!(doca_log_backend_set_level_lower_limit(backend(false), 10), SUCCESS);
    assert_eq!(doca_log_level_set_global_lower_limit(70), SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit(backend(false), 10), SUCCESS);
    assert_eq!(doca_log_level_set_global_upper_limit(20), SUCCESS);
    seen();
    for level in [20, 30, 40, 70] {
        say(level, id, &level.to_string());
    }
    assert_eq!(seen(), ["30"]);
    // Narrowing is free.
    shut(strict);
    for call in [doca_log_backend_set_level_lower_limit_strict, doca_log_backend_set_level_upper_limit_strict]
    {
        assert_eq!(call(null_mut()), INVALID_VALUE);
        assert_eq!(call(buffer.as_mut_ptr().cast()), INVALID_VALUE);
    }
}

#[test]
fn a_buffer_takes_what_fits_and_its_handler_may_log() {
    static INNER: Mutex<Option<c_int>> = Mutex::new(None);
    unsafe extern "C" fn logs(buffer: *mut c_char) {
        // SAFETY: passed on.
        unsafe { collect(buffer) };
        let id = source("BASE::INNER");
        *INNER.lock().unwrap_or_else(PoisonError::into_inner) = Some(say(20, id, "inner"));
    }
    let _turn = turn();
    let buffer = Box::leak(vec![0u8; 128].into_boxed_slice());
    let mut one = null_mut();
    // SAFETY: the buffer and the handler live as long as the process.
    let create = |capacity, out| unsafe {
        doca_log_backend_create_with_buf(buffer.as_ptr().cast_mut().cast(), capacity, Some(logs), out)
    };
    assert_eq!(create(0, &raw mut one), INVALID_VALUE);
    assert_eq!(create(128, null_mut()), INVALID_VALUE);
    assert_eq!(create(128, &raw mut one), SUCCESS);
    assert_eq!(doca_log_backend_set_level_lower_limit(backend(false), 10), SUCCESS);
    let id = source("BASE::BUF");
    seen();
    say(30, id, "fits");
    assert_eq!(seen(), ["fits"]);
    assert_eq!(INNER.lock().unwrap_or_else(PoisonError::into_inner).take(), Some(SUCCESS));
    say(30, id, &"z".repeat(128));
    assert_eq!(seen(), Vec::<String>::new());
    say(30, id, "again");
    assert_eq!(seen(), ["again"]);
    shut(one);
}

#[test]
fn records_of_many_threads_stay_whole() {
    const THREADS: usize = 8;
    const RECORDS: usize = 400;
    let _turn = turn();
    let file = std::env::temp_dir().join(format!("softdpu-base-log-{}", std::process::id()));
    let path = CString::new(file.to_str().expect("path")).expect("path");
    // SAFETY: C strings.
    let stream = unsafe { libc::fopen(path.as_ptr(), c"w".as_ptr()) };
    let (mut reader, writer) = std::io::pipe().expect("pipe");
    let (mut by_fd, mut by_stream) = (null_mut(), null_mut());
    // SAFETY: both stay open while records come; afterwards the backends are shut.
    unsafe {
        assert_eq!(doca_log_backend_create_with_fd(writer.as_raw_fd(), &raw mut by_fd), SUCCESS);
        assert_eq!(doca_log_backend_create_with_file(stream, &raw mut by_stream), SUCCESS);
    }
    assert_eq!(doca_log_backend_set_level_lower_limit(backend(false), 10), SUCCESS);
    let reading = std::thread::spawn(move || {
        let mut all = String::new();
        reader.read_to_string(&mut all).map(|_| all)
    });
    let id = source("BASE::THREADS");
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                for record in 0..RECORDS {
                    // Longer than the room that is formatted in place, now and then.
                    let tail = "t".repeat(if record.is_multiple_of(50) { 3000 } else { 10 });
                    assert_eq!(say(30, id, &format!("{thread}:{record}:{tail}")), SUCCESS);
                }
            });
        }
    });
    shut(by_fd);
    shut(by_stream);
    drop(writer);
    let texts =
        [reading.join().expect("reader").expect("text"), std::fs::read_to_string(&file).expect("file")];
    std::fs::remove_file(&file).expect("file");
    for text in texts {
        let mut next = [0; THREADS];
        for line in text.lines() {
            let (head, body) = line.split_once("] ").expect("record");
            assert!(head.ends_with("][DOCA][ERR][file.c:7][func"), "{line}");
            let mut parts = body.split(':');
            let thread: usize = parts.next().and_then(|part| part.parse().ok()).expect("thread");
            let record: usize = parts.next().and_then(|part| part.parse().ok()).expect("record");
            assert_eq!(next[thread], record, "order of one thread");
            next[thread] += 1;
            let tail = parts.next().expect("tail");
            assert_eq!(tail.len(), if record.is_multiple_of(50) { 3000 } else { 10 });
        }
        assert_eq!(next, [RECORDS; THREADS]);
    }
}

#[test]
fn the_library_logs_to_sdk_backends_only() {
    let _turn = turn();
    let (app, sdk) = (backend(false), backend(true));
    seen();
    assert_eq!(log::max_level(), log::LevelFilter::Info);
    let all = || {
        log::error!(target: "softdpu::test", "e{}", 1);
        log::warn!(target: "softdpu::test", "w");
        log::info!(target: "softdpu::test", "i");
        log::debug!(target: "softdpu::test", "d");
        log::trace!(target: "softdpu::test", "t");
        seen()
    };
    assert_eq!(all(), ["e1", "w", "i"]);
    assert_eq!(doca_log_backend_set_sdk_level(sdk, 40), SUCCESS);
    assert_eq!(all(), ["e1", "w"]);
    assert_eq!(log::max_level(), log::LevelFilter::Warn);
    assert_eq!(doca_log_level_set_global_sdk_limit(70), SUCCESS);
    assert_eq!(doca_log_level_get_global_sdk_limit(), 70);
    assert_eq!(all(), ["e1", "w", "i", "d", "t"]);
    assert_eq!(doca_log_level_set_global_sdk_limit(20), SUCCESS);
    assert_eq!(log::max_level(), log::LevelFilter::Off);
    assert_eq!(all(), Vec::<String>::new());
    assert_eq!(doca_log_backend_set_sdk_level(sdk, 45), INVALID_VALUE);
    assert_eq!(doca_log_backend_set_sdk_level(app, 40), NOT_PERMITTED);
    assert_eq!(doca_log_backend_set_sdk_level(null_mut(), 40), INVALID_VALUE);
    assert_eq!(doca_log_backend_set_level_lower_limit(sdk, 40), NOT_PERMITTED);
    assert_eq!(doca_log_backend_set_level_upper_limit(sdk, 40), NOT_PERMITTED);
    // Application records do not reach SDK backends, whatever the levels.
    assert_eq!(doca_log_backend_set_level_lower_limit(app, 10), SUCCESS);
    assert_eq!(doca_log_level_set_global_sdk_limit(70), SUCCESS);
    say(30, source("BASE::SDK"), "application");
    assert_eq!(seen(), Vec::<String>::new());
    // A refused call of the program is one of the library's records.
    assert_eq!(doca_log_level_set_global_lower_limit(33), INVALID_VALUE);
    assert_eq!(seen(), ["33 is not a log level: allowed are 10, 20 ... 70"]);
}

fn list(root: *const c_void, depth: u8) -> Result<(*mut LoggerHandle, Vec<LoggerHandle>), c_int> {
    let mut array = null_mut();
    let mut count = 0;
    // SAFETY: live outputs.
    match unsafe { doca_logger_create_list(root, depth, &raw mut array, &raw mut count) } {
        SUCCESS => {
            // SAFETY: `count` entries and the NULL.
            let all: Vec<_> = (0..=count as usize).map(|i| unsafe { array.add(i).read() }).collect();
            assert!(all[count as usize].is_null());
            Ok((array, all[..count as usize].to_vec()))
        }
        status => Err(status),
    }
}

#[test]
fn loggers_are_listed_found_and_levelled() {
    let _turn = turn();
    backend(false);
    let leaf = source("TREE::MID::LEAF");
    let other = source("TREE::OTHER");
    let (array, all) = list(std::ptr::null(), 0).expect("list");
    // SAFETY: a live list and a C string.
    let find = |name: &CStr| unsafe { doca_logger_find_by_name(array, name.as_ptr()) };
    let tree = find(c"TREE");
    assert!(
        !tree.is_null() && all.contains(&tree) && find(c"TREE::NONE").is_null() && find(c"MID").is_null()
    );
    let (children, direct) = list(tree, 1).expect("list");
    let name_of = |logger: LoggerHandle| {
        let mut name = [0u8; 256];
        // SAFETY: room of the promised size.
        assert_eq!(unsafe { doca_logger_get_name(logger, name.as_mut_ptr().cast()) }, SUCCESS);
        CStr::from_bytes_until_nul(&name).expect("name").to_str().expect("name").to_owned()
    };
    let names: Vec<_> = direct.iter().map(|logger| name_of(*logger)).collect();
    assert_eq!(names, ["TREE::MID", "TREE::OTHER"]);
    assert_eq!(list(tree, 0).expect("list").1.len(), 3);
    assert_eq!(list(tree, 2).expect("list").1.len(), 3);

    assert_eq!(doca_logger_set_level(tree, 30, 1), SUCCESS);
    seen();
    for id in [leaf, other] {
        say(30, id, "error");
        say(40, id, "warning");
    }
    assert_eq!(seen(), ["error", "error"]);
    let mut level = 0;
    // SAFETY: a live output.
    assert_eq!(unsafe { doca_logger_get_level(find(c"TREE::MID::LEAF"), &raw mut level) }, SUCCESS);
    assert_eq!(level, 30);
    assert_eq!(doca_logger_set_level(null_mut(), 70, 0), INVALID_VALUE);
    assert_eq!(doca_logger_set_level(null_mut(), 70, 1), SUCCESS);
    say(40, leaf, "warning");
    assert_eq!(seen(), ["warning"]);
    assert_eq!(doca_logger_set_level(tree, 35, 1), INVALID_VALUE);
    assert_eq!(doca_logger_set_level(array.cast(), 30, 1), NOT_FOUND);
    assert_eq!(list(array.cast(), 0).err(), Some(NOT_FOUND));
    // SAFETY: NULL is allowed.
    unsafe {
        assert_eq!(doca_logger_get_level(tree, null_mut()), INVALID_VALUE);
        assert_eq!(doca_logger_get_level(std::ptr::null(), &raw mut level), INVALID_VALUE);
        assert_eq!(doca_logger_get_name(tree, null_mut()), INVALID_VALUE);
        assert_eq!(doca_logger_create_list(tree, 0, null_mut(), null_mut()), INVALID_VALUE);
        assert!(doca_logger_find_by_name(null_mut(), c"TREE".as_ptr()).is_null());
        assert!(doca_logger_find_by_name(array, std::ptr::null()).is_null());
    }
    for array in [array, children] {
        assert_eq!(doca_logger_destroy_list(array), SUCCESS);
        assert_eq!(doca_logger_destroy_list(array), INVALID_VALUE);
    }
    assert_eq!(doca_logger_destroy_list(null_mut()), INVALID_VALUE);
}

#[test]
fn bad_arguments_are_refused() {
    let _turn = turn();
    let mut made = null_mut();
    let closed = std::io::pipe().expect("pipe").0.as_raw_fd();
    let (reader, _writer) = std::io::pipe().expect("pipe");
    // SAFETY: NULL and bad descriptors are told apart.
    unsafe {
        assert_eq!(doca_log_backend_create_with_file(null_mut(), &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_file_sdk(null_mut(), &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_fd(-1, &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_fd(closed + 500, &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_fd(reader.as_raw_fd(), &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_fd(2, null_mut()), INVALID_VALUE);
        assert_eq!(
            doca_log_backend_create_with_buf(null_mut(), 9, Some(collect), &raw mut made),
            INVALID_VALUE
        );
        assert_eq!(
            doca_log_backend_create_with_buf_sdk((&raw mut made).cast(), 8, None, &raw mut made),
            INVALID_VALUE
        );
        assert_eq!(doca_log_backend_create_with_syslog(std::ptr::null(), &raw mut made), INVALID_VALUE);
        assert_eq!(doca_log_backend_create_with_syslog_sdk(c"x".as_ptr(), null_mut()), INVALID_VALUE);
        assert!(made.is_null(), "a refused call leaves the output alone");
        assert_eq!(doca_log_backend_create_with_syslog(c"softdpu-test".as_ptr(), &raw mut made), SUCCESS);
        shut(made);
        let mut id = 0;
        assert_eq!(doca_log_register_source(std::ptr::null(), &raw mut id), INVALID_VALUE);
        assert_eq!(doca_log_register_source(c"x".as_ptr(), null_mut()), INVALID_VALUE);
        let none = std::ptr::null();
        assert_eq!(doca_log(30, source("BASE::BAD"), none, -1, none, none), INVALID_VALUE);
        assert_eq!(doca_log(30, source("BASE::BAD"), none, -1, none, c"nowhere".as_ptr()), SUCCESS);
    }
    assert_eq!(doca_log_unregister_source(12345), SUCCESS);
}
