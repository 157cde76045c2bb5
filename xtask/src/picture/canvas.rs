//! Boxes, arrows and words as SVG, in colours that can be told apart without their hue.

use std::fmt::Write as _;

/// What a box stands for.
#[derive(Clone, Copy)]
pub(crate) enum Tint {
    /// Hardware and the machine.
    Card,
    /// Memory and buffers.
    Memory,
    /// Contexts and tasks.
    Work,
    /// Progress and events.
    Turn,
    /// The program.
    Program,
    /// A group of other boxes.
    Group,
}

impl Tint {
    fn colours(self) -> (&'static str, &'static str) {
        match self {
            Self::Card => ("#dfe7f3", "#3a5a8c"),
            Self::Memory => ("#e2f0df", "#3f7a38"),
            Self::Work => ("#fdeccb", "#9a6a10"),
            Self::Turn => ("#f3dfee", "#8a3a78"),
            Self::Program => ("#ececec", "#555"),
            Self::Group => ("none", "#9aa3b0"),
        }
    }
}

/// A picture in the making. Places and sizes are in pixels.
pub(crate) struct Canvas {
    width: f64,
    height: f64,
    title: String,
    body: String,
}

impl Canvas {
    /// An empty picture; the title is what a reader gets who cannot see it.
    pub(crate) fn new(width: f64, height: f64, title: &str) -> Self {
        Self { width, height, title: title.to_owned(), body: String::new() }
    }

    /// A box with a heading and lines below it.
    pub(crate) fn block(&mut self, at: [f64; 4], tint: Tint, heading: &str, lines: &[&str]) {
        let [x, y, w, h] = at;
        let (fill, stroke) = tint.colours();
        let dash = if matches!(tint, Tint::Group) { " stroke-dasharray=\"5 4\"" } else { "" };
        let _ = writeln!(
            self.body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"6\" fill=\"{fill}\" stroke=\"{stroke}\"{dash}/>"
        );
        if matches!(tint, Tint::Group) {
            self.words(x + 10.0, y + 18.0, "start", "head", heading);
            return;
        }
        let rows = lines.len() + usize::from(!heading.is_empty());
        let mut row = y + h / 2.0 - (rows as f64 - 1.0) * 8.0 + 4.5;
        if !heading.is_empty() {
            self.words(x + w / 2.0, row, "middle", "head", heading);
            row += 16.0;
        }
        for line in lines {
            self.words(x + w / 2.0, row, "middle", "line", line);
            row += 16.0;
        }
    }

    /// A bar without words.
    pub(crate) fn bar(&mut self, at: [f64; 4], tint: Tint) {
        self.block(at, tint, "", &[]);
    }

    /// An arrow through these points, with words at its middle.
    pub(crate) fn arrow(&mut self, points: &[(f64, f64)], words: &str) {
        let path: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let _ = writeln!(self.body, "<polyline points=\"{}\" class=\"way\"/>", path.join(" "));
        if let ([.., a, b], false) = (points, words.is_empty()) {
            let (x, y) = (f64::midpoint(a.0, b.0), f64::midpoint(a.1, b.1));
            if (a.1 - b.1).abs() < 1.0 {
                self.words(x, y - 5.0, "middle", "note", words);
            } else {
                self.words(x + 6.0, y + 4.0, "start", "note", words);
            }
        }
    }

    /// Words; `anchor` is start, middle or end, `class` head, line or note.
    pub(crate) fn words(&mut self, x: f64, y: f64, anchor: &str, class: &str, words: &str) {
        let words = words.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(
            self.body,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" class=\"{class}\">{words}</text>"
        );
    }

    /// The picture.
    pub(crate) fn finish(self) -> String {
        let Self { width, height, title, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
             <title>{title}</title>\n\
             <style>text{{font:13px system-ui,sans-serif;fill:#1d2430}}.head{{font-weight:600}}.line{{font-size:12px}}\
             .note{{font-size:11.5px;fill:#4a5362}}.way{{fill:none;stroke:#4a5362;stroke-width:1.4;marker-end:url(#tip)}}</style>\n\
             <defs><marker id=\"tip\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\">\
             <path d=\"M0 0L10 5L0 10z\" fill=\"#4a5362\"/></marker></defs>\n\
             <rect x=\"0\" y=\"0\" width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#fff\"/>\n{body}</svg>\n"
        )
    }
}
