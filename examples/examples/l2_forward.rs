//! A layer 2 forwarder between two ports: every frame that arrives at one leaves through the other, in the buffer it was
//! received in. A generator and a sink stand at the far ends of the wires.
//!
//! `cargo run --example l2_forward`

use softdpu::eth::{self, Checksums, EthTxq, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::prelude::*;

const FRAMES: u32 = 10_000;
/// Frames on the way at most, so that the wires lose none.
const WINDOW: u32 = 64;

fn receiver(pe: &mut ProgressEngine, device: &Device, pool: &BufPool) -> softdpu::Result<Receiver> {
    let receiver = Receiver::start(pe, device, pool.clone(), ReceiverConfig::default())?;
    eth::port(device).steer(Some(Rules::all_to(receiver.number()?).compile()?.into()));
    Ok(receiver)
}

fn frame(pool: &BufPool, number: u32) -> softdpu::Result<Buf> {
    let mut frame = pool.take().expect("more buffers than frames on the way");
    frame.push_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5])?;
    frame.push_slice(&number.to_be_bytes())?;
    frame.push_slice(&[0; 46])?;
    Ok(frame)
}

/// A card with four ports of its own.
fn config() -> String {
    let port = |n: u32| format!("[[card.function]]\nside = \"dpu\"\npci = \"03:00.{n}\"\niface = \"p{n}\"\n");
    (0..4).fold("[[card]]\n".to_owned(), |text, n| text + &port(n))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Four ports: p0 is wired to p1, p2 to p3.
    let machine = softdpu::card::Machine::builder().config_text(config()).build()?;
    let session = Session::new(machine, Board::threads());
    let open = |name| session.device(name).and_then(|device| device.open());
    let (p0, p1, p2, p3) = (open("p0")?, open("p1")?, open("p2")?, open("p3")?);
    let mut pe = ProgressEngine::new(&session)?;
    let memory = Memory::heap(2048 * 512).access(Access::LOCAL_READ_WRITE).register(&[&p0, &p1, &p2, &p3])?;
    let pool = memory.pool(2048)?;

    let mut generator = Context::<EthTxq>::start(&mut pe, &p0, TxConfig::default())?.wait(&mut pe)?;
    let mut incoming = receiver(&mut pe, &p1, &pool)?;
    let mut outgoing = Context::<EthTxq>::start(&mut pe, &p2, TxConfig::default())?.wait(&mut pe)?;
    let mut sink = receiver(&mut pe, &p3, &pool)?;

    let (mut sent, mut arrived) = (0, 0);
    while arrived < FRAMES {
        while sent < FRAMES && sent - arrived < WINDOW {
            generator.post(Send { frame: frame(&pool, sent)?, checksums: Checksums::NONE })?;
            sent += 1;
        }
        pe.progress();
        // The forwarder: no copy, the buffer goes on.
        while let Some(frame) = incoming.try_next() {
            outgoing.post(Send { frame: frame.buf, checksums: Checksums::NONE })?;
        }
        while let Some(frame) = sink.try_next() {
            assert_eq!(frame.bytes()[14..18], arrived.to_be_bytes());
            arrived += 1;
        }
    }
    println!("{arrived} frames forwarded, in order");
    Ok(())
}
