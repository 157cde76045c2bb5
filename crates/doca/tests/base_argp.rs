//! The argument parser in one process: life cycle, ownership, handles, devices. There is one parser per
//! process, so the tests take turns.
#![expect(unsafe_code, reason = "calls C entry points")]

mod base_common;

use base_common::watchdog;
use softdpu_c::argp::*;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;
use std::sync::{Mutex, MutexGuard, PoisonError};

const SUCCESS: c_int = 0;
const NOT_SUPPORTED: c_int = 4;
const INVALID_VALUE: c_int = 6;
const INITIALIZATION: c_int = 8;
const NOT_FOUND: c_int = 16;
const BAD_STATE: c_int = 18;
const ALREADY_EXIST: c_int = 23;

const STRING: c_int = 1;
const INT: c_int = 2;
const BOOLEAN: c_int = 3;
const DEVICE: c_int = 4;
const DEVICE_REP: c_int = 5;

unsafe extern "C" {
    fn doca_devinfo_create_list(list: *mut *mut *mut c_void, count: *mut u32) -> c_int;
    fn doca_devinfo_destroy_list(list: *mut *mut c_void) -> c_int;
    fn doca_devinfo_get_pci_addr_str(info: *const c_void, text: *mut c_char) -> c_int;
    fn doca_dev_open(info: *mut c_void, dev: *mut *mut c_void) -> c_int;
    fn doca_dev_close(dev: *mut c_void) -> c_int;
    fn doca_devinfo_rep_create_list(
        dev: *mut c_void,
        filter: c_int,
        list: *mut *mut *mut c_void,
        count: *mut u32,
    ) -> c_int;
    fn doca_devinfo_rep_destroy_list(list: *mut *mut c_void) -> c_int;
    fn doca_devinfo_rep_get_iface_name(info: *const c_void, text: *mut c_char, size: u32) -> c_int;
    fn doca_dev_rep_close(rep: *mut c_void) -> c_int;
}

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    watchdog();
    let guard = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = doca_argp_destroy();
    // Messages stay out of the test's output.
    init();
    assert_eq!(doca_argp_destroy(), SUCCESS);
    guard
}

unsafe extern "C" fn quiet(_level: c_int, _format: *const c_char, _args: *mut c_void) -> c_int {
    0
}

fn init() {
    // SAFETY: a C string; no configuration.
    assert_eq!(unsafe { doca_argp_init(c"test".as_ptr(), null_mut()) }, SUCCESS);
    assert_eq!(doca_argp_register_logger_callback(quiet as *const c_void), SUCCESS);
}

fn start(words: &[&str]) -> c_int {
    let mut owned: Vec<_> = ["test"]
        .iter()
        .chain(words)
        .map(|word| CString::new(*word).expect("word").into_bytes_with_nul())
        .collect();
    let mut argv: Vec<*mut c_char> = owned.iter_mut().map(|word| word.as_mut_ptr().cast()).collect();
    let argc = argv.len() as c_int;
    argv.push(null_mut());
    // SAFETY: `argc` C strings.
    unsafe { doca_argp_start(argc, argv.as_mut_ptr()) }
}

fn param() -> ParamHandle {
    let mut param = null_mut();
    // SAFETY: a live output.
    assert_eq!(unsafe { doca_argp_param_create(&raw mut param) }, SUCCESS);
    assert!(!param.is_null());
    param
}

fn named(short: Option<&CStr>, long: Option<&CStr>, kind: c_int, callback: ParamCallback) -> ParamHandle {
    let param = param();
    let pointer = |text: Option<&CStr>| text.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: C strings or NULL.
    unsafe {
        doca_argp_param_set_short_name(param, pointer(short));
        doca_argp_param_set_long_name(param, pointer(long));
        doca_argp_param_set_description(param, c"about".as_ptr());
    }
    doca_argp_param_set_callback(param, Some(callback));
    doca_argp_param_set_type(param, kind);
    param
}

fn command(name: &CStr, callback: Option<CommandCallback>) -> CommandHandle {
    let mut command = null_mut();
    // SAFETY: a live output and C strings.
    unsafe {
        assert_eq!(doca_argp_cmd_create(&raw mut command), SUCCESS);
        doca_argp_cmd_set_name(command, name.as_ptr());
        doca_argp_cmd_set_description(command, c"about".as_ptr());
    }
    doca_argp_cmd_set_callback(command, callback);
    command
}

thread_local! {
    static CALLS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn called(what: impl Into<String>) -> c_int {
    CALLS.with_borrow_mut(|calls| calls.push(what.into()));
    SUCCESS
}

fn calls() -> Vec<String> {
    CALLS.take()
}

unsafe extern "C" fn on_string(value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: STRING hands over a C string.
    called(unsafe { CStr::from_ptr(value.cast()) }.to_str().expect("text"))
}

unsafe extern "C" fn on_int(value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: INT hands over an int.
    called(unsafe { *value.cast::<c_int>() }.to_string())
}

unsafe extern "C" fn on_flag(value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: BOOLEAN hands over a bool.
    called(if unsafe { *value.cast::<bool>() } { "flag" } else { "no flag" })
}

#[test]
fn the_life_cycle_is_kept() {
    let _turn = turn();
    let mut handle = null_mut();
    assert_eq!(doca_argp_destroy(), BAD_STATE);
    assert_eq!(start(&[]), BAD_STATE);
    // SAFETY: live outputs and C strings.
    unsafe {
        assert_eq!(doca_argp_param_create(&raw mut handle), BAD_STATE);
        assert_eq!(doca_argp_cmd_create(&raw mut handle), BAD_STATE);
    }
    assert_eq!(doca_argp_disable_pedantic_config_parsing(), BAD_STATE);
    assert_eq!(doca_argp_disable_logger_callback(), BAD_STATE);
    doca_argp_usage();
    init();
    // SAFETY: a C string.
    assert_eq!(unsafe { doca_argp_init(c"again".as_ptr(), null_mut()) }, BAD_STATE);
    assert_eq!(doca_argp_register_logger_callback(quiet as *const c_void), ALREADY_EXIST);
    assert_eq!(doca_argp_register_logger_callback(std::ptr::null()), INVALID_VALUE);
    assert_eq!(doca_argp_register_version_callback(None), INVALID_VALUE);
    assert_eq!(doca_argp_register_validation_callback(None), INVALID_VALUE);
    assert_eq!(doca_argp_register_dev_open_callback(None, null_mut()), INVALID_VALUE);
    // SAFETY: NULL is told apart.
    unsafe {
        assert_eq!(doca_argp_start(1, null_mut()), INVALID_VALUE);
        assert_eq!(doca_argp_start(0, (&raw mut handle).cast()), INVALID_VALUE);
        assert_eq!(doca_argp_start(1, (&raw mut handle).cast()), INVALID_VALUE);
        assert_eq!(doca_argp_get_log_level(null_mut()), INVALID_VALUE);
        assert_eq!(doca_argp_get_sdk_log_level(null_mut()), INVALID_VALUE);
    }
    assert_eq!(start(&[]), SUCCESS);
    assert_eq!(start(&[]), BAD_STATE);
    let late = named(None, Some(c"late"), INT, on_int);
    assert_eq!(doca_argp_register_param(late), BAD_STATE);
    assert_eq!(doca_argp_register_cmd(command(c"late", None)), BAD_STATE);
    assert_eq!(doca_argp_register_version_callback(Some(on_int)), BAD_STATE);
    assert_eq!(doca_argp_disable_logger_callback(), SUCCESS);
    assert_eq!(doca_argp_disable_logger_callback(), BAD_STATE);
    assert_eq!(doca_argp_destroy(), SUCCESS);
    assert_eq!(doca_argp_destroy(), BAD_STATE);
}

#[test]
fn registration_owns_and_checks() {
    let _turn = turn();
    init();
    // Each missing attribute, and the parser takes the flag all the same.
    type Spoil = fn(ParamHandle);
    let cases: [(&str, Spoil); 4] = [
        // SAFETY: NULL takes the name away.
        ("name", |param| unsafe { doca_argp_param_set_long_name(param, std::ptr::null()) }),
        // SAFETY: NULL takes the text away.
        ("description", |param| unsafe { doca_argp_param_set_description(param, std::ptr::null()) }),
        ("callback", |param| doca_argp_param_set_callback(param, None)),
        ("type", |param| doca_argp_param_set_type(param, 99)),
    ];
    for (what, spoil) in cases {
        let flag = named(None, Some(c"flag"), INT, on_int);
        spoil(flag);
        assert_eq!(doca_argp_register_param(flag), INITIALIZATION, "{what}");
        assert_eq!(doca_argp_param_destroy(flag), INVALID_VALUE, "{what}: the parser took it");
    }
    let good = named(Some(c"g"), Some(c"good"), INT, on_int);
    assert_eq!(doca_argp_register_param(good), SUCCESS);
    assert_eq!(doca_argp_register_param(good), BAD_STATE);
    assert_eq!(doca_argp_param_destroy(good), BAD_STATE);
    for (short, long) in
        [(Some(c"g"), None), (None, Some(c"good")), (Some(c"j"), None), (None, Some(c"json"))]
    {
        assert_eq!(
            doca_argp_register_param(named(short, long, INT, on_int)),
            INVALID_VALUE,
            "{short:?} {long:?}"
        );
    }
    // Attributes of a registered flag stay.
    doca_argp_param_set_mandatory(good);
    doca_argp_param_set_type(good, STRING);
    // Never registered: the program's to give back, once.
    let own = param();
    assert_eq!(doca_argp_param_destroy(own), SUCCESS);
    assert_eq!(doca_argp_param_destroy(own), INVALID_VALUE);
    // Wrong kinds, NULL, rubbish.
    let show = command(c"show", None);
    for wrong in [null_mut(), show, (&raw const cases).cast_mut().cast()] {
        assert_eq!(doca_argp_register_param(wrong), INVALID_VALUE);
        assert_eq!(doca_argp_param_destroy(wrong), INVALID_VALUE);
        doca_argp_param_set_mandatory(wrong);
        // SAFETY: a C string.
        unsafe { doca_argp_param_set_long_name(wrong, c"x".as_ptr()) };
    }
    // SAFETY: NULL is told apart.
    unsafe {
        assert_eq!(doca_argp_param_create(null_mut()), INVALID_VALUE);
        assert_eq!(doca_argp_cmd_create(null_mut()), INVALID_VALUE);
    }
    assert_eq!(start(&["-g", "5"]), SUCCESS);
    assert_eq!(calls(), ["5"]);
    assert_eq!(doca_argp_destroy(), SUCCESS);
    assert_eq!(doca_argp_param_destroy(good), BAD_STATE, "no parser");
}

unsafe extern "C" fn on_command(config: *mut c_void) -> c_int {
    called(if config.is_null() { "command" } else { "command with configuration" })
}

#[test]
fn commands_form_a_tree_without_loops() {
    let _turn = turn();
    init();
    let (group, leaf, other) =
        (command(c"group", None), command(c"leaf", Some(on_command)), command(c"other", None));
    assert_eq!(doca_argp_cmd_register_cmd(group, group), INVALID_VALUE);
    assert_eq!(doca_argp_cmd_register_cmd(group, leaf), SUCCESS);
    assert_eq!(doca_argp_cmd_register_cmd(leaf, group), INVALID_VALUE);
    assert_eq!(doca_argp_cmd_register_cmd(other, leaf), BAD_STATE);
    assert_eq!(doca_argp_register_cmd(group), SUCCESS);
    assert_eq!(doca_argp_cmd_destroy(group), BAD_STATE);
    assert_eq!(doca_argp_register_cmd(command(c"group", None)), INVALID_VALUE);
    // Below a registered command, until the start.
    let version = named(Some(c"v"), Some(c"vendor"), INT, on_int);
    assert_eq!(doca_argp_cmd_register_param(leaf, version), SUCCESS);
    // A command takes what lies below it along.
    let flag = named(None, Some(c"x"), INT, on_int);
    assert_eq!(doca_argp_cmd_register_param(other, flag), SUCCESS);
    assert_eq!(doca_argp_cmd_destroy(other), SUCCESS);
    assert_eq!(doca_argp_param_destroy(flag), INVALID_VALUE);
    assert_eq!(doca_argp_cmd_register_param(other, param()), INVALID_VALUE);
    let nameless = command(c"", None);
    assert_eq!(doca_argp_register_cmd(nameless), INITIALIZATION);
    assert_eq!(doca_argp_cmd_destroy(nameless), INVALID_VALUE);

    let hidden = command(c"hidden", Some(on_command));
    doca_argp_cmd_set_hidden(hidden);
    assert_eq!(doca_argp_register_cmd(hidden), SUCCESS);
    let everywhere = named(None, Some(c"everywhere"), BOOLEAN, on_flag);
    doca_argp_param_set_inherited(everywhere);
    doca_argp_param_set_mandatory(everywhere);
    assert_eq!(doca_argp_register_param(everywhere), SUCCESS);
    assert_eq!(start(&["group", "leaf", "-v", "3", "--everywhere"]), SUCCESS);
    assert_eq!(calls(), ["3", "flag", "command"]);
    assert_eq!(doca_argp_destroy(), SUCCESS);

    for (words, status) in [
        (&["group"][..], INVALID_VALUE),
        (&["leaf"], INVALID_VALUE),
        (&["group", "leaf"], SUCCESS),
        (&["group", "leaf", "-x"], NOT_SUPPORTED),
        (&[], SUCCESS),
    ] {
        init();
        let (group, leaf) = (command(c"group", None), command(c"leaf", Some(on_command)));
        assert_eq!(doca_argp_register_cmd(group), SUCCESS);
        assert_eq!(doca_argp_cmd_register_cmd(group, leaf), SUCCESS);
        assert_eq!(start(words), status, "{words:?}");
        assert_eq!(doca_argp_destroy(), SUCCESS);
    }
    calls();
}

#[test]
fn order_multiplicity_and_the_configuration() {
    unsafe extern "C" fn validate(config: *mut c_void) -> c_int {
        // SAFETY: the test's own configuration.
        called(format!("validate {}", unsafe { *config.cast::<u32>() }))
    }
    unsafe extern "C" fn dpdk(argc: c_int, argv: *mut *mut c_char) -> c_int {
        // SAFETY: a NULL-terminated array.
        assert!(unsafe { argv.add(argc as usize).read() }.is_null());
        called(format!("dpdk {argc}"))
    }
    let _turn = turn();
    let mut config = 42u32;
    // SAFETY: a C string; the configuration outlives the parser.
    assert_eq!(unsafe { doca_argp_init(c"test".as_ptr(), (&raw mut config).cast()) }, SUCCESS);
    let many = named(Some(c"m"), None, INT, on_int);
    doca_argp_param_set_multiplicity(many);
    assert_eq!(doca_argp_register_param(many), SUCCESS);
    assert_eq!(doca_argp_register_param(named(None, Some(c"text"), STRING, on_string)), SUCCESS);
    assert_eq!(doca_argp_register_validation_callback(Some(validate)), SUCCESS);
    doca_argp_set_dpdk_program(Some(dpdk));
    assert_eq!(doca_argp_register_cmd(command(c"run", Some(on_command))), SUCCESS);
    assert_eq!(start(&["-a", "b", "--", "-m", "1", "--text=-m", "-m", "2", "run"]), SUCCESS);
    assert_eq!(calls(), ["1", "-m", "2", "validate 42", "dpdk 3", "command with configuration"]);
    assert_eq!(doca_argp_destroy(), SUCCESS);
}

#[test]
fn a_callback_may_destroy_the_parser() {
    unsafe extern "C" fn destroys(_: *mut c_void, _: *mut c_void) -> c_int {
        assert_eq!(doca_argp_destroy(), SUCCESS);
        called("destroyed")
    }
    let _turn = turn();
    init();
    assert_eq!(doca_argp_register_param(named(Some(c"d"), None, BOOLEAN, destroys)), SUCCESS);
    assert_eq!(doca_argp_register_param(named(Some(c"n"), None, INT, on_int)), SUCCESS);
    assert_eq!(start(&["-d", "-n", "1"]), BAD_STATE);
    assert_eq!(calls(), ["destroyed"], "nothing is called afterwards");
    assert_eq!(doca_argp_destroy(), BAD_STATE);
}

#[test]
fn levels_are_those_given_or_the_global_ones() {
    let _turn = turn();
    let levels = || {
        let (mut application, mut sdk) = (0, 0);
        // SAFETY: live outputs.
        unsafe {
            assert_eq!(doca_argp_get_log_level(&raw mut application), SUCCESS);
            assert_eq!(doca_argp_get_sdk_log_level(&raw mut sdk), SUCCESS);
        }
        (application, sdk)
    };
    assert_eq!(softdpu_c::log::doca_log_level_set_global_lower_limit(40), SUCCESS);
    assert_eq!(softdpu_c::log::doca_log_level_set_global_sdk_limit(30), SUCCESS);
    init();
    assert_eq!(levels(), (40, 30));
    assert_eq!(start(&["-l", "70", "--sdk-log-level", "20"]), SUCCESS);
    assert_eq!(levels(), (70, 20));
    assert_eq!(softdpu_c::log::doca_log_level_get_global_lower_limit(), 70);
    assert_eq!(softdpu_c::log::doca_log_level_get_global_sdk_limit(), 20);
    assert_eq!(doca_argp_destroy(), SUCCESS);
}

/// `struct doca_argp_device_ctx`, `struct doca_argp_device_rep_ctx`.
#[repr(C)]
#[derive(Clone, Copy)]
struct DeviceValue {
    dev: *mut c_void,
    devargs: *const c_char,
}

#[repr(C)]
struct RepValue {
    dev_ctx: DeviceValue,
    dev_rep: *mut c_void,
}

thread_local! {
    static DEVICES: RefCell<Vec<(DeviceValue, *mut c_void)>> = const { RefCell::new(Vec::new()) };
}

unsafe extern "C" fn on_device(value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: DEVICE hands over its structure.
    DEVICES.with_borrow_mut(|all| all.push((unsafe { *value.cast::<DeviceValue>() }, null_mut())));
    SUCCESS
}

unsafe extern "C" fn on_rep(value: *mut c_void, _: *mut c_void) -> c_int {
    // SAFETY: DEVICE_REP hands over its structure.
    let value = unsafe { value.cast::<RepValue>().read() };
    DEVICES.with_borrow_mut(|all| all.push((value.dev_ctx, value.dev_rep)));
    SUCCESS
}

/// A device of this machine that has representors, and one of them.
fn some_device() -> (String, String) {
    let read =
        |text: &[u8]| CStr::from_bytes_until_nul(text).expect("text").to_str().expect("text").to_owned();
    let (mut list, mut count) = (null_mut(), 0);
    // SAFETY: live outputs and room of the promised sizes; what is opened is closed, lists are given back.
    unsafe {
        assert_eq!(doca_devinfo_create_list(&raw mut list, &raw mut count), SUCCESS);
        let mut found = None;
        for i in 0..count as usize {
            let info = list.add(i).read();
            let mut pci = [0u8; 13];
            assert_eq!(doca_devinfo_get_pci_addr_str(info, pci.as_mut_ptr().cast()), SUCCESS);
            let (mut dev, mut reps, mut rep_count) = (null_mut(), null_mut(), 0);
            assert_eq!(doca_dev_open(info, &raw mut dev), SUCCESS);
            if doca_devinfo_rep_create_list(dev, 0, &raw mut reps, &raw mut rep_count) == SUCCESS {
                if rep_count > 0 {
                    let mut name = [0u8; 256];
                    assert_eq!(
                        doca_devinfo_rep_get_iface_name(reps.read(), name.as_mut_ptr().cast(), 256),
                        SUCCESS
                    );
                    found = found.or(Some((read(&pci), read(&name))));
                }
                assert_eq!(doca_devinfo_rep_destroy_list(reps), SUCCESS);
            }
            assert_eq!(doca_dev_close(dev), SUCCESS);
        }
        assert_eq!(doca_devinfo_destroy_list(list), SUCCESS);
        found.expect("the default machine has a card with representors")
    }
}

#[test]
fn devices_and_representors_are_opened() {
    let _turn = turn();
    let (pci, representor) = some_device();
    let short = &pci[5..];
    let begin = || {
        init();
        let device = named(Some(c"d"), Some(c"device"), DEVICE, on_device);
        doca_argp_param_set_multiplicity(device);
        assert_eq!(doca_argp_register_param(device), SUCCESS);
        assert_eq!(doca_argp_register_param(named(Some(c"r"), Some(c"rep"), DEVICE_REP, on_rep)), SUCCESS);
    };
    begin();
    let words =
        [format!("pci/{pci},a=1,b=2"), format!("pci/{short}"), format!("pci/{pci},{representor},c=3")];
    assert_eq!(start(&["-d", &words[0], "--device", &words[1], "-r", &words[2]]), SUCCESS);
    let opened = DEVICES.take();
    let args: Vec<_> = opened
        .iter()
        .map(|(value, _)| {
            // SAFETY: device arguments are valid until the parser goes.
            (!value.devargs.is_null()).then(|| unsafe { CStr::from_ptr(value.devargs) }.to_owned())
        })
        .collect();
    assert_eq!(args, [Some(c"a=1,b=2".to_owned()), None, Some(c"c=3".to_owned())]);
    assert_eq!(opened[0].0.dev, opened[1].0.dev, "one device, two references");
    assert!(opened[0].1.is_null() && !opened[2].1.is_null());
    for (value, rep) in opened {
        // SAFETY: opened for the program, which closes.
        unsafe {
            if !rep.is_null() {
                assert_eq!(doca_dev_rep_close(rep), SUCCESS);
            }
            assert_eq!(doca_dev_close(value.dev), SUCCESS);
        }
    }
    assert_eq!(doca_argp_destroy(), SUCCESS);

    // The host's own function may be named without the suffix of its representor.
    if let Some(bare) = representor.strip_suffix("hpf") {
        begin();
        assert_eq!(start(&["-r", &format!("pci/{pci},{bare}")]), SUCCESS);
        let (value, rep) = DEVICES.take()[0];
        // SAFETY: opened for the program, which closes.
        unsafe {
            assert_eq!(doca_dev_rep_close(rep), SUCCESS);
            assert_eq!(doca_dev_close(value.dev), SUCCESS);
        }
        assert_eq!(doca_argp_destroy(), SUCCESS);
    }

    let refused = |words: &[&str]| {
        begin();
        let status = start(words);
        assert_eq!(doca_argp_destroy(), SUCCESS);
        assert!(DEVICES.take().is_empty());
        status
    };
    assert_eq!(refused(&["-d", "pci/00ff:ff:1f.7"]), NOT_FOUND);
    assert_eq!(refused(&["-d", "nonsense"]), INVALID_VALUE);
    assert_eq!(refused(&["-d", &format!("pci/{pci}x")]), INVALID_VALUE);
    assert_eq!(refused(&["-r", &format!("pci/{pci}")]), INVALID_VALUE);
    assert_eq!(refused(&["-r", &format!("pci/{pci},pf0vf77")]), NOT_FOUND);
}

#[test]
fn the_program_may_open_devices_itself() {
    unsafe extern "C" fn opens(info: *mut c_void, usr_ctx: *mut c_void, dev: *mut *mut c_void) -> c_int {
        assert!(!info.is_null());
        // SAFETY: the test's own context, live output.
        unsafe {
            let answer = *usr_ctx.cast::<c_int>();
            if answer == SUCCESS {
                dev.write(usr_ctx);
            }
            answer
        }
    }
    let _turn = turn();
    let (pci, _) = some_device();
    let word = format!("pci/{pci}");
    for mut answer in [SUCCESS, ALREADY_EXIST] {
        init();
        let context: *mut c_void = (&raw mut answer).cast();
        assert_eq!(doca_argp_register_dev_open_callback(Some(opens), context), SUCCESS);
        assert_eq!(doca_argp_register_param(named(Some(c"d"), None, DEVICE, on_device)), SUCCESS);
        // SAFETY: read through the same pointer as the callback does.
        assert_eq!(start(&["-d", &word]), unsafe { context.cast::<c_int>().read() });
        let opened = DEVICES.take();
        assert!(opened.iter().all(|(value, _)| value.dev == context));
        assert_eq!(doca_argp_destroy(), SUCCESS);
    }
}
