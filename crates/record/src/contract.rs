//! The functions of the C interface as the files know them: names, parameters, what stands behind each.
//!
//! The table is generated from the list of functions and the headers when this crate is built.

include!(concat!(env!("OUT_DIR"), "/table.rs"));

/// A function of the library.
#[derive(Debug)]
pub struct Function {
    /// Its symbol.
    pub name: &'static str,
    /// Its chapter of the contract.
    pub family: &'static str,
    pub(crate) returns: Returns,
    pub(crate) parameters: &'static [Parameter],
    /// Its values differ from run to run.
    pub(crate) varies: bool,
    /// Why it is not repeated.
    pub(crate) answered: Option<&'static str>,
}

/// A type of functions of the program.
#[derive(Debug)]
pub(crate) struct Callback {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [Parameter],
}

/// A parameter.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// Its type without `doca_`.
    pub(crate) of: &'static str,
    pub(crate) shape: Shape,
}

/// What a function gives back. Numbers are positions in [`ENUMERATIONS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    Nothing,
    Error(usize),
    Enum(usize),
    Number,
    Handle(&'static str),
    Text,
    Address,
}

/// What a parameter is; `generate/shape.rs` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Int,
    Enum(usize),
    Double,
    Data,
    Handle,
    NewHandle,
    NewList,
    Handles,
    Text,
    Given,
    Taken,
    GivenBytes,
    TakenBytes,
    Address(bool),
    Memory,
    Structures,
    Texts,
    Callback,
    File,
    Descriptor,
    Opaque,
    Rest,
}

/// The name of a value of an enum.
pub(crate) fn name_of(enumeration: usize, value: u64) -> Option<&'static str> {
    // As wide as an enum of C is.
    let value = i64::from(value as u32 as i32);
    ENUMERATIONS.get(enumeration)?.iter().find(|(v, _)| *v == value).map(|(_, name)| *name)
}

/// All functions, by their numbers in a file.
#[must_use]
pub fn functions() -> &'static [Function] {
    FUNCTIONS
}
