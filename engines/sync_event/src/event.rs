//! The Rust face's handle.

use crate::caps::Caps;
use crate::cell::LOG;
use crate::condition::Condition;
use crate::descriptor::Kind;
use crate::live::Live;
use crate::real;
use softdpu_memory::buf::{Buf, Lend as _};
use softdpu_room::session::Device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A sync event: one 64-bit value, 0 at first, that threads and processes read, change and wait for.
///
/// Clones are handles of the same event; it ends with the last of them (and of the contexts on it). Other processes get
/// theirs from the bytes of [`export`](SyncEvent::export); once the event has ended, or its process, everything they do
/// with it answers Shutdown, or ConnectionReset. Any thread. Every access is atomic; whoever sees a value sees all that was
/// written before it was set.
///
/// ```
/// # use softdpu_room::session::{Session, inline};
/// # use softdpu_sync_event::{Condition, SyncEvent};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let session = Session::new(softdpu_card::Machine::builder().build()?, inline());
/// # let device = session.devices()[0].open()?;
/// let ready = SyncEvent::new(&device)?;
/// let other = ready.clone();
/// let waiter = std::thread::spawn(move || other.wait(Condition::greater(1)));
/// ready.add(1)?;
/// ready.add(1)?;
/// assert_eq!(waiter.join().unwrap(), Ok(2));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct SyncEvent {
    live: Arc<Live>,
    device: Device,
}

impl SyncEvent {
    /// A new event; its value is 0.
    ///
    /// # Errors
    /// NotSupported when the device has no sync events, NoMemory.
    pub fn new(device: &Device) -> Result<SyncEvent> {
        SyncEvent::made(device, || match real::events_of(device.shared())? {
            Some(events) => Live::real(events.create(device.shared())?),
            None => Live::own(),
        })
    }

    /// A new event whose value is the data of a buffer: a single one with eight aligned bytes of data. The value it has
    /// stays. Several events may share memory.
    ///
    /// # Errors
    /// As [`SyncEvent::new`]; InvalidValue, NotPermitted or NotSupported when the buffer does not fit.
    pub fn in_buf(device: &Device, buf: Buf) -> Result<SyncEvent> {
        SyncEvent::made(device, || {
            if real::events_of(device.shared())?.is_some() {
                log::error!(target: LOG, "device {}: the bridge to a real card has no events in buffers",
                    device.function().pci());
                return Err(Error::new(Code::NotSupported, "no events in buffers on a real card"));
            }
            Live::in_buffer(buf.lend(), Some(buf))
        })
    }

    fn made(device: &Device, live: impl FnOnce() -> Result<Live>) -> Result<SyncEvent> {
        Caps::of(device.function()).and_then(|caps| Caps::demand(caps.local)).inspect_err(|_| {
            log::error!(target: LOG, "device {} has no sync events (profile {})",
                device.function().pci(), device.function().card().profile());
        })?;
        Ok(SyncEvent { live: Arc::new(live()?), device: device.clone() })
    }

    /// The event behind the bytes of an export, reached through `device`: of this process, or of another one that uses the
    /// same runtime folder.
    ///
    /// # Errors
    /// InvalidValue (damaged, forged, stale, or of another card), NotSupported (the device cannot import), NotPermitted (of
    /// another user), TimeOut, NoMemory.
    pub fn import(device: &Device, export: &[u8]) -> Result<SyncEvent> {
        let live = match real::events_of(device.shared())? {
            Some(events) => Live::real(events.import(export, device.shared())?)?,
            None => Live::import(export, device.shared())?,
        };
        Ok(SyncEvent { live: Arc::new(live), device: device.clone() })
    }

    /// A few plain bytes that stand for the event: give them to the other side of the PCIe link by any way. They are good
    /// as long as the event lives. Whoever has them can change the value.
    ///
    /// # Errors
    /// NotSupported (the device cannot export, or the value lives where others cannot get at it), NotPermitted (the
    /// buffer's memory was not made with PCI_READ_WRITE), NoMemory, Driver.
    pub fn export(&self) -> Result<Vec<u8>> {
        self.live.export(Kind::Pci, self.device.shared(), <[u8]>::to_vec)
    }

    /// The same for peers of RDMA connections.
    ///
    /// # Errors
    /// As [`SyncEvent::export`].
    pub fn export_net(&self) -> Result<Vec<u8>> {
        self.live.export(Kind::Net, self.device.shared(), <[u8]>::to_vec)
    }

    /// The value.
    ///
    /// # Errors
    /// Shutdown or ConnectionReset when its owner has ended it, or has ended; InvalidValue when its buffer's memory is gone.
    pub fn get(&self) -> Result<u64> {
        self.live.cell().get()
    }

    /// Changes the value.
    ///
    /// # Errors
    /// As [`SyncEvent::get`].
    pub fn set(&self, value: u64) -> Result<()> {
        self.live.cell().set(value)
    }

    /// Adds to the value, modulo 2^64; gives the value before.
    ///
    /// # Errors
    /// As [`SyncEvent::get`].
    pub fn add(&self, value: u64) -> Result<u64> {
        self.live.cell().add(value)
    }

    /// Blocks the calling thread until the condition holds; gives the value that did. Spins a little, then yields the
    /// processor between looks. For waiting without a thread there are tasks.
    ///
    /// # Errors
    /// As [`SyncEvent::get`].
    pub fn wait(&self, condition: Condition) -> Result<u64> {
        let mut looks = 0u32;
        self.live.cell().wait(condition, || {
            pause(&mut looks);
            Ok(())
        })
    }

    /// The same, for so long.
    ///
    /// ```
    /// # use softdpu_room::session::{Session, inline};
    /// # use softdpu_status::Code;
    /// # use softdpu_sync_event::{Condition, SyncEvent};
    /// # use std::time::Duration;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let session = Session::new(softdpu_card::Machine::builder().build()?, inline());
    /// # let device = session.devices()[0].open()?;
    /// let event = SyncEvent::new(&device)?;
    /// let late = event.wait_for(Condition::equal(1), Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(late.code(), Code::TimeOut);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// TimeOut; as [`SyncEvent::get`] besides.
    pub fn wait_for(&self, condition: Condition, timeout: Duration) -> Result<u64> {
        let end = Instant::now().checked_add(timeout);
        let mut looks = 0u32;
        self.live.cell().wait(condition, || {
            pause(&mut looks);
            match end {
                Some(end) if Instant::now() >= end => {
                    Err(Error::new(Code::TimeOut, "the event did not come to that"))
                }
                _ => Ok(()),
            }
        })
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.live
    }
}

/// Looks without yielding the processor.
const SPINS: u32 = 1000;

fn pause(looks: &mut u32) {
    if *looks < SPINS {
        *looks += 1;
        core::hint::spin_loop();
    } else {
        std::thread::yield_now();
    }
}
