//! Writes the table by which files are read: names, parameters and their shapes, enums.

use super::headers::Parameter;
use super::shape::{Interface, Shape};
use std::fmt::Write as _;

pub(crate) fn source(interface: &Interface) -> String {
    let mut out = format!("/// Changes with the functions.\npub const KEY: u64 = {};\n", interface.key);
    out.push_str("pub(crate) static FUNCTIONS: &[Function] = &[\n");
    for function in &interface.functions {
        let _ = writeln!(
            out,
            "Function {{ name: {:?}, family: {:?}, returns: Returns::{}, parameters: &[{}], varies: {}, answered: {:?} }},",
            function.name,
            function.family,
            returns(&function.returns, interface),
            parameters(&function.parameters, &function.shapes),
            function.varies,
            function.answered,
        );
    }
    out.push_str("];\npub(crate) static CALLBACKS: &[Callback] = &[\n");
    for kind in &interface.callbacks {
        let parameters = parameters(&kind.callback.signature.parameters, &kind.shapes);
        let _ = writeln!(out, "Callback {{ name: {:?}, parameters: &[{parameters}] }},", kind.callback.name);
    }
    out.push_str("];\npub(crate) static ENUMERATIONS: &[&[(i64, &str)]] = &[\n");
    for enumeration in &interface.enumerations {
        let values = enumeration.values.iter().map(|(name, value)| format!("({value}, {name:?})"));
        let _ = writeln!(out, "&[{}],", values.collect::<Vec<_>>().join(", "));
    }
    out.push_str("];\n");
    out
}

fn parameters(all: &[Parameter], shapes: &[Shape]) -> String {
    let all = all.iter().zip(shapes).map(|(parameter, shape)| {
        let of = parameter.of.split([' ', '*']).find_map(|w| w.strip_prefix("doca_"));
        let text = parameter.of.split([' ', '*']).any(|w| w == "char");
        let of = of.unwrap_or(if text { "char" } else { "" });
        format!("Parameter {{ name: {:?}, of: {of:?}, shape: Shape::{} }}", parameter.name, variant(shape))
    });
    all.collect::<Vec<_>>().join(", ")
}

/// The shape as the reader has it, which knows lengths from the file.
fn variant(shape: &Shape) -> String {
    match shape {
        Shape::GivenBytes(_) | Shape::Measured(_) => "GivenBytes".to_owned(),
        Shape::TakenBytes(_) | Shape::Room(_) => "TakenBytes".to_owned(),
        Shape::Texts(_) => "Texts".to_owned(),
        Shape::Structures(_) => "Structures".to_owned(),
        Shape::NewList(_) => "NewList".to_owned(),
        Shape::Handles(_) => "Handles".to_owned(),
        Shape::Address(length) => format!("Address({})", length.is_some()),
        Shape::Callback(_) => "Callback".to_owned(),
        other => format!("{other:?}"),
    }
}

fn returns(of: &str, interface: &Interface) -> String {
    let name = of.strip_prefix("enum ").or(of.strip_suffix("_t")).unwrap_or(of);
    let known = interface.enumerations.iter().position(|e| e.name == name);
    match (of, known) {
        ("void", _) => "Nothing".to_owned(),
        ("doca_error_t", Some(k)) => format!("Error({k})"),
        (_, Some(k)) => format!("Enum({k})"),
        ("const char *", _) => "Text".to_owned(),
        _ if of.contains("struct") => {
            let name = of.split([' ', '*']).find_map(|w| w.strip_prefix("doca_")).unwrap_or("");
            format!("Handle({name:?})")
        }
        _ if of.contains('*') => "Address".to_owned(),
        _ => "Number".to_owned(),
    }
}
