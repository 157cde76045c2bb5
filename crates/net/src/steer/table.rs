//! The rules of one shape: a hash table over the masked key.

use super::key::{Key, WORDS};

/// No rule.
const NONE: u32 = u32::MAX;

/// A cell: the upper half of the hash, and the rule.
#[derive(Clone, Copy, Debug)]
struct Cell {
    mark: u32,
    rule: u32,
}

/// Rules that look at the same fields under the same masks.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    mask: Key,
    /// The words of the mask that are not zero: the others need no look.
    words: Vec<u8>,
    /// The first rule of the shape, by the order of all.
    pub(crate) best: u32,
    /// A power of two, at most half full.
    cells: Vec<Cell>,
    /// The masked keys and numbers of the rules in `cells`.
    keys: Vec<(Key, u32)>,
}

impl Shape {
    /// Of rules `(key under the mask, number)`, in rising order of their numbers; of those with the same key the first
    /// counts.
    pub(crate) fn new(mask: Key, rules: &[(Key, u32)]) -> Shape {
        let words = (0..WORDS as u8).filter(|&word| mask.0[usize::from(word)] != 0).collect();
        let size = (rules.len() * 2).next_power_of_two().max(4);
        let mut shape = Shape {
            mask,
            words,
            best: rules.iter().map(|rule| rule.1).min().unwrap_or(NONE),
            cells: vec![Cell { mark: 0, rule: NONE }; size],
            keys: Vec::with_capacity(rules.len()),
        };
        for &(key, number) in rules {
            if shape.find(&key).is_some() {
                continue;
            }
            let hash = shape.hash(&key);
            let mut at = hash as usize & (size - 1);
            while shape.cells[at].rule != NONE {
                at = (at + 1) & (size - 1);
            }
            shape.cells[at] = Cell { mark: (hash >> 32) as u32, rule: shape.keys.len() as u32 };
            shape.keys.push((key, number));
        }
        shape
    }

    #[inline(always)]
    fn hash(&self, key: &Key) -> u64 {
        let mut hash = 0x9e37_79b9_7f4a_7c15u64;
        for &word in &self.words {
            let at = usize::from(word);
            let wide = u128::from((key.0[at] & self.mask.0[at]) ^ hash) * 0xa076_1d64_78bd_642f;
            hash = (wide >> 64) as u64 ^ wide as u64;
        }
        hash
    }

    /// The rule that a frame's key matches.
    #[inline]
    pub(crate) fn find(&self, key: &Key) -> Option<u32> {
        let hash = self.hash(key);
        let mask = self.cells.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let cell = self.cells[at];
            if cell.rule == NONE {
                return None;
            }
            if cell.mark == (hash >> 32) as u32 {
                let (known, number) = &self.keys[cell.rule as usize];
                let same = self.words.iter().all(|&word| {
                    let at = usize::from(word);
                    key.0[at] & self.mask.0[at] == known.0[at]
                });
                if same {
                    return Some(*number);
                }
            }
            at = (at + 1) & mask;
        }
    }
}
