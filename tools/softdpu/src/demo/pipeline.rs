//! The copy goes on through the compute engines and back, piece by piece, several pieces in flight at every step:
//! hash, deflate, encrypt, add redundancy; lose blocks; recover, decrypt, inflate, hash again, compare.

use std::fs::File;
use std::io::Read;
use std::ops::Range;

use softdpu::aes_gcm::{Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu::compress::{CompressDeflate, DecompressDeflate};
use softdpu::erasure_coding::{Create, Matrix, Recover};
use softdpu::memory::{Buf, Memory};
use softdpu::{Access, Context, Device, InFlight, ProgressEngine, Session, Task};

use super::engines::{BLOCKS, DATA, Engines, RDNC};
use super::hash::{DIGEST, Running};
use super::slot::{Layout, Slot, lost, window};
use super::stages::Stages;
use super::tally::{Step, Tally};
use crate::output::bytes_text;

/// The engines, and the pieces on their way through them.
#[derive(Debug)]
pub(crate) struct Pipeline {
    engines: Engines,
    memory: Memory,
    slots: Vec<Slot>,
    /// The slot that is being filled.
    at: usize,
    /// Pieces that went through.
    pieces: u64,
    key: Key,
    coding: Matrix,
    /// For each piece in turn.
    recovery: Vec<Matrix>,
    hashes: [Running; 2],
    tally: Tally,
    difference: Option<u64>,
    failed: Option<String>,
}

impl Pipeline {
    /// Starts the engines that there are. `device` gets the memory too, so that there always is one that does.
    pub(crate) fn open(session: &Session, pe: &mut ProgressEngine, device: &Device) -> Result<Self, String> {
        let mut tally = Tally::new();
        let engines = Engines::open(session, pe, &mut tally)?;
        if !engines.transform() {
            // The pieces stay what they were.
            for step in [Step::HashAgain, Step::Compare] {
                tally.skip(step, "skipped: nothing was done that could be undone");
            }
        }
        let layout = Layout::new(engines.piece, engines.align);
        let len = engines.slots * layout.len();
        let mut devices: Vec<_> = engines.devices.iter().map(Device::shared).collect();
        if devices.is_empty() {
            devices.push(device.shared());
        }
        let memory = Memory::heap(len + 2 * DIGEST).access(Access::LOCAL_READ_WRITE);
        let memory = memory.register(&devices).map_err(text)?;
        let coding = Matrix::cauchy(DATA, RDNC).map_err(text)?;
        let recovery = (0..BLOCKS as u64).map(|n| coding.recover(&lost(n)).map_err(text));
        Ok(Self {
            slots: (0..engines.slots).map(|at| Slot::new(layout, at)).collect(),
            at: 0,
            pieces: 0,
            key: key()?,
            recovery: recovery.collect::<Result<_, _>>()?,
            coding,
            hashes: [Running::new(Step::Hash, len), Running::new(Step::HashAgain, len + DIGEST)],
            engines,
            memory,
            tally,
            difference: None,
            failed: None,
        })
    }

    /// Takes the next bytes. When something fails it is kept for the end, and what follows is not looked at.
    pub(crate) fn feed(&mut self, pe: &mut ProgressEngine, bytes: &[u8]) {
        if self.failed.is_none()
            && let Err(e) = self.take(pe, bytes)
        {
            self.failed = Some(e);
        }
    }

    fn take(&mut self, pe: &mut ProgressEngine, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            let slot = &mut self.slots[self.at];
            let (now, later) = bytes.split_at(bytes.len().min(slot.room()));
            slot.fill(&self.memory, now)?;
            bytes = later;
            if slot.room() == 0 {
                self.at += 1;
            }
            if self.at == self.slots.len() {
                self.round(pe)?;
            }
        }
        Ok(())
    }

    /// After the last bytes.
    pub(crate) fn finish(&mut self, pe: &mut ProgressEngine) {
        if self.failed.is_none()
            && let Err(e) = self.close(pe)
        {
            self.failed = Some(e);
        }
    }

    fn close(&mut self, pe: &mut ProgressEngine) -> Result<(), String> {
        self.round(pe)?;
        let both = if self.engines.transform() { 2 } else { 1 };
        if let Some(sha) = &mut self.engines.sha {
            for hash in &mut self.hashes[..both] {
                if !hash.is_finished() {
                    let step = hash.step;
                    let nothing = window(&self.memory, self.slots[0].packed(), 0)?;
                    self.tally.timed(step, |_| hash.add(sha, pe, &self.memory, nothing))?;
                }
                self.tally.add(hash.step, 0, hash.digest.len());
            }
            self.tally.explain(Step::Hash, format!("SHA-256 {}", self.hashes[0].text()));
            self.tally.explain(Step::HashAgain, "the same SHA-256 as before".to_owned());
            if both == 2 && self.hashes[0].digest != self.hashes[1].digest {
                self.tally.fail(Step::HashAgain);
                let digests = self.hashes.each_ref().map(Running::text);
                return Err(format!("sha: {} before, {} afterwards", digests[0], digests[1]));
            }
        }
        match self.difference {
            None => Ok(()),
            Some(at) => {
                self.tally.fail(Step::Compare);
                Err(format!("compare: what came back differs from the original at byte {at}"))
            }
        }
    }

    /// Takes what the slots hold through all steps, step by step, and empties them.
    fn round(&mut self, pe: &mut ProgressEngine) -> Result<(), String> {
        self.at = 0;
        let used = self.slots.iter().take_while(|slot| slot.filled > 0).count();
        let first = self.pieces;
        for (slot, number) in self.slots[..used].iter_mut().zip(first..) {
            slot.set_out(&self.memory, number)?;
        }
        self.hash(pe, 0, used)?;
        self.there(pe, used)?;
        self.back(pe, used)?;
        if self.engines.transform() {
            self.hash(pe, 1, used)?;
            self.tally.timed(Step::Compare, |tally| {
                compare(&self.memory, &self.slots[..used], tally, &mut self.difference)
            })?;
        }
        self.pieces += used as u64;
        self.slots.iter_mut().for_each(|slot| slot.filled = 0);
        Ok(())
    }

    fn hash(&mut self, pe: &mut ProgressEngine, which: usize, used: usize) -> Result<(), String> {
        let Some(sha) = &mut self.engines.sha else { return Ok(()) };
        let hash = &mut self.hashes[which];
        let step = hash.step;
        for slot in &self.slots[..used] {
            let src = window(&self.memory, slot.now.clone(), slot.now.len())?;
            self.tally.add(step, slot.now.len(), 0);
            self.tally.timed(step, |_| hash.add(sha, pe, &self.memory, src))?;
        }
        Ok(())
    }

    /// Deflate, encrypt, add redundancy.
    fn there(&mut self, pe: &mut ProgressEngine, used: usize) -> Result<(), String> {
        let (memory, slots) = (&self.memory, &mut self.slots[..used]);
        if let Some(compress) = &mut self.engines.compress {
            let task = |_: u64, slot: &Slot| {
                let (src, dst) = pair(memory, slot, slot.packed())?;
                Ok(CompressDeflate { src, dst })
            };
            let tasks = tasks(slots, 0, task)?;
            let done = fly(Step::Deflate, compress, pe, &mut self.tally, tasks, |t| (&t.src, &t.dst))?;
            advance(slots, done.iter().map(|t| &t.dst));
        }
        if let Some(aes_gcm) = &mut self.engines.aes_gcm {
            let task = |number: u64, slot: &Slot| {
                let (src, dst) = pair(memory, slot, slot.sealed())?;
                let (key, iv) = (self.key.clone(), vector(number));
                Ok(Encrypt { src, dst, key, iv, aad_len: 0, tag: TagLen::Bits128 })
            };
            let tasks = tasks(slots, self.pieces, task)?;
            let done = fly(Step::Encrypt, aes_gcm, pe, &mut self.tally, tasks, |t| (&t.src, &t.dst))?;
            advance(slots, done.iter().map(|t| &t.dst));
        }
        if let Some(erasure_coding) = &mut self.engines.erasure_coding {
            slots.iter_mut().try_for_each(|slot| slot.cut(memory))?;
            let task = |_: u64, slot: &Slot| {
                let (data, rdnc) = slot.for_create(memory)?;
                Ok(Create { matrix: self.coding.clone(), data, rdnc })
            };
            let tasks = tasks(slots, 0, task)?;
            fly(Step::Create, erasure_coding, pe, &mut self.tally, tasks, |t| (&t.data, &t.rdnc))?;
        }
        Ok(())
    }

    /// Lose blocks and recover them, decrypt, inflate.
    fn back(&mut self, pe: &mut ProgressEngine, used: usize) -> Result<(), String> {
        let (memory, slots) = (&self.memory, &mut self.slots[..used]);
        if let Some(erasure_coding) = &mut self.engines.erasure_coding {
            slots.iter().try_for_each(|slot| slot.lose(memory))?;
            let task = |number: u64, slot: &Slot| {
                let (available, recovered) = slot.for_recover(memory)?;
                let matrix = self.recovery[(number % BLOCKS as u64) as usize].clone();
                Ok(Recover { matrix, available, recovered })
            };
            let tasks = tasks(slots, self.pieces, task)?;
            let step = Step::Recover;
            fly(step, erasure_coding, pe, &mut self.tally, tasks, |t| (&t.available, &t.recovered))?;
        }
        if let Some(aes_gcm) = &mut self.engines.aes_gcm {
            let task = |number: u64, slot: &Slot| {
                let (src, dst) = pair(memory, slot, slot.opened())?;
                let (key, iv) = (self.key.clone(), vector(number));
                Ok(Decrypt { src, dst, key, iv, aad_len: 0, tag: TagLen::Bits128 })
            };
            let tasks = tasks(slots, self.pieces, task)?;
            let done = fly(Step::Decrypt, aes_gcm, pe, &mut self.tally, tasks, |t| (&t.src, &t.dst))?;
            advance(slots, done.iter().map(|t| &t.dst));
        }
        if let Some(compress) = &mut self.engines.compress {
            let task = |_: u64, slot: &Slot| {
                let (src, dst) = pair(memory, slot, slot.inflated())?;
                Ok(DecompressDeflate { src, dst })
            };
            let tasks = tasks(slots, 0, task)?;
            let done = fly(Step::Inflate, compress, pe, &mut self.tally, tasks, |t| (&t.src, &t.dst))?;
            advance(slots, done.iter().map(|t| &t.dst));
        }
        Ok(())
    }

    /// What everything hashes to, once it has gone through.
    pub(crate) fn digest(&self) -> Option<&[u8]> {
        let hash = &self.hashes[0];
        hash.is_finished().then_some(&hash.digest)
    }

    /// Stops the engines; gives what is to be told.
    pub(crate) fn stop(self, pe: &mut ProgressEngine) -> Result<Outcome, String> {
        let (slots, piece) = (self.engines.slots, self.engines.piece);
        self.engines.stop(pe)?;
        Ok(Outcome { tally: self.tally, failed: self.failed, slots, piece })
    }
}

/// What became of the pipeline.
#[derive(Debug)]
pub(crate) struct Outcome {
    tally: Tally,
    failed: Option<String>,
    slots: usize,
    piece: usize,
}

impl Outcome {
    /// Enters the steps and tells the reader about them.
    pub(crate) fn report(mut self, stages: &mut Stages) -> Result<(), String> {
        let (slots, piece) = (self.slots, bytes_text(self.piece as u64));
        let heading = format!(
            "The copy went on through the compute engines, up to {slots} pieces of {piece} at a time:"
        );
        stages.heading(&heading)?;
        let (plain, packed) = self.tally.bytes(Step::Deflate);
        let percent = packed as f64 * 100.0 / plain.max(1) as f64;
        let code = format!("{RDNC} redundancy blocks for every {DATA} of data");
        let loss = format!("{RDNC} of {BLOCKS} blocks lost, computed from the {DATA} that are left");
        let (equal, all) = self.tally.bytes(Step::Compare);
        for (step, said) in [
            (Step::Deflate, format!("{percent:.1} % of the size")),
            (Step::Encrypt, "AES-256-GCM, a vector and a tag for every piece".to_owned()),
            (Step::Create, code),
            (Step::Recover, loss),
            (Step::Decrypt, "all tags are right".to_owned()),
            (Step::Inflate, "the size it had".to_owned()),
            (Step::Compare, format!("{equal} of {all} bytes are equal to the original")),
        ] {
            self.tally.explain(step, said);
        }
        self.tally.report(stages)?;
        self.failed.map_or(Ok(()), Err)
    }
}

/// A key for this run alone.
fn key() -> Result<Key, String> {
    let mut raw = [0; 32];
    let read = File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut raw));
    read.map_err(|e| format!("/dev/urandom: {e}"))?;
    Key::new(&raw).map_err(text)
}

fn text(error: softdpu::Error) -> String {
    error.to_string()
}

/// The number of the piece: no two pieces share a vector.
fn vector(number: u64) -> Iv {
    let mut bytes = [0; Iv::MAX];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Iv::from(bytes)
}

/// The piece as it is now, and room for what becomes of it.
fn pair(memory: &Memory, slot: &Slot, room: Range<usize>) -> Result<(Buf, Buf), String> {
    Ok((window(memory, slot.now.clone(), slot.now.len())?, window(memory, room, 0)?))
}

/// A task for each piece, which bear numbers from `first` on.
fn tasks<T>(
    slots: &[Slot],
    first: u64,
    task: impl Fn(u64, &Slot) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    slots.iter().zip(first..).map(|(slot, number)| task(number, slot)).collect()
}

/// Submits all tasks, progresses until they are back, and notes how much went in and came out.
fn fly<T: Task>(
    step: Step,
    context: &mut Context<T::Engine>,
    pe: &mut ProgressEngine,
    tally: &mut Tally,
    tasks: Vec<T>,
    bufs: impl Fn(&T) -> (&Buf, &Buf),
) -> Result<Vec<T>, String> {
    tally.timed(step, |tally| {
        let submit = |task| context.submit(task).map_err(|refused| text(refused.error));
        let flying: Vec<InFlight<T>> = tasks.into_iter().map(submit).collect::<Result<_, _>>()?;
        let mut back = Vec::with_capacity(flying.len());
        for flight in flying {
            let done = pe.run(flight);
            done.result.map_err(text)?;
            let (src, dst) = bufs(&done.task);
            tally.add(step, src.total_data_len(), dst.total_data_len());
            back.push(done.task);
        }
        Ok(back)
    })
}

/// The results are where the pieces are now.
fn advance<'a>(slots: &mut [Slot], results: impl Iterator<Item = &'a Buf>) {
    for (slot, result) in slots.iter_mut().zip(results) {
        let start = result.range_in_memory().start;
        slot.now = start..start + result.data_len();
    }
}

fn compare(
    memory: &Memory,
    slots: &[Slot],
    tally: &mut Tally,
    difference: &mut Option<u64>,
) -> Result<(), String> {
    let mut whole = tally.bytes(Step::Compare).0;
    for slot in slots {
        let original = window(memory, slot.plain(), slot.filled)?;
        let result = window(memory, slot.now.clone(), slot.now.len())?;
        let (original, result) =
            (original.as_slice().unwrap_or_default(), result.as_slice().unwrap_or_default());
        let same = if original == result {
            slot.filled
        } else {
            let same = original.iter().zip(result).take_while(|(a, b)| a == b).count();
            difference.get_or_insert(whole + same as u64);
            same
        };
        tally.add(Step::Compare, slot.filled, same);
        whole += slot.filled as u64;
    }
    Ok(())
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
