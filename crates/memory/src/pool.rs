//! [`BufPool`]: memory cut into windows once, which are then taken and given back without any allocation.

use crate::buf::{Buf, Holder};
use crate::claim::Claim;
use crate::error::WindowError;
use crate::memory::Memory;
use crate::node::{Owned, Store};
use core::fmt;
use softdpu_status::Code;
use std::sync::Arc;

/// A stock of equal buffers on one memory. A cheap handle; clones share the stock. Any thread may take; a buffer that is
/// dropped, on any thread, is back. Taking costs a short lock and a reference count, no allocation.
///
/// ```
/// # use softdpu_card::Machine;
/// # use softdpu_memory::{Memory, device::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = Device::open(Machine::builder().build()?.functions()[0].clone())?;
/// let pool = Memory::heap(1 << 16).register(&[&device])?.pool(4096)?;
/// let held: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
/// assert_eq!((held.len(), pool.available()), (16, 0));
/// drop(held);
/// assert_eq!(pool.available(), 16);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct BufPool {
    holder: Arc<Holder>,
    window: usize,
    count: u32,
}

impl BufPool {
    pub(crate) fn carve(claim: Claim, window: usize, align: usize) -> Result<BufPool, WindowError> {
        let range = (claim.start(), claim.start() + claim.len());
        let refuse = |code, what| {
            let object = format_args!(
                "memory {:#x}: pool of windows of {window} bytes at multiples of {align}",
                claim.memory().host_addr()
            );
            WindowError::new(code, what, object, (range.0, range.0.saturating_add(window)), range)
        };
        if window == 0 {
            return Err(refuse(Code::InvalidValue, "window is empty"));
        }
        if !align.is_power_of_two() {
            return Err(refuse(Code::InvalidValue, "alignment is no power of two"));
        }
        let base = claim.memory().host_addr();
        let end = base + range.1;
        let first = (base + range.0).checked_next_multiple_of(align).filter(|&f| f < end);
        let stride = window.checked_next_multiple_of(align);
        let (Some(first), Some(stride)) = (first, stride) else {
            return Err(refuse(Code::InvalidValue, "not one window fits"));
        };
        // The last window needs no room behind it.
        let count = if end - first < window { 0 } else { (end - first - window) / stride + 1 };
        if count == 0 {
            return Err(refuse(Code::InvalidValue, "not one window fits"));
        }
        let Ok(count) = u32::try_from(count) else {
            return Err(refuse(Code::NoMemory, "more windows than a pool can hold"));
        };
        let store = Store::shared();
        store.expand(count).map_err(|e| WindowError::from_error(e, range, range))?;
        let holder = Arc::new(Holder::pool(claim, store));
        let pool = BufPool { holder, window, count };
        pool.aim(first, stride).map_err(|e| WindowError::from_error(e, range, range))?;
        Ok(pool)
    }

    /// Points each descriptor of the store at its window, which it keeps for good. All are held as one list meanwhile,
    /// the lowest window at its end, so that the store, which gives out first what came back last, begins with it.
    fn aim(&self, first: usize, stride: usize) -> softdpu_status::Result<()> {
        let mut list: Option<Owned> = None;
        for i in 0..self.count as usize {
            let Some(mut node) = self.fetch() else { break };
            node.aim(first + i * stride, self.window)?;
            if let Some(lower) = list.take() {
                node.chain(lower);
            }
            list = Some(node);
        }
        Ok(())
    }

    fn fetch(&self) -> Option<Owned> {
        Owned::again(self.holder.store()?, self.holder.region(), self.holder.clone())
    }

    /// A buffer with empty data, which is back when dropped; `None` when all are out.
    pub fn take(&self) -> Option<Buf> {
        self.fetch().map(Buf::from_owned)
    }

    /// Buffers in the pool and out of it.
    pub fn capacity(&self) -> usize {
        self.count as usize
    }

    /// Buffers that could be taken now; another thread may be quicker.
    pub fn available(&self) -> usize {
        self.holder.store().map_or(0, |s| s.available() as usize)
    }

    /// Bytes of each buffer.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The memory it was cut from.
    pub fn memory(&self) -> &Memory {
        self.holder.memory()
    }
}

impl fmt::Debug for BufPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufPool({} of {} windows of {} bytes)", self.available(), self.count, self.window)
    }
}
