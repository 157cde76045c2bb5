//! The shape of a plan's file: which keys there are, and of which type. Every value keeps its place in the text.

use super::{Effect, Which};
use serde::Deserialize;
use softdpu_status::Code;
use std::time::Duration;
use toml::Spanned;

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) memlock: Option<u64>,
    pub(super) fault: Vec<Spanned<Entry>>,
}

/// `[[fault]]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Entry {
    pub(super) engine: Option<Spanned<String>>,
    pub(super) op: Option<Spanned<String>>,
    pub(super) context: Option<u32>,
    task: Option<Spanned<u64>>,
    every: Option<Spanned<u64>>,
    probability: Option<Spanned<f64>>,
    pub(super) count: Option<Spanned<u64>>,
    error: Option<Spanned<String>>,
    delay_us: Option<Spanned<u64>>,
    drop: Option<Spanned<bool>>,
    queue_full: Option<Spanned<u32>>,
    receive_not_ready: Option<Spanned<u32>>,
    disconnect: Option<Spanned<bool>>,
    link_down_us: Option<Spanned<u64>>,
    alloc: Option<Spanned<String>>,
}

type Bad = (usize, String);

fn positive<T: PartialOrd + From<u8> + Copy>(key: &str, value: &Spanned<T>) -> Result<T, Bad> {
    let n = *value.get_ref();
    if n >= T::from(1) { Ok(n) } else { Err((value.span().start, format!("`{key}` counts from 1"))) }
}

fn code(key: &str, name: &Spanned<String>) -> Result<Code, Bad> {
    let wanted = name.get_ref();
    let found = Code::ALL.iter().find(|c| c.name() == wanted || super::short(**c) == wanted);
    found.copied().ok_or_else(|| {
        let known: Vec<_> = Code::ALL.iter().map(|c| super::short(*c)).collect();
        (name.span().start, format!("`{key}`: `{wanted}` is no error code; codes: {}", known.join(", ")))
    })
}

fn yes(key: &str, value: &Spanned<bool>) -> Result<(), Bad> {
    match value.get_ref() {
        true => Ok(()),
        false => Err((value.span().start, format!("`{key}` is true, or left out"))),
    }
}

impl Entry {
    /// The selector, of which there is at most one.
    pub(super) fn which(&self, _: usize) -> Result<Which, Bad> {
        let mut all: Vec<(usize, &str, Which)> = Vec::new();
        if let Some(task) = &self.task {
            all.push((task.span().start, "task", Which::Number(positive("task", task)?)));
        }
        if let Some(every) = &self.every {
            all.push((every.span().start, "every", Which::Every(positive("every", every)?)));
        }
        if let Some(probability) = &self.probability {
            let p = *probability.get_ref();
            if !(p > 0.0 && p <= 1.0) {
                let cause = format!("`probability` is above 0 and at most 1, not {p}");
                return Err((probability.span().start, cause));
            }
            all.push((probability.span().start, "probability", Which::Probability(p)));
        }
        match all.as_slice() {
            [] => Ok(Which::All),
            [one] => Ok(one.2),
            [first, second, ..] => {
                let cause =
                    format!("`{}` and `{}` both say which tasks; one of them does", first.1, second.1);
                Err((first.0.max(second.0), cause))
            }
        }
    }

    /// The effect, of which there is exactly one.
    pub(super) fn effect(&self, start: usize) -> Result<Effect, Bad> {
        let mut all: Vec<(usize, &str, Effect)> = Vec::new();
        if let Some(name) = &self.error {
            all.push((name.span().start, "error", Effect::Error(code("error", name)?)));
        }
        if let Some(us) = &self.delay_us {
            let time = Duration::from_micros(positive("delay_us", us)?);
            all.push((us.span().start, "delay_us", Effect::Delay(time)));
        }
        if let Some(value) = &self.drop {
            yes("drop", value)?;
            all.push((value.span().start, "drop", Effect::Drop));
        }
        if let Some(n) = &self.queue_full {
            all.push((n.span().start, "queue_full", Effect::QueueFull(positive("queue_full", n)?)));
        }
        if let Some(n) = &self.receive_not_ready {
            let effect = Effect::NotReady(positive("receive_not_ready", n)?);
            all.push((n.span().start, "receive_not_ready", effect));
        }
        if let Some(value) = &self.disconnect {
            yes("disconnect", value)?;
            all.push((value.span().start, "disconnect", Effect::Disconnect));
        }
        if let Some(us) = &self.link_down_us {
            let time = Duration::from_micros(positive("link_down_us", us)?);
            all.push((us.span().start, "link_down_us", Effect::LinkDown(time)));
        }
        if let Some(name) = &self.alloc {
            all.push((name.span().start, "alloc", Effect::Alloc(code("alloc", name)?)));
        }
        match all.as_slice() {
            [one] => Ok(one.2),
            [] => Err((
                start,
                "the fault has no effect; one of: error, delay_us, drop, queue_full, receive_not_ready, disconnect, \
                 link_down_us, alloc"
                    .into(),
            )),
            [first, second, ..] => {
                let cause = format!("`{}` and `{}` are two effects; write two faults", first.1, second.1);
                Err((first.0.max(second.0), cause))
            }
        }
    }
}
