//! Values as words.

use crate::contract::{Function, Parameter, Returns, Shape, name_of};
use crate::file::{Entry, RESULT, little};
use crate::names::Names;

/// Bytes that are shown of longer ones.
const SHOWN: usize = 16;

/// A number as decimal, and as an address from a page on.
pub(super) fn count(value: u64) -> String {
    if value >= 1 << 20 { format!("{value:#x}") } else { value.to_string() }
}

/// What a call was given.
pub(super) fn given(
    entry: &Entry<'_>,
    all: &'static [Parameter],
    names: &mut Names,
) -> Vec<(&'static str, String)> {
    let shown = all.iter().enumerate().filter(|(_, p)| !is_taken(p.shape));
    shown.map(|(i, p)| (p.name, argument(entry, i, p, names))).collect()
}

/// Places for values that come later say nothing.
fn is_taken(shape: Shape) -> bool {
    matches!(
        shape,
        Shape::Taken
            | Shape::NewHandle
            | Shape::NewList
            | Shape::TakenBytes
            | Shape::Address(_)
            | Shape::Rest
    )
}

fn argument(entry: &Entry<'_>, i: usize, parameter: &Parameter, names: &mut Names) -> String {
    let word = entry.words[i];
    match parameter.shape {
        Shape::Enum(k) => name_of(k, word).map_or_else(|| count(word), str::to_owned),
        Shape::Handle => names.of(word, parameter.of),
        Shape::Double => f64::from_bits(word).to_string(),
        Shape::Text => entry.part(i, 0).map_or_else(|| "NULL".to_owned(), text),
        Shape::Given | Shape::GivenBytes | Shape::Structures => {
            entry.part(i, 0).map_or_else(|| pointer(word), bytes)
        }
        Shape::Texts => {
            let all: Vec<_> =
                entry.parts().filter(|p| usize::from(p.parameter) == i).map(|p| text(p.bytes)).collect();
            format!("[{}]", all.join(" "))
        }
        Shape::Handles => handles(entry.part(i, 0).unwrap_or_default(), parameter.of, names),
        Shape::Int => (word as i64).to_string(),
        Shape::Memory | Shape::Callback | Shape::File | Shape::Opaque => pointer(word),
        _ => count(word),
    }
}

/// What a call gave back by its result.
pub(super) fn result(entry: &Entry<'_>, function: &Function, names: &mut Names) -> Option<String> {
    Some(match function.returns {
        Returns::Nothing => return None,
        Returns::Error(k) | Returns::Enum(k) => {
            name_of(k, entry.first).map_or_else(|| count(entry.first), str::to_owned)
        }
        Returns::Handle(of) => names.of(entry.first, of),
        Returns::Text => entry.part(usize::from(RESULT), 0).map_or_else(|| "NULL".to_owned(), text),
        Returns::Address => pointer(entry.first),
        Returns::Number => count(entry.first),
    })
}

/// What it gave back behind its parameters.
pub(super) fn taken(
    entry: &Entry<'_>,
    function: &Function,
    names: &mut Names,
) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    for (i, parameter) in function.parameters.iter().enumerate() {
        let Some(value) = entry.part(i, 0) else { continue };
        let value = match parameter.shape {
            Shape::NewHandle if function.name.contains("_get_") => names.of(little(value), parameter.of),
            Shape::NewHandle if little(value) != 0 => names.fresh(little(value), parameter.of),
            Shape::NewHandle => "NULL".to_owned(),
            Shape::NewList => handles(entry.part(i, 1).unwrap_or_default(), parameter.of, names),
            Shape::Address(_) => match entry.part(i, 1) {
                Some(there) => bytes(there),
                None => pointer(little(value)),
            },
            Shape::TakenBytes => printable(value).unwrap_or_else(|| bytes(value)),
            _ if value.len() <= 8 => count(little(value)),
            _ => bytes(value),
        };
        all.push((parameter.name, value));
    }
    all
}

fn handles(list: &[u8], of: &'static str, names: &mut Names) -> String {
    let all: Vec<_> = list.chunks_exact(8).map(|handle| names.of(little(handle), of)).collect();
    format!("[{}]", all.join(" "))
}

fn pointer(value: u64) -> String {
    if value == 0 { "NULL".to_owned() } else { format!("{value:#x}") }
}

fn text(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
}

/// A text with its zero, if it is one.
fn printable(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&b| b == 0)?;
    let plain = bytes[..end].iter().all(|b| (b' '..0x7f).contains(b)) && end > 0;
    plain.then(|| text(&bytes[..end]))
}

fn bytes(bytes: &[u8]) -> String {
    let shown: Vec<_> = bytes.iter().take(SHOWN).map(|b| format!("{b:02x}")).collect();
    let more = if bytes.len() > SHOWN { format!("... {} bytes", bytes.len()) } else { String::new() };
    format!("<{}{more}>", shown.join(" "))
}
