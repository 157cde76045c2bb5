//! Turns of an engine behind a gate: who may begin, what is carried out, who may be reported. The lane is locked.

use super::line::{Entry, Lines, Queues, Step};
use super::{Gate, is_over};
use crate::context::Core;
use crate::engine::{MOST_TOGETHER, Shape};
use crate::instrument::{Begin, End, Task};
use crate::slot::Slot;
use crate::watch::report::is_forgotten;
use crate::wish;
use softdpu_status::Code;

/// Small tasks that one turn carries out at most: as without a gate.
const AT_ONCE: usize = 64;

impl Gate {
    fn may_begin(&self, slot: &Slot, waited: u64, over: bool) -> Begin {
        let task = self.task(slot);
        let mut asked = self.deciders.iter().map(|d| d.may_begin(&task, waited));
        match asked.find(|begin| *begin != Begin::Now) {
            // Without a connection that could end, only the task fails.
            Some(Begin::Alone) if !over && !self.inner.sever(self.core(), slot) => {
                Begin::Never(Err(Code::IoFailed))
            }
            Some(Begin::Alone) | None => Begin::Now,
            Some(other) => other,
        }
    }

    fn may_end(&self, task: &Task<'_>, waited: u64, mut result: Result<u64, Code>) -> End {
        for decider in &self.deciders {
            match decider.may_end(task, waited, result) {
                End::Now(changed) => result = changed,
                other => return other,
            }
        }
        End::Now(result)
    }

    fn begin(&self, slot: &Slot) {
        self.watch.begun(&self.task(slot).id);
    }

    fn worked(&self, slot: &Slot) {
        self.watch.worked(&self.task(slot).id);
    }

    /// Decides whether a finished task may be reported, and reports it. False: it waits, or is lost.
    fn end(&self, core: &'static Core, entry: &mut Entry, now: u64, over: bool) -> bool {
        let (slot, task) = (entry.slot, self.task(entry.slot));
        let own = entry.instead.unwrap_or_else(|| slot.result());
        let result = match entry.step {
            // What nobody heard of again comes back with the stop.
            Step::Lost if over => Err(Code::IoFailed),
            Step::Lost => return false,
            _ => match self.may_end(&task, now - entry.since, own) {
                End::Now(result) => result,
                End::Lost if !over => {
                    entry.step = Step::Lost;
                    return false;
                }
                End::Later if !over => return false,
                End::Later => own,
                End::Lost => Err(Code::IoFailed),
            },
        };
        slot.finish(result);
        self.watch.ended(&task.id, result, slot.is_called());
        if is_forgotten(slot) {
            self.watch.forgotten(&task.id);
        }
        if result.is_err() && core.is_fatal() && !core.is_local() && core.is_running() {
            // In C the state changes when the failure is delivered; here right after it.
            core.wish(wish::STOP);
        }
        match core.outbox().filter(|_| entry.posted) {
            Some(outbox) => outbox.lane.publish(slot),
            None => core.lane().publish(slot),
        }
        true
    }

    /// An engine with peers: what may begin is handed to it, what it is through with is reported.
    pub(super) fn turn_peers(&self, core: &'static Core) -> bool {
        let (lane, over) = (core.lane(), is_over(core));
        self.cut(core);
        let mut lines = self.lines();
        let now = lines.next_turn();
        self.admit_peers(core, &mut lines, now, over);
        let Lines { line, over: through, left, ready, .. } = &mut *lines;
        let given = ready.len() as u32;
        ready.iter().rev().for_each(|slot| lane.put_back(slot));
        let first = lane.taken();
        let mut moved = self.inner.turn(core);
        let taken = lane.taken().wrapping_sub(first);
        // Another thread submitted meanwhile, and the engine has it already.
        (given..taken).for_each(|n| self.begin(lane.numbered(first.wrapping_add(n))));
        *left = given.saturating_sub(taken);
        for slot in self.back().drain(..) {
            let instead = line.iter().position(|e| e.step == Step::Begun && core::ptr::eq(e.slot, slot));
            let mut entry = instead
                .and_then(|at| line.remove(at))
                .unwrap_or_else(|| Entry::waiting(slot, now, self.inner.class(slot)));
            entry.go(Step::Over, now);
            through.push_back(entry);
        }
        let mut queues = Queues::default();
        through.retain_mut(|entry| {
            if queues.is_held(entry.class) && !over {
                return true;
            }
            let ended = self.end(core, entry, now, over);
            if ended {
                moved = true;
            } else if entry.step != Step::Lost {
                queues.hold(entry.class);
            }
            !ended
        });
        if lines.wait_for_turns() {
            core.rely_on_alarm(false);
        }
        moved
    }

    /// Takes what was submitted, and decides which of it the engine may have: that becomes `ready`.
    fn admit_peers(&self, core: &'static Core, lines: &mut Lines, now: u64, over: bool) {
        let Lines { line, over: through, left, ready, .. } = lines;
        ready.clear();
        while let Some(slot) = core.lane().next() {
            if *left > 0 {
                *left -= 1;
                ready.push(slot);
            } else {
                line.push_back(Entry::waiting(slot, now, self.inner.class(slot)));
            }
        }
        let mut queues = Queues::default();
        line.retain_mut(|entry| {
            if entry.step != Step::Waiting {
                return true;
            }
            let held = queues.is_held(entry.class) && !over;
            match if held { Begin::Later } else { self.may_begin(entry.slot, now - entry.since, over) } {
                Begin::Later if !over => {
                    queues.hold(entry.class);
                    return true;
                }
                Begin::Never(result) if !over => {
                    self.begin(entry.slot);
                    entry.instead = Some(result);
                    if !self.inner.is_booked() {
                        entry.go(Step::Over, now);
                        through.push_back(*entry);
                        return false;
                    }
                    entry.go(Step::Begun, now);
                    ready.push(entry.slot);
                    return true;
                }
                _ => self.begin(entry.slot),
            }
            ready.push(entry.slot);
            false
        });
    }

    /// An engine that computes: small tasks are carried out here, large ones opened for workers.
    pub(super) fn turn_computed(&self, core: &'static Core) -> bool {
        let over = is_over(core);
        let mut lines = self.lines();
        let now = lines.next_turn();
        let line = &mut lines.line;
        // Without a promise tasks may pass each other, if an instrument wants that.
        let class = |slot| if self.reorders { self.inner.class(slot) } else { Some(0) };
        while let Some(slot) = core.lane().next() {
            line.push_back(Entry::waiting(slot, now, class(slot)));
        }
        while let Some((outbox, slot)) = core.outbox().and_then(|b| Some((b, b.lane.next()?))) {
            debug_assert!(!core::ptr::eq(&outbox.lane, core.lane()));
            self.number_it(slot);
            line.push_back(Entry { posted: true, ..Entry::waiting(slot, now, class(slot)) });
        }
        let mut moved = self.carry_out(core, line.make_contiguous(), now, over);
        if line.iter().any(|e| e.step == Step::Begun) {
            // Progress never does more than one part.
            moved |= core.lanes().any(|lane| core.do_own_part(lane));
        }
        let mut queues = Queues::default();
        line.retain_mut(|entry| {
            if entry.step == Step::Begun && entry.slot.is_ready() {
                entry.go(Step::Over, now);
            }
            let held = queues.is_held(entry.class) && !over;
            let ready = matches!(entry.step, Step::Over | Step::Lost);
            let ended = !held && ready && {
                core.lanes().for_each(crate::lane::Lane::sweep_large);
                self.end(core, entry, now, over)
            };
            moved |= ended;
            if !ended && entry.step != Step::Lost {
                queues.hold(entry.class);
            }
            !ended
        });
        moved
    }

    /// Begins what may begin: small tasks are through then, large ones open for claims.
    fn carry_out(&self, core: &'static Core, line: &mut [Entry], now: u64, over: bool) -> bool {
        let mut budget = if core.is_local() && !over { 1 } else { AT_ONCE };
        let mut queues = Queues::default();
        let mut group: Vec<&'static Slot> = Vec::new();
        let mut moved = false;
        for entry in line.iter_mut().filter(|e| e.step == Step::Waiting) {
            if budget == 0 && !over {
                break;
            }
            let held = queues.is_held(entry.class) && !over;
            let asked = if held { Begin::Later } else { self.may_begin(entry.slot, now - entry.since, over) };
            if asked == Begin::Later && !over {
                queues.hold(entry.class);
                continue;
            }
            moved = true;
            self.begin(entry.slot);
            entry.go(Step::Begun, now);
            if let Begin::Never(result) = asked
                && !over
            {
                entry.instead = Some(result);
                entry.slot.finish(result);
                continue;
            }
            let lane = if entry.posted { core.outbox().map(|b| &b.lane) } else { None };
            let alone = self.inner.together() == 1
                || !core.is_running()
                || core.is_disowned(entry.slot)
                || self.inner.shape(entry.slot) != Shape::Small;
            if alone {
                let finished = core.carry_out(entry.slot, lane.unwrap_or(core.lane()));
                if finished {
                    self.worked(entry.slot);
                }
                budget = budget.saturating_sub(usize::from(finished));
                continue;
            }
            group.push(entry.slot);
            if group.len() == self.inner.together().min(MOST_TOGETHER) {
                self.inner.run_many(&group);
                group.iter().rev().for_each(|slot| self.worked(slot));
                group.clear();
                budget = budget.saturating_sub(1);
            }
        }
        match group.as_slice() {
            [] => (),
            [one] => match self.inner.quick(one) {
                Some(output) => one.finish(Ok(output)),
                None => self.inner.run(one),
            },
            many => self.inner.run_many(many),
        }
        group.iter().rev().for_each(|slot| self.worked(slot));
        moved
    }
}
