//! The runtime folder: where processes of one user that share cards meet.
//!
//! `$SOFTDPU_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/softdpu`, else `/tmp/softdpu-<uid>`. It is the border of trust: a real
//! folder of this user that nobody else may enter. Once opened it is held by descriptor, so that neither a change of the
//! working directory nor somebody who moves it changes where the process looks.

use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};
use rustix::process::geteuid;
use softdpu_status::{Code, Error, Result};
use std::ffi::OsString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// An opened runtime folder.
#[derive(Debug)]
pub struct Folder {
    /// Opened for paths only: good for entering, not for reading.
    dir: OwnedFd,
    path: PathBuf,
    number: u64,
}

impl Folder {
    /// The folder of this process, made on first use. Later changes of the environment do not move it. Any thread.
    ///
    /// # Errors
    /// Driver, with one log line: it cannot be made, or it is not a folder of this user that only this user may enter. The
    /// same reason is told once, however many ask.
    pub fn of_process() -> Result<&'static Folder> {
        static TOLD: Mutex<String> = Mutex::new(String::new());
        Folder::prepare().map_err(|reason| {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            if *told == reason {
                return unusable();
            }
            told.clone_from(&reason);
            drop(told);
            refused(reason)
        })
    }

    /// As [`Folder::of_process`], for those who can do without: the reason comes back and is not logged.
    ///
    /// # Errors
    /// What is wrong with which folder, in words.
    pub fn prepare() -> Result<&'static Folder, String> {
        static FOLDER: OnceLock<Folder> = OnceLock::new();
        if let Some(folder) = FOLDER.get() {
            return Ok(folder);
        }
        let opened = Folder::look(&Folder::path_from_environment())?;
        Ok(FOLDER.get_or_init(|| opened))
    }

    /// Where the folder is, or would be. No system calls but for the user's number.
    pub fn path_from_environment() -> PathBuf {
        path_from(|name| std::env::var_os(name))
    }

    /// Makes the folder if it is not there, checks and opens it. For tools that look at a folder which is not that of
    /// their environment.
    ///
    /// # Errors
    /// As [`Folder::of_process`].
    pub fn open(path: &Path) -> Result<Folder> {
        Folder::look(path).map_err(refused)
    }

    fn look(path: &Path) -> Result<Folder, String> {
        // Without a trailing slash, which would follow a symbolic link.
        let path: PathBuf = path.components().collect();
        let refuse = |line: std::fmt::Arguments<'_>| format!("runtime folder {}: {line}", path.display());
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = openat(CWD, &path, flags, Mode::empty()).map_err(|errno| match made {
            Err(error) => refuse(format_args!("cannot be made: {error}")),
            Ok(()) => refuse(format_args!("cannot be opened, or is a symbolic link: {errno}")),
        })?;
        let about = fstat(&dir).map_err(|errno| refuse(format_args!("{errno}")))?;
        if !FileType::from_raw_mode(about.st_mode).is_dir() {
            return Err(refuse(format_args!("is no directory")));
        }
        let user = geteuid().as_raw();
        if about.st_uid != user {
            return Err(refuse(format_args!(
                "belongs to user {}, this process runs as {user}",
                about.st_uid
            )));
        }
        let mode = about.st_mode & 0o777;
        // What others may look into does no harm: peers are told apart by their user. What they may change would.
        if mode & 0o700 != 0o700 || mode & 0o022 != 0 {
            return Err(refuse(format_args!(
                "has mode {mode:03o}: its owner needs all rights, and nobody else may write; 700 is best"
            )));
        }
        let number =
            crate::number::checksum64(&[about.st_dev.to_le_bytes(), about.st_ino.to_le_bytes()].concat());
        Ok(Folder { dir, path, number })
    }

    /// Tells this folder apart from every other one of the machine that is there at the same time, whatever path leads
    /// to it.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The path it was opened by, for messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn dir(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }

    /// A path to an entry that is short enough for the address of a socket, however deep the folder lies.
    pub(crate) fn short_path(&self, name: &str) -> String {
        format!("/proc/self/fd/{}/{name}", self.dir.as_raw_fd())
    }

    /// Names of all entries that are valid UTF-8, as ours are.
    pub(crate) fn names(&self) -> Vec<String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let Ok(readable) = openat(&self.dir, c".", flags, Mode::empty()) else { return Vec::new() };
        let Ok(entries) = Dir::new(readable) else { return Vec::new() };
        entries.filter_map(|entry| entry.ok()?.file_name().to_str().ok().map(str::to_owned)).collect()
    }
}

fn path_from(get: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let set = |name| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("SOFTDPU_RUNTIME_DIR")
        .or_else(|| set("XDG_RUNTIME_DIR").map(|folder| folder.join("softdpu")))
        .unwrap_or_else(|| format!("/tmp/softdpu-{}", geteuid().as_raw()).into())
}

fn refused(reason: String) -> Error {
    log::error!(target: crate::LOG, "{reason}");
    unusable()
}

fn unusable() -> Error {
    Error::new(Code::Driver, "runtime folder unusable")
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
