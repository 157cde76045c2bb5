//! Compiles `shim.c`: the few lines that only C can say (variadic functions and `va_list`).

fn main() {
    println!("cargo::rerun-if-changed=src/shim.c");
    cc::Build::new()
        .file("src/shim.c")
        .std("c11")
        .flag("-Wall")
        .flag("-Wextra")
        .flag("-Wpedantic")
        .warnings_into_errors(false)
        .compile("softdpu_shim");
}
