//! Traces and metrics: what the tasks of a process do, and how long it takes them.
//!
//! - [`record`]: what happens to every task, as a file that Chrome's and Perfetto's viewers open;
//! - [`read`]: that file again, and whether it is as it should be;
//! - [`metrics`]: counts and durations, for `top` and Prometheus;
//! - [`checks`]: what a program of the Rust face does wrong;
//! - [`probes`]: places for bpftrace and perf;
//! - [`start`]: how it begins;
//! - [`event`], [`ring`]: what is written down, and where until it is written out;
//! - [`histogram`]: how long things take;
//! - `clock`: the cycle counter as time.

/// Says something in one line, as `format!` writes it.
macro_rules! say {
    ($($words:tt)*) => {
        crate::say_line(format_args!($($words)*))
    };
}

pub mod checks;
mod clock;
pub mod event;
pub mod histogram;
mod instrument;
pub mod metrics;
pub mod probes;
pub mod read;
pub mod record;
pub mod ring;
pub mod start;
mod sync;

pub use instrument::trace;

/// Log target of this crate.
const LOG: &str = "softdpu::trace";

/// The environment asked for it, and not the program: whoever did so reads the terminal, and not the program's log.
static ASKED: sync::AtomicBool = sync::AtomicBool::new(false);

/// Says what went wrong, in one line.
fn say_line(line: core::fmt::Arguments<'_>) {
    if ASKED.load(sync::Ordering::Relaxed) {
        eprintln!("softdpu: {line}");
    } else {
        log::error!(target: LOG, "{line}");
    }
}
