//! What a connection is, and where it is in its life.

/// Which end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The server's.
    Server,
    /// The client's.
    Client,
}

/// Where a connection is in its life.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
#[repr(u8)]
pub enum Phase {
    /// Not established yet.
    Opening = 0,
    /// Established.
    Up = 1,
    /// This end is leaving.
    Leaving = 2,
    /// Over.
    Down = 3,
}

/// Counters of one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Messages handed over.
    pub sent_messages: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Messages taken out.
    pub received_messages: u64,
    /// Their bytes.
    pub received_bytes: u64,
}
