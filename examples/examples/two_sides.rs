//! Host and card in two processes: the host exports memory and waits; the card reaches it by itself, both ways.
//!
//! `cargo run --example two_sides` starts both. Each side also starts alone: `two_sides host` prints its letter,
//! `two_sides card` reads one.

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::io::{BufRead, Write, stdin};
use std::process::{Command, Stdio};

const BYTES: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("host") => host(),
        Some("card") => card(),
        _ => both(),
    }
}

/// The host: exports memory, hands the letter out, and does nothing until somebody presses a key.
fn host() -> Result<(), Box<dyn std::error::Error>> {
    let device = Session::open()?.device("b1:00.0")?.open()?;
    let memory = Memory::heap(BYTES).access(Access::PCI_READ_WRITE).register(&[&device])?;
    let text: Vec<u8> = (0..BYTES).map(|i| (i % 251) as u8).collect();
    memory.buf(..)?.write_at(0, &text)?;
    let export = memory.export(&device)?;
    println!("{}", export.bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>());
    stdin().lock().read_line(&mut String::new())?;
    drop(export); // from here on the memory is the host's alone
    let mut bytes = vec![0; BYTES];
    memory.buf(..)?.read_at(0, &mut bytes)?;
    let changed = bytes.iter().zip(&text).filter(|(now, before)| **now == !**before).count();
    println!("host: the card has inverted {changed} bytes");
    Ok(())
}

/// The card: imports what the letter speaks of, fetches it, works on it, stores it back.
fn card() -> Result<(), Box<dyn std::error::Error>> {
    let mut line = String::new();
    stdin().lock().read_line(&mut line)?;
    let digits = |i| u8::from_str_radix(&line[2 * i..2 * i + 2], 16);
    let letter = (0..line.trim().len() / 2).map(digits).collect::<Result<Vec<u8>, _>>()?;

    let session = Session::open()?;
    let device = session.device("03:00.0")?.open()?;
    let remote = RemoteMemory::import(&device, &letter)?;
    println!("card: {} bytes of process {}, reach: {}", remote.len(), remote.owner(), remote.reach());
    let local = Memory::heap(remote.len()).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;

    let mut src = remote.buf(..)?;
    src.set_data(..)?;
    let fetched = pe.run(dma.submit(Memcpy { src, dst: local.buf(..)? })?);
    println!("card: fetched {} bytes", fetched.result?);
    let (mut src, mut dst) = (fetched.task.dst, fetched.task.src);
    src.as_mut_slice().ok_or("private memory")?.iter_mut().for_each(|byte| *byte = !*byte);
    dst.reset();
    let stored = pe.run(dma.submit(Memcpy { src, dst })?);
    println!("card: stored {} bytes", stored.result?);
    dma.stop().wait(&mut pe)?;
    Ok(())
}

fn both() -> Result<(), Box<dyn std::error::Error>> {
    let start = |side| {
        let this = std::env::current_exe()?;
        Command::new(this).arg(side).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
    };
    let (mut host, mut card) = (start("host")?, start("card")?);
    let mut from_host = std::io::BufReader::new(host.stdout.take().ok_or("no output")?);
    let mut letter = String::new();
    from_host.read_line(&mut letter)?;
    card.stdin.take().ok_or("no input")?.write_all(letter.as_bytes())?;
    print!("{}", String::from_utf8(card.wait_with_output()?.stdout)?);
    host.stdin.take().ok_or("no input")?.write_all(b"\n")?;
    let mut last = String::new();
    from_host.read_line(&mut last)?;
    print!("{last}");
    host.wait()?;
    Ok(())
}
