//! What the checker knows of the program: its objects, what they hang on, and what it does with them.

pub(crate) use crate::object::{Kind, LOCAL_WRITE, Object};
use crate::overlap::Filter;
use crate::place::Place;
use crate::pump::{Pump, Seen};
use crate::report::{Report, Words};
use crate::rules::{self, Rule};
use crate::table::{NONE, Store};
use crate::task::{Phase, Task, TaskPool, Use};
use std::collections::{BTreeMap, HashMap};

/// Everything.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pub(crate) objects: Store<Object>,
    pub(crate) tasks: Store<Task>,
    pub(crate) filter: Filter,
    pub(crate) pools: HashMap<(usize, &'static str), TaskPool>,
    pub(crate) pumps: Store<(&'static Pump, Seen)>,
    pub(crate) report: Report,
    pub(crate) failures: HashMap<Place, u32>,
    /// Refusals that pass: calls of progress at the last one, and how many since the last progress.
    pub(crate) refusals: HashMap<Place, (u64, u32)>,
    /// Objects that are something else than their context, by context.
    pub(crate) contexts: HashMap<usize, usize>,
    /// The program's functions for events, by context and kind of event.
    pub(crate) listeners: HashMap<(usize, u32), usize>,
    /// Packets that came together, by the array they came in.
    pub(crate) arrays: HashMap<usize, Vec<usize>>,
    /// The device that listed the representor of a record.
    pub(crate) listed: HashMap<usize, usize>,
    /// Servers and clients of the channel.
    pub(crate) ends: HashMap<usize, End>,
    /// Flow entries that nobody processed yet, by pipe and queue: how many, and where the first was added.
    pub(crate) entries: BTreeMap<(usize, u16), (u32, Place)>,
    made: HashMap<String, u64>,
    versions: u32,
    pub(crate) submitted: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    tasks_made: u64,
}

/// One end of the channel: its name, and the host function that it serves or runs on.
#[derive(Debug)]
pub(crate) struct End {
    pub(crate) server: bool,
    pub(crate) name: String,
    pub(crate) function: String,
}

impl Shadow {
    /// A new object at an address.
    pub(crate) fn create(&mut self, kind: Kind, what: &str, at: usize, parents: [usize; 2], made: Place) {
        let count = self.made.entry(what.to_owned()).or_default();
        *count += 1;
        if kind == Kind::Device
            && let Some(open) = self.objects.get_mut(at).filter(|object| object.died.is_none())
        {
            open.opens += 1;
            return;
        }
        let parents = parents.into_iter().filter(|p| *p != 0).collect();
        let (number, what) = (*count, what.to_owned());
        self.versions += 1;
        let object = Object {
            kind,
            what,
            number,
            born: self.versions,
            made,
            died: None,
            started: false,
            lifted: false,
            ranged: false,
            stopping: None,
            most: u64::MAX,
            parents,
            rights: LOCAL_WRITE,
            users: Vec::new(),
            version: self.versions,
            at,
            made_last: made,
            head: 0,
            len: 0,
            data: 0,
            listed: false,
            local: false,
            opens: 1,
        };
        self.objects.put(at, object);
        if kind == Kind::Engine {
            match self.pumps.get_mut(at) {
                Some((pump, seen)) => {
                    pump.reset();
                    *seen = Seen::default();
                }
                // Stays for good, as the handle's address does.
                None => self.pumps.put(at, (Box::leak(Box::new(Pump::new(at))), Seen::default())),
            }
        }
    }

    /// What a new buffer is. Of memory that lies elsewhere, as that of a dmabuf, addresses are numbers and no more.
    pub(crate) fn window(&mut self, at: usize, head: usize, len: usize, data: usize) {
        let map = self.map_of(at).map(|map| (map.rights, map.what == "memory map" && map.len > 0));
        self.change(at, |buffer| {
            (buffer.head, buffer.len, buffer.data) = (head, len, data);
            if let Some((rights, own)) = map.filter(|(_, own)| *own) {
                (buffer.rights, buffer.local) = (rights, own);
            }
        });
    }

    /// The map that a buffer was taken from.
    pub(crate) fn map_of(&self, buffer: usize) -> Option<&Object> {
        let parents = &self.objects.get(buffer)?.parents;
        parents.iter().find_map(|at| match self.alive(*at)? {
            map if map.kind == Kind::Map => Some(map),
            // A pool has one parent, its map.
            pool if pool.kind == Kind::Pool => self.alive(*pool.parents.first()?),
            _ => None,
        })
    }

    /// The live object at an address.
    pub(crate) fn alive(&self, at: usize) -> Option<&Object> {
        self.objects.get(at).filter(|object| object.died.is_none())
    }

    /// Adds a finding about an object.
    pub(crate) fn blame(
        &mut self,
        rule: &'static Rule,
        at: Place,
        object: usize,
        numbers: std::fmt::Arguments<'_>,
    ) {
        if let Some(object) = self.objects.get(object)
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
        if let Some(task) = self.tasks.get(task)
            && !self.report.again(rule, at, task.made)
        {
            self.report.add(rule, at, task.made, &Words { object: task.words(), numbers });
        }
    }

    /// Before an object is destroyed: does anything hang on it?
    pub(crate) fn before_destroy(&mut self, at: usize, place: Place, me: i32) {
        let Some(object) = self.alive(at).filter(|object| object.opens == 1) else { return };
        let kind = object.kind;
        let uses = |task: &&Task| task.phase == Phase::Flying && (task.src.at == at || task.dst.at == at);
        let users = object.users.iter().filter_map(|task| self.tasks.at(*task));
        let flying = users.filter(uses).count();
        if flying > 0 {
            self.blame(&rules::BUFFER_IN_FLIGHT, place, at, format_args!("{flying} tasks in flight"));
        }
        if self.pumps.get(at).is_some_and(|(pump, _)| pump.is_in_callback_of(me)) {
            self.blame(&rules::DESTROY_IN_CALLBACK, place, at, format_args!("called at {place}"));
            return;
        }
        let Some(rule) = kind.in_use() else { return };
        let children = self.objects.all().iter().filter(|o| o.died.is_none() && o.parents.contains(&at));
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
        if let Some(object) = self.objects.get_mut(at) {
            object.opens -= u32::from(object.opens > 0);
            if object.opens > 0 {
                return;
            }
            object.died = Some(place);
            self.versions += 1;
            object.version = self.versions;
            if object.kind == Kind::Context {
                let mine = |t: &u32| self.tasks.at(*t).is_some_and(|t| t.ctx == at);
                let count = self.tasks.all().len() as u32;
                let left: Vec<u32> = (0..count).filter(mine).collect();
                left.into_iter().for_each(|task| self.mark(task, Phase::Gone, place));
                self.pools.retain(|(ctx, _), _| *ctx != at);
                self.ends.remove(&at);
            }
        }
    }

    /// A task from a pool.
    pub(crate) fn allocate(&mut self, at: usize, task: Task) {
        self.tasks_made += 1;
        let number = self.tasks_made;
        let pool = self.pools.get(&(task.ctx, task.what));
        let (good, bad) = pool.map_or((0, 0), |pool| (pool.good, pool.bad));
        self.tasks.put(at, Task { number, good, bad, ..task });
    }

    /// The task at an address.
    pub(crate) fn task(&self, at: usize) -> Option<(u32, &Task)> {
        let number = self.tasks.find(at)?;
        Some((number, self.tasks.at(number).filter(|task| task.phase != Phase::Gone)?))
    }

    /// A buffer as tasks have it.
    pub(crate) fn used(&self, at: usize) -> Use {
        let number = if at == 0 { None } else { self.objects.find(at) };
        Use { at, number: number.unwrap_or(NONE) }
    }

    /// Tasks of a pool that came back and were not freed.
    pub(crate) fn kept(&self, ctx: usize, what: &str) -> usize {
        let mine = self.tasks.all().iter().filter(|task| task.ctx == ctx && task.what == what);
        mine.filter(|task| task.phase == Phase::Held && task.ran).count()
    }

    /// A task comes or goes: its buffers are used by one more or one less.
    pub(crate) fn mark(&mut self, task: u32, phase: Phase, at: Place) {
        let Some(task) = self.tasks.at_mut(task) else { return };
        let before = task.phase;
        (task.phase, task.at) = (phase, at);
        if before == Phase::Flying && phase != Phase::Flying {
            self.filter.land(task);
        }
    }

    /// A buffer is not what it was.
    pub(crate) fn change(&mut self, at: usize, f: impl FnOnce(&mut Object)) {
        self.versions += 1;
        if let Some(object) = self.objects.get_mut(at) {
            object.version = self.versions;
            f(object);
        }
    }

    /// A task was submitted with its buffers.
    pub(crate) fn note_user(&mut self, buffer: Use, task: u32) {
        let Some(object) = self.objects.at_mut(buffer.number) else { return };
        if object.users.contains(&task) {
            return;
        }
        // Those that have gone on to other buffers are forgotten.
        if object.users.len() == object.users.capacity() {
            let (tasks, at) = (&self.tasks, buffer.at);
            object.users.retain(|user| tasks.at(*user).is_some_and(|t| t.src.at == at || t.dst.at == at));
        }
        object.users.push(task);
    }

    /// The engine that a context is connected to.
    pub(crate) fn engine_of(&self, ctx: usize) -> Option<usize> {
        let parents = &self.objects.get(ctx)?.parents;
        parents.iter().copied().find(|p| self.alive(*p).is_some_and(|o| o.kind == Kind::Engine))
    }

    /// What is left at the end: one finding per kind of object.
    pub(crate) fn leaks(&mut self) {
        let mut kinds: Vec<(Kind, String, Vec<&Object>)> = Vec::new();
        for object in self.objects.all().iter().filter(|object| object.died.is_none()) {
            if object.kind == Kind::Link {
                continue;
            }
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
