//! A message in pieces: lists, memory that others may touch, overlapping lists, and long messages that are carried out in
//! steps.
//!
//! Text goes from where it lies to where it belongs, piece by piece, wherever both places are private memory. Otherwise
//! a tray lends buffers: `input` for pieces of a source that others may be writing, `output` for cipher text on its way
//! to them, `staged` for a source that the destination overlaps askew, `held` for plain text that others could see before
//! it is known to be authentic.

use crate::ffi::{Stream, TAG, Text, wipe};
use crate::hardware::Plan;
use crate::task::Direction;
use softdpu_memory::view::{Hold, Overlap, SCRATCH, Sink, Sources};
use softdpu_status::{Code, Error, Result};
use std::sync::Mutex;

/// Trays an engine keeps for the next message.
const KEPT: usize = 4;

/// A buffer that is made when it is needed and kept afterwards.
#[derive(Debug, Default)]
struct Spare {
    bytes: Vec<u8>,
    used: usize,
}

impl Spare {
    /// At least `len` bytes, whatever they hold.
    fn get(&mut self, len: usize) -> Result<&mut [u8]> {
        if self.bytes.len() < len {
            let more = len - self.bytes.len();
            if self.bytes.try_reserve_exact(more).is_err() {
                log::error!(target: "softdpu::aes_gcm", "no memory for {len} bytes on the way between buffers");
                return Err(Error::new(Code::NoMemory, "no memory to carry the message out"));
            }
            self.bytes.resize(len, 0);
        }
        self.used = self.used.max(len);
        Ok(&mut self.bytes[..len])
    }

    fn wipe(&mut self) {
        wipe(&mut self.bytes[..self.used]);
        self.used = 0;
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Tray {
    input: Spare,
    output: Spare,
    staged: Spare,
    held: Spare,
}

impl Tray {
    /// Memory for a message that is carried out aside.
    pub(crate) fn stage(&mut self, len: usize) -> Result<&mut [u8]> {
        self.staged.get(len)
    }

    fn wipe(&mut self) {
        for spare in [&mut self.input, &mut self.output, &mut self.staged, &mut self.held] {
            spare.wipe();
        }
    }
}

impl Drop for Tray {
    fn drop(&mut self) {
        self.wipe();
    }
}

/// Trays in stock.
#[derive(Debug, Default)]
pub(crate) struct Trays(Mutex<Vec<Tray>>);

impl Trays {
    pub(crate) fn take(&self) -> Tray {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).pop().unwrap_or_default()
    }

    /// Takes a tray back. What it held is overwritten by the next message, or wiped when the context's engine goes.
    pub(crate) fn give_back(&self, tray: Tray) {
        let mut trays = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if trays.len() < KEPT {
            trays.push(tray);
        }
    }
}

/// A message under way.
#[derive(Debug)]
pub(crate) struct Pieces {
    stream: Stream,
    tray: Tray,
    /// The source was copied to `staged` first.
    is_staged: bool,
    /// Plain text goes to `held` first.
    is_held: bool,
}

fn lost<T>() -> Result<T> {
    Err(Error::new(Code::Unexpected, "the buffers changed while their task flew"))
}

/// Where text is read from.
#[derive(Clone, Copy)]
enum Input<'a> {
    List(Sources<'a>),
    Staged(&'a [u8]),
}

impl<'a> Input<'a> {
    /// The next piece from `at` on, at most `most` bytes, through `spare` if it cannot be looked at where it lies.
    fn piece<'s>(&self, at: usize, most: usize, spare: &'s mut Spare) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        let piece = match self {
            Input::Staged(bytes) => &bytes[at..at + most],
            Input::List(sources) => {
                let here = sources.piece(at as u64, most, &mut []);
                if here.is_empty() { sources.piece(at as u64, most, spare.get(SCRATCH)?) } else { here }
            }
        };
        if piece.is_empty() { lost() } else { Ok(piece) }
    }

    fn read(&self, at: usize, into: &mut [u8]) -> usize {
        match self {
            Input::Staged(bytes) => {
                into.copy_from_slice(&bytes[at..at + into.len()]);
                into.len()
            }
            Input::List(sources) => sources.read(at as u64, into),
        }
    }
}

impl Pieces {
    /// A message that nothing was done of.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn begin(plan: &Plan<'_>, hold: &mut Hold<'_>, mut tray: Tray) -> Result<Pieces> {
        let encrypts = plan.direction == Direction::Encrypt;
        let is_staged = hold.overlap() == Overlap::Mixed;
        if is_staged {
            let staged = tray.staged.get(plan.taken())?;
            if hold.sources().read(0, staged) < staged.len() {
                return lost();
            }
        }
        let is_held = !encrypts && !is_private(hold.split().1, plan.body());
        if is_held {
            tray.held.get(plan.body())?;
        }
        let stream = plan.cipher.stream(&plan.iv, encrypts)?;
        Ok(Pieces { stream, tray, is_staged, is_held })
    }

    pub(crate) fn into_parts(self) -> (Stream, Tray) {
        (self.stream, self.tray)
    }

    /// Bytes `[from, from + len)` of the source.
    ///
    /// # Errors
    /// NoMemory, Unexpected.
    pub(crate) fn advance(
        &mut self,
        plan: &Plan<'_>,
        hold: &mut Hold<'_>,
        from: usize,
        len: usize,
    ) -> Result<()> {
        let (aad_end, text_end) = (plan.aad.min(from + len), plan.body().min(from + len));
        let in_place = hold.overlap() == Overlap::Same && !self.is_held;
        let (sources, mut sink) = hold.split();
        sink.advance(from as u64);
        if in_place {
            return self.advance_in_place(&mut sink, from, aad_end, text_end);
        }
        let Pieces { stream, tray, is_staged, is_held } = self;
        let Tray { input: spare, output, staged, held } = tray;
        let input = if *is_staged { Input::Staged(&staged.bytes) } else { Input::List(sources) };
        let mut held = is_held.then_some(&mut held.bytes);
        let mut at = from;
        while at < aad_end {
            let piece = input.piece(at, aad_end - at, spare)?;
            stream.aad(piece)?;
            match &mut held {
                Some(held) => held[at..at + piece.len()].copy_from_slice(piece),
                None => write(&mut sink, piece)?,
            }
            at += piece.len();
        }
        while at < text_end {
            let piece = input.piece(at, text_end - at, spare)?;
            at += match &mut held {
                Some(held) => {
                    stream.text(Text::Apart(piece, &mut held[at..at + piece.len()]))?;
                    piece.len()
                }
                None => advance_text(stream, piece, &mut sink, output)?,
            };
        }
        Ok(())
    }

    fn advance_in_place(
        &mut self,
        sink: &mut Sink<'_>,
        from: usize,
        aad_end: usize,
        text_end: usize,
    ) -> Result<()> {
        let mut at = from;
        while at < text_end {
            let most = if at < aad_end { aad_end - at } else { text_end - at };
            let Some(piece) = sink.slice(most).filter(|piece| !piece.is_empty()) else { return lost() };
            let n = piece.len();
            if at < aad_end {
                self.stream.aad(piece)?
            } else {
                self.stream.text(Text::Same(piece))?
            }
            sink.advance(n as u64);
            at += n;
        }
        Ok(())
    }

    /// After the last byte: writes the tag, or looks whether it is right.
    ///
    /// # Errors
    /// IoFailed for a message that is not authentic, of which nothing is left then; NoMemory, Unexpected.
    pub(crate) fn end(&mut self, plan: &Plan<'_>, hold: &mut Hold<'_>) -> Result<()> {
        if plan.direction == Direction::Encrypt {
            let tag = self.stream.tag()?;
            let (_, mut sink) = hold.split();
            sink.advance(plan.body() as u64);
            return write(&mut sink, &tag[..plan.tag]);
        }
        let (sources, mut sink) = hold.split();
        let mut tag = [0; TAG];
        let tag = &mut tag[..plan.tag];
        let input =
            if self.is_staged { Input::Staged(&self.tray.staged.bytes) } else { Input::List(sources) };
        if input.read(plan.body(), tag) < tag.len() || !self.stream.verify(tag) {
            self.withdraw(plan, hold);
            return Err(plan.not_authentic());
        }
        if self.is_held {
            write(&mut sink, &self.tray.held.bytes[..plan.body()])?;
        }
        Ok(())
    }

    /// Takes plain text back that was written and will not be vouched for.
    pub(crate) fn withdraw(&mut self, plan: &Plan<'_>, hold: &mut Hold<'_>) {
        self.tray.held.wipe();
        if plan.direction == Direction::Encrypt || self.is_held {
            return;
        }
        let (_, mut sink) = hold.split();
        sink.advance(plan.aad as u64);
        let mut left = plan.text;
        while left > 0 {
            let Some(piece) = sink.slice(left).filter(|piece| !piece.is_empty()) else { return };
            wipe(piece);
            let n = piece.len();
            sink.advance(n as u64);
            left -= n;
        }
    }
}

/// Text to its place, directly if it is private memory; returns how much.
fn advance_text(stream: &mut Stream, piece: &[u8], sink: &mut Sink<'_>, spare: &mut Spare) -> Result<usize> {
    if let Some(place) = sink.slice(piece.len()) {
        let n = place.len();
        stream.text(Text::Apart(&piece[..n], place))?;
        sink.advance(n as u64);
        return if n > 0 { Ok(n) } else { lost() };
    }
    let n = piece.len().min(SCRATCH);
    let place = &mut spare.get(SCRATCH)?[..n];
    stream.text(Text::Apart(&piece[..n], place))?;
    write(sink, place)?;
    Ok(n)
}

fn write(sink: &mut Sink<'_>, bytes: &[u8]) -> Result<()> {
    if sink.write(bytes) < bytes.len() { lost() } else { Ok(()) }
}

/// Are the next `len` bytes of a destination private memory?
pub(crate) fn is_private(mut sink: Sink<'_>, len: usize) -> bool {
    let mut left = len;
    while left > 0 {
        let Some(n) = sink.slice(left).map(|piece| piece.len()).filter(|n| *n > 0) else { return false };
        sink.advance(n as u64);
        left -= n;
    }
    true
}
