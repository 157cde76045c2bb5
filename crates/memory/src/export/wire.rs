//! What importers ask exporters, and what these answer.
//!
//! ```text
//! request   0  what (u32)     answer   0  status (u32), flags (u32)
//!           4  version (u32)
//!           8  the descriptor          8  offset in the memory's file (u64)
//!                                     16  the descriptor of the memory itself, if this is a re-export
//! ```
//!
//! The answer to an import carries the page of the marks, and the memory's file if it can be mapped; that to the wish
//! for a stage carries the stage.

use super::descriptor::{Descriptor, LEN};
use softdpu_status::Code;

const VERSION: u32 = 2;

/// What is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Wish {
    /// To import, for as long as the line is there.
    Import = 1,
    /// A stage for copies by the owner's service thread, for as long as the line is there.
    Stage = 2,
}

/// A request: the wish, and the bytes of the descriptor.
pub(super) fn request(wish: Wish, descriptor: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(8 + LEN);
    bytes.extend_from_slice(&(wish as u32).to_le_bytes());
    bytes.extend_from_slice(&VERSION.to_le_bytes());
    bytes.extend_from_slice(descriptor);
    bytes
}

/// The wish and the descriptor's bytes, if that is what they are.
pub(super) fn read_request(bytes: &[u8]) -> Option<(Wish, &[u8])> {
    let (wish, rest) = bytes.split_first_chunk::<4>()?;
    let (version, descriptor) = rest.split_first_chunk::<4>()?;
    let wish = [Wish::Import, Wish::Stage].into_iter().find(|w| (*w as u32).to_le_bytes() == *wish)?;
    (*version == VERSION.to_le_bytes() && descriptor.len() == LEN).then_some((wish, descriptor))
}

/// What an exporter grants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Grant {
    /// The memory may be written at all.
    pub(super) writable: bool,
    /// The memory's file comes along.
    pub(super) has_file: bool,
    pub(super) offset: u64,
    /// The memory belongs to another process, which exported it under this descriptor.
    pub(super) via: Option<Descriptor>,
}

/// An answer in bytes.
pub(super) fn answer(outcome: Result<&Grant, Code>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(16 + LEN);
    let (status, grant) = match outcome {
        Ok(grant) => (0, Some(grant)),
        Err(code) => (code.number(), None),
    };
    bytes.extend_from_slice(&(status as u32).to_le_bytes());
    if let Some(grant) = grant {
        let flags = u32::from(grant.writable) | u32::from(grant.has_file) << 1;
        bytes.extend_from_slice(&flags.to_le_bytes());
        bytes.extend_from_slice(&grant.offset.to_le_bytes());
        if let Some(via) = &grant.via {
            via.encode(&mut bytes);
        }
    }
    bytes
}

/// The outcome in an answer; `None` when these bytes are no answer.
pub(super) fn read_answer(bytes: &[u8]) -> Option<Result<Grant, Code>> {
    let (status, rest) = bytes.split_first_chunk::<4>()?;
    let status = u32::from_le_bytes(*status);
    if status != 0 {
        return Some(Err(Code::from_number(status as _).unwrap_or(Code::Unexpected)));
    }
    let (head, via) = rest.split_first_chunk::<12>()?;
    let [f0, f1, f2, f3, offset @ ..] = *head;
    let flags = u32::from_le_bytes([f0, f1, f2, f3]);
    let via = if via.is_empty() { None } else { Some(Descriptor::decode(via).ok()?) };
    (flags <= 3).then_some(Ok(Grant {
        writable: flags & 1 != 0,
        has_file: flags & 2 != 0,
        offset: u64::from_le_bytes(offset),
        via,
    }))
}

#[cfg(test)]
mod tests {
    use super::super::descriptor::tests::sample;
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut descriptor = Vec::new();
        sample().encode(&mut descriptor);
        for wish in [Wish::Import, Wish::Stage] {
            let bytes = request(wish, &descriptor);
            assert_eq!(read_request(&bytes), Some((wish, &descriptor[..])));
            assert_eq!(read_request(&bytes[..bytes.len() - 1]), None);
        }
        let plain = Grant { writable: true, has_file: false, offset: 1 << 40, via: None };
        for grant in [plain, Grant { via: Some(sample()), has_file: true, ..plain }] {
            let bytes = answer(Ok(&grant));
            assert_eq!(read_answer(&bytes), Some(Ok(grant)));
            assert_eq!(read_answer(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(read_answer(&answer(Err(Code::Full))), Some(Err(Code::Full)));
    }

    /// Seeded.
    #[test]
    fn any_bytes_give_an_answer() {
        let mut state = 0x51a3_u64;
        for _ in 0..20_000 {
            let bytes: Vec<u8> = (0..state % 300)
                .map(|_| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    // Small numbers are what gets furthest.
                    if state >> 60 < 12 { 0 } else { (state >> 40) as u8 }
                })
                .collect();
            let _ = (read_request(&bytes), read_answer(&bytes));
            state = state.wrapping_add(77);
        }
    }
}
