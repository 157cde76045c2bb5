//! Shared by the tests: a context with its memory, lists of any cut, samples, dice, a watchdog.
#![allow(dead_code, reason = "each test program uses its part")]

use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_compress::{Compress, Config};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::board::Board;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;
use softdpu_status::{Code, Error};
use std::sync::Once;
use std::time::Duration;

/// A running context.
pub(crate) struct Rig {
    pub(crate) context: Context<Compress>,
    pub(crate) pe: ProgressEngine,
    pub(crate) device: Device,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        Rig::of(Profile::All, softdpu_board::threads(), Config::default())
    }

    pub(crate) fn of(profile: Profile, board: &'static dyn Board, config: Config) -> Rig {
        watchdog();
        let machine = Machine::builder().profile(profile).build().expect("a machine");
        let session = Session::new(machine, board);
        let device = session.first_with(EngineKind::Compress).and_then(|d| d.open()).expect("a device");
        let mut pe = ProgressEngine::new(&session).expect("a progress engine");
        let context =
            Context::start(&mut pe, &device, config).and_then(|s| s.wait(&mut pe)).expect("a context");
        Rig { context, pe, device }
    }

    /// Carries out one task, which must be accepted.
    pub(crate) fn run<T: Task<Engine = Compress>>(&mut self, task: T) -> Done<T> {
        let flight = self.context.submit(task).map_err(|refused| refused.error).expect("accepted");
        self.pe.run(flight)
    }

    /// The reason why a task is refused.
    pub(crate) fn refusal<T: Task<Engine = Compress>>(&mut self, task: T) -> Code {
        match self.context.submit(task) {
            Ok(_) => panic!("accepted"),
            Err(refused) => Error::from(refused).code(),
        }
    }

    pub(crate) fn memory(&self, len: usize) -> Memory {
        let memory = Memory::heap(len).access(Access::LOCAL_READ_WRITE);
        memory.register(&[self.device.shared()]).expect("memory")
    }

    /// Memory that others might write: never to be looked at in place.
    pub(crate) fn shared(&self, len: usize) -> Memory {
        let memory = Memory::memfd(len).access(Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE);
        let memory = memory.register(&[self.device.shared()]).expect("memory");
        assert!(memory.is_shared());
        memory
    }

    /// A buffer that holds these bytes.
    pub(crate) fn full(&self, bytes: &[u8]) -> Buf {
        let mut buf = self.memory(bytes.len().max(1)).buf(..).expect("a buffer");
        buf.push_slice(bytes).expect("room");
        buf
    }

    /// An empty buffer with exactly this much room.
    pub(crate) fn empty(&self, room: usize) -> Buf {
        self.memory(room).buf(..).expect("a buffer")
    }
}

/// A list over memory of `bytes`, cut at random, each piece at an odd place with free bytes around it.
pub(crate) fn scattered(memory: &Memory, bytes: &[u8], pieces: usize, dice: &mut Dice) -> Buf {
    list(memory, &cuts(bytes.len(), pieces, dice), dice, |buf, range| {
        let at = buf.data().start;
        buf.write_at(at, &bytes[range.clone()]).expect("room");
        buf.set_data(at..at + range.len()).expect("inside");
    })
}

/// An empty list with `room` bytes in all; every piece has a few bytes of data (`MARK`) before its room.
pub(crate) fn rooms(memory: &Memory, room: usize, pieces: usize, dice: &mut Dice) -> Buf {
    list(memory, &cuts(room, pieces, dice), dice, |buf, _| {
        let at = buf.data().start;
        buf.write_at(0, &vec![MARK; at]).expect("room");
        buf.set_data(0..at).expect("inside");
    })
}

/// What stands before the room of the pieces that [`rooms`] makes.
pub(crate) const MARK: u8 = 0xa5;
/// Room between pieces that nobody may touch.
const GAP: usize = 16;

fn cuts(len: usize, pieces: usize, dice: &mut Dice) -> Vec<usize> {
    let mut cuts: Vec<usize> = (1..pieces).map(|_| dice.roll(len + 1)).collect();
    cuts.extend([0, len]);
    cuts.sort_unstable();
    cuts
}

fn list(
    memory: &Memory,
    cuts: &[usize],
    dice: &mut Dice,
    mut fill: impl FnMut(&mut Buf, std::ops::Range<usize>),
) -> Buf {
    let mut head: Option<Buf> = None;
    let mut at = 0;
    for cut in cuts.windows(2) {
        let before = dice.roll(GAP);
        let len = cut[1] - cut[0];
        let window = at + 1..(at + 1 + before + len).max(at + 2);
        at = window.end + GAP;
        let mut buf =
            if memory.is_shared() { memory.alias(window) } else { memory.buf(window) }.expect("a window");
        buf.set_data(before.min(buf.capacity())..before.min(buf.capacity())).expect("inside");
        fill(&mut buf, cut[0]..cut[1]);
        match &mut head {
            Some(head) => head.chain(buf),
            None => head = Some(buf),
        }
    }
    head.expect("at least one piece")
}

/// Enough memory for a list of so many pieces.
pub(crate) fn span(len: usize, pieces: usize) -> usize {
    len + pieces * (2 * GAP + 2) + 64
}

/// The bytes that a task put into a list made by [`rooms`].
pub(crate) fn output(list: &Buf, before: &[usize]) -> Vec<u8> {
    let mut all = Vec::new();
    for (element, skip) in list.elements().zip(before) {
        let mut bytes = vec![0; element.data_len()];
        element.read_at(element.data().start, &mut bytes).expect("inside");
        assert!(bytes[..*skip].iter().all(|b| *b == MARK), "data before the room was touched");
        all.extend_from_slice(&bytes[*skip..]);
    }
    all
}

/// Bytes of data of every element.
pub(crate) fn lens(list: &Buf) -> Vec<usize> {
    list.elements().map(|e| e.data_len()).collect()
}

/// Samples of every character: empty-ish, text, runs, noise, tables, mixtures.
pub(crate) fn sample(len: usize, dice: &mut Dice) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(len + 64);
    while bytes.len() < len {
        match dice.roll(5) {
            0 => {
                let (byte, n) = (dice.roll(256) as u8, dice.roll(3000) + 1);
                bytes.resize(bytes.len() + n, byte);
            }
            1 => (0..dice.roll(600) + 1).for_each(|_| bytes.push(dice.roll(256) as u8)),
            2 => (0..dice.roll(90) + 1)
                .for_each(|i| bytes.extend(format!("{i} squared is {}\n", i * i).bytes())),
            3 if !bytes.is_empty() => {
                let from = bytes.len() - dice.roll(bytes.len().min(40_000)) - 1;
                let copy = bytes[from..(from + dice.roll(500) + 1).min(bytes.len())].to_vec();
                bytes.extend(copy);
            }
            _ => (0..dice.roll(200) + 1).for_each(|_| bytes.push(b"etaoin shrdlu"[dice.roll(13)])),
        }
    }
    bytes.truncate(len);
    bytes
}

/// Ends the process when its tests hang.
pub(crate) fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            eprintln!("watchdog: tests hang");
            std::process::abort();
        });
    });
}

/// A small generator (xorshift), so that a failure can be repeated.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }
}
