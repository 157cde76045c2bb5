//! One thread of a replay.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

use super::arguments::Arguments;
use super::compare::{self, Unequal};
use super::ffi;
use super::stage::{Early, Stage, State};
use crate::contract::{CALLBACKS, FUNCTIONS, Function, Shape};
use crate::file::{Entry, Kind, hash};

/// `DOCA_ERROR_AGAIN`.
const AGAIN: u64 = 5;
/// How long a value is asked for that is not yet the one recorded.
const GETTER: Duration = Duration::from_millis(500);

thread_local! {
    static CURRENT: RefCell<Option<Rc<Runner>>> = const { RefCell::new(None) };
}

/// The steps of a thread that are left.
struct Runner {
    stage: &'static Stage,
    steps: RefCell<VecDeque<usize>>,
    /// Functions of the program that ran in their turn, in the call of the library that goes on.
    ran: Cell<usize>,
}

/// Does all that a thread did.
pub(super) fn run(stage: &'static Stage, thread: u32) {
    let own = (0..stage.steps.len()).filter(|&i| stage.steps[i].thread == thread);
    let runner = Rc::new(Runner { stage, steps: RefCell::new(own.collect()), ran: Cell::new(0) });
    CURRENT.set(Some(Rc::clone(&runner)));
    while runner.step().is_some() {}
}

/// The library calls a function of the program on this thread.
pub(super) fn called(kind: u16, function: u64, words: &[u64]) -> u64 {
    let runner = CURRENT.with_borrow(Clone::clone);
    runner.and_then(|runner| runner.called(Early { kind, function, words: words.to_vec() })).unwrap_or(0)
}

impl Runner {
    /// The next step of this thread.
    fn next(&self) -> Option<(usize, &'static Entry<'static>)> {
        let step = *self.steps.borrow().front()?;
        Some((step, &self.stage.steps[step]))
    }

    /// The next step in its turn, if it is of this kind.
    fn take(
        &self,
        kind: Kind,
    ) -> Option<(usize, &'static Entry<'static>, std::sync::MutexGuard<'static, State>)> {
        let (step, entry) = self.next().filter(|(_, entry)| entry.kind == kind)?;
        let state = self.stage.turn(step)?;
        self.steps.borrow_mut().pop_front();
        Some((step, entry, state))
    }

    /// Does the next thing; `None` at the end.
    fn step(&self) -> Option<()> {
        match self.next()?.1.kind {
            Kind::Call => self.call(),
            Kind::Memory => self.memory(),
            Kind::Called => self.late(),
            // The end of what was entered is taken by who entered it; what is left is of a record without a begin.
            _ => None,
        }
    }

    /// A call, with all that happens within.
    fn call(&self) -> Option<()> {
        let (step, entry, mut state) = self.take(Kind::Call)?;
        let index = usize::from(entry.index);
        let function = &FUNCTIONS[index];
        let lack = match function.answered {
            Some(reason) => Some(reason),
            None => state
                .world
                .is_absent(entry, function.parameters)
                .then_some("they need an object that such a call gave"),
        };
        if let Some(reason) = lack {
            *state.report.answered.entry(reason).or_default() += 1;
            self.stage.done(state);
            return self.answered(function);
        }
        let arguments = Arguments::of(entry, function, &state.world);
        state.report.made += 1;
        self.stage.done(state);
        let outer = self.ran.replace(0);
        let live = if function.name == "doca_pe_progress" {
            self.progress(step, index, &arguments)
        } else {
            while self.next().is_some_and(|(_, e)| e.kind == Kind::Memory && e.index == 0) {
                self.memory()?;
            }
            let live = ffi::call(index, self.stage.found[index], &arguments.words);
            self.within(step)?;
            Some(live)
        };
        self.ran.set(outer);
        self.returned(function, &arguments, live?)
    }

    /// What was recorded within a call and has not happened when it is over.
    fn within(&self, step: usize) -> Option<()> {
        loop {
            match self.next().map(|(_, entry)| entry.kind) {
                Some(Kind::Memory) => self.memory()?,
                Some(Kind::Called) if self.late().is_some() => {}
                Some(Kind::Called) => {
                    let (at, _) = self.next()?;
                    self.stage.differs(
                        at.max(step),
                        Unequal::new("the program's function", "called", "not called"),
                    );
                    return None;
                }
                _ => return Some(()),
            }
        }
    }

    /// Progress until what was recorded within has happened, or until it has found something.
    fn progress(&self, step: usize, index: usize, arguments: &Arguments) -> Option<u64> {
        let begun = Instant::now();
        let mut found = 0;
        loop {
            while self.next().is_some_and(|(_, e)| e.kind == Kind::Called) && self.late().is_some() {}
            while self.next().is_some_and(|(_, e)| e.kind == Kind::Memory) {
                self.memory()?;
            }
            let (at, next) = self.next()?;
            match next.kind {
                Kind::Return if found != 0 || self.ran.get() > 0 => return Some(next.first),
                // What it found was no call of the program: it may have been found before.
                Kind::Return if begun.elapsed() > GETTER => return Some(next.first),
                _ if begun.elapsed() > self.stage.patience => {
                    let here = format!("not called in {} s of progress", self.stage.patience.as_secs());
                    self.stage.differs(at.max(step), Unequal::new("the program's function", "called", here));
                    return None;
                }
                _ => {}
            }
            if self.stage.lock().over {
                return None;
            }
            found = ffi::call(index, self.stage.found[index], &arguments.words);
            if found == 0 && self.ran.get() == 0 {
                thread::yield_now();
            }
        }
    }

    /// The end of a call: everything is compared.
    fn returned(&self, function: &'static Function, arguments: &Arguments, live: u64) -> Option<()> {
        let (step, entry, mut state) = self.take(Kind::Return)?;
        let index = usize::from(entry.index);
        let (begun, mut live) = (Instant::now(), live);
        loop {
            let same = compare::result(entry, function, live, &state.world)
                .and_then(|()| compare::values(entry, function, arguments, &state.world));
            let Err(unequal) = same else { break };
            if !is_asked_again(function, live) || begun.elapsed() > GETTER {
                self.stage.differs_in(&mut state, step, unequal);
                return None;
            }
            // Without the lock: the library may be waiting for another thread's call.
            drop(state);
            thread::sleep(Duration::from_millis(1));
            live = ffi::call(index, self.stage.found[index], &arguments.words);
            state = self.stage.turn(step)?;
        }
        compare::take(entry, function, arguments, live, &mut state.world);
        self.stage.done(state);
        Some(())
    }

    /// A call that is not made.
    fn answered(&self, function: &'static Function) -> Option<()> {
        while self.next().is_some_and(|(_, e)| e.kind != Kind::Return) {
            match self.next()?.1.kind {
                Kind::Called => {
                    self.body()?;
                }
                _ => self.memory()?,
            }
        }
        let (_, entry, mut state) = self.take(Kind::Return)?;
        compare::lack(entry, function, &mut state.world);
        self.stage.done(state);
        Some(())
    }

    /// The library calls: now is its turn, or it will be.
    fn called(&self, call: Early) -> Option<u64> {
        let due = self.next().filter(|(_, entry)| entry.kind == Kind::Called);
        let due = due.filter(|(_, entry)| is_same(entry, &call, &self.stage.lock()));
        if due.is_none() {
            let mut state = self.stage.lock();
            state.report.early += 1;
            state.early.push(call);
            return None;
        }
        self.ran.set(self.ran.get() + 1);
        self.enter(&call)
    }

    /// A function of the program whose call came before its turn; `None` if it has not come yet.
    fn late(&self) -> Option<()> {
        let (_, entry) = self.next()?;
        let call = {
            let mut state = self.stage.lock();
            let at = state.early.iter().position(|call| is_same(entry, call, &state))?;
            state.early.remove(at)
        };
        self.ran.set(self.ran.get() + 1);
        self.enter(&call).map(|_| ())
    }

    /// Compares what the program's function is given, and does what it did.
    fn enter(&self, call: &Early) -> Option<u64> {
        let (step, entry) = self.next()?;
        let mut state = self.stage.turn(step)?;
        if let Err(unequal) = given(entry, call, &mut state) {
            self.stage.differs_in(&mut state, step, unequal);
            return None;
        }
        state.report.callbacks += 1;
        drop(state);
        let outer = self.ran.replace(0);
        let result = self.body();
        self.ran.set(outer);
        result
    }

    /// What a function of the program did.
    fn body(&self) -> Option<u64> {
        let (_, _, state) = self.take(Kind::Called)?;
        self.stage.done(state);
        while self.next()?.1.kind != Kind::Returned {
            self.step()?;
        }
        let (_, entry, state) = self.take(Kind::Returned)?;
        self.stage.done(state);
        Some(entry.first)
    }

    /// Memory of a task: written before, compared after.
    fn memory(&self) -> Option<()> {
        let (step, entry, mut state) = self.take(Kind::Memory)?;
        let address = state.world.address(entry.first);
        let (len, recorded) = (entry.words[0], entry.words[1]);
        if entry.index == 0 {
            // What comes of bytes that are not there cannot be what came of them.
            let written = entry.part(0, 0).is_some_and(|content| ffi::write(address, content));
            state.unknown |= !written;
        } else if state.unknown {
            state.report.uncompared += 1;
        } else if let Some(here) = usize::try_from(len).ok().and_then(|len| ffi::read(address, len)) {
            state.report.memory += 1;
            if hash(&here) != recorded {
                let hex = |hash: u64| format!("{len} bytes at {:#x}, hash {hash:016x}", entry.first);
                let unequal = Unequal::new("memory:", hex(recorded), hex(hash(&here)));
                self.stage.differs_in(&mut state, step, unequal);
                return None;
            }
        }
        self.stage.done(state);
        Some(())
    }
}

/// Whether a call may become what it was by waiting.
fn is_asked_again(function: &Function, live: u64) -> bool {
    live == AGAIN || function.name.contains("_get_") || function.name.contains("_is_")
}

/// Whether a call of the library is the one recorded: of the same function, about the same objects.
fn is_same(entry: &Entry<'_>, call: &Early, state: &State) -> bool {
    let parameters = CALLBACKS[usize::from(entry.index)].parameters;
    let same = |(i, of): (usize, &str)| {
        let passing = of == "buf" || of.contains("event");
        passing || state.world.handle(entry.words[i]).is_none_or(|handle| handle == call.words[i])
    };
    entry.index == call.kind
        && entry.first == call.function
        && parameters
            .iter()
            .enumerate()
            .filter(|(_, p)| p.shape == Shape::Handle)
            .map(|(i, p)| (i, p.of))
            .all(same)
}

/// Compares what a function of the program is given, and takes over the handles.
fn given(entry: &Entry<'_>, call: &Early, state: &mut State) -> Result<(), Unequal> {
    for (i, parameter) in CALLBACKS[usize::from(entry.index)].parameters.iter().enumerate() {
        let (recorded, live) = (entry.words[i], call.words[i]);
        match parameter.shape {
            Shape::Handle => state.world.bind(recorded, live),
            Shape::Int | Shape::Enum(_) | Shape::Data if recorded != live => {
                return Err(Unequal::new(parameter.name, recorded, live));
            }
            Shape::GivenBytes => {
                let Some(bytes) = entry.part(i, 0) else { continue };
                if ffi::read(live, bytes.len()).as_deref() != Some(bytes) {
                    return Err(Unequal::new(parameter.name, "a message", "another"));
                }
            }
            Shape::Handles => {
                let list = entry.part(i, 0).unwrap_or_default();
                let here = ffi::read(live, list.len()).unwrap_or_default();
                state.world.bind(recorded, live);
                for (recorded, live) in list.chunks_exact(8).zip(here.chunks_exact(8)) {
                    state.world.bind(crate::file::little(recorded), crate::file::little(live));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
