//! A look at Rust source without its comments and texts.
//!
//! Not a Rust parser: it knows comments, strings and characters, so that what remains is code, line for line and
//! column for column, in which words and braces can be counted.

/// The source with the content of comments, strings and characters replaced by blanks.
pub(crate) fn code(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut out = bytes.to_vec();
    let mut i = 0;
    while i < bytes.len() {
        let end = match bytes[i] {
            b'/' if bytes[i + 1..].starts_with(b"/") => find(bytes, i, b"\n").unwrap_or(bytes.len()),
            b'/' if bytes[i + 1..].starts_with(b"*") => block_comment(bytes, i),
            b'"' => string(bytes, i),
            b'r' if !word_before(bytes, i) => raw_string(bytes, i).unwrap_or(i + 1),
            b'\'' => character(bytes, i),
            _ => i + 1,
        };
        if end > i + 1 {
            let keep_quotes = bytes[i] == b'"';
            for (k, byte) in out[i..end].iter_mut().enumerate() {
                let quote = keep_quotes && (k == 0 || i + k + 1 == end);
                if *byte != b'\n' && !quote {
                    *byte = b' ';
                }
            }
        }
        i = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn find(bytes: &[u8], from: usize, wanted: &[u8]) -> Option<usize> {
    bytes[from..].windows(wanted.len()).position(|w| w == wanted).map(|at| from + at)
}

fn word_before(bytes: &[u8], at: usize) -> bool {
    // `br"..."` is a raw string as well, so a lone b in front does not make a word.
    let before = |n: usize| at.checked_sub(n).map(|k| bytes[k]);
    let is_word = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    if before(1) == Some(b'b') { is_word(before(2)) } else { is_word(before(1)) }
}

fn block_comment(bytes: &[u8], start: usize) -> usize {
    let mut depth = 0usize;
    let mut i = start;
    while i < bytes.len() {
        if bytes[i..].starts_with(b"/*") {
            depth += 1;
            i += 2;
        } else if bytes[i..].starts_with(b"*/") {
            depth -= 1;
            i += 2;
            if depth == 0 {
                return i;
            }
        } else {
            i += 1;
        }
    }
    bytes.len()
}

fn string(bytes: &[u8], start: usize) -> usize {
    let mut i = start + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' => i += 2,
            b'"' => return i + 1,
            _ => i += 1,
        }
    }
    bytes.len()
}

fn raw_string(bytes: &[u8], start: usize) -> Option<usize> {
    let hashes = bytes[start + 1..].iter().take_while(|b| **b == b'#').count();
    if bytes.get(start + 1 + hashes) != Some(&b'"') {
        return None;
    }
    let mut close = vec![b'"'];
    close.extend(std::iter::repeat_n(b'#', hashes));
    let end = find(bytes, start + hashes + 2, &close).map_or(bytes.len(), |at| at + close.len());
    Some(end)
}

/// The end of a character; a lifetime is one quote long.
fn character(bytes: &[u8], start: usize) -> usize {
    match bytes.get(start + 1) {
        Some(b'\\') => find(bytes, start + 3, b"'").map_or(bytes.len(), |at| at + 1),
        Some(first) => {
            let width = match first {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            if bytes.get(start + 1 + width) == Some(&b'\'') { start + width + 2 } else { start + 1 }
        }
        None => start + 1,
    }
}

/// Where a word stands in code: line numbers from 1, with what follows it.
pub(crate) fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    code.match_indices(word).filter_map(move |(at, _)| {
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = &code[at + word.len()..];
        let alone = !is_word(code[..at].chars().next_back()) && !is_word(after.chars().next());
        alone.then(|| (code[..at].matches('\n').count() + 1, after))
    })
}

/// Name, first line and number of lines of every function with a body.
pub(crate) fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut found = Vec::new();
    for (line, after) in words(code, "fn") {
        let name: String =
            after.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if name.is_empty() {
            continue;
        }
        if let Some(lines) = body(after) {
            found.push((name, line, lines));
        }
    }
    found
}

/// Lines from here to the closing brace of the body; none when a semicolon comes first.
fn body(after: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut brackets = 0usize;
    for (at, c) in after.char_indices() {
        match c {
            '(' | '[' => brackets += 1,
            ')' | ']' => brackets = brackets.saturating_sub(1),
            ';' if depth == 0 && brackets == 0 => return None,
            '{' => depth += 1,
            '}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(after[..at].matches('\n').count() + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_remains() {
        let source = "let a = \"unsafe \\\" x\"; // unsafe\n/* unsafe /* deep */ unsafe */ let b = 'u';\n\
                      let c = r#\"unsafe \"quoted\" \"#; let d: &'static str = b'\\''; unsafe_word(); unsafe { }\n";
        let code = code(source);
        assert_eq!(code.len(), source.len());
        let places: Vec<_> = words(&code, "unsafe").map(|(line, _)| line).collect();
        assert_eq!(places, [3]);
        assert!(code.contains("'static str"));
    }

    #[test]
    fn functions_are_measured() {
        let code = "fn a() {\n    if x {\n    }\n}\ntrait T {\n    fn b(&self, n: [u8; 4]);\n}\nfn c() { }\n";
        assert_eq!(functions(code), [("a".to_owned(), 1, 4), ("c".to_owned(), 8, 1)]);
    }
}
