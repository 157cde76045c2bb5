//! `cargo xtask man OUTDIR`: manual pages. `softdpu(1)` is written by hand; those of the sub-commands are made from the
//! help texts, those of the C interface from the headers and `contract/functions.toml`: one page per header, and every
//! function leads to the page of its header.

mod command;
mod functions;
mod prototypes;
mod roff;

use crate::{Outcome, root};
use std::fs;
use std::path::Path;

/// A page: its file (`man3/doca_dma.3`) and its text.
type Page = (String, String);

/// Writes all pages below a folder.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let [folder] = arguments else { return Err(vec!["usage: cargo xtask man OUTDIR".into()]) };
    if folder.starts_with('-') {
        return Err(vec![format!("usage: cargo xtask man OUTDIR; there is no {folder}")]);
    }
    let written = write(Path::new(folder)).map_err(|e| vec![e])?;
    Ok(format!("{written} manual pages in {folder}"))
}

/// Writes all pages below a folder; gives back how many.
pub(crate) fn write(folder: &Path) -> Result<usize, String> {
    let pages = pages()?;
    for (name, text) in &pages {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(pages.len())
}

fn pages() -> Result<Vec<Page>, String> {
    let mut pages = vec![("man1/softdpu.1".to_owned(), root::read("tools/softdpu/softdpu.1")?)];
    pages.extend(command::pages()?);
    pages.extend(functions::pages()?);
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;
    use std::collections::BTreeMap;
    use std::io::Write as _;
    use std::process::{Command, Stdio};

    fn all() -> BTreeMap<String, String> {
        let pages = pages().expect("pages");
        let count = pages.len();
        let pages: BTreeMap<_, _> = pages.into_iter().collect();
        assert_eq!(pages.len(), count, "two pages of one name");
        pages
    }

    /// `man NAME` finds a page that shows the function's prototype and says what it does.
    #[test]
    fn every_function_is_found_and_shown() {
        let pages = all();
        for f in table::load().expect("a table") {
            let call = f.call.as_ref().unwrap_or(&f.name);
            let page = pages.get(&format!("man3/{call}.3")).unwrap_or_else(|| panic!("no page of {call}"));
            let page = match page.trim_end().strip_prefix(".so ") {
                Some(other) => {
                    pages.get(other).unwrap_or_else(|| panic!("{call} leads to {other}, which is not there"))
                }
                None => page,
            };
            let shown = page.split_once(&format!(".SS {call}\n"));
            let (_, shown) = shown.unwrap_or_else(|| panic!("{call} has no section in {}", f.header));
            let section = shown.split("\n.S").next().unwrap_or_default();
            assert!(section.contains(&format!("{}(", f.name)), "no prototype of {call}:\n{section}");
            assert!(
                section.lines().filter(|l| !l.starts_with('.')).count() > 1,
                "nothing said of {call}:\n{section}"
            );
        }
    }

    /// Options and commands of the hand-written page are those of the command, and none is missing.
    #[test]
    fn the_written_page_keeps_up_with_the_help_texts() {
        let page = root::read("tools/softdpu/softdpu.1").expect("a page").replace("\\-", "-");
        for help in crate::book::helps().expect("help texts") {
            assert!(
                help.name == "softdpu" || page.contains(&format!(".SS {}\n", help.name)),
                "nothing on {}",
                help.name
            );
            for line in help.text.lines().filter_map(|l| l.strip_prefix("  ")) {
                let option = line.trim_start().split([' ', '|', ',', '=']).next().unwrap_or_default();
                if option.starts_with("--") && !line.starts_with("    ") && option != "--help" {
                    assert!(page.contains(option), "softdpu.1 does not know {option} of {}", help.name);
                }
            }
        }
    }

    /// The formatter, where there is one, has nothing to say.
    #[test]
    fn pages_can_be_formatted() {
        let there = Command::new("groff").arg("--version").output().is_ok_and(|o| o.status.success());
        if !there {
            println!("skipped: no groff here");
            return;
        }
        for (name, text) in all().iter().filter(|(_, text)| !text.starts_with(".so ")) {
            let mut groff = Command::new("groff");
            groff
                .args(["-man", "-ww", "-z", "-Tutf8", "-Kutf8"])
                .stdin(Stdio::piped())
                .stderr(Stdio::piped());
            let mut child = groff.spawn().expect("it ran a moment ago");
            child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
            let output = child.wait_with_output().expect("it ends");
            let said = String::from_utf8_lossy(&output.stderr);
            let said: Vec<&str> = said.lines().filter(|l| !l.contains("cannot adjust line")).collect();
            assert!(output.status.success() && said.is_empty(), "{name}: {}", said.join("\n"));
        }
    }
}
