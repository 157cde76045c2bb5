//! A message that lies in one piece of private memory, at both ends: one call.

use crate::ffi::{TAG, Text};
use crate::hardware::Plan;
use crate::task::Direction;
use softdpu_memory::view::{Hold, Overlap};
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
