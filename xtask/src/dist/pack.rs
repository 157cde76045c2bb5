//! Archives that come out the same for the same files: sorted names, one time, one owner.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};

/// The time that everything carries: `SOURCE_DATE_EPOCH`, else that of the last commit, else a day of the past.
pub(crate) fn time() -> u64 {
    const A_DAY: u64 = 1_767_225_600;
    let given = env::var("SOURCE_DATE_EPOCH").ok().and_then(|text| text.parse().ok());
    given.or_else(last_commit).unwrap_or(A_DAY)
}

fn last_commit() -> Option<u64> {
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]).current_dir(crate::root::root());
    let done = git.output().ok().filter(|done| done.status.success())?;
    String::from_utf8(done.stdout).ok()?.trim().parse().ok()
}

/// Everything below `folder` as a compressed tar archive, each name with `top` before it; folders included.
pub(crate) fn tar_gz(folder: &Path, top: &str, time: u64) -> io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let mut names = vec![PathBuf::new()];
    while let Some(name) = names.pop() {
        let path = folder.join(&name);
        append(&mut archive, &path, &Path::new(top).join(&name), time)?;
        if fs::symlink_metadata(&path)?.is_dir() {
            let inside = fs::read_dir(&path)?.collect::<io::Result<Vec<_>>>()?;
            let mut inside: Vec<PathBuf> = inside.iter().map(|e| name.join(e.file_name())).collect();
            // The last one is taken first.
            inside.sort_by(|a, b| b.cmp(a));
            names.extend(inside);
        }
    }
    gzip(&archive.into_inner()?)
}

fn append(archive: &mut Builder<Vec<u8>>, path: &Path, name: &Path, time: u64) -> io::Result<()> {
    let about = fs::symlink_metadata(path)?;
    let mut header = Header::new_gnu();
    header.set_mtime(time);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("root")?;
    header.set_groupname("root")?;
    header.set_size(0);
    if about.is_symlink() {
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        archive.append_link(&mut header, name, fs::read_link(path)?)
    } else if about.is_dir() {
        header.set_entry_type(EntryType::Directory);
        header.set_mode(0o755);
        archive.append_data(&mut header, name.join(""), io::empty())
    } else {
        // Shared libraries come out of the linker executable; only programs are meant to be.
        let library = name.file_name().is_some_and(|n| n.to_string_lossy().contains(".so"));
        let executable = about.permissions().mode() & 0o111 != 0 && !library;
        header.set_entry_type(EntryType::Regular);
        header.set_mode(if executable { 0o755 } else { 0o644 });
        header.set_size(about.len());
        archive.append_data(&mut header, name, fs::File::open(path)?)
    }
}

/// Compressed, without name and time.
pub(crate) fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut out = GzBuilder::new().write(Vec::new(), Compression::best());
    out.write_all(bytes)?;
    out.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_says_nothing_of_who_made_it_and_when() {
        let folder = env::temp_dir().join(format!("softdpu-pack-{}", std::process::id()));
        let make = |name: &str, mode: u32| {
            let top = folder.join(name);
            fs::create_dir_all(top.join("lib")).unwrap();
            fs::write(top.join("run"), "#!/bin/sh\necho started\n").unwrap();
            fs::set_permissions(top.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
            fs::write(top.join("lib/a.so.2"), "x").unwrap();
            fs::set_permissions(top.join("lib/a.so.2"), fs::Permissions::from_mode(mode)).unwrap();
            std::os::unix::fs::symlink("a.so.2", top.join("lib/a.so")).unwrap();
            tar_gz(&top, "top-1.0", 1_000_000).unwrap()
        };
        let first = make("one", 0o755);
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(first, make("two", 0o600), "other times and rights, the same archive");

        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(&first[..]));
        let entries = archive.entries().unwrap().map(|e| {
            let e = e.unwrap();
            let header = e.header();
            assert_eq!((header.mtime().unwrap(), header.uid().unwrap()), (1_000_000, 0));
            (e.path().unwrap().display().to_string(), header.mode().unwrap())
        });
        let wanted = [
            ("top-1.0/", 0o755),
            ("top-1.0/lib/", 0o755),
            ("top-1.0/lib/a.so", 0o777),
            ("top-1.0/lib/a.so.2", 0o644),
            ("top-1.0/run", 0o755),
        ];
        assert_eq!(entries.collect::<Vec<_>>(), wanted.map(|(n, m)| (n.to_owned(), m)));
        fs::remove_dir_all(&folder).unwrap();
    }
}
