//! What the tests share: a GCM of their own, a source of chance, and a device.
#![allow(dead_code, unreachable_pub, reason = "not every test needs everything")]

pub mod gcm;

use softdpu_aes_gcm::{AesGcm, Config};
use softdpu_card::{Machine, Profile};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::board::Board;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;

/// Ends the test program when a test hangs.
pub fn watchdog() {
    std::thread::spawn(|| {
        std::thread::sleep(std::time::Duration::from_secs(240));
        eprintln!("watchdog: the tests did not end");
        std::process::exit(124);
    });
}

/// Chance that repeats itself.
#[derive(Debug)]
pub struct Chance(u64);

impl Chance {
    pub fn new(seed: u64) -> Chance {
        Chance(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `below` - 1.
    pub fn below(&mut self, below: usize) -> usize {
        (self.next() % below.max(1) as u64) as usize
    }

    pub fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
}

/// A context with everything around it.
pub struct Bench {
    pub context: Context<AesGcm>,
    pub pe: ProgressEngine,
    pub device: Device,
}

impl Bench {
    pub fn new(board: &'static dyn Board) -> Bench {
        watchdog();
        let session = Session::new(machine(Profile::All), board);
        let device = session.first_with(softdpu_card::EngineKind::AesGcm).unwrap().open().unwrap();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let config = Config { tasks: 64, ..Config::default() };
        let context = Context::<AesGcm>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
        Bench { context, pe, device }
    }

    pub fn memory(&self, len: usize, access: Access) -> Memory {
        Memory::heap(len).access(access).register(&[self.device.shared()]).unwrap()
    }

    pub fn run<T: Task<Engine = AesGcm> + std::fmt::Debug>(&mut self, task: T) -> Done<T> {
        let flight = self.context.submit(task).unwrap();
        self.pe.run(flight)
    }
}

pub fn machine(profile: Profile) -> Machine {
    Machine::builder().profile(profile).build().unwrap()
}

/// A list of buffers on `memory`, between `gap` bytes of nobody's, `sizes` bytes each; and where they begin.
pub fn list(memory: &Memory, sizes: &[usize], gap: usize, alias: bool) -> (Buf, Vec<usize>) {
    let mut at = gap;
    let mut head: Option<Buf> = None;
    let mut starts = Vec::new();
    for &size in sizes {
        let range = at..at + size;
        let buf = if alias { memory.alias(range) } else { memory.buf(range) }.unwrap();
        starts.push(at);
        match &mut head {
            Some(head) => head.chain(buf),
            None => head = Some(buf),
        }
        at += size + gap;
    }
    (head.unwrap(), starts)
}

/// How many bytes such a list needs.
pub fn list_len(sizes: &[usize], gap: usize) -> usize {
    gap + sizes.iter().map(|s| s + gap).sum::<usize>()
}

/// Cuts `total` into at most `most` pieces, some of them empty.
pub fn cut(chance: &mut Chance, total: usize, most: usize) -> Vec<usize> {
    let n = 1 + chance.below(most);
    let mut cuts: Vec<usize> = (1..n).map(|_| chance.below(total + 1)).collect();
    cuts.extend([0, total]);
    cuts.sort_unstable();
    cuts.windows(2).map(|w| w[1] - w[0]).collect()
}

/// Fills a list with data, `sizes` bytes to each element.
pub fn fill(list: &mut Buf, sizes: &[usize], mut bytes: &[u8]) {
    for (mut element, &n) in list.elements_mut().zip(sizes) {
        element.push_slice(&bytes[..n]).unwrap();
        bytes = &bytes[n..];
    }
    assert!(bytes.is_empty());
}
