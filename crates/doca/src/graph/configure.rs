//! The entry points around a graph: create, nodes, dependencies, start, stop.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_graph.h"
)]

use super::LOG;
use super::kick::Kick;
use super::object::{Completion, Conf, Does, Function, GRAPHS, Graph, Inner, NODES, Node};
use super::run::MOST_NODES;
use softdpu_memory::handle::{checked, live};
use softdpu_room::context::{Core, State};
use softdpu_room::entry::{self, guard, guard_unforked};
use softdpu_room::pe::Pe;
use softdpu_status::{Code, Error, Result};
use std::ffi::c_int;
use std::sync::MutexGuard;

pub(super) unsafe fn graph(graph: *const Graph, call: &str) -> Result<&'static Graph> {
    // SAFETY: a handle of this library, or NULL.
    unsafe { checked(graph, call) }.map(Graph::as_static)
}

pub(super) fn refuse<T>(code: Code, call: &str, line: core::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: LOG, "{call}: {line}");
    Err(Error::new(code, "refused by the graph"))
}

pub(super) fn null<T>(call: &str, what: &str) -> Result<T> {
    entry::null(LOG, call, what)
}

/// The inside of a graph that is not started.
fn open<'a>(graph: &'a Graph, call: &str) -> Result<MutexGuard<'a, Inner>> {
    let inner = graph.inner();
    if inner.kick.is_some() {
        return refuse(Code::BadState, call, format_args!("graph {graph:p} is started"));
    }
    Ok(inner)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_create(pe: *const Pe, new: *mut *const Graph) -> c_int {
    const CALL: &str = "doca_graph_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let pe: &Pe = unsafe { checked(pe, CALL)? };
        if new.is_null() {
            return null(CALL, "graph");
        }
        let made = GRAPHS.make(Graph::new(pe))?;
        // SAFETY: a non-NULL out parameter.
        unsafe { new.write(made.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_destroy(handle: *const Graph) -> c_int {
    const CALL: &str = "doca_graph_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let graph = unsafe { graph(handle, CALL)? };
        let mut inner = open(graph, CALL)?;
        if inner.parents != 0 {
            let parents = inner.parents;
            return refuse(
                Code::InUse,
                CALL,
                format_args!("graph {handle:p} stands for {parents} nodes of others"),
            );
        }
        let nodes = core::mem::take(&mut inner.nodes);
        drop(inner);
        for node in nodes {
            if let Does::Graph(sub) = node.does {
                sub.inner().parents -= 1;
            }
            // SAFETY: made by this slab, and the graph's own.
            unsafe { NODES.retire_at(node) };
        }
        // SAFETY: made by this slab; nobody refers to it any more.
        unsafe { GRAPHS.retire_at(graph) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_set_conf(
    handle: *const Graph,
    graph_completion_cb: Option<Completion>,
    graph_error_cb: Option<Completion>,
    num_instances: u32,
) -> c_int {
    const CALL: &str = "doca_graph_set_conf";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let graph = unsafe { graph(handle, CALL)? };
        let (Some(completed), Some(failed)) = (graph_completion_cb, graph_error_cb) else {
            return null(CALL, "a callback");
        };
        open(graph, CALL)?.conf = Some(Conf { completed, failed, instances: num_instances });
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_set_user_data(handle: *const Graph, user_data: u64) -> c_int {
    const CALL: &str = "doca_graph_set_user_data";
    guard(|| {
        // SAFETY: a handle, or NULL.
        open(unsafe { graph(handle, CALL)? }, CALL)?.user = user_data;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_get_user_data(handle: *const Graph, user_data: *mut u64) -> c_int {
    const CALL: &str = "doca_graph_get_user_data";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let user = unsafe { graph(handle, CALL)? }.inner().user;
        if user_data.is_null() {
            return null(CALL, "user_data");
        }
        // SAFETY: a non-NULL out parameter.
        unsafe { user_data.write(user) };
        Ok(())
    })
}

/// Adds a node to a graph that is not started.
unsafe fn add_node(graph: &'static Graph, does: Does, node: *mut *const Node, call: &str) -> Result<()> {
    if node.is_null() {
        return null(call, "node");
    }
    let mut inner = open(graph, call)?;
    let no_memory = Error::new(Code::NoMemory, "no memory for a node");
    if inner.nodes.len() >= MOST_NODES {
        return refuse(
            Code::NoMemory,
            call,
            format_args!("graph {graph:p} has {MOST_NODES} nodes, the most there are"),
        );
    }
    inner.nodes.try_reserve(1).map_err(|_| no_memory)?;
    let number = inner.plan.add();
    let made = NODES.make(Node::new(graph, number, does))?;
    // SAFETY: nodes live in type-stable memory; a non-NULL out parameter.
    unsafe {
        inner.nodes.push(&*made.as_ptr());
        node.write(made.as_ptr());
    }
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_node_create_from_ctx(
    handle: *const Graph,
    ctx: *const Core,
    node: *mut *const Node,
) -> c_int {
    const CALL: &str = "doca_graph_node_create_from_ctx";
    // SAFETY: handles and an out parameter, or NULL.
    guard(|| unsafe {
        let graph = graph(handle, CALL)?;
        let core = checked(ctx, CALL)?.as_static();
        add_node(graph, Does::Task(core), node, CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_node_create_from_user(
    handle: *const Graph,
    cb: Option<Function>,
    node: *mut *const Node,
) -> c_int {
    const CALL: &str = "doca_graph_node_create_from_user";
    // SAFETY: a handle and an out parameter, or NULL.
    guard(|| unsafe {
        let graph = graph(handle, CALL)?;
        match cb {
            Some(function) => add_node(graph, Does::Call(function), node, CALL),
            None => null(CALL, "cb"),
        }
    })
}

/// The graphs that nodes of `graph` stand for.
fn below(graph: &Graph) -> Vec<&'static Graph> {
    let inner = graph.inner();
    let sub = |does| match does {
        Does::Graph(sub) => Some(sub),
        Does::Task(_) | Does::Call(_) => None,
    };
    inner.nodes.iter().filter_map(|node| sub(node.does)).collect()
}

/// Is `wanted` the graph itself, or does any node below stand for it?
fn contains(graph: &Graph, wanted: &Graph) -> bool {
    core::ptr::eq(graph, wanted) || below(graph).into_iter().any(|sub| contains(sub, wanted))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_node_create_from_graph(
    handle: *const Graph,
    sub_graph: *const Graph,
    node: *mut *const Node,
) -> c_int {
    const CALL: &str = "doca_graph_node_create_from_graph";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (over, sub) = unsafe { (graph(handle, CALL)?, graph(sub_graph, CALL)?) };
        if contains(sub, over) {
            return refuse(
                Code::NotPermitted,
                CALL,
                format_args!("graph {handle:p} is part of graph {sub_graph:p}"),
            );
        }
        if sub.inner().kick.is_none() {
            return refuse(Code::BadState, CALL, format_args!("graph {sub_graph:p} is not started"));
        }
        if !core::ptr::eq(over.pe, sub.pe) {
            return refuse(
                Code::InvalidValue,
                CALL,
                format_args!("graph {sub_graph:p} is bound to another progress engine"),
            );
        }
        // SAFETY: an out parameter, or NULL.
        unsafe { add_node(over, Does::Graph(sub), node, CALL)? };
        sub.inner().parents += 1;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_add_dependency(
    handle: *const Graph,
    from: *const Node,
    to: *const Node,
) -> c_int {
    const CALL: &str = "doca_graph_add_dependency";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (graph, from, to) = unsafe { (graph(handle, CALL)?, checked(from, CALL)?, checked(to, CALL)?) };
        let mut inner = open(graph, CALL)?;
        if let Some(foreign) = [from, to].into_iter().find(|node| !core::ptr::eq(node.graph, graph)) {
            return refuse(
                Code::InvalidValue,
                CALL,
                format_args!("node {foreign:p} is of another graph than {handle:p}"),
            );
        }
        if !inner.plan.link(from.number, to.number) {
            return refuse(
                Code::NotPermitted,
                CALL,
                format_args!("node {} after node {} would close a circle", to.number, from.number),
            );
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_start(handle: *const Graph) -> c_int {
    const CALL: &str = "doca_graph_start";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let graph = unsafe { graph(handle, CALL)? };
        let mut inner = graph.inner();
        if inner.kick.is_some() {
            return Ok(());
        }
        let bad = |line: core::fmt::Arguments<'_>| refuse(Code::BadState, CALL, line);
        // SAFETY: the handle that the graph was made with; it may have been destroyed.
        let Some(pe) = (unsafe { live(graph.pe) }) else {
            return bad(format_args!("the progress engine of graph {handle:p} was destroyed"));
        };
        if inner.conf.is_none() {
            return bad(format_args!("graph {handle:p} is not configured: doca_graph_set_conf is missing"));
        }
        let mut device = None;
        for node in &inner.nodes {
            let number = node.number;
            match node.does {
                Does::Task(core) if !core.is_live() || core.state() != State::Running => {
                    return bad(format_args!("the context of node {number} does not run"));
                }
                Does::Task(core) if !core.engine().is_some_and(|its| core::ptr::eq(its, pe)) => {
                    return bad(format_args!(
                        "the context of node {number} is connected to another progress engine"
                    ));
                }
                Does::Task(core) => device = Some(core.device().clone()),
                Does::Graph(sub) if sub.inner().kick.is_none() => {
                    return bad(format_args!("the graph of node {number} is not started"));
                }
                Does::Graph(_) | Does::Call(_) => (),
            }
        }
        let Some(device) = device else {
            return bad(format_args!("graph {handle:p} has no context node"));
        };
        inner.kick = Some(Kick::new(pe.as_static(), device)?);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_stop(handle: *const Graph) -> c_int {
    const CALL: &str = "doca_graph_stop";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let graph = unsafe { graph(handle, CALL)? };
        let mut inner = graph.inner();
        if inner.instances != 0 {
            let count = inner.instances;
            return refuse(Code::InUse, CALL, format_args!("graph {handle:p} has {count} instances"));
        }
        let (kick, visited) = (inner.kick.take(), core::mem::take(&mut inner.visited));
        drop(inner);
        if let Some(kick) = kick {
            kick.retire(visited);
        }
        Ok(())
    })
}
