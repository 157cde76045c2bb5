//! The pages of the C interface: `doca_dma(3)` for `doca_dma.h`, and for each of its functions a page that leads there.

use super::Page;
use super::prototypes::{self, Prototype};
use super::roff::Roff;
use crate::root;
use crate::table::{self, Function, Stability, State};

/// All of them.
pub(super) fn pages() -> Result<Vec<Page>, String> {
    let table = table::load()?;
    let mut headers: Vec<&str> = table.iter().map(|f| f.header.as_str()).collect();
    headers.dedup();
    headers.sort_unstable();
    headers.dedup();
    let mut pages = Vec::new();
    for header in headers {
        let rows: Vec<&Function> = table.iter().filter(|f| f.header == header).collect();
        let name = header.trim_end_matches(".h");
        let text = root::read(&format!("crates/doca/include/{header}"))?;
        pages.push((format!("man3/{name}.3"), page(name, &text, &rows)?));
        // A function that bears the name of its header stands on that page.
        pages.extend(
            rows.iter()
                .map(|f| call(f))
                .filter(|c| *c != name)
                .map(|c| (format!("man3/{c}.3"), format!(".so man3/{name}.3\n"))),
        );
    }
    Ok(pages)
}

/// How programs write the function.
fn call(f: &Function) -> &str {
    f.call.as_deref().unwrap_or(&f.name)
}

fn page(name: &str, header: &str, rows: &[&Function]) -> Result<String, String> {
    let found = prototypes::prototypes(header);
    let (title, text) = prototypes::head(header);
    let mut page = Roff::new(name, 3, "DOCA Core functions");
    page.section("name");
    let mut names: Vec<&str> = rows.iter().map(|f| call(f)).filter(|c| *c != name).collect();
    names.insert(0, name);
    page.line(&format!("{} - {title}", names.join(", ")));
    page.section("synopsis");
    page.bold(&format!("#include <{name}.h>"));
    let module = &rows[0].module;
    page.line(&format!(
        "pkg-config module {module}, library lib{}.so.2; or compile with",
        module.replace('-', "_")
    ));
    page.line("softdpu cc.");
    if rows.iter().any(|f| f.stability == Stability::Experimental) {
        page.line("Functions that are marked experimental need DOCA_ALLOW_EXPERIMENTAL_API in front of the include.");
    }
    page.section("description");
    page.prose(&text);
    page.section("functions");
    for f in rows {
        let prototype = found.iter().find(|p| p.name == f.name);
        function(&mut page, f, prototype.ok_or(format!("{}: no prototype of {}", f.header, f.name))?);
    }
    page.section("errors");
    page.line("Functions that return doca_error_t answer DOCA_SUCCESS or one of the codes that are named with them; every refusal");
    page.line("leaves one line in the log, with object, rule and numbers. The classes of the codes, and what to do about each, stand");
    page.line("in doca_error(3) and in the manual.");
    page.section("see also");
    page.line("softdpu(1), softdpu-cc(1), softdpu-run(1), doca_error(3), doca_pe(3), doca_ctx(3)");
    Ok(page.finish())
}

fn function(page: &mut Roff, f: &Function, prototype: &Prototype) {
    page.subsection(call(f));
    page.bold(&prototype.text);
    match prototype.comment.as_str() {
        "" => page.line("As the function before it, by its name."),
        comment => page.prose(comment),
    }
    let mut marks = Vec::new();
    if f.stability == Stability::Experimental {
        marks.push("Experimental.");
    }
    if f.call.is_some() {
        marks.push("A macro of this name calls the function shown.");
    }
    match f.state {
        State::Missing => marks.push("Answers DOCA_ERROR_NOT_SUPPORTED here."),
        State::Inline => marks.push("Inline: the library has no symbol of it."),
        State::Done => {}
    }
    if !marks.is_empty() {
        page.paragraph();
        page.line(&marks.join(" "));
    }
}
