//! `doca_argp.h`: the argument parser: command line, JSON file, sub-commands.
//!
//! A start has two phases. First the whole input is read and checked without calling the program:
//! `parse` turns the command line, `json` a parameter file, into *occurrences* (a flag and its typed
//! value). Then `start` carries them out: levels, file, command line in order, mandatory check,
//! validation, DPDK, command. So a typing error never leaves half of the callbacks behind.
//!
//! - `model`: flags and commands, as parsed against;
//! - `state`: the one parser of the process, its objects and handles;
//! - `register`: who owns what, and which names clash;
//! - `value`: typed values;
//! - `lookup`: which flag a name means in which scope;
//! - `device`: DEVICE and DEVICE_REP values;
//! - `dpdk`: arguments for DPDK's own start;
//! - `usage`, `report`: texts for people;
//! - `objects`, `c`: the entry points.
//!
//! The program's callbacks run without any lock of ours: they may destroy the parser, leave the process,
//! print the usage.

mod c;
mod device;
mod dpdk;
mod json;
mod lookup;
mod model;
mod objects;
mod parse;
mod register;
mod report;
mod start;
mod state;
mod usage;
mod value;

#[cfg(test)]
mod fuzz;

pub use c::*;
pub use model::{CommandCallback, DpdkCallback, ParamCallback, ValidationCallback};
pub use objects::*;
