//! The file system that a guest starts from: a shell, the modules without which there is no root, and the script that
//! puts the root together out of three folders of this machine.

use super::fetch::{Image, Tools, quiet};
use super::modules::Modules;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the root is made with.
const NEEDED: [&str; 4] = ["virtio_pci", "9pnet_virtio", "9p", "overlay"];

/// The first program. The root has three layers that cannot be written to, and one in memory; `/run/job` is the folder
/// of the job, to which results go.
const INIT: &str = r#"#!/bin/busybox sh
B=/bin/busybox
$B mount -t proc proc /proc
$B mount -t sysfs sys /sys
$B mount -t devtmpfs dev /dev
for module in /modules/*; do $B insmod $module || echo "init: $module cannot be loaded"; done
option=trans=virtio,version=9p2000.L,msize=1048576
for layer in root tools kernel; do
    $B mount -t 9p -o $option,ro,cache=loose $layer /layers/$layer || echo "init: no layer $layer"
done
$B mount -t tmpfs top /layers/top
$B mkdir /layers/top/files /layers/top/work
$B mount -t overlay -o lowerdir=/layers/kernel:/layers/tools:/layers/root,upperdir=/layers/top/files,workdir=/layers/top/work root /new ||
    echo "init: no root"
for folder in proc sys dev; do $B mount --move /$folder /new/$folder; done
$B mkdir -p /new/dev/shm /new/dev/pts
$B mount -t tmpfs shm /new/dev/shm
$B mount -t devpts pts /new/dev/pts
$B mount -t tmpfs run /new/run
$B mkdir /new/run/job
$B mount -t 9p -o $option,cache=none job /new/run/job || echo "init: no folder for results"
exec $B switch_root /new /bin/bash /run/job/script
"#;

/// All of it, as the kernel takes it.
///
/// # Errors
/// Something of it is not there.
pub(super) fn image(tools: &Tools, kernel: &Image) -> Result<Vec<u8>, String> {
    let read = |path: &Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    let shell = tools.0.join("usr/bin/busybox");
    let shell = if shell.is_file() { shell } else { "/bin/busybox".into() };
    let mut archive = Archive::default();
    for folder in ["bin", "dev", "layers", "modules", "new", "proc", "sys"] {
        archive.folder(folder);
    }
    for layer in ["kernel", "root", "tools", "top"] {
        archive.folder(&format!("layers/{layer}"));
    }
    archive.file("init", INIT.as_bytes());
    archive.file("bin/busybox", &read(&shell)?);
    let modules = kernel.folder.join("usr/lib/modules").join(&kernel.version);
    let text = |name: &str| fs::read_to_string(modules.join(name)).unwrap_or_default();
    let order = Modules::read(&text("modules.dep"), &text("modules.builtin")).order(&NEEDED)?;
    for (at, file) in order.iter().enumerate() {
        archive.file(&format!("modules/{at:02}.ko"), &plain(&modules.join(file), &shell, read)?);
    }
    Ok(archive.end())
}

/// A module's bytes, unpacked.
fn plain(
    module: &Path,
    shell: &Path,
    read: impl Fn(&Path) -> Result<Vec<u8>, String>,
) -> Result<Vec<u8>, String> {
    let packer = match module.extension().and_then(|e| e.to_str()) {
        Some("xz") => "unxz",
        Some("gz") => "gunzip",
        Some("ko") => return read(module),
        _ => return Err(format!("{}: packed in an unknown way", module.display())),
    };
    let copy = std::env::temp_dir().join(format!("softdpu-module-{}", std::process::id()));
    let mut unpack = Command::new("sh");
    unpack
        .args(["-c", "exec \"$0\" \"$1\" -c <\"$2\" >\"$3\""])
        .arg(shell)
        .arg(packer)
        .arg(module)
        .arg(&copy);
    let bytes = quiet(&mut unpack).and_then(|_| read(&copy));
    // A leftover does no harm.
    let _ = fs::remove_file(copy);
    bytes
}

/// An archive of the kind `newc`.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    entries: u32,
}

impl Archive {
    fn folder(&mut self, name: &str) {
        self.entry(name, 0o040_755, &[]);
    }

    fn file(&mut self, name: &str, content: &[u8]) {
        self.entry(name, 0o100_755, content);
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let links = if mode & 0o040_000 == 0 { 1 } else { 2 };
        // Number, mode, owner, group, links, time, size, four device numbers, length of the name with its zero, sum.
        let len = (content.len() as u32, name.len() as u32 + 1);
        let fields = [self.entries, mode, 0, 0, links, 0, len.0, 0, 0, 0, 0, len.1, 0];
        self.bytes.extend_from_slice(b"070701");
        fields.iter().for_each(|field| self.bytes.extend(format!("{field:08X}").bytes()));
        self.bytes.extend(name.bytes().chain([0]));
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn end(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, &[]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_laid_out_as_the_kernel_reads_them() {
        let mut archive = Archive::default();
        archive.folder("bin");
        archive.file("bin/x", b"12345");
        let bytes = archive.end();
        let field = |at: usize, which: usize| {
            let text = std::str::from_utf8(&bytes[at + 6 + 8 * which..][..8]).unwrap();
            usize::from_str_radix(text, 16).unwrap()
        };
        // A head of 110 bytes, a name of 4 with its zero, filled up to 116.
        assert_eq!((&bytes[..6], field(0, 1), field(0, 6), field(0, 11)), (&b"070701"[..], 0o40755, 0, 4));
        assert_eq!(&bytes[110..114], b"bin\0");
        assert_eq!((field(116, 1), field(116, 6), field(116, 11)), (0o100_755, 5, 6));
        assert_eq!(&bytes[226..240], b"bin/x\x0012345\0\0\0");
        assert!(bytes.len().is_multiple_of(4) && bytes[350..].starts_with(b"TRAILER!!!"));
    }
}
