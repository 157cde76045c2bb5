//! `softdpu bench`: engines against what the processor does alone.
//!
//! A figure without a comparison of the same moment says little on a machine that others use too. So each row
//! runs the engine and its yardstick in turn, round by round, on the same amounts of data and threads; the
//! ratio is the median over the rounds.

mod aes_gcm;
mod between;
mod comch;
mod compress;
mod dma;
mod erasure_coding;
mod eth;
mod lane;
mod measure;
mod memcpy;
mod options;
mod patience;
mod place;
mod rdma;
mod sha;
mod tool;

pub(crate) use between::{OWNER, owner};
pub(crate) use comch::{PEER, peer};
use lexopt::Parser;
pub(crate) use rdma::{PEER as RDMA_PEER, peer as rdma_peer};
use serde::Serialize;
use softdpu::card::{EngineKind, Machine};

use crate::message::{Failure, Outcome};
use crate::output::{self, Table};
use options::Options;

#[derive(Debug, Serialize)]
struct Document {
    rows: Vec<Row>,
}

/// One line of the result. Times per task in nanoseconds; rates in bytes per second.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) engine: &'static str,
    pub(crate) op: &'static str,
    pub(crate) size: u64,
    pub(crate) depth: u32,
    pub(crate) threads: u32,
    /// Which interface: `handler`, `future`, or `call` where the program looks for what came (comch, eth,
    /// rdma).
    pub(crate) face: &'static str,
    /// How completions are waited for: `poll` or `event`.
    pub(crate) wait: &'static str,
    /// Wall time divided by the tasks of one thread.
    pub(crate) ns_per_task: f64,
    /// All threads together.
    pub(crate) bytes_per_s: f64,
    pub(crate) yardstick: &'static str,
    pub(crate) yardstick_bytes_per_s: f64,
    /// Rate over the yardstick's rate, median over rounds: above 1 the engine is faster.
    pub(crate) ratio: f64,
    /// From submission to the moment the program learns of the completion.
    pub(crate) p50_ns: u64,
    pub(crate) p99_ns: u64,
    pub(crate) p999_ns: u64,
    /// How the other process's memory was reached, if there was one: `mapped`, `kernel` or `worker`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reach: Option<&'static str>,
    /// What tools of others make of the same, if they are installed, and what is aimed at.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) beside: Vec<Beside>,
}

/// The figure of somebody else's tool, measured in turn with the row; as `goal` what the row aims at.
#[derive(Debug, Serialize)]
pub(crate) struct Beside {
    pub(crate) tool: &'static str,
    pub(crate) ns_per_task: f64,
    pub(crate) bytes_per_s: f64,
    /// The row's rate over the tool's, median of the turns: above 1 the row is faster.
    pub(crate) ratio: f64,
}

/// Measures one engine.
type Bench = fn(&Machine, &Options) -> Result<Vec<Row>, String>;

/// The engines that can be measured.
pub(crate) const ENGINES: &[(EngineKind, Bench)] = &[
    (EngineKind::AesGcm, aes_gcm::rows),
    (EngineKind::Comch, comch::rows),
    (EngineKind::Compress, compress::rows),
    (EngineKind::Dma, dma::rows),
    (EngineKind::ErasureCoding, erasure_coding::rows),
    (EngineKind::EthTxq, eth::rows),
    (EngineKind::Rdma, rdma::rows),
    (EngineKind::Sha, sha::rows),
];

/// What the bench calls an engine: both kinds of Ethernet queues are measured together.
pub(crate) fn name(kind: EngineKind) -> &'static str {
    if kind == EngineKind::EthTxq { eth::NAME } else { kind.name() }
}

pub(crate) fn main(arguments: Parser) -> Outcome {
    let Some(options) = Options::parse(arguments)? else { return output::print(&options::help()) };
    let mut all = Vec::new();
    let mut show = |rows: Vec<Row>| -> Result<(), Failure> {
        if !options.json && !rows.is_empty() {
            let apart = if all.is_empty() { "" } else { "\n" };
            output::print(&format!("{apart}{}", text(&rows)))?;
        }
        all.extend(rows);
        Ok(())
    };
    if options.reaches.is_empty() {
        here(&options, show)?
    } else {
        show(between::rows(&options)?)?
    }
    output::print(&if options.json { output::json(&Document { rows: all })? } else { String::new() })
}

/// All rows within this process, engine by engine as they come.
fn here(options: &Options, mut show: impl FnMut(Vec<Row>) -> Result<(), Failure>) -> Result<(), Failure> {
    let machine = options.card.machine()?;
    for (kind, bench) in ENGINES.iter().filter(|(kind, _)| options.engine.is_none_or(|e| e == *kind)) {
        if options.engine.is_none() && !machine.functions().iter().any(|f| f.supports(*kind)) {
            eprintln!("softdpu: {} is left out: no device has this engine", name(*kind));
            continue;
        }
        show(bench(&machine, options).map_err(Failure::failed)?)?;
    }
    Ok(())
}

fn text(rows: &[Row]) -> String {
    let between = rows.iter().any(|r| r.reach.is_some());
    let mut heading = vec![
        "engine",
        "op",
        "size",
        "depth",
        "threads",
        "face",
        "wait",
        "ns/task",
        "GB/s",
        "yardstick",
        "GB/s",
        "ratio",
        "p50 us",
        "p99 us",
        "p99.9 us",
    ];
    heading.extend(between.then_some("reach"));
    let others = rows.iter().map(|r| r.beside.len()).max().unwrap_or(0);
    heading.extend(["beside", "GB/s", "of it"].repeat(others));
    let mut table = Table::new(&heading);
    for r in rows {
        let mut cells = vec![
            r.engine.to_owned(),
            r.op.to_owned(),
            size_text(r.size),
            r.depth.to_string(),
            r.threads.to_string(),
            r.face.to_owned(),
            r.wait.to_owned(),
            format!("{:.1}", r.ns_per_task),
            format!("{:.3}", r.bytes_per_s / 1e9),
            r.yardstick.to_owned(),
            format!("{:.3}", r.yardstick_bytes_per_s / 1e9),
            ratio_text(r.ratio),
            micros(r.p50_ns),
            micros(r.p99_ns),
            micros(r.p999_ns),
        ];
        cells.extend(r.reach.map(str::to_owned));
        cells.extend(
            r.beside.iter().flat_map(|b| {
                [b.tool.to_owned(), format!("{:.3}", b.bytes_per_s / 1e9), ratio_text(b.ratio)]
            }),
        );
        table.row(cells);
    }
    table.text(&[2, 3, 4, 7, 8, 10, 11, 12, 13, 14, 16, 17, 19, 20])
}

/// Two decimals; four for what is far below 1.
fn ratio_text(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

fn micros(ns: u64) -> String {
    format!("{:.2}", ns as f64 / 1e3)
}

/// `64`, `4K`, `1M`: the largest unit that leaves a whole number.
fn size_text(bytes: u64) -> String {
    match [(30, "G"), (20, "M"), (10, "K")]
        .iter()
        .find(|(shift, _)| bytes != 0 && bytes.is_multiple_of(1 << shift))
    {
        Some((shift, unit)) => format!("{}{unit}", bytes >> shift),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written_alike() {
        for (bytes, text) in
            [(64, "64"), (4096, "4K"), (1 << 20, "1M"), (3 << 30, "3G"), (1025, "1025"), (0, "0")]
        {
            assert_eq!(size_text(bytes), text);
            assert_eq!(options::size(text), Some(bytes));
        }
    }
}
