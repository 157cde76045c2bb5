//! A host of its own on the network: answers ARP, pings and whatever comes to UDP port 7, in the buffers that the requests
//! were received in. With a TAP interface behind the port the machine's own tools reach it:
//!
//! ```sh
//! SOFTDPU_PORT_p0=tap:sd0 cargo run --example udp_echo &
//! ip addr add 192.0.2.1/24 dev sd0
//! ping 192.0.2.2
//! nc -u 192.0.2.2 7
//! ```
//!
//! `udp_echo [ADDRESS]`; it runs until it is ended. What the interface needs is in docs/ports.md.

use softdpu::eth::{self, Checksums, EthTxq, Info, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::prelude::*;
use std::net::Ipv4Addr;

const ECHO: [u8; 2] = 7u16.to_be_bytes();

/// Who answers.
struct Me {
    mac: [u8; 6],
    ip: [u8; 4],
}

impl Me {
    /// Turns a request into its answer where it lies. False: it is none, or for somebody else.
    fn answer(&self, frame: &mut [u8], info: &Info) -> bool {
        let answered = match frame.get(12..14) {
            Some([8, 6]) => self.arp(frame),
            Some([8, 0]) => info.l3_ok && self.ipv4(frame),
            _ => false,
        };
        if answered {
            frame.copy_within(6..12, 0);
            frame[6..12].copy_from_slice(&self.mac);
        }
        answered
    }

    /// Who has this address?
    fn arp(&self, frame: &mut [u8]) -> bool {
        if frame.len() < 42 || frame[14..22] != [0, 1, 8, 0, 6, 4, 0, 1] || frame[38..42] != self.ip {
            return false;
        }
        frame.copy_within(22..32, 32);
        frame[21] = 2;
        frame[22..28].copy_from_slice(&self.mac);
        frame[28..32].copy_from_slice(&self.ip);
        true
    }

    /// Whole packets without options.
    fn ipv4(&self, frame: &mut [u8]) -> bool {
        let is_fragment = |flags: &[u8]| flags[0] & 0x3f != 0 || flags[1] != 0;
        if frame.len() < 42 || frame[14] != 0x45 || is_fragment(&frame[20..22]) || frame[30..34] != self.ip {
            return false;
        }
        match frame[23] {
            1 if frame[34..36] == [8, 0] => {
                // From 8 to 0: the checksum grows by what the sum has lost.
                frame[34] = 0;
                let (sum, carry) = u16::from_be_bytes([frame[36], frame[37]]).overflowing_add(0x0800);
                frame[36..38].copy_from_slice(&(sum + u16::from(carry)).to_be_bytes());
            }
            // Two servers would talk to each other for ever.
            17 if frame[36..38] == ECHO && frame[34..36] != ECHO => {
                frame.copy_within(34..36, 36);
                frame[34..36].copy_from_slice(&ECHO);
            }
            _ => return false,
        }
        frame.copy_within(26..30, 30);
        frame[26..30].copy_from_slice(&self.ip);
        true
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address: Ipv4Addr = std::env::args().nth(1).as_deref().unwrap_or("192.0.2.2").parse()?;
    let session = Session::open()?;
    let device = session.device("p0")?.open()?;
    let mut pe = ProgressEngine::new(&session)?;
    let pool = Memory::heap(2048 * 1024).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(2048)?;
    let mut sender = Context::<EthTxq>::start(&mut pe, &device, TxConfig::default())?.wait(&mut pe)?;
    let mut receiver = Receiver::start(&mut pe, &device, pool, ReceiverConfig::default())?;
    let port = eth::port(&device);
    port.steer(Some(Rules::all_to(receiver.number()?).compile()?.into()));
    let me = Me { mac: port.mac(), ip: address.octets() };
    println!("{address} answers");

    // Sleeps while nothing comes.
    while let Some(mut frame) = pe.run(receiver.next()) {
        let bytes = frame.buf.as_mut_slice().ok_or("the memory is not private")?;
        if me.answer(bytes, &frame.info) {
            pe.run(sender.ready())?;
            // IPv4 and UDP checksums are the queue's affair.
            sender.post(Send { frame: frame.buf, checksums: Checksums::ALL })?;
        }
    }
    Ok(())
}
