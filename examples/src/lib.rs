//! Example programs, one page each.

/// The README's Rust program, compiled and run as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

pub mod wire;
