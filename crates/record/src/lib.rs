//! The calls of a C program as a file: how it is written, read, printed and repeated.
//!
//! `softdpu run --record FILE -- PROGRAM` loads a library before the C face's own (the crate `softdpu-recorder`). A function
//! for each of the interface, generated when it is built, writes down what the program hands over and what it gets back, and
//! calls the library, which knows nothing of it: a program that is not recorded runs without a single instruction more.
//! `softdpu replay FILE` makes the same calls again.
//!
//! - [`contract`]: functions and parameters, generated from the contract and the headers;
//! - [`mod@file`]: the form of a file, and its reader;
//! - [`listing`]: prints it;
//! - [`replay`]: repeats it.

pub mod contract;
pub mod file;

pub mod listing;
mod names;
pub mod replay;
