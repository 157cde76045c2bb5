//! An instance from submit to its one callback.
//!
//! Tasks come back through [`landed`], inside progress; what else is to do waits in the graph's list of ready nodes and is
//! worked off there, or when the graph's own task comes by ([`kicked`]). Whatever calls the program for good (the final
//! callback) touches nothing afterwards and says so with `true`: the program may have destroyed everything.
#![expect(unsafe_code, reason = "calls functions that C handed in")]

use super::LOG;
use super::object::{Data, Does, Graph, Instance};
use core::ptr::with_exposed_provenance;
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};

/// Nodes that one call of progress begins at most.
const AT_ONCE: u32 = 64;

/// What came of beginning a node.
enum Begun {
    /// It flies.
    Flies,
    /// It is through, well or not.
    Through(bool),
    /// Its context takes no more at the moment.
    Later,
}

/// Codes by which a context says that there is no room now.
fn is_full(number: i32) -> bool {
    number == Code::Again.number() || number == Code::Full.number()
}

impl Instance {
    /// Has every node what it needs, here and further down? Looked at before anything starts.
    pub(super) fn check(&'static self) -> Result<()> {
        let refuse = |code, node: usize, why: &str| {
            log::error!(target: LOG, "graph instance {self:p}: node {node} {why}");
            Err(Error::new(code, "the instance is not ready to run"))
        };
        let inner = self.graph.inner();
        let run = self.run();
        for (node, data) in run.data.iter().enumerate() {
            match *data {
                Data::Missing => return refuse(Code::InvalidValue, node, "has no data"),
                Data::Task(slot) if slot.is_in_flight() => {
                    return refuse(Code::InUse, node, "has a task that is in flight");
                }
                Data::Task(slot)
                    if !slot.is_held() || !belongs(slot, inner.nodes.get(node).map(|n| n.does)) =>
                {
                    return refuse(Code::InvalidValue, node, "has a task that was freed");
                }
                Data::Graph(sub) => {
                    if sub.run().submitted {
                        return refuse(Code::InUse, node, "has an instance that runs");
                    }
                    sub.check()?;
                }
                Data::Task(_) | Data::Cookie(_) => (),
            }
        }
        Ok(())
    }

    /// Begins with the roots. Checked before.
    ///
    /// # Errors
    /// What a context answered to the first task; nothing runs then.
    pub(super) fn start(&'static self, parent: Option<(&'static Instance, u32)>) -> Result<()> {
        let graph = self.graph;
        let roots: Vec<u32> = {
            let inner = graph.inner();
            let mut run = self.run();
            run.waiting.copy_from_slice(inner.plan.before());
            run.failed = false;
            run.submitted = true;
            run.parent = parent;
            let roots: Vec<u32> = inner.plan.roots().collect();
            run.open = roots.len() as u32;
            roots
        };
        let mut flying = false;
        for (at, &node) in roots.iter().enumerate() {
            let Data::Task(slot) = self.data(node) else {
                graph.wait(self, node);
                continue;
            };
            match slot.context().submit_hooked(slot, landed, self.cookie(node)) {
                0 => flying = true,
                number if is_full(number) => graph.wait(self, node),
                number if !flying => {
                    graph.forget(self);
                    let mut run = self.run();
                    (run.submitted, run.open) = (false, 0);
                    let code = Code::from_number(number).unwrap_or(Code::Unexpected);
                    return Err(Error::new(code, "a root was refused"));
                }
                number => {
                    log::error!(target: LOG, "graph instance {self:p}: node {node} was refused with status {number}");
                    // The rest is not begun; whatever flies comes back.
                    graph.forget(self);
                    let mut run = self.run();
                    run.failed = true;
                    run.open = roots[..at]
                        .iter()
                        .filter(|&&n| matches!(run.data[n as usize], Data::Task(s) if s.is_in_flight()))
                        .count() as u32;
                    break;
                }
            }
        }
        Ok(())
    }

    fn data(&self, node: u32) -> Data {
        self.run().data.get(node as usize).copied().unwrap_or(Data::Missing)
    }

    /// What a hooked task brings back: the instance's place, and the node in the bits above an address.
    fn cookie(&'static self, node: u32) -> u64 {
        core::ptr::from_ref(self).expose_provenance() as u64 | u64::from(node) << NODE
    }

    /// A node is through. True when the program was told that the instance is.
    fn finished(&'static self, node: u32, well: bool) -> bool {
        let graph = self.graph;
        let fresh: Vec<u32> = {
            let inner = graph.inner();
            let mut run = self.run();
            run.open -= 1;
            run.failed |= !well;
            let mut fresh = Vec::new();
            if !run.failed {
                for &next in inner.plan.after(node) {
                    run.waiting[next as usize] -= 1;
                    if run.waiting[next as usize] == 0 {
                        fresh.push(next);
                    }
                }
            }
            run.open += fresh.len() as u32;
            fresh
        };
        for next in fresh {
            graph.wait(self, next);
        }
        self.run().open == 0 && self.end()
    }

    /// Nothing of it runs any more.
    fn end(&'static self) -> bool {
        let graph = self.graph;
        let (well, user, parent) = {
            let mut run = self.run();
            run.submitted = false;
            (!run.failed, run.user, run.parent.take())
        };
        let (conf, graph_user, more) = {
            let mut inner = graph.inner();
            inner.pumping = false;
            (inner.conf, inner.user, !inner.ready.is_empty())
        };
        // Before the program is called, which may end the graph.
        if more {
            graph.kick();
        }
        if let Some((parent, node)) = parent {
            return parent.finished(node, well);
        }
        let Some(conf) = conf else { return false };
        let call = if well { conf.completed } else { conf.failed };
        // SAFETY: the program promised a callback of this shape; nothing of ours is borrowed or locked.
        unsafe { call(self, user, graph_user) };
        true
    }

    fn begin(&'static self, node: u32) -> Begun {
        if self.run().failed {
            return Begun::Through(false);
        }
        match self.data(node) {
            Data::Missing => Begun::Through(false),
            Data::Task(slot) => match slot.context().submit_hooked(slot, landed, self.cookie(node)) {
                0 => Begun::Flies,
                number if is_full(number) => Begun::Later,
                number => {
                    log::error!(target: LOG, "graph instance {self:p}: node {node} was refused with status {number}");
                    Begun::Through(false)
                }
            },
            Data::Cookie(cookie) => {
                let does = self.graph.inner().nodes.get(node as usize).map(|n| n.does);
                let Some(Does::Call(function)) = does else { return Begun::Through(false) };
                // SAFETY: as for the final callback.
                let status = unsafe { function(cookie) };
                if status != 0 {
                    log::warn!(target: LOG, "graph instance {self:p}: the function of node {node} answered {status}");
                }
                Begun::Through(status == 0)
            }
            Data::Graph(sub) => match self.begin_sub(node, sub) {
                Ok(()) => Begun::Flies,
                Err(error) => {
                    log::error!(target: LOG, "graph instance {self:p}: node {node}: {error}");
                    Begun::Through(false)
                }
            },
        }
    }

    fn begin_sub(&'static self, node: u32, sub: &'static Instance) -> Result<()> {
        if sub.run().submitted {
            return Err(Error::new(Code::InUse, "its instance runs already"));
        }
        sub.check()?;
        sub.start(Some((self, node)))
    }
}

/// Is it a live task of the node's context?
fn belongs(slot: &Slot, does: Option<Does>) -> bool {
    matches!(does, Some(Does::Task(core)) if core::ptr::eq(slot.context_of_stale(), core))
}

impl Graph {
    /// A node whose time has come.
    fn wait(&'static self, instance: &'static Instance, node: u32) {
        self.inner().ready.push_back((instance, node));
        self.kick();
    }

    /// Nodes of this instance are not begun.
    fn forget(&self, instance: &Instance) {
        self.inner().ready.retain(|(waiting, _)| !core::ptr::eq(*waiting, instance));
    }

    /// Begins what is ready, within limits. True when the program was told of an end.
    fn pump(&'static self) -> bool {
        if core::mem::replace(&mut self.inner().pumping, true) {
            return false;
        }
        let mut stalled = 0;
        for _ in 0..AT_ONCE {
            let (next, left) = {
                let mut inner = self.inner();
                (inner.ready.pop_front(), inner.ready.len())
            };
            let Some((instance, node)) = next else { break };
            match instance.begin(node) {
                Begun::Flies => stalled = 0,
                Begun::Through(well) => {
                    stalled = 0;
                    if instance.finished(node, well) {
                        return true;
                    }
                }
                Begun::Later => {
                    self.inner().ready.push_back((instance, node));
                    stalled += 1;
                    if stalled > left {
                        break;
                    }
                }
            }
        }
        let more = {
            let mut inner = self.inner();
            inner.pumping = false;
            !inner.ready.is_empty()
        };
        if more {
            self.kick();
        }
        false
    }
}

/// First bit of the node's number in a hook's data: addresses of programs end below.
const NODE: u32 = 48;
/// The most nodes of a graph.
pub(super) const MOST_NODES: usize = 1 << 16;

/// A task of a graph is back.
fn landed(slot: &'static Slot, data: u64) -> bool {
    let (address, node) = ((data & ((1 << NODE) - 1)) as usize, (data >> NODE) as u32);
    // SAFETY: the place of an instance that runs, which cannot be destroyed.
    let instance = unsafe { &*with_exposed_provenance::<Instance>(address) }.as_static();
    let well = slot.status() == 0;
    if !well {
        log::warn!(target: LOG, "graph instance {instance:p}: the task of node {node} failed with status {}", slot.status());
    }
    let graph = instance.graph;
    // What becomes ready is begun here, so nothing has to come by for it.
    graph.inner().pumping = true;
    if instance.finished(node, well) {
        return true;
    }
    graph.inner().pumping = false;
    graph.pump()
}

/// The graph's own task came by.
pub(super) fn kicked(slot: &'static Slot, graph: u64) -> bool {
    // SAFETY: graphs live in type-stable memory.
    let graph = unsafe { &*with_exposed_provenance::<Graph>(graph as usize) }.as_static();
    if slot.status() != 0 || !graph.is_live() {
        return false;
    }
    // Hand-overs nest where a callback makes progress.
    let before = core::mem::replace(&mut graph.inner().visited, true);
    let told = graph.pump();
    // The program may have ended the graph, or have stopped and started it.
    if graph.is_live() {
        let mut inner = graph.inner();
        if inner.kick.is_some_and(|kick| kick.is_of(slot)) {
            inner.visited = before;
        }
    }
    told
}
