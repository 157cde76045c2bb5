//! `softdpu cc`: the compiler with the kit's flags added.

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use lexopt::Parser;
use softdpu_sdk::{Kit, Side};

use crate::message::{Failure, Outcome};
use crate::output;

const HELP: &str = "\
Compiles a C or C++ program for the card.

Usage: softdpu cc [OPTIONS] [COMPILER ARGUMENTS]
       softdpu cc [--side SIDE] --cflags | --libs | --print-pkg-config-path

Runs the compiler with the include and link flags of the development kit added. The program finds the
library by its run path, and through 'softdpu run'.

Options (anywhere among the compiler's arguments; '--' ends them):
  --cxx                     run $CXX (default c++) instead of $CC (default cc)
  --side host|dpu           compile for the host (default) or for the card; also SOFTDPU_SIDE=dpu
  --cflags                  print the flags for compiling, run nothing
  --libs                    print the flags for linking, run nothing
  --print-pkg-config-path   print the folder for PKG_CONFIG_PATH, run nothing
  --help                    this text

Example: softdpu cc copy.c -o copy && softdpu run -- ./copy
";

/// Compiler options after which there is no link step.
const NO_LINK: [&str; 7] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-r"];

/// What to print instead of running the compiler.
#[derive(Clone, Copy, Debug, Default)]
struct Print {
    cflags: bool,
    libs: bool,
    pkg_config: bool,
}

#[derive(Debug)]
struct Options {
    cxx: bool,
    side: Side,
    print: Print,
    compiler_arguments: Vec<OsString>,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let raw: Vec<OsString> = arguments.raw_args()?.collect();
    if raw.iter().take_while(|a| *a != "--").any(|a| a == "--help") {
        return output::print(HELP);
    }
    let options = parse(raw)?;
    let printing = options.print.cflags || options.print.libs || options.print.pkg_config;
    if !printing && options.compiler_arguments.is_empty() {
        return Err(Failure::usage("cc: nothing to compile"));
    }
    let kit = Kit::locate()?;
    if printing {
        return output::print(&printed(&kit, &options));
    }
    Err(compile(&kit, options))
}

/// Takes our own options out; everything else belongs to the compiler, whose options we do not know.
fn parse(raw: Vec<OsString>) -> Result<Options, Failure> {
    let mut options =
        Options { cxx: false, side: side_from_env(), print: Print::default(), compiler_arguments: vec![] };
    let mut rest = raw.into_iter();
    while let Some(argument) = rest.next() {
        match argument.to_str() {
            Some("--") => {
                options.compiler_arguments.extend(rest);
                break;
            }
            Some("--cxx") => options.cxx = true,
            Some("--cflags") => options.print.cflags = true,
            Some("--libs") => options.print.libs = true,
            Some("--print-pkg-config-path") => options.print.pkg_config = true,
            Some("--side") => {
                let value =
                    rest.next().ok_or_else(|| Failure::usage("cc: --side needs a value: host or dpu"))?;
                options.side = side(&value.to_string_lossy())?;
            }
            Some(text) if text.starts_with("--side=") => options.side = side(&text["--side=".len()..])?,
            _ => options.compiler_arguments.push(argument),
        }
    }
    Ok(options)
}

fn side(text: &str) -> Result<Side, Failure> {
    text.parse().map_err(|e| Failure::usage(format!("cc: {e}")))
}

/// `both` and `host` at run time mean the host side for the compiler.
fn side_from_env() -> Side {
    env::var("SOFTDPU_SIDE").ok().and_then(|s| s.parse().ok()).unwrap_or_default()
}

fn cflags(kit: &Kit, side: Side) -> Vec<OsString> {
    kit.include_dirs(side).iter().map(|folder| joined("-I", folder)).collect()
}

fn libs(kit: &Kit) -> Vec<OsString> {
    let lib = kit.lib_dir();
    let mut flags = vec![joined("-L", &lib)];
    // -Xlinker rather than -Wl: the path may hold a comma.
    flags.extend(["-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
    flags.push(lib.into());
    flags.push("-lsoftdpu".into());
    flags
}

fn joined(option: &str, folder: &Path) -> OsString {
    let mut flag = OsString::from(option);
    flag.push(folder);
    flag
}

fn printed(kit: &Kit, options: &Options) -> String {
    let mut text = String::new();
    if options.print.pkg_config {
        text += &format!("{}\n", kit.pkg_config_dir(options.side).display());
    }
    let mut flags = Vec::new();
    if options.print.cflags {
        flags.extend(cflags(kit, options.side));
    }
    if options.print.libs {
        flags.extend(libs(kit));
    }
    if !flags.is_empty() {
        let quoted: Vec<_> = flags.iter().map(|f| shell_word(&f.to_string_lossy())).collect();
        text += &format!("{}\n", quoted.join(" "));
    }
    text
}

/// Quotes for the shell what needs it, so that `cc $(softdpu cc --cflags)` and `eval` both work where they can.
fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+,./:@%".contains(c);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Becomes the compiler, so that its status and the terminal's signals need no passing on. Returns only when
/// it could not be started.
fn compile(kit: &Kit, options: Options) -> Failure {
    let (variable, default, package) = if options.cxx { ("CXX", "c++", "g++") } else { ("CC", "cc", "gcc") };
    let configured = env::var(variable).ok().filter(|v| !v.trim().is_empty());
    let command_line = configured.unwrap_or_else(|| default.to_owned());
    // As in make, the variable may hold a launcher and flags: CC="ccache gcc".
    let mut words = command_line.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    command.args(words).args(cflags(kit, options.side));
    let has = |flag: &str| options.compiler_arguments.iter().any(|a| a == flag);
    let links = !NO_LINK.iter().any(|flag| has(flag));
    let fully_static = has("-static") || has("-static-pie");
    command.args(options.compiler_arguments);
    if links {
        command.args(libs(kit));
        if fully_static {
            command.args(Kit::static_libraries());
        }
    }
    let error = command.exec();
    let hint = format!("set {variable}, or install a compiler, for example: apt-get install {package}");
    Failure::failed(format!("cannot run the compiler '{command_line}': {error}; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Options {
        parse(text.split(' ').map(OsString::from).collect()).unwrap()
    }

    #[test]
    fn own_options_are_taken_out_and_the_others_keep_their_order() {
        let options = parsed("-O2 --side dpu a.c --cxx -o a -- --cflags");
        assert_eq!((options.cxx, options.side), (true, Side::Dpu));
        assert!(!options.print.cflags);
        assert_eq!(options.compiler_arguments, ["-O2", "a.c", "-o", "a", "--cflags"]);
        assert_eq!(parsed("--side=host x.c").side, Side::Host);
        assert!(parse(vec!["--side=both".into()]).is_err());
        assert!(parse(vec!["--side".into()]).is_err());
    }

    #[test]
    fn words_survive_the_shell() {
        assert_eq!(shell_word("-I/a/b.c"), "-I/a/b.c");
        assert_eq!(shell_word("-I/a b"), "'-I/a b'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
    }
}
