//! Whatever goes in comes out again: lists of any cut, odd places, memory that others might write, both kinds of boards,
//! and other people's encoders and decoders on the other side.

mod common;

use common::{Dice, Rig, lens, output, rooms, sample, scattered, span};
use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use softdpu_card::Profile;
use softdpu_compress::{
    CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream, DeflateSums, Level,
    Lz4Sums,
};
use softdpu_memory::{Buf, Memory};
use std::io::Write;
use std::ops::Range;

/// CRC-32 by the book: bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
    })
}

/// Adler-32 by the book.
fn adler32(bytes: &[u8]) -> u32 {
    let (a, b) = bytes.iter().fold((1, 0), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65521;
        (a, (b + a) % 65521)
    });
    b << 16 | a
}

fn deflate_sums(plain: &[u8]) -> DeflateSums {
    DeflateSums { crc32: crc32(plain), adler32: adler32(plain) }
}

/// Where the windows of a list are.
fn windows(list: &Buf) -> Vec<Range<usize>> {
    list.elements().map(|e| e.range_in_memory()).collect()
}

/// Everything outside of the windows is as it was: zero. The list goes, so that its memory can be looked at.
fn untouched_around(list: Buf, memory: &Memory) {
    let windows = windows(&list);
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

/// Places for a source of these bytes and for a result of `room` bytes.
fn places(rig: &Rig, round: usize, src: &[u8], room: usize, dice: &mut Dice) -> (Buf, Buf, Memory) {
    let pieces = |dice: &mut Dice| if dice.roll(3) == 0 { 1 } else { dice.roll(12) + 1 };
    let (n, m) = (pieces(dice), pieces(dice));
    let memory = |shared: bool, len: usize| if shared { rig.shared(len) } else { rig.memory(len) };
    let source = scattered(&memory(round % 3 == 1, span(src.len(), n)), src, n, dice);
    let target = memory(round % 4 == 2, span(room, m));
    let list = rooms(&target, room, m, dice);
    (source, list, target)
}

#[test]
fn deflate_both_ways_over_any_lists() {
    let mut rig = Rig::new();
    for round in 0..120 {
        let dice = &mut Dice::new(round as u64);
        let len = if round % 10 == 0 { 400_000 } else { dice.roll(40_000) + 1 };
        let plain = sample(len, dice);
        let (src, dst, memory) = places(&rig, round, &plain, len + len / 1000 + 100, dice);
        let before = lens(&dst);
        let done = rig.run(CompressDeflate { src, dst });
        assert_eq!(done.result, Ok(deflate_sums(&plain)), "round {round}");
        let stream = output(&done.task.dst, &before);
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&stream).unwrap(), plain, "round {round}");
        untouched_around(done.task.dst, &memory);

        // Back, from our stream and from somebody else's, into exactly as much room as it takes, or a little more.
        let theirs = miniz_oxide::deflate::compress_to_vec(&plain, round as u8 % 10);
        for stream in [stream, theirs] {
            let (src, dst, memory) = places(&rig, round, &stream, len + dice.roll(2) * dice.roll(50), dice);
            let before = lens(&dst);
            let done = rig.run(DecompressDeflate { src, dst });
            assert_eq!(done.result, Ok(deflate_sums(&plain)), "round {round}");
            assert_eq!(output(&done.task.dst, &before), plain, "round {round}");
            untouched_around(done.task.dst, &memory);
        }
    }
}

#[test]
fn every_level_compresses_and_harder_ones_better() {
    let dice = &mut Dice::new(7);
    let plain = sample(100_000, dice);
    let mut sizes = Vec::new();
    for level in 1..=12 {
        let config = Config { level: Level::new(level).unwrap(), ..Config::default() };
        let mut rig = Rig::of(Profile::All, softdpu_board::threads(), config);
        let done = rig.run(CompressDeflate { src: rig.full(&plain), dst: rig.empty(plain.len()) });
        assert_eq!(done.result, Ok(deflate_sums(&plain)));
        let stream = done.task.dst.to_vec();
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&stream).unwrap(), plain);
        sizes.push(stream.len());
    }
    assert!(sizes[11] < sizes[5] && sizes[5] < sizes[0], "{sizes:?}");
    assert_eq!((Level::new(0), Level::new(13)), (None, None));
}

/// A stream of a 1000 to 1 ratio and more: what bombs are made of, and what a file of zeros gives.
#[test]
fn the_highest_ratio_works() {
    let mut rig = Rig::new();
    let plain = vec![0; 30 << 20];
    let done = rig.run(CompressDeflate { src: rig.full(&plain), dst: rig.empty(1 << 20) });
    assert_eq!(done.result.map(|s| s.adler32), Ok(adler32(&plain)));
    let tight = miniz_oxide::deflate::compress_to_vec(&plain, 9);
    assert!(tight.len() < plain.len() / 1000);
    for stream in [done.task.dst.to_vec(), tight] {
        let done = rig.run(DecompressDeflate { src: rig.full(&stream), dst: rig.empty(plain.len()) });
        assert!(done.result.is_ok());
        assert_eq!(done.task.dst.to_vec(), plain);
    }
}

/// Tasks of every size at the same time are reported in order, whoever carries them out.
#[test]
fn many_in_flight_on_both_boards() {
    for board in [softdpu_board::threads(), softdpu_board::inline()] {
        let mut rig = Rig::of(Profile::All, board, Config { tasks: 40, ..Config::default() });
        let dice = &mut Dice::new(3);
        let plains: Vec<_> = (0..40).map(|i| sample([100, 5000, 300_000, 40_000][i % 4], dice)).collect();
        let mut flights = Vec::new();
        for plain in &plains {
            let task = CompressDeflate { src: rig.full(plain), dst: rig.empty(plain.len() + 1000) };
            flights.push(rig.context.submit(task).unwrap());
        }
        let Rig { pe, context, .. } = &mut rig;
        let done = pe.run(async {
            let mut done = Vec::new();
            for flight in flights {
                done.push(flight.await);
            }
            done
        });
        assert_eq!(context.in_flight(), 0);
        for (done, plain) in done.iter().zip(&plains) {
            assert_eq!(done.result, Ok(deflate_sums(plain)));
            assert_eq!(&miniz_oxide::inflate::decompress_to_vec(&done.task.dst.to_vec()).unwrap(), plain);
        }
    }
}

#[test]
fn lz4_blocks_over_any_lists() {
    let mut rig = Rig::new();
    for round in 0..150 {
        let dice = &mut Dice::new(1000 + round as u64);
        let plain = sample(if round % 10 == 0 { 500_000 } else { dice.roll(30_000) + 1 }, dice);
        let block = lz4_flex::block::compress(&plain);
        let (src, dst, memory) =
            places(&rig, round, &block, plain.len() + dice.roll(2) * dice.roll(50), dice);
        let before = lens(&dst);
        let done = rig.run(DecompressLz4Block { src, dst });
        let sums = done.result.unwrap();
        assert_eq!(sums, Lz4Sums { crc32: crc32(&plain), xxh32: xxh32(&plain) });
        assert_eq!(output(&done.task.dst, &before), plain);
        untouched_around(done.task.dst, &memory);
    }
}

/// XXH32 as LZ4 frames have it: the content checksum that an encoder writes.
fn xxh32(plain: &[u8]) -> u32 {
    let frame = frame(plain, FrameInfo::new().content_checksum(true));
    u32::from_le_bytes(*frame.last_chunk().unwrap())
}

fn frame(plain: &[u8], info: FrameInfo) -> Vec<u8> {
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn lz4_streams_of_every_kind() {
    let mut rig = Rig::new();
    for round in 0..120 {
        let dice = &mut Dice::new(2000 + round as u64);
        let plain = sample(dice.roll(400_000) + 1, dice);
        let (has_block_checksum, are_blocks_independent) = (round % 2 == 0, round % 4 < 2);
        let mode = if are_blocks_independent { BlockMode::Independent } else { BlockMode::Linked };
        let info = FrameInfo::new()
            .block_mode(mode)
            .block_size(BlockSize::Max64KB)
            .block_checksums(has_block_checksum);
        let frame = frame(&plain, info);
        // Magic number, descriptor of three bytes; end mark.
        let stream = &frame[7..frame.len() - 4];
        let (src, dst, memory) = places(&rig, round, stream, plain.len(), dice);
        let before = lens(&dst);
        let done = rig.run(DecompressLz4Stream { src, dst, has_block_checksum, are_blocks_independent });
        assert_eq!(done.result, Ok(Lz4Sums { crc32: crc32(&plain), xxh32: xxh32(&plain) }), "round {round}");
        assert_eq!(output(&done.task.dst, &before), plain);
        assert_eq!(
            (done.task.has_block_checksum, done.task.are_blocks_independent),
            (has_block_checksum, are_blocks_independent)
        );
        untouched_around(done.task.dst, &memory);

        // Told that its blocks stand alone, a stream of linked ones fails (unless nothing was linked) or is right anyway.
        if !are_blocks_independent {
            let (src, dst) = (rig.full(stream), rig.empty(plain.len()));
            let done =
                rig.run(DecompressLz4Stream { src, dst, has_block_checksum, are_blocks_independent: true });
            assert!(done.result.is_err() || done.task.dst.to_vec() == plain);
        }
    }
}

/// Output goes behind the data that is there, in place of what was read too: the source lies in the same memory.
#[test]
fn source_and_destination_may_overlap() {
    let mut rig = Rig::new();
    let plain = sample(5000, &mut Dice::new(5));
    let memory = rig.memory(20_000);
    for shift in [0, 1, 100, 3000] {
        // Two aliases of the same bytes.
        let (mut src, mut dst) = (memory.alias(..).unwrap(), memory.alias(..).unwrap());
        src.write_at(shift, &plain).unwrap();
        src.set_data(shift..shift + plain.len()).unwrap();
        dst.set_data(50..50).unwrap();
        let done = rig.run(CompressDeflate { src, dst });
        assert_eq!(done.result, Ok(deflate_sums(&plain)));
        assert_eq!(done.task.dst.data().start, 50);
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&done.task.dst.to_vec()).unwrap(), plain);
    }
}
