//! Searching the manual: every section with its words, for the script that looks through them on the reader's machine.
//!
//! The index is a script, too, because pages that are opened as files may load scripts but no data.

use super::page::escaped;
use super::source::{Book, page_of};
use serde_json::json;
use std::fmt::Write as _;

/// The script of all pages.
pub(crate) const SCRIPT: &str = include_str!("search.js");

/// A heading of a page with what stands below it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Section {
    /// Name of the heading; empty for the beginning of a page.
    pub(crate) anchor: String,
    /// The heading as text; empty likewise.
    pub(crate) heading: String,
    /// All that is said below it.
    pub(crate) text: String,
}

impl Section {
    /// Where it is, from any other page.
    fn place(&self, page: &str) -> String {
        if self.anchor.is_empty() { page.to_owned() } else { format!("{page}#{}", self.anchor) }
    }
}

/// A chapter: its page, its title, its sections.
pub(crate) type Found<'a> = (String, &'a str, Vec<Section>);

/// The sections of a rendered chapter.
pub(crate) fn sections(html: &str) -> Vec<Section> {
    let mut found = Vec::new();
    // What lies between two headings with a name; the first part has none of its own.
    for (n, part) in html.split("<h2 id=\"").enumerate() {
        let (anchor, heading, rest) = match part.split_once("\">").filter(|_| n > 0) {
            Some((anchor, rest)) => {
                let (heading, rest) = rest.split_once("</h2>").unwrap_or((rest, ""));
                (anchor, heading, rest)
            }
            None => ("", "", part),
        };
        let section = Section { anchor: anchor.into(), heading: words(heading), text: words(rest) };
        if !section.text.is_empty() || n > 0 {
            found.push(section);
        }
    }
    found
}

/// HTML without tags, with single blanks.
fn words(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut inside = false;
    for c in html.chars() {
        match c {
            '<' => {
                inside = true;
                text.push(' ');
            }
            '>' if inside => inside = false,
            _ if !inside => text.push(c),
            _ => {}
        }
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The index as a script: place, chapter, heading and text of every section.
pub(crate) fn index(chapters: &[Found<'_>]) -> String {
    let mut text = String::from("window.SECTIONS = [\n");
    for (page, title, sections) in chapters {
        for section in sections {
            let entry = json!([section.place(page), title, section.heading, section.text]);
            let _ = writeln!(text, "{entry},");
        }
    }
    text + "];\n"
}

/// The first page: every chapter with its headings.
pub(crate) fn contents(book: &Book, chapters: &[Found<'_>]) -> String {
    let mut text = String::from(
        "<h1>SoftDPU</h1>\n<p>The DOCA Core programming model on a card made of software.</p>\n",
    );
    let parts = book.parts();
    for (page, title, sections) in chapters {
        if let Some((part, _)) = parts.iter().find(|(_, first)| page_of(first) == *page) {
            let _ = writeln!(text, "<h2>{}</h2>", escaped(part));
        }
        let _ = writeln!(text, "<h3><a href=\"{page}\">{}</a></h3>", escaped(title));
        let links = sections.iter().filter(|section| !section.anchor.is_empty()).map(|section| {
            format!("<li><a href=\"{}\">{}</a></li>\n", section.place(page), escaped(&section.heading))
        });
        let links: String = links.collect();
        if !links.is_empty() {
            let _ = write!(text, "<ul class=\"headings\">\n{links}</ul>\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_begin_at_headings() {
        let html = "<h1>T</h1>\n<p>a &lt;b&gt; <code>c</code></p>\n<h2 id=\"d-e\">D <code>e</code></h2>\n<p>f\n g</p>";
        let section = |anchor: &str, heading: &str, text: &str| Section {
            anchor: anchor.into(),
            heading: heading.into(),
            text: text.into(),
        };
        assert_eq!(sections(html), [section("", "", "T a <b> c"), section("d-e", "D e", "f g")]);
    }

    #[test]
    fn the_index_is_a_script_that_holds_any_text() {
        let section = Section { anchor: "x".into(), heading: "\"q\"".into(), text: "</script> \\".into() };
        let text = index(&[("p.html".into(), "P", vec![section])]);
        assert!(text.contains(r#"["p.html#x","P","\"q\"","</script> \\"],"#), "{text}");
    }
}
