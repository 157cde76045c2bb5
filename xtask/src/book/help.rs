//! The help texts of the command, read where they are written: the one source of its chapter in the manual and of the
//! manual pages of its sub-commands.

use crate::root;

/// The help of one command.
pub(crate) struct Help {
    /// `softdpu`, or a sub-command.
    pub(crate) name: String,
    /// What it prints.
    pub(crate) text: String,
}

/// All help texts: the command first, then its sub-commands in the order in which it lists them.
pub(crate) fn helps() -> Result<Vec<Help>, String> {
    let mut found = Vec::new();
    for path in root::files("tools/softdpu/src", |p| root::has_extension(p, "rs")) {
        if let Some(text) = constant(&root::read(&path)?) {
            let name =
                usage(&text).ok_or(format!("{path}: the help text has no line that begins with Usage"))?;
            found.push(Help { name, text });
        }
    }
    let main = found.iter().position(|h| h.name == "softdpu").ok_or("no help text of the command itself")?;
    let main = found.remove(main);
    let listed = commands(&main.text);
    for help in &found {
        if !listed.contains(&help.name) {
            return Err(format!("the help text of {} belongs to no command that is listed", help.name));
        }
    }
    found.sort_by_key(|h| listed.iter().position(|name| *name == h.name));
    found.insert(0, main);
    Ok(found)
}

/// The text of `const HELP: &str = "\ ... ";`.
fn constant(source: &str) -> Option<String> {
    let (_, rest) = source.split_once("const HELP: &str = \"\\\n")?;
    let mut text = String::new();
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(text),
            '\\' => match letters.next()? {
                'n' => text.push('\n'),
                other => text.push(other),
            },
            letter => text.push(letter),
        }
    }
}

/// The command that a help text is about: the word behind `Usage: softdpu`.
fn usage(help: &str) -> Option<String> {
    let line = help.lines().find_map(|l| l.trim().strip_prefix("Usage: softdpu"))?;
    let word = line.split_whitespace().next().unwrap_or("softdpu");
    Some(if word.chars().all(|c| c.is_ascii_lowercase()) { word } else { "softdpu" }.to_owned())
}

/// The names below `Commands:`.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| l.starts_with("  "));
    lines.filter_map(|l| l.split_whitespace().next()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_its_help() {
        let helps = helps().expect("help texts");
        let names: Vec<&str> = helps.iter().map(|h| h.name.as_str()).collect();
        assert_eq!(names[0], "softdpu");
        for name in commands(&helps[0].text) {
            assert!(names.contains(&name.as_str()), "no help text of {name}");
        }
        assert!(helps.iter().all(|h| h.text.contains("Usage: softdpu")));
    }

    #[test]
    fn constants_are_read_as_the_compiler_does() {
        assert_eq!(
            constant("x\nconst HELP: &str = \"\\\na \\\"b\\\" c\\\\\n\";\ny").as_deref(),
            Some("a \"b\" c\\\n")
        );
        assert_eq!(usage("Usage: softdpu run [OPTIONS]").as_deref(), Some("run"));
        assert_eq!(usage("Usage: softdpu COMMAND").as_deref(), Some("softdpu"));
    }
}
