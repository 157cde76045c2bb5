//! What C programs hold: graphs, their nodes, and instances.
//!
//! One thread at a time, as the contract says; the locks make misuse a wrong answer instead of worse. None is held while
//! the program is called.
#![expect(unsafe_code, reason = "objects behind handles")]

use super::kick::Kick;
use super::plan::Plan;
use super::run;
use softdpu_memory::handle::{Head, Object, Slab, kind};
use softdpu_room::context::Core;
use softdpu_room::pe::Pe;
use softdpu_room::slot::Slot;
use std::collections::VecDeque;
use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `doca_graph_completion_cb_t`: instance, its user data, the graph's.
pub(super) type Completion = unsafe extern "C" fn(*const Instance, u64, u64);
/// `doca_graph_user_node_cb_t`.
pub(super) type Function = unsafe extern "C" fn(*mut c_void) -> c_int;

/// What C calls `struct doca_graph`.
#[derive(Debug)]
#[repr(C)]
pub struct Graph {
    head: Head,
    /// The progress engine it is bound to.
    pub(super) pe: *const Pe,
    inner: Mutex<Inner>,
}

/// What changes of a graph.
#[derive(Debug, Default)]
pub(super) struct Inner {
    pub(super) user: u64,
    pub(super) conf: Option<Conf>,
    pub(super) plan: Plan,
    pub(super) nodes: Vec<&'static Node>,
    /// While it is started.
    pub(super) kick: Option<Kick>,
    /// Its task is being handed over, further up on the stack.
    pub(super) visited: bool,
    /// Instances there are.
    pub(super) instances: u32,
    /// Nodes of other graphs that stand for this one.
    pub(super) parents: u32,
    /// Nodes whose time has come.
    pub(super) ready: VecDeque<(&'static Instance, u32)>,
    /// They are being worked off further up on the stack.
    pub(super) pumping: bool,
}

/// What `doca_graph_set_conf` says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Conf {
    pub(super) completed: Completion,
    pub(super) failed: Completion,
    pub(super) instances: u32,
}

/// What a node runs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does {
    /// A task of this context.
    Task(&'static Core),
    /// A function of the program.
    Call(Function),
    /// An instance of this graph.
    Graph(&'static Graph),
}

/// What C calls `struct doca_graph_node`.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    head: Head,
    pub(super) graph: *const Graph,
    pub(super) number: u32,
    pub(super) does: Does,
}

/// What C calls `struct doca_graph_instance`.
#[derive(Debug)]
#[repr(C)]
pub struct Instance {
    head: Head,
    pub(super) graph: &'static Graph,
    state: Mutex<Run>,
}

/// Data of a node in an instance.
#[derive(Clone, Copy, Debug)]
pub(super) enum Data {
    Missing,
    Task(&'static Slot),
    Cookie(*mut c_void),
    Graph(&'static Instance),
}

/// What changes of an instance.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) user: u64,
    pub(super) data: Vec<Data>,
    /// How many arrows to each node were not followed yet.
    pub(super) waiting: Vec<u32>,
    /// Nodes in flight, or whose time has come.
    pub(super) open: u32,
    pub(super) submitted: bool,
    pub(super) failed: bool,
    /// The node it runs for, when it is part of another instance.
    pub(super) parent: Option<(&'static Instance, u32)>,
    /// Nodes of other instances of which it is the data.
    pub(super) bound: u32,
}

// SAFETY: repr(C), head first.
unsafe impl Object for Graph {
    const KIND: u32 = kind::GRAPH;
    const NAME: &'static str = "graph";
}
// SAFETY: repr(C), head first.
unsafe impl Object for Node {
    const KIND: u32 = kind::GRAPH_NODE;
    const NAME: &'static str = "graph node";
}
// SAFETY: repr(C), head first.
unsafe impl Object for Instance {
    const KIND: u32 = kind::GRAPH_INSTANCE;
    const NAME: &'static str = "graph instance";
}
// SAFETY: what changes is behind a lock; the pointers are of type-stable objects, and cookies are only handed back.
unsafe impl Sync for Graph {}
// SAFETY: as above.
unsafe impl Send for Graph {}
// SAFETY: as above; a node never changes.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Instance {}
// SAFETY: as above.
unsafe impl Send for Instance {}

pub(super) static GRAPHS: Slab<Graph> = Slab::new();
pub(super) static NODES: Slab<Node> = Slab::new();
pub(super) static INSTANCES: Slab<Instance> = Slab::new();

impl Graph {
    pub(super) fn new(pe: *const Pe) -> Graph {
        Graph { head: Head::unborn(), pe, inner: Mutex::default() }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is the handle alive?
    pub(super) fn is_live(&self) -> bool {
        self.head.is(kind::GRAPH)
    }

    /// For as long as the process lives: its place is never given back.
    pub(super) fn as_static(&self) -> &'static Graph {
        // SAFETY: graphs are made in slab memory alone.
        unsafe { &*core::ptr::from_ref(self) }
    }

    /// Has progress come by.
    pub(super) fn kick(&'static self) {
        let inner = self.inner();
        if let Some(kick) = inner.kick.filter(|_| !inner.pumping) {
            drop(inner);
            kick.give(run::kicked, self);
        }
    }
}

impl Node {
    pub(super) fn new(graph: &Graph, number: u32, does: Does) -> Node {
        Node { head: Head::unborn(), graph, number, does }
    }
}

impl Instance {
    pub(super) fn new(graph: &'static Graph, nodes: usize) -> Instance {
        let run = Run {
            user: 0,
            data: vec![Data::Missing; nodes],
            waiting: vec![0; nodes],
            open: 0,
            submitted: false,
            failed: false,
            parent: None,
            bound: 0,
        };
        Instance { head: Head::unborn(), graph, state: Mutex::new(run) }
    }

    pub(super) fn run(&self) -> MutexGuard<'_, Run> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`Graph::as_static`].
    pub(super) fn as_static(&self) -> &'static Instance {
        // SAFETY: instances are made in slab memory alone.
        unsafe { &*core::ptr::from_ref(self) }
    }
}

/// The context that a state callback speaks of.
pub(super) fn context(core: *const Core) -> Option<&'static Core> {
    // SAFETY: the room hands out contexts, which live in type-stable memory.
    unsafe { core.as_ref() }.map(Core::as_static)
}
