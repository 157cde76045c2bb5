//! What processes count of their tasks (`softdpu run --metrics`): per context and kind.

use serde::Serialize;

use super::document::{Document, Look};
use super::report::{Tasks, Text};
use super::view::{Section, ranked, rate_text, short};
use crate::output::Table;
use crate::trace::time_text;

/// Tasks of one kind in one context of a process.
#[derive(Debug, Serialize)]
pub(crate) struct TasksRow {
    #[serde(flatten)]
    tasks: Tasks,
    ended_per_s: Option<f64>,
    bytes_per_s: Option<f64>,
}

/// Tasks, compared with what was seen of them the last time.
pub(super) fn tasks_row(tasks: Tasks, look: &mut Look<'_>) -> TasksRow {
    let key = Text::from(format!("{} {}", tasks.context.as_str(), tasks.kind.as_str()));
    let mut rate = |what: &str, count: u64| look.wide(("tasks", key.clone(), what.to_owned().into()), count);
    TasksRow {
        ended_per_s: rate("ended", tasks.succeeded.saturating_add(tasks.failed)),
        bytes_per_s: rate("bytes", tasks.bytes),
        tasks,
    }
}

/// The table, the busiest first.
pub(super) fn section(document: &Document) -> Section {
    let mut table = Table::new(&[
        "TASKS OF",
        "context",
        "kind",
        "tasks/s",
        "MB/s",
        "ended",
        "failed",
        "refused",
        "median",
        "99 %",
        "longest",
        "in engine",
        "device",
    ]);
    let rank = |row: &TasksRow| row.ended_per_s.unwrap_or(-1.0);
    for (process, row) in ranked(document, |process| &process.tasks, rank) {
        let tasks = &row.tasks;
        table.row([
            process.pid.to_string(),
            short(tasks.context.as_str()),
            short(tasks.kind.as_str()),
            rate_text(row.ended_per_s),
            row.bytes_per_s.map_or_else(|| "-".to_owned(), |n| format!("{:.1}", n / 1e6)),
            tasks.succeeded.saturating_add(tasks.failed).to_string(),
            tasks.failed.to_string(),
            tasks.refused.to_string(),
            time_text(tasks.median_ns),
            time_text(tasks.p99_ns),
            time_text(tasks.longest_ns),
            time_text(tasks.work_median_ns),
            short(tasks.device.as_str()),
        ]);
    }
    Section::new(&table, &[3, 4, 5, 6, 7, 8, 9, 10, 11])
}
