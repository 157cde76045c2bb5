//! `softdpu trace timeline --svg`: the picture.
//!
//! Contexts: an area as high as tasks are in flight, and, where there are few enough to see, a bar for each task. Threads:
//! bars of work and callbacks. What is narrower than a pixel is drawn together.

use std::fmt::Write;

use super::account::{Account, Context, Thread};
use super::time_text;
use super::timeline::{busy, density, tasks};

const LABEL: usize = 170;
const PLOT: usize = 1000;
const AREA: usize = 48;
const BAR: usize = 10;
const GAP: usize = 14;
/// Tasks of a context up to which each has a bar of its own, and the rows of such bars.
const FEW: usize = 2000;
const ROWS: usize = 32;

const STYLE: &str = "text{font:12px sans-serif;fill:#24292f}.small{font-size:10px;fill:#57606a}\
.grid{stroke:#d0d7de;stroke-width:1}.area{fill:#9ec5f4;stroke:#2f6fc0;stroke-width:.7}.task{fill:#2f6fc0}\
.bad{fill:#c62828}.open{fill:#b0700c}.work{fill:#2e8b57}.callback{fill:#8e5bb5}.back{fill:#f6f8fa}";

/// One picture under construction.
struct Picture {
    body: String,
    y: usize,
    from: u64,
    to: u64,
}

/// Characters that mean something in XML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

impl Picture {
    fn x(&self, at: u64) -> f64 {
        let at = at.clamp(self.from, self.to) - self.from;
        LABEL as f64 + at as f64 / (self.to - self.from) as f64 * PLOT as f64
    }

    fn add(&mut self, element: std::fmt::Arguments<'_>) {
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }

    fn label(&mut self, name: &str, note: &str) {
        let y = self.y;
        let short: String = name.chars().take(24).collect();
        self.add(format_args!("<text x=\"4\" y=\"{}\">{}</text>", y + 12, escape(&short)));
        self.add(format_args!("<text class=\"small\" x=\"4\" y=\"{}\">{}</text>", y + 26, escape(note)));
    }

    fn back(&mut self, height: usize) {
        let y = self.y;
        self.add(format_args!(
            "<rect class=\"back\" x=\"{LABEL}\" y=\"{y}\" width=\"{PLOT}\" height=\"{height}\"/>"
        ));
    }

    /// A bar, at least half a pixel wide; nothing outside of the picture.
    fn bar(&mut self, class: &str, (begin, end): (u64, u64), y: usize, height: usize, title: &str) {
        if end <= self.from || begin >= self.to {
            return;
        }
        let (x, width) = (self.x(begin), (self.x(end) - self.x(begin)).max(0.5));
        let title =
            if title.is_empty() { String::new() } else { format!("<title>{}</title>", escape(title)) };
        self.add(format_args!(
            "<rect class=\"{class}\" x=\"{x:.2}\" y=\"{y}\" width=\"{width:.2}\" height=\"{height}\">{title}</rect>"
        ));
    }

    /// Bars that are drawn together where less than half a pixel is between them.
    fn bars(&mut self, class: &str, mut spans: Vec<(u64, u64)>, y: usize, height: usize) {
        spans.retain(|&(begin, end)| end > self.from && begin < self.to);
        spans.sort_unstable();
        let near = (self.to - self.from) / (2 * PLOT as u64);
        let mut open: Option<(u64, u64)> = None;
        for (begin, end) in spans {
            match &mut open {
                Some(span) if begin <= span.1.saturating_add(near) => span.1 = span.1.max(end),
                _ => {
                    if let Some(span) = open.replace((begin, end)) {
                        self.bar(class, span, y, height, "");
                    }
                }
            }
        }
        if let Some(span) = open {
            self.bar(class, span, y, height, "");
        }
    }

    fn area(&mut self, values: &[f64], most: f64) {
        let bottom = self.y + AREA;
        let mut points = format!("{LABEL},{bottom}");
        for (at, value) in values.iter().enumerate() {
            let y = bottom as f64 - value / most * (AREA as f64 - 2.0);
            let _ = write!(points, " {},{y:.1} {},{y:.1}", LABEL + at, LABEL + at + 1);
        }
        let _ = write!(points, " {},{bottom}", LABEL + values.len());
        self.add(format_args!("<polygon class=\"area\" points=\"{points}\"/>"));
    }

    fn context(&mut self, label: &str, context: &Context) {
        let values = density(tasks(context, self.to), self.from, self.to, PLOT);
        let most = values.iter().copied().fold(0.0, f64::max);
        self.label(label, &format!("{}, up to {most:.1} in flight", context.device));
        self.back(AREA);
        if most > 0.0 {
            self.area(&values, most);
        }
        self.y += AREA + 2;
        let count = context.tasks.len() + context.failed.len() + context.unfinished.len();
        let failed = context.failed.clone();
        if count > FEW {
            self.bars("bad", failed, self.y, 4);
            self.y += 4 + GAP;
            return;
        }
        let to = self.to;
        let mut all: Vec<(u64, u64, &str)> = context.tasks.iter().map(|&(b, e)| (b, e, "task")).collect();
        all.extend(failed.iter().map(|&(b, e)| (b, e, "bad")));
        all.extend(context.unfinished.iter().map(|&b| (b, to.max(b + 1), "open")));
        all.sort_unstable();
        let mut ends = [0u64; ROWS];
        let mut used = 1;
        for (begin, end, class) in all {
            // Beyond the last row they lie on top of each other.
            let row = ends.iter().position(|&e| e <= begin).unwrap_or(ROWS - 1);
            ends[row] = end;
            used = used.max(row + 1);
            let title = match class {
                "open" => "never reported".to_owned(),
                "bad" => format!("failed after {}", time_text(end - begin)),
                _ => time_text(end - begin),
            };
            self.bar(class, (begin, end), self.y + row * 5, 4, &title);
        }
        self.y += used * 5 + GAP;
    }

    fn thread(&mut self, label: &str, thread: &Thread) {
        let all: u64 = busy(thread).iter().map(|(begin, end)| end - begin).sum();
        let share = 100.0 * all as f64 / (self.to - self.from) as f64;
        self.label(label, &format!("busy {share:.0} %"));
        self.back(2 * BAR);
        self.bars("work", thread.work.clone(), self.y, BAR);
        self.bars("callback", thread.callbacks.clone(), self.y + BAR, BAR);
        self.y += 2 * BAR + GAP;
    }

    /// Lines at round times.
    fn grid(&mut self, top: usize) {
        let span = (self.to - self.from) as f64;
        let mut step = 10f64.powf((span / 10.0).log10().floor());
        step *= [1.0, 2.0, 5.0, 10.0].into_iter().find(|m| span / (step * m) <= 12.0).unwrap_or(10.0);
        let step = (step as u64).max(1);
        let bottom = self.y;
        let mut at = 0;
        while at <= self.to - self.from {
            let x = self.x(self.from + at);
            self.add(format_args!(
                "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{top}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>"
            ));
            let name = time_text(at);
            self.add(format_args!(
                "<text class=\"small\" x=\"{:.1}\" y=\"{}\">{name}</text>",
                x + 2.0,
                top - 4
            ));
            at += step;
        }
    }
}

pub(super) fn picture(account: &Account, from: u64, to: u64) -> String {
    let mut picture = Picture { body: String::new(), y: 50, from, to };
    let mut lines = Picture { body: String::new(), y: 0, from, to };
    for (pid, process) in &account.processes {
        for (name, context) in &process.contexts {
            picture.context(&format!("{pid} {name}"), context);
        }
        for thread in process.threads.values().filter(|thread| !thread.is_empty()) {
            picture.thread(&format!("{pid} {}", thread.name), thread);
        }
    }
    lines.y = picture.y;
    lines.grid(44);
    let (width, height) = (LABEL + PLOT + 60, picture.y + 10);
    let mut legend = String::new();
    let words = [
        ("task", "task"),
        ("bad", "failed"),
        ("open", "never reported"),
        ("work", "work"),
        ("callback", "callback"),
    ];
    for (at, (class, word)) in words.into_iter().enumerate() {
        let x = LABEL + at * 130;
        let _ = write!(
            legend,
            "<rect class=\"{class}\" x=\"{x}\" y=\"8\" width=\"12\" height=\"12\"/><text x=\"{}\" y=\"18\">{word}</text>",
            x + 18
        );
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
         <style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{legend}\n{}{}</svg>\n",
        lines.body, picture.body
    )
}
