//! Bare LZ4 blocks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_compress::DecompressLz4Block;
use softdpu_fuzz::{decompress, settings};

fuzz_target!(|input: &[u8]| {
    let Some((_, room, block)) = settings(input) else { return };
    let ours = decompress(block, room, |src, dst| DecompressLz4Block { src, dst }, |task| task.dst);
    let mut theirs = vec![0; room];
    // Decoders differ in what they call damaged, not in what a block means.
    if let (Some(ours), Ok(n)) = (ours, lz4_flex::block::decompress_into(block, &mut theirs)) {
        assert!(ours == theirs[..n], "{} bytes, {n} of the other decoder", ours.len());
    }
});
