//! Lines of the file: events in the form that Chrome's and Perfetto's viewers read.

use crate::record::sink::BETWEEN;
use itoa::Buffer;

/// Lines as they are written.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    text: Vec<u8>,
}

/// One line: an object whose members are added one after the other.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    text: &'a mut Vec<u8>,
    is_first: bool,
}

impl Lines {
    /// Bytes that wait.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Takes what waits.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let room = self.text.capacity();
        core::mem::replace(&mut self.text, Vec::with_capacity(room))
    }

    /// One more line: phase, process and thread are in every one.
    pub(crate) fn line(
        &mut self,
        phase: &str,
        pid: u32,
        tid: u32,
        name: &str,
        fill: impl FnOnce(&mut Line<'_>),
    ) {
        self.text.push(b'{');
        let mut line = Line { text: &mut self.text, is_first: true };
        line.word("ph", phase).number("pid", pid.into()).number("tid", tid.into()).word("name", name);
        fill(&mut line);
        self.text.push(b'}');
        self.text.extend_from_slice(BETWEEN);
    }
}

impl Line<'_> {
    fn name(&mut self, name: &str) {
        if !self.is_first {
            self.text.push(b',');
        }
        self.is_first = false;
        self.text.push(b'"');
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
    }

    /// A text without anything that needs an escape.
    pub(crate) fn word(&mut self, name: &str, value: &str) -> &mut Self {
        debug_assert!(!value.contains(|c: char| c.is_control() || c == '"' || c == '\\'), "{value}");
        self.name(name);
        self.text.push(b'"');
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'"');
        self
    }

    /// Any text.
    pub(crate) fn text(&mut self, name: &str, value: &str) -> &mut Self {
        self.name(name);
        self.text.extend_from_slice(serde_json::Value::from(value).to_string().as_bytes());
        self
    }

    /// A number.
    pub(crate) fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.name(name);
        self.text.extend_from_slice(Buffer::new().format(value).as_bytes());
        self
    }

    /// Nanoseconds, written as microseconds.
    pub(crate) fn time(&mut self, name: &str, nanos: u64) -> &mut Self {
        self.number(name, nanos / 1000);
        let rest = (nanos % 1000) as u16;
        if rest != 0 {
            let digit = |n: u16| b'0' + (n % 10) as u8;
            self.text.extend_from_slice(&[b'.', digit(rest / 100), digit(rest / 10), digit(rest)]);
        }
        self
    }

    /// A number that tells flows or tasks apart.
    pub(crate) fn id(&mut self, name: &str, value: u64) -> &mut Self {
        let mut digits = *b"0x0000000000000000";
        for (at, place) in digits[2..].iter_mut().rev().enumerate() {
            *place = b"0123456789abcdef"[(value >> (4 * at)) as usize & 15];
        }
        let zeros = (value.leading_zeros() as usize / 4).min(15);
        self.name(name);
        self.text.extend_from_slice(b"\"0x");
        self.text.extend_from_slice(&digits[2 + zeros..]);
        self.text.push(b'"');
        self
    }

    /// An object in this one.
    pub(crate) fn object(&mut self, name: &str, fill: impl FnOnce(&mut Line<'_>)) -> &mut Self {
        self.name(name);
        self.text.push(b'{');
        fill(&mut Line { text: self.text, is_first: true });
        self.text.push(b'}');
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_json() {
        let mut lines = Lines::default();
        lines.line("X", 1, 2, "copy", |line| {
            line.time("a", 1_234_005).time("b", 7_000).id("c", 0).id("d", 0x1f).text("e", "a \"b\"\n");
            line.object("f", |f| {
                f.number("g", u64::MAX);
            });
        });
        let text = String::from_utf8(lines.take()).unwrap();
        assert_eq!(
            text,
            "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"copy\",\"a\":1234.005,\"b\":7,\"c\":\"0x0\",\"d\":\"0x1f\",\
             \"e\":\"a \\\"b\\\"\\n\",\"f\":{\"g\":18446744073709551615}},\n"
        );
        assert_eq!(lines.len(), 0);
    }
}
