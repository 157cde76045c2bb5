//! Where the demonstration's bytes come from: a file, which is only read, or numbers of our own.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

/// Bytes made up when no file is named.
const GENERATED: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) enum Source {
    File { path: PathBuf, file: File, bytes: Option<u64> },
    Generated { left: u64, state: u64 },
}

impl Source {
    /// Opens the file, for reading only.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Self, String> {
        let Some(path) = path else { return Ok(Self::Generated { left: GENERATED, state: 0x5eed }) };
        let file = File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let meta = file.metadata().map_err(|e| format!("{}: {e}", path.display()))?;
        if meta.is_dir() {
            return Err(format!("{}: is a folder, not a file", path.display()));
        }
        // Pipes and devices have no length to tell.
        let bytes = meta.is_file().then_some(meta.len());
        Ok(Self::File { path, file, bytes })
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::File { path, .. } => path.display().to_string(),
            Self::Generated { .. } => "(generated data)".to_owned(),
        }
    }

    /// How many bytes there will be, when that is known.
    pub(crate) fn len(&self) -> Option<u64> {
        match self {
            Self::File { bytes, .. } => *bytes,
            Self::Generated { left, .. } => Some(*left),
        }
    }

    /// Fills `piece` with the next bytes and makes it as short as what there was: empty at the end.
    pub(crate) fn read(&mut self, piece: &mut Vec<u8>, size: usize) -> Result<(), String> {
        piece.resize(size, 0);
        let filled = match self {
            Self::File { path, file, .. } => {
                fill(file, piece).map_err(|e| format!("{}: {e}", path.display()))?
            }
            Self::Generated { left, state } => {
                let n = usize::try_from(*left).unwrap_or(usize::MAX).min(size);
                generate(state, &mut piece[..n]);
                *left -= n as u64;
                n
            }
        };
        piece.truncate(filled);
        Ok(())
    }
}

fn fill(file: &mut File, piece: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match file.read(&mut piece[filled..]) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

/// Numbers without pattern (xorshift), so that a misplaced piece shows.
fn generate(state: &mut u64, piece: &mut [u8]) {
    for chunk in piece.chunks_mut(8) {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn whole(path: Option<&Path>, size: usize) -> Vec<u8> {
        let mut source = Source::open(path.map(Path::to_owned)).unwrap();
        let (mut all, mut piece) = (Vec::new(), Vec::new());
        loop {
            source.read(&mut piece, size).unwrap();
            if piece.is_empty() {
                return all;
            }
            all.extend_from_slice(&piece);
        }
    }

    #[test]
    fn pieces_make_up_the_whole() {
        let path = Path::new(file!())
            .file_name()
            .map(|n| Path::new(env!("CARGO_MANIFEST_DIR")).join("src/demo").join(n));
        let path = path.unwrap();
        let expected = std::fs::read(&path).unwrap();
        for size in [7, 1000, 1 << 20] {
            assert_eq!(whole(Some(&path), size), expected);
        }
        let generated = whole(None, 1 << 20);
        assert_eq!(generated.len() as u64, GENERATED);
        assert_ne!(generated[..4096], generated[4096..8192]);
    }

    #[test]
    fn what_is_no_file_is_named() {
        let error = Source::open(Some("/no/such/file".into())).unwrap_err();
        assert!(error.contains("/no/such/file"), "{error}");
        let error = Source::open(Some("/".into())).unwrap_err();
        assert!(error.contains("folder"), "{error}");
    }
}
