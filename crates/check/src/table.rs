//! Tables by address. Handles are addresses of objects in memory that the library never gives to anything else, so an
//! address keeps its number for good and whoever has the number needs no look-up.

/// The key of an empty cell; no object is there.
const EMPTY: usize = usize::MAX;
/// Stands for no number.
pub(crate) const NONE: u32 = u32::MAX;

/// Things by address and by number.
#[derive(Debug)]
pub(crate) struct Store<T> {
    /// Address and number; probed one after the other, never more than half full.
    cells: Box<[(usize, u32)]>,
    shift: u32,
    items: Vec<T>,
}

impl<T> Default for Store<T> {
    fn default() -> Self {
        Store { cells: vec![(EMPTY, NONE); 64].into(), shift: 64 - 6, items: Vec::new() }
    }
}

impl<T> Store<T> {
    /// The cell to begin at. Addresses are the program's own: nobody makes them collide on purpose.
    fn home(&self, at: usize) -> usize {
        ((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The number of what is at an address.
    #[inline(always)]
    pub(crate) fn find(&self, at: usize) -> Option<u32> {
        let mut cell = self.home(at);
        loop {
            let (key, number) = self.cells.get(cell).copied()?;
            if key == at {
                return (number != NONE).then_some(number);
            }
            if key == EMPTY {
                return None;
            }
            cell = (cell + 1) % self.cells.len();
        }
    }

    /// What has a number.
    #[inline(always)]
    pub(crate) fn at(&self, number: u32) -> Option<&T> {
        self.items.get(number as usize)
    }

    /// The same, to be changed.
    #[inline(always)]
    pub(crate) fn at_mut(&mut self, number: u32) -> Option<&mut T> {
        self.items.get_mut(number as usize)
    }

    /// What is at an address.
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        self.at(self.find(at)?)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.at_mut(self.find(at)?)
    }

    /// Puts something at an address, in the place of what was there.
    pub(crate) fn put(&mut self, at: usize, item: T) {
        if let Some(old) = self.get_mut(at) {
            *old = item;
            return;
        }
        if (self.items.len() + 1) * 2 > self.cells.len() {
            self.grow();
        }
        let number = self.items.len() as u32;
        self.items.push(item);
        self.enter(at, number);
    }

    fn enter(&mut self, at: usize, number: u32) {
        let mut cell = self.home(at);
        let count = self.cells.len();
        while self.cells[cell].0 != EMPTY {
            cell = (cell + 1) % count;
        }
        self.cells[cell] = (at, number);
    }

    fn grow(&mut self) {
        let twice = vec![(EMPTY, NONE); self.cells.len() * 2].into();
        let old = std::mem::replace(&mut self.cells, twice);
        self.shift -= 1;
        old.iter().filter(|(at, _)| *at != EMPTY).for_each(|(at, number)| self.enter(*at, *number));
    }

    /// All there is and ever was.
    pub(crate) fn all(&self) -> &[T] {
        &self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_is_found_and_nothing_else() {
        let mut store = Store::default();
        assert_eq!(store.find(0), None);
        assert_eq!(store.find(EMPTY), None);
        for i in 0..10_000usize {
            store.put(i * 192, i);
        }
        for i in 0..10_000usize {
            assert_eq!(store.get(i * 192), Some(&i));
            assert_eq!(store.find(i * 192 + 64), None);
        }
        store.put(192, 77);
        assert_eq!((store.get(192), store.all().len()), (Some(&77), 10_000));
    }
}
