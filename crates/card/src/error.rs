//! Why a configuration was refused: always with the file, the place in it, the variable that named it and
//! the cause, because the reader of the message is the one who can repair it.

use softdpu_status::{Code, Error};
use std::fmt;

/// A machine could not be made from its configuration. The text is complete and is one line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    variable: Option<&'static str>,
    file: Option<String>,
    place: Option<(usize, usize)>,
    cause: String,
}

impl ConfigError {
    /// An error without place.
    pub(crate) fn new(cause: impl Into<String>) -> ConfigError {
        let cause = cause.into().trim_end().replace('\n', " ");
        ConfigError { variable: None, file: None, place: None, cause }
    }

    /// An error at a byte offset of the text of a file.
    pub(crate) fn at(text: &str, offset: usize, cause: impl Into<String>) -> ConfigError {
        ConfigError { place: Some(line_and_column(text, offset)), ..ConfigError::new(cause) }
    }

    /// The same, with the name of the file.
    pub(crate) fn in_file(self, file: impl Into<String>) -> ConfigError {
        ConfigError { file: Some(file.into()), ..self }
    }

    /// The same, with the environment variable it came through.
    pub(crate) fn with_variable(self, variable: &'static str) -> ConfigError {
        ConfigError { variable: Some(variable), ..self }
    }

    /// The environment variable that brought the configuration, if one did.
    pub fn variable(&self) -> Option<&str> {
        self.variable
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// Line and column in the file, both from 1, the column in characters.
    pub fn place(&self) -> Option<(usize, usize)> {
        self.place
    }

    /// What is wrong, without the place.
    pub fn cause(&self) -> &str {
        &self.cause
    }
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// One line: `SOFTDPU_CONFIG: topology.toml:3:8: cause`.
impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(variable) = self.variable {
            write!(f, "{variable}: ")?;
        }
        match (&self.file, self.place) {
            (Some(file), Some((line, column))) => write!(f, "{file}:{line}:{column}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, Some((line, column))) => write!(f, "line {line}, column {column}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.cause)
    }
}

impl std::error::Error for ConfigError {}

/// The code of the small error type; the text is lost, so log it first.
impl From<ConfigError> for Error {
    fn from(_: ConfigError) -> Error {
        Error::new(Code::BadConfig, "the configuration of the software cards was refused")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "a = 1\nbé = 2\n";
        assert_eq!(line_and_column(text, 0), (1, 1));
        assert_eq!(line_and_column(text, 5), (1, 6));
        assert_eq!(line_and_column(text, 6), (2, 1));
        assert_eq!(line_and_column(text, 8), (2, 2), "inside é");
        assert_eq!(line_and_column(text, 9), (2, 3));
        assert_eq!(line_and_column(text, 999), (3, 1));
        assert_eq!(line_and_column("", 0), (1, 1));
    }

    #[test]
    fn the_text_names_variable_file_place_and_cause() {
        let error =
            ConfigError::at("x\ny", 2, "bad\nthing\n").in_file("t.toml").with_variable("SOFTDPU_CONFIG");
        assert_eq!(error.to_string(), "SOFTDPU_CONFIG: t.toml:2:1: bad thing");
        assert_eq!(ConfigError::new("no").with_variable("SOFTDPU_SIDE").to_string(), "SOFTDPU_SIDE: no");
        assert_eq!(Error::from(error).code(), Code::BadConfig);
    }
}
