//! The shape of a plan's file: which keys there are, and of which type. Every value keeps its place in the text.

use super::{Effect, Peer, Place, Which};
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
    peer: Option<Spanned<Name>>,
    map: Option<Spanned<u32>>,
    address: Option<Spanned<[u64; 2]>>,
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

/// A number or a text.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a peer is the number of a process, or the name of a program or an address, in quotes"
)]
enum Name {
    Number(u32),
    Text(String),
}

/// Bytes of a program's name that the kernel keeps.
const NAME: usize = 15;

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
    /// Whoever has nothing to choose by, for what the key says.
    fn lacks(&self, key: &str, at: usize, engine: &str, without: &[&str], why: &str) -> Result<(), Bad> {
        if self.alloc.is_some() {
            return Err((
                at,
                format!("`{key}` says nothing for `alloc`: a task has {why} only when it is submitted"),
            ));
        }
        if without.contains(&engine) {
            return Err((at, format!("`{key}` says nothing for {engine}: its tasks have no {why}")));
        }
        Ok(())
    }

    /// Who is at the other end.
    pub(super) fn peer(&self, engine: &str) -> Result<Option<Peer>, Bad> {
        let Some(peer) = &self.peer else { return Ok(None) };
        let at = peer.span().start;
        self.lacks("peer", at, engine, &["eth", "eth_rxq", "eth_txq", "sync_event"], "peer")?;
        match peer.get_ref() {
            Name::Number(0) => Err((at, "`peer` is the number of a process: at least 1".into())),
            Name::Number(number) => Ok(Some(Peer::Process(*number))),
            Name::Text(text) => match text.parse() {
                Ok(address) => Ok(Some(Peer::Address(address))),
                Err(_) if (1..=NAME).contains(&text.len()) && !text.contains(['/', '\0', '\n']) => {
                    Ok(Some(Peer::Program(text.clone())))
                }
                Err(_) => Err((
                    at,
                    format!(
                        "`peer`: {text:?} is no address, and no name of a program, which has 1 to {NAME} bytes and no folders"
                    ),
                )),
            },
        }
    }

    /// Where source or destination lie.
    pub(super) fn memory(&self, engine: &str) -> Result<Option<Place>, Bad> {
        let mut place = Place { map: None, range: None };
        if let Some(map) = &self.map {
            let without = ["sync_event", "comch_server", "comch_client"];
            self.lacks("map", map.span().start, engine, &without, "memory map")?;
            place.map = Some(positive("map", map)?);
        }
        if let Some(range) = &self.address {
            let at = range.span().start;
            self.lacks("address", at, engine, &["sync_event"], "memory")?;
            let [from, to] = *range.get_ref();
            if from >= to {
                return Err((
                    at,
                    format!("`address`: [{from:#x}, {to:#x}] is empty; the second number is where it ends"),
                ));
            }
            place.range = Some((from, to));
        }
        Ok((place.map.is_some() || place.range.is_some()).then_some(place))
    }

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
