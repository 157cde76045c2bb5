//! Published values and streams of other people's tools, through the whole task path.

mod common;

use common::Rig;
use softdpu_compress::{
    CompressDeflate, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream, DeflateSums, Lz4Sums,
};

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap()).collect()
}

/// What most streams here stand for: lines of numbers and their squares.
fn squares() -> Vec<u8> {
    (0..60).map(|i| format!("{i} squared is {}\n", i * i)).collect::<String>().into_bytes()
}

/// CRC-32 of the nine digits is the check value of the catalogue of CRC algorithms (CRC-32/ISO-HDLC); Adler-32 of the
/// name is the worked example of the encyclopedia article on Adler-32; the rest was computed with zlib 1.2.13.
#[test]
fn checksums_of_compressed_data() {
    let mut rig = Rig::new();
    let values: [(&[u8], u32, u32); 4] = [
        (b"123456789", 0xcbf4_3926, 0x091e_01de),
        (b"Wikipedia", 0xadaa_c02e, 0x11e6_0398),
        (b"The quick brown fox jumps over the lazy dog", 0x414f_a339, 0x5bdc_0fda),
        (b"\0", 0xd202_ef8d, 0x0001_0001),
    ];
    for (plain, crc32, adler32) in values {
        let done = rig.run(CompressDeflate { src: rig.full(plain), dst: rig.empty(100) });
        assert_eq!(done.result, Ok(DeflateSums { crc32, adler32 }));
        let stream = done.task.dst.to_vec();
        assert_eq!(miniz_oxide::inflate::decompress_to_vec(&stream).unwrap(), plain);
        let done = rig.run(DecompressDeflate { src: rig.full(&stream), dst: rig.empty(100) });
        assert_eq!(done.result, Ok(DeflateSums { crc32, adler32 }));
        assert_eq!(done.task.dst.to_vec(), plain);
    }
}

/// The three kinds of blocks of RFC 1951, written by zlib 1.2.13 (strategies fixed, stored and default).
#[test]
fn streams_of_zlib() {
    let dynamic = "5dd33b6ec4300c45d19eabf012c48f286b390192226532c8fef3dce94e4943208fa8e771bd7efe3e7ebf3eafefd735cc
        cfd22dceb22ccf725be170db3ceb98d6679d6d0bddb6dd67dd65fbac6f371f1830c4a32f740644af324fb2b639a1bbcd4995d59b789d
        01376ef5013843b336afa88dc15c3207cc553ac3b5de6501f38c6d01f35c6d0173cb1c30f77306e6f5f481793db3b8667912e62d73c2
        bc75afe49e872e9f5cf4d086929b76ad31279f4cee6c7ed28324e09e7ab5bcdf5e561341f7a9f72f66a4852f86a495a4a27e296c45fd
        ad3cd65b4e14d9625086f4c5a4b8825f8c4a0cf5823e726822f451c36d0ea64efa097df4730afa58ea3593e1d4c4097dece787843e1ff
        de44fa94ddb5c6fb1562f263db5afc9a897b6fa0f";
    let mut rig = Rig::new();
    let streams = [
        (hex("cb48cdc9c957c8402701"), b"hello hello hello hello".to_vec()),
        (hex("010600f9ff73746f726564"), b"stored".to_vec()),
        (hex(dynamic), squares()),
        (hex("0300"), Vec::new()),
    ];
    for (stream, plain) in streams {
        // The room is exactly what is needed; what follows the stream is not looked at.
        for behind in [&b""[..], b"trailer"] {
            let src = rig.full(&[&stream, behind].concat());
            let done = rig.run(DecompressDeflate { src, dst: rig.empty(plain.len().max(1)) });
            assert!(done.result.is_ok(), "{:?}", done.result);
            assert_eq!(done.task.dst.to_vec(), plain);
        }
    }
}

/// A frame of the `lz4` command 1.9.4 (`-9 -BD -B4 --no-frame-crc`), and one with block checksum and content checksum
/// (`-9 -BX`): what a program strips is stripped here.
#[test]
fn frames_of_lz4() {
    let frame = hex("04224d18604082 d3010000
        f80130207371756172656420697320300a310f0038310a320f0038340a330f0039390a342d0038360a3510004832350a361000493336
        0a374e0038390a3810004836340a3910004938310a319d005a3130300a31a0004932310a31a3006a3134340a313397003a390a31a900
        4a39360a31ab005a32350a3136bd0039360a31af00593238390a31b1006a3332340a3139e30039310a32b400593430300a32b4005a34
        34310a3257014938340a32b400593532390a32b400593537360a32b400593632350a32b4001036240009b4001037480009b40010376c
        000a67014934310a33b400593930300a33b4005a3936310a3368015a3032340a3369015a3038390a336a016a3135360a3335b3015a32
        350a333613004939360a33b9007b313336390a3338da0139340a33bb006a313532310a3424025a3630300a3425025a3638310a34be00
        5a3736340a34be005b3834390a3428024a33360a3429025a3032350a342a025a3131360a342b02593230390a34be0069323330340a34
        be007a323430310a353076024930300a35be00203236260009be007a323730340a35339d024930390a35be00203239910309be001033
        be001a3595036b3133360a3537d7023a390a35ea02593336340a35be0050333438310a
        00000000");
    let plain = squares();
    let mut rig = Rig::new();
    let blocks = &frame[7..frame.len() - 4];
    for are_blocks_independent in [true, false] {
        // With and without the end mark.
        for src in [blocks, &frame[7..]] {
            let (src, dst) = (rig.full(src), rig.empty(plain.len()));
            let done =
                rig.run(DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent });
            assert!(done.result.is_ok(), "{:?}", done.result);
            assert_eq!(done.task.dst.to_vec(), plain);
        }
    }
    let done = rig.run(DecompressLz4Block { src: rig.full(&blocks[4..]), dst: rig.empty(plain.len()) });
    assert!(done.result.is_ok());
    assert_eq!(done.task.dst.to_vec(), plain);

    // A stored block. Its XXH32 is published in the specification of xxHash.
    let text = b"Nobody inspects the spammish repetition";
    let src = [&hex("27000080")[..], text, &hex("2f3b29e2")].concat();
    for (wrong, good) in [(0, true), (1, false)] {
        let mut src = src.clone();
        *src.last_mut().unwrap() ^= wrong;
        let (src, dst) = (rig.full(&src), rig.empty(text.len()));
        let task = DecompressLz4Stream { src, dst, has_block_checksum: true, are_blocks_independent: true };
        let done = rig.run(task);
        assert_eq!(done.result.is_ok(), good);
        if good {
            assert_eq!(done.result, Ok(Lz4Sums { crc32: 0xad42_70ed, xxh32: 0xe229_3b2f }));
            assert_eq!(done.task.dst.to_vec(), text);
        } else {
            assert_eq!(done.task.dst.data_len(), 0);
        }
    }
}

/// XXH32 of nothing, as the specification of xxHash has it: a block that stands for nothing.
#[test]
fn nothing_compressed() {
    let mut rig = Rig::new();
    let done = rig.run(DecompressLz4Block { src: rig.full(&[0]), dst: rig.empty(1) });
    assert_eq!(done.result, Ok(Lz4Sums { crc32: 0, xxh32: 0x02cc_5d05 }));
    let done = rig.run(DecompressDeflate { src: rig.full(&hex("0300")), dst: rig.empty(1) });
    assert_eq!(done.result, Ok(DeflateSums { crc32: 0, adler32: 1 }));
}
