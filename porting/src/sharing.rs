//! Memory that processes share through the card: exports and imports of its library.
//!
//! An export has a map of its own, with the rights that were granted, and ends with it; tasks of this process go on using the
//! map that they use anyway.

use crate::abi::{self, Object};
use crate::card::{Card, check, made};
use crate::maps::register;
use softdpu::{Access, Code, Error, Result};
use softdpu_memory::device::Device;
use softdpu_memory::export::Kind;
use softdpu_memory::real::{RealCards, RealExport};
use softdpu_memory::region::{FAR, Region};

/// The rights that matter to a map that is exported across PCI.
const RIGHTS: Access = Access::LOCAL_READ_WRITE;

/// A live export.
#[derive(Debug)]
struct Exported {
    card: &'static Card,
    map: Object,
    bytes: Vec<u8>,
}

impl RealExport for Exported {
    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // One that cannot be destroyed stays; the log line says why.
        let _ = check(self.card.common.doca_mmap_destroy(self.map), "doca_mmap_destroy");
    }
}

/// The card, for those who share memory through it.
#[derive(Debug)]
pub(crate) struct Sharing(pub(crate) &'static Card);

impl RealCards for Sharing {
    fn export(&self, region: &Region, device: &Device, kind: Kind) -> Result<Box<dyn RealExport>> {
        let (card, function) = (self.0, device.function());
        if kind != Kind::Pci || !region.is_open() || region.word() & FAR != 0 {
            log::error!(target: "softdpu::bridge", "device {}: the bridge exports memory of this process across PCI, and no other", function.pci());
            return Err(Error::new(Code::NotSupported, "the bridge has no such export"));
        }
        let granted = region.granted();
        if !granted.intersects(kind.rights()) {
            log::error!(target: "softdpu::bridge", "memory {:#x}: an export across PCI needs a right of it, granted is {granted:?}", region.base());
            return Err(Error::new(Code::NotPermitted, "the mask has no right for this export"));
        }
        let object = card.device(&function.pci().to_string())?;
        let map = register(&card.common, region, object, granted & (RIGHTS | kind.rights()))?;
        let (mut at, mut len) = (core::ptr::null(), 0);
        let status = card.common.doca_mmap_export_pci(map, object, &mut at, &mut len);
        let bytes = if status == 0 { abi::bytes(at, len) } else { Vec::new() };
        let exported = Exported { card, map, bytes };
        check(status, "doca_mmap_export_pci")?;
        Ok(Box::new(exported))
    }

    fn import(
        &self,
        bytes: &[u8],
        device: &Device,
        open: &mut dyn FnMut(usize, usize) -> &'static Region,
    ) -> Result<()> {
        let (card, common) = (self.0, &self.0.common);
        let object = card.device(&device.function().pci().to_string())?;
        let mut map = None;
        let status = common.doca_mmap_create_from_export(None, bytes.as_ptr(), bytes.len(), object, &mut map);
        let map = made(status, map, "doca_mmap_create_from_export")?;
        let (mut base, mut len) = (0, 0);
        let told = check(common.doca_mmap_get_memrange(map, &mut base, &mut len), "doca_mmap_get_memrange");
        told.inspect_err(|_| {
            let _ = check(common.doca_mmap_destroy(map), "doca_mmap_destroy");
        })?;
        card.maps.adopt(open(base, len), object, map);
        Ok(())
    }
}
