//! How large the last cache before memory is: what a copy must not wash out, and from which volumes on it may be better
//! to go around it.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Where the kernel describes the caches of the first processor, one folder each.
const CACHES: &str = "/sys/devices/system/cpu/cpu0/cache";
/// What stands for it where the kernel does not tell.
const UNKNOWN: u64 = 32 << 20;
/// Sizes that are believed. Virtual machines are told of caches that they hardly have a share of.
const BELIEVED: core::ops::RangeInclusive<u64> = 1 << 20..=256 << 20;

/// Bytes of the last-level cache, as the kernel describes that of the first processor; 32 MiB where it does not. Read once
/// per process.
pub fn last_level() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| largest(Path::new(CACHES)).unwrap_or(UNKNOWN))
}

/// From this many bytes on a copy that several cores share may gain from bypassing the cache: an eighth of it.
pub fn stream_from() -> u64 {
    last_level() / 8
}

/// The largest of the caches of the highest level that hold data.
fn largest(folder: &Path) -> Option<u64> {
    let caches = fs::read_dir(folder).ok()?.filter_map(|entry| {
        let cache = entry.ok()?.path();
        let read = |name| Some(fs::read_to_string(cache.join(name)).ok()?.trim().to_owned());
        let level: u32 = read("level")?.parse().ok()?;
        (read("type")? != "Instruction").then_some((level, size(&read("size")?)?))
    });
    let (_, bytes) = caches.max()?;
    Some(bytes.clamp(*BELIEVED.start(), *BELIEVED.end()))
}

/// `32768K`, as the kernel writes it.
fn size(text: &str) -> Option<u64> {
    let (digits, shift) = match text.strip_suffix('K') {
        Some(digits) => (digits, 10),
        None => text.strip_suffix('M').map_or((text, 0), |digits| (digits, 20)),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift).filter(|&bytes| bytes != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder as the kernel has them, of caches `(level, type, size)`; removed at the end.
    fn described(name: &str, caches: &[(&str, &str, &str)]) -> Option<u64> {
        let folder = std::env::temp_dir().join(format!("softdpu-cache-{}-{name}", std::process::id()));
        for (at, (level, kind, size)) in caches.iter().enumerate() {
            let cache = folder.join(format!("index{at}"));
            fs::create_dir_all(&cache).unwrap();
            for (file, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(cache.join(file), format!("{text}\n")).unwrap();
            }
        }
        let found = largest(&folder);
        let _ = fs::remove_dir_all(&folder);
        found
    }

    #[test]
    fn the_last_level_that_holds_data_counts() {
        let usual = [
            ("1", "Data", "32K"),
            ("1", "Instruction", "32K"),
            ("2", "Unified", "1024K"),
            ("3", "Unified", "16384K"),
        ];
        assert_eq!(described("usual", &usual), Some(16 << 20));
        assert_eq!(described("two", &usual[..3]), Some(1 << 20));
        // Nothing is derived from what cannot be.
        let odd = [
            ("3", "Unified", "0K"),
            ("2", "Unified", "much"),
            ("1", "Instruction", "32M"),
            ("x", "Data", "8M"),
        ];
        assert_eq!(described("odd", &odd), None);
        assert_eq!(described("none", &[]), None);
        assert_eq!(described("small", &[("1", "Data", "32K")]), Some(*BELIEVED.start()));
        assert_eq!(described("large", &[("4", "Unified", "9000M")]), Some(*BELIEVED.end()));
    }

    #[test]
    fn thresholds_come_from_this_machine() {
        let bytes = last_level();
        assert!(BELIEVED.contains(&bytes));
        assert_eq!(bytes, largest(Path::new(CACHES)).unwrap_or(UNKNOWN));
        assert_eq!(stream_from(), bytes / 8);
    }
}
