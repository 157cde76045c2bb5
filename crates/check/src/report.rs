//! What was found: one line each on stderr when it is found, and the whole at the end.

use crate::place::Place;
use crate::rules::Rule;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// Something that was found, however often.
#[derive(Debug)]
struct Finding {
    rule: &'static Rule,
    text: String,
    times: u64,
}

/// All that was found.
#[derive(Debug, Default)]
pub(crate) struct Report {
    findings: Vec<Finding>,
    /// By rule, the place of the call and that of the object's creation.
    known: BTreeMap<(&'static str, Place, Place), usize>,
}

/// What a line says besides its rule.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    /// The object, with name and place of creation.
    pub(crate) object: String,
    /// What was asked for and what is there.
    pub(crate) numbers: std::fmt::Arguments<'a>,
}

impl Report {
    /// Counts a finding that was said before; whether it was. Saves the words.
    pub(crate) fn again(&mut self, rule: &'static Rule, at: Place, made: Place) -> bool {
        let known = self.known.get(&(rule.id, at, made)).and_then(|index| self.findings.get_mut(*index));
        known.map(|finding| finding.times += 1).is_some()
    }

    /// Adds a finding, and says it unless the same was said before.
    pub(crate) fn add(&mut self, rule: &'static Rule, at: Place, made: Place, words: &Words<'_>) {
        if self.again(rule, at, made) {
            return;
        }
        self.known.insert((rule.id, at, made), self.findings.len());
        let text = format!("{}: {}: {}: {}", words.object, rule.says, words.numbers, rule.todo);
        say(&format!("{}: {text}", rule.id));
        self.findings.push(Finding { rule, text, times: 1 });
    }

    /// Whether nothing was found.
    pub(crate) fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    /// The last line.
    pub(crate) fn close(&self, statistics: &str) {
        if self.is_empty() {
            return say(&format!("no findings ({statistics})"));
        }
        let times: u64 = self.findings.iter().map(|f| f.times).sum();
        let rules: std::collections::BTreeSet<_> = self.findings.iter().map(|f| f.rule.id).collect();
        let names: Vec<&str> = rules.into_iter().collect();
        let plural = if times == 1 { "" } else { "s" };
        say(&format!("{times} finding{plural}: {} ({statistics})", names.join(", ")));
    }

    /// The findings, for programs.
    pub(crate) fn json(&self) -> Vec<Value> {
        let one = |f: &Finding| json!({"rule": f.rule.id, "text": f.text, "times": f.times});
        self.findings.iter().map(one).collect()
    }
}

/// A line on stderr, in one write, so that lines of several processes stay whole.
pub(crate) fn say(text: &str) {
    let line = format!("softdpu: check: {text}\n");
    // Whoever closed stderr wants no lines.
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}
