//! Compiles the functions that take the place of the C face's own (`shim.c` and others), against the C face's headers.

fn main() {
    for file in ["shim.h", "shim.c", "peers.c", "rdma.c", "packets.c", "flow.c", "memory.c"] {
        println!("cargo::rerun-if-changed=src/{file}");
    }
    // Links to the C face's, so that the package carries them.
    println!("cargo::rerun-if-changed=include");
    cc::Build::new()
        .file("src/shim.c")
        .file("src/peers.c")
        .file("src/rdma.c")
        .file("src/packets.c")
        .file("src/flow.c")
        .file("src/memory.c")
        .include("include-side/host")
        .include("include")
        .define("DOCA_ALLOW_EXPERIMENTAL_API", None)
        .std("gnu11")
        // Every call of a checked program passes through.
        .opt_level(2)
        .flag("-fomit-frame-pointer")
        .flag("-Wall")
        .flag("-Wextra")
        .warnings_into_errors(false)
        // Each function in a section of its own; all of them leave the library.
        .compile("softdpu_check_shim");
}
