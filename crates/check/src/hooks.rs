//! What the functions of `shim.c`, `peers.c`, `packets.c`, `flow.c` and `memory.c` tell. Handles come as numbers: the checker never looks behind one.
#![expect(unsafe_code, reason = "entry points for C, and the texts and structures that C hands over")]

mod flight;
mod flow;
mod fork;
mod memory;
mod objects;
mod packets;
mod peers;
mod tasks;

use crate::place::Place;
use crate::report::say;
use crate::shadow::Shadow;
use crate::{rules, sys, with, with_as};
use std::ffi::{CStr, c_char, c_int};

const SUCCESS: c_int = 0;
const IN_USE: c_int = 3;
const NOT_SUPPORTED: c_int = 4;
const AGAIN: c_int = 5;
const INVALID_VALUE: c_int = 6;
const NO_MEMORY: c_int = 7;
const BAD_STATE: c_int = 18;
const FULL: c_int = 24;
const IN_PROGRESS: c_int = 26;
/// Errors that stay as long as the call is the same.
const PARAMETER: [c_int; 6] = [2, 4, INVALID_VALUE, 16, 23, 27];
/// Calls in a row from one place that fail for the same reason before that is worth a line.
const STUBBORN: u32 = 100;
/// Refusals in a row from one place without a call of progress before that is worth a line.
const IMPATIENT: u32 = 1000;
/// Armings in a row without a clear, each after callbacks, before that is worth a line.
const STALE: u32 = 16;
/// `DOCA_CTX_STATE_RUNNING`, and the names of all states.
const RUNNING: c_int = 2;
const STATES: [&str; 4] = ["IDLE", "STARTING", "RUNNING", "STOPPING"];

/// A text of `shim.c`, which are literals all.
unsafe fn literal(text: *const c_char) -> &'static str {
    // SAFETY: the caller hands over literals of `shim.c`.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

fn state(number: c_int) -> &'static str {
    usize::try_from(number).ok().and_then(|n| STATES.get(n)).copied().unwrap_or("unknown")
}

fn checked(f: impl FnOnce(&mut Shadow)) {
    if !fork::is_child() {
        with(f);
    }
}

/// The same for calls that have to be cheap.
#[inline(always)]
fn checked_as(me: c_int, f: impl FnOnce(&mut Shadow)) {
    if !fork::is_child() {
        with_as(me, f);
    }
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_begin() {
    // SAFETY: a function of this library, which stays loaded.
    unsafe { libc::pthread_atfork(None, None, Some(fork::forked)) };
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_check_end(status: c_int) {
    if fork::is_child() {
        if let Some(document) = fork::report() {
            write(&document, false);
            fail(status);
        }
        return;
    }
    // The program itself, and not something that it started: those say something only if they use a card.
    let main = set("SOFTDPU_CHECK_PID").is_some_and(|pid| pid == *std::process::id().to_string());
    let found = with(|shadow| {
        let silent = shadow.is_untouched();
        flow::unprocessed(shadow, |_| true);
        shadow.leaks();
        if !silent {
            shadow.report.close(&shadow.statistics());
        }
        (silent, !shadow.report.is_empty(), shadow.json())
    });
    let Some((silent, bad, document)) = found else { return };
    if silent && main {
        say(
            "no findings (not one call was seen: the program uses no card, or was linked with the static library)",
        );
    }
    if !silent || main {
        write(&document, main);
    }
    if bad {
        fail(status);
    }
}

/// A variable that is there and not empty.
fn set(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|v| !v.is_empty())
}

/// Writes the report where one is wanted; processes that the program started write one of their own.
fn write(document: &serde_json::Value, main: bool) {
    let Some(path) = set("SOFTDPU_CHECK_REPORT") else { return };
    let mut path = std::path::PathBuf::from(path);
    if !main {
        path = path.with_added_extension(std::process::id().to_string());
    }
    if let Err(e) = std::fs::write(&path, format!("{document:#}\n")) {
        say(&format!("{}: cannot be written: {e}", path.display()));
    }
}

/// Something was found: that may be a failure.
fn fail(status: c_int) {
    if status == 0 && set("SOFTDPU_CHECK_FAIL").is_some() {
        sys::end(1);
    }
}

/// Counts failures of one place that will not pass.
fn stubborn(shadow: &mut Shadow, result: c_int, call: &str, place: Place) {
    if !PARAMETER.contains(&result) {
        return;
    }
    let times = shadow.failures.entry(place).or_default();
    *times += 1;
    if *times == STUBBORN {
        let words = crate::report::Words {
            object: format!("call of {call} (at {place})"),
            numbers: format_args!("{STUBBORN} times, always with error {result}"),
        };
        shadow.report.add(&rules::RETRY_PARAMETER, place, place, &words);
    }
}

/// Counts refusals that pass with progress, and progress in between.
fn impatient(shadow: &mut Shadow, ctx: usize, result: c_int, call: &str, place: Place) {
    let Some(calls) =
        shadow.engine_of(ctx).and_then(|pe| shadow.pumps.get(pe)).map(|(pump, _)| pump.counts().0)
    else {
        return;
    };
    let (before, times) = shadow.refusals.entry(place).or_default();
    if *before != calls {
        (*before, *times) = (calls, 0);
    }
    *times += 1;
    if *times == IMPATIENT {
        let numbers = format_args!("{call} at {place}: {IMPATIENT} times error {result}, and no progress");
        shadow.blame(&rules::AGAIN_WITHOUT_PROGRESS, place, ctx, numbers);
    }
}
