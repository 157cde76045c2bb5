//! The blocks of LZ4 frames, with and without checksums, independent and linked.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_compress::DecompressLz4Stream;
use softdpu_fuzz::{decompress, settings};

fuzz_target!(|input: &[u8]| {
    let Some((flags, room, stream)) = settings(input) else { return };
    let (has_block_checksum, are_blocks_independent) = (flags & 1 != 0, flags & 2 != 0);
    let out = decompress(
        stream,
        room,
        |src, dst| DecompressLz4Stream { src, dst, has_block_checksum, are_blocks_independent },
        |task| task.dst,
    );
    assert!(out.is_none_or(|out| out.len() <= room));
});
