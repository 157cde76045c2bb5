//! The same with single tasks: every send is submitted and awaited by itself, many of them in flight, and every frame is
//! awaited by itself.

use std::collections::VecDeque;

use softdpu::InFlight;
use softdpu::eth::Send;

use super::{ANSWER, BATCH, Count};
use crate::bench::eth::queues::{self, Queues, is_marked};
use crate::bench::lane::text;

/// Sends as many as may be on the way, a few at most.
pub(super) fn send(
    queues: &mut Queues,
    flying: &mut VecDeque<InFlight<Send>>,
    count: &mut Count,
    bytes: usize,
) -> Result<(), String> {
    let (plain, marked) = queues.stocks();
    let Queues { sender, pe, .. } = queues;
    let (room, may_mark) = count.room();
    pe.run(async {
        for at in 0..(room + u64::from(may_mark)).min(BATCH as u64) {
            // They come back in the order they were sent in; one that is back and not taken keeps its frame.
            while sender.is_full() || flying.front().is_some_and(InFlight::is_done) {
                let Some(first) = flying.pop_front() else { break };
                first.await.result.map_err(text)?;
            }
            let stock = if at == room { &marked } else { &plain };
            let Some(frame) = stock.take() else { break };
            let task = queues::send(frame, bytes, &[])?;
            flying.push_back(sender.submit(task).map_err(|refused| text(refused.error))?);
            count.sent += 1;
        }
        Ok(())
    })
}

/// The other process, as long as it lives.
pub(super) fn answer(queues: &mut Queues, bytes: usize) -> Result<(), String> {
    let (_, stock) = queues.stocks();
    let Queues { sender, receiver, pe, .. } = queues;
    pe.run(async {
        let mut got = 0u64;
        while let Some(frame) = receiver.next().await {
            // Whoever else sends to this port does not count.
            if frame.buf.data_len() != bytes {
                continue;
            }
            got += 1;
            if is_marked(&frame.bytes()) {
                let frame = stock.take().ok_or("more answers on the way than were asked for")?;
                sender.ready().await.map_err(text)?;
                let answer = queues::send(frame, ANSWER, &got.to_ne_bytes())?;
                sender.post(answer).map_err(|refused| text(refused.error))?;
            }
        }
        Ok(())
    })
}
