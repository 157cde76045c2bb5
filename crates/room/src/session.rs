//! A session: one software machine, and the board its contexts run on. And devices: handles to functions of its cards.

use crate::board::{Board, Inline};
use softdpu_card::{EngineKind, Function, Machine, Plane};
use softdpu_memory::device;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// One software machine. Cheap to clone; devices keep what they need of it alive.
#[derive(Clone, Debug)]
pub struct Session {
    machine: Arc<Machine>,
    board: &'static dyn Board,
}

impl Session {
    /// A session on `machine` whose contexts run on `board`.
    pub fn new(machine: Machine, board: &'static dyn Board) -> Session {
        Session { machine: Arc::new(machine), board }
    }

    /// What this process sees of the cards.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The board its contexts run on.
    pub fn board(&self) -> &'static dyn Board {
        self.board
    }

    /// The devices, in table order.
    pub fn devices(&self) -> Vec<DeviceInfo> {
        self.machine.functions().iter().map(|f| DeviceInfo { function: f.clone() }).collect()
    }

    /// The device with this PCI address (with or without domain), interface name or RDMA device name.
    ///
    /// # Errors
    /// NotFound; the log line lists the devices there are.
    pub fn device(&self, name: &str) -> Result<DeviceInfo> {
        match self.machine.find(name) {
            Ok(function) => Ok(DeviceInfo { function: function.clone() }),
            Err(e) => {
                log::error!(target: "softdpu::device", "{e}");
                Err(Error::new(Code::NotFound, "no such device"))
            }
        }
    }

    /// The first device that has this engine.
    ///
    /// # Errors
    /// NotFound.
    pub fn first_with(&self, engine: EngineKind) -> Result<DeviceInfo> {
        self.devices()
            .into_iter()
            .find(|d| d.function.supports(engine))
            .ok_or(Error::new(Code::NotFound, "no device has this engine"))
    }
}

impl AsRef<Session> for Session {
    fn as_ref(&self) -> &Session {
        self
    }
}

/// The board without workers, for sessions that want everything inside progress.
pub fn inline() -> &'static dyn Board {
    static INLINE: Inline = Inline::new();
    &INLINE
}

/// A function of a card, before it is opened: what it is and what it can do.
///
/// ```
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// for device in session.devices() {
///     let function = device.function();
///     println!("{} {} on the {} side: {:?}", device.name(), function.iface(), function.side(), function.engines());
/// }
/// let first = &session.devices()[0];
/// assert!(first.caps::<softdpu::dma::Dma>()?.max_buf_size >= 1 << 20);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    function: Arc<Function>,
}

impl DeviceInfo {
    /// What is known of it: addresses, names, limits, representors.
    pub fn function(&self) -> &Function {
        &self.function
    }

    /// Its PCI address, as text.
    pub fn name(&self) -> String {
        self.function.pci().to_string()
    }

    /// What an engine can do on it.
    ///
    /// ```
    /// use softdpu::card::Profile;
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// let plain = Session::builder().profile(Profile::Cx7).board(Board::inline()).open()?;
    /// let refused = plain.devices()[0].caps::<softdpu::dma::Dma>().unwrap_err();
    /// assert_eq!(refused.code(), Code::NotSupported); // that card moves packets, not memory
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// NotSupported when it has no such engine.
    pub fn caps<E: crate::engine::Engine>(&self) -> Result<E::Caps> {
        E::caps(&self.function)
    }

    /// Opens it.
    ///
    /// # Errors
    /// Initialization when too many devices are open.
    pub fn open(&self) -> Result<Device> {
        Ok(Device { shared: device::Device::open(self.function.clone())?, plane: None })
    }

    /// Opens it as one capability plane: the handle takes only that plane's engines.
    ///
    /// ```
    /// use softdpu::card::Plane;
    /// use softdpu::dma::{Config, Dma};
    /// use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// let mut pe = ProgressEngine::new(&session)?;
    /// let network = session.devices()[0].open_plane(Plane::Network)?;
    /// let refused = Context::<Dma>::start(&mut pe, &network, Config::default()).unwrap_err();
    /// assert_eq!(refused.code(), Code::NotSupported);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// As [`DeviceInfo::open`].
    pub fn open_plane(&self, plane: Plane) -> Result<Device> {
        Ok(Device { plane: Some(plane), ..self.open()? })
    }
}

/// An opened device. Cheap to clone; several handles on one card, or on one function, are usual. Any thread. Memory and
/// contexts keep the device open; the handle may go first.
///
/// ```
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// let device = session.device("0000:03:00.0")?.open()?;
/// assert!(device.allows(EngineKind::Dma));
/// let memory = Memory::heap(4096).register(&[&device])?;
/// assert_ne!(memory.mkey(&device)?, 0);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct Device {
    shared: Arc<device::Device>,
    plane: Option<Plane>,
}

impl Device {
    /// What was opened.
    pub fn function(&self) -> &Function {
        self.shared.function()
    }

    /// The plane the handle is restricted to.
    pub fn plane(&self) -> Option<Plane> {
        self.plane
    }

    /// May this handle be used for an engine?
    pub fn allows(&self, engine: EngineKind) -> bool {
        device::Device::allows(self.plane, engine)
    }

    /// The device as memory and engines know it.
    #[doc(hidden)]
    pub fn shared(&self) -> &Arc<device::Device> {
        &self.shared
    }
}

impl softdpu_memory::OnDevice for Device {
    fn on_device(&self) -> &Arc<device::Device> {
        &self.shared
    }
}

impl AsRef<device::Device> for Device {
    fn as_ref(&self) -> &device::Device {
        &self.shared
    }
}
