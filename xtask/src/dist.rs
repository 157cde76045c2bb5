//! `cargo xtask dist`: installs the command, the development kit and the documents below a prefix, or makes packages of
//! them.
//!
//! Everything is first put together in a folder of the build tree (`stage.rs`). An installation is then moved file by
//! file into place, each by a rename, so that programs which use an older installation at that moment keep their files.

mod deb;
mod pack;
mod stage;

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use softdpu_sdk::Layout;
use stage::{Build, ZshFolder, stage};

const HELP: &str = "\
Installs the command, libraries, headers, pkg-config files, completions and manual pages, or makes packages of them.

Usage: cargo xtask dist [OPTIONS]

Options:
  --prefix FOLDER    where it will be used; absolute (default /usr/local)
  --destdir FOLDER   put everything below this folder instead of / (for packaging)
  --tarball FOLDER   install nothing; make a tarball there that works wherever it is unpacked
  --deb FOLDER       install nothing; make a Debian package there (maintainer: DEBFULLNAME, DEBEMAIL)
  --profile NAME     take the build of this profile (default release)
  --no-build         take what the build tree holds instead of building first
  --help             this text

Packages of one build are the same every time; their files carry SOURCE_DATE_EPOCH, else the time of the last commit.
";

#[derive(Debug, PartialEq, Eq)]
struct Options {
    prefix: PathBuf,
    destdir: Option<PathBuf>,
    tarball: Option<PathBuf>,
    deb: Option<PathBuf>,
    profile: String,
    build: bool,
}

/// Carries out the sub-command; `arguments` are those behind `dist`.
///
/// # Errors
/// A text for the terminal: wrong use, a failed build or link, a file that cannot be written.
pub(crate) fn run(arguments: impl IntoIterator<Item = String>) -> Result<(), String> {
    let Some(options) = parse(arguments)? else {
        print!("{HELP}");
        return Ok(());
    };
    let output = target_tree()?.join(folder_of(&options.profile));
    if options.build {
        build(&options.profile, &output)?;
    }
    let build = Build { profile: output, strip: options.tarball.is_some() || options.deb.is_some() };
    if let Some(folder) = &options.tarball {
        println!("{}", tarball(&build, folder)?.display());
    }
    if let Some(folder) = &options.deb {
        println!("{}", deb::make(&build, folder)?.display());
    }
    if build.strip { Ok(()) } else { install(&build, &options) }
}

fn install(build: &Build, options: &Options) -> Result<(), String> {
    let staged = build.profile.join("softdpu-dist");
    stage(build, &staged, &options.prefix, &Layout::INSTALLED, ZshFolder::Site)?;
    let target = target_folder(options)?;
    let count = place_tree(&staged, &target)?;
    remove(&staged)?;
    println!("{count} files installed in {}", target.display());
    println!("{}", advice(&options.prefix));
    Ok(())
}

/// Makes `softdpu-VERSION-ARCHITECTURE-linux.tar.gz` in `folder`, with one folder of that name inside.
fn tarball(build: &Build, folder: &Path) -> Result<PathBuf, String> {
    let name = format!("softdpu-{}-{}-linux", env!("CARGO_PKG_VERSION"), env::consts::ARCH);
    let staged = build.profile.join("softdpu-tarball");
    // Any prefix that nobody searches: the paths inside are relative.
    stage(build, &staged, Path::new("/opt/softdpu"), &Layout::INSTALLED, ZshFolder::Site)?;
    let packed = pack::tar_gz(&staged, &name, pack::time()).map_err(|e| format!("{name}: {e}"))?;
    let file = folder.join(format!("{name}.tar.gz"));
    stage::write(&file, &packed)?;
    remove(&staged)?;
    Ok(file)
}

/// `None`: help was asked for.
fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Option<Options>, String> {
    let mut options = Options {
        prefix: "/usr/local".into(),
        destdir: None,
        tarball: None,
        deb: None,
        profile: "release".into(),
        build: true,
    };
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let (name, inline) = match argument.split_once('=') {
            Some((name, value)) => (name.to_owned(), Some(value.to_owned())),
            None => (argument, None),
        };
        let mut value =
            || inline.clone().or_else(|| arguments.next()).ok_or(format!("dist: {name} needs a value"));
        match name.as_str() {
            "--help" | "-h" => return Ok(None),
            "--prefix" => options.prefix = value()?.into(),
            "--destdir" => options.destdir = Some(value()?.into()),
            "--tarball" => options.tarball = Some(value()?.into()),
            "--deb" => options.deb = Some(value()?.into()),
            "--profile" => options.profile = value()?,
            "--no-build" => options.build = false,
            _ => return Err(format!("dist: unknown option '{name}'\n{HELP}")),
        }
    }
    if options.prefix.is_relative() {
        // A relative prefix would change its meaning with the folder; packaging tools always give absolute ones.
        let absolute = std::path::absolute(&options.prefix);
        options.prefix = absolute.map_err(|e| format!("--prefix {}: {e}", options.prefix.display()))?;
    }
    Ok(Some(options))
}

/// Cargo's folder for a profile.
fn folder_of(profile: &str) -> &str {
    if profile == "dev" { "debug" } else { profile }
}

/// `target/release` of the build that this program belongs to.
pub(crate) fn release_folder() -> Result<PathBuf, String> {
    Ok(target_tree()?.join("release"))
}

/// `target` of the build that this program belongs to.
pub(crate) fn target_tree() -> Result<PathBuf, String> {
    let executable = env::current_exe().map_err(|e| format!("cannot find this executable: {e}"))?;
    let profile = executable.parent().map(|p| if p.ends_with("deps") { p.parent().unwrap_or(p) } else { p });
    let target = profile.and_then(Path::parent).ok_or("this executable is not in a build tree")?;
    Ok(target.to_owned())
}

fn build(profile: &str, output: &Path) -> Result<(), String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--profile", profile]);
    cargo.args(crate::metadata::SHIPPED.iter().flat_map(|package| ["--package", package]));
    cargo.current_dir(crate::root::root());
    if let Some(target) = output.parent() {
        cargo.arg("--target-dir").arg(target);
    }
    // The child's view of the build must be that of the user's shell, not that of a running test.
    for variable in ["CARGO_MANIFEST_DIR", "CARGO_PKG_NAME", "CARGO_MAKEFLAGS", "MAKEFLAGS"] {
        cargo.env_remove(variable);
    }
    let status = cargo.status().map_err(|e| format!("cannot run cargo: {e}"))?;
    if status.success() { Ok(()) } else { Err("the build failed".to_owned()) }
}

fn target_folder(options: &Options) -> Result<PathBuf, String> {
    let Some(destdir) = &options.destdir else { return Ok(options.prefix.clone()) };
    let inside = options.prefix.strip_prefix("/").unwrap_or(&options.prefix);
    std::path::absolute(destdir.join(inside)).map_err(|e| format!("--destdir {}: {e}", destdir.display()))
}

/// Puts every file and link below `from` at the same place below `to`; gives back how many.
fn place_tree(from: &Path, to: &Path) -> Result<usize, String> {
    let mut count = 0;
    for entry in fs::read_dir(from).map_err(|e| format!("{}: {e}", from.display()))? {
        let entry = entry.map_err(|e| format!("{}: {e}", from.display()))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            count += place_tree(&source, &target)?;
        } else {
            place(&source, &target)?;
            count += 1;
        }
    }
    Ok(count)
}

/// Copies a file or a symbolic link; what was there before is replaced in one step.
fn place(from: &Path, to: &Path) -> Result<(), String> {
    let copy = || -> io::Result<()> {
        fs::create_dir_all(to.parent().unwrap_or(to))?;
        let fresh = to.with_added_extension("new");
        if fs::symlink_metadata(&fresh).is_ok() {
            fs::remove_file(&fresh)?;
        }
        if fs::symlink_metadata(from)?.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(from)?, &fresh)?;
        } else {
            fs::copy(from, &fresh)?;
        }
        fs::rename(&fresh, to)
    };
    copy().map_err(|e| format!("cannot install {} as {}: {e}", from.display(), to.display()))
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => {
            Err(format!("cannot remove {}: {e}", folder.display()))
        }
        _ => Ok(()),
    }
}

/// What the user does next.
fn advice(prefix: &Path) -> String {
    let prefix = prefix.display();
    match prefix.to_string().as_str() {
        "/usr" | "/usr/local" => "run ldconfig once, so that programs find the library".to_owned(),
        _ => format!(
            "for pkg-config: export PKG_CONFIG_PATH={prefix}/lib/pkgconfig\nthe command: {prefix}/bin/softdpu"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<Options>, String> {
        parse(text.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn options_in_both_forms() {
        let options = parsed("--prefix /opt/x --destdir=/tmp/pkg --no-build").unwrap().unwrap();
        assert_eq!((options.prefix.to_str(), options.build), (Some("/opt/x"), false));
        assert_eq!(target_folder(&options).unwrap(), Path::new("/tmp/pkg/opt/x"));
        assert_eq!(parsed("").unwrap().unwrap().prefix, Path::new("/usr/local"));
        assert!(parsed("--help").unwrap().is_none());
        assert!(parsed("--prefix").is_err() && parsed("--where /x").is_err());
        assert!(parsed("--prefix x").unwrap().unwrap().prefix.is_absolute());
        let packages = parsed("--tarball=/x --deb /y --profile dev").unwrap().unwrap();
        assert_eq!((packages.tarball, packages.deb), (Some("/x".into()), Some("/y".into())));
        assert_eq!((folder_of(&packages.profile), folder_of("release")), ("debug", "release"));
    }

    #[test]
    fn files_and_links_are_replaced() {
        let folder = env::temp_dir().join(format!("softdpu-dist-{}", std::process::id()));
        let (from, to) = (folder.join("from"), folder.join("to"));
        fs::create_dir_all(from.join("lib")).unwrap();
        fs::write(from.join("lib/a.so.2"), "new").unwrap();
        std::os::unix::fs::symlink("a.so.2", from.join("lib/a.so")).unwrap();
        fs::create_dir_all(to.join("lib")).unwrap();
        fs::write(to.join("lib/a.so"), "a file where a link goes").unwrap();
        assert_eq!(place_tree(&from, &to), Ok(2));
        assert_eq!(place_tree(&from, &to), Ok(2), "twice is the same");
        assert_eq!(fs::read_link(to.join("lib/a.so")).unwrap(), Path::new("a.so.2"));
        assert_eq!(fs::read_to_string(to.join("lib/a.so")).unwrap(), "new");
        remove(&folder).unwrap();
        assert_eq!(remove(&folder), Ok(()), "what is gone is gone");
    }
}
