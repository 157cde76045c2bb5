//! Where the values of events live: cells of a cache line each, on pages that other processes can map.
//!
//! Every event has a cell there whether it is exported or not, so that exporting it later moves nothing. A cell goes back
//! only when its event has ended *and* every process that imported it has let go of it: whoever still writes to a dead
//! event writes to nobody else's.
//!
//! ```text
//! 0  value    8  number of the event, 0 once it has ended    16  unused, up to a cache line
//! ```

use softdpu_link::sync::{AtomicU64, Ordering};
use softdpu_link::{Mapping, Segment};
use softdpu_status::{Code, Error, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a cell.
pub(crate) const CELL: usize = 64;
/// Cells of a page.
const CELLS: usize = 1024;
/// Bytes of a page.
pub(crate) const PAGE: usize = CELL * CELLS;

#[derive(Debug)]
struct Pages {
    free: Vec<(&'static Segment, usize)>,
    total: usize,
}

static PAGES: Mutex<Pages> = Mutex::new(Pages { free: Vec::new(), total: 0 });

fn pages() -> MutexGuard<'static, Pages> {
    PAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of a cell, wherever its page is mapped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    map: &'a Mapping,
    at: usize,
}

impl<'a> Words<'a> {
    /// The cell at an offset, if there can be one.
    pub(crate) fn at(map: &'a Mapping, at: usize) -> Option<Words<'a>> {
        let fits = at.is_multiple_of(CELL) && at.checked_add(CELL).is_some_and(|end| end <= map.len());
        fits.then_some(Words { map, at })
    }

    /// The value.
    pub(crate) fn value(&self) -> &'a AtomicU64 {
        self.map.word64(self.at)
    }

    fn number(&self) -> &'a AtomicU64 {
        self.map.word64(self.at + 8)
    }

    /// Does the event of this number live here?
    pub(crate) fn is_of(&self, event: u64) -> bool {
        self.number().load(Ordering::Acquire) == event
    }
}

/// A cell of this process. Dropping it gives the cell back.
#[derive(Debug)]
pub(crate) struct Place {
    page: &'static Segment,
    at: usize,
}

impl Place {
    /// A cell for the event of this number; its value is 0. Any thread.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn take(event: u64) -> Result<Place> {
        let mut pages = pages();
        if pages.free.is_empty() {
            grow(&mut pages)?;
        }
        let (page, at) = pages.free.pop().ok_or(Error::new(Code::NoMemory, "no memory for a sync event"))?;
        drop(pages);
        let place = Place { page, at };
        place.words().value().store(0, Ordering::Relaxed);
        place.words().number().store(event, Ordering::Release);
        Ok(place)
    }

    /// The page, for handing it over.
    pub(crate) fn page(&self) -> &'static Segment {
        self.page
    }

    /// Where on its page.
    pub(crate) fn offset(&self) -> usize {
        self.at
    }

    pub(crate) fn words(&self) -> Words<'_> {
        Words { map: self.page, at: self.at }
    }

    /// The event has ended: importers are told so.
    pub(crate) fn end(&self) {
        self.words().number().store(0, Ordering::Release);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.end();
        // Room was made when the page was.
        pages().free.push((self.page, self.at));
    }
}

/// One more page. Pages stay for the life of the process.
fn grow(pages: &mut Pages) -> Result<()> {
    let no_memory = |_| Error::new(Code::NoMemory, "no memory for a sync event");
    let total = pages.total + CELLS;
    let wanted = total - pages.free.len();
    pages.free.try_reserve(wanted).map_err(no_memory)?;
    let page: &'static Segment = Box::leak(Box::new(Segment::create("softdpu-sync-events", PAGE)?));
    pages.total = total;
    // Lowest first out.
    pages.free.extend((0..CELLS).rev().map(|i| (page, i * CELL)));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_apart_and_used_again() {
        let all: Vec<Place> = (1..=2 * CELLS as u64 + 5).map(|n| Place::take(n).unwrap()).collect();
        for (i, place) in all.iter().enumerate() {
            place.words().value().store(i as u64, Ordering::Relaxed);
        }
        for (i, place) in all.iter().enumerate() {
            assert_eq!(place.words().value().load(Ordering::Relaxed), i as u64);
            assert!(place.words().is_of(i as u64 + 1));
        }
        drop(all);
        let fresh = Place::take(7).unwrap();
        assert_eq!(fresh.words().value().load(Ordering::Relaxed), 0);
        fresh.end();
        assert!(!fresh.words().is_of(7));
    }

    #[test]
    fn offsets_of_a_peer_are_looked_at() {
        let page = Segment::create("test", PAGE).unwrap();
        assert!(Words::at(&page, 0).is_some() && Words::at(&page, PAGE - CELL).is_some());
        for bad in [8, PAGE, PAGE - 8, usize::MAX, usize::MAX - CELL + 1] {
            assert!(Words::at(&page, bad).is_none(), "{bad}");
        }
    }
}
