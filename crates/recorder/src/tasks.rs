//! Which buffers a task has, as the program's calls said.

use std::collections::HashMap;

/// Tasks by address. Addresses are used again, so there are never more than were in use at once.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    buffers: HashMap<usize, Vec<(u32, usize)>>,
}

/// Source and destination are set anew, any other buffer is one more.
const OTHER: u32 = 2;

impl Tasks {
    /// A new task.
    pub(super) fn made(&mut self, task: usize) {
        self.buffers.entry(task).or_default().clear();
    }

    /// A buffer of a task.
    pub(super) fn set(&mut self, task: usize, role: u32, buffer: usize) {
        let all = self.buffers.entry(task).or_default();
        if role < OTHER {
            all.retain(|(r, _)| *r != role);
        }
        if buffer != 0 {
            all.push((role, buffer));
        }
    }

    /// The buffers of a task.
    pub(super) fn of(&self, task: usize) -> Vec<usize> {
        self.buffers.get(&task).map_or_else(Vec::new, |all| all.iter().map(|(_, buffer)| *buffer).collect())
    }
}
