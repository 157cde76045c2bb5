//! What stands around a chapter: the table of contents, the way to its neighbours, the style.

use super::source::{Book, Chapter, Entry, page_of};
use std::fmt::Write as _;

/// The style of all pages.
pub(crate) const STYLE: &str = include_str!("manual.css");

/// A page with this chapter.
pub(crate) fn page(book: &Book, chapter: &Chapter, body: &str) -> String {
    let body = format!("{body}{}", neighbours(book, chapter));
    whole(&format!("{} - SoftDPU", escaped(&chapter.title)), &contents(book, Some(chapter)), &body)
}

/// The first page.
pub(crate) fn first(book: &Book, body: &str) -> String {
    whole("SoftDPU", &contents(book, None), body)
}

fn whole(title: &str, contents: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<link rel=\"stylesheet\" href=\"manual.css\">\n</head>\n<body>\n\
         <nav aria-label=\"Contents\">\n<p class=\"name\"><a href=\"index.html\">SoftDPU</a></p>\n{contents}</nav>\n<main>\n{body}</main>\n\
         <script src=\"search.js\"></script>\n</body>\n</html>\n"
    )
}

fn contents(book: &Book, here: Option<&Chapter>) -> String {
    let mut text = String::from("<ul>\n");
    for entry in &book.entries {
        let _ = match entry {
            Entry::Part(name) => writeln!(text, "</ul>\n<p class=\"part\">{}</p>\n<ul>", escaped(name)),
            Entry::Chapter(c) => {
                let mark =
                    if here.is_some_and(|here| c.path == here.path) { " aria-current=\"page\"" } else { "" };
                writeln!(text, "<li><a href=\"{}\"{mark}>{}</a></li>", page_of(&c.path), escaped(&c.title))
            }
        };
    }
    text + "</ul>\n"
}

fn neighbours(book: &Book, here: &Chapter) -> String {
    let chapters: Vec<&Chapter> = book.chapters().collect();
    let Some(at) = chapters.iter().position(|c| c.path == here.path) else { return String::new() };
    let link = |c: &Chapter, class: &str| {
        format!("<a class=\"{class}\" href=\"{}\">{}</a>\n", page_of(&c.path), escaped(&c.title))
    };
    let before = at.checked_sub(1).map_or(String::new(), |at| link(chapters[at], "before"));
    let after = chapters.get(at + 1).map_or(String::new(), |c| link(c, "after"));
    format!("<footer>\n{before}{after}</footer>\n")
}

/// Text as HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
