//! `softdpu demo`: a file goes through the seven phases of a program, each explained as it happens.
//!
//! The bytes are copied by the DMA engine, piece by piece, and each copy is compared with what was read. The copy goes on
//! through the compute engines that the card has, and what comes back is compared again; and it goes to a second process,
//! which is the card while this one is the host.
//!
//! | file | what |
//! |---|---|
//! | `source.rs` | where the bytes come from |
//! | `copy.rs` | the seven phases |
//! | `pipeline.rs` | hash, deflate, encrypt, add redundancy, and all the way back |
//! | `engines.rs` | the engines there are, and how much they take at a time |
//! | `hash.rs` | the hash of everything |
//! | `slot.rs` | where a piece lies on its way |
//! | `two_sides/` | host and card as two processes |
//! | `tally.rs`, `stages.rs` | the account of it |

mod copy;
mod engines;
mod hash;
mod pipeline;
mod slot;
mod source;
mod stages;
mod tally;
mod two_sides;

use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::Parser;
use lexopt::prelude::*;
use serde::Serialize;

use crate::card::{CARD_HELP, CardOptions};
use crate::message::{Failure, Outcome};
use crate::output;
use copy::copy_all;
use source::Source;
use stages::{COMPARE, Stage, Stages};
pub(crate) use two_sides::card::main as card;
pub(crate) use two_sides::{CARD, CardProcess};

/// The phase that reads everything there is.
pub(crate) const SUBMIT: &str = "submit";

const HELP: &str = "\
Copies a file through the DMA engine of the card, explaining the phases of a program on the way, and compares
the result byte by byte. The copy then goes on through the compute engines: SHA-256, deflate, AES-256-GCM,
erasure coding (8 blocks and 4 redundant ones); 4 blocks of every piece are lost, recovered, and everything is
decrypted, inflated, hashed and compared again. And it goes to the other side of the PCIe link: a second process
is the card, fetches the bytes out of the memory of this one, the host, by DMA, hashes them and stores them back.
Steps that the card has no engine for are left out.
The file is only read. Without FILE it takes 64 MiB of generated data.

Usage: softdpu demo [OPTIONS] [FILE]

Options:
  --json                      one JSON document instead of the explanations
";

#[derive(Debug, Serialize)]
struct Document {
    file: String,
    bytes: u64,
    stages: Vec<Stage>,
    /// Host and card of the last steps, unless they were left out.
    card_process: Option<CardProcess>,
    ok: bool,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut card = CardOptions::default();
    let (mut json, mut path) = (false, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return output::print(&format!("{HELP}{CARD_HELP}")),
            Long("json") => json = true,
            Long(name) if CardOptions::NAMES.contains(&name) => {
                let name = name.to_owned();
                card.set(&name, arguments.value()?)?;
            }
            Value(file) if path.is_none() => path = Some(PathBuf::from(file)),
            other => return Err(other.unexpected().into()),
        }
    }
    let machine = card.machine()?;
    let mut source = Source::open(path).map_err(Failure::failed)?;
    let file = source.name();
    let mut stages = Stages::new(!json);
    if !json {
        output::print(&format!("{file}\n\n"))?;
    }
    let result = copy_all(&card, machine, &mut source, &mut stages);
    let card_process = stages.card_process();
    let stages = stages.into_list();
    let ok = result.is_ok() && stages.iter().all(|stage| stage.ok);
    let bytes = stages.iter().find(|stage| stage.name == SUBMIT).map_or(0, |stage| stage.bytes_in);
    let compared = stages.iter().filter(|stage| stage.name == COMPARE).count();
    if json {
        output::print(&output::json(&Document { file, bytes, stages, card_process, ok })?)?;
    } else if ok {
        let more = match (compared > 1, card_process.is_some()) {
            (true, true) => ", and so is what came back from the engines and from the card's process",
            (true, false) => ", and so is what came back from the engines",
            (false, true) => ", and so is what came back from the card's process",
            (false, false) => "",
        };
        output::print(&format!("\nThe copy is identical{more}.\n"))?;
    }
    match result {
        Err(text) => Err(Failure::failed(text)),
        Ok(()) => Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}
