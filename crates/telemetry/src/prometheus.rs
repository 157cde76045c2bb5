//! Metrics as Prometheus reads them: the text exposition format, version 0.0.4.

use crate::metrics::{Board, Number};
use std::collections::BTreeMap;
use std::fmt::Write;

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// One page of all metrics. A metric that several sources report stands there once, with the samples of all; one that is
/// a counter here and a gauge there keeps the kind that came first.
pub(crate) fn page(boards: &[impl AsRef<Board>]) -> String {
    let mut metrics: BTreeMap<String, (&'static str, String)> = BTreeMap::new();
    for board in boards {
        let board = board.as_ref();
        board.show(|name, series, constant| {
            for point in series.values() {
                let (kind, value) = match point.value {
                    Number::Counter(value) => ("counter", value.to_string()),
                    Number::Gauge(value) => ("gauge", float(value)),
                };
                let name = metric_name(name);
                let (known, samples) = metrics.entry(name.clone()).or_insert_with(|| (kind, String::new()));
                if *known != kind {
                    continue;
                }
                let labels = labels(board, constant, &point.labels);
                let _ = writeln!(samples, "{name}{{{labels}}} {value}");
            }
        });
    }
    let mut out = String::new();
    for (name, (kind, samples)) in metrics {
        let _ = write!(out, "# TYPE {name} {kind}\n{samples}");
    }
    out
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "+Inf".into() } else { "-Inf".into() }
    } else {
        value.to_string()
    }
}

/// Characters that the format does not know become `_`.
fn metric_name(name: &str) -> String {
    plain_name(name, ':')
}

fn plain_name(name: &str, also: char) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == also { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    if name.starts_with(|c: char| c.is_ascii_digit()) { format!("_{name}") } else { name }
}

/// The source, then the labels of the source, then those of the point; of two with one name the last one counts.
fn labels(board: &Board, constant: &[(String, String)], own: &[(String, String)]) -> String {
    let who = &board.identity;
    let source = [("source_id".to_owned(), who.id.clone()), ("source_tag".to_owned(), who.tag.clone())];
    let all: BTreeMap<String, &str> = source
        .iter()
        .chain(constant)
        .chain(own)
        .map(|(name, value)| (plain_name(name, '_'), value.as_str()))
        .collect();
    let mut out = String::new();
    for (name, value) in all.iter().filter(|(_, value)| !value.is_empty()) {
        if !out.is_empty() {
            out.push(',');
        }
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let _ = write!(out, "{name}=\"{value}\"");
    }
    out
}
