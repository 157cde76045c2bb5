//! Two threads, a progress engine each, one memory: the first copies in, hands the buffer over, the second copies on.
//!
//! `cargo run --example two_engines_two_threads`

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::sync::mpsc;

const ROUNDS: u32 = 10_000;

/// What a thread needs to copy.
struct Copier {
    pe: ProgressEngine,
    dma: Context<Dma>,
}

impl Copier {
    fn new(session: &Session, device: &Device) -> softdpu::Result<Copier> {
        let mut pe = ProgressEngine::new(session)?;
        let dma = Context::<Dma>::start(&mut pe, device, Config::default())?.wait(&mut pe)?;
        Ok(Copier { pe, dma })
    }

    /// Copies `src` into `dst`; gives `dst` back, and `src` to whoever it belongs to.
    fn copy(&mut self, src: Buf, dst: Buf) -> softdpu::Result<Buf> {
        let done = self.pe.run(self.dma.submit(Memcpy { src, dst })?);
        done.result?;
        Ok(done.task.dst)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Dma)?.open()?;
    let pool = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(256)?;
    let (mut first, mut second) = (Copier::new(&session, &device)?, Copier::new(&session, &device)?);

    // A channel is the hand-over: a buffer is a value, and there is no lock on the way of its bytes.
    let (send, receive) = mpsc::sync_channel::<Buf>(16);
    let stock = pool.clone();
    let other = std::thread::spawn(move || -> softdpu::Result<u64> {
        let mut sum = 0;
        for buf in receive {
            let last = second.copy(buf, next(&stock))?;
            let mut number = [0; 4];
            last.read_at(0, &mut number)?;
            sum += u64::from(u32::from_le_bytes(number));
        }
        Ok(sum)
    });

    for n in 0..ROUNDS {
        let mut src = next(&pool);
        src.push_slice(&n.to_le_bytes())?;
        send.send(first.copy(src, next(&pool))?)?;
    }
    drop(send);
    let sum = other.join().map_err(|_| "the other thread panicked")??;
    println!("{ROUNDS} buffers went through two engines; sum {sum}");
    assert_eq!(sum, u64::from(ROUNDS) * u64::from(ROUNDS - 1) / 2);
    Ok(())
}

/// A buffer from the stock, once there is one.
fn next(pool: &BufPool) -> Buf {
    loop {
        match pool.take() {
            Some(buf) => return buf,
            None => std::thread::yield_now(),
        }
    }
}
