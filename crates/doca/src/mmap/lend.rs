//! Rules of export, keys and tokens of a memory map; no C.

use super::state::{Mmap, Name, Phase, State};
use softdpu_memory::device::Device;
use softdpu_memory::dmabuf::DmabufMap;
use softdpu_memory::export::{self, Kind, MAX_TOKEN, Origin};
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
        self.member(state, device)?;
        let mkey = key(state, device).unwrap_or_default();
        let backing = state.mapped.as_ref().and_then(DmabufMap::backing);
        Ok(Origin { region: self.region(), access: state.access, writable, mkey, parent, backing })
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
