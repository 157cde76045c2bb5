//! What `cargo xtask dist` makes is used as a stranger would use it: the tarball from wherever it was moved to, the Debian
//! package in a fresh Debian that holds nothing else.
//!
//! The fresh Debian is made once by debootstrap, in the build tree; that takes root, the network, and about a minute.

use softdpu_conformance::command::{output_of, text};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const LAST_RESORT: Duration = Duration::from_secs(1800);

fn tmp() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR"))
}

/// What a command printed; it must succeed.
fn printed(command: Command) -> String {
    softdpu_conformance::command::printed(command, LAST_RESORT)
}

/// The packages, made once per process from the profile of this test: tarball and Debian package.
fn packages() -> &'static [PathBuf; 2] {
    static MADE: OnceLock<[PathBuf; 2]> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = tmp().join("packages");
        let _ = fs::remove_dir_all(&folder);
        let mut dist = Command::new(env!("CARGO_BIN_EXE_xtask"));
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        dist.args(["dist", "--profile", profile, "--tarball"]).arg(&folder).arg("--deb").arg(&folder);
        let lines = printed(dist);
        let paths: Vec<PathBuf> = lines.lines().map(PathBuf::from).filter(|p| p.is_file()).collect();
        paths.try_into().unwrap_or_else(|_| panic!("two packages: {lines}"))
    })
}

fn project(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/projects").join(file)
}

/// A command line in a folder, in an environment that says nothing of this build.
fn shell(folder: &Path, line: &str) -> String {
    let mut sh = Command::new("sh");
    sh.args(["-euc", line]).current_dir(folder).env_clear();
    sh.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("SOFTDPU_RUNTIME_DIR", folder.join("runtime"));
    printed(sh)
}

#[test]
fn a_tarball_works_wherever_it_is_unpacked_and_moved() {
    let [tarball, _] = packages();
    let work = tmp().join("moved kit, with blank and comma");
    let _ = fs::remove_dir_all(&work);
    fs::create_dir_all(&work).unwrap();
    fs::copy(project("meson/copy.c"), work.join("copy.c")).unwrap();
    fs::copy(tarball, work.join("kit.tar.gz")).unwrap();
    shell(&work, "tar -xzf kit.tar.gz && mv softdpu-* 'here it is' && rm kit.tar.gz");
    let kit = work.join("here it is");
    for file in [
        "share/doc/softdpu/LICENSE-MIT",
        "share/doc/softdpu/THIRD-PARTY.txt",
        "share/doc/softdpu/sbom.cdx.json",
        "share/bash-completion/completions/softdpu",
        "lib/libsoftdpu-check.so",
        "include/doca_dma.h",
    ] {
        assert!(kit.join(file).is_file(), "{file} is missing");
    }
    assert!(shell(&work, "'here it is/bin/softdpu' --version").starts_with("softdpu "));
    shell(&work, "'here it is/bin/softdpu' cc copy.c -o copy");
    assert_eq!(shell(&work, "./copy moved"), "moved\n");
    let checked = "'here it is/bin/softdpu' run --check --fail-on-misuse -- ./copy checked";
    assert_eq!(shell(&work, checked), "checked\n");
    // The build system's way. It cannot have blanks in its paths, so the kit moves once more.
    shell(&work, "mv 'here it is' ../moved-kit-again && rm copy");
    let again = tmp().join("moved-kit-again");
    if Command::new("pkg-config").arg("--version").output().is_err() {
        println!("skipped: pkg-config is not installed");
    } else {
        let pkg = format!("PKG_CONFIG_PATH={}/lib/pkgconfig", again.display());
        let flags = format!("$({pkg} pkg-config --cflags --libs doca-common doca-dma)");
        shell(&work, &format!("cc copy.c -o copy {flags}"));
        assert_eq!(shell(&work, "./copy twice"), "twice\n");
    }
    fs::remove_dir_all(&again).unwrap();
    fs::remove_dir_all(&work).unwrap();
}

/// A Debian that knows a C compiler and pkg-config, and nothing of us; `None`, and said so, where there can be none.
fn clean_root() -> Option<PathBuf> {
    let root = tmp().join("clean-root");
    let ready = root.join("ready");
    if !is_root() {
        println!("skipped: a clean root takes root");
        return None;
    }
    let unshared = Command::new("unshare").args(["--mount", "--pid", "--fork", "true"]).output();
    if !unshared.is_ok_and(|done| done.status.success()) {
        println!("skipped: this machine lets nobody have name spaces of his own");
        return None;
    }
    if ready.is_file() {
        return Some(root);
    }
    if Command::new("debootstrap").arg("--version").output().is_err() {
        println!("skipped: debootstrap is not installed");
        return None;
    }
    let _ = fs::remove_dir_all(&root);
    let mut debootstrap = Command::new("debootstrap");
    debootstrap.args(["--variant=minbase", "--include=gcc,libc6-dev,pkgconf", "bookworm"]).arg(&root);
    let done = output_of(debootstrap, LAST_RESORT);
    if !done.status.success() {
        println!("skipped: no fresh Debian: {}", text(&done.stdout).lines().last().unwrap_or_default());
        return None;
    }
    fs::write(&ready, "").unwrap();
    Some(root)
}

fn is_root() -> bool {
    let done = Command::new("id").arg("-u").output();
    done.is_ok_and(|done| text(&done.stdout).trim() == "0")
}

/// A command line inside the root, in name spaces of its own for processes and mounts, as the given user.
fn inside(root: &Path, user: &str, line: &str) -> String {
    let mut command = Command::new("unshare");
    command.args(["--mount", "--pid", "--fork"]).arg(format!("--mount-proc={}/proc", root.display()));
    command.arg("chroot").arg(format!("--userspec={user}")).arg(root);
    command.args(["/bin/sh", "-euc", line]).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/tmp").env("LC_ALL", "C.UTF-8");
    command.env("SOFTDPU_RUNTIME_DIR", "/tmp/case/runtime").env("DEBIAN_FRONTEND", "noninteractive");
    printed(command)
}

const NOBODY: &str = "65534:65534";

#[test]
fn a_package_installs_in_a_fresh_debian_works_there_and_leaves_nothing() {
    let Some(root) = clean_root() else { return };
    let [_, package] = packages();
    // What a run that failed left behind.
    inside(&root, "0:0", "dpkg -P softdpu 2>/dev/null || true; rm -rf /tmp/case; mkdir -m 777 /tmp/case");
    let before = inside(&root, "0:0", "find / -xdev -path /proc -prune -o -print | sort");
    fs::copy(package, root.join("tmp/case/softdpu.deb")).unwrap();
    for (from, to) in [("meson/copy.c", "copy.c"), ("make/main.c", "main.c"), ("make/engines.c", "engines.c")]
    {
        fs::copy(project(from), root.join("tmp/case").join(to)).unwrap();
    }
    fs::copy(project("make/engines.h"), root.join("tmp/case/engines.h")).unwrap();
    inside(&root, "0:0", "dpkg -i /tmp/case/softdpu.deb");

    let user = |line: &str| inside(&root, NOBODY, &format!("cd /tmp/case; {line}"));
    assert!(user("softdpu --version").starts_with("softdpu "));
    assert!(user("softdpu devices").contains("03:00.0"));
    user("gcc -Werror copy.c -o copy $(pkg-config --cflags --libs doca-common doca-dma)");
    assert_eq!(user("./copy 'as installed'"), "as installed\n");
    assert!(user("ldd copy").contains("libdoca_dma.so.2"));
    assert_eq!(user("softdpu run --check --fail-on-misuse -- ./copy checked"), "checked\n");
    assert_eq!(user("softdpu cc copy.c -o again && ./again 'by cc'"), "by cc\n");
    // A static program names what the archive needs.
    user("gcc copy.c -o static -static $(pkg-config --static --cflags --libs doca-common doca-dma)");
    assert_eq!(user("./static alone"), "alone\n");
    // The side of the card is a folder of its own.
    let card = "PKG_CONFIG_PATH=/usr/lib/$(gcc -dumpmachine)/pkgconfig-dpu pkg-config --cflags --libs doca-common doca-dma doca-sha";
    user(&format!("gcc -DDOCA_ALLOW_EXPERIMENTAL_API main.c engines.c -o devices $({card})"));
    assert!(user("./devices").starts_with("a program of the card\n"));
    assert!(user("head -c 300000 /dev/urandom > data; softdpu demo data").contains("SHA-256"));
    assert_eq!(user("cd / && md5sum --quiet -c /var/lib/dpkg/info/softdpu.md5sums"), "");

    inside(&root, "0:0", "dpkg -P softdpu && rm -rf /tmp/case && mkdir -m 777 /tmp/case");
    let after = inside(&root, "0:0", "find / -xdev -path /proc -prune -o -print | sort");
    let left: Vec<&str> = after.lines().filter(|l| !before.contains(&format!("{l}\n"))).collect();
    // dpkg's own memory of what it did.
    let left: Vec<&str> = left.into_iter().filter(|l| !l.starts_with("/var/")).collect();
    assert!(left.is_empty(), "left behind: {left:?}");
}
