//! Packages of the distribution, fetched with apt into a folder of the project. apt has its lists and its state there,
//! too, so that nothing of the machine is changed and no rights are needed.

use super::jobs::Kernel;
use super::unpack;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a guest needs besides its kernel. What is installed on the machine is not fetched again.
const TOOLS: [&str; 7] =
    ["qemu-system-x86", "busybox-static", "kmod", "iproute2", "rdma-core", "ibverbs-providers", "libfabric1"];
/// It stands for the newest kernel of a release.
const KERNEL: &str = "linux-image-amd64";
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// In a folder that is complete.
const COMPLETE: &str = ".complete";

/// The folder.
pub(super) struct Store {
    folder: PathBuf,
    release: String,
}

/// A folder with QEMU and what goes with it.
pub(super) struct Tools(pub(super) PathBuf);

/// A folder with a kernel.
pub(super) struct Image {
    pub(super) folder: PathBuf,
    pub(super) version: String,
}

impl Store {
    /// # Errors
    /// There is nothing to fetch with.
    pub(super) fn new(folder: PathBuf) -> Result<Store, String> {
        let about = fs::read_to_string("/etc/os-release").unwrap_or_default();
        let release = debian(&about)?;
        for tool in ["apt-get", "dpkg-deb"] {
            let there = Command::new(tool).arg("--version").stdout(Stdio::null()).status();
            there.map_err(|e| format!("{tool} cannot be run: {e}"))?;
        }
        if std::env::consts::ARCH != "x86_64" {
            return Err(format!("guests are x86-64 machines, this one is {}", std::env::consts::ARCH));
        }
        Ok(Store { folder, release })
    }

    /// QEMU, and what jobs need that the machine does not have.
    ///
    /// # Errors
    /// It cannot be fetched.
    pub(super) fn tools(&self) -> Result<Tools, String> {
        let folder = self.folder.join("tools");
        if !folder.join(COMPLETE).is_file() {
            self.update()?;
            let archives = self.folder.join("apt/cache/archives");
            clear(&archives)?;
            fs::create_dir_all(archives.join("partial")).map_err(|e| said(&archives, &e))?;
            let mut get = self.apt("apt-get");
            get.args(["-y", "--download-only", "--no-install-recommends", "install"]).args(TOOLS);
            quiet(&mut get)?;
            self.unpack(&archives, &folder, "QEMU and tools", "")?;
        }
        Ok(Tools(folder))
    }

    /// A kernel.
    ///
    /// # Errors
    /// It cannot be fetched.
    pub(super) fn kernel(&self, kernel: Kernel) -> Result<Image, String> {
        let folder = self.folder.join(format!("kernel-{}", kernel.name()));
        if !folder.join(COMPLETE).is_file() {
            if !self.folder.join("apt/state/lists").is_dir() {
                self.update()?;
            }
            let suite = match kernel {
                Kernel::Backports => format!("{}-backports", self.release),
                Kernel::Release => self.release.clone(),
            };
            let depends = quiet(self.apt("apt-cache").arg("depends").arg(format!("{KERNEL}/{suite}")))?;
            let package = image(&depends).ok_or_else(|| format!("{KERNEL} of {suite} names no kernel"))?;
            let archives = self.folder.join(format!("apt/{}", kernel.name()));
            clear(&archives)?;
            quiet(self.apt("apt-get").arg("download").arg(&package).current_dir(&archives))?;
            let version = package.trim_start_matches("linux-image-").trim_end_matches("-unsigned");
            self.unpack(&archives, &folder, &package, version)?;
        }
        let version = fs::read_to_string(folder.join(COMPLETE)).map_err(|e| said(&folder, &e))?;
        Ok(Image { folder, version })
    }

    /// Makes a folder of packages, which are not kept. `mark`: what is noted there.
    fn unpack(&self, archives: &Path, folder: &Path, what: &str, mark: &str) -> Result<(), String> {
        clear(folder)?;
        let mut bytes = 0;
        for entry in fs::read_dir(archives).map_err(|e| said(archives, &e))?.flatten() {
            let path = entry.path();
            if path.extension() == Some(OsStr::new("deb")) {
                bytes += entry.metadata().map_or(0, |about| about.len());
                unpack::package(&path, folder)?;
            }
        }
        if !mark.is_empty() {
            let tools = self.tools()?;
            quiet(tools.kmod("depmod").arg("-b").arg(folder).arg(mark))?;
        }
        fs::remove_dir_all(archives).map_err(|e| said(archives, &e))?;
        fs::write(folder.join(COMPLETE), mark).map_err(|e| said(folder, &e))?;
        println!("fetched {what}: {:.1} MB, unpacked {:.1} MB", mega(bytes), mega(size(folder)));
        Ok(())
    }

    /// Fresh lists of packages.
    fn update(&self) -> Result<(), String> {
        let apt = self.folder.join("apt");
        for below in ["state/lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(apt.join(below)).map_err(|e| said(&apt, &e))?;
        }
        let format = "$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)";
        let targets = quiet(Command::new("apt-get").args(["indextargets", "--format", format]))?;
        let signed = Path::new(KEYS).is_file();
        let sources = sources(&targets, &self.release, signed)?;
        fs::write(apt.join("sources.list"), sources).map_err(|e| said(&apt, &e))?;
        let status = fs::read_to_string("/var/lib/dpkg/status").unwrap_or_default();
        fs::write(apt.join("status"), installed(&status)).map_err(|e| said(&apt, &e))?;
        quiet(self.apt("apt-get").arg("update")).map(drop)
    }

    /// A program of apt that works in the folder.
    fn apt(&self, program: &str) -> Command {
        let apt = self.folder.join("apt");
        let set = |name: &str, value: &Path| format!("-o{name}={}", value.display());
        let mut command = Command::new(program);
        command.args([
            set("Dir::State", &apt.join("state")),
            set("Dir::State::status", &apt.join("status")),
            set("Dir::Cache", &apt.join("cache")),
            set("Dir::Etc::sourcelist", &apt.join("sources.list")),
            set("Dir::Etc::sourceparts", Path::new("/dev/null")),
        ]);
        command.args([
            "-oAcquire::Languages=none",
            "-oDebug::NoLocking=1",
            "-oAPT::Sandbox::User=root",
            "-q",
        ]);
        command.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C");
        command
    }
}

impl Tools {
    /// A program of these that runs here.
    pub(super) fn program(&self, path: &str) -> Command {
        let mut command = Command::new(self.0.join(path));
        command.env("LD_LIBRARY_PATH", self.0.join("usr/lib/x86_64-linux-gnu"));
        command
    }

    /// A program about modules; all of them are one, which looks at its name.
    fn kmod(&self, name: &str) -> Command {
        let mut command = self.program("usr/bin/kmod");
        if !Path::new(command.get_program()).is_file() {
            command = Command::new("kmod");
        }
        command.arg0(name);
        command
    }
}

/// Runs a program and gives its output, or the last it said.
pub(super) fn quiet(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output();
    let name = command.get_program().to_string_lossy().into_owned();
    let output = output.map_err(|e| format!("{name} cannot be run: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(format!("{name}: {last}"))
}

/// The release of Debian that a machine has.
fn debian(about: &str) -> Result<String, String> {
    let value = |key: &str| {
        let line = about.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.map(|text| text.trim_matches('"').to_owned())
    };
    match (value("ID").as_deref(), value("VERSION_CODENAME")) {
        (Some("debian"), Some(release)) => Ok(release),
        (id, _) => Err(format!("guests are made of packages of Debian, this is {}", id.unwrap_or("unknown"))),
    }
}

/// Sources as the machine has them for its release, and the backports beside them.
fn sources(targets: &str, release: &str, signed: bool) -> Result<String, String> {
    let option = if signed { format!("[signed-by={KEYS}] ") } else { String::new() };
    let mut lines = Vec::new();
    let mut backports = None;
    for target in targets.lines() {
        let words: Vec<&str> = target.split_whitespace().collect();
        let ["Packages", place, suite, "main"] = words[..] else { continue };
        if suite == release {
            backports.get_or_insert(place);
        }
        if suite.starts_with(release) {
            lines.push(format!("deb {option}{place} {suite} main\n"));
        }
    }
    let place = backports.ok_or_else(|| format!("apt knows no place of {release}"))?;
    lines.push(format!("deb {option}{place} {release}-backports main\n"));
    lines.sort();
    lines.dedup();
    Ok(lines.concat())
}

/// What is installed, without QEMU: a part of it may be there, of another version, and must not be in the way.
fn installed(status: &str) -> String {
    let other = |about: &&str| !about.trim_start().starts_with("Package: qemu");
    status.split("\n\n").filter(other).collect::<Vec<_>>().join("\n\n")
}

/// The kernel's own package, of what another one depends on.
fn image(depends: &str) -> Option<String> {
    let name = |line: &str| line.trim().strip_prefix("Depends:").map(|name| name.trim().to_owned());
    depends.lines().filter_map(name).find(|name| name.starts_with("linux-image-"))
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn clear(folder: &Path) -> Result<(), String> {
    super::renew(folder)
}

fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Bytes of a folder's files.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let one = |entry: fs::DirEntry| match entry.metadata() {
        Ok(about) if about.is_dir() => size(&entry.path()),
        Ok(about) => about.len(),
        Err(_) => 0,
    };
    entries.map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_known() {
        let text = "PRETTY_NAME=\"Debian\"\nID=debian\nVERSION_CODENAME=bookworm\n";
        assert_eq!(debian(text), Ok("bookworm".into()));
        assert!(debian("ID=\"fedora\"\n").unwrap_err().contains("fedora"));
        assert!(debian("").is_err());
    }

    #[test]
    fn backports_come_from_where_the_release_does() {
        let targets = "Packages http://mirror/debian/ bookworm main\n\
                       Translations http://mirror/debian/ bookworm main\n\
                       Packages http://mirror/security/ bookworm-security main\n\
                       Packages http://elsewhere/ nodistro main\n";
        let text = sources(targets, "bookworm", false).unwrap();
        assert_eq!(
            text,
            "deb http://mirror/debian/ bookworm main\n\
             deb http://mirror/debian/ bookworm-backports main\n\
             deb http://mirror/security/ bookworm-security main\n"
        );
        assert!(sources(targets, "bookworm", true).unwrap().contains("signed-by"));
        assert!(sources(targets, "trixie", false).unwrap_err().contains("trixie"));
    }

    #[test]
    fn a_part_of_qemu_is_not_in_the_way() {
        let status =
            "Package: bash\nVersion: 1\n\nPackage: qemu-utils\nVersion: 10\n\nPackage: zlib\nVersion: 2\n";
        assert_eq!(installed(status), "Package: bash\nVersion: 1\n\nPackage: zlib\nVersion: 2\n");
    }

    #[test]
    fn the_kernel_is_found_behind_the_package_that_stands_for_it() {
        let text = "linux-image-amd64\n  Depends: linux-image-6.1.0-57-amd64\n";
        assert_eq!(image(text).as_deref(), Some("linux-image-6.1.0-57-amd64"));
        assert_eq!(image("linux-image-amd64\n"), None);
    }

    #[test]
    fn who_fails_is_quoted() {
        assert_eq!(quiet(Command::new("sh").args(["-c", "echo fine"])).unwrap(), "fine\n");
        let why = quiet(Command::new("sh").args(["-c", "echo the reason >&2; exit 3"])).unwrap_err();
        assert!(why.contains("the reason"), "{why}");
    }
}
