//! What the program is to be told of its connections, in order.

use crate::engine::Event;
use std::collections::VecDeque;

/// Events that wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<Event>,
    /// They wait until so many tasks were reported, modulo 2^32.
    behind: Option<u32>,
}

impl Events {
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn push(&mut self, event: Event) {
        self.queue.push_back(event);
    }

    /// One that is told after the tasks that are through by now, which are so many: messages of a connection come before
    /// its end.
    pub(crate) fn push_behind(&mut self, event: Event, through: u32) {
        self.queue.push_back(event);
        self.behind = Some(through);
    }

    /// Nobody is let in any more.
    pub(crate) fn forget_requests(&mut self) {
        self.queue.retain(|event| !matches!(event, Event::Requested(_)));
    }

    /// The next one, when so many tasks were reported.
    pub(crate) fn next(&mut self, reported: u32) -> Option<Event> {
        if let Some(behind) = self.behind {
            if (reported.wrapping_sub(behind) as i32) < 0 {
                return None;
            }
            self.behind = None;
        }
        self.queue.pop_front()
    }
}
