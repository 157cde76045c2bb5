//! Finds the functions that a C header declares.
//!
//! Not a C parser: the house style puts a stability mark, or `static inline`, in front of every function, and
//! macros, types and comments are taken away first.

/// A function found in a header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Declaration {
    /// Its name.
    pub(crate) name: String,
    /// The mark in front of it.
    pub(crate) mark: Mark,
}

/// What stands in front of a declared function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `DOCA_STABLE`
    Stable,
    /// `DOCA_EXPERIMENTAL`
    Experimental,
    /// `static inline`
    Inline,
    /// none of these, which is a fault
    None,
}

/// The functions that a header declares or defines, in order.
pub(crate) fn functions(header: &str) -> Vec<Declaration> {
    statements(&without_directives(&without_comments(header))).iter().filter_map(|s| function(s)).collect()
}

fn without_comments(text: &str) -> String {
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        out.push(' ');
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out.lines().map(|l| l.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// Takes preprocessor lines away.
pub(crate) fn without_directives(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut continued = false;
    for line in text.lines() {
        let directive = continued || line.trim_start().starts_with('#');
        continued = directive && line.trim_end().ends_with('\\');
        if !directive {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// Cuts at top-level semicolons and at the end of function bodies; the inside of braces is left out, and the
/// braces of `extern "C"` do not count.
fn statements(text: &str) -> Vec<String> {
    let text = text.replace("extern \"C\" {", " ");
    let mut found = Vec::new();
    let mut current = String::new();
    let mut depth = 0usize;
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && current.contains('(') && !current.trim_start().starts_with("typedef") {
                    found.push(std::mem::take(&mut current));
                }
            }
            ';' if depth == 0 => found.push(std::mem::take(&mut current)),
            _ if depth == 0 => current.push(c),
            _ => {}
        }
    }
    found
}

/// Takes `__attribute__((...))` away, wherever it stands.
pub(crate) fn without_attributes(statement: &str) -> String {
    let mut out = String::new();
    let mut rest = statement;
    while let Some(at) = rest.find("__attribute__") {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut depth = 0i32;
        let end = rest.char_indices().find(|(_, c)| {
            depth += i32::from(*c == '(') - i32::from(*c == ')');
            *c == ')' && depth == 0
        });
        rest = end.map_or("", |(end, _)| &rest[end + 1..]);
    }
    out + rest
}

/// The function that a statement declares, if it does.
pub(crate) fn function(statement: &str) -> Option<Declaration> {
    let statement = without_attributes(statement);
    let statement = statement.trim();
    let head = statement.split('(').next()?.trim_end();
    if head.len() == statement.len() || statement.starts_with("typedef") {
        return None;
    }
    let words: Vec<&str> =
        head.split(|c: char| c.is_whitespace() || c == '*').filter(|w| !w.is_empty()).collect();
    let name = *words.last()?;
    if words.len() < 2 || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let mark = match words[0] {
        "DOCA_STABLE" => Mark::Stable,
        "DOCA_EXPERIMENTAL" => Mark::Experimental,
        "static" => Mark::Inline,
        _ => Mark::None,
    };
    Some(Declaration { name: name.to_owned(), mark })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_functions_and_nothing_else() {
        let header = "\
#define doca_macro(x) \\\n\tdoca_other(x)\n\
extern \"C\" {\n\
/* int doca_comment(void); */\n\
struct doca_x;\nenum e { A = 1, B };\n\
typedef void (*doca_cb_t)(int a);\ntypedef void(doca_fn_t)(int a);\n\
DOCA_STABLE\nstruct doca_x *doca_one(int a,\n\t\t int b);\n\
DOCA_EXPERIMENTAL\nvoid doca_two(void); // int doca_not(void);\n\
static inline int doca_three(int a)\n{\n\treturn doca_one(a, a);\n}\n\
DOCA_STABLE __attribute__((format(printf, 1, 2)))\nint doca_four(const char *f, ...);\n\
int doca_bare(void);\n}\n";
        let found: Vec<_> = functions(header).into_iter().map(|d| (d.name, d.mark)).collect();
        let expected = [
            ("doca_one", Mark::Stable),
            ("doca_two", Mark::Experimental),
            ("doca_three", Mark::Inline),
            ("doca_four", Mark::Stable),
            ("doca_bare", Mark::None),
        ];
        assert_eq!(found, expected.map(|(n, m)| (n.to_owned(), m)));
    }
}
