//! From events to lines: which spans, arrows and counters come of them.
//!
//! | line | where | from, to |
//! |---|---|---|
//! | span of a task | a row of its context | submitted, reported (or over, where nobody is called) |
//! | span of work | the threads that carry it out, or parts of it | begun, carried out |
//! | span of a callback | the thread that calls progress | reported, returned |
//! | mark of a submit | the thread that submits | |
//! | arrow | mark, work, callback (or span of the task, where nobody is called) | |
//! | counter | the process | tasks in flight of a context |
//!
//! Events come in the order of time, nearly (what was carried out in one with its end comes when it ended): a thread may be
//! held up between reading the clock and writing down what it read. Spans are moved by nanoseconds then, so that they nest.

use crate::event::{Event, What};
use crate::record::json::Lines;
use crate::record::shown::{Flight, Shown, describe};
use crate::record::thread::{Open, Thread};
use crate::record::{Context, Task};
use std::collections::HashMap;

/// Thread numbers from here on are rows of contexts; the kernel has no threads of such numbers.
const ROWS: u32 = 1 << 24;

/// What is counted of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) events: u64,
    /// Events left out, because their ring or the file was full.
    pub(crate) lost: u64,
    /// Tasks of which some event was left out.
    pub(crate) torn: u64,
    pub(crate) unfinished: u64,
}

/// The trace so far.
#[derive(Debug)]
pub(crate) struct Story {
    pid: u32,
    lines: Lines,
    /// By number; those nobody told of are empty.
    contexts: Vec<Shown>,
    tasks: HashMap<Task, Flight>,
    threads: HashMap<u32, Thread>,
    rows: u32,
    flights: u64,
    /// When the last event was.
    now: u64,
    totals: Totals,
}

impl Story {
    pub(crate) fn new(pid: u32, program: &str) -> Story {
        let mut lines = Lines::default();
        lines.line("M", pid, pid, "process_name", |line| {
            line.object("args", |args| {
                args.text("name", program);
            });
        });
        Story {
            pid,
            lines,
            contexts: Vec::new(),
            tasks: HashMap::new(),
            threads: HashMap::new(),
            rows: 0,
            flights: 0,
            now: 0,
            totals: Totals::default(),
        }
    }

    /// Lines that wait to be written.
    pub(crate) fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// A thread that writes events.
    pub(crate) fn thread(&mut self, tid: u32, name: &str) {
        self.lines.line("M", self.pid, tid, "thread_name", |line| {
            line.object("args", |args| {
                args.text("name", name);
            });
        });
    }

    /// A context.
    pub(crate) fn context(&mut self, context: &Context) {
        let shown = Shown::new(context);
        self.lines.line("M", self.pid, self.pid, "softdpu_context", |line| {
            line.object("args", |args| {
                args.word("context", &shown.name)
                    .text("engine", &context.engine)
                    .text("device", &context.device);
                args.id("id", context.id);
            });
        });
        let place = context.number as usize;
        while self.contexts.len() <= place {
            self.contexts.push(Shown::default());
        }
        self.contexts[place] = shown;
    }

    /// Some events were left out.
    pub(crate) fn lost(&mut self, count: u64, at: u64) {
        self.totals.lost += count;
        self.lines.line("i", self.pid, self.pid, "events lost", |line| {
            line.word("s", "p").time("ts", at).object("args", |args| {
                args.number("count", count);
            });
        });
    }

    /// The next event, of the thread with this number, at this time; `since`: when what it ends began.
    pub(crate) fn tell(&mut self, tid: u32, since: u64, at: u64, event: &Event) {
        self.totals.events += 1;
        self.now = self.now.max(at);
        let task = (event.context, event.task);
        if self.contexts.get(event.context as usize).is_none_or(|context| context.kinds.is_empty()) {
            return;
        }
        match event.what {
            What::Submitted => self.submitted(tid, at, task, event),
            What::Begun => self.begun(tid, at, task),
            What::Part => self.part(tid, at, task),
            What::Worked => self.worked(tid, at, task),
            What::PartOver => self.part_over(tid, at, task),
            What::Carried => {
                self.begun(tid, since, task);
                self.worked(tid, at, task);
            }
            What::Ended => self.ended(at, task, event.status, event.value),
            What::Over => {
                self.ended(at, task, event.status, event.value);
                self.reported(at, task, false);
            }
            What::Landed => {
                self.ended(at, task, event.status, event.value);
                self.called(tid, at, task);
            }
            What::AtOnce => {
                self.begun(tid, since, task);
                self.worked(tid, at, task);
                self.ended(at, task, 0, event.value);
                self.called(tid, at, task);
            }
            What::Reported => self.called(tid, at, task),
            // Of futures that were dropped it is told beside their end.
            What::Forgotten if self.tasks.contains_key(&task) => _ = self.reported(at, task, false),
            What::Forgotten => {}
            What::Returned => self.closed(tid, at, task, true),
            What::Idle => self.idle(at, event.context),
        }
    }

    fn submitted(&mut self, tid: u32, at: u64, task: Task, event: &Event) {
        self.flights += 1;
        let number = u64::from(self.pid) << 40 | self.flights;
        let at = self.threads.entry(tid).or_default().mark(at);
        let context = &mut self.contexts[task.0 as usize];
        let (row, earliest, is_new) = context.rows.take();
        context.in_flight += 1;
        let submitted = at.max(earliest);
        let kind = event.kind.min(context.kinds.len() as u8 - 1);
        let flight = Flight {
            number,
            row,
            kind,
            submitted,
            pointed: at,
            address: event.value,
            begun: None,
            worked: false,
            at_work: None,
            through: None,
            ended: None,
            bytes: u64::MAX,
            status: 0,
        };
        self.tasks.insert(task, flight);
        if is_new {
            self.new_row(task.0 as usize, row);
        }
        let context = &self.contexts[task.0 as usize];
        let name = &context.kinds[usize::from(kind)].submit;
        self.lines.line("X", self.pid, tid, name, |line| {
            line.word("cat", "submit").time("ts", at).time("dur", 1);
        });
        self.arrow("s", tid, at, number);
        self.count(task.0 as usize, at);
    }

    fn new_row(&mut self, context: usize, row: u32) {
        let (tid, order) = (ROWS + self.rows, u64::from(ROWS) + ((context as u64) << 16) + u64::from(row));
        self.rows += 1;
        let context = &mut self.contexts[context];
        context.tids.push(tid);
        let name = format!("{} row {}", context.name, row + 1);
        self.lines.line("M", self.pid, tid, "thread_name", |line| {
            line.object("args", |args| {
                args.word("name", &name);
            });
        });
        self.lines.line("M", self.pid, tid, "thread_sort_index", |line| {
            line.object("args", |args| {
                args.number("sort_index", order);
            });
        });
    }

    fn arrow(&mut self, phase: &str, tid: u32, at: u64, number: u64) {
        self.lines.line(phase, self.pid, tid, "task", |line| {
            line.word("cat", "flow").time("ts", at).id("id", number);
            if phase == "f" {
                line.word("bp", "e");
            }
        });
    }

    fn count(&mut self, context: usize, at: u64) {
        let context = &self.contexts[context];
        self.lines.line("C", self.pid, self.pid, &context.counter, |line| {
            line.time("ts", at).object("args", |args| {
                args.number("tasks", context.in_flight);
            });
        });
    }

    fn begun(&mut self, tid: u32, at: u64, task: Task) {
        // Whoever hands a task to others may be slower than they are.
        let Some(flight) = self.tasks.get_mut(&task).filter(|flight| flight.ended.is_none()) else { return };
        let at = self.threads.entry(tid).or_default().begins(at).max(flight.submitted);
        flight.begun = Some(at);
        flight.at_work = Some(tid);
        let open = Open { task, at, number: flight.number, kind: flight.kind, is_callback: false };
        self.threads.entry(tid).or_default().begin(open);
    }

    /// The thread that began it has carried it out.
    fn worked(&mut self, tid: u32, at: u64, task: Task) {
        if let Some(flight) = self.tasks.get_mut(&task) {
            flight.at_work = None;
            flight.through = Some(at.max(flight.begun.unwrap_or(flight.submitted)));
        }
        self.closed(tid, at, task, false);
    }

    /// A part of a large task, which several threads carry out.
    fn part(&mut self, tid: u32, at: u64, task: Task) {
        let Some(flight) = self.tasks.get_mut(&task) else { return };
        let (at, number, kind) = (at.max(flight.submitted), flight.number, flight.kind);
        flight.begun.get_or_insert(at);
        self.threads.entry(tid).or_default().begin(Open { task, at, number, kind, is_callback: false });
    }

    fn part_over(&mut self, tid: u32, at: u64, task: Task) {
        if let Some(flight) = self.tasks.get_mut(&task) {
            flight.through = Some(at.max(flight.begun.unwrap_or(flight.submitted)));
        }
        self.closed(tid, at, task, false);
    }

    fn ended(&mut self, at: u64, task: Task, status: i32, value: u64) {
        let Some(flight) = self.tasks.get_mut(&task) else { return };
        let at = at.max(flight.begun.unwrap_or(flight.submitted));
        // With the last of its work, where that was seen.
        flight.ended = Some(flight.through.map_or(at, |through| through.min(at)));
        flight.status = status;
        flight.bytes = if status != 0 || self.contexts[task.0 as usize].bytes { value } else { u64::MAX };
        let (at_work, through) = (flight.at_work.take(), flight.through);
        match (at_work, through) {
            // It landed, and the thread that carried it out has not said yet that it is through.
            (Some(tid), None) if self.contexts[task.0 as usize].computes => self.closed(tid, at, task, false),
            // Begun here and carried out elsewhere, by other threads or by others than threads.
            (Some(_), _) => self.threads.values_mut().for_each(|thread| thread.forget(task)),
            (None, _) => {}
        }
    }

    /// A span of a thread is over: work, or a callback.
    fn closed(&mut self, tid: u32, at: u64, task: Task, is_callback: bool) {
        let ended = self.threads.entry(tid).or_default().end(task, is_callback, at);
        let Some((open, end)) = ended else { return };
        // One arrow points to the work, whichever part is over first.
        let first = is_callback
            || self.tasks.get_mut(&task).is_some_and(|flight| {
                flight.pointed = flight.pointed.max(open.at);
                !core::mem::replace(&mut flight.worked, true)
            });
        self.span(tid, &open, end, first);
    }

    /// A span on a thread, and perhaps an arrow to it.
    fn span(&mut self, tid: u32, open: &Open, end: u64, arrow: bool) {
        let kind = &self.contexts[open.task.0 as usize].kinds[usize::from(open.kind)];
        let (name, category) =
            if open.is_callback { (&kind.callback, "callback") } else { (&kind.run, "work") };
        self.lines.line("X", self.pid, tid, name, |line| {
            line.word("cat", category).time("ts", open.at).time("dur", end - open.at);
        });
        if arrow {
            self.arrow(if open.is_callback { "f" } else { "t" }, tid, open.at, open.number);
        }
    }

    /// A callback begins.
    fn called(&mut self, tid: u32, at: u64, task: Task) {
        let at = self.threads.entry(tid).or_default().begins(at);
        let Some((at, number, kind)) = self.reported(at, task, true) else { return };
        self.threads.entry(tid).or_default().begin(Open { task, at, number, kind, is_callback: true });
    }

    /// A task is the program's again: when, the number of its flight, and its kind. Is somebody `called`, to whom the arrow
    /// leads?
    fn reported(&mut self, at: u64, task: Task, called: bool) -> Option<(u64, u64, u8)> {
        let Some(flight) = self.tasks.remove(&task) else {
            self.totals.torn += 1;
            return None;
        };
        let least = if called { flight.submitted } else { flight.submitted.max(flight.pointed) };
        let at = at.max(flight.ended.or(flight.begun).unwrap_or(0)).max(least + 1);
        self.task(task, &flight, at);
        if !called {
            let row = self.contexts[task.0 as usize].tids[flight.row as usize];
            self.arrow("f", row, at - 1, flight.number);
        }
        let context = &mut self.contexts[task.0 as usize];
        context.rows.give(flight.row, at);
        context.in_flight -= 1;
        self.count(task.0 as usize, at);
        Some((at, flight.number, flight.kind))
    }

    /// Nothing flies any more: tasks that were freed in flight have gone without a word.
    fn idle(&mut self, at: u64, context: u32) {
        let mut left: Vec<Task> = self.tasks.keys().copied().filter(|task| task.0 == context).collect();
        left.sort_unstable();
        for task in left {
            self.reported(at, task, false);
        }
    }

    /// The span of a task in the row of its context.
    fn task(&mut self, task: Task, flight: &Flight, at: u64) {
        let context = &self.contexts[task.0 as usize];
        let tid = context.tids[flight.row as usize];
        let name = &context.kinds[usize::from(flight.kind)].name;
        self.lines.line("X", self.pid, tid, name, |line| {
            line.word("cat", "task").time("ts", flight.submitted).time("dur", at - flight.submitted);
            if flight.status != 0 {
                // Red, where a viewer has colours.
                line.word("cname", "terrible");
            }
            line.object("args", |args| describe(args, &context.name, task.1, flight, at));
        });
    }

    /// The end: callbacks that have not returned end here, and what still flies is shown without an end.
    pub(crate) fn finish(&mut self) -> Totals {
        let mut tids: Vec<u32> = self.threads.keys().copied().collect();
        tids.sort_unstable();
        for tid in tids {
            while let Some(task) = self.threads.get(&tid).and_then(Thread::callback) {
                self.closed(tid, self.now, task, true);
            }
        }
        let mut left: Vec<(Task, Flight)> = self.tasks.drain().collect();
        left.sort_by_key(|(_, flight)| flight.number);
        self.totals.unfinished = left.len() as u64;
        for (task, flight) in left {
            let context = &self.contexts[task.0 as usize];
            let tid = context.tids[flight.row as usize];
            let name = &context.kinds[usize::from(flight.kind)].name;
            self.lines.line("B", self.pid, tid, name, |line| {
                line.word("cat", "task").time("ts", flight.submitted).object("args", |args| {
                    args.word("context", &context.name).number("number", task.1).id("task", flight.address);
                    args.word(
                        "unfinished",
                        if flight.ended.is_some() { "not reported" } else { "in flight" },
                    );
                });
            });
        }
        let totals = self.totals;
        self.lines.line("M", self.pid, self.pid, "softdpu_end", |line| {
            line.object("args", |args| {
                args.number("events", totals.events).number("lost", totals.lost);
                args.number("torn", totals.torn).number("left", totals.unfinished);
            });
        });
        totals
    }
}

#[cfg(test)]
#[path = "story_tests.rs"]
mod tests;
