//! Raw DEFLATE streams.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use softdpu_compress::DecompressDeflate;
use softdpu_fuzz::{decompress, settings};

fuzz_target!(|input: &[u8]| {
    let Some((_, room, stream)) = settings(input) else { return };
    let ours = decompress(stream, room, |src, dst| DecompressDeflate { src, dst }, |task| task.dst);
    // Decoders differ in what they call damaged, not in what a stream means.
    if let (Some(ours), Ok(theirs)) = (ours, decompress_to_vec_with_limit(stream, room)) {
        assert!(ours == theirs, "{} bytes, {} of the other decoder", ours.len(), theirs.len());
    }
});
