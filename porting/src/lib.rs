//! Runs programs written against `softdpu` on a real card.
//!
//! The program stays as it is: the same session, devices, memory, buffers, contexts and tasks. One line changes:
//!
//! ```no_run
//! # fn main() -> softdpu::Result<()> {
//! let session = softdpu_card_bridge::session()?; // was: softdpu::Session::open()?
//! # let _ = session;
//! # Ok(()) }
//! ```
//!
//! The bridge loads the libraries that are installed for the card (`libdoca_common.so.2`, `libdoca_dma.so.2`, ...) when it
//! is asked to, and drives them by the C calls of the contract:
//!
//! | in the program | on the card |
//! |---|---|
//! | [`Session::devices`](softdpu::Session::devices) | the functions of the card, with the engines and limits they report |
//! | [`Memory`](softdpu::Memory) | a memory map, made when a task first uses the memory and kept until the memory goes |
//! | [`Memory::export`](softdpu::Memory::export), [`RemoteMemory`](softdpu::RemoteMemory) | a map that is exported across PCI, and one that is made from such bytes |
//! | [`Buf`](softdpu::Buf), [`RemoteBuf`](softdpu::RemoteBuf) lists | descriptors from an inventory of the context, for as long as their task flies |
//! | [`Context`](softdpu::Context) | a context of the card with a progress engine of its own |
//! | tasks | tasks; results, checksums and failures come back as the same types |
//! | [`SyncEvent`](softdpu::sync_event::SyncEvent) | a sync event, in the mode of direct calls |
//! | [`Server`](softdpu::comch::Server), [`Client`](softdpu::comch::Client), [`Connection`](softdpu::comch::Connection) | a server, a client, their connections and messages |
//!
//! # What there is
//!
//! | engine | on a card | left out, and refused |
//! |---|---|---|
//! | DMA | everything, also between processes | |
//! | SHA | whole messages and messages in pieces | see below |
//! | compression | deflate both ways, LZ4 back | |
//! | AES-GCM | from one place to another | in place: the contract does not say whether source and destination may be one |
//! | erasure coding | everything | |
//! | sync events | direct calls and tasks, export and import across PCI | values in buffers, events of RDMA peers |
//! | channel | servers, clients, messages | producers, consumers, message queues |
//! | RDMA, Ethernet, flow rules, cache advice | nothing | everything |
//!
//! Engines that the bridge does not drive are not listed for its devices, so a program that asks for one is told
//! NOT_SUPPORTED instead of being given a software engine in disguise.
//!
//! # What is different
//! **Sleeping.** A card's contexts ring nobody. While tasks fly nothing of the process sleeps for them: progress and the
//! board's workers look at the card. A progress engine with a server or client on it does not sleep at all.
//!
//! **Hashes in pieces.** A [`HashState`](softdpu::sha::HashState) under way stands for a task of its context on the card: it
//! goes on in that context alone, not twice (the card has the hash once, so a copy made under way is worth nothing once the
//! other one has moved on), and a last piece must hold bytes. Of the hashes under way in a context the one that rested
//! longest gives way when there are more than 64, or than the context has tasks. Who loses a hash is told BAD_STATE.
//!
//! **Exports.** The bytes are the library's and mean something to it alone, whichever program made them. Which way an export
//! or import goes is a matter of its device: those of this session go to the card, those of another session in the same
//! process to that one's software card. Imported memory belongs to the device it was imported through, and only tasks reach
//! it: [`RemoteMemory::read`](softdpu::RemoteMemory::read) and [`write`](softdpu::RemoteMemory::write) fail. What the
//! exporter grants is not told; the card refuses what goes beyond.
//!
//! **Tasks of sync events** are carried out by the direct calls, when their context is progressed: the contract does not have
//! both on one event, and the program may use both.
//!
//! **Back-pressure of the channel.** The library cannot be told to hold one connection back. What a program leaves unread
//! waits in the process; once 4096 events of a server or client do, the card is not looked at for it until the program
//! reads on.
//!
//! # What was tested, and what was not
//! The tests load SoftDPU's own C libraries in the place of a card's, so every call, every life time and every way back of
//! an error is exercised, memory, events and messages between two processes included. There was no card. What can be seen on
//! one alone, and was not:
//!
//! - whether the libraries installed there have every function under the name and with the signature of the contract;
//! - how long registering memory takes and what it counts against, and whether a range may have a second map for its export;
//! - in which order its tasks complete; what state a failed task leaves a context in, and whether it stops by itself;
//! - what it does when memory that others imported is taken back while they use it;
//! - whether events whose updates were announced from the other side may be changed from this one, too;
//! - whether a server is told of clients that vanish before it sends to them, and the representors that servers name, seen
//!   from the card's own processors;
//! - devices that come or go while a program runs; the limits it reports; speed.

mod abi;
mod board;
mod card;
mod channel;
mod driver;
mod engines;
mod events;
mod live;
mod maps;
mod sharing;

pub use card::Card;

use softdpu::{Result, Session};

/// A session on the card of this machine. Its board has worker threads, as that of [`Session::open`] has.
///
/// The libraries are looked for as the dynamic linker looks for any, or in the folder that `SOFTDPU_CARD_LIBRARIES` names.
///
/// # Errors
/// NotFound when the libraries cannot be loaded (the log line says which and why) or show no device.
pub fn session() -> Result<Session> {
    Card::load()?.session()
}
