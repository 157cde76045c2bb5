//! What the tests of the device family share: a clean environment, the log lines, lists as guards.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

/// Calls the C face as a C program does.
macro_rules! c {
    ($($body:tt)*) => {
        // SAFETY: handles are NULL or come from the library, which promises to refuse those that are stale;
        // outputs are live locals of the size that is told; texts are terminated.
        unsafe { $($body)* }
    };
}

use softdpu_c::dev::*;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::ptr::null_mut;
use std::sync::Once;

pub const SUCCESS: i32 = 0;
pub const IN_USE: i32 = 3;
pub const NOT_SUPPORTED: i32 = 4;
pub const INVALID_VALUE: i32 = 6;
pub const NOT_FOUND: i32 = 16;
pub const BAD_STATE: i32 = 18;

thread_local! {
    static LINES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

struct Collector;

impl log::Log for Collector {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &log::Record<'_>) {
        let line = format!("{} {}", record.level(), record.args());
        LINES.with(|lines| lines.borrow_mut().push(line));
    }
    fn flush(&self) {}
}

static COLLECTOR: Collector = Collector;

/// Collects log lines per thread, and starts the watchdog. Call first in every test.
pub fn setup() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        log::set_logger(&COLLECTOR).unwrap();
        log::set_max_level(log::LevelFilter::Trace);
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(300));
            eprintln!("watchdog: the tests hang");
            std::process::abort();
        });
    });
    lines();
}

/// The lines this thread logged since the last call.
pub fn lines() -> Vec<String> {
    LINES.with(|lines| lines.take())
}

/// A list of devices that goes with the guard.
pub struct List {
    pub array: *mut *mut DevInfo,
    pub count: u32,
}

impl List {
    pub fn new() -> List {
        let mut list = List { array: null_mut(), count: 0 };
        let status = c! { doca_devinfo_create_list(&mut list.array, &mut list.count) };
        assert_eq!(status, SUCCESS);
        assert!(!list.array.is_null());
        list
    }

    pub fn at(&self, index: u32) -> *mut DevInfo {
        assert!(index < self.count);
        c! { *self.array.add(index as usize) }
    }

    pub fn all(&self) -> impl Iterator<Item = *mut DevInfo> {
        (0..self.count).map(|index| self.at(index))
    }

    pub fn by_pci(&self, address: &str) -> *mut DevInfo {
        self.all().find(|&info| is_equal(info, address)).expect("listed")
    }
}

impl Drop for List {
    fn drop(&mut self) {
        assert_eq!(c! { doca_devinfo_destroy_list(self.array) }, SUCCESS);
    }
}

pub fn is_equal(info: *const DevInfo, address: &str) -> bool {
    let address = CString::new(address).unwrap();
    let mut equal = 9;
    assert_eq!(c! { doca_devinfo_is_equal_pci_addr(info, address.as_ptr(), &mut equal) }, SUCCESS);
    assert!(equal <= 1);
    equal == 1
}

/// Opens a device of the default machine.
pub fn open(address: &str) -> *mut Dev {
    let list = List::new();
    open_info(list.by_pci(address))
}

pub fn open_info(info: *mut DevInfo) -> *mut Dev {
    let mut dev = null_mut();
    assert_eq!(c! { doca_dev_open(info, &mut dev) }, SUCCESS);
    assert!(!dev.is_null());
    dev
}

pub fn close(dev: *mut Dev) {
    assert_eq!(c! { doca_dev_close(dev) }, SUCCESS);
}

/// Reads a text through a getter that takes a buffer and its size.
pub fn text(size: usize, read: impl FnOnce(*mut c_char, u32) -> i32) -> Result<String, i32> {
    let mut bytes = vec![0xaau8; size];
    match read(bytes.as_mut_ptr().cast(), size as u32) {
        SUCCESS => Ok(std::ffi::CStr::from_bytes_until_nul(&bytes).unwrap().to_str().unwrap().to_owned()),
        status => {
            assert!(bytes.iter().all(|&byte| byte == 0xaa), "nothing is written on error");
            Err(status)
        }
    }
}

pub fn pci(info: *const DevInfo) -> String {
    text(13, |to, _| c! { doca_devinfo_get_pci_addr_str(info, to) }).unwrap()
}

/// The representors that a device shows.
pub struct RepList {
    pub array: *mut *mut RepInfo,
    pub count: u32,
}

impl RepList {
    pub fn new(dev: *mut Dev, filter: i32) -> Result<RepList, i32> {
        let mut list = RepList { array: null_mut(), count: 77 };
        match c! { doca_devinfo_rep_create_list(dev, filter, &mut list.array, &mut list.count) } {
            SUCCESS => Ok(list),
            status => {
                std::mem::forget(list);
                Err(status)
            }
        }
    }

    pub fn at(&self, index: u32) -> *mut RepInfo {
        assert!(index < self.count);
        c! { *self.array.add(index as usize) }
    }
}

impl Drop for RepList {
    fn drop(&mut self) {
        assert_eq!(c! { doca_devinfo_rep_destroy_list(self.array) }, SUCCESS);
    }
}

/// Runs an ignored test of this program in a process of its own, with these variables.
pub fn in_process(test: &str, variables: &[(&str, &str)]) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    for name in ["SOFTDPU_CONFIG", "SOFTDPU_PROFILE", "SOFTDPU_SIDE", "SOFTDPU_STRICT"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{test} {variables:?}\n{out}\n{err}");
}
