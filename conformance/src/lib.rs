//! The suite: one text, many ways to run SoftDPU.

pub mod program;
