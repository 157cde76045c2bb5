//! Where the workspace lies, and reading its files.

use std::fs;
use std::path::{Path, PathBuf};

/// The top folder of the workspace.
pub(crate) fn root() -> PathBuf {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    parent.map(Path::to_path_buf).unwrap_or_default()
}

/// A file of the workspace as text.
pub(crate) fn read(relative: &str) -> Result<String, String> {
    fs::read_to_string(root().join(relative)).map_err(|e| format!("{relative}: {e}"))
}

/// Every file below a folder of the workspace for which `wanted` holds, sorted, relative to the top. Build
/// output and hidden folders are left out; a folder that is not there has no files.
pub(crate) fn files(folder: &str, wanted: fn(&Path) -> bool) -> Vec<String> {
    let top = root();
    let mut found = Vec::new();
    let mut open = vec![top.join(folder)];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|e| e.path()) {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            if name.starts_with('.') || name == "target" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if wanted(&path)
                && let Some(relative) = path.strip_prefix(&top).ok().and_then(Path::to_str)
            {
                found.push(relative.to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Has the path this extension?
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}
