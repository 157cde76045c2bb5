//! Reads the symbol index of the static library.
//!
//! The index of an `ar` archive names every global symbol that its members define. Which of them are the C
//! interface is decided by their prefix alone, so the library's code is the one list of what is exported.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::error::{Context, KitError};

/// Prefixes of the symbols that leave the library.
const PUBLIC: [&str; 2] = ["doca_", "softdpu_primer_"];

const MAGIC: &[u8; 8] = b"!<arch>\n";
const HEADER: usize = 60;

/// Names of the C interface that the archive defines, sorted, each once.
pub fn exported_symbols(archive: &Path) -> Result<Vec<String>, KitError> {
    let bad = |what| KitError::Archive { path: archive.to_owned(), what };
    let mut file = File::open(archive).at("open", archive)?;
    let mut head = [0u8; MAGIC.len() + HEADER];
    file.read_exact(&mut head).map_err(|_| bad("too short to be a static library"))?;
    if !head.starts_with(MAGIC) {
        return Err(bad("not a static library (wrong magic)"));
    }
    let member = &head[MAGIC.len()..];
    // "/" holds 32-bit offsets, "/SYM64/" 64-bit ones; the index is the first member in both forms.
    let width = match member[..16].trim_ascii_end() {
        b"/" => 4,
        b"/SYM64/" => 8,
        _ => return Err(bad("a static library without a symbol index; run ranlib on it")),
    };
    let size = std::str::from_utf8(&member[48..58]).ok().and_then(|s| s.trim().parse::<u64>().ok());
    let size = size.ok_or_else(|| bad("damaged archive header"))?;
    let mut index = Vec::new();
    file.take(size).read_to_end(&mut index).at("read", archive)?;
    public_names(&index, width).ok_or_else(|| bad("damaged symbol index"))
}

/// The public names of an index: a big-endian count, that many offsets, that many NUL-terminated names.
fn public_names(index: &[u8], width: usize) -> Option<Vec<String>> {
    let count = index.get(..width)?.iter().fold(0usize, |n, &b| (n << 8) | usize::from(b));
    let names = index.get(count.checked_add(1)?.checked_mul(width)?..)?;
    let mut public: Vec<String> = names
        .split(|&b| b == 0)
        .take(count)
        .filter_map(|name| std::str::from_utf8(name).ok())
        .filter(|name| PUBLIC.iter().any(|p| name.starts_with(p)))
        .map(str::to_owned)
        .collect();
    public.sort_unstable();
    public.dedup();
    Some(public)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(width: usize, names: &[&str]) -> Vec<u8> {
        let mut out = Vec::new();
        let number = |n: usize| (n as u64).to_be_bytes()[8 - width..].to_vec();
        out.extend(number(names.len()));
        names.iter().for_each(|_| out.extend(number(68)));
        names.iter().for_each(|n| out.extend([n.as_bytes(), b"\0"].concat()));
        out
    }

    #[test]
    fn only_the_interface_leaves() {
        let names =
            ["_ZN3std", "doca_pe_create", "softdpu_log_init", "softdpu_primer_init", "doca_pe_create"];
        for width in [4, 8] {
            let found = public_names(&index(width, &names), width).unwrap();
            assert_eq!(found, ["doca_pe_create", "softdpu_primer_init"]);
        }
    }

    #[test]
    fn damage_is_an_answer_not_a_panic() {
        let whole = index(4, &["doca_a", "doca_b"]);
        for cut in 0..whole.len() {
            if let Some(names) = public_names(&whole[..cut], 4) {
                assert!(names.len() <= 2);
            }
        }
        assert_eq!(public_names(&[0xff; 8], 8), None);
        assert_eq!(public_names(&[0xff, 0xff, 0xff, 0xff, 0], 4), None);
    }
}
