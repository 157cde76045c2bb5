//! Where things lie inside a kit, and the two sides a program can be compiled for.

use std::fmt;
use std::str::FromStr;

/// The side a C program is compiled for: which of `DOCA_ARCH_HOST` and `DOCA_ARCH_DPU` its headers define.
///
/// It does not change which devices a process sees; that is `SOFTDPU_SIDE` at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Side {
    /// A program of the machine that the card is plugged into; the default on every architecture.
    #[default]
    Host,
    /// A program of the card itself.
    Dpu,
}

impl Side {
    /// Both sides.
    pub const ALL: [Self; 2] = [Self::Host, Self::Dpu];

    /// `host` or `dpu`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Dpu => "dpu",
        }
    }
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Side {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|s| s.name() == text)
            .ok_or_else(|| format!("unknown side '{text}'; the sides are: host, dpu"))
    }
}

/// Folders of a kit, relative to its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Libraries.
    pub lib: &'static str,
    /// Headers.
    pub include: &'static str,
    /// One folder per side, each with one build-configuration header.
    pub include_side: &'static str,
    /// pkg-config files of the host side.
    pub pkgconfig: &'static str,
    /// pkg-config files of the card side.
    pub pkgconfig_dpu: &'static str,
}

impl Layout {
    /// The shape of `target/<profile>/softdpu-sdk`.
    pub const BUILD_TREE: Self = Self {
        lib: "lib",
        include: "include",
        include_side: "include-side",
        pkgconfig: "pkgconfig",
        pkgconfig_dpu: "pkgconfig-dpu",
    };

    /// The shape below an installation prefix. Headers are direct children of `include`, so that a prefix
    /// the compiler searches by itself (`/usr/local`) needs no flag; pkg-config finds `lib/pkgconfig` likewise.
    pub const INSTALLED: Self = Self {
        lib: "lib",
        include: "include",
        include_side: "include/softdpu-side",
        pkgconfig: "lib/pkgconfig",
        pkgconfig_dpu: "lib/pkgconfig-dpu",
    };

    /// The shape of a Debian package: libraries of several architectures side by side.
    pub const MULTIARCH: Self = if cfg!(target_arch = "aarch64") {
        Self {
            lib: "lib/aarch64-linux-gnu",
            pkgconfig: "lib/aarch64-linux-gnu/pkgconfig",
            pkgconfig_dpu: "lib/aarch64-linux-gnu/pkgconfig-dpu",
            ..Self::INSTALLED
        }
    } else {
        Self {
            lib: "lib/x86_64-linux-gnu",
            pkgconfig: "lib/x86_64-linux-gnu/pkgconfig",
            pkgconfig_dpu: "lib/x86_64-linux-gnu/pkgconfig-dpu",
            ..Self::INSTALLED
        }
    };

    /// Folder of the pkg-config files for a side.
    pub const fn pkgconfig_of(&self, side: Side) -> &'static str {
        match side {
            Side::Host => self.pkgconfig,
            Side::Dpu => self.pkgconfig_dpu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_by_name() {
        for side in Side::ALL {
            assert_eq!(side.name().parse(), Ok(side));
        }
        let error = "both".parse::<Side>().unwrap_err();
        assert!(error.contains("'both'") && error.contains("host, dpu"), "{error}");
    }
}
