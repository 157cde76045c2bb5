//! A chapter as HTML.

use super::source::Target;
use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};

/// A chapter's HTML, and what it leads to.
#[derive(Default)]
pub(crate) struct Body {
    pub(crate) html: String,
    /// Names of its headings.
    pub(crate) anchors: BTreeSet<String>,
    /// Pages and headings it leads to.
    pub(crate) links: Vec<(String, String)>,
    /// Files it shows or leads to: place in the manual, place in the workspace.
    pub(crate) copies: BTreeMap<String, String>,
    pub(crate) findings: Vec<String>,
}

/// Makes HTML of a chapter; `resolve` says where its links lead.
pub(crate) fn render(text: &str, resolve: &mut dyn FnMut(&str) -> Target) -> Body {
    let mut body = Body::default();
    let mut events: Vec<Event<'_>> =
        Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH).collect();
    name_headings(&mut events, &mut body);
    for event in &mut events {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                follow(dest_url, &mut body, resolve)
            }
            Event::Html(_) | Event::InlineHtml(_) => body.findings.push("HTML in a chapter".into()),
            _ => {}
        }
    }
    let events = without_hidden_lines(events, &mut body);
    pulldown_cmark::html::push_html(&mut body.html, events.into_iter());
    body
}

fn follow(target: &mut CowStr<'_>, body: &mut Body, resolve: &mut dyn FnMut(&str) -> Target) {
    let new = match resolve(target) {
        Target::Page(page, anchor) => {
            let new = if anchor.is_empty() { page.clone() } else { format!("{page}#{anchor}") };
            body.links.push((page, anchor));
            new
        }
        Target::File(place, from) => {
            body.copies.insert(place.clone(), from);
            place
        }
        Target::Away => return,
        Target::Nowhere => {
            body.findings.push(format!("the link {target} leads nowhere"));
            return;
        }
    };
    *target = new.into();
}

/// Gives every heading the name by which links call it.
fn name_headings(events: &mut [Event<'_>], body: &mut Body) {
    for at in 0..events.len() {
        if !matches!(events[at], Event::Start(Tag::Heading { .. })) {
            continue;
        }
        let mut words = String::new();
        for event in events[at..].iter().take_while(|e| !matches!(e, Event::End(TagEnd::Heading(_)))) {
            if let Event::Text(text) | Event::Code(text) = event {
                words.push_str(text);
            }
        }
        let name = slug(&words);
        if let Event::Start(Tag::Heading { id, level, .. }) = &mut events[at] {
            if *level != HeadingLevel::H1 && !body.anchors.insert(name.clone()) {
                body.findings.push(format!("two headings {name:?}"));
            }
            *id = Some(name.into());
        }
    }
}

/// As mdbook has it: letters and digits, small, with hyphens between.
pub(crate) fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|c| match c {
        c if c.is_alphanumeric() || c == '_' || c == '-' => Some(c.to_ascii_lowercase()),
        c if c.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.collect()
}

/// Lines of Rust programs that are there for the compiler alone begin with `# `.
fn without_hidden_lines<'a>(events: Vec<Event<'a>>, body: &mut Body) -> Vec<Event<'a>> {
    let mut out = Vec::with_capacity(events.len());
    let mut program: Option<String> = None;
    for event in events {
        match (&event, &mut program) {
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(kind))), _) => {
                if kind.is_empty() {
                    body.findings.push("a block without a language".into());
                }
                let language = kind.split(',').next().unwrap_or_default().to_owned();
                if language == "rust" {
                    program = Some(String::new());
                }
                out.push(Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(language.into()))));
            }
            (Event::Start(Tag::CodeBlock(CodeBlockKind::Indented)), _) => {
                body.findings.push("an indented block, whose language nobody knows".into());
            }
            (Event::Text(text), Some(program)) => program.push_str(text),
            (Event::End(TagEnd::CodeBlock), Some(text)) => {
                let hidden = |line: &str| line == "#" || line.starts_with("# ");
                let shown: String =
                    text.split_inclusive('\n').filter(|l| !hidden(l.trim_end_matches('\n'))).collect();
                out.push(Event::Text(shown.into()));
                program = None;
                out.push(event);
            }
            _ => out.push(event),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str) -> Body {
        render(text, &mut |target| match target {
            "a.md" => Target::Page("a.html".into(), String::new()),
            "f.c" => Target::File("files/f.c".into(), "f.c".into()),
            _ => Target::Nowhere,
        })
    }

    #[test]
    fn links_and_headings() {
        let body = rendered("# Title\n\n## The `doca_pe` of it\n\n[a](a.md) [f](f.c) [x](x.md)\n");
        assert!(body.html.contains("<h2 id=\"the-doca_pe-of-it\">"), "{}", body.html);
        assert!(body.html.contains("href=\"a.html\"") && body.html.contains("href=\"files/f.c\""));
        assert_eq!(body.findings, ["the link x.md leads nowhere"]);
        assert_eq!(body.copies.get("files/f.c").map(String::as_str), Some("f.c"));
    }

    #[test]
    fn lines_for_the_compiler_are_hidden() {
        let body = rendered("```rust\n# use a;\n#[test]\nlet b = 1;\n#\n```\n");
        assert!(body.html.contains("#[test]\nlet b = 1;\n") && !body.html.contains("use a"), "{}", body.html);
        assert_eq!(rendered("```\nx\n```\n").findings.len(), 1);
    }
}
