//! Metrics: counters and gauges with labels, their present values, and when they are written out.
//!
//! The values are shared with the scrape server and with the delivery thread, which writes them out in their interval.

use crate::courier::{Chore, Courier, Mail};
use crate::schema::{Identity, Outlet};
use crate::{otlp, refuse};
use softdpu_status::{Code, Result};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Time between two writings when none was set.
const INTERVAL: Duration = Duration::from_secs(1);
/// Combinations of name and label values that a context keeps.
const MAX_SERIES: usize = 100_000;

/// A set of label names; [`LabelSetId::NONE`] is the empty one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LabelSetId(pub usize);

impl LabelSetId {
    /// No labels.
    pub const NONE: LabelSetId = LabelSetId(0);
}

/// A value and what kind of metric it belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    /// Only ever grows, unless what it counts began anew.
    Counter(u64),
    Gauge(f64),
}

impl Number {
    fn kind(self) -> &'static str {
        match self {
            Number::Counter(_) => "counter",
            Number::Gauge(_) => "gauge",
        }
    }
}

/// The present value of one metric with one combination of labels.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) value: Number,
    pub(crate) micros: u64,
    /// Not written out yet.
    fresh: bool,
}

/// Every combination of one metric, by the values of its labels.
pub(crate) type Series = BTreeMap<(usize, Vec<String>), Point>;

struct State {
    constant: Vec<(String, String)>,
    sets: Vec<Vec<String>>,
    metrics: BTreeMap<String, Series>,
    series: usize,
    interval: Option<Duration>,
    next: Instant,
}

/// What a metrics context shares with other threads.
pub(crate) struct Board {
    pub(crate) identity: Arc<Identity>,
    since: u64,
    state: Mutex<State>,
    outlet: Mutex<Outlet>,
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Shows every metric, by name, and the labels that all of them carry.
    pub(crate) fn show(&self, mut to: impl FnMut(&str, &Series, &[(String, String)])) {
        let state = self.lock();
        for (name, series) in &state.metrics {
            to(name, series, &state.constant);
        }
    }

    /// Writes out what changed since the last time.
    fn flush(&self, mail: Mail<'_>) -> Result<()> {
        let (written, notice) = {
            // Held over both steps, so that two flushes do not overtake each other.
            let mut outlet = self.outlet.lock().unwrap_or_else(|e| e.into_inner());
            let fresh = self.lock().take_fresh();
            let written = if fresh.is_empty() {
                Ok(())
            } else {
                outlet.write(&otlp::metrics(&self.identity, self.since, &fresh), mail)
            };
            (written, outlet.notice())
        };
        if let Some(notice) = notice {
            notice.say();
        }
        written
    }
}

impl State {
    /// The points that were not written out yet, with all their labels, by name of the metric.
    fn take_fresh(&mut self) -> Vec<(String, Vec<Point>)> {
        self.next = Instant::now() + self.interval.unwrap_or_default();
        let constant = &self.constant;
        let fresh = |series: &mut Series| -> Vec<Point> {
            let points = series.values_mut().filter_map(|p| {
                let fresh = std::mem::take(&mut p.fresh);
                fresh.then(|| Point { labels: [&constant[..], &p.labels].concat(), ..p.clone() })
            });
            points.collect()
        };
        let all = self.metrics.iter_mut().map(|(name, series)| (name.clone(), fresh(series)));
        all.filter(|(_, points)| !points.is_empty()).collect()
    }
}

impl Chore for Board {
    fn tick(&self, now: Instant, mail: Mail<'_>) -> Option<Instant> {
        let due = {
            let state = self.lock();
            state.interval?;
            state.next <= now
        };
        if due {
            // Said in the log already, once.
            let _ = self.flush(mail);
        }
        Some(self.lock().next)
    }
}

/// The metrics context of a source. Dropping it writes out what is new.
pub struct Metrics {
    board: Arc<Board>,
    courier: Arc<Courier>,
}

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Metrics({})", self.board.identity.id)
    }
}

impl Metrics {
    pub(crate) fn new(identity: Arc<Identity>, outlet: Outlet, courier: Arc<Courier>) -> Metrics {
        let state = State {
            constant: Vec::new(),
            sets: Vec::new(),
            metrics: BTreeMap::new(),
            series: 0,
            interval: Some(INTERVAL),
            next: Instant::now() + INTERVAL,
        };
        let since = crate::now_micros();
        let board = Arc::new(Board { identity, since, state: Mutex::new(state), outlet: Mutex::new(outlet) });
        courier.look_after(&board);
        Metrics { board, courier }
    }

    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// Sets how often changed values are written out; none: only by [`Metrics::flush`]. One second at first.
    pub fn set_flush_interval(&mut self, interval: Option<Duration>) {
        let mut state = self.board.lock();
        state.interval = interval;
        state.next = Instant::now() + interval.unwrap_or_default();
        drop(state);
        self.courier.remind();
    }

    /// Puts a label on every metric of the source.
    ///
    /// # Errors
    /// InvalidValue: no name. AlreadyExist: there is a label of that name.
    pub fn add_constant_label(&mut self, name: &str, value: &str) -> Result<()> {
        if name.is_empty() {
            return Err(refuse(
                Code::InvalidValue,
                "a label has no name",
                format_args!("constant label without a name"),
            ));
        }
        let mut state = self.board.lock();
        if state.constant.iter().any(|(known, _)| known == name) {
            drop(state);
            let line = format_args!("constant label '{name}': there is one already");
            return Err(refuse(Code::AlreadyExist, "the label is there", line));
        }
        state.constant.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Registers names of labels.
    ///
    /// # Errors
    /// InvalidValue: a name is empty or comes twice.
    pub fn add_label_names(&mut self, names: &[&str]) -> Result<LabelSetId> {
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() || names[..i].contains(name) {
                let line =
                    format_args!("label {i} '{name}': needs a name that no other label of the set has");
                return Err(refuse(Code::InvalidValue, "not a set of label names", line));
            }
        }
        let mut state = self.board.lock();
        state.sets.push(names.iter().map(|name| (*name).to_owned()).collect());
        Ok(LabelSetId(state.sets.len()))
    }

    /// How many values go with a set of label names; none for a set that does not exist.
    #[must_use]
    pub fn label_count(&self, set: LabelSetId) -> Option<usize> {
        match set.0.checked_sub(1) {
            None => Some(0),
            Some(index) => self.board.lock().sets.get(index).map(Vec::len),
        }
    }

    /// Sets a counter to its present value. `micros` is the time of the value, 0 for now.
    ///
    /// # Errors
    /// InvalidValue: no name, an unknown set, another number of values than names, or the metric is a gauge. NoMemory:
    /// 100,000 combinations of names and labels.
    pub fn counter(
        &mut self,
        micros: u64,
        name: &str,
        value: u64,
        set: LabelSetId,
        labels: &[&str],
    ) -> Result<()> {
        self.put(micros, name, Number::Counter(value), set, labels, |point, new| point.value = new)
    }

    /// Adds to a counter, which begins at 0 and stays at its largest number.
    ///
    /// # Errors
    /// As [`Metrics::counter`].
    pub fn count(
        &mut self,
        micros: u64,
        name: &str,
        by: u64,
        set: LabelSetId,
        labels: &[&str],
    ) -> Result<()> {
        self.put(micros, name, Number::Counter(by), set, labels, |point, _| {
            if let Number::Counter(value) = &mut point.value {
                *value = value.saturating_add(by);
            }
        })
    }

    /// Sets a gauge.
    ///
    /// # Errors
    /// As [`Metrics::counter`], for a metric that is a counter.
    pub fn gauge(
        &mut self,
        micros: u64,
        name: &str,
        value: f64,
        set: LabelSetId,
        labels: &[&str],
    ) -> Result<()> {
        self.put(micros, name, Number::Gauge(value), set, labels, |point, new| point.value = new)
    }

    fn put(
        &mut self,
        micros: u64,
        name: &str,
        value: Number,
        set: LabelSetId,
        labels: &[&str],
        change: impl FnOnce(&mut Point, Number),
    ) -> Result<()> {
        let micros = if micros == 0 { crate::now_micros() } else { micros };
        self.board.lock().put(micros, name, value, set, labels, change).map_err(|(code, line)| {
            refuse(code, "the value was not taken", format_args!("metric '{name}': {line}"))
        })
    }

    /// Writes out what changed since the last time.
    ///
    /// # Errors
    /// IoFailed: the file cannot be written; what could not be is lost.
    pub fn flush(&mut self) -> Result<()> {
        self.board.flush(self.courier.mail())
    }
}

impl State {
    fn put(
        &mut self,
        micros: u64,
        name: &str,
        value: Number,
        set: LabelSetId,
        labels: &[&str],
        change: impl FnOnce(&mut Point, Number),
    ) -> std::result::Result<(), (Code, String)> {
        let names = match set.0.checked_sub(1) {
            None => &[][..],
            Some(index) => self
                .sets
                .get(index)
                .ok_or_else(|| (Code::InvalidValue, format!("there is no set of label names {}", set.0)))?,
        };
        if name.is_empty() || names.len() != labels.len() {
            let line = format!("needs a name and {} label values, has {}", names.len(), labels.len());
            return Err((Code::InvalidValue, line));
        }
        let series = match self.metrics.get_mut(name) {
            Some(series) => series,
            None => self.metrics.entry(name.to_owned()).or_default(),
        };
        if let Some(other) = series.values().next().filter(|p| p.value.kind() != value.kind()) {
            return Err((
                Code::InvalidValue,
                format!("it is a {}, not a {}", other.value.kind(), value.kind()),
            ));
        }
        let key = (set.0, labels.iter().map(|label| (*label).to_owned()).collect());
        match series.get_mut(&key) {
            Some(point) => {
                change(point, value);
                (point.micros, point.fresh) = (micros, true);
            }
            None if self.series >= MAX_SERIES => {
                return Err((
                    Code::NoMemory,
                    format!("{MAX_SERIES} combinations of names and labels are kept"),
                ));
            }
            None => {
                let labels = names.iter().cloned().zip(key.1.iter().cloned()).collect();
                series.insert(key, Point { labels, value, micros, fresh: true });
                self.series += 1;
            }
        }
        Ok(())
    }
}

impl Drop for Metrics {
    fn drop(&mut self) {
        // Said in the log already, once.
        let _ = self.board.flush(self.courier.mail());
    }
}
