//! Writes the functions that stand in for the library's own while a program is recorded (`src/c/note.h` has what they are
//! made of).

use super::headers::{Parameter, Signature};
use super::shape::{Function, Interface, Kind, Shape};
use std::fmt::Write as _;

/// So many functions of a program can be told apart, of one type.
pub(crate) const SLOTS: usize = 32;

pub(crate) fn source(interface: &Interface) -> String {
    let mut out = head(interface);
    let _ = writeln!(out, "const uint64_t softdpu_record_key = {}ULL;\n", interface.key);
    for (i, kind) in interface.callbacks.iter().enumerate() {
        callback(&mut out, i, kind);
    }
    for (i, function) in interface.functions.iter().enumerate() {
        if function.shapes.contains(&Shape::Rest) {
            let _ = writeln!(out, "#define ENDLESS_NUMBER {i}\n#include \"endless.h\"\n");
        } else {
            stand_in(&mut out, i, function, interface);
        }
    }
    out
}

/// The headers, and without the names that they turn into others.
pub(crate) fn head(interface: &Interface) -> String {
    let mut out = String::from("#define _GNU_SOURCE\n#include <stdio.h>\n#include <stdarg.h>\n");
    for header in &interface.headers {
        let _ = writeln!(out, "#include <{header}>");
    }
    for function in &interface.functions {
        let _ = writeln!(out, "#undef {}", function.name);
    }
    out.push_str("#include \"note.h\"\n\n");
    out
}

/// `T0 a0, T1 a1`.
pub(crate) fn list(parameters: &[Parameter]) -> String {
    let all = parameters.iter().enumerate().map(|(i, p)| format!("{} a{i}", p.of));
    some(all.collect::<Vec<_>>().join(", "))
}

/// `a0, a1`.
pub(crate) fn names(parameters: &[Parameter]) -> String {
    (0..parameters.len()).map(|i| format!("a{i}")).collect::<Vec<_>>().join(", ")
}

fn some(list: String) -> String {
    if list.is_empty() { "void".to_owned() } else { list }
}

/// A value as a number.
pub(crate) fn number(of: &str, name: &str) -> String {
    match of {
        "double" => format!("note_double({name})"),
        _ if of.ends_with("union doca_data") => format!("{name}.u64"),
        _ if of.contains('*') || of == "va_list" || of.ends_with("_cb_t") || of.ends_with("callback") => {
            format!("(uint64_t)(uintptr_t){name}")
        }
        _ if of.ends_with("_callback_t") => format!("(uint64_t)(uintptr_t){name}"),
        _ => format!("(uint64_t)({name})"),
    }
}

/// The numbers of all parameters.
pub(crate) fn numbers(parameters: &[Parameter]) -> String {
    let words = parameters.iter().enumerate().map(|(i, p)| number(&p.of, &format!("a{i}")));
    words.collect::<Vec<_>>().join(", ")
}

/// What the library reads behind a parameter.
fn given(out: &mut String, i: usize, shape: &Shape, all: &[Parameter]) {
    let _ = match shape {
        Shape::Text => writeln!(out, "\tnote_text(note, {i}, 0, a{i});"),
        Shape::Given => writeln!(out, "\tnote_bytes(note, {i}, 0, a{i}, sizeof(*a{i}));"),
        Shape::GivenBytes(k) => {
            writeln!(out, "\tnote_bytes(note, {i}, 0, a{i}, note_size(a{k}, {}));", each(&all[i].of, i))
        }
        Shape::Handles(k) => {
            writeln!(out, "\tnote_bytes(note, {i}, 0, a{i}, note_size(a{k}, sizeof(void *)));")
        }
        Shape::Measured(expression) => {
            writeln!(out, "\tnote_bytes(note, {i}, 0, a{i}, (size_t)({}));", renamed(expression, all))
        }
        Shape::Texts(k) => {
            writeln!(
                out,
                "\tfor (size_t i = 0; a{i} != NULL && i < (size_t)a{k}; i++)\n\t\tnote_text(note, {i}, i, a{i}[i]);"
            )
        }
        Shape::Structures(k) => {
            writeln!(
                out,
                "\tfor (size_t i = 0; a{i} != NULL && i < (size_t)a{k}; i++)\n\t\tnote_bytes(note, {i}, i, a{i}[i], sizeof(**a{i}));"
            )
        }
        _ => Ok(()),
    };
}

/// What the library wrote behind a parameter.
fn taken(out: &mut String, i: usize, shape: &Shape, all: &[Parameter]) {
    let _ = match shape {
        Shape::Taken => writeln!(out, "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(*a{i}));"),
        Shape::NewHandle => writeln!(out, "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(void *));"),
        Shape::TakenBytes(k) => {
            writeln!(out, "\t\tnote_bytes(note, {i}, 0, a{i}, note_size(a{k}, {}));", each(&all[i].of, i))
        }
        Shape::Room(n) => writeln!(out, "\t\tnote_bytes(note, {i}, 0, a{i}, {n});"),
        Shape::NewList(k) => writeln!(
            out,
            "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(void *));\n\t\tif (a{i} != NULL && a{k} != NULL)\n\t\t\tnote_bytes(note, {i}, 1, *a{i}, *a{k} * sizeof(void *));"
        ),
        Shape::Address(Some(k)) => writeln!(
            out,
            "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(void *));\n\t\tif (a{i} != NULL && a{k} != NULL)\n\t\t\tnote_bytes(note, {i}, 1, *a{i}, *a{k});"
        ),
        Shape::Address(None) if all[i].of == "const char * *" || all[i].of == "const char **" => writeln!(
            out,
            "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(void *));\n\t\tif (a{i} != NULL)\n\t\t\tnote_text(note, {i}, 1, *a{i});"
        ),
        Shape::Address(None) => writeln!(out, "\t\tnote_bytes(note, {i}, 0, a{i}, sizeof(void *));"),
        _ => Ok(()),
    };
}

/// The size of an element.
fn each(of: &str, i: usize) -> String {
    if of.contains("void") { "1".to_owned() } else { format!("sizeof(*a{i})") }
}

/// An expression of parameters by their places.
fn renamed(expression: &str, all: &[Parameter]) -> String {
    let words = expression.split(' ').map(|word| match all.iter().position(|p| p.name == word) {
        Some(k) => format!("(size_t)a{k}"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// How a result is a number.
fn result(returns: &str) -> String {
    if returns == "void" { "0".to_owned() } else { number(returns, "result") }
}

/// A function of the library as the program sees it.
fn stand_in(out: &mut String, n: usize, function: &Function, interface: &Interface) {
    let Function { name, returns, parameters, shapes, .. } = function;
    let void = returns == "void";
    let back = if void { "" } else { "return " };
    let _ = writeln!(out, "{returns} {name}({})\n{{", list(parameters));
    let _ = writeln!(out, "\t__typeof__(&{name}) real = NOTE_REAL({name});");
    if name == "doca_pe_progress" {
        let _ = writeln!(out, "\treturn note_progress({n}, real, a0, NOTE_PLACE);\n}}\n");
        return;
    }
    let _ = writeln!(out, "\tstruct note *note = note_begin({n}, {}, NOTE_PLACE);", parameters.len());
    let _ = writeln!(out, "\tif (note == NULL) {{\n\t\t{back}real({});", names(parameters));
    let _ = writeln!(out, "{}\t}}", if void { "\t\treturn;\n" } else { "" });
    for (i, parameter) in parameters.iter().enumerate() {
        let _ = writeln!(out, "\tnote_word(note, {});", number(&parameter.of, &format!("a{i}")));
    }
    for (i, shape) in shapes.iter().enumerate() {
        given(out, i, shape, parameters);
    }
    let _ = writeln!(out, "\tnote_sent(note);");
    if name.starts_with("doca_task_submit") || name == "doca_task_try_submit" {
        let _ = writeln!(out, "\tsoftdpu_record_memory(a0, 0);");
    }
    let arguments = shapes.iter().enumerate().map(|(i, shape)| match shape {
        Shape::Callback(k) => format!("stand_in_{k}(a{i})"),
        _ => format!("a{i}"),
    });
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let _ = writeln!(out, "\tnote_enter();");
    let _ = writeln!(
        out,
        "\t{}real({arguments});",
        if void { String::new() } else { format!("{returns} result = ") }
    );
    let _ = writeln!(out, "\tnote = note_end({n}, {});", result(returns));
    let condition = if returns == "doca_error_t" { "result == DOCA_SUCCESS" } else { "1" };
    let _ = writeln!(out, "\tif ({condition}) {{");
    for (i, shape) in shapes.iter().enumerate() {
        taken(out, i, shape, parameters);
    }
    if returns == "const char *" {
        let _ = writeln!(out, "\t\tnote_text(note, NOTE_RESULT, 0, result);");
    }
    out.push_str("\t}\n\tnote_sent(note);\n");
    task(out, function, condition, interface);
    let _ = writeln!(out, "{}}}\n", if void { "" } else { "\treturn result;\n" });
}

/// The buffers of a task, whose bytes are noted when it is submitted and when it comes back.
fn task(out: &mut String, function: &Function, condition: &str, _: &Interface) {
    let parameters = &function.parameters;
    let buffers: Vec<usize> = (0..parameters.len())
        .filter(|&i| {
            parameters[i].of.contains("struct doca_buf") && parameters[i].of.matches('*').count() == 1
        })
        .collect();
    let made = parameters.iter().position(|p| p.of.contains("_task_") && p.of.matches('*').count() == 2);
    let set = parameters.len() == 2 && function.name.contains("_set_") && parameters[0].of.contains("_task_");
    let Some(task) = made.map(|k| format!("*a{k}")).or(set.then(|| "a0".to_owned())) else { return };
    if set && buffers.is_empty() {
        return;
    }
    let _ = writeln!(out, "\tif ({condition}) {{");
    if made.is_some() {
        let _ = writeln!(out, "\t\tsoftdpu_record_task({task});");
    }
    for i in buffers {
        let role = role(&parameters[i].name);
        let _ = writeln!(out, "\t\tsoftdpu_record_buffer({task}, {role}, a{i});");
    }
    out.push_str("\t}\n");
}

fn role(name: &str) -> u32 {
    if name.contains("dst") { 1 } else { u32::from(!name.contains("src")) * 2 }
}

/// A function of the program as the library sees it.
fn callback(out: &mut String, k: usize, kind: &Kind) {
    let Signature { returns, parameters } = &kind.callback.signature;
    let void = returns == "void";
    let (list, names) = (list(parameters), names(parameters));
    let pointer = pointer(kind);
    let _ = writeln!(out, "static struct slots slots_{k};");
    let _ = writeln!(out, "static {returns} called_{k}(unsigned slot, {list})\n{{");
    let _ = writeln!(out, "\t{pointer} function = ({pointer})(uintptr_t)slots_{k}.functions[slot];");
    let _ = writeln!(out, "\tint outer = note_leave();");
    let _ =
        writeln!(out, "\tstruct note *note = note_called({k}, {}, (uintptr_t)function);", parameters.len());
    for (i, parameter) in parameters.iter().enumerate() {
        let _ = writeln!(out, "\tnote_word(note, {});", number(&parameter.of, &format!("a{i}")));
    }
    for (i, shape) in kind.shapes.iter().enumerate() {
        given(out, i, shape, parameters);
    }
    out.push_str("\tnote_sent(note);\n");
    if parameters.first().is_some_and(|p| p.of.contains("_task_")) {
        let _ = writeln!(out, "\tsoftdpu_record_memory(a0, 1);");
    }
    let _ = writeln!(
        out,
        "\t{}function({names});",
        if void { String::new() } else { format!("{returns} result = ") }
    );
    let _ = writeln!(out, "\tnote = note_returned({k}, {});", result(returns));
    for (i, shape) in kind.shapes.iter().enumerate() {
        taken(out, i, shape, parameters);
    }
    let _ = writeln!(out, "\tnote_sent(note);\n\tnote_back(outer);");
    let _ = writeln!(out, "{}}}", if void { "" } else { "\treturn result;\n" });
    slots(out, k, kind);
    let _ = writeln!(out, "__attribute__((unused)) static {pointer} stand_in_{k}({pointer} function)\n{{");
    let _ = writeln!(out, "\tint slot = note_slot(&slots_{k}, (uintptr_t)function);");
    let _ = writeln!(out, "\treturn slot < 0 ? function : all_{k}[slot];\n}}\n");
}

/// One function of C for each that the program may have.
pub(crate) fn slots(out: &mut String, k: usize, kind: &Kind) {
    let Signature { returns, parameters } = &kind.callback.signature;
    let (list, names, pointer) = (list(parameters), names(parameters), pointer(kind));
    let back = if returns == "void" { "" } else { "return " };
    for slot in 0..SLOTS {
        let _ = writeln!(
            out,
            "static {returns} slot_{k}_{slot}({list}) {{ {back}called_{k}({slot}, {names}); }}"
        );
    }
    let all: Vec<_> = (0..SLOTS).map(|slot| format!("slot_{k}_{slot}")).collect();
    let _ = writeln!(out, "static {pointer} const all_{k}[] = {{ {} }};", all.join(", "));
}

/// The type of a pointer to such a function.
pub(crate) fn pointer(kind: &Kind) -> String {
    let star = if kind.callback.plain { " *" } else { "" };
    format!("{}{star}", kind.callback.name)
}
