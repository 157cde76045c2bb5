//! What a function's end of the channel can do.

use crate::streams::Role;
use softdpu_card::{Feature, Function};
use softdpu_status::{Code, Error, Result};

/// Most bytes of immediate data that a task has room for.
pub(crate) const MAX_IMM: u32 = crate::rings::IMM as u32;

/// Limits of messages and streams on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Can servers run here?
    pub server: bool,
    /// Can clients run here?
    pub client: bool,
    /// Can producers run here?
    pub producer: bool,
    /// Can consumers run here?
    pub consumer: bool,
    /// Longest server name in bytes, with its terminating zero.
    pub max_name_len: u32,
    /// Most bytes of a message.
    pub max_msg_size: u32,
    /// Longest receive queue in messages.
    pub max_recv_queue_size: u32,
    /// Most clients of one server at a time.
    pub max_clients: u32,
    /// Most messages of one context in flight.
    pub max_send_tasks: u32,
    /// Most tasks of one producer or consumer.
    pub max_stream_tasks: u32,
    /// Most bytes of one buffer of a producer or consumer.
    pub max_stream_buf_size: u32,
    /// Most elements of a producer's list. Consumers take single buffers.
    pub max_stream_buf_list_len: u32,
    /// Most producers, and most consumers, that one end of a connection may have.
    pub max_streams: u32,
    /// Most bytes of immediate data.
    pub max_imm_data_len: u32,
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when it has none of it.
    pub fn of(function: &Function) -> Result<Caps> {
        let limits = &function.limits().comch;
        let caps = Caps {
            server: function.has(Feature::ComchServer),
            client: function.has(Feature::ComchClient),
            producer: function.has(Feature::ComchProducer),
            consumer: function.has(Feature::ComchConsumer),
            max_name_len: limits.max_name_len,
            max_msg_size: limits.max_msg_size,
            max_recv_queue_size: limits.max_recv_queue_size,
            max_clients: limits.max_clients,
            max_send_tasks: limits.max_send_tasks,
            max_stream_tasks: limits.max_stream_tasks,
            max_stream_buf_size: limits.max_stream_buf_size,
            max_stream_buf_list_len: limits.max_stream_buf_list_len,
            max_streams: limits.max_streams,
            max_imm_data_len: limits.max_imm_data_len.min(MAX_IMM),
        };
        if caps.server || caps.client {
            return Ok(caps);
        }
        Err(Error::new(Code::NotSupported, "the device has no channel between host and card"))
    }

    /// Can producers, or consumers, run here?
    pub(crate) fn has(&self, role: Role) -> bool {
        match role {
            Role::Producer => self.producer,
            Role::Consumer => self.consumer,
        }
    }

    /// Received messages that may wait when the program says nothing.
    pub fn default_recv_queue_size(&self) -> u32 {
        self.max_recv_queue_size.min(32)
    }
}
