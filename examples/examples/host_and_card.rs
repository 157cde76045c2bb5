//! Host and card in two processes: the card serves, the host sends requests; then blocks of 4 KiB go straight into the
//! card's memory, and what the card made of them comes back in messages.
//!
//! `cargo run --example host_and_card` starts both. Each side also starts alone: `host_and_card card`, then
//! `host_and_card host`.

use softdpu::comch::{Client, Payload, Server};
use softdpu::prelude::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

const NAME: &str = "host and card";
const BLOCK: usize = 4096;
const BLOCKS: u32 = 10_000;
/// Blocks that may be on their way.
const POSTED: usize = 32;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("card") => Ok(card()?),
        Some("host") => Ok(host()?),
        _ => both(),
    }
}

/// The card: answers requests, then takes blocks and says what they add up to.
fn card() -> softdpu::Result<()> {
    let session = Session::open()?;
    let device = session.device("03:00.0")?.open()?;
    let mut pe = ProgressEngine::new(&session)?;
    let server = Server::builder(NAME).representor("pf0hpf").start(&mut pe, &device)?.wait(&mut pe)?;
    println!("card: `{NAME}` is open");
    std::io::stdout().flush().ok();

    let host = pe.run(server.accept()).ok_or(Code::NotConnected)?;
    println!("card: process {} is here", host.peer());
    let question = pe.run(host.recv()).ok_or(Code::NotConnected)?;
    let answer: u64 = question.iter().map(|digit| u64::from(digit - b'0')).sum();
    pe.run(host.send(answer.to_string()))?;

    let memory = Memory::heap(POSTED * BLOCK).access(Access::PCI_READ_WRITE).register(&[&device])?;
    let blocks = memory.pool(BLOCK)?;
    let consumer = host.consumer().memory(&memory).receives(POSTED as u32).start(&mut pe)?.wait(&mut pe)?;
    while let Some(block) = blocks.take() {
        consumer.post(block)?;
    }
    let mut sum = 0;
    pe.run(async {
        for n in 0..BLOCKS {
            let delivery = consumer.next().await.ok_or(Code::ConnectionReset)??;
            let mut block = delivery.buf.ok_or(Code::Unexpected)?;
            if delivery.imm.as_bytes() != n.to_le_bytes() {
                return Err(Error::from(Code::Unexpected));
            }
            let mut first = [0];
            block.read_at(0, &mut first)?;
            sum += u64::from(first[0]);
            block.reset();
            consumer.post(block)?; // for a later block
        }
        host.send(sum.to_string()).await
    })?;
    println!("card: {BLOCKS} blocks came");
    // The host goes first; nothing was lost until then.
    while pe.run(host.recv()).is_some() {}
    drop((consumer, host));
    server.stop().wait(&mut pe)
}

/// The host: asks, then sends blocks.
fn host() -> softdpu::Result<()> {
    let session = Session::open()?;
    let device = session.device("b1:00.0")?.open()?;
    let mut pe = ProgressEngine::new(&session)?;
    let client = Client::builder(NAME).start(&mut pe, &device)?.wait(&mut pe)?;
    pe.run(client.send(b"31415926"))?;
    let answer = pe.run(client.recv()).ok_or(Code::ConnectionReset)?;
    println!("host: the digits of 31415926 add up to {}", String::from_utf8_lossy(&answer));

    let source = Memory::heap(POSTED * BLOCK).register(&[&device])?.pool(BLOCK)?;
    let producer = client.producer().tasks(POSTED as u32).start(&mut pe)?.wait(&mut pe)?;
    let to = pe.run(client.new_consumer()).ok_or(Code::ConnectionReset)?;
    let (begun, mut expected) = (Instant::now(), 0u64);
    pe.run(async {
        for n in 0..BLOCKS {
            let mut block = match source.take() {
                Some(block) => block,
                // All of them are on their way; one comes back.
                None => producer.reclaim().await.and_then(|back| back.payload.buf).ok_or(Code::Unexpected)?,
            };
            block.reset();
            block.push_slice(&[n as u8; BLOCK])?;
            expected += u64::from(n as u8);
            producer.feed(to, Payload::from(block).with_imm(&n.to_le_bytes())?).await?;
        }
        while let Some(back) = producer.reclaim().await {
            back.result?;
        }
        Ok::<_, Error>(())
    })?;
    let rate = f64::from(BLOCKS) * BLOCK as f64 / begun.elapsed().as_secs_f64() / 1e9;
    let sum = pe.run(client.recv()).ok_or(Code::ConnectionReset)?;
    println!("host: {BLOCKS} blocks at {rate:.2} GB/s; the card counts {}", String::from_utf8_lossy(&sum));
    assert_eq!(*sum, *expected.to_string().as_bytes());
    println!("host: so do we");
    drop(producer);
    client.stop().wait(&mut pe)
}

fn both() -> Result<(), Box<dyn std::error::Error>> {
    let start = |side| {
        let this = std::env::current_exe()?;
        Command::new(this).arg(side).stdout(Stdio::piped()).spawn()
    };
    let mut card = start("card")?;
    let mut from_card = BufReader::new(card.stdout.take().ok_or("no output")?).lines();
    println!("{}", from_card.next().ok_or("the card said nothing")??);
    let host = start("host")?.wait_with_output()?;
    for line in from_card {
        println!("{}", line?);
    }
    print!("{}", String::from_utf8(host.stdout)?);
    if !card.wait()?.success() || !host.status.success() {
        return Err("one side failed".into());
    }
    Ok(())
}
