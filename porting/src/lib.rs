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
//! | [`Buf`](softdpu::Buf) lists | descriptors from an inventory of the context, for as long as their task flies |
//! | [`Context`](softdpu::Context) | a context of the card with a progress engine of its own |
//! | tasks | tasks; results, checksums and failures come back as the same types |
//!
//! # What there is
//! DMA within memory of the process, SHA of whole messages, deflate both ways, LZ4 back, AES-GCM from one place to
//! another, and erasure coding. Hashes in pieces and messages in place are refused. Engines that the bridge does not drive
//! are not listed for its devices, so a program that asks for one is told NOT_SUPPORTED instead of being given a
//! software engine in disguise. Memory of other processes is refused by the tasks that use it.
//!
//! While tasks fly nothing of the process sleeps for them: progress and the board's workers look at the card.
//!
//! # What was tested, and what was not
//! The tests load SoftDPU's own C libraries in the place of a card's, so every call, every life time and every way back of
//! an error is exercised. There was no card. What can be seen on one alone, and was not: whether the libraries installed
//! there have every function under the name and with the signature of the contract; how long registering memory takes and
//! what it counts against; in which order its tasks complete; what state a failed task leaves a context in, and whether
//! it stops by itself; devices that come or go while a program runs; the limits it reports; speed.

mod abi;
mod board;
mod card;
mod driver;
mod engines;
mod live;
mod maps;

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
