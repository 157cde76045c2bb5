//! Counts packets by their 5-tuple: addresses, protocol and ports of IPv4 with TCP or UDP.
//!
//! `cargo run --example flow_counter`

use softdpu::eth::{self, Checksums, EthTxq, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::prelude::*;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Source and destination address, protocol, source and destination port.
type Flow = (Ipv4Addr, Ipv4Addr, u8, u16, u16);

/// The flow of a frame without VLAN tags and IP options; `None` for others.
fn flow(frame: &[u8]) -> Option<Flow> {
    let (ip, ports) = (frame.get(14..34)?, frame.get(34..38)?);
    if frame[12..15] != [8, 0, 0x45] || !matches!(ip[9], 6 | 17) {
        return None;
    }
    let address = |at: usize| Ipv4Addr::new(ip[at], ip[at + 1], ip[at + 2], ip[at + 3]);
    let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    Some((address(12), address(16), ip[9], port(0), port(2)))
}

/// A UDP packet from a port, checksums left to the queue.
fn packet(from: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0];
    frame.extend([0x45, 0, 0, 32, 0, 1, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(from.to_be_bytes());
    frame.extend([0, 53, 0, 12, 0, 0, 1, 2, 3, 4]);
    frame
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::open()?;
    let (p0, p1) = (session.device("p0")?.open()?, session.device("p1")?.open()?);
    let mut pe = ProgressEngine::new(&session)?;
    let pool = Memory::heap(2048 * 256).access(Access::LOCAL_READ_WRITE).register(&[&p0, &p1])?.pool(2048)?;
    let mut receiver = Receiver::start(&mut pe, &p1, pool.clone(), ReceiverConfig::default())?;
    eth::port(&p1).steer(Some(Rules::all_to(receiver.number()?).compile()?.into()));
    let mut sender = Context::<EthTxq>::start(&mut pe, &p0, TxConfig::default())?.wait(&mut pe)?;

    // Traffic: 1, 2, ... 10 packets from ports 1001, 1002, ...
    let mut flows = BTreeMap::<Flow, u64>::new();
    let mut bad = 0;
    for from in (1..=10u16).flat_map(|n| (0..n).map(move |_| 1000 + n)) {
        let mut frame = pool.take().ok_or("no buffer")?;
        frame.push_slice(&packet(from))?;
        pe.run(sender.ready())?;
        sender.post(Send { frame, checksums: Checksums::ALL })?;
        let frame = pe.run(receiver.next()).ok_or("the queue was stopped")?;
        bad += u32::from(!frame.info.l4_ok);
        if let Some(flow) = flow(&frame.bytes()) {
            *flows.entry(flow).or_default() += 1;
        }
    }
    for ((from, to, protocol, source, target), count) in &flows {
        println!("{from}:{source} -> {to}:{target} protocol {protocol}: {count} packets");
    }
    println!("{} flows, {} packets, {bad} with wrong checksums", flows.len(), flows.values().sum::<u64>());
    Ok(())
}
