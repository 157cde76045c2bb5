//! `softdpu demo`: a file goes through the seven phases of a program, each explained as it happens.
//!
//! The bytes are copied by the DMA engine, piece by piece, and each copy is compared with what was read.

mod copy;
mod source;
mod stages;

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
use stages::{Stage, Stages};

const HELP: &str = "\
Copies a file through the DMA engine of the card, explaining the phases of a program on the way, and compares
the result byte by byte. The file is only read. Without FILE it takes 64 MiB of generated data.

Usage: softdpu demo [OPTIONS] [FILE]

Options:
  --json                      one JSON document instead of the explanations
";

#[derive(Debug, Serialize)]
struct Document {
    file: String,
    bytes: u64,
    stages: Vec<Stage>,
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
    let result = copy_all(machine, &mut source, &mut stages);
    let stages = stages.into_list();
    let ok = result.is_ok() && stages.iter().all(|stage| stage.ok);
    let bytes = stages.iter().map(|stage| stage.bytes_in).max().unwrap_or(0);
    if json {
        output::print(&output::json(&Document { file, bytes, stages, ok })?)?;
    } else if ok {
        output::print("\nThe copy is identical.\n")?;
    }
    match result {
        Err(text) => Err(Failure::failed(text)),
        Ok(()) => Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE }),
    }
}
