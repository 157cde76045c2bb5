//! Which flag a name means. The innermost scope wins: the command, then what it inherits from the
//! commands above and the program, then the general flags.

use super::model::{Command, Param};
use std::sync::Arc;

/// The flags every program has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum General {
    Help,
    Version,
    LogLevel,
    SdkLogLevel,
    Json,
}

/// One general flag: names, placeholder, description.
#[derive(Debug)]
pub(crate) struct GeneralFlag {
    pub(crate) flag: General,
    pub(crate) short: &'static str,
    pub(crate) long: &'static str,
    pub(crate) arguments: &'static str,
    pub(crate) description: &'static str,
}

/// All of them, in the order of the usage.
pub(crate) const GENERAL: [GeneralFlag; 5] = [
    GeneralFlag {
        flag: General::Help,
        short: "h",
        long: "help",
        arguments: "",
        description: "Show this text and leave",
    },
    GeneralFlag {
        flag: General::Version,
        short: "v",
        long: "version",
        arguments: "",
        description: "Show the version and leave",
    },
    GeneralFlag {
        flag: General::LogLevel,
        short: "l",
        long: "log-level",
        arguments: "<level>",
        description: "Most verbose level the program shows: 10=DISABLE, 20=CRITICAL, 30=ERROR, \
                      40=WARNING, 50=INFO, 60=DEBUG, 70=TRACE",
    },
    GeneralFlag {
        flag: General::SdkLogLevel,
        short: "",
        long: "sdk-log-level",
        arguments: "<level>",
        description: "Most verbose level the library shows, same numbers",
    },
    GeneralFlag {
        flag: General::Json,
        short: "j",
        long: "json",
        arguments: "<path>",
        description: "Read flags from a JSON file",
    },
];

/// Which of its two names a flag was called by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    Short,
    Long,
}

/// What a name means.
#[derive(Clone, Debug)]
pub(crate) enum Found {
    Param(Arc<Param>),
    General(General),
}

/// The flag of the program that the name means when the command at the end of `path` is current.
pub(crate) fn param(path: &[Arc<Command>], form: Form, name: &[u8]) -> Option<Arc<Param>> {
    let has_name = |param: &&Arc<Param>| {
        let own = match form {
            Form::Short => &param.short,
            Form::Long => &param.long,
        };
        own.as_deref() == Some(name)
    };
    let (current, above) = path.split_last()?;
    let own = current.params.iter().find(has_name);
    let inherited = || {
        let visible = above.iter().rev().flat_map(|command| &command.params).filter(|p| p.inherited);
        visible.into_iter().find(has_name)
    };
    own.or_else(inherited).cloned()
}

/// The flag that the name means, general flags included.
pub(crate) fn flag(path: &[Arc<Command>], form: Form, name: &[u8]) -> Option<Found> {
    let general = || {
        let mut flags = GENERAL.iter();
        flags.find(|flag| {
            let own = if form == Form::Short { flag.short } else { flag.long };
            !own.is_empty() && own.as_bytes() == name
        })
    };
    let own = param(path, form, name).map(Found::Param);
    own.or_else(|| general().map(|general| Found::General(general.flag)))
}

/// Every flag that can be given when the command at the end of `path` is current.
pub(crate) fn visible(path: &[Arc<Command>]) -> impl Iterator<Item = &Arc<Param>> {
    let (current, above) = match path.split_last() {
        Some((current, above)) => (Some(current), above),
        None => (None, path),
    };
    let own = current.into_iter().flat_map(|command| &command.params);
    own.chain(above.iter().rev().flat_map(|command| &command.params).filter(|param| param.inherited))
}
