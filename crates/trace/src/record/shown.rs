//! What is known of contexts and tasks while they are shown.

use crate::record::Context;
use crate::record::json::Line;
use crate::record::rows::Rows;
use softdpu_status::Code;

/// A task in flight.
#[derive(Debug)]
pub(super) struct Flight {
    pub(super) number: u64,
    pub(super) row: u32,
    pub(super) kind: u8,
    pub(super) submitted: u64,
    /// Where its arrow has come last.
    pub(super) pointed: u64,
    pub(super) address: u64,
    pub(super) begun: Option<u64>,
    /// A thread shows work on it.
    pub(super) worked: bool,
    /// The thread that is carrying it out.
    pub(super) at_work: Option<u32>,
    /// When a thread was through with it, or with a part of it, the last time.
    pub(super) through: Option<u64>,
    pub(super) ended: Option<u64>,
    pub(super) bytes: u64,
    pub(super) status: i32,
}

/// A context, as it is shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) name: String,
    pub(super) counter: String,
    pub(super) kinds: Vec<Kind>,
    pub(super) rows: Rows,
    /// Thread numbers of its rows.
    pub(super) tids: Vec<u32>,
    pub(super) in_flight: u64,
    /// Its engine reports numbers of bytes.
    pub(super) bytes: bool,
    /// Its tasks are carried out by threads that say so.
    pub(super) computes: bool,
}

/// A task kind, as it is shown.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) name: String,
    pub(super) submit: String,
    pub(super) run: String,
    pub(super) callback: String,
}

/// A name that goes into lines as it is.
fn plain(name: &str) -> String {
    name.chars().map(|c| if c.is_control() || c == '"' || c == '\\' { '?' } else { c }).collect()
}

impl Shown {
    /// A context of which nothing has flown.
    pub(super) fn new(context: &Context) -> Shown {
        let engine = plain(&context.engine);
        let name = format!("{engine} {}", context.number);
        let kind = |kind: &String| {
            let name = plain(kind);
            let (submit, run) = (format!("submit {name}"), format!("{engine} {name}"));
            Kind { callback: format!("{name} completed"), name, submit, run }
        };
        Shown {
            counter: format!("{name} in flight"),
            name,
            bytes: context.bytes,
            computes: context.computes,
            kinds: context.kinds.iter().map(kind).chain([kind(&"task".to_owned())]).collect(),
            ..Shown::default()
        }
    }
}

/// The arguments of a task's span, which ends at `at`.
pub(super) fn describe(args: &mut Line<'_>, context: &str, number: u64, flight: &Flight, at: u64) {
    args.word("context", context).number("number", number).id("task", flight.address);
    if flight.bytes != u64::MAX {
        args.number("bytes", flight.bytes);
    }
    if flight.status != 0 {
        let name = Code::from_number(flight.status).map_or("UNKNOWN", Code::name);
        args.word("error", name.strip_prefix("DOCA_ERROR_").unwrap_or(name));
    }
    if let Some(begun) = flight.begun {
        args.time("queued_us", begun - flight.submitted);
        if let Some(ended) = flight.ended {
            args.time("work_us", ended - begun);
        }
    }
    if let Some(ended) = flight.ended {
        args.time("unreported_us", at - ended);
    }
}
