//! Network ports: their counters, and how fast they grow.

use serde::Serialize;

use super::document::{Document, Look};
use super::report::{Port, Text};
use super::view::{Section, ranked, rate_text, short};
use crate::output::Table;

/// A port of a process.
#[derive(Debug, Serialize)]
pub(crate) struct PortRow {
    #[serde(flatten)]
    port: Port,
    rx_frames_per_s: Option<f64>,
    rx_bytes_per_s: Option<f64>,
    tx_frames_per_s: Option<f64>,
    tx_bytes_per_s: Option<f64>,
}

impl PortRow {
    /// Frames that arrived and got to no queue.
    fn dropped(&self) -> u64 {
        let port = &self.port;
        let all = [port.rx_missed, port.rx_unmatched, port.rx_dropped, port.rx_no_queue, port.rx_bad];
        all.into_iter().fold(0, u64::saturating_add)
    }

    /// Frames both ways, per second.
    fn rate(&self) -> f64 {
        match (self.rx_frames_per_s, self.tx_frames_per_s) {
            (Some(rx), Some(tx)) => rx + tx,
            _ => -1.0,
        }
    }
}

/// A port, compared with what was seen of it the last time.
pub(super) fn port_row(port: Port, look: &mut Look<'_>) -> PortRow {
    // Ports of several cards may have the same name; one port may have several backends in turn.
    let at = Text::from(format!("{} {} {}", port.name.as_str(), port.device.as_str(), port.backend.as_str()));
    let mut rate = |what: &str, count: u64| look.wide(("port", at.clone(), what.to_owned().into()), count);
    PortRow {
        rx_frames_per_s: rate("rx frames", port.rx_frames),
        rx_bytes_per_s: rate("rx bytes", port.rx_bytes),
        tx_frames_per_s: rate("tx frames", port.tx_frames),
        tx_bytes_per_s: rate("tx bytes", port.tx_bytes),
        port,
    }
}

/// The table, the busiest first.
pub(super) fn section(document: &Document) -> Section {
    let mut table = Table::new(&[
        "PORT OF",
        "port",
        "rx frames/s",
        "rx MB/s",
        "tx frames/s",
        "tx MB/s",
        "received",
        "dropped",
        "sent",
        "lost",
        "queues",
        "backend",
        "device",
    ]);
    let megabytes = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |n| format!("{:.1}", n / 1e6));
    for (process, row) in ranked(document, |process| &process.ports, PortRow::rate) {
        let port = &row.port;
        table.row([
            process.pid.to_string(),
            short(port.name.as_str()),
            rate_text(row.rx_frames_per_s),
            megabytes(row.rx_bytes_per_s),
            rate_text(row.tx_frames_per_s),
            megabytes(row.tx_bytes_per_s),
            port.rx_frames.to_string(),
            row.dropped().to_string(),
            port.tx_frames.to_string(),
            port.tx_lost.saturating_add(port.tx_bad).to_string(),
            port.queues.to_string(),
            short(port.backend.as_str()),
            short(port.device.as_str()),
        ]);
    }
    Section::new(&table, &[2, 3, 4, 5, 6, 7, 8, 9, 10])
}
