//! Arguments for DPDK's own start: the words before `--`, and `doca_dpdk_flags` of a parameter file.
#![expect(unsafe_code, reason = "an argument array for C")]

use super::json::Json;
use super::model::Refusal;
use std::ffi::{c_char, c_int};

/// Splits the words after the program's name at the first `--`. Without one all belong to the program.
pub(crate) fn split<'a, 'b>(words: &'b [&'a [u8]]) -> (&'b [&'a [u8]], &'b [&'a [u8]]) {
    match words.iter().position(|word| *word == b"--") {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (&[], words),
    }
}

/// Turns `doca_dpdk_flags` into words.
pub(crate) fn from_json(members: &[(String, Json)], pedantic: bool) -> Result<Vec<String>, Refusal> {
    let wrong = |key: &str, expected: &str| {
        Refusal::invalid(format!("the parameter file: doca_dpdk_flags.{key} must be {expected}"))
    };
    let mut words = Vec::new();
    for (key, value) in members {
        match (key.as_str(), value) {
            ("devices", Json::Array(devices)) => {
                for device in devices {
                    let device = allow_list_entry(device).ok_or_else(|| {
                        wrong(key, "an array of strings or of objects with \"device\" and \"id\"")
                    })?;
                    words.extend(["-a".to_owned(), device]);
                }
            }
            ("devices", _) => return Err(wrong(key, "an array")),
            ("core-mask", Json::Int(mask)) => words.extend(["-c".to_owned(), format!("{mask:#x}")]),
            ("core-mask", Json::String(mask)) => words.extend(["-c".to_owned(), mask.clone()]),
            ("core-mask", _) => return Err(wrong(key, "an integer")),
            ("core-list", Json::String(list)) => words.extend(["-l".to_owned(), list.clone()]),
            ("core-list", _) => return Err(wrong(key, "a string")),
            ("flags", Json::String(flags)) => words.extend(flags.split_whitespace().map(str::to_owned)),
            ("flags", _) => return Err(wrong(key, "a string")),
            _ if pedantic => {
                let reason = format!("the parameter file has an unknown key: doca_dpdk_flags.{key}");
                return Err(Refusal::new(softdpu_status::Code::NotSupported, reason));
            }
            _ => {}
        }
    }
    Ok(words)
}

/// A device for `-a`: as written, or from kind and number, further members as device arguments.
fn allow_list_entry(device: &Json) -> Option<String> {
    let members = match device {
        Json::String(device) => return Some(device.clone()),
        Json::Object(members) => members,
        _ => return None,
    };
    let scalar = |json: &Json| match json {
        Json::String(text) => Some(text.clone()),
        Json::Int(number) => Some(number.to_string()),
        Json::Bool(value) => Some(u8::from(*value).to_string()),
        _ => None,
    };
    let member = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let id = scalar(member("id")?)?;
    let mut entry = match member("device")? {
        Json::String(kind) if kind == "sf" => format!("auxiliary:mlx5_core.sf.{id}"),
        Json::String(_) => id,
        _ => return None,
    };
    for (key, value) in members.iter().filter(|(key, _)| key != "id" && key != "device") {
        // The switch for scalable functions has a longer name in DPDK.
        let key = if key == "sft" { "sft_en" } else { key };
        entry.push_str(&format!(",{key}={}", scalar(value)?));
    }
    Some(entry)
}

/// An argument array as `main` gets one: NULL-terminated, the callee may permute it and write the words.
#[derive(Debug)]
pub(crate) struct Arguments {
    words: Vec<*mut [u8]>,
    array: Vec<*mut c_char>,
}

// SAFETY: the words are owned heap memory that only the callee of `as_main` writes, during its call and as
// long as the program likes; nobody here reads them again.
unsafe impl Send for Arguments {}

impl Arguments {
    /// Copies the words; a word with a zero byte ends there.
    pub(crate) fn new<'a>(words: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let own = |word: &[u8]| {
            let mut word = word.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
            word.push(0);
            Box::into_raw(word.into_boxed_slice())
        };
        let words: Vec<_> = words.into_iter().map(own).collect();
        let mut array: Vec<*mut c_char> = words.iter().map(|word| word.cast()).collect();
        array.push(std::ptr::null_mut());
        Self { words, array }
    }

    /// `argc` and `argv`, good until `self` goes.
    pub(crate) fn as_main(&mut self) -> (c_int, *mut *mut c_char) {
        (c_int::try_from(self.words.len()).unwrap_or(c_int::MAX), self.array.as_mut_ptr())
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        for word in self.words.drain(..) {
            // SAFETY: made by `Box::into_raw` and given back once.
            drop(unsafe { Box::from_raw(word) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_at_the_first_double_dash() {
        let words: [&[u8]; 5] = [b"-a", b"x", b"--", b"-l", b"--"];
        assert_eq!(split(&words), (&words[..2], &words[3..]));
        assert_eq!(split(&words[..2]), (&[][..], &words[..2]));
    }

    #[test]
    fn the_file_gives_words() {
        let Json::Object(members) = Json::read(
            br#"{"devices": [{"device": "sf", "id": "4", "sft": true}, {"device": "pf", "id": "03:00.0"}, "x"],
                 "core-mask": 255, "core-list": "0-3", "flags": " --log-level=pmd:8  -n 4"}"#,
        )
        .expect("JSON") else {
            panic!("object")
        };
        let words = from_json(&members, true).expect("words");
        let expected =
            "-a auxiliary:mlx5_core.sf.4,sft_en=1 -a 03:00.0 -a x -c 0xff -l 0-3 --log-level=pmd:8 -n 4";
        assert_eq!(words.join(" "), expected);
        for bad in [r#"{"devices": 1}"#, r#"{"devices": [1]}"#, r#"{"flags": 1}"#, r#"{"other": 1}"#] {
            let Json::Object(members) = Json::read(bad.as_bytes()).expect("JSON") else { panic!("object") };
            assert!(from_json(&members, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_array_ends_in_null() {
        let mut arguments = Arguments::new([&b"prog"[..], b"-a"]);
        let (argc, argv) = arguments.as_main();
        assert_eq!(argc, 2);
        // SAFETY: the array has `argc` words and the NULL.
        unsafe {
            assert_eq!(*(*argv.add(1)), b'-' as c_char);
            assert!((*argv.add(2)).is_null());
            // What DPDK does: cut a word, permute the array.
            *(*argv) = 0;
            argv.swap(argv.add(1));
        }
    }
}
