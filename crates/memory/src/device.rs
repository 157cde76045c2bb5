//! An opened function of a card, as the library sees it: something memory can be registered with.

use softdpu_card::{Function, Plane};
use softdpu_status::{Code, Error, Result};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, Weak};

/// How many devices a process may hold open at once: one bit each in a region's access word.
pub const MAX_OPEN: usize = 48;

/// An opened device. The same function gives the same device as long as somebody holds it. Any thread.
#[derive(Debug)]
pub struct Device {
    function: Arc<Function>,
    id: u8,
    /// Regions that are registered with it.
    regions: AtomicU32,
}

static OPEN: Mutex<Vec<Weak<Device>>> = Mutex::new(Vec::new());

impl Device {
    /// Opens a function, or takes one more reference on it.
    ///
    /// # Errors
    /// Initialization when [`MAX_OPEN`] devices are open.
    pub fn open(function: Arc<Function>) -> Result<Arc<Device>> {
        let mut open = OPEN.lock().unwrap_or_else(|e| e.into_inner());
        for device in open.iter().filter_map(Weak::upgrade) {
            if Arc::ptr_eq(&device.function, &function) || same(&device.function, &function) {
                return Ok(device);
            }
        }
        let free = open.iter().position(|w| w.strong_count() == 0);
        let id = match free {
            Some(id) => id,
            None if open.len() < MAX_OPEN => {
                open.push(Weak::new());
                open.len() - 1
            }
            None => {
                log::error!(target: "softdpu::device", "device {}: {MAX_OPEN} devices are open already", function.pci());
                return Err(Error::new(Code::Initialization, "too many open devices"));
            }
        };
        let device = Arc::new(Device { function, id: id as u8, regions: AtomicU32::new(0) });
        open[id] = Arc::downgrade(&device);
        Ok(device)
    }

    /// One more region, if its function may have as many.
    pub(crate) fn add_region(self: &Arc<Device>) -> Option<Registered> {
        let most = self.function.limits().memory.max_regions;
        let room = |regions: u32| (regions < most).then(|| regions + 1);
        self.regions.fetch_update(Relaxed, Relaxed, room).ok()?;
        Some(Registered(Arc::clone(self)))
    }

    /// What was opened.
    pub fn function(&self) -> &Arc<Function> {
        &self.function
    }

    /// Small number of this device in this process, below [`MAX_OPEN`].
    pub fn id(&self) -> u8 {
        self.id
    }

    /// The bit that stands for this device in an access word.
    #[inline]
    pub fn bit(&self) -> u64 {
        1 << (u32::from(self.id) + crate::region::DEVICE_SHIFT)
    }

    /// May a handle restricted to `plane` be used for this engine? See [`Plane`].
    pub fn allows(plane: Option<Plane>, engine: softdpu_card::EngineKind) -> bool {
        plane.is_none_or(|p| p.covers(engine))
    }
}

/// A region that counts, until it is dropped.
#[derive(Debug)]
pub(crate) struct Registered(Arc<Device>);

impl Registered {
    /// Where it is registered.
    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.0
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.0.regions.fetch_sub(1, Relaxed);
    }
}

/// The devices that are open. Any thread.
pub fn opened() -> Vec<Arc<Device>> {
    OPEN.lock().unwrap_or_else(|e| e.into_inner()).iter().filter_map(Weak::upgrade).collect()
}

impl AsRef<Device> for Device {
    fn as_ref(&self) -> &Device {
        self
    }
}

fn same(a: &Function, b: &Function) -> bool {
    // Sub-functions share the PCI address of their parent.
    a.vhca_id() == b.vhca_id()
        && a.card().name() == b.card().name()
        && a.card().topology_hash() == b.card().topology_hash()
        && a.settings() == b.settings()
}
