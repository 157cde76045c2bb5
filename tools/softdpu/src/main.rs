//! The `softdpu` command: shows the software card, builds and runs C programs for it, demonstrates and
//! measures it.
//!
//! One file per sub-command; each takes the rest of the command line and gives back an exit status. Results go
//! to stdout (with `--json`: one document and nothing else), messages to stderr. Status 0: done; 1: the thing
//! asked for failed; 2: wrong use. `run` and `cc` pass on the status of what they start.

mod bench;
mod caps;
mod card;
mod cc;
mod contract;
mod demo;
mod devices;
mod explore;
mod faults;
mod message;
mod output;
mod record;
mod replay;
mod run;
mod session;
mod top;
mod trace;

use std::process::ExitCode;

use lexopt::prelude::*;

use message::{Failure, Outcome};

const HELP: &str = "\
SoftDPU: a software data processing unit.

Usage: softdpu COMMAND [ARGUMENTS]

Commands:
  devices   list the functions of the card and what they can do
  caps      list every capability call with its answer
  demo      take a file through the engines of the card and back, step by step
  cc        compile a C or C++ program for the card
  run       run a program with the card
  explore   find a schedule under which a program fails
  replay    print or repeat the calls that 'run --record' wrote
  trace     read what 'run --trace' wrote: tables, a picture
  top       show what the processes that share the cards are doing
  bench     measure an engine

Options:
  -h, --help      this text; 'softdpu COMMAND --help' tells more
  -V, --version   the version

Environment: SOFTDPU_SIDE (dpu, host, both), SOFTDPU_PROFILE (all, bf2, bf3, cx7),
SOFTDPU_CONFIG (topology file), SOFTDPU_REACH (mapped, kernel, worker), SOFTDPU_RDMA_PATH (auto, local, network),
SOFTDPU_RUNTIME_DIR, SOFTDPU_LOG (level of messages).
Exit status: 0 done, 1 failed, 2 wrong use.
";

fn main() -> ExitCode {
    message::start_log();
    match dispatch() {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn dispatch() -> Outcome {
    let mut arguments = lexopt::Parser::from_env();
    match arguments.next()? {
        Some(Short('h') | Long("help")) => output::print(HELP),
        Some(Short('V') | Long("version")) => output::print(&format!(
            "softdpu {} (DOCA {})\n",
            env!("CARGO_PKG_VERSION"),
            softdpu_sdk::DOCA_VERSION
        )),
        Some(Value(command)) => match command.to_str() {
            Some("devices") => devices::main(arguments),
            Some("caps") => caps::main(arguments),
            Some("demo") => demo::main(arguments),
            // The second process of a demonstration.
            Some(demo::CARD) => demo::card(arguments),
            Some("bench") => bench::main(arguments),
            Some("top") => top::main(arguments),
            Some("trace") => trace::main(arguments),
            Some("cc") => cc::main(arguments),
            Some("run") => run::main(arguments),
            Some("replay") => replay::main(arguments),
            // The process that repeats calls.
            Some(replay::HERE) => replay::here(arguments),
            Some("explore") => explore::main(arguments),
            Some(bench::OWNER) => bench::owner(arguments),
            Some(bench::PEER) => bench::peer(arguments),
            Some(bench::RDMA_PEER) => bench::rdma_peer(arguments),
            Some("help") => output::print(HELP),
            _ => Err(Failure::usage(format!("unknown command '{}'", command.display()))),
        },
        Some(other) => Err(other.unexpected().into()),
        None => Err(Failure::usage("no command given")),
    }
}
