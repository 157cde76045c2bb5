//! Ports of a card: where frames come from and go to, and which queue gets them.
//!
//! A [`Port`] belongs to a function of the card, or to the representor of one. Behind it is a
//! [`Backend`](softdpu_card::Backend): the wires of the card itself (`loop`), an interface that the kernel sees (`tap`),
//! a network interface (`packet`, `afxdp`), or capture files (`pcap`). Queues open its two sides: an [`Inlet`] visits
//! frames that arrive, an [`Outlet`] sends batches. Nothing is opened before the first queue.
//!
//! ```text
//!   Outlet ── Batch ──> wire: a ring to each process that receives at the other end     ┐
//!                  └──> tap, packet socket, AF_XDP socket, capture file                 │
//!   Inlet <── queue's own ring <── Intake: one per process and port, classifies <───────┘ sources
//! ```
//!
//! Each process that has an inlet on a port gets every frame that arrives there, as with packet sockets; inside the process
//! the port's rules ([`steer`]) choose the queue. The first inlet whose thread comes by turns the [`intake`](Inlet::receive)
//! for all: its own frames it takes at once, those of other queues go to their rings.
//!
//! Nothing blocks: what finds no room is lost and counted, as on a card. Within a process, too, a frame goes through a
//! ring: a send is complete when the frame has left, whether or not somebody receives it.
//!
//! | file | what |
//! |---|---|
//! | [`headers`](mod@headers), [`checksum`] | what a frame consists of |
//! | [`steer`] | rules and their compiled form |
//! | `port`, `backend` | ports, and opening what is behind them |
//! | `inlet`, `intake`, `drain`, `queue`, `frame` | the receiving side |
//! | `outlet` | the sending side |
//! | `wire` | rings between outlets and intakes, of this process and others |
//! | `source`, `way`, `sys`, [`pcap`] | where frames come from and leave through: rings, sockets, interfaces, files |
//! | `watch` | the thread that wakes queues when the kernel has frames |
//! | `bell` | what a sleeping intake shares with senders |
//! | `counters`, `report` | what is counted, and shown to other processes |

mod backend;
mod bell;
pub mod checksum;
mod counters;
mod drain;
mod frame;
pub mod headers;
mod inlet;
mod intake;
mod outlet;
pub mod pcap;
mod port;
mod queue;
mod report;
#[cfg(test)]
#[allow(
    dead_code,
    reason = "frames for the tests of Ethernet queues, too; not every crate needs all of them"
)]
mod sample;
mod source;
pub mod steer;
mod sync;
mod sys;
mod watch;
mod way;
mod wire;

pub use checksum::Check;
pub use counters::PortCounters;
pub use frame::{Frame, Meta, Taken};
pub use inlet::{Inlet, InletSetup};
pub use outlet::{Batch, Outlet, Sent};
pub use port::{Link, MAX_FRAME, Port, port, representor_port};
pub use queue::{Queue, Wake};

/// Log target of this crate.
const LOG: &str = "softdpu::net";
