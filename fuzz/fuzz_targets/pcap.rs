//! Capture files: any bytes are read to an end or refused, in bounded memory; what was read and written again reads the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_net::pcap::{Reader, Writer};

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = Reader::new(file) else { return };
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let (mut frame, mut frames) = (Vec::new(), Vec::new());
    while let Ok(Some(record)) = reader.next(&mut frame) {
        assert_eq!(record.len, frame.len());
        assert!(frame.len() <= file.len());
        writer.frame(record.stamp, &[&frame]).expect("memory");
        frames.push(frame.clone());
    }
    let written = writer.into_inner();
    let mut again = Reader::new(&written[..]).expect("a file of ours");
    for expected in frames {
        assert!(again.next(&mut frame).expect("a record of ours").is_some());
        assert_eq!(frame, expected);
    }
    assert_eq!(again.next(&mut frame), Ok(None));
});
