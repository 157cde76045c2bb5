//! Writes the functions that repeat a call from numbers, and those that the library calls in place of the program's.

use super::headers::Signature;
use super::recorder::{head, list, number, numbers, pointer, slots};
use super::shape::{Function, Interface, Kind, Shape};
use std::fmt::Write as _;

pub(crate) fn source(interface: &Interface) -> String {
    let mut out = head(interface);
    out.push_str("#include \"call.h\"\n\n");
    for (k, kind) in interface.callbacks.iter().enumerate() {
        callback(&mut out, k, kind);
    }
    for (i, function) in interface.functions.iter().enumerate() {
        call(&mut out, i, function);
    }
    let all: Vec<_> = (0..interface.functions.len()).map(|i| format!("call_{i}")).collect();
    let _ = writeln!(out, "const replay_call softdpu_replay_calls[] = {{ {} }};", all.join(", "));
    out
}

/// A number as an argument.
fn argument(of: &str, shape: &Shape, i: usize) -> String {
    match shape {
        Shape::Callback(k) => format!("live_{k}(a[{i}])"),
        Shape::Double => format!("call_double(a[{i}])"),
        Shape::Data => format!("(union doca_data){{.u64 = a[{i}]}}"),
        _ if of.contains('*') => format!("({of})(uintptr_t)a[{i}]"),
        _ => format!("({of})a[{i}]"),
    }
}

fn call(out: &mut String, n: usize, function: &Function) {
    let Function { name, returns, parameters, shapes, .. } = function;
    let _ = writeln!(out, "static uint64_t call_{n}(void *function, const uint64_t *a)\n{{\n\t(void)a;");
    let known = parameters.iter().zip(shapes).enumerate().filter(|(_, (_, shape))| **shape != Shape::Rest);
    let mut arguments: Vec<_> = known.map(|(i, (p, shape))| argument(&p.of, shape, i)).collect();
    if shapes.contains(&Shape::Rest) {
        // The last text is what its arguments made.
        let text = arguments.pop().unwrap_or_default();
        arguments.push(format!("a[{}] != 0 ? \"%s\" : NULL", arguments.len()));
        arguments.push(text);
    }
    let call = format!("((__typeof__(&{name}))(uintptr_t)function)({})", arguments.join(", "));
    if returns == "void" {
        let _ = writeln!(out, "\t{call};\n\treturn 0;\n}}\n");
    } else {
        let _ = writeln!(out, "\t{returns} result = {call};\n\treturn {};\n}}\n", number(returns, "result"));
    }
}

fn callback(out: &mut String, k: usize, kind: &Kind) {
    let Signature { returns, parameters } = &kind.callback.signature;
    let (list, pointer) = (list(parameters), pointer(kind));
    let _ = writeln!(out, "static struct slots slots_{k};");
    let _ = writeln!(out, "static {returns} called_{k}(unsigned slot, {list})\n{{");
    let _ = writeln!(out, "\tconst uint64_t words[] = {{ {} }};", numbers(parameters));
    let result =
        format!("softdpu_replay_called({k}, slots_{k}.functions[slot], words, {})", parameters.len());
    let result =
        if returns == "void" { format!("(void){result}") } else { format!("return ({returns}){result}") };
    let _ = writeln!(out, "\t{result};\n}}");
    slots(out, k, kind);
    let _ = writeln!(out, "__attribute__((unused)) static {pointer} live_{k}(uint64_t function)\n{{");
    let _ = writeln!(out, "\tint slot = function != 0 ? slot_of(&slots_{k}, (uintptr_t)function) : -1;");
    let _ = writeln!(out, "\treturn slot < 0 ? NULL : all_{k}[slot];\n}}\n");
}
