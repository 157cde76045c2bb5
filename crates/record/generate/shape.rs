//! What each parameter is: a handle, a number, bytes with a length beside them. Found from its type and its neighbours;
//! `shapes.toml` says it where these do not.

use super::headers::{Callback, Enumeration, Headers, Parameter, Signature};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The whole interface.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) functions: Vec<Function>,
    pub(crate) callbacks: Vec<Kind>,
    pub(crate) enumerations: Vec<Enumeration>,
    pub(crate) headers: BTreeSet<String>,
    /// Of everything that decides the form of a file.
    pub(crate) key: u64,
}

/// A function of the library.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) family: String,
    pub(crate) returns: String,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) varies: bool,
    /// Why it is not repeated.
    pub(crate) answered: Option<String>,
}

/// A type of functions of the program.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) callback: Callback,
    pub(crate) shapes: Vec<Shape>,
}

/// What a parameter is. Numbers are positions of other parameters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// An integer.
    Int,
    /// An enum by its number.
    Enum(usize),
    Double,
    /// What the program gets back as it gave it.
    Data,
    /// An object of the library.
    Handle,
    /// Where a call puts a handle.
    NewHandle,
    /// Where a call puts a list of them, and the number of its elements.
    NewList(usize),
    /// A list of handles with so many elements.
    Handles(usize),
    /// A text that is read.
    Text,
    /// One value that is read.
    Given,
    /// One value that is written.
    Taken,
    /// So many elements that are read.
    GivenBytes(usize),
    /// So many bytes that are read, as an expression of the other parameters.
    Measured(String),
    /// Room for so many elements.
    TakenBytes(usize),
    /// Room for so many bytes.
    Room(usize),
    /// Where a call puts an address, and the length of what is there.
    Address(Option<usize>),
    /// Memory of the program, which the library only points at.
    Memory,
    /// A list of so many pointers to structures.
    Structures(usize),
    /// A list of so many texts.
    Texts(usize),
    /// A function of the program of a type.
    Callback(usize),
    File,
    Descriptor,
    /// A pointer of which nothing is known.
    Opaque,
    /// The rest of a list without end.
    Rest,
}

#[derive(Deserialize)]
struct Contract {
    function: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: String,
    family: String,
    header: String,
    state: String,
}

/// `shapes.toml`.
#[derive(Deserialize)]
struct Exceptions {
    varies: BTreeSet<String>,
    answered: BTreeMap<String, String>,
    shape: BTreeMap<String, String>,
}

impl Interface {
    pub(crate) fn of(headers: &Headers, contract: &str, exceptions: &str) -> Self {
        let contract: Contract = toml::from_str(contract).expect("contract/functions.toml");
        let exceptions: Exceptions = toml::from_str(exceptions).expect("shapes.toml");
        let shaper = Shaper {
            open: headers.open(),
            callbacks: headers.callbacks(),
            enumerations: headers.enumerations(),
            exceptions,
        };
        let done = contract.function.iter().filter(|f| f.state == "done");
        let functions: Vec<Function> = done.clone().map(|entry| shaper.function(headers, entry)).collect();
        let kinds = shaper.callbacks.iter().map(|callback| Kind {
            callback: named(callback),
            shapes: shaper.shapes(&callback.name, &named(callback).signature),
        });
        let text: Vec<_> = functions.iter().map(|f| (&f.name, &f.shapes)).collect();
        Self {
            callbacks: kinds.collect(),
            headers: done.map(|f| f.header.clone()).collect(),
            key: hash(&format!("{text:?}")),
            functions,
            enumerations: shaper.enumerations,
        }
    }
}

/// Parameters that have no name get one.
fn named(callback: &Callback) -> Callback {
    let mut callback = callback.clone();
    for (i, parameter) in callback.signature.parameters.iter_mut().enumerate() {
        if parameter.name.is_empty() {
            parameter.name = format!("argument{i}");
        }
    }
    callback
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
}

struct Shaper {
    open: BTreeSet<String>,
    callbacks: Vec<Callback>,
    enumerations: Vec<Enumeration>,
    exceptions: Exceptions,
}

impl Shaper {
    fn function(&self, headers: &Headers, entry: &Entry) -> Function {
        let signature = headers.function(&entry.name);
        Function {
            name: entry.name.clone(),
            family: entry.family.clone(),
            shapes: self.shapes(&entry.name, &signature),
            varies: self.exceptions.varies.contains(&entry.name),
            answered: self.exceptions.answered.get(&entry.name).cloned(),
            returns: signature.returns,
            parameters: signature.parameters,
        }
    }

    fn shapes(&self, function: &str, signature: &Signature) -> Vec<Shape> {
        (0..signature.parameters.len()).map(|i| self.shape(function, &signature.parameters, i)).collect()
    }

    fn shape(&self, function: &str, all: &[Parameter], i: usize) -> Shape {
        let parameter = &all[i];
        if let Some(word) = self.exceptions.shape.get(&format!("{function}.{}", parameter.name)) {
            return exception(word, all).unwrap_or_else(|| panic!("{function}: {word}"));
        }
        let constant = parameter.of.starts_with("const ") || parameter.of.contains(" const ");
        let of = parameter.of.replace("const", " ");
        let stars = of.matches('*').count();
        let of = of.replace('*', " ").split_whitespace().collect::<Vec<_>>().join(" ");
        if of == "..." {
            return Shape::Rest;
        }
        if let Some(k) = self.callbacks.iter().position(|c| c.name == of) {
            return Shape::Callback(k);
        }
        let handle = of.starts_with("struct ") && !self.open.contains(&of);
        match stars {
            0 => self.plain(&of),
            1 if of == "FILE" => Shape::File,
            1 if handle => Shape::Handle,
            1 => pointer(&of, constant, all, i),
            2 if handle => handles(function, all, i),
            2 if of.starts_with("struct ") => {
                count_near(all, i).map_or(Shape::Address(None), Shape::Structures)
            }
            2 if of == "char" && constant && count_near(all, i).is_some() => {
                Shape::Texts(count_near(all, i).unwrap_or(i))
            }
            2 if of == "char" && !constant => Shape::Texts(i.saturating_sub(1)),
            2 => Shape::Address(length_out(all, i)),
            3 if handle && length_out(all, i).is_some() => Shape::NewList(i + 1),
            _ => Shape::Opaque,
        }
    }

    fn plain(&self, of: &str) -> Shape {
        let name = of.strip_prefix("enum ").or(of.strip_suffix("_t")).unwrap_or(of);
        let known = self.enumerations.iter().position(|e| e.name == name);
        match (of, known) {
            ("union doca_data", _) => Shape::Data,
            ("double", _) => Shape::Double,
            ("va_list", _) => Shape::Opaque,
            (_, Some(k)) => Shape::Enum(k),
            _ => Shape::Int,
        }
    }
}

/// A word of `shapes.toml`: `memory`, `room 13`, `given-bytes len`.
fn exception(word: &str, all: &[Parameter]) -> Option<Shape> {
    let (kind, more) = word.split_once(' ').unwrap_or((word, ""));
    let other = || all.iter().position(|p| p.name == more);
    Some(match kind {
        "memory" => Shape::Memory,
        "opaque" => Shape::Opaque,
        "descriptor" => Shape::Descriptor,
        "handle" => Shape::Handle,
        "given" => Shape::Given,
        "room" => Shape::Room(more.parse().ok()?),
        "bytes" => Shape::Measured(more.to_owned()),
        "given-bytes" => Shape::GivenBytes(other()?),
        "handles" => Shape::Handles(other()?),
        _ => return None,
    })
}

/// A pointer to something that is no object of the library.
fn pointer(of: &str, constant: bool, all: &[Parameter], i: usize) -> Shape {
    let length = length_next(all, i);
    match (of, constant, length) {
        ("char", true, _) => Shape::Text,
        ("void", true, Some(k)) => Shape::GivenBytes(k),
        ("void", false, Some(_)) => Shape::Memory,
        ("void", ..) => Shape::Opaque,
        (_, true, Some(k)) => Shape::GivenBytes(k),
        (_, false, Some(k)) => Shape::TakenBytes(k),
        (_, true, None) => Shape::Given,
        (_, false, None) => Shape::Taken,
    }
}

/// A pointer to a pointer to an object.
fn handles(function: &str, all: &[Parameter], i: usize) -> Shape {
    let name = &all[i].name;
    let listed = name.contains("list") || name.ends_with("array");
    if listed && !function.ends_with("_create") { Shape::Handle } else { Shape::NewHandle }
}

/// The parameter behind that tells a length.
fn length_next(all: &[Parameter], i: usize) -> Option<usize> {
    let next = all.get(i + 1)?;
    let words = ["len", "size", "sz", "count", "num", "capacity"];
    let tells = next.name.starts_with("n_") || words.iter().any(|w| next.name.contains(w));
    (is_number(next) && tells).then_some(i + 1)
}

/// The parameter behind or before that tells how many there are.
fn count_near(all: &[Parameter], i: usize) -> Option<usize> {
    let counts = |p: &Parameter| is_number(p) && (p.name.starts_with("num") || p.name.starts_with("nr_"));
    (i + 1..all.len()).find(|&k| counts(&all[k]))
}

/// The parameter behind into which a length goes.
fn length_out(all: &[Parameter], i: usize) -> Option<usize> {
    let next = all.get(i + 1)?;
    matches!(next.of.as_str(), "size_t *" | "uint32_t *").then_some(i + 1)
}

fn is_number(parameter: &Parameter) -> bool {
    matches!(parameter.of.as_str(), "size_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t" | "int")
}
