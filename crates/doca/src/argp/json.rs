//! Parameter files: JSON with comments and trailing commas.
//!
//! Comments and trailing commas are blanked out in place, so that line and column of an error are those
//! of the file; the rest is plain JSON. Objects keep their order and their repeated keys, because flags are
//! handled in the order of the file and a repeated flag is an error.

use super::lookup::{self, Form};
use super::model::{Command, Param, Refusal};
use super::parse::Occurrence;
use super::value::Value;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use softdpu_status::Code;
use std::fmt;
use std::sync::Arc;

/// A JSON value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Double(f64),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The kind of value, for messages.
    pub(crate) fn shown(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "true or false",
            Self::Int(_) => "an integer",
            Self::Double(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }

    /// Reads a whole text.
    pub(crate) fn read(text: &[u8]) -> Result<Self, String> {
        let mut text = text.to_vec();
        blank(&mut text)?;
        serde_json::from_slice(&text).map_err(|error| error.to_string())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Json, E> {
        i64::try_from(value).map(Json::Int).map_err(|_| E::custom("integer out of range"))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.try_reserve(1).map_err(A::Error::custom)?;
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.try_reserve(1).map_err(A::Error::custom)?;
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}

/// Turns comments (`//`, `/* */`) and trailing commas into blanks; line ends stay.
fn blank(text: &mut [u8]) -> Result<(), String> {
    let mut at = 0;
    // A comma that follows a value and after which nothing but blanks has come.
    let mut comma = None;
    let mut after_value = false;
    while at < text.len() {
        match text[at] {
            b'"' => {
                (comma, after_value) = (None, true);
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'/' if text.get(at + 1) == Some(&b'/') => {
                while at < text.len() && text[at] != b'\n' {
                    text[at] = b' ';
                    at += 1;
                }
            }
            b'/' if text.get(at + 1) == Some(&b'*') => {
                let body = &text[at + 2..];
                let Some(length) = body.windows(2).position(|pair| pair == b"*/") else {
                    let line = text[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
                    return Err(format!("comment that begins in line {line} does not end"));
                };
                let end = at + length + 4;
                text[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
                at = end - 1;
            }
            b',' => {
                comma = after_value.then_some(at);
                after_value = false;
            }
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    text[comma] = b' ';
                }
                after_value = true;
            }
            b' ' | b'\t' | b'\r' | b'\n' => {}
            other => (comma, after_value) = (None, !matches!(other, b'{' | b'[' | b':')),
        }
        at += 1;
    }
    Ok(())
}

/// What a parameter file asks for.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) log_level: Option<u32>,
    pub(crate) sdk_log_level: Option<u32>,
    pub(crate) occurrences: Vec<Occurrence>,
    /// Members of `doca_dpdk_flags`.
    pub(crate) dpdk: Vec<(String, Json)>,
}

/// What the file is read against.
#[derive(Debug)]
pub(crate) struct Rules<'a> {
    /// The program, then the commands down to the current one.
    pub(crate) path: &'a [Arc<Command>],
    pub(crate) dpdk_program: bool,
    /// Unknown keys are errors.
    pub(crate) pedantic: bool,
}

impl Rules<'_> {
    /// Reads the text of a parameter file.
    pub(crate) fn read(&self, text: &[u8]) -> Result<File, Refusal> {
        let json = Json::read(text)
            .map_err(|why| Refusal::new(Code::IoFailed, format!("the parameter file is malformed: {why}")))?;
        let mut file = File::default();
        for (key, value) in object("the parameter file", json)? {
            match key.as_str() {
                "doca_general_flags" => self.general(object(&key, value)?, &mut file)?,
                "doca_program_flags" => self.program(object(&key, value)?, &mut file)?,
                "doca_dpdk_flags" if self.dpdk_program => file.dpdk.extend(object(&key, value)?),
                _ => self.unknown("", &key)?,
            }
        }
        Ok(file)
    }

    fn unknown(&self, place: &str, key: &str) -> Result<(), Refusal> {
        if self.pedantic {
            let reason = format!("the parameter file has an unknown key: {place}{key}");
            return Err(Refusal::new(Code::NotSupported, reason));
        }
        Ok(())
    }

    fn general(&self, members: Vec<(String, Json)>, file: &mut File) -> Result<(), Refusal> {
        for (key, value) in members {
            let room = match key.as_str() {
                "log-level" => &mut file.log_level,
                "sdk-log-level" => &mut file.sdk_log_level,
                _ => {
                    self.unknown("doca_general_flags.", &key)?;
                    continue;
                }
            };
            let level = match value {
                Json::Int(number) => u32::try_from(number).ok(),
                _ => None,
            };
            let level = level.filter(|number| crate::log::Level::from_number(*number).is_some());
            let level = level.ok_or_else(|| {
                Refusal::invalid(format!("the parameter file: {key} must be one of 10, 20 ... 70"))
            })?;
            if room.replace(level).is_some() {
                return Err(Refusal::invalid(format!("the parameter file has {key} more than once")));
            }
        }
        Ok(())
    }

    fn program(&self, members: Vec<(String, Json)>, file: &mut File) -> Result<(), Refusal> {
        for (key, value) in members {
            let param = lookup::param(self.path, Form::Long, key.as_bytes());
            let Some(param) = param.filter(|param| !param.cli_only) else {
                self.unknown("doca_program_flags.", &key)?;
                continue;
            };
            let values = match value {
                Json::Array(values) if param.multiple => values,
                value => vec![value],
            };
            for value in values {
                self.take(&param, &value, file)?;
            }
        }
        Ok(())
    }

    fn take(&self, param: &Arc<Param>, json: &Json, file: &mut File) -> Result<(), Refusal> {
        if !param.multiple && file.occurrences.iter().any(|earlier| Arc::ptr_eq(&earlier.param, param)) {
            return Err(Refusal::invalid(format!("flag {} is given more than once", param.shown())));
        }
        if let Some(value) = Value::from_json(param, json)? {
            file.occurrences.push(Occurrence { param: Arc::clone(param), value });
        }
        Ok(())
    }
}

fn object(place: &str, json: Json) -> Result<Vec<(String, Json)>, Refusal> {
    match json {
        Json::Object(members) => Ok(members),
        other => Err(Refusal::invalid(format!("{place} must be an object, not {}", other.shown()))),
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn comments_and_trailing_commas_are_nothing() {
        let text = br#"/* licence
            more */ {
            // a comment, with a comma
            "a": 1, // end
            "b": ["x,]", "// no comment", "\"/*",],
            "c": {"d": 2.5,} /* , */ ,
        }"#;
        let json = Json::read(text).expect("JSON");
        let Json::Object(members) = json else { panic!("object") };
        assert_eq!(members[0], ("a".into(), Json::Int(1)));
        let strings = ["x,]", "// no comment", "\"/*"].map(|text| Json::String(text.into()));
        assert_eq!(members[1], ("b".into(), Json::Array(strings.to_vec())));
        assert_eq!(members[2], ("c".into(), Json::Object(vec![("d".into(), Json::Double(2.5))])));
    }

    #[test]
    fn what_is_no_json_stays_an_error() {
        for bad in [
            "",
            "{",
            "{\"a\" 1}",
            "[,]",
            "{,}",
            "[[],,]",
            "/* open",
            "{\"a\":1}}",
            "[1,,]",
            "\"open",
            "\"\\",
            "/",
            "nul",
        ] {
            assert!(Json::read(bad.as_bytes()).is_err(), "{bad:?}");
        }
        let deep = vec![b'['; 100_000];
        assert!(Json::read(&deep).is_err());
    }

    #[test]
    fn errors_name_the_place_in_the_file() {
        let error = Json::read(b"// one\n/* two\n three */\n{ \"a\": oops }").unwrap_err();
        assert!(error.contains("line 4"), "{error}");
    }

    #[test]
    fn order_and_repeated_keys_are_kept() {
        let json = Json::read(br#"{"z":1,"a":2,"z":3}"#).expect("JSON");
        let Json::Object(members) = json else { panic!("object") };
        let keys: Vec<_> = members.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "z"]);
    }
}
