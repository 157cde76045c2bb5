//! The little of roff that manual pages need.

use std::fmt::Write as _;

/// A page in the making.
pub(super) struct Roff(String);

impl Roff {
    /// A page of this name in this section.
    pub(super) fn new(name: &str, section: u8, manual: &str) -> Self {
        let version = env!("CARGO_PKG_VERSION");
        let upper = name.to_uppercase();
        Self(format!(
            ".\\\" Made by cargo xtask man; do not edit.\n.TH \"{upper}\" {section} \"\" \"SoftDPU {version}\" \"{manual}\"\n.nh\n.ad l\n"
        ))
    }

    /// A section.
    pub(super) fn section(&mut self, heading: &str) {
        let _ = writeln!(self.0, ".SH {}", heading.to_uppercase());
    }

    /// A section inside of one.
    pub(super) fn subsection(&mut self, heading: &str) {
        let _ = writeln!(self.0, ".SS {heading}");
    }

    /// A line of running text.
    pub(super) fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{}", escaped(text));
    }

    /// A new paragraph.
    pub(super) fn paragraph(&mut self) {
        self.0.push_str(".PP\n");
    }

    /// Lines as they are.
    pub(super) fn verbatim(&mut self, text: &str) {
        let _ = writeln!(self.0, ".PP\n.nf\n{}\n.fi", lines(text));
    }

    /// Lines as they are, in bold.
    pub(super) fn bold(&mut self, text: &str) {
        let _ = writeln!(self.0, ".nf\n.ft B\n{}\n.ft\n.fi\n.PP", lines(text));
    }

    /// Text in which paragraphs are parted by empty lines, and lines that are set in stay as they are.
    pub(super) fn prose(&mut self, text: &str) {
        for part in text.split("\n\n").filter(|p| !p.trim().is_empty()) {
            if part.lines().any(|l| l.starts_with("  ")) {
                self.verbatim(part.trim_end());
            } else {
                self.paragraph();
                part.lines().for_each(|l| self.line(l.trim()));
            }
        }
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.0.replace(".PP\n.PP\n", ".PP\n")
    }
}

fn lines(text: &str) -> String {
    text.lines().map(escaped).collect::<Vec<_>>().join("\n")
}

/// Text in which nothing is a request.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\t', "        ");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_request() {
        assert_eq!(escaped(".so a\\b --c"), "\\&.so a\\eb \\-\\-c");
        let mut page = Roff::new("x", 3, "M");
        page.prose("One\nline.\n\n  set in\n    more\n\nLast.");
        let text = page.finish();
        assert!(text.ends_with(".PP\nOne\nline.\n.PP\n.nf\n  set in\n    more\n.fi\n.PP\nLast.\n"), "{text}");
    }
}
