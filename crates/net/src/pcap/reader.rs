//! Reading frames out of pcap and pcapng files, in either byte order.

use super::{ETHERNET, MAX_RECORD};
use std::io::Read;

/// A frame of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record {
    /// Nanoseconds since 1970; 0 where the file does not tell.
    pub stamp: u64,
    /// Bytes of the frame that are in the file.
    pub len: usize,
    /// Bytes that it had when it was captured.
    pub full: usize,
}

/// The form of a file.
#[derive(Clone, Debug)]
enum Form {
    /// Units of time per second, in the fraction of a stamp.
    Pcap { fraction: u64 },
    /// Interfaces of the section so far: units of time per second, 0 for what is not Ethernet; and the longest frame.
    Next { interfaces: Vec<(u64, u32)> },
}

/// Most interfaces of a section.
const MOST_INTERFACES: usize = 4096;

/// Reads frame after frame.
#[derive(Debug)]
pub struct Reader<R: Read> {
    input: R,
    is_big_endian: bool,
    form: Form,
    /// Of pcapng: the block that is being read.
    block: Vec<u8>,
}

const SECTION: u32 = 0x0a0d_0d0a;

impl<R: Read> Reader<R> {
    /// Reads the head of a file.
    ///
    /// # Errors
    /// In words: it is no capture file, or not one of Ethernet frames.
    pub fn new(mut input: R) -> Result<Reader<R>, String> {
        let mut magic = [0; 4];
        input.read_exact(&mut magic).map_err(|error| format!("no capture file: {error}"))?;
        let (is_big_endian, fraction) = match u32::from_le_bytes(magic) {
            0xa1b2_c3d4 => (false, 1_000_000),
            0xa1b2_3c4d => (false, 1_000_000_000),
            0xd4c3_b2a1 => (true, 1_000_000),
            0x4d3c_b2a1 => (true, 1_000_000_000),
            SECTION => {
                let form = Form::Next { interfaces: Vec::new() };
                let mut reader = Reader { input, is_big_endian: false, form, block: Vec::new() };
                reader.section()?;
                return Ok(reader);
            }
            other => return Err(format!("no capture file: it begins with {other:#010x}")),
        };
        let mut rest = [0; 20];
        input.read_exact(&mut rest).map_err(|error| format!("head of the file: {error}"))?;
        let reader = Reader { input, is_big_endian, form: Form::Pcap { fraction }, block: Vec::new() };
        let link = reader.word(&rest, 16).unwrap_or(0) & 0x0fff_ffff;
        if link != ETHERNET {
            return Err(format!("frames of link type {link}, only Ethernet (1) is understood"));
        }
        Ok(reader)
    }

    /// The next frame, into `frame`; none at the end of the file.
    ///
    /// # Errors
    /// In words: the file is cut off in a record, or makes no sense. It is of no use any more then.
    pub fn next(&mut self, frame: &mut Vec<u8>) -> Result<Option<Record>, String> {
        match &self.form {
            Form::Pcap { fraction } => {
                let fraction = *fraction;
                self.next_of_pcap(frame, fraction)
            }
            Form::Next { .. } => self.next_of_pcapng(frame),
        }
    }

    fn word(&self, bytes: &[u8], at: usize) -> Option<u32> {
        let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self.is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn half(&self, bytes: &[u8], at: usize) -> Option<u16> {
        let bytes = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self.is_big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    /// Fills `into`; false at the very end of the file.
    fn begin(&mut self, into: &mut [u8]) -> Result<bool, String> {
        let mut have = 0;
        while have < into.len() {
            match self.input.read(&mut into[have..]) {
                Ok(0) if have == 0 => return Ok(false),
                Ok(0) => return Err("cut off in the head of a record".into()),
                Ok(n) => have += n,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Ok(true)
    }

    fn body(&mut self, len: usize, into: &mut Vec<u8>) -> Result<(), String> {
        if len > MAX_RECORD {
            return Err(format!("a record of {len} bytes, at most {MAX_RECORD} make sense"));
        }
        into.resize(len, 0);
        self.input.read_exact(into).map_err(|error| format!("cut off in a record of {len} bytes: {error}"))
    }

    fn next_of_pcap(&mut self, frame: &mut Vec<u8>, fraction: u64) -> Result<Option<Record>, String> {
        let mut head = [0; 16];
        if !self.begin(&mut head)? {
            return Ok(None);
        }
        let word = |at| self.word(&head, at).unwrap_or(0);
        let (seconds, part, len, full) = (word(0), word(4), word(8) as usize, word(12) as usize);
        self.body(len, frame)?;
        let stamp = u64::from(seconds) * 1_000_000_000 + u64::from(part) * (1_000_000_000 / fraction);
        Ok(Some(Record { stamp, len, full }))
    }

    fn next_of_pcapng(&mut self, frame: &mut Vec<u8>) -> Result<Option<Record>, String> {
        loop {
            let mut kind = [0; 4];
            if !self.begin(&mut kind)? {
                return Ok(None);
            }
            if u32::from_le_bytes(kind) == SECTION {
                self.section()?;
                continue;
            }
            let kind = self.word(&kind, 0).unwrap_or(0);
            let mut len = [0; 4];
            self.input.read_exact(&mut len).map_err(|_| "cut off in the head of a block")?;
            let len = self.word(&len, 0).unwrap_or(0) as usize;
            self.rest_of_block(len, 8)?;
            match kind {
                1 => self.interface()?,
                6 => {
                    if let Some(record) = self.packet(frame)? {
                        return Ok(Some(record));
                    }
                }
                3 => {
                    if let Some(record) = self.simple_packet(frame)? {
                        return Ok(Some(record));
                    }
                }
                // Names, statistics and the like.
                _ => {}
            }
        }
    }

    /// Reads the rest of a block of `len` bytes, of which `had` are read, without the length at its end.
    fn rest_of_block(&mut self, len: usize, had: usize) -> Result<(), String> {
        if len < had + 4 || !len.is_multiple_of(4) {
            return Err(format!("a block of {len} bytes"));
        }
        let mut block = std::mem::take(&mut self.block);
        let read = self.body(len - had, &mut block);
        let end = self.word(&block, block.len().saturating_sub(4));
        block.truncate(len - had - 4);
        self.block = block;
        read?;
        if end != Some(len as u32) {
            return Err("the two lengths of a block differ".into());
        }
        Ok(())
    }

    /// A section begins, its type was read: it tells the byte order, and forgets interfaces.
    fn section(&mut self) -> Result<(), String> {
        let mut head = [0; 8];
        self.input.read_exact(&mut head).map_err(|_| "cut off in the head of a section")?;
        self.is_big_endian = match u32::from_le_bytes([head[4], head[5], head[6], head[7]]) {
            0x1a2b_3c4d => false,
            0x4d3c_2b1a => true,
            other => return Err(format!("a section with byte order {other:#010x}")),
        };
        let len = self.word(&head, 0).unwrap_or(0) as usize;
        self.rest_of_block(len, 12)?;
        if self.half(&self.block, 0) != Some(1) {
            return Err("a section of another version than 1".into());
        }
        self.form = Form::Next { interfaces: Vec::new() };
        Ok(())
    }

    fn interface(&mut self) -> Result<(), String> {
        let (Some(link), Some(longest)) = (self.half(&self.block, 0), self.word(&self.block, 4)) else {
            return Err("a short interface block".into());
        };
        let mut units = 1_000_000;
        let mut at = 8;
        while let (Some(code), Some(len)) = (self.half(&self.block, at), self.half(&self.block, at + 2)) {
            // Resolution of stamps: a power of ten, or of two.
            if let (9, 1, Some(&value)) = (code, len, self.block.get(at + 4)) {
                let exponent = u32::from(value & 0x7f);
                let base: u64 = if value & 0x80 != 0 { 2 } else { 10 };
                units = base.checked_pow(exponent).ok_or("an impossible resolution of time")?;
            }
            if code == 0 {
                break;
            }
            at += 4 + usize::from(len).next_multiple_of(4);
        }
        if let Form::Next { interfaces } = &mut self.form {
            if interfaces.len() == MOST_INTERFACES {
                return Err(format!("more than {MOST_INTERFACES} interfaces"));
            }
            interfaces.push((if u32::from(link) == ETHERNET { units } else { 0 }, longest));
        }
        Ok(())
    }

    fn interface_of(&self, number: u32) -> Result<(u64, u32), String> {
        let Form::Next { interfaces } = &self.form else { return Ok((1, 0)) };
        interfaces
            .get(number as usize)
            .copied()
            .ok_or_else(|| format!("a packet of interface {number}, which is not there"))
    }

    /// Frames of interfaces that are no Ethernet are passed over.
    fn packet(&mut self, frame: &mut Vec<u8>) -> Result<Option<Record>, String> {
        let word = |at| self.word(&self.block, at).ok_or("a short packet block");
        let (interface, high, low) = (word(0)?, word(4)?, word(8)?);
        let (len, full) = (word(12)? as usize, word(16)? as usize);
        let (units, _) = self.interface_of(interface)?;
        let bytes =
            self.block.get(20..).and_then(|rest| rest.get(..len)).ok_or("a packet longer than its block")?;
        if units == 0 {
            return Ok(None);
        }
        frame.clear();
        frame.extend_from_slice(bytes);
        let ticks = u64::from(high) << 32 | u64::from(low);
        let stamp = (u128::from(ticks) * 1_000_000_000 / u128::from(units)) as u64;
        Ok(Some(Record { stamp, len, full }))
    }

    fn simple_packet(&mut self, frame: &mut Vec<u8>) -> Result<Option<Record>, String> {
        let full = self.word(&self.block, 0).ok_or("a short packet block")? as usize;
        let (units, longest) = self.interface_of(0)?;
        let most = if longest == 0 { usize::MAX } else { longest as usize };
        let bytes = &self.block[4..];
        let len = full.min(most).min(bytes.len());
        if units == 0 {
            return Ok(None);
        }
        frame.clear();
        frame.extend_from_slice(&bytes[..len]);
        Ok(Some(Record { stamp: 0, len, full }))
    }
}
