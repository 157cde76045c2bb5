//! Files as others write them, and files that nobody should write.

use super::*;

fn all(bytes: &[u8]) -> Result<Vec<(Record, Vec<u8>)>, String> {
    let mut reader = Reader::new(bytes)?;
    let mut frames = Vec::new();
    let mut frame = Vec::new();
    while let Some(record) = reader.next(&mut frame)? {
        assert_eq!(record.len, frame.len());
        frames.push((record, frame.clone()));
        assert!(frames.len() < 1000);
    }
    Ok(frames)
}

fn written() -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).unwrap();
    writer.frame(1_700_000_000_123_456_789, &[b"abc", b"", b"defgh"]).unwrap();
    writer.frame(5, &[&[7; 1514]]).unwrap();
    writer.flush().unwrap();
    writer.into_inner()
}

#[test]
fn what_is_written_is_read_back() {
    let frames = all(&written()).unwrap();
    assert_eq!(frames.len(), 2);
    assert_eq!(frames[0].0, Record { stamp: 1_700_000_000_123_456_789, len: 8, full: 8 });
    assert_eq!((frames[0].1.as_slice(), frames[1].0.stamp), (&b"abcdefgh"[..], 5));
}

#[test]
fn older_files_have_microseconds_and_any_byte_order() {
    for big in [false, true] {
        let word = |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let half = |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
        let mut file = word(0xa1b2_c3d4).to_vec();
        file.extend([half(2), half(4)].concat());
        file.extend([word(0), word(0), word(65535), word(1)].concat());
        file.extend([word(3), word(4), word(2), word(60)].concat());
        file.extend(b"xy");
        let frames = all(&file).unwrap();
        assert_eq!(frames, [(Record { stamp: 3_000_004_000, len: 2, full: 60 }, b"xy".to_vec())]);
    }
}

/// A pcapng file with two interfaces, the second of another kind, and packets of both.
fn next_generation(big: bool) -> Vec<u8> {
    let word = move |value: u32| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let half = move |value: u16| if big { value.to_be_bytes() } else { value.to_le_bytes() };
    let block = |kind: u32, body: &[u8]| {
        let len = word(12 + body.len() as u32);
        [&word(kind)[..], &len, body, &len].concat()
    };
    let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    // Nanoseconds, by option 9.
    let ethernet = [&half(1)[..], &half(0), &word(0), &half(9), &half(1), &[9, 0, 0, 0], &[0; 4]].concat();
    let other = [&half(113)[..], &half(0), &word(0)].concat();
    let packet = |interface: u32, bytes: &[u8; 4]| {
        let head = [word(interface), word(1), word(5), word(3), word(99)].concat();
        [&head[..], bytes].concat()
    };
    [
        block(0x0a0d_0d0a, &section),
        block(1, &ethernet),
        block(1, &other),
        block(5, &[0; 12]),
        block(6, &packet(0, b"abc\0")),
        block(6, &packet(1, b"no!\0")),
        block(3, &[&word(4)[..], b"wxyz"].concat()),
    ]
    .concat()
}

#[test]
fn the_next_generation_is_read() {
    for big in [false, true] {
        let frames = all(&next_generation(big)).unwrap();
        let first = Record { stamp: (1 << 32) + 5, len: 3, full: 99 };
        let second = Record { stamp: 0, len: 4, full: 4 };
        assert_eq!(frames, [(first, b"abc".to_vec()), (second, b"wxyz".to_vec())]);
    }
}

#[test]
fn files_that_end_too_early_say_so() {
    for whole in [written(), next_generation(false)] {
        let count = all(&whole).unwrap().len();
        let mut clean = 0;
        for end in 0..whole.len() {
            match all(&whole[..end]) {
                Ok(frames) => {
                    clean += 1;
                    assert!(frames.len() < count);
                }
                Err(cause) => assert!(!cause.is_empty()),
            }
        }
        assert!(clean <= 7, "{clean} places between records");
    }
}

#[test]
fn bytes_of_any_kind_are_refused_or_read_but_never_hurt() {
    let mut seed = 11u64;
    let mut next = || {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        seed >> 33
    };
    for round in 0..20_000 {
        let mut file = [written(), next_generation(false), next_generation(true)][round % 3].clone();
        file.truncate(400);
        for _ in 0..1 + next() % 6 {
            let at = next() as usize % file.len();
            file[at] = if next() % 2 == 0 { next() as u8 } else { 0xff };
        }
        let _ = all(&file);
    }
    assert!(all(b"").is_err() && all(b"\n\r\r\n").is_err() && all(&[0; 100]).is_err());
    let raw = [&0xa1b2_c3d4u32.to_le_bytes()[..], &[0; 16], &101u32.to_le_bytes()].concat();
    assert!(all(&raw).unwrap_err().contains("link type 101"));
}
