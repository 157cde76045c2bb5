//! The seven phases, one copy: discover, open, register, start, submit, progress, stop.
//!
//! `cargo run --example dma_copy [PCI-ADDRESS | INTERFACE]`

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

fn main() -> softdpu::Result<()> {
    // 1 discover: which devices are there, which of them copy?
    let session = Session::open()?;
    let found = match std::env::args().nth(1) {
        Some(name) => session.device(&name)?,
        None => session.first_with(EngineKind::Dma)?,
    };
    let caps = found.caps::<Dma>()?;
    println!(
        "1 discovered {}: copies up to {} bytes, lists of up to {}",
        found.name(),
        caps.max_buf_size,
        caps.max_buf_list_len
    );

    // 2 open
    let device = found.open()?;
    println!("2 opened {} on the {} side", device.function().iface(), device.function().side());

    // 3 register: memory the device may read and write, and two buffers in it
    let memory = Memory::heap(2 << 20).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let (mut src, dst) = (memory.buf(..1 << 20)?, memory.buf(1 << 20..)?);
    println!("3 registered {} bytes, key {:#x}", memory.len(), memory.mkey(&device)?);

    // 4 start
    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    println!("4 started: {:?}", dma.state());

    // 5 submit: the buffers move into the task
    let text: Vec<u8> = (0..1u32 << 20).map(|i| (i * 7 / 3) as u8).collect();
    src.push_slice(&text)?;
    let flying = dma.submit(Memcpy { src, dst })?;
    println!("5 submitted, {} in flight", dma.in_flight());

    // 6 progress: the buffers come back
    let Done { task, result } = pe.run(flying);
    println!("6 done: {} bytes", result?);
    assert_eq!(task.dst.as_slice(), Some(&text[..]));
    println!("  every byte is the same");

    // 7 stop
    dma.stop().wait(&mut pe)?;
    println!("7 stopped");
    Ok(())
}
