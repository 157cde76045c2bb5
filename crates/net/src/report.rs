//! What the ports of this process do, for `softdpu top`: their counters, which are there anyhow.

use crate::port::ports;
use crate::sync::{AtomicBool, Ordering::Relaxed};
use softdpu_link::report::{Rows, provide};

/// There is something to show from now on.
pub(crate) fn announce() {
    static ANNOUNCED: AtomicBool = AtomicBool::new(false);
    if !ANNOUNCED.load(Relaxed) && !ANNOUNCED.swap(true, Relaxed) {
        provide("ports", write_ports);
    }
}

fn write_ports(rows: &mut Rows<'_>) {
    for port in ports() {
        let counts = port.counters();
        rows.row(|row| {
            row.text("name", port.name()).text("device", port.function().pci());
            row.text("backend", port.backend()).number("queues", port.queue_count() as u64);
            for (name, value) in counts.fields() {
                row.number(name, value);
            }
        });
    }
}
