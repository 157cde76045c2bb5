//! Compiles `shim.c`, the functions that take the place of the C face's own, against the C face's headers.

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    println!("cargo::rerun-if-changed=../doca/include");
    cc::Build::new()
        .file("src/shim.c")
        .include("../doca/include-side/host")
        .include("../doca/include")
        .define("DOCA_ALLOW_EXPERIMENTAL_API", None)
        .std("gnu11")
        .flag("-Wall")
        .flag("-Wextra")
        .warnings_into_errors(false)
        // Each function in a section of its own; all of them leave the library.
        .compile("softdpu_check_shim");
}
