//! `softdpu trace timeline`: what is in flight and who is busy over time, in characters.

use super::account::{Account, Context, Thread};
use super::time_text;

const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The mean number of open spans in each of `bins` equal pieces of the time.
pub(super) fn density(
    spans: impl IntoIterator<Item = (u64, u64)>,
    from: u64,
    to: u64,
    bins: usize,
) -> Vec<f64> {
    let width = (to - from) as f64 / bins as f64;
    let mut sums = vec![0.0; bins];
    for (begin, end) in spans {
        let (begin, end) = (begin.max(from), end.min(to));
        if begin >= end {
            continue;
        }
        let (b, e) = ((begin - from) as f64 / width, (end - from) as f64 / width);
        let (first, last) = ((b as usize).min(bins - 1), (e as usize).min(bins - 1));
        if first == last {
            sums[first] += e - b;
            continue;
        }
        sums[first] += first as f64 + 1.0 - b;
        sums[first + 1..last].iter_mut().for_each(|sum| *sum += 1.0);
        sums[last] += e - last as f64;
    }
    sums
}

/// All tasks of a context; those without an end last to the end.
pub(super) fn tasks(context: &Context, to: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
    let unfinished = context.unfinished.iter().map(move |&begin| (begin, to.max(begin)));
    context.tasks.iter().chain(&context.failed).copied().chain(unfinished)
}

/// All times at which a thread is busy with tasks. Work in a callback counts once.
pub(super) fn busy(thread: &Thread) -> Vec<(u64, u64)> {
    let mut all: Vec<_> = thread.work.iter().chain(&thread.callbacks).copied().collect();
    all.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (begin, end) in all {
        match merged.last_mut().filter(|last| begin <= last.1) {
            Some(last) => last.1 = last.1.max(end),
            None => merged.push((begin, end)),
        }
    }
    merged
}

fn bar(density: &[f64], full: f64) -> String {
    let height = |value: &f64| {
        let level = (value / full * 8.0).ceil().clamp(0.0, 8.0) as usize;
        HEIGHTS[level]
    };
    density.iter().map(height).collect()
}

pub(super) fn text(account: &Account, from: u64, to: u64, columns: usize) -> String {
    let mut rows: Vec<(String, String, String)> = Vec::new();
    // The longest label decides how much room there is for the rest.
    let labels: Vec<String> = account
        .processes
        .iter()
        .flat_map(|(pid, process)| {
            let contexts = process.contexts.keys().map(move |name| format!("{pid} {name}"));
            let threads = process.threads.values().filter(|t| !t.is_empty());
            contexts.chain(threads.map(move |t| format!("{pid} {}", t.name)))
        })
        .collect();
    let wide = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0).min(columns / 3);
    let bins = columns.saturating_sub(wide + 12).max(10);
    for (pid, process) in &account.processes {
        for (name, context) in &process.contexts {
            let density = density(tasks(context, to), from, to, bins);
            let most = density.iter().copied().fold(0.0, f64::max);
            let note = if most >= 9.95 { format!("{most:.0}") } else { format!("{most:.1}") };
            rows.push((format!("{pid} {name}"), bar(&density, most.max(f64::MIN_POSITIVE)), note));
        }
    }
    let contexts = rows.len();
    for (pid, process) in &account.processes {
        for thread in process.threads.values().filter(|thread| !thread.is_empty()) {
            let density = density(busy(thread), from, to, bins);
            let most = density.iter().copied().fold(0.0, f64::max);
            rows.push((
                format!("{pid} {}", thread.name),
                bar(&density, 1.0),
                format!("{:.0} %", most * 100.0),
            ));
        }
    }
    let mut text = format!(
        "{} from {} on, {} per column\n",
        time_text(to - from),
        time_text(from - account.extent().0),
        time_text((to - from) / bins as u64)
    );
    for (at, (label, bar, note)) in rows.into_iter().enumerate() {
        if at == 0 && contexts > 0 {
            text += &format!("{:wide$} tasks in flight, and how many at most\n", "CONTEXT");
        }
        if at == contexts {
            text += &format!("{:wide$} busy with work and callbacks, and how much at most\n", "THREAD");
        }
        let label: String = label.chars().take(wide).collect();
        text += &format!("{label:wide$} |{bar}| {note}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities() {
        let density = density([(0, 100), (50, 60), (90, 400), (500, 600)], 0, 100, 10);
        assert_eq!(density, [1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0]);
        // Parts of columns; sums of tenths are not exact.
        let near = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-12, "{found}, not {wanted}");
        near(super::density([(5, 8)], 0, 10, 1)[0], 0.3);
        near(super::density([(3, 4)], 0, 10, 3)[0], 0.1);
    }

    #[test]
    fn bars() {
        assert_eq!(bar(&[0.0, 0.01, 0.5, 1.0, 2.0], 1.0), " ▁▄██");
    }
}
