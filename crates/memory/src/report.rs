//! What this process has registered, exported and imported, for `softdpu top`.

use crate::device::Device;
use crate::export::{exports, imports};
use crate::region::Access;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use softdpu_card::Function;
use softdpu_link::report::{Rows, provide};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A registered range.
#[derive(Debug)]
struct Range {
    base: usize,
    len: usize,
    access: Access,
    functions: Vec<Arc<Function>>,
}

static RANGES: Mutex<(u64, BTreeMap<u64, Range>)> = Mutex::new((0, BTreeMap::new()));

fn list() -> MutexGuard<'static, (u64, BTreeMap<u64, Range>)> {
    RANGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is something to show from now on.
pub(crate) fn announce() {
    static ANNOUNCED: AtomicBool = AtomicBool::new(false);
    if !ANNOUNCED.load(Relaxed) && !ANNOUNCED.swap(true, Relaxed) {
        provide("maps", write_maps);
        provide("exports", write_exports);
        provide("imports", write_imports);
    }
}

/// A place in the list of registered ranges.
#[derive(Debug)]
pub(crate) struct Listed(u64);

impl Listed {
    pub(crate) fn new(base: usize, len: usize, access: Access, devices: &[Arc<Device>]) -> Listed {
        announce();
        let functions = devices.iter().map(|device| device.function().clone()).collect();
        let (next, ranges) = &mut *list();
        *next += 1;
        ranges.insert(*next, Range { base, len, access, functions });
        Listed(*next)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        list().1.remove(&self.0);
    }
}

fn write_maps(rows: &mut Rows<'_>) {
    for range in list().1.values() {
        let devices: Vec<_> = range.functions.iter().map(|function| function.pci().to_string()).collect();
        rows.row(|row| {
            row.text("base", format_args!("{:#x}", range.base)).number("len", range.len as u64);
            row.text("access", format_args!("{:?}", range.access)).text("devices", devices.join(" "));
        });
    }
}

fn write_exports(rows: &mut Rows<'_>) {
    for export in exports() {
        rows.row(|row| {
            row.number("id", export.id).text("kind", export.kind);
            row.text("base", format_args!("{:#x}", export.base)).number("len", export.len);
            row.text("access", format_args!("{:?}", export.access));
            row.flag("mappable", export.is_mappable).number("importers", export.importers as u64);
        });
    }
}

fn write_imports(rows: &mut Rows<'_>) {
    for import in imports() {
        rows.row(|row| {
            row.number("owner", import.owner).text("kind", import.kind);
            row.text("base", format_args!("{:#x}", import.base)).number("len", import.len);
            row.text("reach", import.reach);
        });
    }
}
