//! Makes a folder of packages, as a machine has it on which they are installed: that folder is a layer of the guest's
//! root. Nothing is run of them.

use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// Folders that are links into `usr` wherever packages are installed, though some packages have files in them.
const MERGED: [&str; 4] = ["bin", "lib", "lib64", "sbin"];

/// Nothing of a guest needs these.
const LEFT_OUT: [&str; 4] = ["usr/share/doc", "usr/share/man", "usr/share/locale", "usr/share/lintian"];

/// Unpacks a package into a folder.
///
/// # Errors
/// What went wrong, with the name of the package.
pub(super) fn package(package: &Path, into: &Path) -> Result<(), String> {
    let failed = |e: String| format!("{}: {e}", package.display());
    let mut unpacker = Command::new("dpkg-deb")
        .arg("--fsys-tarfile")
        .arg(package)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("dpkg-deb cannot be run: {e}")))?;
    let stream = unpacker.stdout.take().ok_or_else(|| failed("no output".into()))?;
    let unpacked = archive(stream, into);
    let status = unpacker.wait().map_err(|e| failed(e.to_string()))?;
    unpacked.map_err(failed)?;
    if status.success() { Ok(()) } else { Err(failed(format!("dpkg-deb: {status}"))) }
}

fn archive(stream: impl std::io::Read, into: &Path) -> Result<(), String> {
    let text = |e: std::io::Error| e.to_string();
    let mut archive = tar::Archive::new(stream);
    for entry in archive.entries().map_err(text)? {
        let mut entry = entry.map_err(text)?;
        let Some(path) = place(&entry.path().map_err(text)?) else { continue };
        let to = into.join(&path);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
        }
        let linked = entry.link_name().map_err(text)?.filter(|_| entry.header().entry_type().is_hard_link());
        match linked {
            // Named from the top of the package.
            Some(name) => {
                let from = place(&name).map(|from| into.join(from));
                let from = from.ok_or_else(|| format!("{}: links to nothing", path.display()))?;
                fs::copy(&from, &to).map(drop).map_err(|e| format!("{}: {e}", path.display()))?;
            }
            None if entry.header().entry_type().is_dir() => {
                fs::create_dir_all(&to).map_err(|e| format!("{}: {e}", to.display()))?;
            }
            None => entry.unpack(&to).map(drop).map_err(|e| format!("{}: {e}", path.display()))?,
        }
    }
    // So that programs of both kinds find what they look for.
    for name in MERGED {
        let (link, target) = (into.join(name), Path::new("usr").join(name));
        if into.join(&target).is_dir() && !link.is_symlink() {
            std::os::unix::fs::symlink(&target, &link).map_err(|e| format!("{}: {e}", link.display()))?;
        }
    }
    Ok(())
}

/// Where something of a package goes, below the folder. None: nowhere.
fn place(path: &Path) -> Option<PathBuf> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name),
            Component::CurDir | Component::RootDir => {}
            // What climbs out of the folder has no business there.
            Component::ParentDir | Component::Prefix(_) => return None,
        }
    }
    let mut placed = PathBuf::new();
    if MERGED.iter().any(|merged| parts.first().is_some_and(|first| *first == *merged)) {
        placed.push("usr");
    }
    placed.extend(parts);
    let wanted = placed != Path::new("") && !LEFT_OUT.iter().any(|out| placed.starts_with(out));
    wanted.then_some(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_has_its_place() {
        for (path, expected) in [
            ("./lib/modules/6/x.ko", Some("usr/lib/modules/6/x.ko")),
            ("./usr/bin/x", Some("usr/bin/x")),
            ("bin/busybox", Some("usr/bin/busybox")),
            ("./boot/vmlinuz", Some("boot/vmlinuz")),
            ("./library/x", Some("library/x")),
            ("./", None),
            ("./../etc/passwd", None),
            ("./usr/share/doc/x/copyright", None),
        ] {
            assert_eq!(place(Path::new(path)).as_deref(), expected.map(Path::new), "{path}");
        }
    }

    #[test]
    fn archives_become_folders() {
        let into = std::env::temp_dir().join(format!("softdpu-unpack-{}", std::process::id()));
        let mut builder = tar::Builder::new(Vec::new());
        let mut add = |path: &str, kind: tar::EntryType, link: &str, bytes: &[u8]| {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            if link.is_empty() {
                builder.append_data(&mut header, path, bytes).unwrap();
            } else {
                builder.append_link(&mut header, path, link).unwrap();
            }
        };
        add("lib/one", tar::EntryType::Regular, "", b"first");
        add("lib/two", tar::EntryType::Link, "./lib/one", b"");
        add("usr/lib/three", tar::EntryType::Symlink, "one", b"");
        archive(&*builder.into_inner().unwrap(), &into).unwrap();
        for name in ["usr/lib/one", "lib/two", "lib/three"] {
            assert_eq!(fs::read(into.join(name)).unwrap(), b"first", "{name}");
        }
        fs::remove_dir_all(&into).unwrap();
    }
}
