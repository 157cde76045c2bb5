//! `softdpu trace summary`: tables, or the same as JSON.

use serde::Serialize;

use super::account::{Account, Context, Kind, Process, Slow};
use super::time_text;
use crate::output::{Table, bytes_text};

/// Everything, for JSON. Times in nanoseconds.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    duration: u64,
    kinds: Vec<KindRow>,
    threads: Vec<ThreadRow>,
    slowest: Vec<SlowRow>,
    processes: Vec<ProcessRow>,
}

#[derive(Debug, Serialize)]
struct ProcessRow {
    pid: u32,
    program: String,
    lost_events: u64,
    torn_tasks: u64,
    ended: bool,
}

/// Tasks of a kind in a context.
#[derive(Debug, Serialize)]
struct KindRow {
    pid: u32,
    context: String,
    device: String,
    kind: String,
    tasks: u64,
    failed: u64,
    errors: std::collections::BTreeMap<String, u64>,
    unfinished: u64,
    bytes: u64,
    median: u64,
    p99: u64,
    longest: u64,
    mean_queued: Option<u64>,
    mean_work: Option<u64>,
    mean_unreported: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ThreadRow {
    pid: u32,
    tid: u32,
    name: String,
    submits: u64,
    work: u64,
    work_time: u64,
    callbacks: u64,
    callback_time: u64,
}

#[derive(Debug, Serialize)]
struct SlowRow {
    time: u64,
    at: u64,
    pid: u32,
    context: String,
    number: u64,
    kind: String,
    queued: Option<u64>,
    work: Option<u64>,
    unreported: Option<u64>,
}

pub(super) fn document(account: &Account) -> Document {
    let (first, last) = account.extent();
    let mut document = Document {
        duration: last - first,
        kinds: Vec::new(),
        threads: Vec::new(),
        slowest: account.slowest.iter().map(|slow| slow_row(slow, first)).collect(),
        processes: Vec::new(),
    };
    for (&pid, process) in &account.processes {
        for (name, context) in &process.contexts {
            let rows = context.kinds.iter().map(|(kind, tasks)| kind_row(pid, name, context, kind, tasks));
            document.kinds.extend(rows);
        }
        document.threads.extend(thread_rows(pid, process));
        document.processes.push(ProcessRow {
            pid,
            program: process.name.clone(),
            lost_events: process.lost,
            torn_tasks: process.torn,
            ended: process.ended,
        });
    }
    document
}

fn kind_row(pid: u32, name: &str, context: &Context, kind: &str, tasks: &Kind) -> KindRow {
    KindRow {
        pid,
        context: name.to_owned(),
        device: context.device.clone(),
        kind: kind.to_owned(),
        tasks: tasks.times.count(),
        failed: tasks.errors.values().sum(),
        errors: tasks.errors.clone(),
        unfinished: tasks.unfinished,
        bytes: tasks.bytes,
        median: tasks.times.quantile(0.5),
        p99: tasks.times.quantile(0.99),
        longest: tasks.times.longest(),
        mean_queued: tasks.queued.mean(),
        mean_work: tasks.worked.mean(),
        mean_unreported: tasks.unreported.mean(),
    }
}

/// Time in which any of the spans is open.
fn covered(spans: &[(u64, u64)]) -> u64 {
    let mut spans = spans.to_vec();
    spans.sort_unstable();
    let (mut sum, mut last) = (0, 0);
    for (begin, end) in spans {
        sum += end.saturating_sub(begin.max(last));
        last = last.max(end);
    }
    sum
}

fn thread_rows(pid: u32, process: &Process) -> Vec<ThreadRow> {
    let threads = process.threads.iter().filter(|(_, thread)| !thread.is_empty());
    let row = |(&tid, thread): (&u32, &super::account::Thread)| ThreadRow {
        pid,
        tid,
        name: thread.name.clone(),
        submits: thread.submits,
        work: thread.work.len() as u64,
        work_time: covered(&thread.work),
        callbacks: thread.callbacks.len() as u64,
        callback_time: covered(&thread.callbacks),
    };
    threads.map(row).collect()
}

fn slow_row(slow: &Slow, first: u64) -> SlowRow {
    SlowRow {
        time: slow.nanos,
        at: slow.at.saturating_sub(first),
        pid: slow.pid,
        context: slow.context.clone(),
        number: slow.number,
        kind: slow.kind.clone(),
        queued: slow.queued,
        work: slow.worked,
        unreported: slow.unreported,
    }
}

fn optional(nanos: Option<u64>) -> String {
    nanos.map_or_else(|| "-".to_owned(), time_text)
}

pub(super) fn text(account: &Account) -> String {
    let document = document(account);
    let tasks: u64 = document.kinds.iter().map(|kind| kind.tasks).sum();
    let mut text = format!("{tasks} tasks in {}\n", time_text(document.duration));
    for process in &document.processes {
        text += &format!("process {} ({})", process.pid, process.program);
        if !process.ended {
            text += ", which was still running or was killed";
        }
        if process.lost_events > 0 {
            text += &format!(
                ": {} events are missing, and {} tasks whose rest is here",
                process.lost_events, process.torn_tasks
            );
        }
        text.push('\n');
    }
    text += &kinds(&document);
    text += &threads(&document);
    text += &slowest(&document);
    text
}

fn kinds(document: &Document) -> String {
    let mut table = Table::new(&[
        "PROCESS",
        "context",
        "device",
        "kind",
        "tasks",
        "failed",
        "unfinished",
        "data",
        "median",
        "99 %",
        "longest",
        "queued",
        "work",
        "unreported",
    ]);
    for kind in &document.kinds {
        table.row([
            kind.pid.to_string(),
            kind.context.clone(),
            kind.device.clone(),
            kind.kind.clone(),
            kind.tasks.to_string(),
            kind.failed.to_string(),
            kind.unfinished.to_string(),
            bytes_text(kind.bytes),
            time_text(kind.median),
            time_text(kind.p99),
            time_text(kind.longest),
            optional(kind.mean_queued),
            optional(kind.mean_work),
            optional(kind.mean_unreported),
        ]);
    }
    let mut text = format!("\n{}", table.text(&[4, 5, 6, 7, 8, 9, 10, 11, 12, 13]));
    for kind in document.kinds.iter().filter(|kind| kind.failed > 0) {
        let errors: Vec<_> = kind.errors.iter().map(|(error, n)| format!("{n} {error}")).collect();
        text += &format!("failed in {} {}: {}\n", kind.context, kind.kind, errors.join(", "));
    }
    text
}

fn threads(document: &Document) -> String {
    let mut table = Table::new(&[
        "THREAD",
        "of",
        "name",
        "submits",
        "worked on",
        "busy with it",
        "callbacks",
        "busy with them",
    ]);
    let share = |time: u64| format!("{:.1} %", 100.0 * time as f64 / document.duration as f64);
    for thread in &document.threads {
        table.row([
            thread.tid.to_string(),
            thread.pid.to_string(),
            thread.name.clone(),
            thread.submits.to_string(),
            thread.work.to_string(),
            share(thread.work_time),
            thread.callbacks.to_string(),
            share(thread.callback_time),
        ]);
    }
    if document.threads.is_empty() { String::new() } else { format!("\n{}", table.text(&[3, 4, 5, 6, 7])) }
}

fn slowest(document: &Document) -> String {
    let mut table =
        Table::new(&["SLOWEST", "context", "kind", "number", "began at", "queued", "work", "unreported"]);
    for slow in &document.slowest {
        table.row([
            time_text(slow.time),
            slow.context.clone(),
            slow.kind.clone(),
            slow.number.to_string(),
            time_text(slow.at),
            optional(slow.queued),
            optional(slow.work),
            optional(slow.unreported),
        ]);
    }
    if document.slowest.is_empty() { String::new() } else { format!("\n{}", table.text(&[0, 3, 4, 5, 6, 7])) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_overlap_count_once() {
        assert_eq!(covered(&[(10, 20), (0, 5), (15, 30), (16, 17)]), 25);
        assert_eq!(covered(&[]), 0);
    }
}
