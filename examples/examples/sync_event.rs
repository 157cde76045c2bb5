//! Host and card in two processes take turns on one value: the host awaits tasks, the card blocks and makes no progress.
//!
//! `cargo run --example sync_event` starts both.

use softdpu::prelude::*;
use softdpu::sync_event::{Condition, Config, NotifySet, SyncEvent, SyncEvents, WaitEqual};
use std::process::Command;
use std::time::Instant;

/// Turns of each side.
const TURNS: u64 = 10_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1) {
        Some(export) => card(&export),
        None => host(),
    }
}

/// The host: makes the event and says odd numbers.
fn host() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::open()?;
    let device = session.device("b1:00.0")?.open()?;
    let event = SyncEvent::new(&device)?;
    let export: String = event.export()?.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut card = Command::new(std::env::current_exe()?).arg(export).spawn()?;

    let mut pe = ProgressEngine::new(&session)?;
    let mut tasks = Context::<SyncEvents>::start(&mut pe, &device, Config::of(&event))?.wait(&mut pe)?;
    let begun = Instant::now();
    pe.run(async {
        for turn in 0..TURNS {
            tasks.submit(NotifySet(2 * turn + 1))?.await.result?;
            tasks.submit(WaitEqual::to(2 * turn + 2))?.await.result?;
        }
        Ok::<_, Error>(())
    })?;
    println!("host: {TURNS} turns, {:?} each", begun.elapsed() / TURNS as u32);
    tasks.stop().wait(&mut pe)?;
    card.wait()?;
    Ok(())
}

/// The card: imports the event and answers with even numbers.
fn card(export: &str) -> Result<(), Box<dyn std::error::Error>> {
    let digits = |i| u8::from_str_radix(&export[2 * i..2 * i + 2], 16);
    let export = (0..export.len() / 2).map(digits).collect::<Result<Vec<u8>, _>>()?;
    let device = Session::open()?.device("03:00.0")?.open()?;
    let event = SyncEvent::import(&device, &export)?;
    for turn in 0..TURNS {
        event.wait(Condition::equal(2 * turn + 1))?;
        event.set(2 * turn + 2)?;
    }
    println!("card: {TURNS} turns");
    Ok(())
}
