//! The connections of this process, for `softdpu top`.

use crate::connection::{Connection, Phase, Side};
use softdpu_link::report::{Rows, provide};
use std::sync::{Arc, Mutex, PoisonError, Weak};

static CONNECTIONS: Mutex<Vec<Weak<Connection>>> = Mutex::new(Vec::new());

/// There is one more.
pub(crate) fn list(connection: &Arc<Connection>) {
    let mut connections = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
    if connections.is_empty() {
        provide("connections", write);
    }
    if connections.len() == connections.capacity() {
        // Before it grows; so that the dead are never more than the living were.
        connections.retain(|connection| connection.strong_count() > 0);
    }
    connections.push(Arc::downgrade(connection));
}

fn write(rows: &mut Rows<'_>) {
    // Whoever drops the last reference runs more than this; so not with the lock held.
    let connections: Vec<_> = {
        let connections = CONNECTIONS.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().filter_map(Weak::upgrade).collect()
    };
    for connection in connections {
        let phase = match connection.phase() {
            Phase::Opening => "opening",
            Phase::Up => "up",
            Phase::Leaving => "leaving",
            Phase::Down => continue,
        };
        let role = if connection.side() == Side::Server { "server" } else { "client" };
        // Nothing was counted before it was up.
        let counters = connection.counters().unwrap_or_default();
        rows.row(|row| {
            row.text("id", connection.number()).text("engine", "comch").text("role", role);
            row.text("state", phase).number("peer", connection.peer());
            row.number("sent", counters.sent_messages).number("received", counters.received_messages);
            if let Ok(device) = connection.device() {
                row.text("device", device.function().pci());
            }
        });
    }
}
