//! The textbook's first skeleton in Rust: session, device, memory, buffer, submit, and back again.
//!
//! The chain of `goto cleanup` is not there: whatever was made before a step fails is released by its owner, in the
//! reverse order, once. What the chapter calls the three classes of errors decides what to do about one.
//!
//! `cargo run --example textbook_first`

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;

/// The seven phases. Which of them fails is the caller's choice, to see that nothing is left behind.
fn seven_phases(fails: usize) -> softdpu::Result<u64> {
    // 1 session
    let session = Session::open()?;
    // 2 device
    let device =
        if fails == 2 { session.device("no such device")? } else { session.first_with(EngineKind::Dma)? };
    let device = device.open()?;
    // 3 memory: 2 MiB that the device may read and write
    let bytes = if fails == 3 { 0 } else { 2 << 20 };
    let memory = Memory::heap(bytes).align(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    // 4 buffer: the first 1500 bytes
    let mut buf = memory.buf(0..1500).map_err(|error| Error::from(error.code()))?;
    let packet = [0x5a; 1501];
    buf.push_slice(if fails == 4 { &packet } else { &packet[..1500] })?;
    // 5 submit: the device reads the buffer, into memory of its own
    let mut pe = ProgressEngine::new(&session)?;
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
    let dst = memory.buf(4096..8192).map_err(|error| Error::from(error.code()))?;
    let done = pe.run(dma.submit(Memcpy { src: buf, dst })?);
    dma.stop().wait(&mut pe)?;
    // 6 and 7: buffer, memory, device and session go by themselves
    done.result
}

fn main() {
    for fails in [0, 2, 3, 4] {
        match seven_phases(fails) {
            Ok(read) => println!("the device read {read} bytes"),
            Err(error) => {
                let advice = match error.class() {
                    Class::Parameter => "fix the program",
                    Class::Resource => "free something, or mind the order",
                    Class::Transient => "try again",
                };
                println!("phase {fails}: {error}: a {} error: {advice}", error.class());
            }
        }
    }
}
