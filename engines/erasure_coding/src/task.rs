//! The tasks, and the job they become in a slot.

use crate::caps::Kind;
use crate::hardware::ErasureCoding;
use crate::held::Held;
use crate::matrix::Matrix;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_memory::node::Lent;
use softdpu_room::task::Task;
use softdpu_status::{Code, Error, Result};

/// Which matrix a job multiplies by.
#[derive(Debug)]
pub(crate) enum Factor {
    /// Rust: its own.
    Own(Matrix),
    /// C: one the program holds, if it gave one.
    #[cfg_attr(not(feature = "capi"), expect(dead_code, reason = "made by the C face"))]
    Lent(Option<&'static Held>),
}

/// A multiplication in a slot. Both faces fill everything but `owned`, in which Rust's buffers travel.
#[derive(Debug)]
pub struct Job {
    pub(crate) kind: Kind,
    pub(crate) src: Lent,
    pub(crate) dst: Lent,
    pub(crate) factor: Factor,
    pub(crate) owned: Option<(Buf, Buf)>,
}

impl Job {
    /// Matrix, input and output of a job of the Rust face.
    pub fn product(&self) -> Option<(Matrix, Lent, Lent)> {
        match &self.factor {
            Factor::Own(matrix) => Some((matrix.clone(), self.src, self.dst)),
            Factor::Lent(_) => None,
        }
    }

    /// Looks at the matrix.
    ///
    /// # Errors
    /// InvalidValue when the program gave none, or destroyed it.
    #[inline]
    pub(crate) fn with<R>(&self, look: impl FnOnce(&Matrix) -> Result<R>) -> Result<R> {
        match &self.factor {
            Factor::Own(matrix) => look(matrix),
            Factor::Lent(held) => match held.and_then(Held::get) {
                Some(matrix) => look(&matrix),
                None => Err(self.without_matrix()),
            },
        }
    }

    /// As [`Job::with`], for a first look that leaves it to others to complain.
    #[inline]
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&Matrix) -> R) -> Option<R> {
        match &self.factor {
            Factor::Own(matrix) => Some(look(matrix)),
            Factor::Lent(held) => held.and_then(Held::get).map(|matrix| look(&matrix)),
        }
    }

    #[cold]
    fn without_matrix(&self) -> Error {
        log::error!(target: "softdpu::erasure_coding", "{} task: the matrix is NULL or was destroyed", self.kind.name());
        Error::new(Code::InvalidValue, "the matrix is missing")
    }
}

macro_rules! tasks {
    ($($(#[$doc:meta])* $task:ident { $(#[$src_doc:meta])* $src:ident, $(#[$dst_doc:meta])* $dst:ident })*) => {$(
        $(#[$doc])*
        ///
        /// A block has `source data / inputs` bytes, a multiple of 64. The source list is read as one stream, whatever
        /// its elements; the outputs are appended to the destination list, which may lie where source blocks lie if
        /// each of its blocks covers a source block exactly. The result is the number of bytes written.
        #[derive(Debug)]
        pub struct $task {
            /// What to multiply by; any matrix is taken.
            pub matrix: Matrix,
            $(#[$src_doc])*
            pub $src: Buf,
            $(#[$dst_doc])*
            pub $dst: Buf,
        }

        impl Task for $task {
            type Engine = ErasureCoding;
            type Output = u64;

            fn into_job(self) -> Job {
                Job {
                    kind: Kind::$task,
                    src: self.$src.lend(),
                    dst: self.$dst.lend(),
                    factor: Factor::Own(self.matrix),
                    owned: Some((self.$src, self.$dst)),
                }
            }

            fn from_job(job: Job) -> $task {
                match (job.factor, job.owned) {
                    (Factor::Own(matrix), Some(($src, $dst))) => $task { matrix, $src, $dst },
                    _ => unreachable!("jobs of the Rust face are made by `into_job` alone"),
                }
            }

            fn output(raw: u64) -> u64 {
                raw
            }
        }
    )*};
}

tasks! {
    /// Multiplies the blocks of `src` by any matrix.
    GaloisMul {
        /// One block per input of the matrix.
        src,
        /// Room for one block per output.
        dst
    }
    /// Computes redundancy blocks from data blocks.
    Create {
        /// All data blocks, in index order.
        data,
        /// Room for all redundancy blocks, which come in index order.
        rdnc
    }
    /// Computes new redundancy blocks after some data blocks changed, without reading the others.
    Update {
        /// For each changed data block the old, then the new one; behind these the old redundancy blocks.
        changes,
        /// Room for all redundancy blocks.
        rdnc
    }
    /// Computes lost blocks from those that are left.
    Recover {
        /// As many blocks as there are data blocks: the first ones, in index order, that are left.
        available,
        /// Room for the lost blocks, which come in the order of the matrix's indices.
        recovered
    }
}
