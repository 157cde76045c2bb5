//! The Rust face: servers, clients and their connections as owned objects; messages and buffers awaited or polled.
//!
//! Whatever comes from the peer goes into a place of its own at once (the mailbox of a connection, the receives of a
//! consumer), inside progress; futures only take it out there. So a dropped future loses nothing.
//!
//! | file | what |
//! |---|---|
//! | `server.rs`, `client.rs`, `opening.rs` | the contexts, and waiting for them to run |
//! | `connection.rs` | what a program does with a connection |
//! | `mailbox.rs`, `outgoing.rs`, `message.rs` | what came over it, what is on its way, memory for messages |
//! | `hall.rs`, `office.rs` | who is told of the events of a context, and who sends for all of its connections |
//! | `queue.rs`, `home.rs` | producers and consumers without a connection; what they live on |
//! | `desk.rs`, `wakers.rs` | a context whose tasks several parties submit and await |
//! | `producer.rs`, `produce.rs`, `consumer.rs`, `payload.rs` | buffers and immediate data |

mod client;
mod connection;
mod consumer;
mod desk;
mod hall;
mod home;
mod lists;
mod mailbox;
mod message;
mod office;
mod opening;
mod outgoing;
mod payload;
mod produce;
mod producer;
mod queue;
mod server;
mod wakers;

pub use client::{Client, ClientBuilder};
pub use connection::{Connection, ConsumerId, Incoming};
pub use consumer::{Arrived, Consumer, ConsumerBuilder, Delivery};
pub use message::Message;
pub use opening::{Opening, Opens};
pub use payload::{Imm, Payload};
pub use producer::{Producer, ProducerBuilder, Returned};
pub use queue::MessageQueue;
pub use server::{Server, ServerBuilder};
pub(crate) use wakers::{Wakers, note};
