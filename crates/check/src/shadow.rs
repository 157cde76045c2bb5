//! What the checker knows of the program: its objects, what they hang on, and what it does with them.

use crate::overlap::Filter;
use crate::place::Place;
use crate::report::{Report, Words};
use crate::rules::{self, Rule};
use crate::table::Table;
use std::collections::HashMap;

/// What an object is. The numbers are those of `shim.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Device = 1,
    Engine = 2,
    Context = 3,
    Map = 4,
    Inventory = 5,
    Buffer = 6,
    Task = 7,
    Pool = 8,
}

impl Kind {
    pub(crate) fn from(number: u32) -> Option<Kind> {
        let all = [
            Kind::Device,
            Kind::Engine,
            Kind::Context,
            Kind::Map,
            Kind::Inventory,
            Kind::Buffer,
            Kind::Task,
            Kind::Pool,
        ];
        all.into_iter().find(|kind| *kind as u32 == number)
    }

    /// The rule that its destruction breaks while others hang on it.
    fn in_use(self) -> Option<&'static Rule> {
        Some(match self {
            Kind::Device => &rules::DEVICE_IN_USE,
            Kind::Engine => &rules::ENGINE_IN_USE,
            Kind::Map => &rules::MAP_IN_USE,
            Kind::Inventory => &rules::INVENTORY_IN_USE,
            Kind::Pool => &rules::POOL_IN_USE,
            Kind::Context | Kind::Buffer | Kind::Task => return None,
        })
    }
}

/// One object of the program, alive or, until its address is used again, dead.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) kind: Kind,
    pub(crate) what: String,
    number: u64,
    pub(crate) made: Place,
    pub(crate) died: Option<Place>,
    pub(crate) started: bool,
    pub(crate) parents: Vec<usize>,
    /// Rights of a memory map; devices of this side may read and write at first.
    pub(crate) rights: u32,
    /// Tasks in flight that use the buffer.
    pub(crate) flying: u32,
    /// How often a device was opened: all who open it get the same handle.
    opens: u32,
}

/// Rights of a map: devices of this side may write.
pub(crate) const LOCAL_WRITE: u32 = 1;

impl Object {
    /// How messages call it.
    pub(crate) fn words(&self) -> String {
        format!("{} ({} {}, made at {})", self.what, self.what, self.number, self.made)
    }
}

/// One pool of tasks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskPool {
    pub(crate) size: u32,
    pub(crate) good: usize,
    pub(crate) bad: usize,
}

/// Whose a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    Held,
    Flying,
    Freed,
}

/// Memory that a task uses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Range {
    pub(crate) begin: usize,
    pub(crate) end: usize,
}

impl Range {
    pub(crate) fn meets(self, other: Range) -> bool {
        self.begin < other.end && other.begin < self.end
    }
}

/// A task of a kind that the checker knows.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) ctx: usize,
    pub(crate) what: &'static str,
    pub(crate) number: u64,
    pub(crate) made: Place,
    pub(crate) phase: Phase,
    /// It has been in flight and come back.
    pub(crate) ran: bool,
    /// Where it was freed or submitted last.
    pub(crate) at: Place,
    pub(crate) src: usize,
    pub(crate) dst: usize,
    pub(crate) reads: Range,
    pub(crate) writes: Range,
    /// The program's callbacks.
    pub(crate) good: usize,
    pub(crate) bad: usize,
}

impl Task {
    pub(crate) fn words(&self) -> String {
        format!("{} task (task {}, made at {})", self.what, self.number, self.made)
    }
}

/// What a progress engine is doing.
#[derive(Debug, Default)]
pub(crate) struct Pump {
    /// Thread inside progress, and how deep; 0 for none.
    pub(crate) owner: i32,
    pub(crate) place: Option<Place>,
    pub(crate) calls: u64,
    /// Callbacks begun; odd while one runs.
    pub(crate) callbacks: u64,
    /// What the watchdog saw last, and for how many of its looks.
    pub(crate) seen: (u64, u64),
    pub(crate) same: u32,
}

/// Everything.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pub(crate) objects: Table<Object>,
    pub(crate) tasks: Table<Task>,
    pub(crate) filter: Filter,
    pub(crate) pools: HashMap<(usize, &'static str), TaskPool>,
    pub(crate) pumps: Table<Pump>,
    pub(crate) report: Report,
    pub(crate) failures: HashMap<Place, u32>,
    made: HashMap<String, u64>,
    pub(crate) submitted: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    tasks_made: u64,
}

impl Shadow {
    /// A new object at an address.
    pub(crate) fn create(&mut self, kind: Kind, what: &str, at: usize, parents: [usize; 2], made: Place) {
        let count = self.made.entry(what.to_owned()).or_default();
        *count += 1;
        if kind == Kind::Device
            && let Some(open) = self.objects.get_mut(&at).filter(|object| object.died.is_none())
        {
            open.opens += 1;
            return;
        }
        let parents = parents.into_iter().filter(|p| *p != 0).collect();
        let (number, what) = (*count, what.to_owned());
        let object = Object {
            kind,
            what,
            number,
            made,
            died: None,
            started: false,
            parents,
            rights: LOCAL_WRITE,
            flying: 0,
            opens: 1,
        };
        self.objects.insert(at, object);
        if kind == Kind::Engine {
            self.pumps.insert(at, Pump::default());
        }
    }

    /// The live object at an address.
    pub(crate) fn alive(&self, at: usize) -> Option<&Object> {
        self.objects.get(&at).filter(|object| object.died.is_none())
    }

    /// Adds a finding about an object.
    pub(crate) fn blame(
        &mut self,
        rule: &'static Rule,
        at: Place,
        object: usize,
        numbers: std::fmt::Arguments<'_>,
    ) {
        if let Some(object) = self.objects.get(&object)
            && !self.report.again(rule, at, object.made)
        {
            self.report.add(rule, at, object.made, &Words { object: object.words(), numbers });
        }
    }

    /// Adds a finding about a task.
    pub(crate) fn blame_task(
        &mut self,
        rule: &'static Rule,
        at: Place,
        task: usize,
        numbers: std::fmt::Arguments<'_>,
    ) {
        if let Some(task) = self.tasks.get(&task)
            && !self.report.again(rule, at, task.made)
        {
            self.report.add(rule, at, task.made, &Words { object: task.words(), numbers });
        }
    }

    /// Before an object is destroyed: does anything hang on it?
    pub(crate) fn before_destroy(&mut self, at: usize, place: Place, me: i32) {
        let Some(object) = self.alive(at).filter(|object| object.opens == 1) else { return };
        let kind = object.kind;
        if kind == Kind::Buffer && object.flying > 0 {
            let flying = object.flying;
            self.blame(&rules::BUFFER_IN_FLIGHT, place, at, format_args!("{flying} tasks in flight"));
        }
        if self.pumps.get(&at).is_some_and(|pump| pump.owner == me && pump.callbacks % 2 == 1) {
            self.blame(&rules::DESTROY_IN_CALLBACK, place, at, format_args!("called at {place}"));
            return;
        }
        let Some(rule) = kind.in_use() else { return };
        let children = self.objects.values().filter(|o| o.died.is_none() && o.parents.contains(&at));
        let mut count = 0;
        let mut first: Option<&Object> = None;
        for child in children {
            count += 1;
            if first.is_none_or(|f| child.number < f.number) {
                first = Some(child);
            }
        }
        if let Some(first) = first.map(Object::words) {
            self.blame(rule, place, at, format_args!("{count} alive, among them {first}"));
        }
    }

    /// After an object was destroyed.
    pub(crate) fn bury(&mut self, at: usize, place: Place) {
        if let Some(object) = self.objects.get_mut(&at) {
            object.opens -= u32::from(object.opens > 0);
            if object.opens > 0 {
                return;
            }
            object.died = Some(place);
            let kind = object.kind;
            match kind {
                Kind::Context => {
                    let flying = |t: &Task| t.ctx == at && t.phase == Phase::Flying;
                    let left: Vec<_> =
                        self.tasks.iter().filter(|(_, t)| flying(t)).map(|(at, _)| *at).collect();
                    left.into_iter().for_each(|task| self.mark(task, Phase::Freed, place));
                    self.tasks.retain(|_, task| task.ctx != at);
                    self.pools.retain(|(ctx, _), _| *ctx != at);
                }
                Kind::Engine => {
                    self.pumps.remove(&at);
                }
                _ => {}
            }
        }
    }

    /// A task from a pool.
    pub(crate) fn allocate(&mut self, at: usize, task: Task) {
        self.tasks_made += 1;
        let number = self.tasks_made;
        let pool = self.pools.get(&(task.ctx, task.what));
        let (good, bad) = pool.map_or((0, 0), |pool| (pool.good, pool.bad));
        self.tasks.insert(at, Task { number, good, bad, ..task });
    }

    /// Tasks of a pool that came back and were not freed.
    pub(crate) fn kept(&self, ctx: usize, what: &str) -> usize {
        let mine = self.tasks.values().filter(|task| task.ctx == ctx && task.what == what);
        mine.filter(|task| task.phase == Phase::Held && task.ran).count()
    }

    /// A task comes or goes: its buffers are used by one more or one less.
    pub(crate) fn mark(&mut self, task: usize, phase: Phase, at: Place) {
        let Some(task) = self.tasks.get_mut(&task) else { return };
        let (before, src, dst, reads, writes) = (task.phase, task.src, task.dst, task.reads, task.writes);
        task.phase = phase;
        task.at = at;
        let step: i64 = i64::from(phase == Phase::Flying) - i64::from(before == Phase::Flying);
        if step != 0 {
            if step > 0 {
                self.filter.add(reads, writes);
            } else {
                self.filter.remove(reads, writes);
            }
            for buffer in [src, dst] {
                if let Some(object) = self.objects.get_mut(&buffer) {
                    object.flying = u32::try_from(i64::from(object.flying) + step).unwrap_or(0);
                }
            }
        }
    }

    /// The engine that a context is connected to.
    pub(crate) fn engine_of(&self, ctx: usize) -> Option<usize> {
        let parents = &self.objects.get(&ctx)?.parents;
        parents.iter().copied().find(|p| self.alive(*p).is_some_and(|o| o.kind == Kind::Engine))
    }

    /// What is left at the end: one finding per kind of object.
    pub(crate) fn leaks(&mut self) {
        let mut kinds: Vec<(Kind, String, Vec<&Object>)> = Vec::new();
        for object in self.objects.values().filter(|object| object.died.is_none()) {
            match kinds.iter_mut().find(|(_, what, _)| *what == object.what) {
                Some((.., all)) => all.push(object),
                None => kinds.push((object.kind, object.what.clone(), vec![object])),
            }
        }
        kinds.sort_by_key(|(kind, ..)| *kind);
        for (_, what, mut all) in kinds {
            all.sort_by_key(|object| object.number);
            let Some(first) = all.first() else { continue };
            let mut places: HashMap<Place, u64> = HashMap::new();
            all.iter().for_each(|object| *places.entry(object.made).or_default() += 1);
            let mut places: Vec<_> = places.into_iter().collect();
            places.sort_by_key(|(place, count)| (std::cmp::Reverse(*count), *place));
            let list: Vec<String> =
                places.iter().take(5).map(|(place, count)| format!("{count} made at {place}")).collect();
            let made = self.made.get(&what).copied().unwrap_or(0);
            let numbers = format_args!("{} of {made} left: {}", all.len(), list.join(", ")).to_string();
            let words = Words { object: first.words(), numbers: format_args!("{numbers}") };
            // Each kind by itself, also where two were made at one place.
            self.report.add(&rules::NEVER_FREED, Place(first.number as usize), first.made, &words);
        }
    }

    /// Whether the program made nothing at all.
    pub(crate) fn is_untouched(&self) -> bool {
        self.made.is_empty()
    }

    /// One line of numbers.
    pub(crate) fn statistics(&self) -> String {
        let objects: u64 = self.made.values().sum();
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        format!(
            "{objects} object{}, {} task{} submitted, {} succeeded, {} failed",
            plural(objects),
            self.submitted,
            plural(self.submitted),
            self.succeeded,
            self.failed
        )
    }

    /// The same for programs.
    pub(crate) fn json(&self) -> serde_json::Value {
        let made: serde_json::Map<_, _> =
            self.made.iter().map(|(what, count)| (what.clone(), (*count).into())).collect();
        serde_json::json!({
            "findings": self.report.json(),
            "statistics": {
                "objects": made,
                "tasks": {"submitted": self.submitted, "succeeded": self.succeeded, "failed": self.failed},
            },
        })
    }
}
