//! Rows of the process's report, for `softdpu top`.

use super::counted;
use crate::sync::Ordering;
use softdpu_link::report::Rows;

/// Section `tasks`: a row for each kind of which there was a task.
pub(super) fn write(rows: &mut Rows<'_>) {
    let Some(metrics) = counted() else { return };
    for context in metrics.contexts() {
        for kind in &context.kinds {
            let [submitted, refused, succeeded, failed, bytes] =
                [&kind.submitted, &kind.refused, &kind.succeeded, &kind.failed, &kind.bytes]
                    .map(|count| count.load(Ordering::Relaxed));
            if submitted + refused == 0 {
                continue;
            }
            rows.row(|row| {
                row.text("context", format_args!("{} {}", context.engine, context.number));
                row.text("id", format_args!("{:#x}", context.id)).text("engine", context.engine);
                row.text("device", &context.device).text("card", &context.card).text("kind", &kind.name);
                row.number("submitted", submitted).number("refused", refused);
                row.number("succeeded", succeeded).number("failed", failed).number("bytes", bytes);
                row.number("median_ns", kind.times.quantile(0.5));
                row.number("p99_ns", kind.times.quantile(0.99)).number("longest_ns", kind.times.longest());
                row.number("work_median_ns", kind.work.quantile(0.5));
            });
        }
    }
}
