//! What a call gave here against what it gave when it was recorded.

use super::arguments::Arguments;
use super::ffi;
use super::world::World;
use crate::contract::{Function, Returns, Shape, name_of};
use crate::file::{Entry, RESULT, little};

/// What was recorded, and what is, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unequal {
    pub(super) recorded: String,
    pub(super) here: String,
}

impl Unequal {
    pub(super) fn new(what: &str, recorded: impl std::fmt::Display, here: impl std::fmt::Display) -> Self {
        Self { recorded: format!("{what} {recorded}"), here: format!("{what} {here}") }
    }
}

/// Compares the result.
pub(super) fn result(
    entry: &Entry<'_>,
    function: &Function,
    live: u64,
    world: &World,
) -> Result<(), Unequal> {
    let named = |k: usize, value: u64| name_of(k, value).map_or_else(|| value.to_string(), str::to_owned);
    match function.returns {
        Returns::Error(k) | Returns::Enum(k) if entry.first != live => {
            Err(Unequal::new("result", named(k, entry.first), named(k, live)))
        }
        Returns::Number if entry.first != live && !function.varies => {
            Err(Unequal::new("result", entry.first, live))
        }
        Returns::Text => {
            let recorded = entry.part(usize::from(RESULT), 0);
            let here = ffi::text(live);
            let shown =
                |text: Option<&[u8]>| text.map_or("NULL".into(), String::from_utf8_lossy).into_owned();
            let same = recorded == here.as_deref() || function.varies;
            same.then_some(()).ok_or_else(|| Unequal::new("text", shown(recorded), shown(here.as_deref())))
        }
        Returns::Handle(of) => {
            let missing = (entry.first == 0) != (live == 0);
            // Another view of the same object is that object here, too.
            let other =
                function.name.contains("_as_") && world.handle(entry.first).is_some_and(|h| h != live);
            let shown = |value: u64| if value == 0 { "NULL" } else { of };
            match missing || other {
                true => Err(Unequal::new("handle", shown(entry.first), shown(live))),
                false => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

/// Compares what is behind the parameters.
pub(super) fn values(
    entry: &Entry<'_>,
    function: &Function,
    arguments: &Arguments,
    world: &World,
) -> Result<(), Unequal> {
    if function.varies {
        return Ok(());
    }
    for (i, parameter) in function.parameters.iter().enumerate() {
        let Some(recorded) = entry.part(i, 0) else { continue };
        let here = arguments.written(i, recorded.len());
        let same = match parameter.shape {
            Shape::Taken if recorded.len() > 8 => here == world.structure(recorded) || here == recorded,
            Shape::Taken => here == recorded || little(&here) == world.word(little(recorded)),
            // Behind the end of a text the caller's memory is as it was.
            Shape::TakenBytes if parameter.of == "char" => until_end(&here) == until_end(recorded),
            Shape::TakenBytes => here == recorded,
            Shape::Address(false) => match (world.memory.here(little(recorded)), entry.part(i, 1)) {
                (_, Some(text)) => ffi::text(little(&here)).as_deref() == Some(text),
                (Some(address), None) => address == little(&here),
                (None, None) => (little(recorded) == 0) == (little(&here) == 0),
            },
            Shape::NewHandle => (little(recorded) == 0) == (little(&here) == 0),
            _ => true,
        };
        if !same {
            return Err(Unequal::new(parameter.name, shown(recorded), shown(&here)));
        }
    }
    Ok(())
}

/// Takes over what the call gave: from here on recorded handles are these.
pub(super) fn take(
    entry: &Entry<'_>,
    function: &Function,
    arguments: &Arguments,
    live: u64,
    world: &mut World,
) {
    if matches!(function.returns, Returns::Handle(_)) {
        world.bind(entry.first, live);
    }
    for (i, parameter) in function.parameters.iter().enumerate() {
        let Some(recorded) = entry.part(i, 0) else { continue };
        let here = little(&arguments.written(i, 8));
        match parameter.shape {
            Shape::NewHandle => world.bind(little(recorded), here),
            Shape::NewList => {
                world.bind(little(recorded), here);
                let list = entry.part(i, 1).unwrap_or_default();
                let live = ffi::read(here, list.len()).unwrap_or_default();
                for (recorded, live) in list.chunks_exact(8).zip(live.chunks_exact(8)) {
                    world.bind(little(recorded), little(live));
                }
            }
            Shape::Address(true) => {
                let len = little(&arguments.written(i + 1, 8));
                let live = usize::try_from(len).ok().and_then(|len| ffi::read(here, len));
                if let (Some(recorded), Some(live)) = (entry.part(i, 1), live) {
                    world.exported(recorded, live);
                }
            }
            Shape::Taken => world.described(parameter, recorded, here),
            _ => {}
        }
    }
}

/// The same for a call that was not made: what it gave is not there.
pub(super) fn lack(entry: &Entry<'_>, function: &Function, world: &mut World) {
    if matches!(function.returns, Returns::Handle(_)) {
        world.lack(entry.first);
    }
    for (i, parameter) in function.parameters.iter().enumerate() {
        if let (Shape::NewHandle, Some(recorded)) = (parameter.shape, entry.part(i, 0)) {
            world.lack(little(recorded));
        }
    }
}

/// A text without its end.
fn until_end(bytes: &[u8]) -> &[u8] {
    bytes.split(|&b| b == 0).next().unwrap_or_default()
}

fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= 8 {
        return little(bytes).to_string();
    }
    let text: Vec<_> = bytes.iter().take(32).map(|b| format!("{b:02x}")).collect();
    format!("<{}>", text.join(" "))
}
