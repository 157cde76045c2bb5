//! Decryption of a long message to memory that others may read: in steps, as other long messages, but twice over its text.
//! The first time finds out whether the tag is right, and writes nothing; the second decrypts. That is faster than to
//! decrypt to memory of our own and to copy from there, and needs no such memory. The cipher text is private memory that
//! nobody may change while the task flies.

use crate::hardware::Plan;
use crate::message;
use crate::pieces::is_private;
use crate::task::Direction;
use softdpu_kernels::gcm::TagUnderWay;
use softdpu_memory::view::{Hold, Overlap};
use softdpu_status::{Code, Error, Result};

/// Most additional data: it is not cut.
const MOST_AAD: usize = 64 << 10;

/// A message under way.
#[derive(Debug)]
pub(crate) struct Twice(TagUnderWay);

/// What the text counts as, each time: whole blocks.
fn pass(plan: &Plan<'_>) -> usize {
    plan.text.next_multiple_of(16)
}

/// The part of the text that lies in `[from, to)`, without blocks that are cut at its end.
fn blocks(plan: &Plan<'_>, from: usize, to: usize) -> core::ops::Range<usize> {
    let whole = |at: usize| plan.text.min(at - at % 16);
    whole(from)..whole(to)
}

fn lost() -> Error {
    Error::new(Code::Unexpected, "the buffers changed while their task flew")
}

impl Twice {
    /// Nothing but the additional data was looked at; `None` for a message that goes another way.
    pub(crate) fn begin(plan: &Plan<'_>, hold: &mut Hold<'_>) -> Option<Twice> {
        if plan.direction != Direction::Decrypt || plan.text == 0 || plan.aad > MOST_AAD {
            return None;
        }
        let apart = hold.overlap() == Overlap::Apart;
        let (sources, sink) = hold.split();
        if !apart || is_private(sink, plan.given()) {
            return None;
        }
        let aad = &sources.slice(0, plan.taken())?[..plan.aad];
        plan.cipher.begin_check(&plan.iv, aad).map(Twice)
    }

    /// Bytes of both times.
    pub(crate) fn total(plan: &Plan<'_>) -> u64 {
        2 * pass(plan) as u64
    }

    /// Bytes `[from, from + len)` of both.
    ///
    /// # Errors
    /// IoFailed for a message that is not authentic, Unexpected; nothing was written then.
    pub(crate) fn advance(
        &mut self,
        plan: &Plan<'_>,
        hold: &mut Hold<'_>,
        from: usize,
        len: usize,
    ) -> Result<()> {
        let (sources, mut sink) = hold.split();
        let input = sources.slice(0, plan.taken()).ok_or_else(lost)?;
        let (aad, rest) = input.split_at(plan.aad);
        let (text, tag) = rest.split_at(plan.text);
        let (pass, to) = (pass(plan), from + len);
        if from < pass {
            plan.cipher.extend_check(&mut self.0, &text[blocks(plan, from, to.min(pass))]);
            if to < pass {
                return Ok(());
            }
            if !plan.cipher.end_check(&plan.iv, &self.0, tag) {
                return Err(plan.not_authentic());
            }
            sink.write(aad);
        } else {
            sink.advance(plan.aad as u64);
        }
        let part = blocks(plan, from.max(pass) - pass, to - pass);
        sink.advance(part.start as u64);
        message::decrypt(plan, part.start, &text[part], &mut sink);
        Ok(())
    }
}
