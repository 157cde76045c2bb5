//! The tasks, and the job they become in a slot.

use crate::condition::{Compare, Condition};
use crate::hardware::SyncEvents;
use crate::word::Out;
use softdpu_room::task::Task;

/// What a task does with the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum What {
    Get,
    Set(u64),
    Add(u64),
    Wait(Condition),
}

/// A task in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub(crate) what: What,
    /// C: where the value goes.
    pub(crate) out: Out,
}

impl Job {
    fn of(what: What) -> Job {
        Job { what, out: Out::NOWHERE }
    }
}

/// Reads the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Get;

/// Changes the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotifySet(
    /// To this.
    pub u64,
);

/// Adds to the value, modulo 2^64; gives the value before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotifyAdd(
    /// So much.
    pub u64,
);

/// Completes when the masked value of the event equals `value`; gives the value seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitEqual {
    /// The value waited for.
    pub value: u64,
    /// Which bytes of the event count: 0, 1, 2, 4 or 8 whole bytes in a row.
    pub mask: u64,
}

/// Completes when the masked value of the event is not `value`; gives the value seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitNotEqual {
    /// The value that is left.
    pub value: u64,
    /// As for [`WaitEqual`].
    pub mask: u64,
}

impl WaitEqual {
    /// For the whole value.
    pub fn to(value: u64) -> WaitEqual {
        WaitEqual { value, mask: u64::MAX }
    }
}

impl WaitNotEqual {
    /// For the whole value.
    pub fn to(value: u64) -> WaitNotEqual {
        WaitNotEqual { value, mask: u64::MAX }
    }
}

macro_rules! task {
    ($task:ident, $output:ty, $raw:pat => $out:expr, $this:pat => $what:expr, $back:pat => $made:expr) => {
        impl Task for $task {
            type Engine = SyncEvents;
            type Output = $output;

            fn into_job(self) -> Job {
                let $this = self;
                Job::of($what)
            }

            fn from_job(job: Job) -> $task {
                match job.what {
                    $back => $made,
                    _ => unreachable!("another task's job"),
                }
            }

            fn output($raw: u64) -> $output {
                $out
            }
        }
    };
}

task!(Get, u64, value => value, Get => What::Get, What::Get => Get);
task!(NotifySet, (), _ => (), NotifySet(n) => What::Set(n), What::Set(n) => NotifySet(n));
task!(NotifyAdd, u64, before => before, NotifyAdd(n) => What::Add(n), What::Add(n) => NotifyAdd(n));
task!(
    WaitEqual, u64, seen => seen,
    WaitEqual { value, mask } => What::Wait(Condition::equal(value).masked(mask)),
    What::Wait(Condition { value, mask, .. }) => WaitEqual { value, mask }
);
task!(
    WaitNotEqual, u64, seen => seen,
    WaitNotEqual { value, mask } => What::Wait(Condition { compare: Compare::NotEqual, value, mask }),
    What::Wait(Condition { value, mask, .. }) => WaitNotEqual { value, mask }
);
