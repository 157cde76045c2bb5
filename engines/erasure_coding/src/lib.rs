//! The erasure coding engine: blocks of bytes times a matrix over GF(2^8).
//!
//! `k` data blocks get `m` redundancy blocks; as long as any `k` of the `k + m` are left, the others can be computed from
//! them. A [`Matrix`] says how, and the four tasks are the same multiplication under the names of its uses:
//!
//! | task | matrix | from | gives |
//! |---|---|---|---|
//! | [`Create`] | a coding matrix | all data blocks | the redundancy blocks |
//! | [`Recover`] | [`Matrix::recover`] | the first `k` blocks that are left | the lost blocks |
//! | [`Update`] | [`Matrix::update`] | old and new data blocks, old redundancy | the new redundancy |
//! | [`GaloisMul`] | any | its inputs | its outputs |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use softdpu_erasure_coding::{Create, ErasureCoding, Matrix, Recover};
//! # use softdpu_memory::{Access, Memory};
//! # let session = softdpu_room::session::Session::new(softdpu_card::Machine::builder().build()?, softdpu_board::inline());
//! # let device = session.first_with(softdpu_card::EngineKind::ErasureCoding)?.open()?;
//! # let mut pe = softdpu_room::pump::ProgressEngine::new(&session)?;
//! # let mut ec = softdpu_room::typed::Context::<ErasureCoding>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
//! # let memory = Memory::heap(6 * 64).access(Access::LOCAL_READ_WRITE).register(&[device.shared()])?;
//! // Three data blocks of 64 bytes, two redundancy blocks.
//! let coding = Matrix::cauchy(3, 2)?;
//! let (mut data, rdnc) = (memory.buf(..192)?, memory.buf(192..320)?);
//! data.push_slice(&[1; 64])?;
//! data.push_slice(&[2; 64])?;
//! data.push_slice(&[3; 64])?;
//! let flight = ec.submit(Create { matrix: coding.clone(), data, rdnc }).map_err(|refused| refused.error)?;
//! let done = pe.run(flight);
//! assert_eq!(done.result, Ok(128));
//!
//! // Data block 1 is lost: blocks 0, 2 and the first redundancy block give it back.
//! let (mut available, rdnc) = (done.task.data, done.task.rdnc);
//! available.write_at(64, &[3; 64])?;
//! available.write_at(128, &rdnc.to_vec()[..64])?;
//! let task = Recover { matrix: coding.recover(&[1])?, available, recovered: memory.buf(320..)? };
//! let flight = ec.submit(task).map_err(|refused| refused.error)?;
//! assert_eq!(pe.run(flight).task.recovered.to_vec(), [2; 64]);
//! # Ok(()) }
//! ```
//!
//! | file | what |
//! |---|---|
//! | `matrix.rs` | the matrices |
//! | `task.rs` | the tasks, and the job they become |
//! | `caps.rs` | what a device can do |
//! | `hardware.rs` | what is refused, and how a job is cut |
//! | `strip.rs` | how a range of all blocks is computed |
//! | `held.rs`, `c.rs` | the C face: matrices that C programs hold; entry points (feature `capi`) |

mod caps;
mod hardware;
mod held;
mod matrix;
mod strip;
mod task;

#[cfg(feature = "capi")]
pub mod c;

pub use caps::{Caps, Kind};
pub use hardware::{Config, ErasureCoding};
pub use matrix::Matrix;
pub use task::{Create, GaloisMul, Job, Recover, Update};
