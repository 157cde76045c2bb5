//! What the suite runs: copies of a line, copies in parts, hashes.

use crate::way::Subject;
use softdpu::dma::{self, Dma, Memcpy};
use softdpu::prelude::*;
use softdpu::sha::{self, Algorithm, Hash, Sha};

/// Copies of `N` bytes.
#[derive(Debug)]
pub struct Copies<const N: usize> {
    pool: BufPool,
}

/// Copies that progress carries out itself.
pub type SmallCopies = Copies<64>;
/// Copies that are cut into parts.
pub type LargeCopies = Copies<300_000>;

/// Bytes that belong to a number.
fn bytes(number: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![number as u8 ^ 0x5a; len];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes
}

fn number(buf: &Buf) -> u64 {
    let mut number = [0; 8];
    buf.read_at(0, &mut number).unwrap();
    u64::from_le_bytes(number)
}

fn pool(device: &Device, window: usize, count: usize) -> BufPool {
    let memory = Memory::heap(window * count).access(Access::LOCAL_READ_WRITE).register(&[device]).unwrap();
    memory.pool(window).unwrap()
}

impl<const N: usize> Subject for Copies<N> {
    type Engine = Dma;
    type Task = Memcpy;
    const KIND: EngineKind = EngineKind::Dma;

    fn new(device: &Device, count: usize) -> Self {
        Copies { pool: pool(device, N, 2 * count) }
    }

    fn config(tasks: u32, handler: Option<Handler<Memcpy>>) -> dma::Config {
        dma::Config { memcpy: tasks, on_memcpy: handler, ..dma::Config::default() }
    }

    fn task(&self, number: u64) -> Option<Memcpy> {
        let mut src = self.pool.take()?;
        src.push_slice(&bytes(number, N)).unwrap();
        Some(Memcpy { src, dst: self.pool.take()? })
    }

    fn check(number: u64, done: Done<Memcpy>) {
        assert_eq!(done.result, Ok(N as u64));
        assert!(done.task.dst.to_vec() == bytes(number, N), "task {number}");
    }

    fn number(task: &Memcpy) -> u64 {
        number(&task.src)
    }

    fn again(mut task: Memcpy) -> Memcpy {
        task.dst.reset();
        task
    }

    fn wrong(&self) -> Memcpy {
        let mut task = self.task(0).unwrap();
        task.dst.advance(1).unwrap(); // no room for all
        task
    }

    fn is_whole(&self) -> bool {
        self.pool.available() == self.pool.capacity()
    }
}

/// Hashes of short messages.
#[derive(Debug)]
pub struct Hashes {
    pool: BufPool,
}

impl Subject for Hashes {
    type Engine = Sha;
    type Task = Hash;
    const KIND: EngineKind = EngineKind::Sha;

    fn new(device: &Device, count: usize) -> Self {
        Hashes { pool: pool(device, 64, 2 * count) }
    }

    fn config(tasks: u32, handler: Option<Handler<Hash>>) -> sha::Config {
        sha::Config { tasks, handlers: sha::Handlers { hash: handler, ..Default::default() } }
    }

    fn task(&self, number: u64) -> Option<Hash> {
        let mut src = self.pool.take()?;
        src.push_slice(&number.to_le_bytes()).unwrap();
        Some(Hash { algorithm: Algorithm::Sha256, src, dst: self.pool.take()? })
    }

    fn check(number: u64, done: Done<Hash>) {
        assert_eq!(done.result, Ok(32));
        assert_eq!(done.task.dst.data_len(), 32);
        // The same message has the same hash, another one another; values are the engine's own tests.
        assert_eq!(Self::number(&done.task), number);
        assert!(done.task.dst.to_vec().iter().any(|&b| b != 0));
    }

    fn number(task: &Hash) -> u64 {
        number(&task.src)
    }

    fn again(mut task: Hash) -> Hash {
        task.dst.reset();
        task
    }

    fn wrong(&self) -> Hash {
        let mut task = self.task(0).unwrap();
        task.dst.advance(40).unwrap(); // no room for a hash
        task
    }

    fn is_whole(&self) -> bool {
        self.pool.available() == self.pool.capacity()
    }
}
