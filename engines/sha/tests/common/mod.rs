//! Shared by the tests: a context with its memory, messages in lists of any cut, the digest to compare with, dice, a
//! watchdog.
#![allow(dead_code, reason = "each test program uses its part")]

use sha2::Digest as _;
use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::board::Board;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;
use softdpu_sha::{Algorithm, Config, Sha};
use softdpu_status::{Code, Error};
use std::sync::Once;
use std::time::Duration;

/// A running context.
pub(crate) struct Rig {
    pub(crate) context: Context<Sha>,
    pub(crate) pe: ProgressEngine,
    pub(crate) device: Device,
    pub(crate) session: Session,
}

impl Rig {
    pub(crate) fn new() -> Rig {
        Rig::on(Machine::builder().build().unwrap(), softdpu_board::threads(), Config::default())
    }

    pub(crate) fn on(machine: Machine, board: &'static dyn Board, config: Config) -> Rig {
        watchdog();
        let session = Session::new(machine, board);
        let device = session.first_with(EngineKind::Sha).and_then(|d| d.open()).unwrap();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let context = Context::start(&mut pe, &device, config).and_then(|s| s.wait(&mut pe)).unwrap();
        Rig { context, pe, device, session }
    }

    /// Carries out one task, which must be accepted.
    pub(crate) fn run<T: Task<Engine = Sha>>(&mut self, task: T) -> Done<T> {
        let flight = self.context.submit(task).map_err(|refused| refused.error).unwrap();
        self.pe.run(flight)
    }

    /// Queues all tasks before any is carried out, and gives them back in order.
    pub(crate) fn run_all<T: Task<Engine = Sha>>(&mut self, tasks: Vec<T>) -> Vec<Done<T>> {
        let submit = |task| self.context.submit(task).map_err(|refused| refused.error).unwrap();
        let flights: Vec<_> = tasks.into_iter().map(submit).collect();
        flights.into_iter().map(|flight| self.pe.run(flight)).collect()
    }

    /// The reason why a task is refused.
    pub(crate) fn refusal<T: Task<Engine = Sha>>(&mut self, task: T) -> Code {
        match self.context.submit(task) {
            Ok(_) => panic!("accepted"),
            Err(refused) => Error::from(refused).code(),
        }
    }

    pub(crate) fn memory(&self, len: usize) -> Memory {
        Memory::heap(len).access(Access::LOCAL_READ_WRITE).register(&[self.device.shared()]).unwrap()
    }

    /// Memory that others might write: never to be looked at in place.
    pub(crate) fn shared(&self, len: usize) -> Memory {
        let memory = Memory::memfd(len).access(Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE);
        let memory = memory.register(&[self.device.shared()]).unwrap();
        assert!(memory.is_shared());
        memory
    }

    /// A buffer that holds these bytes.
    pub(crate) fn full(&self, bytes: &[u8]) -> Buf {
        let mut buf = self.memory(bytes.len().max(1)).buf(..).unwrap();
        buf.push_slice(bytes).unwrap();
        buf
    }

    /// A list of `pieces` elements with these bytes, at odd places, in memory of any kind.
    pub(crate) fn list(&self, bytes: &[u8], pieces: usize, dice: &mut Dice) -> Buf {
        let mut cuts: Vec<usize> = (1..pieces).map(|_| dice.roll(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let size = bytes.len() + pieces * 100 + 1;
        let memory = if dice.roll(3) == 0 { self.shared(size) } else { self.memory(size) };
        let (mut list, mut at) = (None::<Buf>, 0);
        for cut in cuts.windows(2) {
            let (before, after) = (1 + dice.roll(40), dice.roll(40));
            let len = cut[1] - cut[0];
            let mut buf = memory.buf(at..at + before + len + after).unwrap();
            buf.write_at(before, &bytes[cut[0]..cut[1]]).unwrap();
            buf.set_data(before..before + len).unwrap();
            at += before + len + after;
            match &mut list {
                Some(list) => list.chain(buf),
                None => list = Some(buf),
            }
        }
        list.unwrap()
    }
}

/// What stands around destinations.
pub(crate) const GUARD: u8 = 0xa5;
/// Data that is in a destination before the digest.
pub(crate) const BEFORE: usize = 5;

/// A destination with some data in it, exactly enough room and guard bytes around it.
pub(crate) struct Place {
    memory: Memory,
    start: usize,
    room: usize,
}

impl Place {
    pub(crate) fn new(rig: &Rig, room: usize, dice: &mut Dice) -> (Place, Buf) {
        let memory = if dice.roll(3) == 0 { rig.shared(256) } else { rig.memory(256) };
        memory.buf(..).unwrap().write_at(0, &[GUARD; 256]).unwrap();
        let start = 1 + dice.roll(64);
        let mut buf = memory.buf(start..start + BEFORE + room).unwrap();
        buf.set_data(..BEFORE).unwrap();
        (Place { memory, start, room }, buf)
    }

    /// Takes the buffer back: holds it this digest, and is everything else as it was?
    pub(crate) fn check(&self, buf: Buf, digest: &[u8]) {
        assert_eq!(buf.data(), 0..BEFORE + digest.len());
        assert!(digest.is_empty() || digest.len() == self.room);
        drop(buf);
        let mut all = [0; 256];
        self.memory.buf(..).unwrap().read_at(0, &mut all).unwrap();
        let at = self.start + BEFORE;
        assert_eq!(all[at..at + digest.len()], *digest);
        all[at..at + digest.len()].fill(GUARD);
        assert_eq!(all, [GUARD; 256]);
    }
}

/// By the well-kept crates.
pub(crate) fn digest(algorithm: Algorithm, bytes: &[u8]) -> Vec<u8> {
    match algorithm {
        Algorithm::Sha1 => sha1::Sha1::digest(bytes).to_vec(),
        Algorithm::Sha256 => sha2::Sha256::digest(bytes).to_vec(),
        Algorithm::Sha512 => sha2::Sha512::digest(bytes).to_vec(),
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Numbers that look random and are the same in every run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    /// From 0 to `sides - 1`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % sides
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.roll(256) as u8).collect()
    }

    pub(crate) fn algorithm(&mut self) -> Algorithm {
        Algorithm::ALL[self.roll(3)]
    }
}

pub(crate) fn bf3() -> Machine {
    Machine::builder().profile(Profile::Bf3).build().unwrap()
}

/// A test that hangs ends.
pub(crate) fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(240));
            eprintln!("watchdog: the tests did not end within 240 s");
            std::process::abort();
        });
    });
}
