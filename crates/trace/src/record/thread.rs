//! What a thread is in the middle of: spans that nest, as viewers want them.

use crate::record::Task;

/// A span that was begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    pub(crate) task: Task,
    pub(crate) at: u64,
    /// Of the task's flight.
    pub(crate) number: u64,
    pub(crate) kind: u8,
    /// A callback, and not the engine's work.
    pub(crate) is_callback: bool,
}

/// The spans of one thread.
#[derive(Debug, Default)]
pub(crate) struct Thread {
    open: Vec<Open>,
    /// Where the last span that was written ended.
    last: u64,
}

/// Deepest nesting that is followed; what goes deeper has lost its ends.
const DEEPEST: usize = 64;

impl Thread {
    /// The time of something that begins at `at`: not before what came last ended, nor before what it lies in.
    pub(crate) fn begins(&self, at: u64) -> u64 {
        at.max(self.last).max(self.open.last().map_or(0, |outer| outer.at))
    }

    /// A span that is over as soon as it began, to which arrows can point.
    pub(crate) fn mark(&mut self, at: u64) -> u64 {
        let at = self.begins(at);
        self.last = at + 1;
        at
    }

    pub(crate) fn begin(&mut self, mut open: Open) {
        open.at = self.begins(open.at);
        if self.open.len() == DEEPEST {
            // What was handed to others never ends here.
            let oldest = self.open.iter().position(|o| !o.is_callback).unwrap_or(0);
            self.open.remove(oldest);
        }
        self.open.push(open);
    }

    /// The task whose callback it is in, the innermost one.
    pub(crate) fn callback(&self) -> Option<Task> {
        self.open.iter().rfind(|o| o.is_callback).map(|o| o.task)
    }

    /// Ends a span; gives it and its end back when it lies within the others. In a callback that is over, nothing lies that
    /// still goes on: its end is lost.
    pub(crate) fn end(&mut self, task: Task, is_callback: bool, at: u64) -> Option<(Open, u64)> {
        let place = self.open.iter().rposition(|o| o.task == task && o.is_callback == is_callback)?;
        if is_callback {
            self.open.truncate(place + 1);
        }
        if place + 1 != self.open.len() {
            self.open.remove(place);
            return None;
        }
        let open = self.open.pop()?;
        let end = at.max(self.last).max(open.at + 1);
        self.last = end;
        Some((open, end))
    }

    /// The task was begun here and carried out elsewhere: it is shown in the row of its context alone.
    pub(crate) fn forget(&mut self, task: Task) {
        self.open.retain(|o| o.task != task || o.is_callback);
    }
}
