//! The pkg-config files: one per DOCA module and side.
//!
//! They are relocatable: every path starts at `${pcfiledir}`, so a kit may be moved or unpacked anywhere. The
//! run path is written too, because neither a build tree nor a private prefix is searched by the dynamic
//! linker; prefixes that it does search go without. What belongs to the system (`/usr`) stays where it is, and has the
//! plain paths, which pkg-config knows not to repeat.

use std::fs;
use std::path::Path;

use crate::DOCA_VERSION;
use crate::error::{Context, KitError};
use crate::layout::{Layout, Side};
use crate::link::STATIC_LIBRARIES;
use crate::module::{MODULES, Module};

/// Where a kit will be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Nobody searches there by himself.
    Private,
    /// The dynamic linker searches its `lib`.
    Searched,
    /// As before, and it will never be moved.
    System,
}

/// Writes all files of both sides below `root`, which will be used as `prefix`.
pub(crate) fn write_all(root: &Path, prefix: &Path, layout: &Layout, sided: bool) -> Result<(), KitError> {
    let place = match prefix.to_str() {
        Some("/usr") => Place::System,
        Some("/usr/local") => Place::Searched,
        _ => Place::Private,
    };
    for side in Side::ALL {
        let folder = root.join(layout.pkgconfig_of(side));
        fs::create_dir_all(&folder).at("create", &folder)?;
        for module in MODULES {
            let path = folder.join(format!("{}.pc", module.pc));
            fs::write(&path, text(module, side, layout, place, sided)).at("write", &path)?;
        }
    }
    Ok(())
}

/// `sided`: the plain headers name no side, so the host side needs its folder too.
fn text(module: &Module, side: Side, layout: &Layout, place: Place, sided: bool) -> String {
    let up = vec![".."; layout.pkgconfig_of(side).split('/').count()].join("/");
    let Layout { lib, include, include_side, .. } = layout;
    let Module { pc, lib: library, description, .. } = module;
    let side_flag = match side {
        Side::Host if !sided => String::new(),
        _ => format!("-I${{prefix}}/{include_side}/{side} "),
    };
    let requires = if module == &MODULES[0] { "" } else { "Requires: doca-common\n" };
    let rpath = if place == Place::Private { "-Wl,-rpath,${libdir} " } else { "" };
    let prefix = if place == Place::System { "/usr".to_owned() } else { format!("${{pcfiledir}}/{up}") };
    let private = STATIC_LIBRARIES.join(" ");
    format!(
        "prefix={prefix}\n\
         libdir=${{prefix}}/{lib}\n\
         includedir=${{prefix}}/{include}\n\
         side={side}\n\
         \n\
         Name: {pc}\n\
         Description: SoftDPU: {description}\n\
         Version: {DOCA_VERSION}\n\
         {requires}\
         Cflags: {side_flag}-I${{includedir}}\n\
         Libs: -L${{libdir}} {rpath}-l{library}\n\
         Libs.private: -lsoftdpu {private}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_of_a_module() {
        let host = text(&MODULES[2], Side::Host, &Layout::BUILD_TREE, Place::Private, false);
        assert!(host.starts_with("prefix=${pcfiledir}/..\n"), "{host}");
        assert!(host.contains("Requires: doca-common\nCflags: -I${includedir}\n"), "{host}");
        assert!(host.contains("Libs: -L${libdir} -Wl,-rpath,${libdir} -ldoca_dma\n"), "{host}");
        let dpu = text(&MODULES[0], Side::Dpu, &Layout::INSTALLED, Place::Searched, false);
        assert!(dpu.starts_with("prefix=${pcfiledir}/../..\n"), "{dpu}");
        assert!(dpu.contains("Cflags: -I${prefix}/include/softdpu-side/dpu -I${includedir}\n"), "{dpu}");
        assert!(dpu.contains("Libs: -L${libdir} -ldoca_common\n") && !dpu.contains("Requires"), "{dpu}");
        let system = text(&MODULES[2], Side::Host, &Layout::MULTIARCH, Place::System, false);
        assert!(system.starts_with("prefix=/usr\nlibdir=${prefix}/lib/"), "{system}");
        assert!(system.contains("Libs: -L${libdir} -ldoca_dma\n"), "{system}");
    }
}
