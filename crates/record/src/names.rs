//! Stable names for handles: `dev#1`, `dma_task_memcpy#3`, in the order in which a record first shows them.

use std::collections::HashMap;

/// Names by address. An address that is given out again gets a new name.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashMap<u64, String>,
    counts: HashMap<&'static str, usize>,
}

impl Names {
    /// The name of a handle.
    pub(crate) fn of(&mut self, address: u64, kind: &'static str) -> String {
        match (address, self.known.get(&address)) {
            (0, _) => "NULL".to_owned(),
            (_, Some(name)) => name.clone(),
            _ => self.fresh(address, kind),
        }
    }

    /// A new object at an address.
    pub(crate) fn fresh(&mut self, address: u64, kind: &'static str) -> String {
        let count = self.counts.entry(kind).or_default();
        *count += 1;
        let name = format!("{kind}#{count}");
        self.known.insert(address, name.clone());
        name
    }
}
