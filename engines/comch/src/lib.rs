//! Messages and streams between host and card.
//!
//! A server on the card listens under a name for the clients of one host function; over each connection both ends send
//! messages, and start producers and consumers for bulk data.
//!
//! Server and client meet through a socket in the runtime folder, named after card, host function and server. The
//! service threads of their processes speak there: the client asks, gets a seat, makes a segment fitted to the queues of
//! both, and hands it over; the server's program takes the client in its next progress. From then on the socket carries
//! descriptors and tells of a death; everything else goes through the segment: one ring of records per direction, so
//! that messages, news of consumers and the good-bye keep their order. A message is copied into the ring by its submit
//! (or into a place of its task while the ring is full), and out of it by the progress that tells of it.
//!
//! A consumer has a segment of its own with the receives it has posted. A producer of the other end takes one in its
//! submit, moves the bytes straight into the buffer, through the consumer's exported memory, and says so in the segment.
//!
//! Each end checks what the other wrote. A peer that writes nonsense loses its connection, with one log line.
//!
//! | file | what |
//! |---|---|
//! | `engine.rs`, `caps.rs` | the four kinds of contexts, their limits |
//! | `server.rs`, `client.rs` | their hardware; `server/entrance.rs` and `client/call.rs` are the two sides of the handshake |
//! | `server/seats.rs`, `ready.rs` | many connections, looked at only where there is something to hear |
//! | `talk.rs` | one connection in the hands of its hardware |
//! | `connection.rs` | one connection, as everybody at one end shares it |
//! | `connection/direct.rs` | messages that need no task |
//! | `outlet.rs`, `inlet.rs`, `store.rs` | its sending and its receiving half; where messages wait |
//! | `layout.rs`, `wire.rs`, `place.rs` | its segment, packets of the handshake, names |
//! | `pace.rs` | how often to look for what a peer sends |
//! | `todo.rs`, `bell.rs` | notes and wake-ups between threads and processes |
//! | `event.rs`, `send.rs`, `task.rs`, `lent.rs` | what programs are told, and what they send |
//! | `streams.rs`, `remote.rs` | producers and consumers of one end, consumers of the other |
//! | `producer.rs`, `consumer.rs` | their hardware |
//! | `receives.rs`, `rings.rs` | the segment between them |
//! | `msgq.rs` | producers and consumers without a connection |
//! | `real.rs`, `real/` | servers and clients whose messages a real card carries |
//! | `face.rs`, `face/` | the Rust face |

mod bell;
#[cfg(feature = "capi")]
pub mod c;
mod caps;
mod client;
mod connection;
mod consumer;
mod engine;
mod event;
pub mod face;
mod inlet;
mod layout;
mod lent;
mod msgq;
mod outlet;
mod pace;
mod place;
mod producer;
mod ready;
pub mod real;
mod receives;
mod remote;
mod report;
mod rings;
mod send;
mod server;
mod store;
mod streams;
mod sync;
mod talk;
mod task;
mod todo;
mod wire;

pub use caps::Caps;
pub use client::{ClientSetup, Found};
pub use connection::{Connection, Counters, Phase, Side};
pub use consumer::{ConsumerSetup, ReceiveJob};
pub use engine::{COMCH, ComchClient, ComchConsumer, ComchProducer, ComchServer, Ends, ProducerSetup};
pub use event::{Event, Listener, Message};
pub use lent::{Handle, LentBytes, LentConnection};
pub use msgq::Queue;
pub use producer::ProduceJob;
pub use send::SendJob;
pub use server::ServerSetup;
pub use streams::Member;
pub use task::{Peer, Say};

#[cfg(test)]
mod hostile_tests;

/// Log target of this crate.
const LOG: &str = "softdpu::comch";
