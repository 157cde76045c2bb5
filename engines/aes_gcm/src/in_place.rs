//! One list that is source and destination: its data is replaced.

use crate::ffi::{Cipher, SHORT_TAG, TAG, Text};
use crate::hardware::Plan;
use crate::key::Iv;
use crate::pieces::Trays;
use crate::task::{Direction, Parts};
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::node::Node;
use softdpu_memory::view::{self, Hold};
use softdpu_status::{Code, Error, Result};

/// Most bytes of a message that is carried out without further ado.
const QUICK: usize = 64 << 10;

/// Most bytes that are copied while a list is held, so that the owner of imported memory can always stop soon.
const HELD: usize = 256 << 10;

/// A message in a lone buffer of private memory with nothing unusual about it; as
/// [`message::quick`](crate::message::quick), but that a message that is not authentic is left alone: its text must not
/// be wiped before the other way looks at it.
#[inline]
pub(crate) fn quick(cipher: &Cipher, job: &Parts, gate: &Gate) -> Option<u64> {
    let (node, tag) = (job.src.any(), job.tag_len as usize);
    let ours = node.data_len() <= QUICK
        && job.iv.said() <= Iv::MAX as u32
        && (tag == TAG || tag == SHORT_TAG)
        && job.direction == Direction::Encrypt;
    if !ours {
        return None;
    }
    let given = view::with_own(node, gate, |bytes, len| {
        let (body, rest) = bytes.split_at_mut_checked(len)?;
        let (aad, text) = body.split_at_mut_checked(job.aad_len as usize)?;
        let tag = rest.get_mut(..tag).filter(|tag| (len + tag.len()) as u64 <= gate.max_bytes())?;
        cipher.seal(&job.iv, aad, Text::Same(text), tag).ok()?;
        Some(len + tag.len())
    })??;
    copy::commit(node, job.tag_len.into());
    Some(given as u64)
}

/// The whole of a planned job. The data grows by the tag, or loses it.
pub(crate) fn run(plan: &Plan<'_>, gate: &Gate, trays: &Trays) -> Result<u64> {
    let node = plan.src;
    let done = view::with_own(node, gate, |bytes, _| {
        let most = plan.taken().max(plan.given());
        let bytes = bytes.get_mut(..most)?;
        Some(turn(plan, bytes))
    });
    match done.flatten() {
        Some(outcome) => {
            outcome?;
            node.set_data(node.data(), plan.given())?;
        }
        None => aside(plan, gate, trays)?,
    }
    Ok(plan.given() as u64)
}

/// A message with its tag, or room for it.
fn turn(plan: &Plan<'_>, bytes: &mut [u8]) -> Result<()> {
    let (body, tag) = bytes.split_at_mut(plan.body());
    let (aad, text) = body.split_at_mut(plan.aad);
    match plan.direction {
        Direction::Encrypt => plan.cipher.seal(&plan.iv, aad, Text::Same(text), tag),
        Direction::Decrypt if plan.cipher.open(&plan.iv, aad, Text::Same(text), tag) => Ok(()),
        Direction::Decrypt => Err(plan.not_authentic()),
    }
}

/// Lists, and memory that others may touch: on memory of our own, and back when it is done.
fn aside(plan: &Plan<'_>, gate: &Gate, trays: &Trays) -> Result<()> {
    let mut tray = trays.take();
    let outcome = tray.stage(plan.taken().max(plan.given())).and_then(|bytes| {
        for (i, piece) in bytes[..plan.taken()].chunks_mut(HELD).enumerate() {
            let n = Hold::source(plan.src, gate)?.sources().read((i * HELD) as u64, piece);
            if n < piece.len() {
                return Err(Error::new(Code::Unexpected, "the buffers changed while their task flew"));
            }
        }
        turn(plan, bytes)?;
        replace(plan.src, &bytes[..plan.given()], gate)
    });
    trays.give_back(tray);
    outcome
}

/// Bytes in place of a list's data, from where the data of each element begins.
fn replace(list: &Node, bytes: &[u8], gate: &Gate) -> Result<()> {
    list.list().try_for_each(|node| node.set_data(node.data(), 0))?;
    for (i, piece) in bytes.chunks(HELD).enumerate() {
        let mut hold = Hold::room(list, gate)?;
        let (_, mut sink) = hold.split();
        sink.advance((i * HELD) as u64);
        sink.write(piece);
    }
    copy::commit(list, bytes.len() as u64);
    Ok(())
}
