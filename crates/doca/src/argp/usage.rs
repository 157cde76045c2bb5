//! The usage text of the program or of one of its commands.

use super::lookup::{self, GENERAL};
use super::model::{Command, Param, lossy};
use std::fmt::Write;
use std::sync::Arc;

/// Width of the column of flags; wider ones push their description to the right.
const COLUMN: usize = 34;

/// The text for the command at the end of `path` (the program, when it is alone).
pub(crate) fn render(path: &[Arc<Command>], dpdk_program: bool) -> String {
    let names: Vec<_> = path.iter().map(|command| lossy(&command.name)).collect();
    let commands: Vec<_> = path
        .last()
        .into_iter()
        .flat_map(|command| &command.commands)
        .filter(|command| !command.hidden)
        .collect();
    let flags = if path.len() > 1 { "Command Flags" } else { "Program Flags" };
    let mut text = String::new();
    // Writing into a String cannot fail.
    let _ = writeln!(
        text,
        "Usage: {}{}{} [DOCA Flags] [{flags}]",
        names.first().map_or("program", |name| name),
        if dpdk_program { " [DPDK Flags] --" } else { "" },
        names.iter().skip(1).map(|name| format!(" {name}")).collect::<String>()
            + if commands.is_empty() { "" } else { " [Command]" },
    );
    if let Some(command) = path.last().filter(|_| path.len() > 1) {
        let _ = writeln!(text, "\n{}", lossy(&command.description));
    }
    let _ = writeln!(text, "\nDOCA Flags:");
    for flag in &GENERAL {
        let names = names_of(flag.short, flag.long);
        row(&mut text, &format!("{names} {}", flag.arguments), flag.description);
    }
    let params: Vec<_> = lookup::visible(path).filter(|param| !param.hidden).collect();
    if !params.is_empty() {
        let _ = writeln!(text, "\n{flags}:");
        params.into_iter().for_each(|param| param_row(&mut text, param));
    }
    if !commands.is_empty() {
        let _ = writeln!(text, "\nCommands:");
        for command in commands {
            row(&mut text, &lossy(&command.name), &lossy(&command.description));
        }
    }
    text
}

fn names_of(short: &str, long: &str) -> String {
    match (short, long) {
        ("", long) => format!("--{long}"),
        (short, "") => format!("-{short}"),
        (short, long) => format!("-{short}, --{long}"),
    }
}

fn param_row(text: &mut String, param: &Param) {
    let part = |part: &Option<Box<[u8]>>| lossy(part.as_deref().unwrap_or_default()).into_owned();
    let names = names_of(&part(&param.short), &part(&param.long));
    row(text, &format!("{names} {}", part(&param.arguments)), &part(&param.description));
}

fn row(text: &mut String, left: &str, right: &str) {
    let left = left.trim_end();
    let pad = COLUMN.saturating_sub(left.chars().count()).max(1);
    let _ = writeln!(text, "  {left}{:pad$} {right}", "");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Box<[u8]>> {
        Some(text.as_bytes().into())
    }

    fn root() -> Arc<Command> {
        let visible =
            Param { short: text("p"), long: text("pci"), arguments: text("<addr>"), ..Param::default() };
        let visible = Param { description: text("the device"), inherited: true, ..visible };
        let hidden = Param { long: text("secret"), hidden: true, ..Param::default() };
        let short = Param { short: text("gid"), description: text("index"), ..Param::default() };
        let command = |name: &str, hidden| {
            let description = format!("about {name}").into_bytes().into_boxed_slice();
            Arc::new(Command { name: name.as_bytes().into(), description, hidden, ..Command::default() })
        };
        Arc::new(Command {
            name: (*b"prog").into(),
            params: [visible, hidden, short].map(Arc::new).into(),
            commands: vec![command("show", false), command("ghost", true)],
            ..Command::default()
        })
    }

    #[test]
    fn the_program_lists_what_is_not_hidden() {
        let usage = render(&[root()], false);
        assert!(usage.starts_with("Usage: prog [Command] [DOCA Flags] [Program Flags]\n"), "{usage}");
        let order = [
            "-h, --help",
            "--sdk-log-level <level>",
            "-j, --json <path>",
            "-p, --pci <addr>",
            "-gid ",
            "show",
        ];
        let places: Vec<_> = order.iter().map(|part| usage.find(&format!("  {part}")).expect(part)).collect();
        assert!(places.is_sorted(), "{usage}");
        assert!(!usage.contains("secret") && !usage.contains("ghost"), "{usage}");
    }

    #[test]
    fn commands_and_dpdk_programs_have_their_first_line() {
        let root = root();
        let show = Arc::clone(&root.commands[0]);
        let usage = render(&[Arc::clone(&root), show], false);
        assert!(
            usage.starts_with("Usage: prog show [DOCA Flags] [Command Flags]\n\nabout show\n"),
            "{usage}"
        );
        assert!(usage.contains("--pci") && !usage.contains("gid"), "inherited only: {usage}");
        let usage = render(&[root], true);
        assert!(usage.starts_with("Usage: prog [DPDK Flags] -- [Command] [DOCA Flags]"), "{usage}");
    }
}
