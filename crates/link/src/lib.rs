//! What processes of one user share: who they are, where they meet, memory, messages, wake-ups, and who answers whom.
//!
//! The border of trust is the user: processes of another one are refused. A process of the same user may be broken or
//! hostile all the same: whatever comes from a peer is checked, and the worst it can do is to lose its own connection.
//!
//! | file | what |
//! |---|---|
//! | [`folder`] | the runtime folder |
//! | [`owner`] | a process, and whether it lives |
//! | [`segment`], [`bytes`] | memory that processes share, and how bytes move in it |
//! | [`ring`] | messages through such memory, one sender, one receiver |
//! | [`doorbell`], [`armed`] | waking a sleeper in another process |
//! | [`barrier`] | barriers of which one side pays nothing |
//! | [`socket`] | packets with descriptors |
//! | [`service`], `names` | who answers other processes, who asks them, and the files they find each other by |
//! | [`report`] | what a process is doing, for whoever shows it |
//! | `sys` | system calls for which no safe wrapper fits |

pub mod armed;
pub mod barrier;
pub mod bytes;
pub mod doorbell;
pub mod folder;
mod names;
mod number;
pub mod owner;
pub mod report;
pub mod ring;
pub mod segment;
pub mod service;
pub mod socket;
pub mod sync;
mod sys;

pub use bytes::copy_shared;
pub use doorbell::{Doorbell, Invitation, Ringer};
pub use folder::Folder;
pub use number::checksum64;
pub use owner::Owner;
pub use ring::{Broken, Front, Receiver, Sender, max_message, ring_bytes};
pub use segment::{Mapping, Segment};
pub use service::{
    Answer, Desk, LineHandle, Listener, MAX_REQUEST, Tie, Topic, after, ask, call, ensure, keep, listen,
    processes, serve,
};
pub use socket::{Line, MAX_FDS, MAX_PACKET, Packet, Peer};
pub use sys::{at_exit, with_signals_blocked};

/// Log target of this crate.
const LOG: &str = "softdpu::link";
