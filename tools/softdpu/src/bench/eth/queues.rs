//! A send queue and a receive queue on one progress engine, and buffers that hold frames already.

use softdpu::eth::{self, Checksums, EthTxq, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::memory::{BufPool, Memory};
use softdpu::{Access, Context, Device, ProgressEngine, Session};

use super::SHORTEST;
use crate::bench::lane::text;

/// Both queues.
pub(super) struct Queues {
    // Before their engine.
    pub(super) sender: Context<EthTxq>,
    pub(super) receiver: Receiver,
    pub(super) pe: ProgressEngine,
    pool: BufPool,
    /// Where frames arrive, and rules lead to the receiver.
    to: Device,
}

impl Queues {
    /// Sends from one device and receives at the other, which may be the same; frames of up to `bytes` bytes, `depth` at
    /// once.
    pub(super) fn new(
        session: &Session,
        (from, to): (&Device, &Device),
        bytes: usize,
        depth: u32,
    ) -> Result<Self, String> {
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        // Those that fly and those that arrived; a send may be reported after its frame is there.
        let count = 4 * depth as usize;
        let stride = bytes.next_multiple_of(64);
        let memory = Memory::heap(count * stride).access(Access::LOCAL_READ_WRITE);
        let both = [from.shared(), to.shared()];
        let devices = if from.function() == to.function() { &both[..1] } else { &both[..] };
        let pool = memory.register(devices).map_err(text)?.pool(stride).map_err(|e| e.to_string())?;
        let mut bufs: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        let mut frame = vec![1; bytes];
        frame[..SHORTEST as usize].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
        bufs.iter_mut().try_for_each(|buf| buf.push_slice(&frame)).map_err(|e| e.to_string())?;
        drop(bufs);
        let config = TxConfig { tasks: depth, ..TxConfig::default() };
        let sender = Context::<EthTxq>::start(&mut pe, from, config);
        let sender = sender.and_then(|starting| starting.wait(&mut pe)).map_err(text)?;
        let config = ReceiverConfig { depth: depth as usize, ..ReceiverConfig::default() };
        let receiver = Receiver::start(&mut pe, to, pool.clone(), config).map_err(text)?;
        let rules = receiver.number().and_then(|number| Rules::all_to(number).compile()).map_err(text)?;
        eth::port(to).steer(Some(rules.into()));
        Ok(Self { sender, receiver, pe, pool, to: to.clone() })
    }

    /// Sends one frame, with these bytes behind its header, unless a send that has arrived was not reported yet.
    pub(super) fn send(&mut self, len: usize, first: &[u8]) -> Result<bool, String> {
        if self.sender.is_full() {
            return Ok(false);
        }
        let Some(mut frame) = self.pool.take() else { return Ok(false) };
        frame.set_data(..len).map_err(|e| e.to_string())?;
        if !first.is_empty() {
            frame.write_at(SHORTEST as usize, first).map_err(|e| e.to_string())?;
        }
        let task = Send { frame, checksums: Checksums::NONE };
        self.sender.post(task).map(|()| true).map_err(|refused| text(refused.error))
    }
}

impl Drop for Queues {
    fn drop(&mut self) {
        eth::port(&self.to).steer(None);
    }
}
