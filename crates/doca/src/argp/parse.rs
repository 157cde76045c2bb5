//! The command line: words to occurrences. Calls nothing of the program.
//!
//! A short name has one or more characters, so `-xyz` is one flag, never three. A flag that takes a value
//! takes the next word, whatever it looks like; `--long=value` works too.

use super::lookup::{self, Form, Found, General};
use super::model::{Command, Kind, Param, Refusal, lossy};
use super::value::Value;
use softdpu_status::Code;
use std::ffi::CString;
use std::sync::Arc;

/// One flag as given, with its value.
#[derive(Clone, Debug)]
pub(crate) struct Occurrence {
    pub(crate) param: Arc<Param>,
    pub(crate) value: Value,
}

/// What the command line asks for.
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    /// The program, then the commands down to the current one.
    pub(crate) path: Vec<Arc<Command>>,
    /// `-h` or `-v` was met: what follows was not read.
    pub(crate) ending: Option<General>,
    pub(crate) log_level: Option<u32>,
    pub(crate) sdk_log_level: Option<u32>,
    pub(crate) json: Option<CString>,
    /// Flags of the program in order.
    pub(crate) occurrences: Vec<Occurrence>,
}

/// Reads the words after the program's name. On a refusal, `line.path` says how far commands were read.
pub(crate) fn read(root: &Arc<Command>, words: &[&[u8]], line: &mut CommandLine) -> Result<(), Refusal> {
    line.path = vec![Arc::clone(root)];
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (form, name) = match word {
            [b'-', b'-', name @ ..] if !name.is_empty() => (Form::Long, name),
            [b'-', name @ ..] if !name.is_empty() && *name != b"-"[..] => (Form::Short, name),
            _ => {
                step_down(line, word)?;
                continue;
            }
        };
        let (found, attached) = find(&line.path, form, name)
            .ok_or_else(|| Refusal::new(Code::NotSupported, format!("flag {} is not known", lossy(word))))?;
        let takes_value = match &found {
            Found::Param(param) => param.kind() != Kind::Boolean,
            Found::General(general) => !matches!(general, General::Help | General::Version),
        };
        let value = match (takes_value, attached) {
            (true, Some(value)) => Some(value),
            (true, None) => Some(
                *words
                    .next()
                    .ok_or_else(|| Refusal::invalid(format!("flag {} needs a value", lossy(word))))?,
            ),
            (false, Some(_)) => {
                return Err(Refusal::invalid(format!("flag {}: it takes no value", lossy(word))));
            }
            (false, None) => None,
        };
        match found {
            Found::Param(param) => take(line, param, value)?,
            Found::General(general) => {
                if take_general(line, general, value.unwrap_or_default())? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// A word that is no flag must be a command below the current one.
fn step_down(line: &mut CommandLine, word: &[u8]) -> Result<(), Refusal> {
    let current = line.path.last().into_iter().flat_map(|command| &command.commands);
    match current.into_iter().find(|command| *command.name == *word) {
        Some(command) => {
            let command = Arc::clone(command);
            line.path.push(command);
            Ok(())
        }
        None => Err(Refusal::invalid(format!("\"{}\" is neither a flag nor a command here", lossy(word)))),
    }
}

/// The flag, and the value when it is attached by `=`. The whole word is tried first.
fn find<'a>(path: &[Arc<Command>], form: Form, name: &'a [u8]) -> Option<(Found, Option<&'a [u8]>)> {
    if let Some(found) = lookup::flag(path, form, name) {
        return Some((found, None));
    }
    let equals = name.iter().position(|byte| *byte == b'=').filter(|_| form == Form::Long)?;
    lookup::flag(path, form, &name[..equals]).map(|found| (found, Some(&name[equals + 1..])))
}

fn take(line: &mut CommandLine, param: Arc<Param>, text: Option<&[u8]>) -> Result<(), Refusal> {
    if !param.multiple && line.occurrences.iter().any(|earlier| Arc::ptr_eq(&earlier.param, &param)) {
        return Err(Refusal::invalid(format!("flag {} is given more than once", param.shown())));
    }
    let value = match text {
        Some(text) => Value::from_text(&param, text)?,
        None => Value::Boolean,
    };
    line.occurrences.push(Occurrence { param, value });
    Ok(())
}

/// True: reading ends here.
fn take_general(line: &mut CommandLine, general: General, value: &[u8]) -> Result<bool, Refusal> {
    let again = |name: &str| Refusal::invalid(format!("flag --{name} is given more than once"));
    match general {
        General::Help | General::Version => {
            line.ending = Some(general);
            return Ok(true);
        }
        General::LogLevel => {
            if line.log_level.replace(level("log-level", value)?).is_some() {
                return Err(again("log-level"));
            }
        }
        General::SdkLogLevel => {
            if line.sdk_log_level.replace(level("sdk-log-level", value)?).is_some() {
                return Err(again("sdk-log-level"));
            }
        }
        General::Json => {
            let path = CString::new(value).map_err(|_| Refusal::invalid("flag --json: zero byte"))?;
            if line.json.replace(path).is_some() {
                return Err(again("json"));
            }
        }
    }
    Ok(false)
}

fn level(name: &str, text: &[u8]) -> Result<u32, Refusal> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    number.filter(|n| crate::log::Level::from_number(*n).is_some()).ok_or_else(|| {
        Refusal::invalid(format!("flag --{name}: \"{}\" is not one of 10, 20 ... 70", lossy(text)))
    })
}

/// Rules about the set of flags given, file and command line together: a singular flag stands alone, and
/// mandatory flags are there. A singular flag waives the mandatory ones: nothing else may be given.
pub(crate) fn check_company(given: &[&Occurrence], general: bool) -> Result<bool, Refusal> {
    let Some(lonely) = given.iter().find(|occurrence| occurrence.param.singular) else { return Ok(false) };
    let alone = given.iter().all(|other| Arc::ptr_eq(&other.param, &lonely.param));
    if general || !alone {
        return Err(Refusal::invalid(format!("flag {} must be the only flag", lonely.param.shown())));
    }
    Ok(true)
}

/// The first mandatory flag of the current command that was not given.
pub(crate) fn check_mandatory(path: &[Arc<Command>], given: &[&Occurrence]) -> Result<(), Refusal> {
    let missing = lookup::visible(path)
        .find(|param| param.mandatory && !given.iter().any(|one| Arc::ptr_eq(&one.param, param)));
    match missing {
        Some(param) => Err(Refusal::invalid(format!("flag {} is mandatory", param.shown()))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn param(short: &str, long: &str, kind: Kind) -> Param {
        let name = |text: &str| (!text.is_empty()).then(|| text.as_bytes().into());
        Param { short: name(short), long: name(long), kind: Some(kind), ..Param::default() }
    }

    fn root(params: Vec<Param>, commands: Vec<Command>) -> Arc<Command> {
        let params = params.into_iter().map(Arc::new).collect();
        let commands = commands.into_iter().map(Arc::new).collect();
        Arc::new(Command { params, commands, ..Command::default() })
    }

    fn read_all(root: &Arc<Command>, words: &str) -> (CommandLine, Result<(), Code>) {
        let words: Vec<_> = words.split_whitespace().map(str::as_bytes).collect();
        let mut line = CommandLine::default();
        let answer = read(root, &words, &mut line).map_err(|refusal| refusal.code);
        (line, answer)
    }

    fn values(root: &Arc<Command>, words: &str) -> Result<Vec<Value>, Code> {
        let (line, answer) = read_all(root, words);
        answer.map(|()| line.occurrences.into_iter().map(|one| one.value).collect())
    }

    #[test]
    fn short_names_are_whole_words_and_values_are_taken_blindly() {
        let root = root(vec![param("gid", "gid-index", Kind::Int), param("g", "", Kind::Boolean)], vec![]);
        assert_eq!(values(&root, "-gid -1 -g"), Ok(vec![Value::Int(-1), Value::Boolean]));
        assert_eq!(values(&root, "--gid-index=5"), Ok(vec![Value::Int(5)]));
        assert_eq!(values(&root, "-gid=5"), Err(Code::NotSupported));
        assert_eq!(values(&root, "-id 5"), Err(Code::NotSupported));
        assert_eq!(values(&root, "--gid 5"), Err(Code::NotSupported));
        assert_eq!(values(&root, "-gid"), Err(Code::InvalidValue));
        assert_eq!(values(&root, "-gid -g"), Err(Code::InvalidValue));
        assert_eq!(values(&root, "-g -g"), Err(Code::InvalidValue));
        assert_eq!(values(&root, "-g=1"), Err(Code::NotSupported));
        for stray in ["word", "-", "--", "-- -g"] {
            assert_eq!(values(&root, stray), Err(Code::InvalidValue), "{stray}");
        }
    }

    #[test]
    fn the_innermost_scope_wins() {
        let own = param("v", "level", Kind::Int);
        let inherited = Param { inherited: true, ..param("i", "inherited", Kind::Boolean) };
        let top_only = param("t", "top", Kind::Boolean);
        let command = Command { name: (*b"show").into(), params: vec![Arc::new(own)], ..Command::default() };
        let root = root(vec![inherited, top_only], vec![command]);
        assert_eq!(values(&root, "show -v 3 -i"), Ok(vec![Value::Int(3), Value::Boolean]));
        assert_eq!(values(&root, "-t"), Ok(vec![Value::Boolean]));
        assert_eq!(values(&root, "show -t"), Err(Code::NotSupported));
        assert_eq!(values(&root, "show show"), Err(Code::InvalidValue));
        let (line, answer) = read_all(&root, "-v --rubbish");
        assert_eq!((line.ending, answer), (Some(General::Version), Ok(())));
        let (line, _) = read_all(&root, "show -l 20 -h");
        assert_eq!((line.ending, line.path.len(), line.log_level), (Some(General::Help), 2, Some(20)));
    }

    #[test]
    fn general_flags_are_checked() {
        let root = root(vec![], vec![]);
        for bad in
            ["-l 15", "-l x", "-l", "-l 20 -l 20", "--sdk-log-level 0", "-j a -j b", "-h=1", "--help=1"]
        {
            assert!(values(&root, bad).is_err(), "{bad}");
        }
        let (line, answer) = read_all(&root, "-l 70 --sdk-log-level 10 --json=a=b");
        assert_eq!(answer, Ok(()));
        assert_eq!((line.log_level, line.sdk_log_level), (Some(70), Some(10)));
        assert_eq!(line.json.as_deref(), Some(c"a=b"));
    }

    #[test]
    fn company_and_presence() {
        let must = Param { mandatory: true, ..param("m", "must", Kind::Boolean) };
        let lonely = Param { singular: true, ..param("s", "list", Kind::Boolean) };
        let root = root(vec![must, lonely], vec![]);
        let check = |words: &str, general| {
            let (line, answer) = read_all(&root, words);
            answer?;
            let given: Vec<_> = line.occurrences.iter().collect();
            let waived = check_company(&given, general).map_err(|refusal| refusal.code)?;
            if waived { Ok(()) } else { check_mandatory(&line.path, &given).map_err(|refusal| refusal.code) }
        };
        assert_eq!(check("-m", true), Ok(()));
        assert_eq!(check("", false), Err(Code::InvalidValue));
        assert_eq!(check("-s", false), Ok(()));
        assert_eq!(check("-s", true), Err(Code::InvalidValue));
        assert_eq!(check("-s -m", false), Err(Code::InvalidValue));
    }
}
