//! One start: reads and checks everything, then carries it out in order.
#![expect(unsafe_code, reason = "calls the program's callbacks")]

use super::device::{Failed, Opener};
use super::dpdk::{self, Arguments};
use super::json::{File, Rules};
use super::lookup::General;
use super::model::{Command, DpdkCallback, Param, ParamCallback, Refusal, ValidationCallback, lossy};
use super::parse::{self, CommandLine, Occurrence};
use super::value::Value;
use super::{report, state, usage};
use crate::log::{Level, set_app_lower, set_sdk_limit};
use softdpu_status::{Code, Result};
use std::ffi::{CStr, CString, OsStr, c_int, c_void};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Largest parameter file.
const MAX_FILE: u64 = 16 << 20;

/// Why a start ends early.
enum Stop {
    /// Refused by the parser.
    Refused(Refusal),
    /// A call answered this status; the text says which.
    Status(c_int, String),
    /// A callback destroyed the parser.
    Gone,
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Failed> for Stop {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Refused(refusal) => Self::Refused(refusal),
            Failed::Status(status, what) => Self::Status(status, what),
        }
    }
}

/// What a start works with, copied out of the parser: callbacks run without its lock.
struct Run {
    generation: u64,
    root: Arc<Command>,
    config: *mut c_void,
    version: Option<ParamCallback>,
    validation: Option<ValidationCallback>,
    dpdk: Option<DpdkCallback>,
    opener: Opener,
    pedantic: bool,
}

/// Parses `argv` (the program's name first). The status is the contract's, or a callback's own.
pub(crate) fn start(argv: &[&[u8]]) -> Result<c_int> {
    let name = argv[0].rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let run = super::objects::logged(state::with(|parser| {
        parser.registering()?;
        parser.started = true;
        if parser.name.is_none() {
            parser.name = Some(name.into());
        }
        let root = parser.tree();
        parser.current = Some(vec![Arc::clone(&root)]);
        let (callback, usr_ctx) = match parser.dev_open {
            Some((callback, usr_ctx)) => (Some(callback), usr_ctx),
            None => (None, 0),
        };
        Ok(Run {
            generation: parser.generation,
            root,
            config: std::ptr::with_exposed_provenance_mut(parser.config),
            version: parser.version,
            validation: parser.validation,
            dpdk: parser.dpdk,
            opener: Opener { callback, usr_ctx: std::ptr::with_exposed_provenance_mut(usr_ctx) },
            pedantic: !parser.tolerant_json,
        })
    }))?;
    let mut line = CommandLine::default();
    let (number, reason) = match run.all(argv, &mut line) {
        Ok(()) => return Ok(0),
        Err(Stop::Gone) => return Ok(Code::BadState.number()),
        Err(Stop::Refused(refusal)) => (refusal.code.number(), refusal.reason),
        Err(Stop::Status(status, what)) => (status, format!("{what}: {}", name_of(status))),
    };
    log::error!(target: "softdpu::argp", "{reason}");
    report::complain(&lossy(&run.root.name), &reason, &usage::render(&line.path, run.dpdk.is_some()));
    Ok(number)
}

fn name_of(status: c_int) -> String {
    Code::from_number(status).map_or_else(|| format!("status {status}"), |code| code.name().to_owned())
}

impl Run {
    fn all(&self, argv: &[&[u8]], line: &mut CommandLine) -> Result<(), Stop> {
        let (for_dpdk, words) = match self.dpdk {
            Some(_) => dpdk::split(&argv[1..]),
            None => (&[][..], &argv[1..]),
        };
        let read = parse::read(&self.root, words, line);
        self.alive(|parser| parser.current = Some(line.path.clone()))?;
        read?;
        match line.ending {
            Some(General::Help) => {
                report::answer(&usage::render(&line.path, self.dpdk.is_some()));
                std::process::exit(0);
            }
            Some(_) => return self.end_with_version(),
            None => {}
        }
        let file = match &line.json {
            Some(path) => self.file(path, &line.path)?,
            None => File::default(),
        };
        let given: Vec<_> = file.occurrences.iter().chain(&line.occurrences).collect();
        let log_level = line.log_level.or(file.log_level);
        let sdk_log_level = line.sdk_log_level.or(file.sdk_log_level);
        let waived = parse::check_company(&given, log_level.or(sdk_log_level).is_some())?;
        let dpdk_words = dpdk::from_json(&file.dpdk, self.pedantic)?;

        self.set_levels(log_level, sdk_log_level)?;
        for occurrence in &given {
            self.carry_out(occurrence)?;
            self.alive(|_| ())?;
        }
        if !waived {
            parse::check_mandatory(&line.path, &given)?;
        }
        check_command(&line.path)?;
        if let Some(validation) = self.validation {
            // SAFETY: the program's callback by its contract; no lock is held.
            status("validation of the flags", unsafe { validation(self.config) })?;
            self.alive(|_| ())?;
        }
        if let Some(callback) = self.dpdk {
            let words = for_dpdk.iter().copied().chain(dpdk_words.iter().map(String::as_bytes));
            self.start_dpdk(callback, [argv[0]].into_iter().chain(words))?;
        }
        if let Some((command, callback)) = line.path.last().and_then(|c| Some((c, c.callback?))) {
            // SAFETY: as above.
            status(&format!("command {}", lossy(&command.name)), unsafe { callback(self.config) })?;
        }
        Ok(())
    }

    /// Works on the parser, unless a callback destroyed it.
    fn alive<T>(&self, work: impl FnOnce(&mut state::Parser) -> T) -> Result<T, Stop> {
        state::with_generation(self.generation, work).ok_or(Stop::Gone)
    }

    fn end_with_version(&self) -> Result<(), Stop> {
        if let Some(callback) = self.version {
            // SAFETY: the program's callback by its contract; no lock is held. There is no value.
            let answer = unsafe { callback(std::ptr::null_mut(), self.config) };
            status("version callback", answer)?;
        } else {
            report::answer(&format!(
                "{}: DOCA {} (SoftDPU {})\n",
                lossy(&self.root.name),
                crate::version::RUNTIME.to_string_lossy(),
                env!("CARGO_PKG_VERSION")
            ));
        }
        std::process::exit(0);
    }

    fn file(&self, path: &CStr, commands: &[Arc<Command>]) -> Result<File, Refusal> {
        let path = Path::new(OsStr::from_bytes(path.to_bytes()));
        let failed = |why: &dyn std::fmt::Display| {
            let reason = format!("the parameter file {} cannot be read: {why}", path.display());
            Refusal::new(Code::IoFailed, reason)
        };
        let mut text = Vec::new();
        let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
        file.take(MAX_FILE + 1).read_to_end(&mut text).map_err(|error| failed(&error))?;
        if text.len() as u64 > MAX_FILE {
            return Err(failed(&format!("it has more than {MAX_FILE} bytes")));
        }
        Rules { path: commands, dpdk_program: self.dpdk.is_some(), pedantic: self.pedantic }.read(&text)
    }

    fn set_levels(&self, application: Option<u32>, sdk: Option<u32>) -> Result<(), Stop> {
        if let Some(level) = application.and_then(Level::from_number) {
            set_app_lower(level);
        }
        if let Some(level) = sdk.and_then(Level::from_number) {
            set_sdk_limit(level);
        }
        self.alive(|parser| (parser.log_level, parser.sdk_log_level) = (application, sdk))
    }

    fn carry_out(&self, occurrence: &Occurrence) -> Result<(), Stop> {
        let param = &*occurrence.param;
        match &occurrence.value {
            Value::String(text) => {
                // A copy of its own: C may write into it.
                let mut text = text.clone().into_bytes_with_nul();
                self.call(param, text.as_mut_ptr().cast())
            }
            Value::Int(value) => self.call_with(param, *value),
            Value::Double(value) => self.call_with(param, *value),
            Value::Boolean => self.call_with(param, true),
            Value::Device(text) => {
                let dev = self.opener.open(text)?;
                self.call_with(param, DeviceValue { dev, devargs: self.keep(text.devargs.as_ref())? })
            }
            Value::DeviceRep(text) => {
                let (dev, dev_rep) = self.opener.open_representor(text)?;
                let devargs = self.keep(text.device.devargs.as_ref())?;
                self.call_with(param, RepValue { dev_ctx: DeviceValue { dev, devargs }, dev_rep })
            }
        }
    }

    /// Device arguments stay valid until the parser goes.
    fn keep(&self, text: Option<&CString>) -> Result<*const std::ffi::c_char, Stop> {
        let Some(text) = text.cloned() else { return Ok(std::ptr::null()) };
        let pointer = text.as_ptr();
        self.alive(|parser| parser.kept.push(text))?;
        Ok(pointer)
    }

    fn call_with<T>(&self, param: &Param, mut value: T) -> Result<(), Stop> {
        self.call(param, (&raw mut value).cast())
    }

    fn call(&self, param: &Param, value: *mut c_void) -> Result<(), Stop> {
        let Some(callback) = param.callback else { return Ok(()) };
        // SAFETY: the program's callback by its contract: `value` leads to a live value of the flag's type;
        // no lock is held.
        let answer = unsafe { callback(value, self.config) };
        status(&format!("flag {} was refused", param.shown()), answer)
    }

    fn start_dpdk<'a>(
        &self,
        callback: DpdkCallback,
        words: impl IntoIterator<Item = &'a [u8]>,
    ) -> Result<(), Stop> {
        let mut arguments = Arguments::new(words);
        let (argc, argv) = arguments.as_main();
        self.alive(|parser| parser.dpdk_arguments = Some(arguments))?;
        // SAFETY: the program's callback by its contract; the array lives until the parser goes.
        status("start of DPDK", unsafe { callback(argc, argv) })?;
        self.alive(|_| ())
    }
}

/// `struct doca_argp_device_ctx`.
#[repr(C)]
struct DeviceValue {
    dev: *mut c_void,
    devargs: *const std::ffi::c_char,
}

/// `struct doca_argp_device_rep_ctx`.
#[repr(C)]
struct RepValue {
    dev_ctx: DeviceValue,
    dev_rep: *mut c_void,
}

fn status(what: &str, status: c_int) -> Result<(), Stop> {
    if status == 0 { Ok(()) } else { Err(Stop::Status(status, what.to_owned())) }
}

/// A command that only groups others does nothing by itself: one of them is expected.
fn check_command(path: &[Arc<Command>]) -> Result<(), Refusal> {
    let Some(command) = path.last().filter(|_| path.len() > 1) else { return Ok(()) };
    if command.callback.is_none() && command.params.is_empty() && !command.commands.is_empty() {
        let reason = format!("command {} needs one of its commands", lossy(&command.name));
        return Err(Refusal::invalid(reason));
    }
    Ok(())
}
