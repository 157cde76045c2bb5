//! What this process exports and imports, for whoever shows it.

use super::descriptor::{Descriptor, Kind};
use super::table;
use crate::region::Access;
use softdpu_card::Reach;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An export of this process.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ExportInfo {
    /// Its number in this process.
    pub id: u64,
    /// Who it is for.
    pub kind: Kind,
    /// First address.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// The rights it grants.
    pub access: Access,
    /// Can importers map it?
    pub is_mappable: bool,
    /// Importers in other processes at the moment.
    pub importers: usize,
}

/// An import of this process.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ImportInfo {
    /// The exporting process.
    pub owner: u32,
    /// Who it was exported for.
    pub kind: Kind,
    /// First address, as the exporter names it.
    pub base: u64,
    /// Bytes.
    pub len: u64,
    /// How it is reached.
    pub reach: Reach,
}

/// The live exports of this process, the oldest first. Any thread.
pub fn exports() -> Vec<ExportInfo> {
    let mut found = Vec::new();
    table::each(|record| {
        let Descriptor { id, kind, base, len, access, .. } = record.descriptor;
        let is_mappable = record.share.backing.is_some();
        let importers = record.share.importers();
        found.push(ExportInfo { id, kind, base, len, access, is_mappable, importers });
    });
    found
}

/// The imports of this process that were not dropped, the oldest first. Any thread.
pub fn imports() -> Vec<ImportInfo> {
    list().1.values().cloned().collect()
}

static IMPORTS: Mutex<(u64, BTreeMap<u64, ImportInfo>)> = Mutex::new((0, BTreeMap::new()));

fn list() -> MutexGuard<'static, (u64, BTreeMap<u64, ImportInfo>)> {
    IMPORTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A place in the list of imports.
#[derive(Debug)]
pub(super) struct Listed(u64);

impl Listed {
    pub(super) fn new(descriptor: &Descriptor, reach: Reach) -> Listed {
        crate::report::announce();
        let Descriptor { kind, base, len, owner, .. } = *descriptor;
        let (next, imports) = &mut *list();
        *next += 1;
        imports.insert(*next, ImportInfo { owner: owner.pid, kind, base, len, reach });
        Listed(*next)
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        list().1.remove(&self.0);
    }
}
