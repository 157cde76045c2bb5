//! A message that lies in one piece of private memory: one call where its destination does, too; otherwise its plain text
//! goes to memory of others only when the tag was found right.

use crate::ffi::{Cipher, SHORT_TAG, TAG, Text, wipe};
use crate::hardware::Plan;
use crate::key::Iv;
use crate::task::{Direction, Parts};
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::node::Node;
use softdpu_memory::view::{self, Hold, Overlap, Sink};
use softdpu_status::Result;

/// Carries the message out, if it lies so; nothing is touched otherwise.
#[inline]
pub(crate) fn whole(plan: &Plan<'_>, hold: &mut Hold<'_>) -> Option<Result<()>> {
    let overlap = hold.overlap();
    let (sources, mut sink) = hold.split();
    match overlap {
        Overlap::Apart => {
            let input = sources.slice(0, plan.taken())?;
            let output = sink.slice(plan.given()).filter(|o| o.len() == plan.given())?;
            let (aad, text) = input.split_at(plan.aad);
            let (aad_out, rest) = output.split_at_mut(plan.aad);
            aad_out.copy_from_slice(aad);
            Some(match plan.direction {
                Direction::Encrypt => {
                    let (text_out, tag) = rest.split_at_mut(plan.text);
                    plan.cipher.seal(&plan.iv, aad, Text::Apart(text, text_out), tag)
                }
                Direction::Decrypt => {
                    let (text, tag) = text.split_at(plan.text);
                    open(plan, aad, Text::Apart(text, rest), tag)
                }
            })
        }
        Overlap::Same => {
            let mut tag = [0; TAG];
            let tag = &mut tag[..plan.tag];
            if plan.direction == Direction::Decrypt && sources.read(plan.body() as u64, tag) < tag.len() {
                return None;
            }
            let output = sink.slice(plan.given()).filter(|o| o.len() == plan.given())?;
            let (aad, rest) = output.split_at_mut(plan.aad);
            let (text, tag_out) = rest.split_at_mut(plan.text);
            Some(match plan.direction {
                Direction::Encrypt => plan.cipher.seal(&plan.iv, aad, Text::Same(text), tag_out),
                Direction::Decrypt => open(plan, aad, Text::Same(text), tag),
            })
        }
        Overlap::Mixed => None,
    }
}

#[inline]
fn open(plan: &Plan<'_>, aad: &[u8], text: Text<'_>, tag: &[u8]) -> Result<()> {
    // The text's destination is wiped by `open` itself.
    if plan.cipher.open(&plan.iv, aad, text, tag) { Ok(()) } else { Err(plan.not_authentic()) }
}

/// Bytes of plain text on their way to memory of others: few enough that they never leave the first cache, and that
/// writing them overlaps with the next.
const STRIDE: usize = 2048;

/// Decrypts a message that lies in one piece of private memory to a place that does not. Others may be reading there, so
/// nothing is written before the tag was found right: a short text is decrypted aside, of a longer one the tag comes
/// first. `None`, and nothing was touched, where neither can be.
pub(crate) fn unseen(plan: &Plan<'_>, hold: &mut Hold<'_>) -> Option<Result<()>> {
    let (sources, mut sink) = hold.split();
    let (aad, text) = sources.slice(0, plan.taken())?.split_at(plan.aad);
    let (text, tag) = text.split_at(plan.text);
    Some(if text.len() <= SMALL {
        aside::<SMALL>(plan, (aad, text, tag), &mut sink)
    } else if text.len() <= STRIDE {
        aside::<STRIDE>(plan, (aad, text, tag), &mut sink)
    } else {
        tag_first(plan, (aad, text, tag), &mut sink)?
    })
}

/// What is decrypted aside, on the stack.
const SMALL: usize = 256;

/// By one call, then to its place.
fn aside<const N: usize>(
    plan: &Plan<'_>,
    (aad, text, tag): (&[u8], &[u8], &[u8]),
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut aside = [0; N];
    let plain = &mut aside[..text.len()];
    open(plan, aad, Text::Apart(text, plain), tag)?;
    if !aad.is_empty() {
        sink.write(aad);
    }
    sink.write(plain);
    wipe(plain);
    Ok(())
}

/// The tag over the whole text, then its parts. `None`, and nothing was touched, where the cipher's halves are not there.
fn tag_first(
    plan: &Plan<'_>,
    (aad, text, tag): (&[u8], &[u8], &[u8]),
    sink: &mut Sink<'_>,
) -> Option<Result<()>> {
    if !plan.cipher.check(&plan.iv, aad, text, tag)? {
        return Some(Err(plan.not_authentic()));
    }
    sink.write(aad);
    decrypt(plan, 0, text, sink);
    Some(Ok(()))
}

/// Decrypts a part of a text that was vouched for, from its byte `from` on, a multiple of 16.
pub(crate) fn decrypt(plan: &Plan<'_>, from: usize, text: &[u8], sink: &mut Sink<'_>) {
    let mut aside = [0; STRIDE];
    for (i, text) in text.chunks(STRIDE).enumerate() {
        let plain = &mut aside[..text.len()];
        sink.expect(text.len());
        plan.cipher.decrypt(&plan.iv, ((from + i * STRIDE) / 16) as u32, text, plain);
        sink.write(plain);
    }
    wipe(&mut aside);
}

/// Most bytes of a message that is carried out without further ado.
const QUICK: usize = 64 << 10;

/// A message with nothing unusual about it: two lone buffers, sizes that fit. `None` when it is none, or is not authentic
/// after all; nothing is left of it then, and the other way finds that out once more.
#[inline(always)]
pub(crate) fn quick(cipher: &Cipher, job: &Parts, src: &Node, dst: &Node, gate: &Gate) -> Option<u64> {
    let (aad, tag) = (job.aad_len as usize, job.tag_len as usize);
    if src.data_len() > QUICK || job.iv.said() > Iv::MAX as u32 || (tag != TAG && tag != SHORT_TAG) {
        return None;
    }
    let given = view::with_lone(src, dst, gate, |from, to| match job.direction {
        Direction::Encrypt => {
            let (head, text) = from.split_at_checked(aad)?;
            let to = to.get_mut(..from.len() + tag).filter(|to| to.len() as u64 <= gate.max_bytes())?;
            let (head_to, rest) = to.split_at_mut(aad);
            let (text_to, tag_to) = rest.split_at_mut(text.len());
            cipher.seal(&job.iv, head, Text::Apart(text, text_to), tag_to).ok()?;
            copy_head(head, head_to);
            Some(to.len())
        }
        Direction::Decrypt => {
            let (body, tag) = from.split_at_checked(from.len().checked_sub(tag)?)?;
            let (head, text) = body.split_at_checked(aad)?;
            let (head_to, text_to) = to.get_mut(..body.len())?.split_at_mut(aad);
            if !cipher.open(&job.iv, head, Text::Apart(text, text_to), tag) {
                return None;
            }
            copy_head(head, head_to);
            Some(body.len())
        }
    })??;
    copy::commit(dst, given as u64);
    Some(given as u64)
}

/// Most messages have no additional data: no call for them.
#[inline(always)]
fn copy_head(head: &[u8], to: &mut [u8]) {
    if !head.is_empty() {
        to.copy_from_slice(head);
    }
}
