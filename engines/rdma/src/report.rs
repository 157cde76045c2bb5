//! The connections of this process, for `softdpu top`.

use crate::caps::Transport;
use crate::conn::Phase;
use crate::roster::each;
use softdpu_link::report::{Rows, provide};

/// From the first context on.
pub(crate) fn announce() {
    provide("connections", write);
}

fn write(rows: &mut Rows<'_>) {
    each(|control| {
        let transport = control.settings().transport;
        for (conn, sent) in control.connections() {
            let (state, peer) = (conn.phase(), conn.peer().unwrap_or(0));
            let state = match state {
                Phase::Exported => "exported",
                Phase::Requested => "requested",
                Phase::Connecting => "connecting",
                Phase::Accepted => "accepted",
                Phase::Connected => "up",
                Phase::Ended => continue,
            };
            let role = match transport {
                Transport::Reliable => "rc",
                Transport::Dynamic => "dc",
            };
            rows.row(|row| {
                row.text("id", format_args!("{}.{}", control.number, conn.id())).text("engine", "rdma");
                row.text("role", format_args!("{role} {}", conn.path()));
                row.text("state", state).number("peer", peer);
                row.number("sent", sent).number("received", conn.received());
                row.text("device", control.device().function().pci());
            });
        }
    });
}
