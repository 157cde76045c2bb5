//! What a C header says of its functions: prototype and comment.

use crate::declare;

/// A function as its header shows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Prototype {
    pub(super) name: String,
    /// As it is written, without marks and attributes.
    pub(super) text: String,
    /// The comment above it; empty where it has none.
    pub(super) comment: String,
}

/// The comment at the head of a header, without the licence line and the file's name: title and text.
pub(super) fn head(header: &str) -> (String, String) {
    let comment = header.split_once("/*").and_then(|(_, rest)| rest.split_once("*/")).map_or("", |(c, _)| c);
    let text = uncommented(comment);
    let text = text.trim().strip_prefix("SPDX-License-Identifier: MIT OR Apache-2.0").unwrap_or(&text).trim();
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let title = first.split_once(": ").map_or(first, |(_, title)| title);
    (title.to_owned(), rest.trim_matches('\n').to_owned())
}

/// The functions of a header in their order.
pub(super) fn prototypes(header: &str) -> Vec<Prototype> {
    let text = declare::without_directives(header).replace("extern \"C\" {", " ");
    let mut found = Vec::new();
    let (mut rest, mut statement, mut comment, mut depth) =
        (text.as_str(), String::new(), String::new(), 0usize);
    while let Some(letter) = rest.chars().next() {
        if let Some((inside, after)) = rest.strip_prefix("/*").and_then(|r| r.split_once("*/")) {
            if depth == 0 && statement.trim().is_empty() {
                comment = inside.strip_prefix('*').map(uncommented).unwrap_or_default();
            }
            rest = after;
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 && letter != ';' => statement.push(letter),
            _ => {}
        }
        let body_ends =
            letter == '}' && statement.contains('(') && !statement.trim_start().starts_with("typedef");
        if depth == 0 && (letter == ';' || body_ends) {
            let whole = std::mem::take(&mut statement);
            let comment = std::mem::take(&mut comment);
            if let Some(declaration) = declare::function(&whole) {
                found.push(Prototype { name: declaration.name, text: clean(&whole), comment });
            }
        }
    }
    found
}

/// A declaration in lines of moderate length.
fn clean(statement: &str) -> String {
    let statement = declare::without_attributes(statement);
    let words: Vec<&str> = statement
        .split_whitespace()
        .filter(|w| !matches!(*w, "DOCA_STABLE" | "DOCA_EXPERIMENTAL" | "static" | "inline"))
        .collect();
    let line = words.join(" ");
    match line.split_once('(') {
        Some((head, arguments)) if line.len() > 76 => {
            format!("{head}(\n    {};", arguments.replace(", ", ",\n    "))
        }
        _ => format!("{line};"),
    }
}

/// The inside of a comment without the stars at its side.
fn uncommented(comment: &str) -> String {
    let lines = comment.lines().map(|l| {
        let l = l.trim_start().strip_prefix('*').unwrap_or(l.trim_start());
        l.strip_prefix(' ').unwrap_or(l).trim_end()
    });
    lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "/*\n * SPDX-License-Identifier: MIT OR Apache-2.0\n *\n * doca_x.h: a thing\n *\n * Says\n *   more.\n */\n\
#ifndef X\nextern \"C\" {\n/* Section */\n/**\n * Makes one.\n *\n * Errors: none.\n */\nDOCA_STABLE\nint doca_x_make(int a);\n\
typedef void (*cb)(int);\nint doca_x_bare(void);\n/** Inline. */\nstatic inline int doca_x_in(int a)\n{\n\tif (a) { return 1; }\n\treturn 0;\n}\n}\n";

    #[test]
    fn comments_belong_to_what_follows() {
        assert_eq!(head(HEADER), ("a thing".to_owned(), "Says\n  more.".to_owned()));
        let found = prototypes(HEADER);
        let names: Vec<_> =
            found.iter().map(|p| (p.name.as_str(), p.text.as_str(), p.comment.as_str())).collect();
        let expected = [
            ("doca_x_make", "int doca_x_make(int a);", "Makes one.\n\nErrors: none."),
            ("doca_x_bare", "int doca_x_bare(void);", ""),
            ("doca_x_in", "int doca_x_in(int a);", "Inline."),
        ];
        assert_eq!(names, expected);
    }
}
