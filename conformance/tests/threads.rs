//! The suite on the board with threads.

use softdpu_conformance::subjects::{Hashes, LargeCopies, SmallCopies};
use softdpu_conformance::way::Threads;

softdpu_conformance::suite! {
    small_copies: crate::Threads<crate::SmallCopies>;
    large_copies: crate::Threads<crate::LargeCopies>;
    hashes: crate::Threads<crate::Hashes>;
}
