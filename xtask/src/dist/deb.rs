//! A Debian package, written without Debian's tools: an `ar` archive of two compressed tar archives.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};
use softdpu_sdk::{Layout, MODULES};

use super::pack::{self, gzip, tar_gz};
use super::remove;
use super::stage::{Build, ZshFolder, stage, write};

/// Debian's name of the architecture this was built for.
fn architecture() -> &'static str {
    match env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Makes the package in `folder`; gives back its path.
pub(crate) fn make(build: &Build, folder: &Path) -> Result<PathBuf, String> {
    let top = build.profile.join("softdpu-deb");
    let (data, control) = (top.join("data"), top.join("control"));
    remove(&top)?;
    let usr = data.join("usr");
    stage(build, &usr, Path::new("/usr"), &Layout::MULTIARCH, ZshFolder::Vendor)?;
    let time = pack::time();
    documents(&usr, time)?;
    let lib = usr.join(Layout::MULTIARCH.lib);
    let size = size_of(&data)?;
    write(&control.join("control"), control_file(&needed(&usr, &lib)?, size).as_bytes())?;
    write(&control.join("md5sums"), sums(&data)?.as_bytes())?;
    write(&control.join("shlibs"), shlibs().as_bytes())?;
    write(&control.join("triggers"), b"activate-noawait ldconfig\n")?;
    let packed = |folder: &Path| tar_gz(folder, ".", time).map_err(|e| format!("{}: {e}", folder.display()));
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", packed(&control)?),
        ("data.tar.gz", packed(&data)?),
    ];
    let package = folder.join(format!("softdpu_{}_{}.deb", env!("CARGO_PKG_VERSION"), architecture()));
    write(&package, &ar(&members, time))?;
    remove(&top)?;
    Ok(package)
}

/// What Debian wants of documents: man pages and changes compressed, licences in one file. The package's own changes are
/// that it was made; those of the software are in CHANGELOG.md.
fn documents(usr: &Path, time: u64) -> Result<(), String> {
    let doc = usr.join("share/doc/softdpu");
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::remove_file(doc.join(name)).map_err(|e| format!("{name}: {e}"))?;
    }
    let mit = crate::root::read("LICENSE-MIT")?;
    write(&doc.join("copyright"), copyright(&mit).as_bytes())?;
    write(&doc.join("changelog.gz"), &gzip(changelog(time).as_bytes()).map_err(|e| e.to_string())?)?;
    for page in files(&usr.join("share/man"))? {
        compress(&page, &page.with_added_extension("gz"))?;
    }
    let overrides = usr.join("share/lintian/overrides/softdpu");
    write(&overrides, include_bytes!("lintian-overrides"))
}

fn copyright(mit: &str) -> String {
    let mut text = String::from(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: softdpu\n\
         Comment: Code of others inside the binaries, with its licences, is listed in THIRD-PARTY.txt and\n \
         sbom.cdx.json beside this file.\n\n\
         Files: *\n\
         Copyright: the SoftDPU authors\n\
         License: MIT or Apache-2.0\n\n\
         License: MIT\n",
    );
    for line in mit.lines() {
        let _ = writeln!(text, " {}", if line.trim().is_empty() { "." } else { line });
    }
    text.push_str(
        "\nLicense: Apache-2.0\n \
         The text of this licence is in /usr/share/common-licenses/Apache-2.0.\n",
    );
    text
}

/// Name and address of whoever makes the package.
fn maintainer() -> String {
    let name = env::var("DEBFULLNAME").unwrap_or_else(|_| "SoftDPU".into());
    let address = env::var("DEBEMAIL").unwrap_or_else(|_| "softdpu@localhost.localdomain".into());
    format!("{name} <{address}>")
}

fn changelog(time: u64) -> String {
    let (version, who, when) = (env!("CARGO_PKG_VERSION"), maintainer(), mail_date(time));
    format!(
        "softdpu ({version}) unstable; urgency=medium\n\n  \
         * This version; what is new in it stands in CHANGELOG.md.\n\n \
         -- {who}  {when}\n"
    )
}

/// A time in the form of mail headers, in UTC.
fn mail_date(time: u64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, seconds) = (time / 86_400, time % 86_400);
    // Years that begin in March: the day that is sometimes there comes last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let of_year_400 = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_year_400 + of_year_400 / 4 - of_year_400 / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = (march_month + 2) % 12;
    let year = era * 400 + of_year_400 + u64::from(month < 2);
    format!(
        "{}, {day:02} {} {year} {:02}:{:02}:{:02} +0000",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60,
    )
}

fn compress(from: &Path, to: &Path) -> Result<(), String> {
    let bytes = fs::read(from).map_err(|e| format!("{}: {e}", from.display()))?;
    write(to, &gzip(&bytes).map_err(|e| e.to_string())?)?;
    fs::remove_file(from).map_err(|e| format!("{}: {e}", from.display()))
}

/// Regular files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(inside) = open.pop() {
        let entries = fs::read_dir(&inside).map_err(|e| format!("{}: {e}", inside.display()))?;
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(kind) if kind.is_file() => found.push(entry.path()),
                _ => {}
            }
        }
    }
    found.sort();
    Ok(found)
}

/// KiB, as dpkg counts them: every file on its own.
fn size_of(data: &Path) -> Result<u64, String> {
    let sizes = files(data)?.into_iter().map(|f| fs::metadata(f).map_or(0, |m| m.len().div_ceil(1024)));
    Ok(sizes.sum())
}

fn sums(data: &Path) -> Result<String, String> {
    let mut text = String::new();
    for file in files(data)? {
        let bytes = fs::read(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        for byte in Md5::digest(bytes) {
            let _ = write!(text, "{byte:02x}");
        }
        let _ = writeln!(text, "  {}", file.strip_prefix(data).unwrap_or(&file).display());
    }
    Ok(text)
}

/// Which package other packages' programs need, by library.
fn shlibs() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let stubs = MODULES.iter().map(|m| format!("lib{}", m.lib));
    let all = std::iter::once("libsoftdpu".to_owned()).chain(stubs);
    all.map(|name| format!("{name} 2 softdpu (>= {version})\n")).collect()
}

/// The packages of the system that the binaries need, with the oldest version that has their symbols.
fn needed(usr: &Path, lib: &Path) -> Result<String, String> {
    let mut binaries = vec![usr.join("bin/softdpu")];
    binaries.extend(files(lib)?.into_iter().filter(|f| f.to_string_lossy().contains(".so")));
    let (mut libc, mut gcc) = (vec![2, 17], vec![3, 0]);
    for binary in &binaries {
        let bytes = fs::read(binary).map_err(|e| format!("{}: {e}", binary.display()))?;
        for name in version_names(&bytes) {
            let (most, text) = match name.split_once('_') {
                Some(("GLIBC", text)) => (&mut libc, text),
                Some(("GCC", text)) => (&mut gcc, text),
                _ => continue,
            };
            // GLIBC_PRIVATE and its like have no number.
            let numbers: Result<Vec<u32>, _> = text.split('.').map(str::parse).collect();
            if let Ok(version) = numbers {
                *most = (*most).clone().max(version);
            }
        }
    }
    let dotted = |v: &[u32]| v.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    Ok(format!("libc6 (>= {}), libgcc-s1 (>= {})", dotted(&libc), dotted(&gcc)))
}

/// The strings of a file that look like names of symbol versions. Those that its dynamic section refers to are among
/// them; one too many asks for a newer system than needed, which errs on the safe side.
fn version_names(bytes: &[u8]) -> BTreeSet<&str> {
    let strings = bytes.split(|b| *b == 0).filter(|s| s.starts_with(b"GLIBC_") || s.starts_with(b"GCC_"));
    strings.filter(|s| s.len() < 16).filter_map(|s| std::str::from_utf8(s).ok()).collect()
}

fn control_file(needed: &str, kib: u64) -> String {
    format!(
        "Package: softdpu\n\
         Version: {}\n\
         Architecture: {}\n\
         Maintainer: {}\n\
         Installed-Size: {kib}\n\
         Depends: {needed}\n\
         Recommends: gcc | c-compiler, libc6-dev | libc-dev, pkgconf | pkg-config\n\
         Suggests: libfabric1, libisal2\n\
         Section: libdevel\n\
         Priority: optional\n\
         Description: data processing unit made of software\n \
         The DOCA Core programming model (devices, memory maps, buffers, contexts,\n \
         tasks, progress engines) on any machine, without a card. Programs written\n \
         for a real card compile and run unchanged; a checking mode says what they\n \
         do wrong.\n \
         .\n \
         The package has the library with a stub per module, headers, pkg-config\n \
         files for host and card side, the library of the checking mode, and the\n \
         command softdpu.\n",
        env!("CARGO_PKG_VERSION"),
        architecture(),
        maintainer(),
    )
}

/// A Unix archive as dpkg reads it: plain names, no index.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut out = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let head = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n", 0, 0, 100_644, bytes.len());
        out.extend_from_slice(head.as_bytes());
        out.extend_from_slice(bytes);
        if bytes.len() % 2 == 1 {
            out.push(b'\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_begin_at_even_places() {
        let archive = ar(&[("debian-binary", b"2.0\n".to_vec()), ("a", b"x".to_vec()), ("b", vec![])], 7);
        assert!(
            archive
                .starts_with(b"!<arch>\ndebian-binary   7           0     0     100644  4         `\n2.0\n")
        );
        assert_eq!(archive.len(), 8 + (60 + 4) + (60 + 2) + 60);
    }

    #[test]
    fn dates_of_mails() {
        assert_eq!(mail_date(0), "Thu, 01 Jan 1970 00:00:00 +0000");
        assert_eq!(mail_date(951_827_696), "Tue, 29 Feb 2000 12:34:56 +0000");
        assert_eq!(mail_date(1_767_225_600), "Thu, 01 Jan 2026 00:00:00 +0000");
        assert_eq!(mail_date(1_798_761_599), "Thu, 31 Dec 2026 23:59:59 +0000");
    }

    #[test]
    fn the_newest_symbol_version_counts() {
        let names = version_names(b"x\0GLIBC_2.34\0GLIBC_2.4\0no GLIBC_9.9\0GCC_4.2.0\0");
        assert_eq!(names.into_iter().collect::<Vec<_>>(), ["GCC_4.2.0", "GLIBC_2.34", "GLIBC_2.4"]);
        let folder = env::temp_dir().join(format!("softdpu-deb-{}", std::process::id()));
        write(&folder.join("bin/softdpu"), b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_PRIVATE\0").unwrap();
        write(&folder.join("lib/libsoftdpu.so.2"), b"\0GCC_4.2.0\0GLIBC_2.10\0").unwrap();
        let text = needed(&folder, &folder.join("lib")).unwrap();
        assert_eq!(text, "libc6 (>= 2.34), libgcc-s1 (>= 4.2.0)");
        remove(&folder).unwrap();
    }
}
