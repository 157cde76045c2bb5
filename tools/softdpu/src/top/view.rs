//! The tables that people see, cut to the size of the terminal where there is one.

use super::document::{ContextRow, Document, Process};
use crate::output::{Table, bytes_text};

/// Columns and lines of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) columns: usize,
    pub(crate) lines: usize,
}

/// Longest text in a column.
const WIDE: usize = 24;

/// A table with its title: the first line is the heading.
pub(super) struct Section {
    lines: Vec<String>,
}

impl Section {
    pub(super) fn new(table: &Table, right: &[usize]) -> Section {
        Section { lines: table.text(right).lines().map(str::to_owned).collect() }
    }

    fn rows(&self) -> usize {
        self.lines.len() - 1
    }
}

/// Everything, as lines without line ends. Without a size nothing is cut.
pub(crate) fn lines(document: &Document, size: Option<Size>) -> Vec<String> {
    let mut lines = heading(document);
    let mut sections = vec![
        engines(document),
        processes(document),
        contexts(document),
        super::tasks::section(document),
        memory(document),
        connections(document),
        super::ports::section(document),
    ];
    sections.retain(|section| section.rows() > 0);
    let room = size.map_or(usize::MAX, |size| {
        // Each has a blank line, a heading, and may have a line that says how many more there are.
        size.lines.saturating_sub(lines.len() + 3 * sections.len())
    });
    let shares = shares(&sections.iter().map(Section::rows).collect::<Vec<_>>(), room);
    for (section, share) in sections.into_iter().zip(shares) {
        let hidden = section.rows() - share;
        lines.push(String::new());
        lines.extend(section.lines.into_iter().take(1 + share));
        if hidden > 0 {
            lines.push(format!("... {hidden} more"));
        }
    }
    if let Some(size) = size {
        lines.truncate(size.lines);
        lines.iter_mut().for_each(|line| *line = cut(line, size.columns));
    }
    lines
}

/// Divides room among lists: short ones get all they need, the others the same.
fn shares(wanted: &[usize], room: usize) -> Vec<usize> {
    let mut shares = vec![0; wanted.len()];
    let mut left = room;
    loop {
        let hungry: Vec<usize> = (0..wanted.len()).filter(|&i| shares[i] < wanted[i]).collect();
        let Some(each) = left.checked_div(hungry.len()) else { return shares };
        // The last few lines go to the first of them.
        for i in hungry {
            let more = each.max(1).min(wanted[i] - shares[i]).min(left);
            shares[i] += more;
            left -= more;
        }
        if left == 0 {
            return shares;
        }
    }
}

fn heading(document: &Document) -> Vec<String> {
    let processes = &document.processes;
    let rate = document.engines.iter().fold(0.0, |sum, engine| sum + engine.tasks_per_s);
    let in_flight = processes.iter().fold(0u64, |n, process| n.saturating_add(process.in_flight));
    let mut lines = vec![format!(
        "softdpu top: {}, {} tasks in flight, {} tasks/s  ({})",
        counted(processes.len(), "process", "processes"),
        in_flight,
        number_text(rate),
        document.runtime_dir
    )];
    for card in &document.cards {
        lines.push(format!(
            "card {} (profile {}): {} open in {}",
            card.name.as_str(),
            card.profile.as_str(),
            counted(card.devices, "device", "devices"),
            counted(card.processes, "process", "processes")
        ));
    }
    if processes.is_empty() {
        lines.push("No process has a running context or shares memory.".to_owned());
    }
    lines
}

fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn engines(document: &Document) -> Section {
    let mut table = Table::new(&["ENGINE", "tasks/s", "in flight", "contexts", "processes"]);
    for engine in &document.engines {
        table.row([
            short(engine.engine.as_str()),
            number_text(engine.tasks_per_s),
            engine.in_flight.to_string(),
            engine.contexts.to_string(),
            engine.processes.to_string(),
        ]);
    }
    Section::new(&table, &[1, 2, 3, 4])
}

fn processes(document: &Document) -> Section {
    let mut table = Table::new(&[
        "PROCESS",
        "program",
        "tasks/s",
        "in flight",
        "CPU %",
        "contexts",
        "maps",
        "memory",
        "exports",
        "imports",
        "connections",
        "devices",
        "workers",
        "up",
    ]);
    for process in &document.processes {
        let mut cells = vec![process.pid.to_string(), short(&process.program)];
        if let Some(problem) = &process.problem {
            cells.push(format!("no answer: {problem}"));
            table.row(cells);
            continue;
        }
        let memory = process.maps.iter().fold(0u64, |n, map| n.saturating_add(map.len));
        cells.extend([
            rate_text(process.tasks_per_s),
            process.in_flight.to_string(),
            process.cpu_percent.map_or_else(|| "-".to_owned(), |percent| format!("{percent:.0}")),
            process.contexts.len().to_string(),
            process.maps.len().to_string(),
            bytes_text(memory),
            process.exports.len().to_string(),
            process.imports.len().to_string(),
            process.connections.len().to_string(),
            process.devices.len().to_string(),
            process.boards.iter().map(super::report::Board::workers).sum::<u64>().to_string(),
            time_text(process.uptime_s),
        ]);
        table.row(cells);
    }
    Section::new(&table, &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13])
}

/// All rows of one kind with their processes, the largest first.
pub(super) fn ranked<'a, T>(
    document: &'a Document,
    rows: impl Fn(&'a Process) -> &'a [T],
    rank: impl Fn(&T) -> f64,
) -> Vec<(&'a Process, &'a T)> {
    let all =
        document.processes.iter().flat_map(|process| rows(process).iter().map(move |row| (process, row)));
    let mut all: Vec<_> = all.collect();
    all.sort_by(|(_, a), (_, b)| rank(b).total_cmp(&rank(a)));
    all
}

fn contexts(document: &Document) -> Section {
    let mut table = Table::new(&[
        "CONTEXT OF",
        "engine",
        "tasks/s",
        "in flight",
        "completed",
        "state",
        "held",
        "progress/s",
        "device",
        "id",
    ]);
    let rank = |context: &ContextRow| context.tasks_per_s.unwrap_or(-1.0);
    for (process, context) in ranked(document, |process| &process.contexts, rank) {
        let engine = process.progress_engines.iter().find(|pe| pe.id == context.progress_engine);
        table.row([
            process.pid.to_string(),
            short(context.engine.as_str()),
            rate_text(context.tasks_per_s),
            context.in_flight.to_string(),
            context.completed.to_string(),
            short(context.state.as_str()),
            context.held.map_or_else(|| "-".to_owned(), |held| held.to_string()),
            match engine {
                Some(engine) if engine.sleeps => "asleep".to_owned(),
                Some(engine) => rate_text(engine.calls_per_s),
                None => "-".to_owned(),
            },
            short(context.device.as_str()),
            short(context.id.as_str()),
        ]);
    }
    Section::new(&table, &[2, 3, 4, 6, 7])
}

fn memory(document: &Document) -> Section {
    let mut table = Table::new(&["MEMORY OF", "kind", "bytes", "address", "access", "remarks"]);
    let mut rows: Vec<(u64, [String; 6])> = Vec::new();
    for process in &document.processes {
        let pid = process.pid.to_string();
        let mut add = |kind: &str, len: u64, base: &str, access: &str, remarks: String| {
            rows.push((
                len,
                [pid.clone(), short(kind), bytes_text(len), short(base), access.to_owned(), remarks],
            ));
        };
        for map in &process.maps {
            add("map", map.len, map.base.as_str(), map.access.as_str(), map.devices.as_str().to_owned());
        }
        for export in &process.exports {
            let importers = counted(export.importers as usize, "importer", "importers");
            let remarks = format!("{importers}{}", if export.mappable { "" } else { ", not mappable" });
            let kind = format!("export {}", export.kind.as_str());
            add(&kind, export.len, export.base.as_str(), export.access.as_str(), remarks);
        }
        for import in &process.imports {
            let remarks = format!("from {}, {}", import.owner, import.reach.as_str());
            add(&format!("import {}", import.kind.as_str()), import.len, import.base.as_str(), "-", remarks);
        }
    }
    rows.sort_by(|(a, _), (b, _)| b.cmp(a));
    rows.into_iter().for_each(|(_, cells)| table.row(cells));
    Section::new(&table, &[2])
}

fn connections(document: &Document) -> Section {
    let mut table = Table::new(&[
        "CONNECTION OF",
        "engine",
        "messages/s",
        "sent",
        "received",
        "state",
        "role",
        "peer",
        "device",
    ]);
    let rank = |c: &super::document::ConnectionRow| c.messages_per_s.unwrap_or(-1.0);
    for (process, connection) in ranked(document, |process| &process.connections, rank) {
        table.row([
            process.pid.to_string(),
            short(connection.engine.as_str()),
            rate_text(connection.messages_per_s),
            connection.sent.to_string(),
            connection.received.to_string(),
            short(connection.state.as_str()),
            short(connection.role.as_str()),
            if connection.peer == 0 { "-".to_owned() } else { connection.peer.to_string() },
            short(connection.device.as_str()),
        ]);
    }
    Section::new(&table, &[2, 3, 4])
}

pub(super) fn rate_text(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), number_text)
}

/// A number for people: `950`, `12.3 k`, `1.25 M`.
fn number_text(n: f64) -> String {
    let (n, unit) = match n {
        n if n >= 999.5e6 => (n / 1e9, " G"),
        n if n >= 999.5e3 => (n / 1e6, " M"),
        n if n >= 999.5 => (n / 1e3, " k"),
        n => (n, ""),
    };
    let digits = match n {
        n if n < 10.0 && !unit.is_empty() => 2,
        n if n < 100.0 && (!unit.is_empty() || n.fract() != 0.0) => 1,
        _ => 0,
    };
    format!("{n:.digits$}{unit}")
}

fn time_text(seconds: f64) -> String {
    match seconds as u64 {
        s @ 0..120 => format!("{s} s"),
        s @ 120..7200 => format!("{} min", s / 60),
        s @ 7200..172_800 => format!("{} h", s / 3600),
        s => format!("{} d", s / 86_400),
    }
}

/// A text for a column.
pub(super) fn short(text: &str) -> String {
    cut(text, WIDE)
}

/// What fits into so many columns. Characters from the East Asian scripts on may take two.
fn cut(text: &str, columns: usize) -> String {
    let mut left = columns;
    let fits = |c: &char| {
        let width = if *c < '\u{1100}' || *c == char::REPLACEMENT_CHARACTER { 1 } else { 2 };
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let texts = [
            (0.0, "0"),
            (0.25, "0.2"),
            (7.0, "7"),
            (950.0, "950"),
            (999.7, "1.00 k"),
            (12_345.0, "12.3 k"),
            (1_254_000.0, "1.25 M"),
            (345e6, "345 M"),
            (2e9, "2.00 G"),
        ];
        for (n, text) in texts {
            assert_eq!(number_text(n), text);
        }
        assert_eq!(time_text(119.9), "119 s");
        assert_eq!(time_text(3600.0), "60 min");
        assert_eq!(time_text(864_000.0), "10 d");
    }

    #[test]
    fn room_is_divided() {
        assert_eq!(shares(&[1, 2, 3], usize::MAX), [1, 2, 3]);
        assert_eq!(shares(&[1, 100, 100], 21), [1, 10, 10]);
        assert_eq!(shares(&[5, 100], 100), [5, 95]);
        assert_eq!(shares(&[3, 3, 3], 2), [1, 1, 0]);
        assert_eq!(shares(&[3, 3], 0), [0, 0]);
        assert_eq!(shares(&[], 10), [0; 0]);
    }

    #[test]
    fn lines_are_cut() {
        assert_eq!(cut("abcdef", 3), "abc");
        assert_eq!(cut("複写する", 5), "複写");
        assert_eq!(cut("�[2J", 3), "�[2");
        assert_eq!(cut("a", 0), "");
    }
}
