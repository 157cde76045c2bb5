//! The suite on the board without threads.

use softdpu_conformance::subjects::{Hashes, LargeCopies, SmallCopies};
use softdpu_conformance::way::Inline;

softdpu_conformance::suite! {
    small_copies: crate::Inline<crate::SmallCopies>;
    large_copies: crate::Inline<crate::LargeCopies>;
    hashes: crate::Inline<crate::Hashes>;
}
