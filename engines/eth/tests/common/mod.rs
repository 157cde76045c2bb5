//! What the tests of queues share: a card of its own per rig, whose two ports are joined by a wire.
#![allow(dead_code, reason = "each test program uses its part")]

use softdpu_board::{inline, threads};
use softdpu_card::{EngineKind, Machine};
use softdpu_eth::face::{Frame, Receiver, ReceiverConfig};
use softdpu_eth::rxq::Want;
use softdpu_eth::txq::{Checksums, EthTxq, Send, TxConfig};
use softdpu_memory::{Access, Buf, BufPool, Memory};
use softdpu_net::checksum::fill;
use softdpu_net::steer::{Action, HashFields, Match, Rules};
use softdpu_room::board::Board;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of each buffer.
pub(crate) const WINDOW: usize = 2048;

fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            eprintln!("watchdog: tests hang");
            std::process::abort();
        });
    });
}

/// Nanoseconds of real time.
pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64
}

pub(crate) struct Rig {
    pub(crate) session: Session,
    /// Sends.
    pub(crate) here: Device,
    /// Receives.
    pub(crate) there: Device,
    pub(crate) memory: Memory,
    pub(crate) pool: BufPool,
    pub(crate) pe: ProgressEngine,
}

impl Rig {
    pub(crate) fn new(board: &'static dyn Board) -> Rig {
        watchdog();
        static CARDS: AtomicU32 = AtomicU32::new(0);
        let text = format!("[[card]]\nname = \"eth{}\"\n", CARDS.fetch_add(1, Ordering::Relaxed));
        let machine = Machine::builder().config_text(text).build().unwrap();
        Rig::on(Session::new(machine, board))
    }

    fn on(session: Session) -> Rig {
        let ports: Vec<_> = session
            .devices()
            .into_iter()
            .filter(|d| d.function().supports(EngineKind::EthRxq))
            .take(2)
            .collect();
        let (here, there) = (ports[0].open().unwrap(), ports[1].open().unwrap());
        let memory =
            Memory::heap(4096 * WINDOW).access(Access::LOCAL_READ_WRITE).register(&[&here, &there]).unwrap();
        let pool = memory.pool(WINDOW).unwrap();
        let pe = ProgressEngine::new(&session).unwrap();
        Rig { session, here, there, memory, pool, pe }
    }

    /// On both kinds of board.
    pub(crate) fn both() -> [Rig; 2] {
        [Rig::new(inline()), Rig::new(threads())]
    }

    /// The same card with a progress engine of its own.
    pub(crate) fn elsewhere(&self) -> Rig {
        Rig::on(self.session.clone())
    }

    pub(crate) fn receiver(&mut self, want: Want) -> Receiver {
        let config = ReceiverConfig { depth: 64, want, ..ReceiverConfig::default() };
        Receiver::start(&mut self.pe, &self.there, self.pool.clone(), config).unwrap()
    }

    pub(crate) fn sender(&mut self, config: TxConfig) -> Context<EthTxq> {
        Context::<EthTxq>::start(&mut self.pe, &self.here, config).unwrap().wait(&mut self.pe).unwrap()
    }

    /// Everything goes to these queues, with tag 77 and metadata 1234.
    pub(crate) fn steer(&self, numbers: &[u16]) {
        let action = Action::queues(numbers, HashFields::default()).mark(1234).tag(77);
        let rules = Rules::new().rule(Match::any(), action).compile().unwrap();
        softdpu_net::port(self.there.shared().function()).steer(Some(Arc::new(rules)));
    }

    /// An empty buffer of `len` bytes.
    pub(crate) fn window(&self, len: usize) -> Buf {
        let mut buf = self.pool.take().unwrap();
        buf.set_data(WINDOW - len..WINDOW - len).unwrap();
        buf
    }

    pub(crate) fn buf(&self, bytes: &[u8]) -> Buf {
        let mut buf = self.pool.take().unwrap();
        buf.push_slice(bytes).unwrap();
        buf
    }

    /// A buffer of its own memory.
    pub(crate) fn large(&self, bytes: &[u8]) -> Buf {
        let memory =
            Memory::heap(bytes.len()).access(Access::LOCAL_READ_WRITE).register(&[&self.here]).unwrap();
        let mut buf = memory.buf(..).unwrap();
        buf.push_slice(bytes).unwrap();
        buf
    }

    /// Submits and waits.
    pub(crate) fn send<T: Task<Engine = EthTxq>>(
        &mut self,
        sender: &mut Context<EthTxq>,
        task: T,
    ) -> Result<T::Output> {
        let flying = sender.submit(task)?;
        self.pe.run(flying).result
    }

    pub(crate) fn send_bytes(&mut self, sender: &mut Context<EthTxq>, bytes: &[u8]) {
        let frame = self.buf(bytes);
        self.send(sender, Send { frame, checksums: Checksums::NONE }).unwrap();
    }

    /// The next frame, which arrives or is there.
    pub(crate) fn next(&mut self, receiver: &mut Receiver) -> Frame {
        loop {
            if let Some(frame) = receiver.try_next() {
                return frame;
            }
            self.pe.progress();
        }
    }
}

/// A frame of `len` bytes with a number in it.
pub(crate) fn frame(len: usize, number: u32) -> Vec<u8> {
    let mut frame: Vec<u8> =
        (0..len).map(|at| (at as u32).wrapping_mul(31).wrapping_add(number) as u8).collect();
    frame[..14].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    frame
}

fn ip(protocol: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0];
    frame.extend((20 + body.len() as u16).to_be_bytes());
    frame.extend([0, 1, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(body);
    frame
}

/// A frame with UDP data, without checksums.
pub(crate) fn udp(data: &[u8]) -> Vec<u8> {
    let mut body = vec![0x30, 0x39, 0x00, 0x35];
    body.extend((8 + data.len() as u16).to_be_bytes());
    body.extend([0, 0]);
    body.extend(data);
    ip(17, &body)
}

/// The header of a large send over TCP.
pub(crate) fn tcp() -> Vec<u8> {
    ip(6, &[0x30, 0x39, 0, 0x50, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 0x20, 0, 0, 0, 0, 0])
}

/// The same frame with its checksums.
pub(crate) fn checked(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    fill(&mut frame, true, true);
    frame
}
