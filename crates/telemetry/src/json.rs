//! The few values that records are written with, straight into the text: a line has no tree of values built for it.

use serde_json::Value;
use std::io::Write;

/// A text, quoted.
pub(crate) fn text(out: &mut Vec<u8>, text: &str) {
    // Writing to memory does not fail, and a text always serializes.
    let _ = serde_json::to_writer(out, text);
}

/// Anything that prints as a JSON number or word.
pub(crate) fn plain(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    let _ = write!(out, "{value}");
}

/// A floating-point number. What JSON has no number for becomes a text, as in the JSON form of protocol buffers.
pub(crate) fn float(out: &mut Vec<u8>, value: f64) {
    if value.is_finite() {
        let _ = serde_json::to_writer(out, &value);
    } else {
        out.extend_from_slice(unusual(value).as_bytes());
    }
}

/// As [`float`], for 32 bits: the shortest digits that give the same number again.
pub(crate) fn float32(out: &mut Vec<u8>, value: f32) {
    if value.is_finite() {
        let _ = serde_json::to_writer(out, &value);
    } else {
        out.extend_from_slice(unusual(value.into()).as_bytes());
    }
}

/// As [`float`], as a value of a tree.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or_else(|| unusual(value).trim_matches('"').into(), Value::Number)
}

fn unusual(value: f64) -> &'static str {
    if value.is_nan() {
        "\"NaN\""
    } else if value > 0.0 {
        "\"Infinity\""
    } else {
        "\"-Infinity\""
    }
}
