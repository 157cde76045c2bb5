//! The SHA engine: SHA-1, SHA-256 and SHA-512 of lists of buffers, in one task or piece by piece.
//!
//! | file | what |
//! |---|---|
//! | `algorithm.rs` | [`Algorithm`]: names, sizes |
//! | `task.rs` | [`Hash`](struct@Hash), [`Update`], [`Finish`], and the job they become |
//! | `state.rs` | [`HashState`]: a hash under way, which travels with its tasks |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | how a job is carried out |
//! | `even.rs` | messages of the simplest kind: one, or several of one length |
//! | `single.rs` | one message: whole blocks where they lie, the rest padded |
//! | `group.rs` | several queued messages side by side in vector registers |
//! | `c.rs` | the C entry points (feature `capi`) |
//!
//! ```
//! # use softdpu_card::{EngineKind, Machine};
//! # use softdpu_memory::{Access, Memory};
//! # use softdpu_room::{pump::ProgressEngine, session::Session, typed::Context};
//! use softdpu_sha::{Algorithm, Config, Hash, Sha};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let session = Session::new(Machine::builder().build()?, softdpu_board::inline());
//! let device = session.first_with(EngineKind::Sha)?.open()?;
//! let mut pe = ProgressEngine::new(&session)?;
//! let mut sha = Context::<Sha>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
//! let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
//! let (mut src, dst) = (memory.buf(..3)?, memory.buf(64..128)?);
//! src.push_slice(b"abc")?;
//! let task = Hash { algorithm: Algorithm::Sha256, src, dst };
//! let flight = sha.submit(task).map_err(|refused| refused.error)?;
//! let done = pe.run(flight);
//! assert_eq!(done.result?, 32);
//! assert_eq!(done.task.dst.to_vec()[..4], [0xba, 0x78, 0x16, 0xbf]);
//! # Ok(()) }
//! ```

mod algorithm;
mod caps;
mod even;
mod group;
mod hardware;
mod single;
mod state;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use algorithm::Algorithm;
pub use caps::Caps;
pub use hardware::{Config, Handlers, Sha};
pub use state::HashState;
pub use task::{Finish, Hash, Job, Piece, Update};
