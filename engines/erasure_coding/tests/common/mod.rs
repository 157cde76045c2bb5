//! Shared by the tests: a context with its memory, lists of any cut, the definition to compare with, dice, a watchdog.
#![allow(dead_code, reason = "each test program uses its part")]

use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_erasure_coding::{Config, ErasureCoding, Matrix};
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
    pub(crate) context: Context<ErasureCoding>,
    pub(crate) pe: ProgressEngine,
    pub(crate) device: Device,
    pub(crate) session: Session,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        Rig::of(Profile::All, softdpu_board::threads(), Config::default())
    }

    pub(crate) fn of(profile: Profile, board: &'static dyn Board, config: Config) -> Rig {
        Rig::on(Machine::builder().profile(profile).build().expect("a machine"), board, config)
    }

    pub(crate) fn on(machine: Machine, board: &'static dyn Board, config: Config) -> Rig {
        watchdog();
        let session = Session::new(machine, board);
        let device = session.first_with(EngineKind::ErasureCoding).and_then(|d| d.open()).expect("a device");
        let mut pe = ProgressEngine::new(&session).expect("a progress engine");
        let context =
            Context::start(&mut pe, &device, config).and_then(|s| s.wait(&mut pe)).expect("a context");
        Rig { context, pe, device, session }
    }

    /// Carries out one task, which must be accepted.
    pub(crate) fn run<T: Task<Engine = ErasureCoding>>(&mut self, task: T) -> Done<T> {
        let flight = self.context.submit(task).map_err(|refused| refused.error).expect("accepted");
        self.pe.run(flight)
    }

    /// The reason why a task is refused, and the task.
    pub(crate) fn refusal<T: Task<Engine = ErasureCoding>>(&mut self, task: T) -> Code {
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

/// What stands in all memory around windows.
pub(crate) const GUARD: u8 = 0xa5;
/// Free bytes around each element.
const GAP: usize = 70;

/// A list of `pieces` elements over one memory: where its bytes are, and what must stay as it is.
pub(crate) struct List {
    pub(crate) buf: Buf,
    pub(crate) memory: Memory,
    /// Start and length of every element's data (source) or room (destination).
    pub(crate) spans: Vec<(usize, usize)>,
}

impl List {
    /// Cuts `len` bytes at random. Every element lies at an odd place, with a gap around it.
    fn cut(memory: Memory, len: usize, pieces: usize, dice: &mut Dice, data: Option<&[u8]>) -> List {
        let mut cuts: Vec<usize> = (1..pieces).map(|_| dice.roll(len + 1)).chain([0, len]).collect();
        cuts.sort_unstable();
        let whole = memory.len();
        let mut all = memory.buf(..).expect("the whole");
        all.write_at(0, &vec![GUARD; whole]).expect("inside");
        drop(all);
        let (mut list, mut spans, mut at) = (None::<Buf>, Vec::new(), 0);
        for cut in cuts.windows(2) {
            let (before, len) = (1 + dice.roll(GAP - 1), cut[1] - cut[0]);
            let mut buf = memory.buf(at..at + before + len).expect("a window");
            if let Some(data) = data {
                buf.write_at(before, &data[cut[0]..cut[1]]).expect("inside");
                buf.set_data(before..).expect("inside");
            } else {
                // The gap before the room is data that is there already.
                buf.set_data(..before).expect("inside");
            }
            spans.push((at + before, len));
            at += GAP + len + GAP;
            match &mut list {
                Some(list) => list.chain(buf),
                None => list = Some(buf),
            }
        }
        List { buf: list.expect("an element"), memory, spans }
    }

    /// Bytes of memory that a list needs.
    pub(crate) fn need(len: usize, pieces: usize) -> usize {
        len + pieces * 2 * GAP
    }

    pub(crate) fn source(memory: Memory, data: &[u8], pieces: usize, dice: &mut Dice) -> List {
        List::cut(memory, data.len(), pieces, dice, Some(data))
    }

    pub(crate) fn room(memory: Memory, len: usize, pieces: usize, dice: &mut Dice) -> List {
        List::cut(memory, len, pieces, dice, None)
    }

    /// The bytes of the spans, after checking that nothing else in the memory changed.
    pub(crate) fn bytes(self) -> Vec<u8> {
        let List { buf, memory, spans } = self;
        drop(buf);
        let mut raw = vec![0; memory.len()];
        memory.buf(..).and_then(|all| all.read_at(0, &mut raw)).expect("the whole");
        let (mut bytes, mut at) = (Vec::new(), 0);
        for (start, len) in spans {
            assert!(raw[at..start].iter().all(|b| *b == GUARD), "bytes before [{start}, +{len}) changed");
            bytes.extend_from_slice(&raw[start..start + len]);
            at = start + len;
        }
        assert!(raw[at..].iter().all(|b| *b == GUARD), "bytes behind the last element changed");
        bytes
    }
}

/// The product of two elements by long multiplication: nothing in common with the engine's tables.
pub(crate) fn times(a: u8, b: u8) -> u8 {
    let wide = (0..8).filter(|n| b >> n & 1 == 1).fold(0u16, |sum, n| sum ^ (u16::from(a) << n));
    (8..16).rev().fold(wide, |w, n| if w >> n & 1 == 1 { w ^ (0x11d << (n - 8)) } else { w }) as u8
}

/// What a matrix makes of the blocks in `src`, by the definition.
pub(crate) fn product(matrix: &Matrix, src: &[u8]) -> Vec<u8> {
    let block = src.len() / matrix.inputs();
    let mut out = vec![0; block * matrix.outputs()];
    for (j, out) in out.chunks_exact_mut(block).enumerate() {
        for (i, input) in src.chunks_exact(block).enumerate() {
            let c = matrix.coefficient(i, j).expect("inside");
            let row: Vec<u8> = (0..=255).map(|x| times(c, x)).collect();
            out.iter_mut().zip(input).for_each(|(o, x)| *o ^= row[usize::from(*x)]);
        }
    }
    out
}

/// Numbers from a seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32
    }

    /// Below `n`.
    pub(crate) fn roll(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }

    /// `n` different numbers below `end`, ascending.
    pub(crate) fn pick(&mut self, n: usize, end: usize) -> Vec<u32> {
        let mut all: Vec<u32> = (0..end as u32).collect();
        for i in 0..n {
            let other = i + self.roll(end - i);
            all.swap(i, other);
        }
        all.truncate(n);
        all.sort_unstable();
        all
    }
}

/// Ends the test program when it hangs.
fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            eprintln!("watchdog: the tests did not end within 300 s");
            std::process::abort();
        });
    });
}
