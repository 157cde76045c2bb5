//! Why a plan was refused.

use std::fmt;

/// A plan was refused. The text is one line, and names the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanError {
    file: Option<String>,
    place: Option<(usize, usize)>,
    cause: String,
}

impl PlanError {
    pub(super) fn new(cause: impl Into<String>) -> PlanError {
        let cause = cause.into().trim_end().replace('\n', " ");
        PlanError { file: None, place: None, cause }
    }

    pub(super) fn at(text: &str, offset: usize, cause: impl Into<String>) -> PlanError {
        PlanError { place: Some(line_and_column(text, offset)), ..PlanError::new(cause) }
    }

    pub(super) fn in_file(self, file: &str) -> PlanError {
        PlanError { file: Some(file.to_owned()), ..self }
    }

    /// Line and column, both from 1, the column in characters.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    /// What is wrong, without the place.
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

/// Line and column of a byte offset, both from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let offset = text.floor_char_boundary(offset);
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// `plan.toml:3:8: cause`.
impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.place) {
            (Some(file), Some((line, column))) => write!(f, "{file}:{line}:{column}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some((line, column))) => write!(f, "line {line}, column {column}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.cause)
    }
}

impl std::error::Error for PlanError {}
