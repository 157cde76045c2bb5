//! The pages of the sub-commands: `softdpu-run(1)` and so on, from their help texts.

use super::Page;
use super::roff::Roff;
use crate::book::{Help, helps};

/// A page for each.
pub(super) fn pages() -> Result<Vec<Page>, String> {
    let helps = helps()?;
    let names: Vec<String> = helps.iter().map(|h| h.name.clone()).collect();
    Ok(helps
        .iter()
        .filter(|h| h.name != "softdpu")
        .map(|help| (format!("man1/softdpu-{}.1", help.name), page(help, &names)))
        .collect())
}

fn page(help: &Help, names: &[String]) -> String {
    let name = format!("softdpu-{}", help.name);
    let mut page = Roff::new(&name, 1, "User Commands");
    let (first, rest) = help.text.split_once("\n\n").unwrap_or((&help.text, ""));
    let (usage, rest) = rest.split_once("\n\n").unwrap_or((rest, ""));
    page.section("name");
    page.line(&format!("{name} - {}", title(first)));
    page.section("synopsis");
    page.bold(&usage.lines().map(|l| l.trim().trim_start_matches("Usage: ")).collect::<Vec<_>>().join("\n"));
    page.section("description");
    page.prose(first);
    for part in rest.split("\n\n") {
        // "Options (with a remark):" heads a list; everything else is text.
        match part.split_once('\n') {
            Some((head, list)) if head.ends_with(':') && list.starts_with("  ") => {
                let (head, remark) =
                    head.trim_end_matches(':').split_once(" (").unwrap_or((head.trim_end_matches(':'), ""));
                page.section(head);
                if !remark.is_empty() {
                    page.line(&format!("({remark}:"));
                }
                page.verbatim(list);
            }
            _ => page.prose(part),
        }
    }
    page.section("see also");
    let others = names.iter().filter(|n| **n != help.name).map(|n| match n.as_str() {
        "softdpu" => "softdpu(1)".to_owned(),
        other => format!("softdpu-{other}(1)"),
    });
    page.line(&others.collect::<Vec<_>>().join(", "));
    page.finish()
}

/// The first sentence, as titles are written: `shows the card`.
fn title(text: &str) -> String {
    let sentence = text.replace('\n', " ");
    let sentence = sentence.split(". ").next().unwrap_or_default().trim_end_matches(['.', ':']);
    let mut letters = sentence.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_help_text_becomes_a_page() {
        let text = "Runs a thing. Slowly.\n\nUsage: softdpu run X\n       softdpu run Y\n\nText.\n\nOptions (anywhere):\n  --a   b\n";
        let page = page(&Help { name: "run".into(), text: text.into() }, &["softdpu".into(), "run".into()]);
        for part in [
            "softdpu\\-run \\- runs a thing\n",
            "softdpu run X\nsoftdpu run Y",
            ".SH OPTIONS\n(anywhere):\n",
            "  \\-\\-a   b",
        ] {
            assert!(page.contains(part), "no {part:?} in\n{page}");
        }
    }
}
