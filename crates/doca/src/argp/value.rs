//! Typed values: from the text of a command line or the value of a JSON file.

use super::device::{DeviceText, RepText};
use super::json::Json;
use super::model::{Kind, Param, Refusal, lossy};
use std::ffi::CString;

/// A checked value, ready for the callback.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    String(CString),
    Int(i32),
    Boolean,
    Device(DeviceText),
    DeviceRep(RepText),
    Double(f64),
}

impl Value {
    /// Reads the text of a command line.
    pub(crate) fn from_text(param: &Param, text: &[u8]) -> Result<Self, Refusal> {
        let refuse =
            |what: &str| Refusal::invalid(format!("flag {}: \"{}\" {what}", param.shown(), lossy(text)));
        let number = std::str::from_utf8(text).ok();
        match param.kind() {
            Kind::String => Self::string(param, text),
            Kind::Int => match number.map(str::parse) {
                Some(Ok(value)) => Ok(Self::Int(value)),
                _ => Err(refuse("is not a decimal integer of 32 bits")),
            },
            Kind::Double => match number.map(str::parse::<f64>) {
                Some(Ok(value)) if value.is_finite() => Ok(Self::Double(value)),
                _ => Err(refuse("is not a finite number")),
            },
            Kind::Boolean => Err(refuse("is one word too many: the flag takes no value")),
            Kind::Device => DeviceText::read(text).map(Self::Device).map_err(refuse),
            Kind::DeviceRep => RepText::read(text).map(Self::DeviceRep).map_err(refuse),
        }
    }

    /// Reads one value of a file; `None`: nothing is to be done (a boolean that is false).
    pub(crate) fn from_json(param: &Param, json: &Json) -> Result<Option<Self>, Refusal> {
        let refuse = |expected: &str| {
            Refusal::invalid(format!(
                "flag {}: the parameter file has {} where {expected} is expected",
                param.shown(),
                json.shown()
            ))
        };
        let value = match (param.kind(), json) {
            (Kind::String, Json::String(text)) => Self::string(param, text.as_bytes())?,
            (Kind::String, _) => return Err(refuse("a string")),
            (Kind::Int, Json::Int(value)) => {
                Self::Int(i32::try_from(*value).map_err(|_| refuse("an integer of 32 bits"))?)
            }
            (Kind::Int, _) => return Err(refuse("an integer")),
            (Kind::Boolean, Json::Bool(true)) => Self::Boolean,
            (Kind::Boolean, Json::Bool(false)) => return Ok(None),
            (Kind::Boolean, _) => return Err(refuse("true or false")),
            (Kind::Double, Json::Double(value)) => Self::Double(*value),
            (Kind::Double, Json::Int(value)) => Self::Double(*value as f64),
            (Kind::Double, _) => return Err(refuse("a number")),
            (Kind::Device | Kind::DeviceRep, Json::String(text)) => Self::from_text(param, text.as_bytes())?,
            (Kind::Device | Kind::DeviceRep, _) => return Err(refuse("a device as a string")),
        };
        Ok(Some(value))
    }

    fn string(param: &Param, text: &[u8]) -> Result<Self, Refusal> {
        CString::new(text)
            .map(Self::String)
            .map_err(|_| Refusal::invalid(format!("flag {}: the value has a zero byte", param.shown())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(kind: Kind) -> Param {
        Param { long: Some((*b"x").into()), kind: Some(kind), ..Param::default() }
    }

    fn text(kind: Kind, text: &str) -> Option<Value> {
        Value::from_text(&param(kind), text.as_bytes()).ok()
    }

    #[test]
    fn integers_are_decimal_whole_and_in_range() {
        assert_eq!(text(Kind::Int, "-1"), Some(Value::Int(-1)));
        assert_eq!(text(Kind::Int, "2147483647"), Some(Value::Int(i32::MAX)));
        for bad in ["", "1x", " 1", "0x10", "2147483648", "1.0", "-"] {
            assert_eq!(text(Kind::Int, bad), None, "{bad:?}");
        }
    }

    #[test]
    fn numbers_are_finite() {
        assert_eq!(text(Kind::Double, "2.5e1"), Some(Value::Double(25.0)));
        for bad in ["", "nan", "inf", "1e999", "1,5", "1.0x"] {
            assert_eq!(text(Kind::Double, bad), None, "{bad:?}");
        }
    }

    #[test]
    fn json_values_must_have_the_type() {
        let json = |kind, json| Value::from_json(&param(kind), &json);
        assert_eq!(json(Kind::Boolean, Json::Bool(false)), Ok(None));
        assert_eq!(json(Kind::Boolean, Json::Bool(true)), Ok(Some(Value::Boolean)));
        assert_eq!(json(Kind::Double, Json::Int(3)), Ok(Some(Value::Double(3.0))));
        assert!(json(Kind::Int, Json::Int(1 << 40)).is_err());
        assert!(json(Kind::Int, Json::Double(1.0)).is_err());
        assert!(json(Kind::String, Json::Int(1)).is_err());
        assert!(json(Kind::String, Json::String("a\0b".into())).is_err());
    }
}
