//! A send queue and a receive queue on one progress engine, and buffers that hold frames already.

use softdpu::eth::{self, Checksums, EthTxq, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::memory::{Buf, BufPool, Memory};
use softdpu::{Access, Context, Device, ProgressEngine, Session};

use super::SHORTEST;
use crate::bench::lane::{self, text};

/// Behind the header of a frame like any other.
const PLAIN: u8 = 1;
/// Behind the header of one that asks for an answer.
const MARKED: u8 = 2;
/// Marked frames at once.
const MARKS: usize = 16;

/// Both queues.
pub(super) struct Queues {
    // Before their engine.
    pub(super) sender: Context<EthTxq>,
    pub(super) receiver: Receiver,
    pub(super) pe: ProgressEngine,
    plain: BufPool,
    marked: BufPool,
    /// Where frames arrive, and rules lead to the receiver.
    to: Device,
}

/// Buffers with a frame in each.
fn stock(devices: &[&Device], bytes: usize, count: usize, mark: u8) -> Result<BufPool, String> {
    let stride = bytes.next_multiple_of(64);
    let memory = Memory::heap(count * stride).access(Access::LOCAL_READ_WRITE);
    let pool = memory.register(devices).map_err(text)?.pool(stride).map_err(|e| e.to_string())?;
    let mut frame = vec![mark; bytes];
    frame[..SHORTEST as usize].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5]);
    let mut bufs: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    bufs.iter_mut().try_for_each(|buf| buf.push_slice(&frame)).map_err(|e| e.to_string())?;
    Ok(pool)
}

/// Does this frame ask for an answer?
pub(super) fn is_marked(frame: &[u8]) -> bool {
    frame.get(SHORTEST as usize) == Some(&MARKED)
}

impl Queues {
    /// Sends from one device and receives at the other, which may be the same; frames of up to `bytes` bytes, `depth` at
    /// once in each queue.
    pub(super) fn new(
        session: &Session,
        (from, to): (&Device, &Device),
        bytes: usize,
        depth: u32,
    ) -> Result<Self, String> {
        let mut pe = ProgressEngine::new(session).map_err(text)?;
        let both = [from, to];
        let devices = if from.function() == to.function() { &both[..1] } else { &both[..] };
        // A send may be reported after its frame is there; and those that arrived may wait in two places.
        let plain = stock(devices, bytes, 2 * depth as usize, PLAIN)?;
        let marked = stock(devices, bytes, MARKS, MARKED)?;
        let places = stock(devices, bytes, 2 * depth as usize, PLAIN)?;
        let config = TxConfig { tasks: depth, ..TxConfig::default() };
        let sender = Context::<EthTxq>::start(&mut pe, from, config);
        let sender = sender.and_then(|starting| starting.wait(&mut pe)).map_err(text)?;
        let config = ReceiverConfig { depth: depth as usize, ..ReceiverConfig::default() };
        let receiver = Receiver::start(&mut pe, to, places, config).map_err(text)?;
        let rules = receiver.number().and_then(|number| Rules::all_to(number).compile()).map_err(text)?;
        eth::port(to).steer(Some(rules.into()));
        Ok(Self { sender, receiver, pe, plain, marked, to: to.clone() })
    }

    /// The stocks of frames, and of those with a mark.
    pub(super) fn stocks(&self) -> (BufPool, BufPool) {
        (self.plain.clone(), self.marked.clone())
    }

    /// Sends up to `most` frames as one batch, unless sends that have arrived were not reported yet. How many.
    pub(super) fn send_many(&mut self, len: usize, most: usize) -> Result<usize, String> {
        let Self { sender, plain, .. } = self;
        let mut batch = sender.batch();
        while batch.len() < most
            && !batch.is_full()
            && let Some(frame) = plain.take()
        {
            batch.post(send(frame, len, &[])?).map_err(|refused| text(refused.error))?;
        }
        Ok(batch.finish())
    }

    /// Sends one frame that has a mark behind its header, or these bytes, if there is room.
    pub(super) fn send_one(&mut self, len: usize, text: &[u8]) -> Result<bool, String> {
        let Some(frame) = self.marked.take().filter(|_| !self.sender.is_full()) else { return Ok(false) };
        self.sender.post(send(frame, len, text)?).map(|()| true).map_err(|refused| lane::text(refused.error))
    }
}

/// The task that sends the first `len` bytes of a buffer of the stock, with these bytes behind the header.
pub(super) fn send(mut frame: Buf, len: usize, text: &[u8]) -> Result<Send, String> {
    frame.set_data(..len).map_err(|e| e.to_string())?;
    if !text.is_empty() {
        frame.write_at(SHORTEST as usize, text).map_err(|e| e.to_string())?;
    }
    Ok(Send { frame, checksums: Checksums::NONE })
}

impl Drop for Queues {
    fn drop(&mut self) {
        eth::port(&self.to).steer(None);
    }
}
