//! Tables by address.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Spreads addresses over a table. They are the program's own: nobody makes them collide on purpose.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_usize(usize::from(*b)));
    }
    fn write_usize(&mut self, n: usize) {
        // The upper half of the product depends on every bit of the number.
        let product = u128::from(self.0 ^ n as u64) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product >> 64) as u64 ^ product as u64;
    }
}

/// A table by address.
pub(crate) type Table<V> = HashMap<usize, V, BuildHasherDefault<Spread>>;
