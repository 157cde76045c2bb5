//! `cargo xtask book`: the manual. Writes its generated parts (reference chapters, pictures) into `book/text`, makes
//! HTML of all of it, and tells of links that lead nowhere.
//!
//! `book/` is an ordinary mdBook, and whoever has `mdbook` can build it. This one does without: a parser of CommonMark and
//! a page of our own, which build in seconds where the tool takes minutes and brings a hundred and more packages along.

mod help;
mod html;
mod page;
mod reference;
mod search;
mod source;

pub(crate) use help::{Help, helps};

use crate::{Outcome, conclude, picture, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Where the chapters lie.
const TEXT: &str = "book/text";

const USAGE: &str = "usage: cargo xtask book [--check | OUTDIR]";

/// Writes generated parts and HTML, or with `--check` tells what is stale or leads nowhere.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    match arguments {
        [flag] if flag == "--check" => check(),
        [flag] if flag.starts_with('-') => Err(vec![USAGE.into()]),
        [] => write(&root::root().join("target/book")),
        [folder] => write(Path::new(folder)),
        _ => Err(vec![USAGE.into()]),
    }
}

/// The manual as HTML: what goes into which file, and what was found wrong.
struct Built {
    pages: BTreeMap<String, String>,
    /// Files that pages show or lead to: place in the manual, place in the workspace.
    copies: BTreeMap<String, String>,
    findings: Vec<String>,
}

/// The parts that are made: path and text.
fn made() -> Result<Vec<(String, String)>, String> {
    let mut files = reference::files()?;
    files.extend(picture::files()?.into_iter().map(|(name, text)| (format!("{TEXT}/pictures/{name}"), text)));
    Ok(files)
}

/// Tells whether generated parts are up to date and every link leads somewhere.
pub(crate) fn check() -> Outcome {
    let made = made().map_err(|e| vec![e])?;
    let stale = made.iter().filter(|(path, text)| root::read(path).as_ref() != Ok(text));
    let mut findings: Vec<String> =
        stale.map(|(path, _)| format!("{path} is not up to date: run cargo xtask book")).collect();
    let built = build().map_err(|e| vec![e])?;
    findings.extend(built.findings);
    conclude(findings, format!("{} pages, every link leads somewhere", built.pages.len()))
}

fn write(folder: &Path) -> Outcome {
    for (path, text) in made().map_err(|e| vec![e])? {
        place(&root::root().join(&path), text.as_bytes())?;
    }
    let built = build().map_err(|e| vec![e])?;
    for (name, text) in &built.pages {
        place(&folder.join(name), text.as_bytes())?;
    }
    for (name, from) in &built.copies {
        let bytes = fs::read(root::root().join(from)).map_err(|e| vec![format!("{from}: {e}")])?;
        place(&folder.join(name), &bytes)?;
    }
    conclude(built.findings, format!("{} pages in {}", built.pages.len(), folder.display()))
}

/// Writes a file where it has other contents, so that nothing is built again that need not be.
fn place(path: &Path, bytes: &[u8]) -> Result<(), Vec<String>> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    let folder = path.parent().map(Path::to_path_buf).unwrap_or_else(|| PathBuf::from("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, bytes))
        .map_err(|e| vec![format!("{}: {e}", path.display())])
}

/// Makes every page in memory.
fn build() -> Result<Built, String> {
    let book = source::load()?;
    let mut built =
        Built { pages: BTreeMap::new(), copies: BTreeMap::new(), findings: book.findings.clone() };
    let mut anchors: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut links = Vec::new();
    let mut chapters = Vec::new();
    for chapter in book.chapters() {
        let body = html::render(&chapter.text, &mut |target| book.resolve(&chapter.path, target));
        let name = source::page_of(&chapter.path);
        anchors.insert(name.clone(), body.anchors);
        built.findings.extend(body.findings.iter().map(|f| format!("{TEXT}/{}: {f}", chapter.path)));
        links.extend(body.links.into_iter().map(|link| (name.clone(), link)));
        built.copies.extend(body.copies);
        let sections = search::sections(&body.html);
        built.pages.insert(name.clone(), page::page(&book, chapter, &body.html));
        chapters.push((name, chapter.title.as_str(), sections));
    }
    for (page, (target, anchor)) in links {
        let target = if target.is_empty() { page.clone() } else { target };
        let known = anchors.get(&target).is_some_and(|a| anchor.is_empty() || a.contains(&anchor));
        if !known {
            built.findings.push(format!("{page}: no page or heading {target}#{anchor}"));
        }
    }
    built.pages.insert("index.html".into(), page::first(&book, &search::contents(&book, &chapters)));
    built.pages.insert("sections.js".into(), search::index(&chapters));
    built.pages.insert("search.js".into(), search::SCRIPT.into());
    built.pages.insert("manual.css".into(), page::STYLE.into());
    Ok(built)
}
