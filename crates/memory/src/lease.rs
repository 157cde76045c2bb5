//! Regions that outlive the maps they belong to.
//!
//! A buffer descriptor points at its region by address. Regions of C memory maps therefore live in storage that is
//! never given back to the system, and a region whose map was destroyed while buffers were still out (which the
//! contract allows once a map was made safe for threads) is set aside, closed, until the last of them is back.

use crate::region::Region;
use core::ops::Deref;
use core::sync::atomic::{Ordering::Acquire, fence};
use softdpu_status::{Code, Error, Result};
use std::sync::Mutex;

/// Regions made at once.
const CHUNK: usize = 16;

struct Yard {
    free: Vec<&'static Region>,
    /// Closed, but with buffers out.
    waiting: Vec<&'static Region>,
    total: usize,
}

static YARD: Mutex<Yard> = Mutex::new(Yard { free: Vec::new(), waiting: Vec::new(), total: 0 });

/// The right to a region. Dropping it closes the region and puts it back as soon as no buffer points there.
#[derive(Debug)]
pub struct Lease(&'static Region);

impl Lease {
    /// A closed region that nobody else uses. Any thread.
    ///
    /// # Errors
    /// NoMemory.
    pub fn new() -> Result<Lease> {
        let yard = &mut *YARD.lock().unwrap_or_else(|e| e.into_inner());
        yard.sweep();
        if yard.free.is_empty() {
            yard.grow()?;
        }
        yard.free.pop().map(Lease).ok_or(Error::new(Code::NoMemory, "no memory for a region"))
    }

    /// The region. Its memory stays for ever; what it stands for only as long as the lease.
    pub fn region(&self) -> &'static Region {
        self.0
    }
}

impl Deref for Lease {
    type Target = Region;

    fn deref(&self) -> &Region {
        self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.close();
        let yard = &mut *YARD.lock().unwrap_or_else(|e| e.into_inner());
        // There is room: `grow` reserved both lists for every region there is.
        yard.waiting.push(self.0);
        yard.sweep();
    }
}

impl Yard {
    fn grow(&mut self) -> Result<()> {
        let no_memory = |_| Error::new(Code::NoMemory, "no memory for a region");
        let total = self.total + CHUNK;
        self.free.try_reserve(total - self.free.len()).map_err(no_memory)?;
        self.waiting.try_reserve(total - self.waiting.len()).map_err(no_memory)?;
        let mut chunk = Vec::new();
        chunk.try_reserve_exact(CHUNK).map_err(no_memory)?;
        chunk.resize_with(CHUNK, Region::closed);
        self.total = total;
        self.free.extend(chunk.leak().iter());
        Ok(())
    }

    /// Takes back the regions that no buffer points into any more.
    fn sweep(&mut self) {
        let free = &mut self.free;
        self.waiting.retain(|region| {
            if region.bufs() > 0 {
                return true;
            }
            // Whoever gave the last buffer back has finished with the region.
            fence(Acquire);
            region.reset();
            free.push(region);
            false
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Store;
    use crate::region::CAN_READ;

    #[test]
    fn a_region_with_buffers_out_is_not_given_out_again() {
        let lease = Lease::new().unwrap();
        let region = lease.region();
        region.open(0x1000, 0x100, 0, CAN_READ);
        region.share();
        let store = Store::new();
        store.expand(2).unwrap();
        let buf = store.take(region).unwrap();
        drop(lease);
        assert!(!region.is_open());
        let others: Vec<_> = (0..40).map(|_| Lease::new().unwrap()).collect();
        assert!(others.iter().all(|other| !core::ptr::eq(other.region(), region)));
        assert_eq!(buf.region().len(), 0x100);
        drop(others);
        buf.give_back_list();
        // Other tests take regions too, so it may be theirs for a while.
        loop {
            let others: Vec<_> = (0..64).map(|_| Lease::new().unwrap()).collect();
            if let Some(again) = others.iter().find(|other| core::ptr::eq(other.region(), region)) {
                assert!(again.is_empty() && again.is_counted() && again.bufs() == 0);
                break;
            }
            std::thread::yield_now();
        }
        store.dissolve();
    }
}
