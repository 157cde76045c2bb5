//! The link step: one shared library with all the code, and a stub per DOCA module.
//!
//! Cargo's own `cdylib` cannot do this: the compiler passes a version script of its own, so symbols would stay
//! unversioned and internal ones would be exported. Hence the detour through the static library.
//!
//! The implementation must exist once per process, while programs ask for a dozen libraries. A stub carries the
//! names and versions of its module's functions and the dynamic tag `DT_FILTER`: the dynamic linker resolves
//! each of them in `libsoftdpu.so.2`. The stub's own code is never reached.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::error::{Context, KitError};
use crate::module::{MODULES, Module, module_of};
use crate::{CHECK_LIBRARY, RECORD_LIBRARY, SHARED_LIBRARY, SYMBOL_NODE};

/// Compilers that can do the link, in order of preference. `CC` is not asked: it may be a cross compiler or
/// carry flags that belong to the user's program.
const COMPILERS: [&str; 3] = ["gcc", "cc", "clang"];

/// System libraries that Rust's standard library refers to.
const SYSTEM_LIBRARIES: [&str; 6] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl"];

/// What the library of check mode stands in for besides the C face: what programs give memory back with.
const CHECK_OVER: [&str; 7] = ["free", "munmap", "mprotect", "realloc", "reallocarray", "mremap", "madvise"];

/// What a static program has to name besides the archive; its compiler adds the unwinder by itself.
pub(crate) const STATIC_LIBRARIES: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// An instruction that traps, for the code of stubs.
const TRAP: &str = if cfg!(target_arch = "x86_64") { "ud2" } else { "brk #0" };

/// A compiler together with a folder for intermediate files.
pub(crate) struct Linker {
    compiler: &'static str,
    scratch: PathBuf,
}

impl Linker {
    /// Finds a compiler; `scratch` must exist.
    pub(crate) fn find(scratch: &Path) -> Result<Self, KitError> {
        let works =
            |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
        let compiler = COMPILERS.iter().find(works);
        let compiler = compiler.ok_or_else(|| KitError::NoCompiler { tried: COMPILERS.join(", ") })?;
        Ok(Self { compiler, scratch: scratch.to_owned() })
    }

    /// Makes `lib/libsoftdpu.so.2` from the archive.
    ///
    /// `-u` makes the linker take the members that define the interface, the version script hides the rest,
    /// and what nobody reaches is dropped. Never `-Bsymbolic`: tools interpose these symbols. `nodelete`:
    /// worker threads and thread-local destructors must not lose their code to a `dlclose`.
    pub(crate) fn implementation(
        &self,
        archive: &Path,
        symbols: &[String],
        lib: &Path,
    ) -> Result<(), KitError> {
        let script = self.version_script(SYMBOL_NODE, symbols, "softdpu.map")?;
        self.whole(archive, symbols, &script, lib, SHARED_LIBRARY)
    }

    /// Makes a library that stands before the others. Its symbols have no version, so that they stand in for those of any
    /// version.
    pub(crate) fn before(
        &self,
        archive: &Path,
        symbols: &[String],
        lib: &Path,
        name: &str,
    ) -> Result<(), KitError> {
        let script = self.version_script("", symbols, &format!("{name}.map"))?;
        self.whole(archive, symbols, &script, lib, name)
    }

    /// Makes a shared library of a static one.
    fn whole(
        &self,
        archive: &Path,
        symbols: &[String],
        script: &str,
        lib: &Path,
        name: &str,
    ) -> Result<(), KitError> {
        let mut wanted = String::new();
        for symbol in symbols {
            // Writing to a String does not fail.
            let _ = writeln!(wanted, "-Wl,-u,{symbol}");
        }
        let undefined = self.scratch_file("undefined.args", &wanted)?;
        let output = lib.join(name);
        let mut gcc = self.compiler();
        gcc.args(["-shared", "-o"]).arg(&output);
        gcc.arg(format!("-Wl,-soname,{name}"));
        gcc.arg(format!("-Wl,--version-script={script}")).arg(format!("@{undefined}")).arg(archive);
        gcc.args(["-Wl,--gc-sections", "-Wl,-z,nodelete", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,defs"]);
        gcc.args(SYSTEM_LIBRARIES);
        run(gcc, &output)
    }

    /// Makes the stub of one module, `lib/libdoca_<module>.so.2`.
    pub(crate) fn stub(&self, module: &Module, symbols: &[String], lib: &Path) -> Result<(), KitError> {
        let own: Vec<String> = symbols.iter().filter(|s| module_of(s) == module).cloned().collect();
        let mut text = String::from("\t.text\n");
        for symbol in &own {
            let _ = writeln!(text, "\t.globl {symbol}\n\t.type {symbol}, %function\n{symbol}:");
        }
        let _ = writeln!(text, "\t{TRAP}\n\t.section .note.GNU-stack,\"\",%progbits");
        let source = self.scratch_file(&format!("{}.s", module.lib), &text)?;
        let script = self.version_script(SYMBOL_NODE, &own, &format!("{}.map", module.lib))?;
        let soname = stub_name(module);
        let output = lib.join(&soname);
        let mut gcc = self.compiler();
        gcc.args(["-shared", "-nostdlib", "-o"]).arg(&output).arg(source);
        gcc.arg(format!("-Wl,-soname,{soname}")).arg(format!("-Wl,-F,{SHARED_LIBRARY}"));
        gcc.arg(format!("-Wl,--version-script={script}")).arg("-Wl,-rpath,$ORIGIN");
        run(gcc, &output)
    }

    fn version_script(&self, node: &str, symbols: &[String], name: &str) -> Result<String, KitError> {
        let mut text = format!("{node} {{\n");
        if !symbols.is_empty() {
            let _ = write!(text, "global:\n\t{};\n", symbols.join(";\n\t"));
        }
        text.push_str("local:\n\t*;\n};\n");
        self.scratch_file(name, &text)
    }

    /// Writes an intermediate file and gives its name back.
    fn scratch_file(&self, name: &str, text: &str) -> Result<String, KitError> {
        let path = self.scratch.join(name);
        fs::write(&path, text).at("write", &path)?;
        Ok(name.to_owned())
    }

    /// The compiler, started in the scratch folder: intermediate files go by bare names, because a path with
    /// a comma or a blank would not survive `-Wl` and `@file`.
    fn compiler(&self) -> Command {
        let mut command = Command::new(self.compiler);
        command.current_dir(&self.scratch).env("LC_ALL", "C");
        command
    }
}

/// File name and SONAME of a module's stub.
pub(crate) fn stub_name(module: &Module) -> String {
    format!("lib{}.so.2", module.lib)
}

/// Makes all libraries of a kit in `lib`, and the unversioned names for the linker. All paths are absolute.
pub(crate) fn libraries(
    archive: &Path,
    symbols: &[String],
    lib: &Path,
    scratch: &Path,
) -> Result<(), KitError> {
    let linker = Linker::find(scratch)?;
    linker.implementation(archive, symbols, lib)?;
    development_name(lib, SHARED_LIBRARY)?;
    for module in MODULES {
        linker.stub(module, symbols, lib)?;
        development_name(lib, &stub_name(module))?;
        // Static programs name the modules too; an empty archive lets libsoftdpu.a behind it do the work.
        let empty = lib.join(format!("lib{}.a", module.lib));
        fs::write(&empty, "!<arch>\n").at("write", &empty)?;
    }
    let static_library = lib.join("libsoftdpu.a");
    fs::copy(archive, &static_library).at("write", &static_library)?;
    Ok(())
}

/// Makes the library of check mode in `lib`. All paths are absolute.
pub(crate) fn check_library(
    archive: &Path,
    symbols: &[String],
    lib: &Path,
    scratch: &Path,
) -> Result<(), KitError> {
    let over: Vec<String> = CHECK_OVER.iter().map(|name| (*name).to_owned()).collect();
    Linker::find(scratch)?.before(archive, &[symbols, &over].concat(), lib, CHECK_LIBRARY)
}

/// Makes the library that records in `lib`. All paths are absolute.
pub(crate) fn record_library(
    archive: &Path,
    symbols: &[String],
    lib: &Path,
    scratch: &Path,
) -> Result<(), KitError> {
    Linker::find(scratch)?.before(archive, symbols, lib, RECORD_LIBRARY)
}

/// `libx.so` beside `libx.so.2`. The new link takes the old one's place in one step.
fn development_name(lib: &Path, versioned: &str) -> Result<(), KitError> {
    let name = lib.join(versioned.trim_end_matches(".2"));
    replace_symlink(Path::new(versioned), &name)
}

/// Makes `link` point to `target`, whatever link was there, in one step.
pub(crate) fn replace_symlink(target: &Path, link: &Path) -> Result<(), KitError> {
    let fresh = link.with_added_extension("new");
    match fs::remove_file(&fresh) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e).at("remove", &fresh),
        _ => {}
    }
    std::os::unix::fs::symlink(target, &fresh).at("create", &fresh)?;
    fs::rename(&fresh, link).at("create", link)
}

fn run(mut command: Command, output: &Path) -> Result<(), KitError> {
    log::debug!(target: "softdpu::sdk", "{command:?}");
    let link = |stderr| KitError::Link { output: output.to_owned(), stderr };
    let done = command.output().map_err(|e| link(e.to_string()))?;
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    if done.status.success() {
        return Ok(());
    }
    // "cannot find 'ld'" is the compiler's way to say that binutils are missing.
    let missing = stderr.contains("cannot find 'ld'") || stderr.contains("cannot execute 'as'");
    let hint = if missing { "\n(install binutils, for example: apt-get install binutils)" } else { "" };
    Err(link(stderr + hint))
}
