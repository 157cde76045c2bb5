//! Writing frames into a pcap file with nanoseconds.

use super::ETHERNET;
use std::io::{self, Write};

/// Appends frames. What it writes through should be buffered.
#[derive(Debug)]
pub struct Writer<W: Write> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W) -> io::Result<Writer<W>> {
        let mut header = Vec::with_capacity(24);
        header.extend(0xa1b2_3c4du32.to_le_bytes());
        // Version 2.4, time zone and accuracy 0, longest frame.
        header.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        header.extend(0x0004_0000u32.to_le_bytes());
        header.extend(ETHERNET.to_le_bytes());
        out.write_all(&header)?;
        Ok(Writer { out })
    }

    /// One frame, gathered from pieces, with its time in nanoseconds since 1970.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn frame(&mut self, stamp: u64, pieces: &[&[u8]]) -> io::Result<()> {
        let len = pieces.iter().fold(0, |sum, piece| sum + piece.len()) as u32;
        let (seconds, nanos) = ((stamp / 1_000_000_000) as u32, (stamp % 1_000_000_000) as u32);
        for word in [seconds, nanos, len, len] {
            self.out.write_all(&word.to_le_bytes())?;
        }
        pieces.iter().try_for_each(|piece| self.out.write_all(piece))
    }

    /// What was written through.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Hands everything over.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
