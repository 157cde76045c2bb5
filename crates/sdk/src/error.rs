//! What can go wrong on the way to a kit, worded for the person at the terminal.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why there is no kit. The text says what to do about it.
#[derive(Debug)]
#[non_exhaustive]
pub enum KitError {
    /// The static library has not been built.
    NoArchive {
        /// Where it was looked for.
        path: PathBuf,
        /// The command that builds it.
        build: String,
    },
    /// None of the known C compilers could be started.
    NoCompiler {
        /// The names that were tried, in order.
        tried: String,
    },
    /// The headers were found neither in the source folder nor beside the build tree.
    NoHeaders {
        /// The folders that were looked at.
        tried: Vec<PathBuf>,
    },
    /// The command was installed alone, and the sources it was built from are gone.
    NoSources {
        /// Where a file of them should be.
        looked_at: PathBuf,
    },
    /// Neither `XDG_DATA_HOME` nor `HOME` says where to keep a kit.
    NoHome,
    /// The compiler ran and failed.
    Link {
        /// What was being made.
        output: PathBuf,
        /// What the compiler said.
        stderr: String,
    },
    /// The static library is not an archive of the expected kind.
    Archive {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A program (cargo) that was asked for the static library failed.
    Build {
        /// The command line.
        command: String,
    },
    /// A file operation failed.
    Io {
        /// What was attempted, as in "read", "create".
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl fmt::Display for KitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoArchive { path, build } => write!(
                f,
                "the C library has not been built: {} is missing; build it with: {build}",
                path.display()
            ),
            Self::NoCompiler { tried } => write!(
                f,
                "no C compiler found (tried {tried}); install gcc and binutils, for example: apt-get install gcc"
            ),
            Self::NoHeaders { tried } => {
                let list: Vec<_> = tried.iter().map(|p| p.display().to_string()).collect();
                write!(f, "the C headers are missing; looked in: {}", list.join(", "))
            }
            Self::NoSources { looked_at } => write!(
                f,
                "this command was installed without its library, and the sources to build one are gone ({}); install \
                 a package, or run `cargo xtask dist` in the sources",
                looked_at.display()
            ),
            Self::NoHome => f.write_str(
                "neither XDG_DATA_HOME nor HOME is set; one of them says where the library is kept",
            ),
            Self::Link { output, stderr } => {
                write!(f, "linking {} failed; the compiler said:\n{}", output.display(), stderr.trim_end())
            }
            Self::Archive { path, what } => write!(f, "{}: {what}", path.display()),
            Self::Build { command } => write!(f, "`{command}` failed"),
            Self::Io { action, path, source } => write!(f, "cannot {action} {}: {source}", path.display()),
        }
    }
}

impl std::error::Error for KitError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}

/// Adds the action and the path to an I/O error.
pub(crate) trait Context<T> {
    /// `action` reads as in "cannot {action} {path}".
    fn at(self, action: &'static str, path: &Path) -> Result<T, KitError>;
}

impl<T> Context<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, KitError> {
        self.map_err(|source| KitError::Io { action, path: path.to_owned(), source })
    }
}
