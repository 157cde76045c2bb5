//! Random schemas, records, texts and templates: whatever is written stays readable, and says what was reported.

use serde_json::Value;
use softdpu_telemetry::netflow::{Builder, FieldSpec, Template};
use softdpu_telemetry::{Field, FieldType, LabelSetId, RecordType, Schema};
use std::fs;

struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| self.next() as u8).collect()
    }
    fn text(&mut self) -> String {
        let n = self.below(12) as usize;
        String::from_utf8_lossy(&self.bytes(n)).into_owned()
    }
}

const TYPES: [&str; 12] = [
    "bool",
    "char",
    "int8_t",
    "short",
    "int",
    "long",
    "unsigned char",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "float",
    "double",
];

#[test]
fn random_records_of_random_types_become_whole_documents() {
    let folder = std::env::temp_dir().join(format!("softdpu-telemetry-random-{}", std::process::id()));
    for seed in 1..60 {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15u64.wrapping_mul(seed));
        let limit = 1 + dice.below(3000);
        let mut builder = Schema::builder(dice.text() + "x")
            .data_root(&folder)
            .serve_metrics(None)
            .write_files()
            .buf_size(limit);
        let mut sizes = Vec::new();
        for index in 0..1 + dice.below(5) {
            let mut record = RecordType::new(format!("type {index} {}", dice.text()));
            for field in 0..1 + dice.below(6) {
                let kind = FieldType::from_name(TYPES[dice.below(12) as usize]).expect("a type");
                let field = Field::new(format!("{field}{}", dice.text()), kind);
                record = record.field(field.array(1 + dice.below(20) as u16));
            }
            sizes.push(record.size());
            builder.add_type(record).expect("a type");
        }
        let mut source =
            builder.start().expect("a schema").source(dice.text() + "s", dice.text()).expect("a source");
        let mut taken = 0;
        for _ in 0..50 {
            let index = dice.below(sizes.len() as u64 + 1) as usize;
            let size = sizes.get(index).copied().unwrap_or(8);
            let count = dice.below(5) as usize;
            let records = dice.bytes(size * count);
            match source.report(index as u8, &records) {
                Ok(()) => taken += count,
                Err(_) => assert!(index == sizes.len() || size as u64 > limit),
            }
        }
        drop(source);
        let mut written = 0;
        for folder in fs::read_dir(&folder).expect("the folder").flatten().filter(|e| e.path().is_dir()) {
            for file in fs::read_dir(folder.path()).expect("files").flatten() {
                let text = fs::read_to_string(file.path()).expect("UTF-8");
                for line in text.lines() {
                    let line: Value = serde_json::from_str(line).expect("JSON");
                    assert!(line["data"].as_object().is_some_and(|data| !data.is_empty()));
                    written += 1;
                }
            }
        }
        assert_eq!(written, taken, "seed {seed}");
        fs::remove_dir_all(&folder).expect("the folder");
    }
}

#[test]
fn random_metrics_become_whole_documents() {
    let folder = std::env::temp_dir().join(format!("softdpu-telemetry-random-m-{}", std::process::id()));
    let mut dice = Dice(77);
    let schema = Schema::builder("m").data_root(&folder).serve_metrics(None).write_files();
    let source = schema.start().expect("a schema").source("s", "").expect("a source");
    let mut metrics = source.metrics().expect("a context");
    metrics.set_flush_interval(None);
    for _ in 0..2000 {
        let (a, b) = (dice.text(), dice.text());
        let set = LabelSetId(dice.below(20) as usize);
        // Refusals are as good as successes: nothing may be left half done.
        let _ = match dice.below(6) {
            0 => metrics.add_label_names(&[&a, &b]).map(|_| ()),
            1 => metrics.add_constant_label(&a, &b),
            2 => metrics.counter(dice.next(), &a, dice.next(), set, &[&a, &b]),
            3 => metrics.count(0, &b, dice.next(), LabelSetId::NONE, &[]),
            4 => metrics.gauge(dice.next(), &a, f64::from_bits(dice.next()), set, &[&b, &a]),
            _ => metrics.flush(),
        };
    }
    drop((metrics, source));
    for file in fs::read_dir(folder.join("m")).expect("files").flatten() {
        for line in fs::read_to_string(file.path()).expect("UTF-8").lines() {
            let document: Value = serde_json::from_str(line).expect("JSON");
            assert!(document["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].is_array());
        }
    }
    fs::remove_dir_all(folder).expect("the folder");
}

#[test]
fn random_templates_make_packets_that_add_up() {
    let collector = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    collector.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a timeout");
    for seed in 1..100 {
        let mut dice = Dice(0x1234_5678_9abc_def1u64.wrapping_mul(seed));
        let mut template = Template::new();
        for _ in 0..dice.below(12) {
            let (kind, length) = (dice.below(300) as u16, dice.below(400) as u16);
            let refused = template.add(FieldSpec { kind, length }).is_err();
            assert_eq!(refused, kind == 0 || length == 0);
        }
        let mut builder = Builder::new(1);
        builder.collector("127.0.0.1").port(collector.local_addr().expect("an address").port());
        let mut exporter = builder.start().expect("an exporter");
        let size = template.size();
        // As much as the collector's socket takes while nobody reads.
        let count = dice.below(70).min(60_000 / (size as u64 + 200)) as usize;
        let bytes = dice.bytes(size * count);
        let records: Vec<&[u8]> = bytes.chunks_exact(size.max(1)).collect();
        let sent = exporter.send(&template, &records);
        assert_eq!(sent.is_err(), size == 0);
        if size == 0 || count == 0 {
            continue;
        }
        drop(exporter);
        let mut got = Vec::new();
        while got.len() < bytes.len() {
            let mut packet = [0; 65536];
            let n = collector.recv(&mut packet).expect("a packet");
            let mut at = 20;
            while at < n {
                let short = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
                let (id, length) = (short(at), short(at + 2));
                assert!(length >= 4 && at + length <= n, "seed {seed}");
                if id >= 256 {
                    let body = (length - 4) / size * size;
                    got.extend_from_slice(&packet[at + 4..at + 4 + body]);
                }
                at += length;
            }
        }
        // Records shorter than a word may be followed by padding that looks like another one of zeroes.
        if size >= 4 {
            assert_eq!(got, bytes, "seed {seed}");
        }
    }
}
