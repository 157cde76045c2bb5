//! Foreign bytes: damaged, cut and made-up streams never do more than fail, and leave everything outside of the room
//! alone. Seeded, so that a failure can be repeated: `SOFTDPU_FUZZ_SEED` sets the first seed, `SOFTDPU_FUZZ_ROUNDS` how
//! many follow.

mod common;

use common::{Dice, Rig, lens, rooms, sample, scattered, span};
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use softdpu_compress::{DecompressDeflate, DecompressLz4Block, DecompressLz4Stream};
use softdpu_memory::{Buf, Memory};
use softdpu_room::task::{Done, Task};
use softdpu_status::Code;
use std::io::Write;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Some damage: flipped bits, other bytes, cuts, repeated and moved pieces.
fn damaged(stream: &[u8], dice: &mut Dice) -> Vec<u8> {
    let mut bytes = stream.to_vec();
    for _ in 0..dice.roll(4) + 1 {
        let at = dice.roll(bytes.len());
        match dice.roll(6) {
            0 => bytes[at] ^= 1 << dice.roll(8),
            1 => bytes[at] = dice.roll(256) as u8,
            2 => bytes.truncate(at.max(1)),
            3 => {
                let piece = bytes[at..(at + dice.roll(40)).min(bytes.len())].to_vec();
                let to = dice.roll(bytes.len() + 1);
                bytes.splice(to..to, piece);
            }
            4 => bytes[at..].iter_mut().take(8).for_each(|b| *b = 0xff),
            _ => bytes[at..].iter_mut().take(8).for_each(|b| *b = 0),
        }
    }
    bytes
}

fn made_up(dice: &mut Dice) -> Vec<u8> {
    (0..dice.roll(300) + 1).map(|_| dice.roll(256) as u8).collect()
}

/// A list of the bytes and a list of the room; its memory.
fn places(rig: &Rig, bytes: &[u8], room: usize, dice: &mut Dice) -> (Buf, Buf, Memory) {
    let (n, m) = (dice.roll(3) + 1, dice.roll(3) + 1);
    let source = scattered(&rig.memory(span(bytes.len(), n)), bytes, n, dice);
    let target = if dice.roll(4) == 0 { rig.shared(span(room, m)) } else { rig.memory(span(room, m)) };
    let list = rooms(&target, room, m, dice);
    (source, list, target)
}

/// Success or IoFailed; a failed task leaves the data lengths as they were; nothing outside of the windows is touched.
fn judged<T: Task>(done: &Done<T>, dst: &Buf, before: &[usize]) -> bool {
    match &done.result {
        Ok(_) => true,
        Err(error) => {
            assert_eq!(error.code(), Code::IoFailed);
            assert_eq!(lens(dst), before);
            false
        }
    }
}

fn untouched_around(list: Buf, memory: &Memory) {
    let windows: Vec<_> = list.elements().map(|e| e.range_in_memory()).collect();
    drop(list);
    let whole = if memory.is_shared() { memory.alias(..) } else { memory.buf(..) }.unwrap();
    let mut bytes = vec![0; memory.len()];
    whole.read_at(0, &mut bytes).unwrap();
    for (at, byte) in bytes.iter().enumerate() {
        assert!(
            *byte == 0 || windows.iter().any(|w| w.contains(&at)),
            "byte {at} outside of every window was written"
        );
    }
}

#[test]
fn inflate() {
    let mut rig = Rig::new();
    let (first, rounds) = (setting("SOFTDPU_FUZZ_SEED", 1), setting("SOFTDPU_FUZZ_ROUNDS", 1500));
    let mut fine = 0;
    for seed in first..first + rounds {
        let dice = &mut Dice::new(seed);
        let plain = sample(dice.roll(3000) + 1, dice);
        let good = miniz_oxide::deflate::compress_to_vec(&plain, dice.roll(11) as u8);
        let stream = if dice.roll(4) == 0 { made_up(dice) } else { damaged(&good, dice) };
        let (src, dst, memory) = places(&rig, &stream, plain.len() + dice.roll(20), dice);
        let before = lens(&dst);
        let done = rig.run(DecompressDeflate { src, dst });
        fine += u64::from(judged(&done, &done.task.dst, &before));
        untouched_around(done.task.dst, &memory);
    }
    // Damage that is none, or meets what is never looked at; most of it is found.
    assert!(fine < rounds.div_ceil(2), "{fine} of {rounds}");
}

#[test]
fn every_prefix_of_a_stream_fails() {
    let mut rig = Rig::new();
    let plain = sample(400, &mut Dice::new(9));
    let stream = miniz_oxide::deflate::compress_to_vec(&plain, 6);
    let block = lz4_flex::block::compress(&plain);
    for n in 1..stream.len() {
        let done = rig.run(DecompressDeflate { src: rig.full(&stream[..n]), dst: rig.empty(plain.len()) });
        assert_eq!(done.result.unwrap_err().code(), Code::IoFailed, "{n} of {}", stream.len());
        assert_eq!(done.task.dst.data_len(), 0);
    }
    let framed = [&(block.len() as u32).to_le_bytes()[..], &block].concat();
    for n in 1..framed.len() {
        let (src, dst) = (rig.full(&framed[..n]), rig.empty(plain.len()));
        let task = DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent: true };
        assert_eq!(rig.run(task).result.unwrap_err().code(), Code::IoFailed, "{n} of {}", framed.len());
    }
    // One byte too little room, for each kind.
    let room = plain.len() - 1;
    assert!(rig.run(DecompressDeflate { src: rig.full(&stream), dst: rig.empty(room) }).result.is_err());
    assert!(rig.run(DecompressLz4Block { src: rig.full(&block), dst: rig.empty(room) }).result.is_err());
    let (src, dst) = (rig.full(&framed), rig.empty(room));
    let task = DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent: false };
    assert!(rig.run(task).result.is_err());
}

#[test]
fn lz4() {
    let mut rig = Rig::new();
    let (first, rounds) = (setting("SOFTDPU_FUZZ_SEED", 1), setting("SOFTDPU_FUZZ_ROUNDS", 1500));
    for seed in first..first + rounds {
        let dice = &mut Dice::new(seed);
        let plain = sample(dice.roll(if seed % 50 == 0 { 200_000 } else { 3000 }) + 1, dice);
        let block = lz4_flex::block::compress(&plain);
        let bytes = if dice.roll(4) == 0 { made_up(dice) } else { damaged(&block, dice) };
        let (src, dst, memory) = places(&rig, &bytes, plain.len() + dice.roll(20), dice);
        let before = lens(&dst);
        let done = rig.run(DecompressLz4Block { src, dst });
        judged(&done, &done.task.dst, &before);
        untouched_around(done.task.dst, &memory);

        let (has_block_checksum, are_blocks_independent) = (dice.roll(2) == 0, dice.roll(2) == 0);
        let mode = if are_blocks_independent { BlockMode::Independent } else { BlockMode::Linked };
        let info = FrameInfo::new()
            .block_mode(mode)
            .block_size(BlockSize::Max64KB)
            .block_checksums(has_block_checksum);
        let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
        encoder.write_all(&plain).unwrap();
        let frame = encoder.finish().unwrap();
        let bytes = if dice.roll(6) == 0 { made_up(dice) } else { damaged(&frame[7..], dice) };
        let (src, dst, memory) = places(&rig, &bytes, plain.len() + dice.roll(20), dice);
        let before = lens(&dst);
        let done = rig.run(DecompressLz4Stream { src, dst, has_block_checksum, are_blocks_independent });
        judged(&done, &done.task.dst, &before);
        untouched_around(done.task.dst, &memory);
    }
}

/// A stream that would give a thousand times its size stops at the end of the room.
#[test]
fn bombs_stop_at_the_room() {
    let mut rig = Rig::new();
    let bomb = miniz_oxide::deflate::compress_to_vec(&vec![0; 64 << 20], 9);
    let memory = rig.memory(8192);
    let mut dst = memory.buf(100..5100).unwrap();
    dst.set_data(0..0).unwrap();
    let done = rig.run(DecompressDeflate { src: rig.full(&bomb), dst });
    assert_eq!(done.result.unwrap_err().code(), Code::IoFailed);
    untouched_around(done.task.dst, &memory);
    // A stored block that says it is longer than everything there is.
    let (src, dst) = (rig.full(&[0xff, 0xff, 0xff, 0xff, 1, 2, 3]), rig.empty(100));
    let task = DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent: true };
    assert_eq!(rig.run(task).result.unwrap_err().code(), Code::IoFailed);
    // Something behind the end mark.
    let (src, dst) = (rig.full(&[0, 0, 0, 0, 0]), rig.empty(100));
    let task = DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent: true };
    assert_eq!(rig.run(task).result.unwrap_err().code(), Code::IoFailed);
}
