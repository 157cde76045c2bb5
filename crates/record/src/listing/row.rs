//! One line of a listing.

use std::fmt;

use serde_json::{Map, Value, json};

/// What one entry says, or both ends of a call that nothing happened within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The number of a call.
    pub number: Option<usize>,
    /// The thread, counted from 0.
    pub thread: usize,
    /// How many calls and functions of the program it is within.
    pub depth: usize,
    /// The function, or the type of a function of the program.
    pub function: String,
    /// A function of the program.
    pub callback: bool,
    pub(crate) begins: bool,
    pub(crate) arguments: Vec<(&'static str, String)>,
    pub(crate) result: Option<String>,
    pub(crate) taken: Vec<(&'static str, String)>,
    pub(crate) place: Option<String>,
}

impl Row {
    /// Whether a row is the end of this one.
    pub(crate) fn is_ended_by(&self, next: &Self) -> bool {
        let ends = !next.begins && next.thread == self.thread && next.depth == self.depth;
        ends && next.number == self.number && next.function == self.function && next.callback == self.callback
    }

    /// This begin with that end.
    pub(crate) fn ended(self, end: Self) -> Self {
        Self { begins: false, result: end.result, taken: end.taken, ..self }
    }

    /// Whether one of its values is this handle.
    pub(crate) fn names(&self, handle: &str) -> bool {
        let mut values = self.arguments.iter().chain(&self.taken).map(|(_, value)| value).chain(&self.result);
        values.any(|value| value.split([' ', '[', ']']).any(|word| word == handle))
    }

    /// The row as an object.
    #[must_use]
    pub fn json(&self) -> Value {
        let object = |pairs: &[(&str, String)]| {
            Value::Object(pairs.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect())
        };
        let mut row = Map::new();
        row.insert("thread".into(), json!(self.thread));
        row.insert("depth".into(), json!(self.depth));
        row.insert(if self.callback { "callback" } else { "function" }.into(), json!(self.function));
        row.extend(self.number.map(|number| ("call".into(), json!(number))));
        if !self.arguments.is_empty() {
            row.insert("arguments".into(), object(&self.arguments));
        }
        row.extend(self.result.as_ref().map(|result| ("result".into(), json!(result))));
        if !self.taken.is_empty() {
            row.insert("values".into(), object(&self.taken));
        }
        row.extend(self.place.as_ref().map(|place| ("place".into(), json!(place))));
        Value::Object(row)
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.number.map_or_else(String::new, |n| n.to_string());
        write!(f, "{number:>7}  {}  {:indent$}", self.thread, "", indent = 2 * self.depth)?;
        if self.callback {
            f.write_str("-> ")?;
        }
        let end = self.arguments.is_empty() && self.place.is_none() && !self.begins && self.number.is_some();
        write!(f, "{}", self.function)?;
        let arguments: Vec<_> =
            self.arguments.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        match arguments.is_empty() && (end || self.callback && !self.begins) {
            true => f.write_str(" ...")?,
            false => write!(f, "({})", arguments.join(", "))?,
        }
        match &self.result {
            Some(result) => write!(f, " = {result}")?,
            None if self.begins => f.write_str(" {")?,
            None => {}
        }
        for (name, value) in &self.taken {
            write!(f, ", {name}: {value}")?;
        }
        match &self.place {
            Some(place) => write!(f, "    [{place}]"),
            None => Ok(()),
        }
    }
}
