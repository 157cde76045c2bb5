//! The writer: takes events out of all rings, puts them in order, and writes what comes of them.

use crate::clock::Clock;
use crate::event::Event;
use crate::record::sink::{Added, Sink};
use crate::record::story::{Story, Totals};
use crate::record::{Shared, lock};
use std::collections::HashMap;

/// Events younger than this wait: another thread may be about to write down an earlier one.
const RIPE: u64 = 2_000_000;
/// Bytes that are written at once.
const AT_ONCE: usize = 1 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Writer {
    clock: Clock,
    story: Story,
    sink: Sink,
    /// Events that are not ripe, with the numbers of their threads.
    held: Vec<(u32, Event)>,
    /// Contexts that the story knows.
    contexts: usize,
    /// Per thread, what its ring has lost so far; threads that are here are known to the story.
    lost: HashMap<u32, u64>,
    /// What threads without a ring have lost.
    lost_elsewhere: u64,
    /// Nothing more is written; why.
    full: bool,
    done: bool,
}

impl Writer {
    pub(crate) fn new(clock: Clock, sink: Sink) -> Writer {
        let program = std::env::args_os().next().map(std::path::PathBuf::from);
        let program = program.as_ref().and_then(|path| path.file_name()).unwrap_or_default();
        let story = Story::new(std::process::id(), &program.to_string_lossy());
        Writer {
            clock,
            story,
            sink,
            held: Vec::new(),
            contexts: 0,
            lost: HashMap::new(),
            lost_elsewhere: 0,
            full: false,
            done: false,
        }
    }

    pub(crate) fn is_done(&self) -> bool {
        self.done
    }

    /// Takes and writes what there is; `all`: even what is not ripe. True when there was anything.
    pub(crate) fn round(&mut self, shared: &Shared, all: bool) -> bool {
        if self.done {
            return false;
        }
        self.clock.correct();
        let before = self.held.len();
        self.collect(shared);
        let found = self.held.len() != before;
        // Rings are in order, and so is nearly everything.
        self.held.sort_by_key(|(_, event)| event.at);
        let ripe = if all { u64::MAX } else { self.clock.count_before(RIPE) };
        let count = self.held.partition_point(|(_, event)| event.at <= ripe);
        let ripe: Vec<_> = self.held.drain(..count).collect();
        for (tid, event) in ripe {
            let since = self.clock.nanos(event.at.saturating_sub(event.counts()));
            self.story.tell(tid, since, self.clock.nanos(event.at), &event);
            if self.story.lines().len() >= AT_ONCE {
                self.write();
            }
        }
        self.write();
        found
    }

    fn collect(&mut self, shared: &Shared) {
        let rings = lock(&shared.rings).clone();
        let now = crate::clock::monotonic();
        for ring in &rings {
            let closed = ring.is_closed();
            let (tid, held) = (ring.tid(), &mut self.held);
            ring.drain(|words| held.push((tid, Event::from_words(words))));
            let known = self.lost.get(&tid).copied();
            if known.is_none() {
                self.story.thread(tid, ring.name());
            }
            let lost = ring.lost();
            if lost > known.unwrap_or(0) {
                self.story.lost(lost - known.unwrap_or(0), now);
            }
            self.lost.insert(tid, lost);
            if closed {
                // The number may come again, with another thread.
                self.lost.remove(&tid);
                lock(&shared.rings).retain(|r| !std::sync::Arc::ptr_eq(r, ring));
            }
        }
        let elsewhere = shared.lost();
        if elsewhere > self.lost_elsewhere {
            self.story.lost(elsewhere - self.lost_elsewhere, now);
            self.lost_elsewhere = elsewhere;
        }
        // After the rings: events name no context that is not here.
        let contexts = lock(&shared.contexts);
        for context in &contexts[self.contexts..] {
            self.story.context(context);
        }
        self.contexts = contexts.len();
    }

    fn write(&mut self) {
        let lines = self.story.lines().take();
        if lines.is_empty() || self.full {
            return;
        }
        let path = self.sink.path().display();
        match self.sink.add(&lines) {
            Ok(Added::All) => return,
            Ok(Added::Full) => say!(
                "{path}: the trace has reached its limit of {} MiB; what follows is not written",
                self.sink.limit() >> 20
            ),
            Err(e) => say!("{path}: the trace cannot be written: {e}"),
        }
        self.full = true;
    }

    /// The end of the trace.
    pub(crate) fn finish(&mut self, shared: &Shared) -> Option<Totals> {
        if self.done {
            return None;
        }
        self.round(shared, true);
        let totals = self.story.finish();
        self.write();
        self.done = true;
        Some(totals)
    }
}
