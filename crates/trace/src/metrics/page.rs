//! The page that Prometheus reads: text, version 0.0.4.

use super::{Counted, Kind, counted};
use crate::histogram::{Histogram, bucket, bucket_end};
use crate::sync::{AtomicU64, Ordering};
use std::fmt::Write;

/// Bounds of the histograms' buckets are powers of two of nanoseconds, from these to these.
const BOUNDS: std::ops::RangeInclusive<u32> = 7..=36;

/// What a metric says of a kind.
type Take = fn(&Kind) -> u64;

const COUNTERS: [(&str, &str, Take); 6] = [
    ("tasks_submitted", "Tasks accepted.", |kind| read(&kind.submitted)),
    ("tasks_refused", "Submits refused.", |kind| read(&kind.refused)),
    ("tasks_succeeded", "Tasks that ended with success.", |kind| read(&kind.succeeded)),
    ("tasks_failed", "Tasks that ended with an error.", |kind| read(&kind.failed)),
    ("task_bytes", "Bytes that tasks were about, where the engine says.", |kind| read(&kind.bytes)),
    (
        "tasks_unmeasured",
        "Tasks that were to be measured, and came through after their place was another's.",
        |kind| read(&kind.unknown),
    ),
];

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}

/// Everything that is counted in this process; empty if nothing is.
#[must_use]
pub fn page() -> String {
    let mut page = String::new();
    let Some(metrics) = counted() else { return page };
    for (name, help, take) in COUNTERS {
        head(&mut page, &format!("{name}_total"), "counter", help);
        each(metrics, |labels, kind| {
            let _ = writeln!(page, "softdpu_{name}_total{{{labels}}} {}", take(kind));
        });
    }
    head(&mut page, "tasks_in_flight", "gauge", "Tasks accepted and not ended.");
    each(metrics, |labels, kind| {
        let ended = read(&kind.succeeded).saturating_add(read(&kind.failed));
        let count = read(&kind.submitted).saturating_sub(ended);
        let _ = writeln!(page, "softdpu_tasks_in_flight{{{labels}}} {count}");
    });
    let times = "Time from submit to callback, handler or waking.";
    histogram(&mut page, metrics, "task_seconds", times, |kind| &kind.times);
    let work = "Time in the engine, from begun to ended.";
    histogram(&mut page, metrics, "task_work_seconds", work, |kind| &kind.work);
    page
}

fn head(page: &mut String, name: &str, sort: &str, help: &str) {
    let _ = writeln!(page, "# HELP softdpu_{name} {help}\n# TYPE softdpu_{name} {sort}");
}

/// Shows every kind of which there was a task.
fn each(metrics: &super::Metrics, mut show: impl FnMut(&str, &Kind)) {
    let pid = std::process::id();
    for Counted { number, engine, device, card, kinds, .. } in metrics.contexts() {
        for kind in kinds.iter().filter(|kind| read(&kind.submitted) + read(&kind.refused) > 0) {
            let name = &kind.name;
            let card = card.replace(['"', '\\', '\n'], "_");
            let labels = format!(
                "pid=\"{pid}\",card=\"{card}\",device=\"{device}\",context=\"{number}\",engine=\"{engine}\",kind=\"{name}\""
            );
            show(&labels, kind);
        }
    }
}

fn histogram(
    page: &mut String,
    metrics: &super::Metrics,
    name: &str,
    help: &str,
    take: fn(&Kind) -> &Histogram,
) {
    head(page, name, "histogram", help);
    each(metrics, |labels, kind| {
        let times = take(kind);
        // Once, so that the buckets agree with their sum.
        let mut buckets: Vec<u64> = times.buckets().collect();
        let (rest, last) = times.rest(kind.through());
        buckets[bucket(last)] += rest;
        let sum = times.sum() + rest * last;
        for bits in BOUNDS {
            let below = buckets.iter().enumerate().filter(|(at, _)| bucket_end(*at) <= 1 << bits);
            let count: u64 = below.map(|(_, count)| count).sum();
            let bound = (1u64 << bits) as f64 / 1e9;
            let _ = writeln!(page, "softdpu_{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
        }
        let all: u64 = buckets.iter().sum();
        let _ = writeln!(page, "softdpu_{name}_bucket{{{labels},le=\"+Inf\"}} {all}");
        let _ = writeln!(page, "softdpu_{name}_sum{{{labels}}} {}", sum as f64 / 1e9);
        let _ = writeln!(page, "softdpu_{name}_count{{{labels}}} {all}");
    });
}
