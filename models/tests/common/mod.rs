//! A machine, a context for copies, and a watchdog.
#![allow(dead_code, reason = "not every test uses all of it")]

use softdpu_card::{EngineKind, Machine};
use softdpu_dma::{Config, Dma, Memcpy};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::board::Board;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::typed::Context;
use std::sync::mpsc;
use std::time::Duration;

/// A hang is a failure: ends the process when `test` does not come back.
pub(crate) fn watched<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = test();
        let _ = done.send(());
        result
    });
    if wait.recv_timeout(Duration::from_secs(300)) == Err(mpsc::RecvTimeoutError::Timeout) {
        eprintln!("the test hangs");
        std::process::abort();
    }
    thread.join().unwrap()
}

/// A session on this board, with its first DMA device.
pub(crate) fn machine(board: &'static dyn Board) -> (Session, Device) {
    let session = Session::new(Machine::builder().build().unwrap(), board);
    let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
    (session, device)
}

/// A running context for `tasks` copies in flight.
pub(crate) fn start(pe: &mut ProgressEngine, device: &Device, tasks: u32) -> Context<Dma> {
    let config = Config { memcpy: tasks, ..Config::default() };
    Context::start(pe, device, config).unwrap().wait(pe).unwrap()
}

/// Source and destination of `len` bytes each; the source is full.
pub(crate) fn pair(device: &Device, len: usize) -> (Buf, Buf) {
    let memory = Memory::heap(2 * len).access(Access::LOCAL_READ_WRITE).register(&[device.shared()]).unwrap();
    let (mut src, dst) = (memory.buf(..len).unwrap(), memory.buf(len..).unwrap());
    src.as_mut_slice();
    src.set_data(..).unwrap();
    for (i, byte) in src.as_mut_slice().unwrap().iter_mut().enumerate() {
        *byte = (i * 7 + 3) as u8;
    }
    (src, dst)
}

/// The same task once more.
pub(crate) fn again(task: Memcpy) -> Memcpy {
    let Memcpy { src, mut dst } = task;
    dst.reset();
    Memcpy { src, dst }
}

/// Did the copy arrive?
pub(crate) fn check(task: &Memcpy) {
    assert!(task.src.as_slice() == task.dst.as_slice(), "the copy differs");
}
