//! A connection that a real card carries.

use super::{Connection, Parts, Side};
use crate::bell::Bell;
use crate::event::Post;
use crate::layout::Terms;
use crate::sync::Ordering;
use crate::todo::Todo;
use softdpu_link::{Ringer, Segment};
use softdpu_memory::device::Device;
use softdpu_status::Result;
use std::sync::{Arc, Weak};

impl Connection {
    /// One that a real card carries. Its rings are the smallest there are, and closed: nothing goes through them.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn real(
        side: Side,
        device: Weak<Device>,
        terms: Terms,
        todo: &Arc<Todo>,
        post: &Arc<Post>,
    ) -> Result<Arc<Connection>> {
        let least = Terms { msg: 1, queue: 1 };
        let shape = Terms::shape(least, least);
        let bell = Bell::of(todo.alarm())?;
        let [page, event] = bell.owned_fds()?;
        let (connection, _) = Connection::new(Parts {
            seat: 0,
            side,
            device,
            peer: 0,
            mine: terms,
            theirs: terms,
            segment: Segment::create("softdpu-comch", shape.bytes())?,
            shape,
            ringer: Ringer::accept(page, bell.word, event)?,
            ready: None,
            todo: todo.clone(),
            post: post.clone(),
            streams: 0,
        });
        // Messages take a task, whose hardware has the card send them.
        connection.out.visit(|out| out.close());
        Ok(connection)
    }

    /// A real card has a message of so many bytes.
    pub(crate) fn count_sent(&self, bytes: usize) {
        self.out.visit(|out| out.count(bytes));
    }

    /// A real card had one for this end.
    pub(crate) fn count_received(&self, bytes: usize) {
        self.received[0].fetch_add(1, Ordering::Relaxed);
        self.received[1].fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Has the program as many messages as it may have unread?
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.load(Ordering::Acquire)
    }
}
