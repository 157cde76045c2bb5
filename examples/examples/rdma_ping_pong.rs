//! Messages between two RDMA peers, in one process or in two; the program is the same.
//!
//! `cargo run --example rdma_ping_pong` runs both sides as threads, `-- two` as two processes.

use softdpu::prelude::*;
use softdpu::rdma::{Connection, Endpoint, Options, Rdma, Receives, Send};
use softdpu_examples::wire::Wire;
use std::error::Error;

type Outcome = Result<(), Box<dyn Error + std::marker::Send + Sync>>;

const ROUNDS: u32 = 1000;

fn main() -> Outcome {
    match std::env::args().nth(1).as_deref() {
        Some("pong") => pong(Wire::stdio()),
        Some("two") => ping(Wire::child("pong")?),
        _ => {
            let (here, there) = Wire::pair();
            let other = std::thread::spawn(|| pong(there));
            ping(here)?;
            other.join().map_err(|_| "the other side panicked")?
        }
    }
}

/// One end of a connection, with memory for messages and a progress engine of its own.
struct Side {
    pe: ProgressEngine,
    rdma: Context<Rdma>,
    connection: Connection,
    memory: Memory,
}

/// Swaps descriptions with the other side; either may be first.
fn connect(device: &str, wire: &mut Wire) -> Result<Side, Box<dyn Error + std::marker::Send + Sync>> {
    let session = Session::open()?;
    let device = session.device(device)?.open()?;
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let endpoint = Endpoint::new(&device, Options::default())?;
    let mut pe = ProgressEngine::new(&session)?;
    let rdma = Context::<Rdma>::start(&mut pe, &device, endpoint.config())?.wait(&mut pe)?;
    let connection = endpoint.export()?;
    wire.put(connection.description())?;
    connection.join(&wire.get()?)?;
    Ok(Side { pe, rdma, connection, memory })
}

fn ping(mut wire: Wire) -> Outcome {
    let Side { mut pe, mut rdma, connection, memory } = connect("b1:00.0", &mut wire)?;
    let to = connection.target();
    let mut receives = Receives::new();
    receives.post(&mut rdma, memory.buf(..2048)?)?;
    let mut message = Some(memory.buf(2048..)?);
    let start = std::time::Instant::now();
    for round in 0..ROUNDS {
        let mut src = message.take().ok_or("the buffer comes back")?;
        src.reset();
        src.push_slice(&round.to_le_bytes())?;
        let answer = pe.run(async {
            let sent = rdma.submit(Send { to, src: Some(src), immediate: None })?.await;
            sent.result?;
            message = sent.task.src;
            Ok::<_, Box<dyn Error + std::marker::Send + Sync>>(receives.next().await.ok_or("posted")??)
        })?;
        assert_eq!(answer.bytes(), (round + 1).to_le_bytes());
        let mut buf = answer.buf;
        buf.reset();
        receives.post(&mut rdma, buf)?;
    }
    let each = start.elapsed() / ROUNDS;
    println!("{ROUNDS} messages there and back, {} us each", each.as_nanos() as f64 / 1000.0);
    wire.close()?;
    Ok(())
}

fn pong(mut wire: Wire) -> Outcome {
    let Side { mut pe, mut rdma, connection, memory } = connect("03:00.0", &mut wire)?;
    let mut receives = Receives::new();
    receives.post(&mut rdma, memory.buf(..2048)?)?;
    let mut answer = Some(memory.buf(2048..)?);
    for _ in 0..ROUNDS {
        pe.run(async {
            let received = receives.next().await.ok_or("posted")??;
            let number: [u8; 4] = received.bytes().as_slice().try_into()?;
            let (from, mut buf) = (received.message.from, received.buf);
            // For the next one, before it can come.
            buf.reset();
            receives.post(&mut rdma, buf)?;
            let mut src = answer.take().ok_or("the buffer comes back")?;
            src.reset();
            src.push_slice(&(u32::from_le_bytes(number) + 1).to_le_bytes())?;
            let sent = rdma.submit(Send { to: from, src: Some(src), immediate: None })?.await;
            sent.result?;
            answer = sent.task.src;
            Ok::<_, Box<dyn Error + std::marker::Send + Sync>>(())
        })?;
    }
    drop(connection);
    Ok(())
}
