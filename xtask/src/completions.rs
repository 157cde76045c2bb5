//! Shell completions of the command, made from what its own help says, so that they never fall behind.
//!
//! The help has one form: commands and options stand two blanks in, names first, two blanks or more before the text.
//! `--side dpu|host|both` names the words a value may be, `FILE` a file; `ENGINE is a, b or c` lists an argument.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command as Process;

/// A sub-command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Command {
    name: String,
    about: String,
    options: Vec<Flag>,
    /// Words that may stand as an argument; without any, files.
    words: Vec<String>,
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
struct Flag {
    names: Vec<String>,
    value: Value,
    about: String,
}

#[derive(Debug, PartialEq, Eq)]
enum Value {
    None,
    Words(Vec<String>),
    File,
    Any,
}

/// The sub-commands of the program `softdpu`, by its help.
pub(crate) fn commands(softdpu: &Path) -> Result<Vec<Command>, String> {
    let help = |arguments: &[&str]| -> Result<String, String> {
        let done = Process::new(softdpu).args(arguments).output();
        let done = done.map_err(|e| format!("cannot run {}: {e}", softdpu.display()))?;
        if !done.status.success() {
            return Err(format!("{} {}: {}", softdpu.display(), arguments.join(" "), done.status));
        }
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let mut all = Vec::new();
    for (name, about) in command_names(&help(&["--help"])?) {
        let (options, words) = parse(&help(&[&name, "--help"])?);
        all.push(Command { name, about, options, words });
    }
    if all.is_empty() { Err("the help lists no commands".into()) } else { Ok(all) }
}

/// Names and texts below `Commands:`.
fn command_names(help: &str) -> Vec<(String, String)> {
    let below = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| l.starts_with("  "));
    below.filter_map(|l| l.trim().split_once("  ")).map(|(n, t)| (n.into(), t.trim().into())).collect()
}

/// Options and argument words of a sub-command's help.
fn parse(help: &str) -> (Vec<Flag>, Vec<String>) {
    let flags = help.lines().filter_map(|line| {
        let line = line.strip_prefix("  ").filter(|l| l.starts_with('-'))?;
        let (head, about) = line.split_once("  ")?;
        let mut names = Vec::new();
        let mut value = Value::None;
        for part in head.split(", ") {
            let mut words = part.split_whitespace();
            names.extend(words.next().map(str::to_owned));
            match words.next() {
                Some("FILE" | "FOLDER") => value = Value::File,
                Some(choice) if choice.contains('|') => {
                    value = Value::Words(choice.split('|').map(str::to_owned).collect());
                }
                Some(_) => value = Value::Any,
                None => {}
            }
        }
        Some(Flag { names, value, about: about.trim().to_owned() })
    });
    let mut flags: Vec<Flag> = flags.collect();
    if !flags.iter().any(|f| f.names.iter().any(|n| n == "--help")) {
        flags.push(Flag {
            names: vec!["-h".into(), "--help".into()],
            value: Value::None,
            about: "what it does".into(),
        });
    }
    let engines = help.lines().find_map(|l| l.strip_prefix("ENGINE is ")).unwrap_or_default();
    let is_name = |w: &&str| !matches!(*w, "or" | "for" | "every" | "engine" | "and" | "of");
    let words = engines
        .split(|c: char| !c.is_ascii_lowercase() && c != '_')
        .filter(|w| w.len() > 1)
        .filter(is_name)
        .map(str::to_owned)
        .collect();
    (flags, words)
}

const HEAD: &str = "# Completions of the softdpu command; made from its help.\n";

/// For bash: goes into `bash-completion/completions/softdpu`.
pub(crate) fn bash(commands: &[Command]) -> String {
    let names: Vec<&str> = commands.iter().map(|c| c.name.as_str()).collect();
    let mut text = format!(
        "{HEAD}_softdpu() {{\n\
         \tlocal word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} words= files=\n\
         \tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\
         \t\twords='{} --help --version'\n\
         \telse\n\
         \t\tcase ${{COMP_WORDS[1]}} in\n",
        names.join(" ")
    );
    for command in commands {
        let _ = writeln!(text, "\t\t{})\n\t\t\tcase $before in", command.name);
        for flag in &command.options {
            let names = flag.names.join("|");
            match &flag.value {
                Value::None => {}
                Value::Words(words) => {
                    let _ = writeln!(text, "\t\t\t{names}) words='{}' ;;", words.join(" "));
                }
                Value::File => {
                    let _ = writeln!(text, "\t\t\t{names}) files=yes ;;");
                }
                Value::Any => {
                    let _ = writeln!(text, "\t\t\t{names}) ;;");
                }
            }
        }
        let flags: Vec<&str> = command.options.iter().flat_map(|f| &f.names).map(String::as_str).collect();
        let (flags, words) = (flags.join(" "), command.words.join(" "));
        let files = if words.is_empty() { "files=yes" } else { "words=$words' '" };
        let _ = writeln!(
            text,
            "\t\t\t*) words='{words}'; case $word in -*) words='{flags}' ;; *) {files} ;; esac ;;\n\
             \t\t\tesac ;;"
        );
    }
    text.push_str(
        "\t\tesac\n\
         \tfi\n\
         \tCOMPREPLY=()\n\
         \t[ -n \"$words\" ] && mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n\
         \t[ -n \"$files\" ] && mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$word\")\n\
         }\n\
         complete -o filenames -F _softdpu softdpu\n",
    );
    text
}

/// For zsh: goes into a folder of `fpath` as `_softdpu`.
pub(crate) fn zsh(commands: &[Command]) -> String {
    let quote =
        |t: &str| t.replace('\'', "'\\''").replace('[', "\\[").replace(']', "\\]").replace(':', "\\:");
    let mut text = format!("#compdef softdpu\n{HEAD}\n_softdpu() {{\n\tlocal -a commands\n\tcommands=(\n");
    for c in commands {
        let _ = writeln!(text, "\t\t'{}:{}'", c.name, quote(&c.about));
    }
    text.push_str(
        "\t)\n\
         \tif (( CURRENT == 2 )); then\n\
         \t\t_describe command commands\n\
         \t\treturn\n\
         \tfi\n\
         \tlocal command=$words[2]\n\
         \tshift words; (( CURRENT-- ))\n\
         \tcase $command in\n",
    );
    for c in commands {
        let _ = write!(text, "\t{}) _arguments", c.name);
        for flag in &c.options {
            let value = match &flag.value {
                Value::None => String::new(),
                Value::Words(words) => format!(":value:({})", words.join(" ")),
                Value::File => ":file:_files".into(),
                Value::Any => ":value:".into(),
            };
            for name in &flag.names {
                let _ = write!(text, " \\\n\t\t'{name}[{}]{value}'", quote(&flag.about));
            }
        }
        let rest = match c.words.is_empty() {
            true => "*:file:_files".to_owned(),
            false => format!("*:word:({})", c.words.join(" ")),
        };
        let _ = writeln!(text, " \\\n\t\t'{rest}' ;;");
    }
    text.push_str("\tesac\n}\n\n_softdpu \"$@\"\n");
    text
}

/// For fish: goes into `fish/vendor_completions.d/softdpu.fish`.
pub(crate) fn fish(commands: &[Command]) -> String {
    let quote = |t: &str| t.replace('\\', "\\\\").replace('\'', "\\'");
    let mut text = format!("{HEAD}complete -c softdpu -n __fish_use_subcommand -f\n");
    for c in commands {
        let _ = writeln!(
            text,
            "complete -c softdpu -n __fish_use_subcommand -a {} -d '{}'",
            c.name,
            quote(&c.about)
        );
        let when = format!("complete -c softdpu -n '__fish_seen_subcommand_from {}'", c.name);
        for flag in &c.options {
            let names: Vec<String> = flag
                .names
                .iter()
                .map(|n| match n.strip_prefix("--") {
                    Some(long) => format!("-l {long}"),
                    None => format!("-s {}", n.trim_start_matches('-')),
                })
                .collect();
            let value = match &flag.value {
                Value::None => String::new(),
                Value::Words(words) => format!(" -x -a '{}'", words.join(" ")),
                Value::File => " -r -F".into(),
                Value::Any => " -x".into(),
            };
            let _ = writeln!(text, "{when} {}{value} -d '{}'", names.join(" "), quote(&flag.about));
        }
        if !c.words.is_empty() {
            let _ = writeln!(text, "{when} -f -a '{}'", c.words.join(" "));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "\
Measures.

Usage: softdpu bench [OPTIONS] ENGINE

ENGINE is aes_gcm, dma, erasure_coding (or ec), or all for every
engine of this version.

Options:
  --sizes LIST                bytes per task
  --side dpu|host|both        the functions to see (default both)
  --config FILE               a topology file
  -j, --json                  one JSON document
                              and nothing else
";

    fn sample() -> Vec<Command> {
        let (options, words) = parse(HELP);
        let about = "measure: an engine's time".to_owned();
        vec![Command { name: "bench".into(), about, options, words }]
    }

    #[test]
    fn the_help_is_understood() {
        let names = command_names("X.\n\nCommands:\n  a    does a\n  bc   does  b\n\nOptions:\n  -h  text\n");
        assert_eq!(names, [("a".into(), "does a".into()), ("bc".into(), "does  b".into())]);
        let (options, words) = parse(HELP);
        assert_eq!(words, ["aes_gcm", "dma", "erasure_coding", "ec", "all"]);
        let values: Vec<_> = options.iter().map(|o| (o.names.join(" "), &o.value)).collect();
        let side = Value::Words(["dpu", "host", "both"].map(String::from).into());
        let wanted = [
            ("--sizes".to_owned(), &Value::Any),
            ("--side".to_owned(), &side),
            ("--config".to_owned(), &Value::File),
            ("-j --json".to_owned(), &Value::None),
            ("-h --help".to_owned(), &Value::None),
        ];
        assert_eq!(values, wanted);
    }

    /// What bash makes of a command line whose last word is being completed.
    fn complete(line: &[&str]) -> Vec<String> {
        let script = format!(
            "{}\nCOMP_WORDS=({}); COMP_CWORD={}; _softdpu; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            bash(&sample()),
            line.iter().map(|w| format!("'{w}'")).collect::<Vec<_>>().join(" "),
            line.len() - 1
        );
        let done = Process::new("bash").args(["--norc", "-c", &script]).current_dir("/").output().unwrap();
        assert!(done.stderr.is_empty(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn bash_completes() {
        if Process::new("bash").arg("--version").output().is_err() {
            println!("skipped: no bash");
            return;
        }
        assert_eq!(complete(&["softdpu", "be"]), ["bench"]);
        assert_eq!(complete(&["softdpu", "bench", "--s"]), ["--sizes", "--side"]);
        assert_eq!(complete(&["softdpu", "bench", "--side", ""]), ["dpu", "host", "both"]);
        assert_eq!(complete(&["softdpu", "bench", "--sizes", ""]), [""; 0]);
        assert_eq!(complete(&["softdpu", "bench", "--config", "/et"]), ["/etc"]);
        assert_eq!(complete(&["softdpu", "bench", "e"]), ["erasure_coding", "ec"]);
    }

    #[test]
    fn fish_completes() {
        if Process::new("fish").arg("--version").output().is_err() {
            println!("skipped: no fish");
            return;
        }
        let completed = |line: &str| {
            let script = format!("{}\ncomplete -C '{line}'\n", fish(&sample()));
            let done = Process::new("fish").args(["--no-config", "-c", &script]).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            let text = String::from_utf8(done.stdout).unwrap();
            let words = text.lines().filter_map(|l| l.split('\t').next().map(str::to_owned));
            words.collect::<Vec<_>>()
        };
        assert_eq!(completed("softdpu be"), ["bench"]);
        assert_eq!(completed("softdpu bench --si"), ["--side", "--sizes"]);
        assert_eq!(completed("softdpu bench --side d"), ["dpu"]);
    }

    /// Types lines into a shell on a terminal of its own, each with a tab, and writes down what became of them.
    const ZSH_TYPIST: &str = r#"
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; say() { print -r -- \"\$BUFFER\" >>$1/said; BUFFER=; }; zle -N say; bindkey '^O' say; print ready >$1/ready"
        while [[ ! -e $1/ready ]] { sleep 0.05 }
        lines=0
        for line in "${@:2}"; do
            zpty -w -n shell "$line"$'\t\x0f'
            (( ++lines ))
            while [[ ! -e $1/said ]] || (( $(wc -l <$1/said) < lines )) { sleep 0.05 }
        done
        zpty -d shell
    "#;

    #[test]
    fn zsh_completes() {
        if Process::new("zsh").arg("--version").output().is_err() {
            println!("skipped: no zsh");
            return;
        }
        let folder = std::env::temp_dir().join(format!("softdpu-zsh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("_softdpu"), zsh(&sample())).unwrap();
        std::fs::write(folder.join("typist"), ZSH_TYPIST).unwrap();
        let mut typist = Process::new("timeout");
        typist.args(["120", "zsh", "-f"]).arg(folder.join("typist")).arg(&folder);
        typist.args(["softdpu be", "softdpu bench --siz", "softdpu bench --side d"]);
        let done = typist.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let said = std::fs::read_to_string(folder.join("said")).unwrap();
        let said: Vec<&str> = said.lines().map(str::trim_end).collect();
        assert_eq!(said, ["softdpu bench", "softdpu bench --sizes", "softdpu bench --side dpu"]);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_other_shells_get_what_they_understand() {
        let (zsh, fish) = (zsh(&sample()), fish(&sample()));
        assert!(zsh.contains("'bench:measure\\: an engine'\\''s time'"), "{zsh}");
        assert!(zsh.contains("'--side[the functions to see (default both)]:value:(dpu host both)'"), "{zsh}");
        assert!(fish.contains("-l side -x -a 'dpu host both'"), "{fish}");
        assert!(fish.contains("-s j -l json -d 'one JSON document'"), "{fish}");
        for (shell, flag, text) in [("zsh", "-n", &zsh), ("fish", "-n", &fish)] {
            let file =
                std::env::temp_dir().join(format!("softdpu-completion-{}.{shell}", std::process::id()));
            std::fs::write(&file, text).unwrap();
            match Process::new(shell).arg(flag).arg(&file).output() {
                Err(_) => println!("skipped: no {shell}"),
                Ok(done) => {
                    assert!(done.status.success(), "{shell}: {}", String::from_utf8_lossy(&done.stderr))
                }
            }
            std::fs::remove_file(&file).unwrap();
        }
    }
}
