//! Large copies: exact to the byte, however they were cut and whoever did the parts.

mod common;
use common::{Dice, Rig, boards};
use softdpu::dma::Memcpy;
use softdpu::prelude::*;

fn pattern(len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    Dice::new(len as u64).fill(&mut bytes);
    bytes
}

/// Cuts `[at, at + len)` of `memory` into a list of `pieces` windows with gaps of a byte.
fn list(memory: &Memory, at: usize, len: usize, pieces: usize) -> Buf {
    let mut list: Option<Buf> = None;
    let each = len / pieces;
    for i in (0..pieces).rev() {
        let size = if i + 1 == pieces { len - each * i } else { each };
        let from = at + i * (each + 1);
        let mut buf = memory.buf(from..from + size).unwrap();
        if let Some(tail) = list.take() {
            buf.chain(tail);
        }
        list = Some(buf);
    }
    list.unwrap()
}

fn check(rig: &mut Rig, dma: &mut Context<softdpu::dma::Dma>, len: usize, cuts: (usize, usize), wait: bool) {
    let bytes = pattern(len);
    let memory =
        Memory::heap(2 * len + 128).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
    let mut src = list(&memory, 0, len, cuts.0);
    let mut rest = &bytes[..];
    for mut element in src.elements_mut() {
        let (here, behind) = rest.split_at(element.as_element().room());
        element.push_slice(here).unwrap();
        rest = behind;
    }
    let dst = list(&memory, len + 64, len, cuts.1);
    let flying = dma.submit(Memcpy { src, dst }).unwrap();
    let done = if wait {
        while !flying.is_done() {
            rig.pe.wait(None).unwrap();
        }
        flying.try_take().unwrap()
    } else {
        rig.pe.run(flying)
    };
    assert_eq!(done.result, Ok(len as u64));
    assert!(done.task.dst.to_vec() == bytes, "{len} bytes, {cuts:?}");
    assert!(done.task.src.to_vec() == bytes);
    // Nothing was written around the windows.
    drop(done);
    let mut gap = [1; 60];
    memory.alias(len + 8..len + 64).unwrap().read_at(0, &mut gap[..56]).unwrap();
    assert!(gap[..56].iter().all(|&b| b == 0));
}

#[test]
fn around_every_border() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(4);
        for base in [64 << 10, 128 << 10, 256 << 10, 512 << 10, 1 << 20] {
            for len in [base - 1, base, base + 1] {
                check(&mut rig, &mut dma, len, (1, 1), false);
                check(&mut rig, &mut dma, len, (3, 5), true);
            }
        }
    }
}

#[test]
fn sixty_four_mebibytes() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(4);
        check(&mut rig, &mut dma, 64 << 20, (1, 1), false);
        check(&mut rig, &mut dma, (64 << 20) + 13, (2, 7), true);
    }
}

#[test]
fn shared_memory_and_files() {
    let mut rig = Rig::new(Board::threads());
    let mut dma = rig.dma(4);
    let bytes = pattern(3 << 20);
    let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
    let from = Memory::memfd(3 << 20).access(access).register(&[&rig.device]).unwrap();
    let to = Memory::memfd(3 << 20).access(access).register(&[&rig.device]).unwrap();
    let mut src = from.buf(..).unwrap();
    src.push_slice(&bytes).unwrap();
    let done = rig.pe.run(dma.submit(Memcpy { src, dst: to.buf(..).unwrap() }).unwrap());
    assert_eq!(done.result, Ok(3 << 20));
    assert!(done.task.dst.as_slice().is_none());
    assert!(done.task.dst.to_vec() == bytes);
}

#[test]
fn large_and_small_ones_are_told_in_order() {
    for board in boards() {
        let mut rig = Rig::new(board);
        let mut dma = rig.dma(32);
        let memory = Memory::heap(8 << 20).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
        let mut flying = Vec::new();
        for i in 0..8usize {
            let (at, size) = (i << 20, if i % 3 == 0 { 500_000 } else { 40 });
            let mut src = memory.buf(at..at + size).unwrap();
            src.advance(size).unwrap();
            let dst = memory.buf(at + size..at + 2 * size).unwrap();
            flying.push(dma.submit(Memcpy { src, dst }).unwrap());
        }
        while dma.in_flight() > 0 {
            rig.pe.progress();
            let done: Vec<_> = flying.iter().map(|t| t.is_done()).collect();
            assert!(done.is_sorted_by(|a, b| a >= b), "{board:?}: {done:?}");
        }
        assert!(flying.into_iter().all(|t| t.try_take().unwrap().result.is_ok()));
    }
}

#[test]
fn a_stop_in_the_middle_brings_it_back() {
    for board in boards() {
        for progressed in 0..6 {
            let mut rig = Rig::new(board);
            let mut dma = rig.dma(4);
            let memory =
                Memory::heap(16 << 20).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
            let mut src = memory.buf(..8 << 20).unwrap();
            src.advance(8 << 20).unwrap();
            let flying = dma.submit(Memcpy { src, dst: memory.buf(8 << 20..).unwrap() }).unwrap();
            for _ in 0..progressed {
                rig.pe.progress();
            }
            dma.stop().wait(&mut rig.pe).unwrap();
            let done = flying.try_take().unwrap();
            match done.result {
                Ok(n) => assert_eq!((n, done.task.dst.data_len()), (8 << 20, 8 << 20)),
                Err(e) => assert_eq!((e.code(), done.task.dst.data_len()), (Code::IoFailed, 0)),
            }
        }
    }
}
