//! The bytes of a key, for hardware that wants them.

use core::fmt;
use core::hint::black_box;

/// Up to 32 secret bytes, wiped when they go. In a place of their own, so that no move leaves a copy behind.
pub(crate) struct Secret(Box<[u8]>);

impl Secret {
    const MAX: usize = 32;

    /// A copy of these bytes; of none, if they are too many.
    pub(crate) fn of(bytes: &[u8]) -> Secret {
        Secret(if bytes.len() > Secret::MAX { Box::default() } else { bytes.into() })
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.fill(0);
        // Whoever could see the zeros here keeps the compiler from leaving them out.
        black_box(&self.0);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn bytes_are_kept_and_not_shown() {
        let secret = Secret::of(&[7; 16]);
        assert_eq!(secret.bytes(), [7; 16]);
        assert_eq!(format!("{secret:?}"), "Secret(16 bytes)");
        assert!(Secret::of(&[1; 33]).bytes().is_empty());
    }
}
