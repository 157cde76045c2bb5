//! What a record consists of: types, their fields, and how packed bytes are read by them.

use crate::{json, refuse};
use serde_json::json;
use softdpu_status::{Code, Result};

/// The type of one value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldType {
    /// One byte, zero or not.
    Bool,
    /// A character; an array of them is a text that ends with its first zero byte.
    Char,
    /// A signed number of 1 byte.
    Int8,
    /// A signed number of 2 bytes.
    Int16,
    /// A signed number of 4 bytes.
    Int32,
    /// A signed number of 8 bytes.
    Int64,
    /// An unsigned number of 1 byte.
    Uint8,
    /// An unsigned number of 2 bytes.
    Uint16,
    /// An unsigned number of 4 bytes.
    Uint32,
    /// An unsigned number of 8 bytes.
    Uint64,
    /// A floating-point number of 4 bytes.
    Float,
    /// A floating-point number of 8 bytes.
    Double,
}

use FieldType::{Bool, Char, Double, Float, Int8, Int16, Int32, Int64, Uint8, Uint16, Uint32, Uint64};

impl FieldType {
    /// Every name a type goes by. The first one of each type is the one that descriptions use.
    const NAMES: [(&'static str, FieldType); 21] = [
        ("bool", Bool),
        ("char", Char),
        ("int8_t", Int8),
        ("int16_t", Int16),
        ("short", Int16),
        ("int32_t", Int32),
        ("int", Int32),
        ("int64_t", Int64),
        ("long", Int64),
        ("long long", Int64),
        ("uint8_t", Uint8),
        ("unsigned char", Uint8),
        ("uint16_t", Uint16),
        ("unsigned short", Uint16),
        ("uint32_t", Uint32),
        ("unsigned int", Uint32),
        ("uint64_t", Uint64),
        ("unsigned long", Uint64),
        ("unsigned long long", Uint64),
        ("float", Float),
        ("double", Double),
    ];

    /// The type that C calls `name`, on a machine whose `long` has 8 bytes.
    #[must_use]
    pub fn from_name(name: &str) -> Option<FieldType> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
    }

    /// The name that descriptions use.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, found)| *found == self).map_or("", |(name, _)| name)
    }

    /// Bytes of one value.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Bool | Char | Int8 | Uint8 => 1,
            Int16 | Uint16 => 2,
            Int32 | Uint32 | Float => 4,
            Int64 | Uint64 | Double => 8,
        }
    }

    /// Appends one value; `bytes` has its size.
    fn write(self, out: &mut Vec<u8>, bytes: &[u8]) {
        // A number of N bytes, in the order of the machine.
        macro_rules! number {
            ($type:ty) => {
                <$type>::from_ne_bytes(bytes.try_into().unwrap_or_default())
            };
        }
        match self {
            Bool => json::plain(out, bytes != [0]),
            Char => json::text(out, &String::from_utf8_lossy(until_zero(bytes))),
            Int8 => json::plain(out, number!(i8)),
            Int16 => json::plain(out, number!(i16)),
            Int32 => json::plain(out, number!(i32)),
            Int64 => json::plain(out, number!(i64)),
            Uint8 => json::plain(out, number!(u8)),
            Uint16 => json::plain(out, number!(u16)),
            Uint32 => json::plain(out, number!(u32)),
            Uint64 => json::plain(out, number!(u64)),
            Float => json::float32(out, number!(f32)),
            Double => json::float(out, number!(f64)),
        }
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

/// A field of a record type.
#[derive(Clone, Debug)]
pub struct Field {
    name: String,
    description: String,
    kind: FieldType,
    len: u16,
}

impl Field {
    /// A single value.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: FieldType) -> Field {
        Field { name: name.into(), description: String::new(), kind, len: 1 }
    }

    /// Says what the value means.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Field {
        self.description = description.into();
        self
    }

    /// Makes it an array of `len` values.
    #[must_use]
    pub fn array(mut self, len: u16) -> Field {
        self.len = len;
        self
    }

    /// Bytes that it takes in a record.
    #[must_use]
    pub fn size(&self) -> usize {
        self.kind.size() * usize::from(self.len)
    }

    fn write(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        if self.len == 1 || self.kind == Char {
            return self.kind.write(out, bytes);
        }
        out.push(b'[');
        for (i, value) in bytes.chunks_exact(self.kind.size()).enumerate() {
            if i > 0 {
                out.push(b',');
            }
            self.kind.write(out, value);
        }
        out.push(b']');
    }
}

/// A kind of record: fields one behind the other, without padding.
#[derive(Clone, Debug)]
pub struct RecordType {
    name: String,
    fields: Vec<Field>,
}

impl RecordType {
    /// A type without fields yet.
    #[must_use]
    pub fn new(name: impl Into<String>) -> RecordType {
        RecordType { name: name.into(), fields: Vec::new() }
    }

    /// Appends a field.
    #[must_use]
    pub fn field(mut self, field: Field) -> RecordType {
        self.fields.push(field);
        self
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of one record.
    #[must_use]
    pub fn size(&self) -> usize {
        self.fields.iter().map(Field::size).sum()
    }

    /// InvalidValue unless every field has a name of its own and at least one value.
    pub(crate) fn check(&self) -> Result<()> {
        let name = &self.name;
        let invalid =
            |line: std::fmt::Arguments<'_>| Err(refuse(Code::InvalidValue, "the type cannot be used", line));
        if name.is_empty() || self.fields.is_empty() {
            return invalid(format_args!(
                "type '{name}': needs a name and at least one field, has {} fields",
                self.fields.len()
            ));
        }
        for (i, field) in self.fields.iter().enumerate() {
            if field.name.is_empty() || field.len == 0 {
                return invalid(format_args!(
                    "type '{name}', field {i} '{}': needs a name and an array length of at least 1, has {}",
                    field.name, field.len
                ));
            }
            if self.fields[..i].iter().any(|before| before.name == field.name) {
                return invalid(format_args!(
                    "type '{name}', field {i}: there is a '{}' already",
                    field.name
                ));
            }
        }
        Ok(())
    }

    /// One record as a JSON object; `bytes` has the size of a record.
    pub(crate) fn write(&self, out: &mut Vec<u8>, bytes: &[u8]) {
        let mut rest = bytes;
        out.push(b'{');
        for (i, field) in self.fields.iter().enumerate() {
            let (value, behind) = rest.split_at(field.size().min(rest.len()));
            rest = behind;
            if i > 0 {
                out.push(b',');
            }
            json::text(out, &field.name);
            out.push(b':');
            field.write(out, value);
        }
        out.push(b'}');
    }

    /// What the type looks like.
    pub(crate) fn describe(&self, index: usize) -> serde_json::Value {
        let mut offset = 0;
        let fields: Vec<_> = self
            .fields
            .iter()
            .map(|f| {
                let at = offset;
                offset += f.size();
                json!({"name": f.name, "description": f.description, "type": f.kind.name(),
                       "array_len": f.len, "offset": at})
            })
            .collect();
        json!({"name": self.name, "index": index, "size": self.size(), "fields": fields})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: FieldType, len: u16, bytes: &[u8]) -> String {
        let mut out = Vec::new();
        RecordType::new("t").field(Field::new("v", kind).array(len)).write(&mut out, bytes);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn names_and_sizes_are_those_of_c() {
        let c = [("short", 2), ("int", 4), ("long", 8), ("unsigned long long", 8), ("float", 4), ("bool", 1)];
        for (name, size) in c {
            assert_eq!(FieldType::from_name(name).unwrap().size(), size, "{name}");
        }
        assert!(FieldType::from_name("int128_t").is_none() && FieldType::from_name("").is_none());
        for (_, kind) in FieldType::NAMES {
            assert_eq!(FieldType::from_name(kind.name()), Some(kind));
        }
    }

    #[test]
    fn values_of_every_kind_are_written() {
        assert_eq!(written(Bool, 1, &[2]), r#"{"v":true}"#);
        assert_eq!(written(Char, 6, b"a\"b\0xx"), r#"{"v":"a\"b"}"#);
        assert_eq!(written(Char, 2, &[0xff, b'z']), "{\"v\":\"\u{fffd}z\"}");
        assert_eq!(written(Int8, 2, &[0xff, 1]), r#"{"v":[-1,1]}"#);
        assert_eq!(written(Int64, 1, &i64::MIN.to_ne_bytes()), r#"{"v":-9223372036854775808}"#);
        assert_eq!(written(Uint64, 1, &u64::MAX.to_ne_bytes()), r#"{"v":18446744073709551615}"#);
        assert_eq!(written(Float, 1, &0.1f32.to_ne_bytes()), r#"{"v":0.1}"#);
        assert_eq!(written(Double, 1, &f64::NAN.to_ne_bytes()), r#"{"v":"NaN"}"#);
        assert_eq!(written(Float, 1, &f32::NEG_INFINITY.to_ne_bytes()), r#"{"v":"-Infinity"}"#);
    }

    #[test]
    fn types_that_cannot_be_written_are_refused() {
        let field = |name: &str| Field::new(name, Int32);
        assert!(RecordType::new("t").check().is_err());
        assert!(RecordType::new("").field(field("a")).check().is_err());
        assert!(RecordType::new("t").field(field("")).check().is_err());
        assert!(RecordType::new("t").field(field("a").array(0)).check().is_err());
        assert!(RecordType::new("t").field(field("a")).field(field("a")).check().is_err());
        assert!(RecordType::new("t").field(field("a")).field(field("b")).check().is_ok());
    }
}
