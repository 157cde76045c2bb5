//! Finds the kit of the running command, and assembles it when it has to.
//!
//! In a build tree the kit is `target/<profile>/softdpu-sdk`, a link to `softdpu-sdk.<key>`. The key is a hash
//! of the static library, the headers and this crate's own recipe, so a kit is never changed once it has its
//! name: a new one is assembled aside, renamed, and the link moves over in one step. Commands that start at the
//! same time wait for each other on a lock; the second one finds the work done. The kit before the current one
//! is kept, for programs that are starting from it at this moment.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::assemble::{Sources, assemble, sided};
use crate::error::{Context, KitError};
use crate::home;
use crate::layout::{Layout, Side};
use crate::link::{STATIC_LIBRARIES, replace_symlink};
use crate::{ARCHIVE, CHECK_LIBRARY, RECORD_LIBRARY, SHARED_LIBRARY};

const LINK: &str = "softdpu-sdk";
const STAMP: &str = "kit.stamp";

/// The recipe is part of the key: whoever changes it gets new kits without thinking of it.
const RECIPE: [&str; 5] = [
    include_str!("assemble.rs"),
    include_str!("layout.rs"),
    include_str!("link.rs"),
    include_str!("module.rs"),
    include_str!("pkgconfig.rs"),
];

/// A kit that is ready for use.
#[derive(Clone, Debug)]
pub struct Kit {
    root: PathBuf,
    layout: Layout,
}

impl Kit {
    /// The kit of the running executable: the installed one beside it (`../lib`), else that of its build tree, else one
    /// that is built for it once and kept in the user's data folder (after `cargo install`).
    ///
    /// # Errors
    /// See [`Kit::of_build`].
    pub fn locate() -> Result<Self, KitError> {
        let executable = env::current_exe().at("find", Path::new("the running executable"))?;
        Self::beside(&executable)
    }

    /// The kit that belongs to an executable.
    pub(crate) fn beside(executable: &Path) -> Result<Self, KitError> {
        let folder = executable.parent().unwrap_or(Path::new("/"));
        if let Some(prefix) = folder.parent() {
            for layout in [Layout::INSTALLED, Layout::MULTIARCH] {
                if prefix.join(layout.lib).join(SHARED_LIBRARY).exists() {
                    return Ok(Self { root: prefix.to_owned(), layout });
                }
            }
        }
        let folder = profile_folder(folder);
        if home::is_build_tree(folder) { Self::of_build(folder) } else { home::kit(executable) }
    }

    /// The kit in a folder that [`Kit::of_build`] filled before, whatever became of its parts.
    pub(crate) fn made_before(folder: &Path) -> Option<Self> {
        let kit = Self { root: folder.join(LINK), layout: Layout::BUILD_TREE };
        kit.shared_library().is_file().then_some(kit)
    }

    /// The kit of a Cargo output folder such as `target/release`; assembles it when it is missing or older
    /// than its parts.
    ///
    /// # Errors
    /// As [`assemble`]; [`KitError::NoArchive`] names the command that builds the library.
    pub fn of_build(profile: &Path) -> Result<Self, KitError> {
        let archive = profile.join(ARCHIVE);
        if !archive.is_file() {
            return Err(KitError::NoArchive { path: archive, build: build_command(profile) });
        }
        let profile = profile.canonicalize().at("resolve", profile)?;
        let sources = Sources { archive: profile.join(ARCHIVE), headers: header_folder(&profile)? };
        let state = State::of(&sources)?;
        let link = profile.join(LINK);
        if !Stamp::read(&link).is_some_and(|stamp| stamp.fits(&state)) {
            refresh(&profile, &sources)?;
        }
        Ok(Self { root: link, layout: Layout::BUILD_TREE })
    }

    /// The folder that holds everything.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder of the libraries, for `-L`, `-rpath` and `LD_LIBRARY_PATH`.
    pub fn lib_dir(&self) -> PathBuf {
        self.root.join(self.layout.lib)
    }

    /// The shared library with all the code.
    pub fn shared_library(&self) -> PathBuf {
        self.lib_dir().join(SHARED_LIBRARY)
    }

    /// The library of check mode, if the kit was made with it.
    pub fn check_library(&self) -> Option<PathBuf> {
        Some(self.lib_dir().join(CHECK_LIBRARY)).filter(|path| path.is_file())
    }

    /// The library that records, if the kit was made with it.
    pub fn record_library(&self) -> Option<PathBuf> {
        Some(self.lib_dir().join(RECORD_LIBRARY)).filter(|path| path.is_file())
    }

    /// The include folders for a side, in the order in which the compiler must search them.
    pub fn include_dirs(&self, side: Side) -> Vec<PathBuf> {
        let common = self.root.join(self.layout.include);
        if side == Side::Host && !sided(&self.root, &self.layout) {
            return vec![common];
        }
        vec![self.root.join(self.layout.include_side).join(side.name()), common]
    }

    /// The folder for `PKG_CONFIG_PATH`.
    pub fn pkg_config_dir(&self, side: Side) -> PathBuf {
        self.root.join(self.layout.pkgconfig_of(side))
    }

    /// What a fully static program has to link besides `-lsoftdpu`.
    pub fn static_libraries() -> &'static [&'static str] {
        &STATIC_LIBRARIES
    }

    /// Whether the kit is an installation rather than a part of a build tree.
    pub fn is_installed(&self) -> bool {
        self.layout != Layout::BUILD_TREE
    }
}

/// Test executables lie one folder below the output folder.
pub(crate) fn profile_folder(folder: &Path) -> &Path {
    match folder.file_name().and_then(|n| n.to_str()) {
        Some("deps" | "examples") => folder.parent().unwrap_or(folder),
        _ => folder,
    }
}

fn build_command(profile: &Path) -> String {
    match profile.file_name().and_then(|n| n.to_str()) {
        Some("release") => "cargo build --release".to_owned(),
        Some("debug") | None => "cargo build".to_owned(),
        Some(other) => format!("cargo build --profile {other}"),
    }
}

/// The sources' place is known from compilation; a tree that was moved is recognised by its shape.
fn header_folder(profile: &Path) -> Result<PathBuf, KitError> {
    let compiled = Path::new(env!("CARGO_MANIFEST_DIR")).join("../doca");
    let moved = profile.join("../../crates/doca");
    let tried = vec![compiled, moved];
    match tried.iter().find(|f| f.join("include").is_dir()) {
        Some(found) => found.canonicalize().at("resolve", found),
        None => Err(KitError::NoHeaders { tried }),
    }
}

/// Assembles under the lock, unless somebody else has just done so.
fn refresh(profile: &Path, sources: &Sources) -> Result<(), KitError> {
    let lock_path = profile.join(".softdpu-sdk.lock");
    let lock = File::create(&lock_path).at("create", &lock_path)?;
    // Closing the file, also by dying, gives the lock back.
    lock.lock().at("lock", &lock_path)?;
    let link = profile.join(LINK);
    let state = State::of(sources)?;
    let current = Stamp::read(&link);
    if current.as_ref().is_some_and(|stamp| stamp.fits(&state)) {
        return Ok(());
    }
    let stamp = Stamp { key: state.key(sources)?, state };
    let home = profile.join(format!("{LINK}.{:016x}", stamp.key));
    if !home.is_dir() {
        log::info!(target: "softdpu::sdk", "assembling the development kit in {}", link.display());
        let fresh = profile.join(format!("{LINK}.new"));
        if fresh.exists() {
            // Left behind by a command that was killed.
            fs::remove_dir_all(&fresh).at("remove", &fresh)?;
        }
        assemble(sources, &fresh, &link, &Layout::BUILD_TREE)?;
        fs::rename(&fresh, &home).at("rename", &fresh)?;
    }
    // Also after a mere rebuild with the same result: the next command then need not hash the library again.
    stamp.write(&home)?;
    replace_symlink(Path::new(home.file_name().unwrap_or_default()), &link)?;
    sweep(profile, &[Some(stamp.key), current.map(|s| s.key)])
}

/// Removes kits that are neither current nor the one before.
fn sweep(profile: &Path, keep: &[Option<u64>]) -> Result<(), KitError> {
    for entry in fs::read_dir(profile).at("list", profile)? {
        let path = entry.at("list", profile)?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        let key = name.strip_prefix(LINK).and_then(|n| n.strip_prefix('.'));
        let key = key.filter(|k| k.len() == 16).and_then(|k| u64::from_str_radix(k, 16).ok());
        if key.is_some() && !keep.contains(&key) {
            fs::remove_dir_all(&path).at("remove", &path)?;
        }
    }
    Ok(())
}

/// What can be seen of the parts without reading the static library.
#[derive(Debug, PartialEq, Eq)]
struct State {
    archive_len: u64,
    archive_mtime: u128,
    /// Headers and recipe, by content; the libraries that stand before by length and time.
    small_parts: u64,
}

impl State {
    fn of(sources: &Sources) -> Result<Self, KitError> {
        let meta = fs::metadata(&sources.archive).at("look at", &sources.archive)?;
        let modified = meta.modified().at("look at", &sources.archive)?;
        let mut hash = DefaultHasher::new();
        RECIPE.iter().for_each(|part| hash.write(part.as_bytes()));
        hash_tree(&sources.include(), &mut hash)?;
        hash_tree(&sources.include_side(), &mut hash)?;
        for before in sources.check().into_iter().chain(sources.record()) {
            let meta = fs::metadata(&before).at("look at", &before)?;
            let modified = meta.modified().at("look at", &before)?;
            hash.write_u64(meta.len());
            hash.write_u128(modified.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos()));
        }
        Ok(Self {
            archive_len: meta.len(),
            archive_mtime: modified.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_nanos()),
            small_parts: hash.finish(),
        })
    }

    /// The key of a kit from these parts.
    fn key(&self, sources: &Sources) -> Result<u64, KitError> {
        let mut hash = DefaultHasher::new();
        hash.write_u64(self.small_parts);
        hash_file(&sources.archive, &mut hash)?;
        Ok(hash.finish())
    }
}

fn hash_tree(folder: &Path, hash: &mut DefaultHasher) -> Result<(), KitError> {
    if !folder.exists() {
        return Ok(());
    }
    let entries = fs::read_dir(folder).at("list", folder)?;
    let mut paths: Vec<_> = entries.collect::<Result<Vec<_>, _>>().at("list", folder)?;
    paths.sort_by_key(|entry| entry.file_name());
    for path in paths.iter().map(|entry| entry.path()) {
        hash.write(path.file_name().unwrap_or_default().as_encoded_bytes());
        hash.write_u8(0);
        if path.is_dir() { hash_tree(&path, hash)? } else { hash_file(&path, hash)? }
    }
    Ok(())
}

fn hash_file(path: &Path, hash: &mut DefaultHasher) -> Result<(), KitError> {
    let mut file = File::open(path).at("open", path)?;
    let mut block = vec![0u8; 1 << 16];
    loop {
        let n = file.read(&mut block).at("read", path)?;
        if n == 0 {
            return Ok(());
        }
        hash.write(&block[..n]);
    }
}

/// What a finished kit says about the parts it was made from.
#[derive(Debug)]
struct Stamp {
    key: u64,
    state: State,
}

impl Stamp {
    /// `None` when there is no kit or its stamp is of another make.
    fn read(kit: &Path) -> Option<Self> {
        let text = fs::read_to_string(kit.join(STAMP)).ok()?;
        let mut words = text.split_whitespace();
        Some(Self {
            key: u64::from_str_radix(words.next()?, 16).ok()?,
            state: State {
                archive_len: words.next()?.parse().ok()?,
                archive_mtime: words.next()?.parse().ok()?,
                small_parts: u64::from_str_radix(words.next()?, 16).ok()?,
            },
        })
    }

    fn fits(&self, state: &State) -> bool {
        self.state == *state
    }

    fn write(&self, kit: &Path) -> Result<(), KitError> {
        let State { archive_len, archive_mtime, small_parts } = &self.state;
        let text = format!("{:016x} {archive_len} {archive_mtime} {small_parts:016x}\n", self.key);
        let (path, fresh) = (kit.join(STAMP), kit.join("kit.stamp.new"));
        fs::write(&fresh, text).at("write", &fresh)?;
        fs::rename(&fresh, &path).at("write", &path)
    }
}
