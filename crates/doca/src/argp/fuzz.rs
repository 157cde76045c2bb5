//! Seeded random input for the readers: command lines made of known flags and rubbish, and JSON texts that
//! are mutated. A reader must answer, never panic; and what it answers must match how the input was made.

use super::json::{Json, Rules};
use super::model::{Command, Kind, Param};
use super::parse::{self, CommandLine};
use super::value::Value;
use softdpu_status::Code;
use std::sync::Arc;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        let len = self.below(most + 1);
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn name(text: &str) -> Option<Box<[u8]>> {
    Some(text.as_bytes().into())
}

fn tree() -> Arc<Command> {
    let param = |short: Option<&str>, long: Option<&str>, kind| Param {
        short: short.and_then(name),
        long: long.and_then(name),
        kind: Some(kind),
        ..Param::default()
    };
    let many = Param { multiple: true, inherited: true, ..param(Some("m"), Some("many"), Kind::Int) };
    let text = param(Some("rp-st"), Some("text"), Kind::String);
    let flag = param(Some("b"), Some("bool"), Kind::Boolean);
    let lonely = Param { singular: true, ..param(None, Some("lonely"), Kind::Boolean) };
    let device = Param { cli_only: true, ..param(Some("d"), Some("device"), Kind::Device) };
    let number = param(Some("f"), None, Kind::Double);
    let leaf = Command {
        name: (*b"leaf").into(),
        params: vec![Arc::new(param(Some("v"), Some("own"), Kind::Int))],
        ..Command::default()
    };
    let group = Command { name: (*b"group").into(), commands: vec![Arc::new(leaf)], ..Command::default() };
    Arc::new(Command {
        name: (*b"prog").into(),
        params: [many, text, flag, lonely, device, number].map(Arc::new).into(),
        commands: vec![Arc::new(group)],
        ..Command::default()
    })
}

const WORDS: [&str; 26] = [
    "-m",
    "--many",
    "--many=7",
    "12",
    "-1",
    "-rp-st",
    "--text",
    "--text=",
    "--text=a=b",
    "-b",
    "--bool",
    "--bool=1",
    "--lonely",
    "-d",
    "pci/03:00.0,x",
    "-f",
    "1.5",
    "-l",
    "60",
    "--sdk-log-level=30",
    "-j",
    "group",
    "leaf",
    "-v",
    "--own",
    "--",
];

#[test]
fn random_command_lines_get_an_answer() {
    let root = tree();
    let mut random = Random(1);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..200_000 {
        let words: Vec<Vec<u8>> = (0..random.below(7))
            .map(|_| if random.below(10) == 0 { random.bytes(12) } else { random.pick(&WORDS).into() })
            .collect();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        let mut line = CommandLine::default();
        match parse::read(&root, &words, &mut line) {
            Ok(()) => accepted += 1,
            Err(refusal) => {
                assert!(
                    matches!(refusal.code, Code::InvalidValue | Code::NotSupported),
                    "{words:?}: {refusal:?}"
                );
                assert!(!refusal.reason.is_empty());
                refused += 1;
            }
        }
        assert!(!line.path.is_empty() && Arc::ptr_eq(&line.path[0], &root));
        for (i, one) in line.occurrences.iter().enumerate() {
            let again = line.occurrences[..i].iter().any(|other| Arc::ptr_eq(&other.param, &one.param));
            assert!(!again || one.param.multiple, "{words:?}");
        }
    }
    // Both ways are exercised.
    assert!(accepted > 10_000 && refused > 10_000, "{accepted} {refused}");
}

#[test]
fn what_was_written_is_what_is_read() {
    let root = tree();
    let mut random = Random(2);
    for _ in 0..20_000 {
        let mut words: Vec<String> = Vec::new();
        let mut expected: Vec<Value> = Vec::new();
        let mut used = [false; 2];
        for _ in 0..random.below(6) {
            match random.below(3) {
                0 => {
                    let value = random.next() as i32;
                    match random.below(3) {
                        0 => words.extend(["-m".into(), value.to_string()]),
                        1 => words.extend(["--many".into(), value.to_string()]),
                        _ => words.push(format!("--many={value}")),
                    }
                    expected.push(Value::Int(value));
                }
                1 if !std::mem::replace(&mut used[0], true) => {
                    let value = random.pick(&["-b", "--many", "", "a b", "--", "=x", "pfad/é"]);
                    match random.below(2) {
                        0 => words.extend(["-rp-st".into(), value.into()]),
                        _ => words.push(format!("--text={value}")),
                    }
                    expected.push(Value::String(std::ffi::CString::new(value).expect("no zero byte")));
                }
                2 if !std::mem::replace(&mut used[1], true) => {
                    words.push(random.pick(&["-b", "--bool"]).into());
                    expected.push(Value::Boolean);
                }
                _ => {}
            }
        }
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        let mut line = CommandLine::default();
        parse::read(&root, &words, &mut line).unwrap_or_else(|refusal| panic!("{words:?}: {refusal:?}"));
        let read: Vec<_> = line.occurrences.into_iter().map(|one| one.value).collect();
        assert_eq!(read, expected, "{words:?}");
    }
}

const FILE: &str = r#"/* licence */
{
    // levels
    "doca_general_flags": { "log-level": 60, "sdk-log-level": 30, },
    "doca_program_flags": {
        "many": [1, -2, 3,],
        "text": "a \"quoted\" // text",
        "bool": true, "lonely": false,
    },
    "doca_dpdk_flags": { "devices": [{"device": "sf", "id": "4", "sft": true}], "core-mask": 3, "flags": "" },
}
"#;

fn rules(path: &[Arc<Command>]) -> Rules<'_> {
    Rules { path, dpdk_program: true, pedantic: true }
}

#[test]
fn a_whole_file_is_read() {
    let path = [tree()];
    let file = rules(&path).read(FILE.as_bytes()).expect("file");
    assert_eq!((file.log_level, file.sdk_log_level), (Some(60), Some(30)));
    let values: Vec<_> = file.occurrences.into_iter().map(|one| one.value).collect();
    let text = Value::String(c"a \"quoted\" // text".into());
    assert_eq!(values, [Value::Int(1), Value::Int(-2), Value::Int(3), text, Value::Boolean]);
    assert_eq!(file.dpdk.len(), 3);
}

#[test]
fn mutated_files_get_an_answer() {
    let path = [tree()];
    let rules = rules(&path);
    let mut random = Random(3);
    let pieces = [
        &b"/*"[..],
        b"*/",
        b"//",
        b",",
        b"\"",
        b"\\",
        b"{",
        b"}",
        b"[",
        b"]",
        b"null",
        b"1e9999",
        b"\0",
        b"\xff",
    ];
    let (mut good, mut bad) = (0, 0);
    for _ in 0..50_000 {
        let mut text = FILE.as_bytes().to_vec();
        for _ in 0..=random.below(3) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => text[at] = random.next() as u8,
                1 => text.truncate(at.max(1)),
                2 => {
                    text.splice(at..at, random.pick(&pieces).iter().copied());
                }
                _ => {
                    let end = (at + random.below(8)).min(text.len() - 1);
                    text.drain(at.min(end)..end);
                }
            }
        }
        match rules.read(&text) {
            Ok(_) => good += 1,
            Err(refusal) => {
                let known = matches!(refusal.code, Code::IoFailed | Code::InvalidValue | Code::NotSupported);
                assert!(known, "{refusal:?}");
                bad += 1;
            }
        }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} {bad}");
}

#[test]
fn random_bytes_are_no_file() {
    let mut random = Random(4);
    for _ in 0..50_000 {
        let text = random.bytes(64);
        // Whatever is accepted must be a value; most of it is not.
        if let Ok(json) = Json::read(&text) {
            assert!(!json.shown().is_empty());
        }
    }
}

#[test]
fn plain_json_is_read_as_it_is() {
    // An oracle: random values written by another writer come back unchanged.
    fn value(random: &mut Random, depth: usize) -> (Json, serde_json::Value) {
        match random.below(if depth == 0 { 4 } else { 6 }) {
            0 => (Json::Null, serde_json::Value::Null),
            1 => (Json::Bool(true), true.into()),
            2 => {
                let number = random.next() as i64;
                (Json::Int(number), number.into())
            }
            3 => {
                let text: String = String::from_utf8_lossy(&random.bytes(10)).replace('/', "//,]}/*");
                (Json::String(text.clone()), text.into())
            }
            4 => {
                let items = (0..random.below(4)).map(|_| value(random, depth - 1));
                let (ours, theirs): (Vec<_>, Vec<_>) = items.unzip();
                (Json::Array(ours), serde_json::Value::Array(theirs))
            }
            _ => {
                let mut ours = Vec::new();
                let mut theirs = serde_json::Map::new();
                for i in 0..random.below(4) {
                    let (own, their) = value(random, depth - 1);
                    ours.push((format!("k{i}"), own));
                    theirs.insert(format!("k{i}"), their);
                }
                (Json::Object(ours), serde_json::Value::Object(theirs))
            }
        }
    }
    let mut random = Random(5);
    for _ in 0..20_000 {
        let (ours, theirs) = value(&mut random, 3);
        let text = if random.below(2) == 0 { theirs.to_string() } else { format!("{theirs:#}") };
        assert_eq!(Json::read(text.as_bytes()), Ok(ours), "{text}");
    }
}
