//! The suite: one text, many ways to run SoftDPU.

pub mod command;
pub mod program;
pub mod subjects;
pub mod suite;
pub mod way;
