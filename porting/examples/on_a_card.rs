//! Copies and hashes its argument on a real card: the program of any software card, but for the line that opens the session.
//!
//! `SOFTDPU_CARD_LIBRARIES` names the folder of the card's libraries if the dynamic linker does not find them by itself.

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use softdpu::sha::{Algorithm, Hash, Sha};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "nothing said".into());
    let session = softdpu_card_bridge::session()?; // Session::open()? on a software card
    let device = session.first_with(EngineKind::Dma)?.open()?;
    println!("device {} ({})", device.function().pci(), device.function().iface());
    let memory = Memory::heap(3 * 4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..8192)?);
    src.push_slice(text.as_bytes())?;

    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    let copy = dma.submit(Memcpy { src, dst })?;
    let copied = pe.run(copy);
    copied.result?;
    println!("copied: {}", String::from_utf8_lossy(&copied.task.dst.to_vec()));

    if device.function().supports(EngineKind::Sha) {
        let mut sha = Context::<Sha>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
        let message = Hash { algorithm: Algorithm::Sha256, src: copied.task.dst, dst: memory.buf(8192..)? };
        let hash = sha.submit(message)?;
        let hashed = pe.run(hash);
        hashed.result?;
        let digest: String = hashed.task.dst.to_vec().iter().map(|b| format!("{b:02x}")).collect();
        println!("SHA-256: {digest}");
    }
    Ok(())
}
