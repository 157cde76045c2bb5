//! Gather and scatter: a list of buffers is one source or one destination, however it is cut.
//!
//! `cargo run --example chains`

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

/// Chains buffers into one list, the first in front.
fn chain(buffers: Vec<Buf>) -> Option<Buf> {
    buffers.into_iter().rev().reduce(|tail, mut head| {
        head.chain(tail);
        head
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Dma)?.open()?;
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;

    // A packet as networks like it: headers here, payload there.
    let parts: [&[u8]; 3] = [b"header ", b"options ", b"and the payload"];
    let mut sources = Vec::new();
    for (i, part) in parts.iter().enumerate() {
        let mut buf = memory.buf(i * 4096..i * 4096 + 100)?;
        buf.push_slice(part)?;
        sources.push(buf);
    }
    let src = chain(sources).ok_or("no parts")?;
    println!("gather {} bytes from {} pieces", src.total_data_len(), src.elements().count());

    // Gathered into one.
    let done = pe.run(dma.submit(Memcpy { src, dst: memory.buf(32768..33000)? })?);
    let whole = done.task.dst;
    println!("  {} bytes: {:?}", done.result?, String::from_utf8_lossy(&whole.to_vec()));

    // Scattered over pieces of ten bytes.
    let mut places = Vec::new();
    for i in 0..4 {
        places.push(memory.buf(40960 + i * 64..40970 + i * 64)?);
    }
    let dst = chain(places).ok_or("no places")?;
    let done = pe.run(dma.submit(Memcpy { src: whole, dst })?);
    println!("scatter {} bytes", done.result?);
    for element in done.task.dst.elements() {
        let piece = element.as_slice().unwrap_or_default();
        println!("  {:?}: {:?}", element.range_in_memory(), String::from_utf8_lossy(piece));
    }
    assert_eq!(done.task.dst.to_vec(), parts.concat());
    dma.stop().wait(&mut pe)?;
    Ok(())
}
