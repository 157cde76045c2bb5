//! The live exports of this process.
//!
//! One lock orders everything: an import finds its export alive and has its region opened under it, the end of an
//! export closes the regions of its importers under it. So no region can be opened after its export has ended.

use super::descriptor::Descriptor;
use super::share::Share;
use crate::far::Far;
use crate::region::Region;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard};

/// One live export.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) descriptor: Descriptor,
    /// The export that this one's map was imported from.
    pub(super) parent: Option<u64>,
    pub(super) importers: Vec<&'static Region>,
    pub(super) delta: isize,
    pub(super) writable: bool,
    /// What kind of region the exported one is: bits of its access word.
    pub(super) kind: u64,
    /// The way to the memory, if it is another process's.
    pub(super) far: Option<Arc<Far>>,
    /// What other processes see of it.
    pub(super) share: Arc<Share>,
}

/// Why an import found no export.
#[derive(Debug)]
pub(super) enum Missing {
    /// No live export has this number.
    Gone,
    /// The export of this number says something else.
    Different,
    /// No room to note the importer.
    NoMemory,
}

/// Sorted by number; numbers only grow.
static TABLE: Mutex<Vec<Record>> = Mutex::new(Vec::new());
static NEXT: AtomicU64 = AtomicU64::new(1);

fn table() -> MutexGuard<'static, Vec<Record>> {
    TABLE.lock().unwrap_or_else(|e| e.into_inner())
}

fn find(table: &mut [Record], id: u64) -> Option<&mut Record> {
    let at = table.binary_search_by_key(&id, |record| record.descriptor.id).ok()?;
    Some(&mut table[at])
}

/// A number that no export of this process has had.
pub(super) fn next_id() -> u64 {
    NEXT.fetch_add(1, Relaxed)
}

/// Puts an export in.
///
/// # Errors
/// NotPermitted when the export it descends from has ended; NoMemory.
pub(super) fn add(record: Record) -> Result<()> {
    let mut table = table();
    if record.parent.is_some_and(|parent| find(&mut table, parent).is_none()) {
        log::error!(target: super::LOG, "export of an imported map whose exporter has stopped");
        return Err(Error::new(Code::NotPermitted, "the exporter has stopped"));
    }
    table.try_reserve(1).map_err(|_| Error::new(Code::NoMemory, "no memory for an export"))?;
    // Two threads may have taken their numbers in the other order.
    let at = table.partition_point(|other| other.descriptor.id < record.descriptor.id);
    table.insert(at, record);
    Ok(())
}

/// Ends an export and all exports made from its imports: every importer's region is closed. Returns what of them other
/// processes still may be using; they are refused already.
#[must_use]
pub(super) fn kill(id: u64) -> Vec<Arc<Share>> {
    let mut ended = Vec::new();
    end(&mut table(), id, &mut ended);
    ended
}

fn end(table: &mut Vec<Record>, id: u64, ended: &mut Vec<Arc<Share>>) {
    // Not there when the export it descends from ended before it.
    let Ok(at) = table.binary_search_by_key(&id, |record| record.descriptor.id) else { return };
    let record = table.remove(at);
    record.share.recall();
    for region in record.importers {
        region.close();
    }
    ended.push(record.share);
    while let Some(child) = table.iter().find(|record| record.parent == Some(id)) {
        let child = child.descriptor.id;
        end(table, child, ended);
    }
}

/// The export that these bytes are the descriptor of, for another process.
pub(super) fn lend(id: u64, bytes: &[u8]) -> core::result::Result<Arc<Share>, Missing> {
    let mut table = table();
    let share = &find(&mut table, id).ok_or(Missing::Gone)?.share;
    if share.is_named_by(bytes) { Ok(share.clone()) } else { Err(Missing::Different) }
}

/// Runs `look` on every live export.
pub(super) fn each(look: impl FnMut(&Record)) {
    table().iter().for_each(look);
}

/// Finds the export that a descriptor speaks of, notes `region` as an importer of it and runs `open`, all in one.
pub(super) fn attach<T>(
    descriptor: &Descriptor,
    region: &'static Region,
    open: impl FnOnce(&Record) -> T,
) -> core::result::Result<T, Missing> {
    let mut table = table();
    let record = find(&mut table, descriptor.id).ok_or(Missing::Gone)?;
    if record.descriptor != *descriptor {
        return Err(Missing::Different);
    }
    record.importers.try_reserve(1).map_err(|_| Missing::NoMemory)?;
    record.importers.push(region);
    Ok(open(record))
}

/// An importer is about to go; its region is closed and forgotten.
pub(super) fn forget(id: u64, region: &'static Region) {
    let mut table = table();
    region.close();
    if let Some(record) = find(&mut table, id) {
        record.importers.retain(|other| !core::ptr::eq(*other, region));
    }
}
