//! Hand-written vector code of the engines.
//!
//! Each algorithm has one file that picks the best variant this processor can run, when it is first asked for; the
//! variants lie beside it, with a portable one that always works, and are tested against each other. All functions here
//! are safe: what they demand of the processor and of lengths they check themselves.
//!
//! | file | what |
//! |---|---|
//! | [`gcm`] | AES-GCM of short messages |
//! | [`gf256`] | blocks of bytes times a matrix over GF(2^8): erasure coding |
//! | [`sha`] | SHA-1, SHA-256, SHA-512 of one message or of many side by side |

pub mod gcm;
pub mod gf256;
pub mod sha;
