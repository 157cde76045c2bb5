//! Any shape of blocks, lists and memory against the definition; lost blocks come back; updates agree with creation.

mod common;

use common::{Dice, List, Rig, product};
use softdpu_erasure_coding::{Config, Create, GaloisMul, Matrix, Recover, Update};
use softdpu_memory::Memory;
use softdpu_room::task::{Handler, Next};
use softdpu_status::Code;
use std::sync::{Arc, Mutex};

fn memory(rig: &Rig, len: usize, pieces: usize, dice: &mut Dice) -> Memory {
    let need = List::need(len, pieces);
    if dice.roll(3) == 0 { rig.shared(need) } else { rig.memory(need) }
}

/// One multiplication over lists cut at random, in memory of either kind.
fn check(rig: &mut Rig, matrix: &Matrix, block: usize, pieces: (usize, usize), dice: &mut Dice) {
    let src = dice.bytes(matrix.inputs() * block);
    let len = matrix.outputs() * block;
    // Now and then more room than is needed.
    let room = len + dice.roll(2) * dice.roll(200);
    let from = List::source(memory(rig, src.len(), pieces.0, dice), &src, pieces.0, dice);
    let to = List::room(memory(rig, room, pieces.1, dice), room, pieces.1, dice);
    let before = to.buf.total_data_len();
    let List { buf: src_buf, .. } = from;
    let done = rig.run(GaloisMul { matrix: matrix.clone(), src: src_buf, dst: to.buf });
    assert_eq!(done.result, Ok(len as u64));
    assert_eq!(done.task.dst.total_data_len(), before + len);
    let bytes = List { buf: done.task.dst, ..to }.bytes();
    assert_eq!(bytes[..len], product(matrix, &src), "{matrix:?}, blocks of {block}, {pieces:?} pieces");
    assert!(bytes[len..].iter().all(|b| *b == common::GUARD), "room that was not needed");
}

#[test]
fn lists_of_any_cut_give_what_the_definition_says() {
    for (seed, board) in [(1, softdpu_board::threads()), (2, softdpu_board::inline())] {
        let mut rig = Rig::of(softdpu_card::Profile::All, board, Config::default());
        let mut dice = Dice(seed);
        for _ in 0..150 {
            let (inputs, outputs) = (1 + dice.roll(12), 1 + dice.roll(9));
            let matrix = Matrix::raw(inputs, outputs, &dice.bytes(inputs * outputs)).unwrap();
            let block = 64 * (1 + dice.roll(60));
            let pieces = (1 + dice.roll(20), 1 + dice.roll(20));
            check(&mut rig, &matrix, block, pieces, &mut dice);
        }
    }
}

#[test]
fn large_blocks_are_cut_into_parts_that_fit() {
    for (seed, board) in [(3, softdpu_board::threads()), (4, softdpu_board::inline())] {
        let mut rig = Rig::of(softdpu_card::Profile::All, board, Config::default());
        let mut dice = Dice(seed);
        for (inputs, outputs, block) in [
            (8, 4, 64 << 10),
            (1, 1, 1 << 20),
            (2, 1, (1 << 20) + 64),
            (3, 7, 99_968),
            (10, 4, 333_312),
            (1, 32, 64 << 10),
        ] {
            let matrix = Matrix::raw(inputs, outputs, &dice.bytes(inputs * outputs)).unwrap();
            for pieces in [(1, 1), (inputs, outputs), (17, 5), (1, 40)] {
                check(&mut rig, &matrix, block, pieces, &mut dice);
            }
        }
    }
}

#[test]
fn the_largest_codes() {
    let mut rig = Rig::new();
    let mut dice = Dice(5);
    let coding = Matrix::cauchy(128, 32).unwrap();
    check(&mut rig, &coding, 64, (128, 32), &mut dice);
    check(&mut rig, &coding, 8192, (1, 1), &mut dice);
    let every_fourth: Vec<u32> = (0..32).map(|n| n * 4).collect();
    check(&mut rig, &coding.update(&every_fourth).unwrap(), 128, (1, 1), &mut dice);
    check(&mut rig, &coding.recover(&every_fourth).unwrap(), 4096, (9, 9), &mut dice);
}

/// Data and redundancy of a code, by a creation task.
fn encode(rig: &mut Rig, coding: &Matrix, data: &[u8]) -> Vec<u8> {
    let room = data.len() / coding.inputs() * coding.outputs();
    let task = Create { matrix: coding.clone(), data: rig.full(data), rdnc: rig.empty(room) };
    let done = rig.run(task);
    assert_eq!(done.result, Ok(room as u64));
    done.task.rdnc.to_vec()
}

#[test]
fn any_loss_within_the_redundancy_comes_back() {
    let mut rig = Rig::new();
    let mut dice = Dice(6);
    for round in 0..80 {
        let (k, m) = (1 + dice.roll(14), 1 + dice.roll(6));
        let coding = match round % 3 {
            0 => Matrix::vandermonde(k, m),
            1 => Matrix::raw(k, m, &dice.bytes(k * m)),
            _ => Matrix::cauchy(k, m),
        }
        .unwrap();
        let block = 64 * (1 + dice.roll(12));
        let data = dice.bytes(k * block);
        let all = [data.clone(), encode(&mut rig, &coding, &data)].concat();
        let lost = 1 + dice.roll(m);
        let missing = dice.pick(lost, k + m);
        let matrix = match coding.recover(&missing) {
            Ok(matrix) => matrix,
            Err(e) => {
                assert!(
                    round % 3 != 2 && e.code() == Code::InvalidValue,
                    "a Cauchy matrix recovers everything"
                );
                continue;
            }
        };
        let blocks: Vec<&[u8]> = all.chunks_exact(block).collect();
        let left: Vec<&[u8]> =
            (0u32..).zip(&blocks).filter(|(n, _)| !missing.contains(n)).map(|(_, b)| *b).take(k).collect();
        let want: Vec<&[u8]> = missing.iter().map(|&n| blocks[n as usize]).collect();
        let task =
            Recover { matrix, available: rig.full(&left.concat()), recovered: rig.empty(lost * block) };
        let done = rig.run(task);
        assert_eq!(done.result, Ok((lost * block) as u64));
        assert_eq!(done.task.recovered.to_vec(), want.concat(), "{k}+{m}, missing {missing:?}");
    }
}

#[test]
fn an_update_gives_what_creating_anew_gives() {
    let mut rig = Rig::new();
    let mut dice = Dice(7);
    for _ in 0..40 {
        let (k, m, block) = (1 + dice.roll(14), 1 + dice.roll(6), 64 * (1 + dice.roll(12)));
        let coding = Matrix::cauchy(k, m).unwrap();
        let mut data = dice.bytes(k * block);
        let old = encode(&mut rig, &coding, &data);
        let count = 1 + dice.roll(k);
        let changed = dice.pick(count, k);
        let mut changes = Vec::new();
        for &i in &changed {
            let range = i as usize * block..(i as usize + 1) * block;
            changes.extend_from_slice(&data[range.clone()]);
            data[range.clone()].copy_from_slice(&dice.bytes(block));
            changes.extend_from_slice(&data[range]);
        }
        changes.extend_from_slice(&old);
        let matrix = coding.update(&changed).unwrap();
        let done = rig.run(Update { matrix, changes: rig.full(&changes), rdnc: rig.empty(m * block) });
        assert_eq!(done.task.rdnc.to_vec(), encode(&mut rig, &coding, &data));
    }
}

/// New redundancy written over the old, block on block: the destination lies where source blocks lie.
#[test]
fn redundancy_is_updated_in_place() {
    let mut rig = Rig::new();
    let mut dice = Dice(8);
    for block in [64, 4096, 128 << 10] {
        for m in [1, 4, 8] {
            let matrix = Matrix::cauchy(10, m).unwrap().update(&[3]).unwrap();
            let src = dice.bytes((2 + m) * block);
            let memory = rig.memory(src.len());
            let mut changes = memory.alias(..).unwrap();
            changes.write_at(0, &src).unwrap();
            changes.set_data(..).unwrap();
            let rdnc = memory.alias(2 * block..).unwrap();
            let done = rig.run(Update { matrix: matrix.clone(), changes, rdnc });
            assert_eq!(done.result, Ok((m * block) as u64));
            let mut after = vec![0; m * block];
            done.task.rdnc.read_at(0, &mut after).unwrap();
            assert_eq!(after, product(&matrix, &src), "blocks of {block}, {m} of them");
        }
    }
}

#[test]
fn handlers_get_every_kind_in_the_order_of_submission() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    macro_rules! handler {
        ($name:literal) => {{
            let seen = Arc::clone(&seen);
            let handler: Handler<_> = Box::new(move |done, _| {
                seen.lock().unwrap().push(($name, done.result.unwrap()));
                Next::Free
            });
            Some(handler)
        }};
    }
    let config = Config {
        tasks: 8,
        on_galois_mul: handler!("galois_mul"),
        on_create: handler!("create"),
        on_update: handler!("update"),
        on_recover: handler!("recover"),
    };
    let mut rig = Rig::of(softdpu_card::Profile::Bf3, softdpu_board::threads(), config);
    let coding = Matrix::cauchy(2, 1).unwrap();
    let (recover, update) = (coding.recover(&[0]).unwrap(), coding.update(&[0, 1]).unwrap());
    let buf = |rig: &Rig, blocks: usize| rig.full(&vec![7; blocks * 64]);
    // The first one is large: those behind it are reported after it all the same.
    let (data, rdnc) = (rig.full(&vec![1; 4 << 20]), rig.empty(2 << 20));
    rig.context.post(Create { matrix: coding.clone(), data, rdnc }).unwrap();
    let (available, recovered) = (buf(&rig, 2), rig.empty(64));
    rig.context.post(Recover { matrix: recover, available, recovered }).unwrap();
    let (changes, rdnc) = (buf(&rig, 5), rig.empty(64));
    rig.context.post(Update { matrix: update, changes, rdnc }).unwrap();
    let (src, dst) = (buf(&rig, 2), rig.empty(100));
    rig.context.post(GaloisMul { matrix: coding, src, dst }).unwrap();
    while seen.lock().unwrap().len() < 4 {
        rig.pe.progress();
    }
    let want = [("create", 2 << 20), ("recover", 64), ("update", 64), ("galois_mul", 64)];
    assert_eq!(*seen.lock().unwrap(), want);
}

#[test]
fn one_matrix_serves_contexts_on_several_threads() {
    let coding = Matrix::cauchy(6, 3).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let coding = coding.clone();
            scope.spawn(move || {
                let (mut rig, mut dice) = (Rig::new(), Dice(100 + seed));
                for block in [64, 4096, 64 << 10, 256 << 10] {
                    check(&mut rig, &coding, block, (3, 2), &mut dice);
                }
            });
        }
    });
}
