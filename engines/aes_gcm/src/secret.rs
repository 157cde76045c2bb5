//! The bytes of a key, for hardware that wants them.

use core::fmt;
use core::hint::black_box;

/// Up to 32 secret bytes, wiped when they go.
pub(crate) struct Secret {
    bytes: [u8; Secret::MAX],
    len: usize,
}

impl Secret {
    const MAX: usize = 32;

    /// A copy of these bytes; of none, if they are too many.
    pub(crate) fn of(bytes: &[u8]) -> Secret {
        let mut secret = Secret { bytes: [0; Secret::MAX], len: 0 };
        if let Some(place) = secret.bytes.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
            secret.len = bytes.len();
        }
        secret
    }

    /// The bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.bytes.fill(0);
        // Whoever could see the zeros here keeps the compiler from leaving them out.
        black_box(&self.bytes);
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({} bytes)", self.len)
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
