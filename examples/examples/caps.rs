//! A program that adapts to the card it finds: asks before it relies on anything, and cuts work to the limits.
//!
//! `cargo run --example caps [all | bf2 | bf3 | cx7]`

use softdpu::card::Profile;
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = match std::env::args().nth(1) {
        Some(name) => Session::builder().profile(name.parse::<Profile>()?).open()?,
        None => Session::open()?,
    };
    println!("{:<14} {:<5} {:>14} {:>6} {:>7}", "device", "side", "bytes per copy", "list", "tasks");
    for info in session.devices() {
        let (name, side) = (info.name(), info.function().side().to_string());
        match info.caps::<Dma>() {
            Ok(c) => println!(
                "{name:<14} {side:<5} {:>14} {:>6} {:>7}",
                c.max_buf_size, c.max_buf_list_len, c.max_num_tasks
            ),
            Err(e) => println!("{name:<14} {side:<5} no copies ({})", e.code().name()),
        }
    }

    let data: Vec<u8> = (0..10_000_000u32).map(|i| (i >> 8) as u8).collect();
    let copied = match session.first_with(EngineKind::Dma) {
        Ok(info) => copy_by_card(&session, &info, &data)?,
        Err(e) if e.code() == Code::NotFound => {
            println!("no device copies; the processor does");
            data.clone()
        }
        Err(e) => return Err(e.into()),
    };
    assert!(copied == data);
    println!("{} bytes copied", copied.len());
    Ok(())
}

/// Copies in pieces that the device takes, as many at a time as it takes.
fn copy_by_card(session: &Session, info: &DeviceInfo, data: &[u8]) -> softdpu::Result<Vec<u8>> {
    let caps = info.caps::<Dma>()?;
    let piece = usize::try_from(caps.max_buf_size).unwrap_or(usize::MAX).min(1 << 20);
    let tasks = caps.max_num_tasks.min(8);
    let device = info.open()?;
    let memory =
        Memory::heap(2 * piece * tasks as usize).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let pool = memory.pool(piece)?;
    let mut pe = ProgressEngine::new(session)?;
    let config = Config { memcpy: tasks, ..Config::default() };
    let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
    println!("{} copies, pieces of {piece} bytes, {tasks} at a time", info.name());

    let mut out = Vec::with_capacity(data.len());
    let mut flying = std::collections::VecDeque::new();
    for bytes in data.chunks(piece) {
        if flying.len() == tasks as usize
            && let Some(oldest) = flying.pop_front()
        {
            out.extend(landed(&mut pe, oldest)?);
        }
        let (mut src, dst) = pool.take().zip(pool.take()).ok_or(Code::Empty)?;
        src.push_slice(bytes)?;
        flying.push_back(dma.submit(Memcpy { src, dst })?);
    }
    for task in flying {
        out.extend(landed(&mut pe, task)?);
    }
    Ok(out)
}

fn landed(pe: &mut ProgressEngine, task: InFlight<Memcpy>) -> softdpu::Result<Vec<u8>> {
    let done = pe.run(task);
    done.result?;
    Ok(done.task.dst.to_vec())
}
