//! The chapters, as `SUMMARY.md` lists them, with everything included that they include.

use super::TEXT;
use crate::root;
use std::collections::BTreeMap;
use std::path::Path;

/// The manual as text.
pub(crate) struct Book {
    pub(crate) entries: Vec<Entry>,
    pub(crate) findings: Vec<String>,
    /// Documents of the workspace that are a chapter, too: path, chapter.
    documents: BTreeMap<String, String>,
}

/// A line of the table of contents.
pub(crate) enum Entry {
    Part(String),
    Chapter(Chapter),
}

/// A chapter.
pub(crate) struct Chapter {
    pub(crate) title: String,
    /// Its file in the folder of chapters.
    pub(crate) path: String,
    /// Its text, with what it includes.
    pub(crate) text: String,
}

/// Where a link leads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// To a page of the manual and a heading on it, either of which may be empty.
    Page(String, String),
    /// To a file, which is copied: place in the manual, place in the workspace.
    File(String, String),
    /// Out of the manual.
    Away,
    /// Nowhere.
    Nowhere,
}

impl Book {
    /// The chapters in their order.
    pub(crate) fn chapters(&self) -> impl Iterator<Item = &Chapter> {
        self.entries.iter().filter_map(|e| match e {
            Entry::Chapter(chapter) => Some(chapter),
            Entry::Part(_) => None,
        })
    }

    /// The parts, each with the file of its first chapter.
    pub(crate) fn parts(&self) -> Vec<(&str, &str)> {
        let pairs = self.entries.windows(2).filter_map(|pair| match pair {
            [Entry::Part(name), Entry::Chapter(chapter)] => Some((name.as_str(), chapter.path.as_str())),
            _ => None,
        });
        pairs.collect()
    }

    /// Where a link of a chapter leads.
    pub(crate) fn resolve(&self, chapter: &str, target: &str) -> Target {
        if target.contains("://") {
            return Target::Away;
        }
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        if path.is_empty() {
            return Target::Page(page_of(chapter), anchor.to_owned());
        }
        let path = normal(&format!("{TEXT}/{path}"));
        if let Some(chapter) = self.documents.get(&path) {
            return Target::Page(page_of(chapter), anchor.to_owned());
        }
        let inside = path.strip_prefix(&format!("{TEXT}/"));
        if let Some(name) = inside.filter(|name| self.chapters().any(|c| c.path == **name)) {
            return Target::Page(page_of(name), anchor.to_owned());
        }
        match (root::root().join(&path).is_file(), inside) {
            (false, _) => Target::Nowhere,
            (true, Some(name)) => Target::File(name.to_owned(), path),
            (true, None) => Target::File(format!("files/{path}"), path),
        }
    }
}

/// The page of a chapter.
pub(crate) fn page_of(chapter: &str) -> String {
    format!("{}.html", chapter.strip_suffix(".md").unwrap_or(chapter))
}

/// Reads everything.
pub(crate) fn load() -> Result<Book, String> {
    let mut book = Book { entries: Vec::new(), findings: Vec::new(), documents: BTreeMap::new() };
    for (n, line) in root::read(&format!("{TEXT}/SUMMARY.md"))?.lines().enumerate() {
        let line = line.trim();
        if let Some(part) = line.strip_prefix("# ") {
            if n > 0 {
                book.entries.push(Entry::Part(part.to_owned()));
            }
        } else if let Some((title, path)) = item(line) {
            let text = root::read(&format!("{TEXT}/{path}"))?;
            let (text, documents) = include(&text, &mut book.findings, path);
            book.documents.extend(documents.into_iter().map(|d| (d, path.to_owned())));
            book.entries.push(Entry::Chapter(Chapter {
                title: title.to_owned(),
                path: path.to_owned(),
                text,
            }));
        } else if !line.is_empty() {
            return Err(format!("{TEXT}/SUMMARY.md:{}: neither a part nor a chapter", n + 1));
        }
    }
    let listed: Vec<&str> = book.chapters().map(|c| c.path.as_str()).collect();
    let forgotten = root::files(TEXT, |p| root::has_extension(p, "md"))
        .into_iter()
        .filter(|f| !f.ends_with("/SUMMARY.md") && !listed.iter().any(|l| *f == format!("{TEXT}/{l}")))
        .map(|f| format!("{f} stands in no table of contents"))
        .collect::<Vec<_>>();
    book.findings.extend(forgotten);
    Ok(book)
}

/// `- [title](path)` or `[title](path)`.
fn item(line: &str) -> Option<(&str, &str)> {
    let inside = line.trim_start_matches(['-', ' ']).strip_prefix('[')?.strip_suffix(')')?;
    inside.split_once("](")
}

/// Puts files in the place of `{{#include FILE}}`; gives back the documents among them.
fn include(text: &str, findings: &mut Vec<String>, chapter: &str) -> (String, Vec<String>) {
    const MARK: &str = "{{#include ";
    let (mut out, mut rest, mut documents) = (String::new(), text, Vec::new());
    while let Some((before, after)) = rest.split_once(MARK) {
        out.push_str(before);
        let Some((name, behind)) = after.split_once("}}") else { break };
        let path = normal(&format!("{TEXT}/{}", name.trim()));
        match root::read(&path) {
            Ok(file) if path.ends_with(".md") => {
                let folder =
                    Path::new(name.trim()).parent().map_or(String::new(), |p| p.display().to_string());
                out.push_str(moved(&file, &folder).trim_end());
                documents.push(path);
            }
            Ok(file) => out.push_str(file.trim_end()),
            Err(e) => findings.push(format!("{TEXT}/{chapter}: {e}")),
        }
        rest = behind;
    }
    out.push_str(rest);
    (out, documents)
}

/// A document from another folder: its links as they are from here.
fn moved(text: &str, folder: &str) -> String {
    let mut out = String::new();
    for (n, piece) in text.split("](").enumerate() {
        if n > 0 {
            out.push_str("](");
            if !piece.starts_with('#') && !piece.split(')').next().unwrap_or_default().contains("://") {
                out.push_str(folder);
                out.push('/');
            }
        }
        out.push_str(piece);
    }
    out
}

/// Takes `.` and `..` out of a path.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_table_of_contents() {
        assert_eq!(item("- [A title](a.md)"), Some(("A title", "a.md")));
        assert_eq!(item("[A title](a.md)"), Some(("A title", "a.md")));
        assert_eq!(item("nothing"), None);
    }

    #[test]
    fn links_of_documents_are_seen_from_the_chapter() {
        assert_eq!(
            moved("a [b](../c.md) [d](#e) [f](https://g)", "x"),
            "a [b](x/../c.md) [d](#e) [f](https://g)"
        );
        assert_eq!(normal("book/text/../../docs/./ports.md"), "docs/ports.md");
    }

    #[test]
    fn links_lead_where_they_should() {
        let book = load().expect("a manual");
        let to = |target| book.resolve("faq.md", target);
        assert_eq!(to("#x"), Target::Page("faq.html".into(), "x".into()));
        assert_eq!(to("dma.md#y"), Target::Page("dma.html".into(), "y".into()));
        assert_eq!(to("../../docs/rules.md#z"), Target::Page("rules.html".into(), "z".into()));
        let file = Target::File("files/contract/choices.md".into(), "contract/choices.md".into());
        assert_eq!(to("../../contract/choices.md"), file);
        assert_eq!((to("https://example.org"), to("not-there.md")), (Target::Away, Target::Nowhere));
    }
}
