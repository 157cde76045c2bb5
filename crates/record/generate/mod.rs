//! The generator of record and replay: from the contract's list of functions and the C headers.

pub(crate) mod headers;
pub(crate) mod recorder;
pub(crate) mod replayer;
pub(crate) mod shape;
pub(crate) mod table;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// What a build script needs: the interface, and folders. What belongs to other crates is linked into this one, so that
/// its package carries it.
pub(crate) struct Compiler {
    pub(crate) interface: shape::Interface,
    here: PathBuf,
    out: PathBuf,
}

impl Compiler {
    /// Reads everything.
    pub(crate) fn new() -> Self {
        let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo sets it"));
        let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it"));
        let (include, contract) = (here.join("include"), here.join("functions.toml"));
        let shapes = here.join("shapes.toml");
        for path in [&include, &contract, &shapes, &here.join("generate"), &here.join("src/c")] {
            println!("cargo::rerun-if-changed={}", path.display());
        }
        let headers = headers::Headers::read(&include);
        let interface = shape::Interface::of(&headers, &read(&contract), &read(&shapes));
        Self { interface, here, out }
    }

    /// Puts a generated file where the build keeps such.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.out.join(name);
        fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }

    /// Compiles a generated file and one of this crate, against the C face's headers.
    pub(crate) fn compile(&self, generated: &str, own: &str, library: &str) {
        cc::Build::new()
            .files([self.out.join(generated), self.here.join(own)])
            .include(self.here.join("src/c"))
            .include(self.here.join("include-side/host"))
            .include(self.here.join("include"))
            .define("DOCA_ALLOW_EXPERIMENTAL_API", None)
            .std("gnu11")
            .opt_level(1)
            .flag("-Wall")
            .flag("-Wextra")
            // A parameter that a header declares as an array is a pointer here.
            .flag("-Wno-array-parameter")
            .compile(library);
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
