//! Results on stdout: text, tables, JSON.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;

use crate::message::{Failure, Outcome};

/// Writes the text and ends with status 0.
pub(crate) fn print(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// What became of writing to stdout. A reader that went away (`| head`) is not a failure.
pub(crate) fn written(done: io::Result<()>) -> Outcome {
    match done {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(Failure::failed(format!("cannot write: {e}"))),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// One JSON document, indented, with a final newline.
pub(crate) fn json(document: &impl Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(document);
    text.map(|t| t + "\n").map_err(|e| Failure::failed(format!("cannot write JSON: {e}")))
}

/// A number of bytes for people: `3 bytes`, `64 KiB`, `1.5 GiB`.
pub(crate) fn bytes_text(bytes: u64) -> String {
    let unit = [(30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| bytes >> shift > 0);
    match unit {
        Some((shift, name)) => {
            let exact = bytes as f64 / f64::from(1u32 << shift);
            let text = format!("{exact:.1}");
            format!("{} {name}", text.strip_suffix(".0").unwrap_or(&text))
        }
        None => format!("{bytes} bytes"),
    }
}

/// Columns of text, each as wide as its widest cell, two blanks apart.
#[derive(Debug, Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with a heading.
    pub(crate) fn new(heading: &[&str]) -> Self {
        Self { rows: vec![heading.iter().map(|h| (*h).to_owned()).collect()] }
    }

    /// Adds a line.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The lines; columns whose index is in `right` are aligned to the right.
    pub(crate) fn text(&self, right: &[usize]) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |i: usize| self.rows.iter().filter_map(|r| r.get(i)).map(|c| c.chars().count()).max();
        let widths: Vec<_> = (0..columns).map(|i| width(i).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (i, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let gap = if i == 0 { "" } else { "  " };
                if right.contains(&i) {
                    line += &format!("{gap}{cell:>width$}");
                } else {
                    line += &format!("{gap}{cell:<width$}");
                }
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_the_unit_that_fits() {
        for (bytes, text) in [(3, "3 bytes"), (65536, "64 KiB"), (3 << 29, "1.5 GiB"), (1 << 20, "1 MiB")] {
            assert_eq!(bytes_text(bytes), text);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&["name", "bytes"]);
        table.row(["a".into(), "12345678".into()]);
        table.row(["longer".into(), "1".into()]);
        assert_eq!(table.text(&[1]), "name       bytes\na       12345678\nlonger         1\n");
    }
}
