//! Rules, compiled.

use super::key::Key;
use super::rule::{Action, Rules};
use super::table::Shape;
use super::toeplitz::{HashFields, Toeplitz};
use crate::headers::Headers;
use crate::sync::{AtomicU64, Ordering};
use std::collections::HashMap;

/// Entries of a rule's spreading table; a power of two, not less than the queues of a rule.
const SPREAD: usize = 128;

/// What happens to a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict {
    /// The rule that matched; none: no rule did.
    pub rule: Option<u32>,
    /// The queue's number; none: dropped.
    pub queue: Option<u16>,
    /// Metadata word.
    pub mark: u32,
    /// Flow tag.
    pub tag: u32,
    /// Hash over the fields that the rule spreads by; 0 when it does not spread.
    pub hash: u32,
}

/// A rule's action, ready for use.
#[derive(Clone, Debug)]
struct Ready {
    /// Where each value of the hash's lower bits goes; one entry where there is nothing to spread; none: dropped.
    queues: Vec<u16>,
    fields: HashFields,
    mark: u32,
    tag: u32,
}

/// What a rule has caught.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RuleCount {
    /// Frames.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Compiled rules, with a counter each. Any number of threads may use it.
#[derive(Debug)]
pub struct Classifier {
    /// By their best rule.
    shapes: Vec<Shape>,
    /// The first rule that matches everything; those behind it never count.
    last: Option<u32>,
    actions: Vec<Ready>,
    counts: Vec<[AtomicU64; 2]>,
    plain: Toeplitz,
    symmetric: Toeplitz,
    needs_headers: bool,
    /// What happens to every frame, where that is always the same.
    only: Option<Verdict>,
}

impl Classifier {
    pub(crate) fn new(rules: Rules) -> Classifier {
        let everything = rules.list.iter().position(|(when, _)| when.mask == Key::default());
        let counted = everything.map_or(rules.list.len(), |at| at + 1);
        let mut shapes: HashMap<Key, Vec<(Key, u32)>> = HashMap::new();
        for (number, (when, _)) in rules.list[..counted].iter().enumerate() {
            if when.mask != Key::default() {
                shapes.entry(when.mask).or_default().push((when.value, number as u32));
            }
        }
        let mut shapes: Vec<Shape> = shapes.iter().map(|(mask, list)| Shape::new(*mask, list)).collect();
        shapes.sort_by_key(|shape| shape.best);
        let actions: Vec<Ready> = rules.list.iter().map(|(_, action)| ready(action)).collect();
        let only = everything.filter(|_| shapes.is_empty()).and_then(|at| {
            let [queue] = actions[at].queues[..] else { return None };
            let Ready { mark, tag, .. } = actions[at];
            Some(Verdict { rule: Some(at as u32), queue: Some(queue), mark, tag, hash: 0 })
        });
        Classifier {
            only,
            needs_headers: !shapes.is_empty() || actions.iter().any(|ready| ready.queues.len() > 1),
            shapes,
            last: everything.map(|at| at as u32),
            counts: actions.iter().map(|_| Default::default()).collect(),
            actions,
            plain: Toeplitz::new(false),
            symmetric: Toeplitz::new(true),
        }
    }

    /// Whether [`Classifier::classify`] looks at the frame at all.
    #[inline]
    pub fn needs_headers(&self) -> bool {
        self.needs_headers
    }

    /// Number of rules.
    pub fn len(&self) -> usize {
        self.actions.len()
    }

    /// No rule: everything is dropped.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Decides about a frame whose headers were found in `head`. Counts nothing: see [`Tally`].
    #[inline(always)]
    pub fn classify(&self, head: &[u8], found: &Headers) -> Verdict {
        if let Some(only) = self.only {
            return only;
        }
        self.classify_any(head, found)
    }

    #[inline(never)]
    fn classify_any(&self, head: &[u8], found: &Headers) -> Verdict {
        let mut rule = self.last;
        if !self.shapes.is_empty() {
            let key = Key::of(head, found);
            for shape in &self.shapes {
                if rule.is_some_and(|rule| rule < shape.best) {
                    break;
                }
                if let Some(number) = shape.find(&key) {
                    rule = Some(rule.map_or(number, |rule| rule.min(number)));
                }
            }
        }
        let Some(number) = rule else { return Verdict { rule: None, queue: None, mark: 0, tag: 0, hash: 0 } };
        let action = &self.actions[number as usize];
        let (hash, queue) = match &action.queues[..] {
            [] => (0, None),
            [one] => (0, Some(*one)),
            many => {
                let hash = self.hash(head, found, action.fields);
                (hash, Some(many[hash as usize % SPREAD]))
            }
        };
        Verdict { rule, queue, mark: action.mark, tag: action.tag, hash }
    }

    /// The hash of a frame over any fields.
    #[inline]
    pub fn hash(&self, head: &[u8], found: &Headers, fields: HashFields) -> u32 {
        let function = if fields.symmetric { &self.symmetric } else { &self.plain };
        function.hash(head, found, fields)
    }

    /// What the rule with this number, by the order of the rules, has caught.
    pub fn count(&self, rule: usize) -> RuleCount {
        let read = |at: usize| self.counts.get(rule).map_or(0, |count| count[at].load(Ordering::Relaxed));
        RuleCount { frames: read(0), bytes: read(1) }
    }
}

fn ready(action: &Action) -> Ready {
    let (queues, fields) = match &action.to {
        None => (Vec::new(), HashFields::default()),
        Some(spread) if spread.queues.len() == 1 => (spread.queues.clone(), spread.fields),
        Some(spread) => (spread.queues.iter().copied().cycle().take(SPREAD).collect(), spread.fields),
    };
    Ready { queues, fields, mark: action.mark, tag: action.tag }
}

/// Counts of one thread, kept back while one rule catches frame after frame.
#[derive(Debug, Default)]
pub struct Tally {
    rule: u32,
    count: RuleCount,
}

impl Tally {
    /// A frame went the way of a verdict.
    #[inline]
    pub fn add(&mut self, classifier: &Classifier, rule: u32, bytes: usize) {
        if rule != self.rule {
            self.settle(classifier);
            self.rule = rule;
        }
        self.count.frames += 1;
        self.count.bytes += bytes as u64;
    }

    /// Hands over what was kept back. To be called before the classifier changes, and at the end of a turn.
    #[inline]
    pub fn settle(&mut self, classifier: &Classifier) {
        if self.count.frames > 0
            && let Some(total) = classifier.counts.get(self.rule as usize)
        {
            total[0].fetch_add(self.count.frames, Ordering::Relaxed);
            total[1].fetch_add(self.count.bytes, Ordering::Relaxed);
        }
        self.count = RuleCount::default();
    }
}
