//! Shared by the tests: a rig with everything open, dice, a watchdog.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]

pub mod mock;

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::sync::Once;
use std::time::Duration;

/// Ends the process when its tests hang.
pub fn watchdog() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(Duration::from_secs(300));
            eprintln!("watchdog: tests hang");
            std::process::abort();
        });
    });
}

/// Both boards, for tests that hold on each.
pub fn boards() -> [Board; 2] {
    [Board::inline(), Board::threads()]
}

/// A session, a device, memory, a progress engine.
pub struct Rig {
    pub session: Session,
    pub device: Device,
    pub memory: Memory,
    pub pool: BufPool,
    pub pe: ProgressEngine,
}

/// Bytes of each buffer of the rig's pool.
pub const WINDOW: usize = 64;

impl Rig {
    pub fn new(board: Board) -> Rig {
        watchdog();
        let session = Session::builder().board(board).profile(softdpu::card::Profile::All).open().unwrap();
        let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
        let memory =
            Memory::heap(256 * WINDOW).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
        let pool = memory.pool(WINDOW).unwrap();
        let pe = ProgressEngine::new(&session).unwrap();
        Rig { session, device, memory, pool, pe }
    }

    pub fn dma(&mut self, tasks: u32) -> Context<Dma> {
        self.dma_with(Config { memcpy: tasks, ..Config::default() })
    }

    pub fn dma_with(&mut self, config: Config) -> Context<Dma> {
        Context::<Dma>::start(&mut self.pe, &self.device, config).unwrap().wait(&mut self.pe).unwrap()
    }

    /// A copy of `text` into an empty buffer.
    pub fn copy(&self, text: &[u8]) -> Memcpy {
        copy(&self.pool, text)
    }
}

/// A copy of `text` into an empty buffer, both from `pool`.
pub fn copy(pool: &BufPool, text: &[u8]) -> Memcpy {
    let (mut src, dst) = (pool.take().expect("a buffer"), pool.take().expect("a buffer"));
    src.reset();
    src.push_slice(text).unwrap();
    Memcpy {
        src,
        dst: {
            let mut dst = dst;
            dst.reset();
            dst
        },
    }
}

/// A small generator (xorshift), so that a failure can be repeated.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = (self.roll(1 << 30) as u64) << 32 | self.roll(1 << 30) as u64;
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A waker that counts its calls.
pub struct Count(std::sync::atomic::AtomicUsize);

impl Count {
    pub fn new() -> std::sync::Arc<Count> {
        std::sync::Arc::new(Count(Default::default()))
    }

    pub fn get(&self) -> usize {
        self.0.load(std::sync::atomic::Ordering::SeqCst)
    }
}

impl std::task::Wake for Count {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }
}

/// Polls once.
pub fn poll<F: Future + Unpin>(future: &mut F, count: &std::sync::Arc<Count>) -> std::task::Poll<F::Output> {
    let waker = std::task::Waker::from(count.clone());
    std::pin::Pin::new(future).poll(&mut std::task::Context::from_waker(&waker))
}
