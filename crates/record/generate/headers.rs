//! Reads the C headers: signatures of functions and of callbacks, values of enums, which structures are open.
//!
//! No C parser: the headers are ours and regular. What it cannot read stops the build.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A parameter: its type without its name.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) of: String,
    pub(crate) name: String,
}

/// A function, or the type of one.
#[derive(Clone, Debug)]
pub(crate) struct Signature {
    pub(crate) returns: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// A type of functions of the program. `plain`: the type of a function, not of a pointer to one.
#[derive(Clone, Debug)]
pub(crate) struct Callback {
    pub(crate) name: String,
    pub(crate) plain: bool,
    pub(crate) signature: Signature,
}

/// An enum and what is known of its values.
#[derive(Clone, Debug)]
pub(crate) struct Enumeration {
    pub(crate) name: String,
    pub(crate) values: Vec<(String, i64)>,
}

/// All headers as one text without comments and directives.
#[derive(Debug)]
pub(crate) struct Headers {
    text: String,
}

impl Headers {
    pub(crate) fn read(folder: &Path) -> Self {
        let entries = fs::read_dir(folder).expect("the folder of the headers");
        let mut files: Vec<_> = entries.map(|entry| entry.expect("a header").path()).collect();
        files.sort();
        let mut text = String::new();
        for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "h")) {
            text.push_str(&bare(&fs::read_to_string(file).expect("a header")));
        }
        Self { text }
    }

    /// The declaration of a function.
    pub(crate) fn function(&self, name: &str) -> Signature {
        let at = word(&self.text, name).unwrap_or_else(|| panic!("{name} is declared in no header"));
        let begin = self.text[..at].rfind([';', '{', '}']).map_or(0, |i| i + 1);
        let returns = self.text[begin..at].split_whitespace().filter(|w| !is_attribute(w));
        let open = at + self.text[at..].find('(').expect("a parameter list");
        Signature {
            returns: returns.collect::<Vec<_>>().join(" "),
            parameters: parameters(&self.text[open..]),
        }
    }

    /// The types of functions that programs hand over.
    pub(crate) fn callbacks(&self) -> Vec<Callback> {
        let typedefs = self.text.split("typedef ").skip(1).filter_map(|t| Some(&t[..t.find(';')?]));
        typedefs
            .filter_map(|text| {
                let (returns, rest) = text.split_once('(')?;
                let (name, list) = rest.split_once(')')?;
                let plain = !name.trim_start().starts_with('*');
                Some(Callback {
                    name: name.trim_matches([' ', '*']).to_owned(),
                    plain,
                    signature: Signature { returns: returns.trim().to_owned(), parameters: parameters(list) },
                })
            })
            .collect()
    }

    /// Names of structures and unions whose fields are declared.
    pub(crate) fn open(&self) -> BTreeSet<String> {
        let heads = self.text.split('{').filter_map(|before| {
            let mut words = before.rsplit(char::is_whitespace).filter(|w| !w.is_empty());
            let (name, kind) = (words.next()?, words.next()?);
            matches!(kind, "struct" | "union").then(|| format!("{kind} {name}"))
        });
        heads.collect()
    }

    /// The enums, as far as their values are plain numbers.
    pub(crate) fn enumerations(&self) -> Vec<Enumeration> {
        let bodies = self.text.split("enum ").skip(1).filter_map(|text| {
            let (name, rest) = text.split_once('{')?;
            let name = name.trim();
            let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
            plain.then_some((name, rest.split_once('}')?.0))
        });
        bodies.map(|(name, body)| Enumeration { name: name.to_owned(), values: values(body) }).collect()
    }
}

/// The members of an enum up to the first whose value is not understood.
fn values(body: &str) -> Vec<(String, i64)> {
    let (mut next, mut found) = (0, Vec::new());
    for member in body.split(',').map(str::trim).filter(|m| !m.is_empty()) {
        let (name, value) = match member.split_once('=') {
            Some((name, value)) => (name.trim(), number(value)),
            None => (member, Some(next)),
        };
        let Some(value) = value else { break };
        next = value + 1;
        found.push((name.to_owned(), value));
    }
    found
}

/// A number, or one shifted.
fn number(text: &str) -> Option<i64> {
    let text = text.trim().trim_matches(['(', ')']);
    if let Some((one, by)) = text.split_once("<<") {
        return number(one)?.checked_shl(u32::try_from(number(by)?).ok()?);
    }
    let digits = text.trim().trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x") {
        Some(hexadecimal) => i64::from_str_radix(hexadecimal, 16).ok(),
        None => digits.parse().ok(),
    }
}

/// The list of parameters after an open bracket.
fn parameters(text: &str) -> Vec<Parameter> {
    let (mut depth, mut begin, mut list) = (0, 0, Vec::new());
    let text = text.strip_prefix('(').unwrap_or(text);
    let mut end = text.len();
    for (i, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => {
                end = i;
                break;
            }
            ')' => depth -= 1,
            ',' if depth == 0 => {
                list.push(&text[begin..i]);
                begin = i + 1;
            }
            _ => {}
        }
    }
    list.push(&text[begin..end]);
    list.into_iter().map(parameter).filter(|p| p.of != "void").collect()
}

/// `const struct x *name` or `uint32_t name[]`; the name may be absent.
fn parameter(text: &str) -> Parameter {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (text, array) = match text.split_once('[') {
        Some((before, _)) => (before.to_owned(), " *"),
        None => (text, ""),
    };
    let at = text.rfind(|c: char| !(c.is_alphanumeric() || c == '_')).map_or(0, |i| i + 1);
    let (of, name) = text.split_at(at);
    if of.is_empty() || name.is_empty() {
        return Parameter { of: format!("{text}{array}"), name: String::new() };
    }
    Parameter { of: format!("{}{array}", of.trim()), name: name.to_owned() }
}

fn is_attribute(word: &str) -> bool {
    word.starts_with("DOCA_")
        || word.starts_with("__attribute__")
        || word.contains("printf")
        || word == "7)))"
        || word == "6,"
}

/// Where a function of this name is declared.
fn word(text: &str, name: &str) -> Option<usize> {
    let edge = |c: Option<char>| c.is_none_or(|c| !(c.is_alphanumeric() || c == '_'));
    text.match_indices(name).map(|(at, _)| at).find(|&at| {
        let rest = &text[at + name.len()..];
        edge(text[..at].chars().next_back()) && rest.trim_start().starts_with('(')
    })
}

/// Without comments, directives and what they continue.
fn bare(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        out.push(' ');
        rest = rest[at..].split_once("*/").map_or("", |(_, after)| after);
    }
    out.push_str(rest);
    let out = out.replace("\\\n", " ");
    let lines = out.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .fold(String::new(), |all, line| all + line + "\n")
}
