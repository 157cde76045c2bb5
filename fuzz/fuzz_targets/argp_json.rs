//! Parameter files, through the C face: a parser with a flag of each type, a file, a start.
#![no_main]

use core::ffi::{CStr, c_char, c_int, c_void};
use libfuzzer_sys::fuzz_target;
use softdpu_c as _;
use std::cell::Cell;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::ptr::{null_mut, without_provenance_mut};

unsafe extern "C" {
    fn doca_argp_init(name: *const c_char, config: *mut c_void) -> c_int;
    fn doca_argp_param_create(param: *mut *mut c_void) -> c_int;
    fn doca_argp_param_set_long_name(param: *mut c_void, name: *const c_char);
    fn doca_argp_param_set_description(param: *mut c_void, text: *const c_char);
    fn doca_argp_param_set_type(param: *mut c_void, kind: c_int);
    fn doca_argp_param_set_callback(
        param: *mut c_void,
        callback: extern "C" fn(*mut c_void, *mut c_void) -> c_int,
    );
    fn doca_argp_param_set_multiplicity(param: *mut c_void);
    fn doca_argp_register_param(param: *mut c_void) -> c_int;
    fn doca_argp_disable_pedantic_config_parsing() -> c_int;
    fn doca_argp_start(argc: c_int, argv: *mut *mut c_char) -> c_int;
    fn doca_argp_destroy() -> c_int;
    fn doca_log_level_set_global_sdk_limit(level: u32) -> c_int;
}

/// Quiet: thousands of refusals a second.
const DISABLE: u32 = 10;
const TYPES: [(&CStr, c_int); 4] = [(c"text", 1), (c"number", 2), (c"flag", 3), (c"real", 6)];

thread_local! {
    static CALLS: Cell<u32> = const { Cell::new(0) };
}

extern "C" fn seen(param: *mut c_void, config: *mut c_void) -> c_int {
    assert!(!param.is_null() && config.addr() == 1);
    CALLS.set(CALLS.get() + 1);
    0
}

fn path() -> &'static CStr {
    static PATH: std::sync::OnceLock<CString> = std::sync::OnceLock::new();
    PATH.get_or_init(|| {
        let path = std::env::temp_dir().join(format!("softdpu-fuzz-{}.json", std::process::id()));
        CString::new(path.as_os_str().as_bytes()).expect("a path")
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((&mode, text)) = input.split_first() else { return };
    std::fs::write(path().to_str().expect("a path"), text).expect("a file");
    CALLS.set(0);
    // SAFETY: C strings that live long enough; the parser belongs to this thread.
    unsafe {
        assert_eq!(doca_argp_init(c"prog".as_ptr(), without_provenance_mut(1)), 0);
        assert_eq!(doca_log_level_set_global_sdk_limit(DISABLE), 0);
        for (name, kind) in TYPES {
            let mut param = null_mut();
            assert_eq!(doca_argp_param_create(&raw mut param), 0);
            doca_argp_param_set_long_name(param, name.as_ptr());
            doca_argp_param_set_description(param, name.as_ptr());
            doca_argp_param_set_type(param, kind);
            doca_argp_param_set_callback(param, seen);
            if mode & 2 != 0 {
                doca_argp_param_set_multiplicity(param);
            }
            assert_eq!(doca_argp_register_param(param), 0);
        }
        if mode & 1 != 0 {
            assert_eq!(doca_argp_disable_pedantic_config_parsing(), 0);
        }
        let mut words = [c"prog".as_ptr(), c"--json".as_ptr(), path().as_ptr()].map(|w| w.cast_mut());
        let status = doca_argp_start(words.len() as c_int, words.as_mut_ptr());
        assert!(status >= 0);
        assert!(mode & 2 != 0 || CALLS.get() <= TYPES.len() as u32, "a flag was taken twice");
        assert!(status == 0 || CALLS.get() == 0, "a refused file had effects");
        assert_eq!(doca_log_level_set_global_sdk_limit(DISABLE), 0);
        assert_eq!(doca_argp_destroy(), 0);
    }
});
