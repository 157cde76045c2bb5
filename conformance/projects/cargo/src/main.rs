//! Copies its argument with the DMA engine and prints the copy.

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "nothing said".into());
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Dma)?.open()?;
    let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    src.push_slice(text.as_bytes())?;

    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    let copy = dma.submit(Memcpy { src, dst }).map_err(|refused| refused.error)?;
    let done = pe.run(copy);
    done.result?;
    println!("{}", String::from_utf8_lossy(&done.task.dst.to_vec()));
    Ok(())
}
