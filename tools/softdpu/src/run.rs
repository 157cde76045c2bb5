//! `softdpu run`: starts a program with the card.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lexopt::Parser;
use lexopt::prelude::*;
use softdpu_sdk::Kit;

use crate::card::CardOptions;
use crate::message::{Failure, Outcome};
use crate::output;

const HELP: &str = "\
Runs a program with the software card.

Usage: softdpu run [OPTIONS] [--] PROGRAM [ARGUMENTS]

The program finds the library of the development kit, before any other of the same name, and sees the card
that the options and the environment describe. It takes this command's place: process id, signals and exit
status are its own.

Options:
  --side dpu|host|both        the functions it sees (default both)
  --profile all|bf2|bf3|cx7   the card that is imitated (default all)
  --config FILE               a topology file
  --strict                    imitate the limits of real machines, such as locked memory
  -h, --help                  this text

Exit status: the program's own; 126 when it cannot be executed, 127 when there is no such program;
1 when there is no library, 2 for wrong use. The options are checked before the program starts.
";

/// Options of a later release: known, so that the answer is not a riddle.
const LATER: [&str; 6] = ["check", "fail-on-misuse", "faults", "seed", "trace", "json-report"];

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut card = CardOptions::default();
    let program = loop {
        match arguments.next()? {
            Some(Short('h') | Long("help")) => return output::print(HELP),
            Some(Long(name)) if LATER.contains(&name) => {
                return Err(Failure::usage(format!("run: --{name} is not available yet in this version")));
            }
            Some(Long("strict")) => card.set_strict(),
            Some(Long(name)) if CardOptions::NAMES.contains(&name) => {
                let name = name.to_owned();
                card.set(&name, arguments.value()?)?;
            }
            Some(Value(program)) => break program,
            Some(other) => return Err(other.unexpected().into()),
            None => return Err(Failure::usage("run: no program given")),
        }
    };
    let program_arguments: Vec<OsString> = arguments.raw_args()?.collect();
    card.machine()?;
    let kit = Kit::locate()?;
    let mut command = Command::new(&program);
    command
        .args(program_arguments)
        .env("LD_LIBRARY_PATH", library_path(&kit.lib_dir())?)
        .envs(card.environment());
    Err(cannot_start(&program, &command.exec()))
}

/// The kit before everything that was there.
fn library_path(kit: &Path) -> Result<OsString, Failure> {
    let before = env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let before = env::split_paths(&before).filter(|p| !p.as_os_str().is_empty());
    let all = std::iter::once(kit.to_owned()).chain(before);
    env::join_paths(all).map_err(|_| {
        Failure::failed(format!(
            "the kit's path holds a colon, which a library path cannot: {}",
            kit.display()
        ))
    })
}

/// The statuses that shells and `env` give.
fn cannot_start(program: &OsString, error: &std::io::Error) -> Failure {
    let status = if error.kind() == ErrorKind::NotFound { 127 } else { 126 };
    let name = program.display();
    // The commonest slip: a file of the current folder, named without its folder.
    let bare = !program.as_encoded_bytes().contains(&b'/');
    let hint = if bare && Path::new(program).is_file() {
        format!("; did you mean ./{name}?")
    } else {
        String::new()
    };
    Failure::with_status(format!("cannot run '{name}': {error}{hint}"), status)
}
