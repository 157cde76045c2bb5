//! Rules of export, keys and tokens of a memory map; no C.

use super::state::{Mmap, Name, Phase, State};
use softdpu_memory::device::Device;
use softdpu_memory::dmabuf::{Dmabuf, DmabufMap};
use softdpu_memory::export::{self, Imported, Kind, MAX_TOKEN, Origin};
use softdpu_memory::region::Access;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

impl Mmap {
    /// Replaces the secret of later exports on `device`.
    pub(super) fn set_token(&self, device: &Device, token: &[u8]) -> Result<()> {
        if self.lock().was_exported {
            return Err(self.refuse(
                Code::NotPermitted,
                "the map was exported",
                format_args!("was exported before"),
            ));
        }
        let mut state =
            self.configurable("doca_mmap_set_export_access_token", Code::BadState, Code::NotPermitted)?;
        self.member(&state, device)?;
        let mut bytes = [0; MAX_TOKEN];
        match bytes.get_mut(..token.len()) {
            Some(to) if !token.is_empty() => to.copy_from_slice(token),
            _ => {
                let line =
                    format_args!("an access token of {} bytes, allowed are 1 to {MAX_TOKEN}", token.len());
                return Err(self.refuse(Code::InvalidValue, "length of the access token", line));
            }
        }
        state.tokens.retain(|(id, _)| *id != device.id());
        state.tokens.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for a token"))?;
        state.tokens.push((device.id(), (bytes, token.len())));
        Ok(())
    }

    /// The descriptor for `device`, made once while the map is started. It stays where it is until stop.
    pub(super) fn export(&self, device: &Arc<Device>, kind: Kind) -> Result<(*const u8, usize)> {
        let state = &mut *self.lock();
        let origin = self.origin(state, device, kind)?;
        let made = state.exports.iter().find(|made| made.kind() == kind && made.device().id() == device.id());
        if let Some(made) = made {
            return Ok((made.bytes().as_ptr(), made.bytes().len()));
        }
        let token = state.tokens.iter().find(|(id, _)| *id == device.id());
        let token = token.and_then(|(_, (bytes, len))| bytes.get(..*len));
        // Before anybody can import it.
        self.region().expose();
        let exported = export::export(&Name(self), origin, device, kind, token)?;
        state.exports.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
        let bytes = (exported.bytes().as_ptr(), exported.bytes().len());
        state.exports.push(exported);
        state.was_exported = true;
        Ok(bytes)
    }

    fn origin<'a>(&self, state: &'a State, device: &Device, kind: Kind) -> Result<Origin<'a>> {
        let refuse = |line| self.refuse(Code::NotPermitted, "the memory map cannot be exported", line);
        let (writable, parent) = match (&state.phase, state.import()) {
            (Phase::Started(registration), _) => (registration.is_writable(), None),
            (Phase::Imported, Some(import)) if kind == Kind::Rdma && import.kind() == Kind::Pci => {
                (import.is_writable(), Some(import))
            }
            (Phase::Imported, Some(import)) => {
                return Err(refuse(format_args!(
                    "a map imported over {} has no {kind} export",
                    import.kind()
                )));
            }
            _ => return Err(refuse(format_args!("{kind} export needs a started map"))),
        };
        if !state.everywhere {
            self.member(state, device)?;
        }
        let mkey = key(state, device).unwrap_or_default();
        let backing = state.mapped.as_ref().and_then(DmabufMap::backing);
        Ok(Origin { region: self.region(), access: state.access, writable, mkey, parent, backing })
    }

    /// Lends the range to a peer in this process, whatever the mask says of others, as long as it may be written.
    pub(crate) fn lend(&self, device: &Arc<Device>) -> Result<Imported> {
        let state = &mut *self.lock();
        let writes = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE | Access::RDMA_WRITE;
        let mut origin = self.origin(state, device, Kind::Rdma)?;
        if !origin.writable || !state.access.intersects(writes) {
            let line = format_args!("{:?} gives nobody the right to write", state.access);
            return Err(self.refuse(Code::NotPermitted, "the memory map may not be written", line));
        }
        if let Some(lent) = state.lent.iter().find(|lent| lent.device().id() == device.id()) {
            return export::import_for_peer(lent.bytes(), device);
        }
        origin.access = origin.access | Access::RDMA_WRITE;
        self.region().expose();
        let lent = export::export(&Name(self), origin, device, Kind::Rdma, None)?;
        let import = export::import_for_peer(lent.bytes(), device)?;
        state.lent.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
        state.lent.push(lent);
        Ok(import)
    }

    /// The import behind the map of an RDMA peer's memory, if it is one: its region.
    pub(crate) fn is_of_peer(&self) -> bool {
        self.lock().import().is_some_and(|import| import.kind() == Kind::Rdma)
    }

    /// Was it started, and is it not an import?
    pub(crate) fn is_own(&self) -> bool {
        matches!(self.lock().phase, Phase::Started(_))
    }

    /// The key on the first device, or on every one.
    pub(crate) fn any_mkey(&self) -> Result<u32> {
        let found = match &self.lock().phase {
            Phase::Started(registration) => registration.any_key(),
            _ => None,
        };
        found.ok_or_else(|| {
            let line = format_args!("no memory key: the map is not started");
            self.refuse(Code::InvalidValue, "no memory key", line)
        })
    }

    /// Where the device sees the first byte.
    pub(crate) fn device_address(&self, device: &Device) -> Option<u64> {
        match &self.lock().phase {
            Phase::Started(registration) => registration.device_address(device),
            _ => None,
        }
    }

    /// The memory as a descriptor.
    pub(crate) fn dmabuf(&self) -> Result<Dmabuf> {
        let state = &*self.lock();
        match (&state.phase, state.range, &state.mapped) {
            (Phase::Started(_), Some((base, len)), None) => Dmabuf::of_program(&Name(self), base, len),
            (Phase::Started(_), ..) => {
                let line = format_args!("came from a descriptor; that is the one to hand on");
                Err(self.refuse(Code::NotSupported, "the memory came from a descriptor", line))
            }
            _ => {
                let line = format_args!("is not started, hence makes no dmabuf");
                Err(self.refuse(Code::BadState, "the memory map is not started", line))
            }
        }
    }

    /// The key of the range on a device.
    pub(super) fn mkey(&self, device: &Device) -> Result<u32> {
        key(&self.lock(), device).ok_or_else(|| {
            let line = format_args!(
                "no memory key: the map is not started, or device {} not in it",
                device.function()
            );
            self.refuse(Code::InvalidValue, "no memory key", line)
        })
    }
}

/// The key of the range on a device, if the map is started and has the device.
fn key(state: &State, device: &Device) -> Option<u32> {
    match &state.phase {
        Phase::Started(registration) => registration.mkey(device),
        Phase::Imported => {
            state.import().filter(|import| import.device().id() == device.id()).map(|i| i.mkey())
        }
        Phase::Configurable | Phase::Dead => None,
    }
}
