//! Things that outlive what they came from, and boards without workers.

mod common;

use common::{check, machine, pair, start, watched};
use softdpu_dma::Memcpy;
use softdpu_room::pump::ProgressEngine;
use std::future::poll_fn;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsFd;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A waker is called after its engine is gone: it touches nothing, least of all the descriptor's number.
#[test]
fn a_waker_outlives_its_engine() {
    watched(|| {
        let (session, _) = machine(softdpu_room::session::inline());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let waker = pe.run(poll_fn(|cx| Poll::Ready(cx.waker().clone())));
        assert!(pe.arm().unwrap());
        let number = BorrowedFd::as_raw_fd(&pe.as_fd());
        drop(pe);
        // Somebody else's file gets the number.
        let mut files = Vec::new();
        let path = std::env::temp_dir().join(format!("softdpu-waker-{}", std::process::id()));
        let mut mine = loop {
            let file = std::fs::File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(true)
                .open(&path)
                .unwrap();
            if file.as_raw_fd() == number {
                break file;
            }
            if file.as_raw_fd() > number {
                // Taken by another test meanwhile.
                std::fs::remove_file(&path).unwrap();
                return;
            }
            files.push(file);
        };
        mine.write_all(b"precious").unwrap();
        waker.wake();
        let mut all = Vec::new();
        mine.seek(SeekFrom::Start(0)).unwrap();
        mine.read_to_end(&mut all).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(all, b"precious", "the waker wrote into another file");
    });
}

/// A handle that was polled to its end is kept while its context goes and another one gets its place.
#[test]
fn a_finished_flight_outlives_its_context() {
    watched(|| {
        let (session, device) = machine(softdpu_room::session::inline());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let mut dma = start(&mut pe, &device, 1);
        let (src, dst) = pair(&device, 100);
        let mut flight = dma.submit(Memcpy { src, dst }).unwrap();
        pe.progress();
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(done) = Pin::new(&mut flight).poll(&mut cx) else { panic!("it is back") };
        check(&done.task);
        dma.stop().wait(&mut pe).unwrap();
        drop(pe);
        assert_eq!(flight.engine(), "dma");
        assert!(format!("{flight:?}").starts_with("InFlight"));
    });
}

const LARGE: usize = if cfg!(miri) { 160 << 10 } else { 3 << 20 };

/// Nobody else carries out the parts of a large task, so whoever waits for it must not sleep.
#[test]
fn a_large_task_without_workers() {
    watched(|| {
        let (session, device) = machine(softdpu_room::session::inline());
        let mut pe = ProgressEngine::new(&session).unwrap();
        let mut dma = start(&mut pe, &device, 1);
        let (src, dst) = pair(&device, LARGE);
        let mut flight = dma.submit(Memcpy { src, dst }).unwrap();
        let done = loop {
            pe.wait(None).unwrap();
            match flight.try_take() {
                Ok(done) => break done,
                Err(back) => flight = back,
            }
        };
        assert_eq!(done.result.unwrap(), LARGE as u64);
        check(&done.task);
    });
}
