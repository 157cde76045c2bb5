//! The C development kit: what a C or C++ program needs to be built and run against SoftDPU.
//!
//! Cargo leaves one static library, `target/<profile>/libsoftdpu_c.a`. This crate turns it into a kit:
//!
//! ```text
//! lib/libsoftdpu.so.2          the one implementation: SONAME, version script, interposable symbols
//! lib/libsoftdpu.so            for -lsoftdpu
//! lib/libsoftdpu.a             for static programs
//! lib/libdoca_<module>.so.2    a stub per DOCA module, filtered to libsoftdpu.so.2 (DT_FILTER)
//! lib/libsoftdpu-check.so      stands between a program and the library in check mode
//! lib/libsoftdpu-record.so     stands there to write down what a program calls
//! include/doca_*.h             the headers; the host side is the default
//! include-side/<side>/         one header that makes a program a card-side or host-side program
//! pkgconfig/  pkgconfig-dpu/   a file per DOCA module, for the host side and for the card side
//! ```
//!
//! In a build tree [`Kit::locate`] assembles `target/<profile>/softdpu-sdk` on first use and again whenever
//! the library or the headers have changed; an installed command uses the kit beside it, one that `cargo install`
//! installed builds its kit once. `cargo xtask dist` assembles the same kit in the shape of an installation ([`assemble()`] with [`Layout::INSTALLED`]).
//!
//! Everything is done with files and one call to the C compiler per library. No unsafe code.

mod archive;
mod assemble;
mod error;
mod home;
mod kit;
mod layout;
mod link;
mod module;
mod pkgconfig;
mod workspace;

pub use archive::exported_symbols;
pub use assemble::{Sources, assemble};
pub use error::KitError;
pub use kit::Kit;
pub use layout::{Layout, Side};
pub use module::{MODULES, Module, module_of};
pub use workspace::{build_archive, kit_for_tests};

/// Version of the DOCA interface that the kit offers, as pkg-config reports it.
pub const DOCA_VERSION: &str = "3.3.0000";

/// The shared library that holds the implementation; also its SONAME.
pub const SHARED_LIBRARY: &str = "libsoftdpu.so.2";

/// The static library as Cargo names it (package `softdpu-capi`).
pub const ARCHIVE: &str = "libsoftdpu_c.a";

/// The static library of the checker as Cargo names it (package `softdpu-check`). A kit is made without it, too.
pub const CHECK_ARCHIVE: &str = "libsoftdpu_check.a";

/// The library that check mode loads before the program's own.
pub const CHECK_LIBRARY: &str = "libsoftdpu-check.so";

/// The static library of the recorder as Cargo names it (package `softdpu-recorder`). A kit is made without it, too.
pub const RECORD_ARCHIVE: &str = "libsoftdpu_recorder.a";

/// The library that a recorded program loads before its own.
pub const RECORD_LIBRARY: &str = "libsoftdpu-record.so";

/// Version node that every exported symbol carries.
pub const SYMBOL_NODE: &str = "SOFTDPU_3.3";
