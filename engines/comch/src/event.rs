//! What programs are told besides completions, and how it reaches them.

use crate::connection::Connection;
use softdpu_room::biased::Biased;
use softdpu_room::context::Core;
use std::fmt;
use std::sync::Arc;

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// Server: a client came.
    Connected(Arc<Connection>),
    /// Server: a client left, or died. The last event of its connection.
    Disconnected(Arc<Connection>),
    /// A message.
    Message(Arc<Connection>, Message),
    /// The peer started a consumer.
    NewConsumer(Arc<Connection>, u32),
    /// A consumer of the peer is gone.
    ExpiredConsumer(Arc<Connection>, u32),
}

impl Event {
    /// The connection it is about.
    pub fn connection(&self) -> &Arc<Connection> {
        match self {
            Event::Connected(connection)
            | Event::Disconnected(connection)
            | Event::Message(connection, _)
            | Event::NewConsumer(connection, _)
            | Event::ExpiredConsumer(connection, _) => connection,
        }
    }
}

/// A face: gets the events of a context, inside progress, with nothing held.
pub trait Listener: Send + Sync + 'static {
    /// Tells the program of anything but messages.
    fn tell(&self, core: &'static Core, event: Event);

    /// Tells the program of a message. What is given back is memory for a later one.
    fn message(&self, core: &'static Core, connection: &Arc<Connection>, message: Message)
    -> Option<Message>;

    /// No memory for messages is left: puts what it has into `free`, which is empty.
    fn refill(&self, free: &mut Vec<Message>) {
        let _ = free;
    }

    /// Does it want messages? Those that nobody wants are dropped.
    fn wants_messages(&self) -> bool {
        true
    }

    /// Does it want to know about consumers?
    fn wants_consumers(&self) -> bool {
        true
    }

    /// Does it want to be told when a client's connection ends, too?
    fn wants_end(&self) -> bool {
        false
    }

    /// The context is idle. As [`Listener::forget`].
    fn idle(&self) {}

    /// The connection is over without an event of its own. Called with the lane held: tells nobody, waits for nothing.
    fn forget(&self, connection: &Arc<Connection>) {
        let _ = connection;
    }
}

/// Who is told of the events of a context, and memory for its messages. One buffer where each message is read before the
/// next comes.
pub(crate) struct Post {
    pub(crate) listener: Arc<dyn Listener>,
    size: usize,
    free: Biased<Vec<Message>>,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Post(messages of {} bytes)", self.size)
    }
}

impl Post {
    /// For messages of at most `msg` bytes.
    pub(crate) fn new(listener: Arc<dyn Listener>, msg: u32) -> Arc<Post> {
        Arc::new(Post { listener, size: msg as usize + 2 * ALIGN, free: Biased::new(Vec::new()) })
    }

    /// Memory for the next message.
    #[inline]
    pub(crate) fn take(&self) -> Message {
        let spare = self.free.with(|free| {
            if free.is_empty() {
                self.listener.refill(free);
            }
            free.pop()
        });
        spare.unwrap_or_else(|| Message::with(self.size))
    }

    /// Tells the program.
    pub(crate) fn tell(core: &'static Core, event: Event) {
        match event {
            Event::Message(connection, message) => {
                let post = connection.post();
                if let Some(message) = post.listener.message(core, &connection, message) {
                    post.free.with(|free| free.push(message));
                }
            }
            other => {
                let listener = other.connection().post().listener.clone();
                listener.tell(core, other);
            }
        }
    }
}

/// Messages begin at a multiple of this many bytes, and at least as many behind them may be written.
const ALIGN: usize = 8;

/// The bytes of a message, aligned to 8, with a spare byte behind them.
pub struct Message {
    buffer: Vec<u8>,
    start: usize,
    len: usize,
}

impl fmt::Debug for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes)", self.len)
    }
}

impl Message {
    fn with(size: usize) -> Message {
        let buffer = vec![0; size];
        let start = buffer.as_ptr().align_offset(ALIGN).min(ALIGN);
        Message { buffer, start, len: 0 }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer[self.start..self.start + self.len]
    }

    /// The bytes, to change them.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..self.start + self.len]
    }

    /// Everything from the first byte on that may be written: the message, and at least a byte.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.start..]
    }

    pub(crate) fn set_len(&mut self, len: usize) {
        self.len = len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_aligned_and_have_a_spare_byte() {
        for size in [1, 7, 8, 100, 4080] {
            let mut message = Message::with(size + 2 * ALIGN);
            message.set_len(size);
            assert_eq!(message.bytes().as_ptr() as usize % ALIGN, 0);
            assert!(message.room().len() > size);
            message.bytes_mut().fill(7);
            assert_eq!(message.bytes(), vec![7; size]);
        }
    }
}
