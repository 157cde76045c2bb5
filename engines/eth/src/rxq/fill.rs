//! A frame into the buffers it is received in, and what is told about it.

use super::report::Want;
use crate::caps::MOST_METADATA;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::node::Node;
use softdpu_memory::view::{Hold, room, with_room};
use softdpu_net::{Check, Frame, Meta};
use softdpu_status::{Code, Error, Result};

/// What a queue tells about a packet besides its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// The IP header checksum was verified and is right.
    pub l3_ok: bool,
    /// The TCP or UDP checksum was verified and is right.
    pub l4_ok: bool,
    /// The tag that the flow rule gave it, where the queue asks for it.
    pub flow_tag: u32,
    /// Its hash, where the queue asks for it.
    pub hash: u32,
    /// When it arrived, in nanoseconds of real time, where the queue asks for it.
    pub timestamp: u64,
    /// Metadata; the first word is what the flow rule wrote, as many count as the queue asks for.
    pub metadata: [u32; MOST_METADATA],
}

impl Info {
    #[inline]
    pub(crate) fn of(meta: &Meta, want: &Want) -> Info {
        let mut metadata = [0; MOST_METADATA];
        if want.words > 0 {
            metadata[0] = meta.mark;
        }
        Info {
            l3_ok: meta.l3 == Check::Good,
            l4_ok: meta.l4 == Check::Good,
            flow_tag: if want.flow_tag { meta.tag } else { 0 },
            hash: if want.hash { meta.hash } else { 0 },
            timestamp: if want.timestamp { meta.timestamp } else { 0 },
            metadata,
        }
    }
}

/// Copies a frame behind the data of a buffer (or list), whose data grows by it.
///
/// # Errors
/// TooBig: there is not so much room; InvalidValue, NotPermitted: it may not be written. One log line.
#[inline]
pub(crate) fn fill(node: &Node, frame: &mut Frame<'_>, gate: &Gate) -> Result<u64> {
    let len = frame.len();
    let plainly = with_room(node, gate, |room| match room.get_mut(..len) {
        Some(place) => {
            frame.deliver(place);
            len
        }
        None => 0,
    });
    if plainly == Some(len) { Ok(len as u64) } else { fill_any(node, frame, gate) }
}

/// The same for lists and memory that others may touch.
#[inline(never)]
fn fill_any(node: &Node, frame: &mut Frame<'_>, gate: &Gate) -> Result<u64> {
    let len = frame.len();
    if node.next().is_some() {
        let elements = node.list().count();
        if elements > gate.max_elements() as usize {
            log::error!(target: crate::LOG, "receive: a list of {elements} buffers, this queue takes {}", gate.max_elements());
            return Err(Error::new(Code::InvalidValue, "more list elements than the queue takes"));
        }
    }
    let free = if node.next().is_none() { node.room() as u64 } else { room(node) };
    if len as u64 > free {
        log::error!(target: crate::LOG, "receive: a frame of {len} bytes, buffer {node:p} has room for {free}");
        return Err(Error::new(Code::TooBig, "the frame is longer than the buffer"));
    }
    let mut hold = Hold::room(node, gate)?;
    let (_, mut sink) = hold.split();
    sink.write(frame.bytes());
    hold.check()?;
    drop(hold);
    copy::commit(node, len as u64);
    Ok(len as u64)
}
