//! The names records come from, as a tree: `A::B` lies below `A`.
//!
//! A logger is never destroyed, so an identifier or a handle stays good for the life of the process. The
//! handle of a logger is its address; it is looked up, never followed.

use super::level::Level;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed, Ordering::Release};
use std::sync::{PoisonError, RwLock};

/// `DOCA_LOGGER_NAME_SIZE`, terminator included.
pub(crate) const NAME_SIZE: usize = 256;

/// First word of every logger: "loggers" in ASCII, so that no other kind of object is taken for one.
const KIND: u64 = 0x0073_7265_6767_6f6c;

/// One node of the tree.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Logger {
    kind: u64,
    name: Box<[u8]>,
    parent: Option<usize>,
    /// Most verbose level this source lets through.
    level: AtomicU32,
    /// Level that loggers registered below it later begin with.
    inherited: AtomicU32,
}

/// All loggers by identifier; a parent stands before its children.
static TREE: RwLock<Vec<&'static Logger>> = RwLock::new(Vec::new());
/// Length of [`TREE`], readable without the lock.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Level that new loggers on top begin with.
static TOP_INHERITED: AtomicU32 = AtomicU32::new(Level::Trace as u32);

impl Logger {
    pub(crate) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(crate) fn address(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    pub(crate) fn level(&self) -> u32 {
        self.level.load(Relaxed)
    }
}

fn read() -> std::sync::RwLockReadGuard<'static, Vec<&'static Logger>> {
    TREE.read().unwrap_or_else(PoisonError::into_inner)
}

/// The identifier of a name; registering it again gives the same one. Names above are made as needed.
pub(crate) fn register(name: &[u8]) -> Result<c_int> {
    let name = &name[..name.len().min(NAME_SIZE - 1)];
    let mut tree = TREE.write().unwrap_or_else(PoisonError::into_inner);
    let mut parent = None;
    for end in (1..name.len()).filter(|&i| name[i..].starts_with(b"::")) {
        parent = Some(ensure(&mut tree, &name[..end], parent)?);
    }
    let id = ensure(&mut tree, name, parent)?;
    c_int::try_from(id).map_err(|_| Error::new(Code::NoMemory, "too many log sources"))
}

fn ensure(tree: &mut Vec<&'static Logger>, name: &[u8], parent: Option<usize>) -> Result<usize> {
    if let Some(id) = tree.iter().position(|logger| &*logger.name == name) {
        return Ok(id);
    }
    let no_memory = |_| Error::new(Code::NoMemory, "log source");
    let mut text = Vec::new();
    text.try_reserve_exact(name.len()).map_err(no_memory)?;
    text.extend_from_slice(name);
    let inherited = parent.map_or(&TOP_INHERITED, |id| &tree[id].inherited).load(Relaxed);
    let mut room = Vec::new();
    room.try_reserve_exact(1).map_err(no_memory)?;
    tree.try_reserve(1).map_err(no_memory)?;
    room.push(Logger {
        kind: KIND,
        name: text.into_boxed_slice(),
        parent,
        level: AtomicU32::new(inherited),
        inherited: AtomicU32::new(inherited),
    });
    let logger = &room.leak()[0];
    debug_assert_eq!(logger.kind, KIND);
    tree.push(logger);
    COUNT.store(tree.len(), Release);
    Ok(tree.len() - 1)
}

/// Whether this identifier was given out.
pub(crate) fn is_source(id: c_int) -> bool {
    usize::try_from(id).is_ok_and(|id| id < COUNT.load(Relaxed))
}

/// Whether the source lets a level through; `None`: no such source.
pub(crate) fn admits(id: c_int, level: Level) -> Option<bool> {
    let tree = read();
    tree.get(usize::try_from(id).ok()?).map(|logger| level.number() <= logger.level())
}

/// The logger with this address.
pub(crate) fn find(address: usize) -> Result<&'static Logger> {
    find_id(&read(), address).map(|(_, logger)| logger)
}

fn find_id(tree: &[&'static Logger], address: usize) -> Result<(usize, &'static Logger)> {
    let found = tree.iter().enumerate().find(|(_, logger)| logger.address() == address);
    found.map(|(id, logger)| (id, *logger)).ok_or(Error::new(Code::NotFound, "not a logger"))
}

/// How many steps a logger lies below `root` (`None`: below the top); `None`: not below it.
fn depth_below(tree: &[&'static Logger], id: usize, root: Option<usize>) -> Option<usize> {
    let mut depth = 1;
    let mut at = tree[id].parent;
    while at != root {
        at = tree[at?].parent;
        depth += 1;
    }
    Some(depth)
}

/// Calls `visit` for the loggers below `root` (0: all), at most `depth` levels down (0: all levels).
/// Parents come before their children.
pub(crate) fn below(root: usize, depth: u8, mut visit: impl FnMut(&'static Logger)) -> Result<()> {
    let tree = read();
    let root = if root == 0 { None } else { Some(find_id(&tree, root)?.0) };
    for (id, logger) in tree.iter().enumerate() {
        let steps = depth_below(&tree, id, root);
        if steps.is_some_and(|steps| depth == 0 || steps <= usize::from(depth)) {
            visit(logger);
        }
    }
    Ok(())
}

/// Sets the verbosity of one logger (0: none of its own), and with `propagate` of all below it, those
/// registered later included.
pub(crate) fn set_level(logger: usize, level: Level, propagate: bool) -> Result<()> {
    // The write lock: a source registered meanwhile must not slip between the two loops.
    let tree = TREE.write().unwrap_or_else(PoisonError::into_inner);
    let root = if logger == 0 { None } else { Some(find_id(&tree, logger)?.0) };
    if let Some(id) = root {
        tree[id].level.store(level.number(), Relaxed);
    }
    if propagate {
        root.map_or(&TOP_INHERITED, |id| &tree[id].inherited).store(level.number(), Relaxed);
        for (id, logger) in tree.iter().enumerate() {
            if depth_below(&tree, id, root).is_some() {
                logger.level.store(level.number(), Relaxed);
                logger.inherited.store(level.number(), Relaxed);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(name: &str) -> usize {
        let mut found = 0;
        below(0, 0, |logger| {
            if logger.name() == name.as_bytes() {
                found = logger.address();
            }
        })
        .expect("top");
        found
    }

    fn names_below(root: usize, depth: u8) -> Vec<String> {
        let mut names = Vec::new();
        below(root, depth, |logger| names.push(String::from_utf8_lossy(logger.name()).into_owned()))
            .expect("known root");
        names
    }

    #[test]
    fn one_name_has_one_identifier_and_parents_are_made() {
        let first = register(b"source_t1::mid::leaf").expect("memory");
        assert_eq!(register(b"source_t1::mid::leaf").expect("memory"), first);
        assert_ne!(register(b"source_t1::mid::other").expect("memory"), first);
        assert!(is_source(first) && !is_source(-1) && !is_source(c_int::MAX));
        let root = address("source_t1");
        assert_eq!(names_below(root, 1), ["source_t1::mid"]);
        assert_eq!(names_below(root, 0), ["source_t1::mid", "source_t1::mid::leaf", "source_t1::mid::other"]);
        assert!(names_below(0, 1).contains(&"source_t1".to_owned()));
        assert!(!names_below(0, 1).contains(&"source_t1::mid".to_owned()));
    }

    #[test]
    fn odd_names_are_taken_as_written() {
        for name in ["GPU_DMABUF:SAMPLE", "::", "::odd_t2", "odd_t2::", ""] {
            let id = register(name.as_bytes()).expect("memory");
            assert_eq!(register(name.as_bytes()).expect("memory"), id);
        }
        let long = vec![b'x'; 400];
        let id = register(&long).expect("memory");
        assert_eq!(register(&long[..255]).expect("memory"), id);
    }

    #[test]
    fn levels_propagate_to_present_and_later_children() {
        let a = register(b"level_t3").expect("memory");
        let b = register(b"level_t3::b").expect("memory");
        let root = address("level_t3");
        assert_eq!(admits(a, Level::Trace), Some(true));
        set_level(root, Level::Error, false).expect("known");
        assert_eq!(admits(a, Level::Warning), Some(false));
        assert_eq!(admits(b, Level::Warning), Some(true));
        set_level(root, Level::Warning, true).expect("known");
        let c = register(b"level_t3::c").expect("memory");
        let below_b = register(b"level_t3::b::late").expect("memory");
        for id in [a, b, c, below_b] {
            assert_eq!(admits(id, Level::Warning), Some(true));
            assert_eq!(admits(id, Level::Info), Some(false));
        }
        assert_eq!(set_level(root + 1, Level::Info, true).unwrap_err().code(), Code::NotFound);
        assert_eq!(admits(-5, Level::Info), None);
    }
}
