//! A Rust program that traces itself: futures and handlers, and tasks that are never reported.

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::fs::File;
use std::io::BufReader;

/// One test: a process has one trace.
#[test]
fn a_program_traces_itself() {
    let file = std::env::temp_dir().join(format!("softdpu-own-trace-{}.json", std::process::id()));
    let session = Session::builder().trace(&file).board(Board::inline()).open().unwrap();
    let refused = Session::builder().trace(&file).board(Board::inline()).open().unwrap_err();
    assert_eq!(refused.code(), Code::AlreadyExist);
    let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
    let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let (mut src, dst) = (memory.buf(..4096).unwrap(), memory.buf(4096..).unwrap());
    src.push_slice(b"bytes").unwrap();
    let mut copy = Memcpy { src, dst };
    for _ in 0..50 {
        let done = pe.run(dma.submit(copy).unwrap());
        assert_eq!(done.result, Ok(5));
        copy = done.task;
    }
    // This one flies when the trace ends.
    let flying = dma.submit(copy).unwrap();
    softdpu::finish_trace();
    let found = softdpu_trace::read::check(BufReader::new(File::open(&file).unwrap())).unwrap();
    assert_eq!((found.tasks, found.unfinished, found.processes, found.lost), (50, 1, 1, 0));
    // Futures are called by nobody: their arrows end where the tasks end.
    assert_eq!(found.flows, 50);
    assert_eq!(pe.run(flying).result, Ok(5));
    std::fs::remove_file(&file).unwrap();
}
