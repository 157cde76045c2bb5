//! Arrays of packets, as events of a managed queue hand them to C programs.
//!
//! An array is the program's until it gives it back as a whole, or has dropped each of its packets. The latter nobody says;
//! it is found out when arrays are short.

use super::pool::Pool;
use crate::sync::{AtomicPtr, AtomicU16, Ordering::Relaxed};
use softdpu_memory::handle::Head;
use softdpu_memory::node::Node;
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most packets of one event.
pub const MOST_PACKETS: usize = 128;

/// Most arrays of one queue.
const MOST_ARRAYS: usize = 4096;

/// An array of packets. The program knows it by the address of its first item.
#[derive(Debug)]
#[repr(C)]
pub struct Packets {
    pub(crate) head: Head,
    pub(crate) number: u32,
    pub(crate) count: AtomicU16,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) items: [AtomicPtr<Node>; MOST_PACKETS],
}

impl Packets {
    /// Array number `number`.
    pub(crate) fn new(number: u32, shelf: &Arc<Shelf>) -> Packets {
        Packets {
            head: Head::unborn(),
            number,
            count: AtomicU16::new(0),
            shelf: shelf.clone(),
            items: [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST_PACKETS],
        }
    }

    /// Puts a packet into it.
    #[inline]
    pub(crate) fn put(&self, at: usize, node: &Node) {
        self.items[at].store(core::ptr::from_ref(node).cast_mut(), Relaxed);
    }

    /// Its packets, as far as they are in use. The program may have dropped some.
    pub(crate) fn live(&self) -> impl Iterator<Item = &'static Node> {
        let count = usize::from(self.count.load(Relaxed));
        self.items[..count].iter().filter_map(|item| crate::lent::packet(item.load(Relaxed)).node())
    }
}

/// The arrays of one queue.
#[derive(Debug, Default)]
pub struct Shelf {
    free: Mutex<Vec<&'static Packets>>,
    out: Mutex<Vec<&'static Packets>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    /// How many arrays a queue with so many packets needs, when each array holds `least` packets or more.
    pub(crate) fn size(packets: u32, least: usize) -> usize {
        (packets as usize / least.max(1) + 2).min(MOST_ARRAYS)
    }

    /// Takes the arrays it is to have.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn stock(&self, arrays: Vec<&'static Packets>) -> Result<()> {
        let no_memory = |_| Error::new(Code::NoMemory, "no memory for packet arrays");
        let mut free = lock(&self.free);
        lock(&self.out).try_reserve_exact(arrays.len()).map_err(no_memory)?;
        free.try_reserve_exact(arrays.len()).map_err(no_memory)?;
        free.extend(arrays);
        Ok(())
    }

    /// An array to fill.
    pub(crate) fn take(&self, pool: &Pool) -> Option<&'static Packets> {
        let mut free = lock(&self.free);
        let mut out = lock(&self.out);
        let found = free.pop().or_else(|| {
            let at =
                out.iter().position(|array| !array.live().any(|node| pool.holder(node) == array.number))?;
            Some(out.swap_remove(at))
        })?;
        found.count.store(0, Relaxed);
        out.push(found);
        Some(found)
    }

    /// An array is back; its packets are, too.
    pub(crate) fn put(&self, array: &'static Packets) {
        let mut free = lock(&self.free);
        let mut out = lock(&self.out);
        // The one taken last is the one given back first, mostly.
        if let Some(at) = out.iter().rposition(|known| core::ptr::eq(*known, array)) {
            out.swap_remove(at);
            array.count.store(0, Relaxed);
            free.push(array);
        }
    }

    /// Everything, for the end of the queue.
    pub(crate) fn clear(&self) -> Vec<&'static Packets> {
        let mut all = core::mem::take(&mut *lock(&self.free));
        all.append(&mut lock(&self.out));
        all
    }
}
