//! The entry points around instances: create, data of nodes, submit.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_graph.h"
)]

use super::configure::{graph, null, refuse};
use super::object::{Data, Does, Graph, INSTANCES, Instance, Node, Run};
use softdpu_memory::handle::checked;
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::ffi::{c_int, c_void};
use std::sync::MutexGuard;

unsafe fn instance(handle: *const Instance, call: &str) -> Result<&'static Instance> {
    // SAFETY: a handle of this library, or NULL.
    unsafe { checked(handle, call) }.map(Instance::as_static)
}

/// What changes of an instance that does not run.
fn at_rest<'a>(instance: &'a Instance, code: Code, call: &str) -> Result<MutexGuard<'a, Run>> {
    let run = instance.run();
    if run.submitted {
        return refuse(code, call, format_args!("graph instance {instance:p} is submitted"));
    }
    Ok(run)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_create(
    handle: *const Graph,
    graph_instance: *mut *const Instance,
) -> c_int {
    const CALL: &str = "doca_graph_instance_create";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let graph = unsafe { graph(handle, CALL)? };
        if graph_instance.is_null() {
            return null(CALL, "graph_instance");
        }
        let mut inner = graph.inner();
        if inner.kick.is_none() {
            return refuse(Code::BadState, CALL, format_args!("graph {handle:p} is not started"));
        }
        let limit = inner.conf.map_or(0, |conf| conf.instances);
        if inner.instances >= limit {
            let count = inner.instances;
            return refuse(
                Code::NoMemory,
                CALL,
                format_args!("graph {handle:p} has {count} instances, configured are {limit}"),
            );
        }
        let nodes = inner.nodes.len();
        let no_memory = |_| Error::new(Code::NoMemory, "no memory for an instance");
        // Running never needs more room than there are nodes.
        inner.ready.try_reserve(nodes * (limit as usize).min(1024)).map_err(no_memory)?;
        let made = INSTANCES.make(Instance::new(graph, nodes))?;
        inner.instances += 1;
        // SAFETY: a non-NULL out parameter.
        unsafe { graph_instance.write(made.as_ptr()) };
        Ok(())
    })
}

/// Data of a node goes: an instance may be destroyed again.
fn unbind(data: Data) {
    if let Data::Graph(sub) = data {
        sub.run().bound -= 1;
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_destroy(handle: *const Instance) -> c_int {
    const CALL: &str = "doca_graph_instance_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let instance = unsafe { instance(handle, CALL)? };
        let mut run = at_rest(instance, Code::InUse, CALL)?;
        if run.bound != 0 {
            let bound = run.bound;
            return refuse(
                Code::InUse,
                CALL,
                format_args!("graph instance {handle:p} is the data of {bound} nodes"),
            );
        }
        let data = core::mem::take(&mut run.data);
        drop(run);
        data.into_iter().for_each(unbind);
        instance.graph.inner().instances -= 1;
        // SAFETY: made by this slab; it does not run, so nobody refers to it any more.
        unsafe { INSTANCES.retire_at(instance) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_set_user_data(handle: *const Instance, user_data: u64) -> c_int {
    const CALL: &str = "doca_graph_instance_set_user_data";
    guard(|| {
        // SAFETY: a handle, or NULL.
        at_rest(unsafe { instance(handle, CALL)? }, Code::InUse, CALL)?.user = user_data;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_get_user_data(
    handle: *const Instance,
    user_data: *mut u64,
) -> c_int {
    const CALL: &str = "doca_graph_instance_get_user_data";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let user = unsafe { instance(handle, CALL)? }.run().user;
        if user_data.is_null() {
            return null(CALL, "user_data");
        }
        // SAFETY: a non-NULL out parameter.
        unsafe { user_data.write(user) };
        Ok(())
    })
}

/// Sets the data of a node, if `fits` says that it is data for what the node does.
fn bind(
    instance: &Instance,
    node: &Node,
    data: Data,
    fits: impl FnOnce(&Does) -> core::result::Result<(), &'static str>,
    call: &str,
) -> Result<()> {
    let mut run = at_rest(instance, Code::BadState, call)?;
    if !core::ptr::eq(node.graph, instance.graph) {
        return refuse(
            Code::NotPermitted,
            call,
            format_args!("node {node:p} is of another graph than instance {instance:p}"),
        );
    }
    if let Err(why) = fits(&node.does) {
        return refuse(Code::NotPermitted, call, format_args!("node {}: {why}", node.number));
    }
    let Some(place) = run.data.get_mut(node.number as usize) else {
        return refuse(
            Code::NotPermitted,
            call,
            format_args!("node {} was added after the instance", node.number),
        );
    };
    let before = core::mem::replace(place, data);
    drop(run);
    if let Data::Graph(sub) = data {
        sub.run().bound += 1;
    }
    unbind(before);
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_set_ctx_node_data(
    handle: *const Instance,
    node: *const Node,
    task: *const Slot,
) -> c_int {
    const CALL: &str = "doca_graph_instance_set_ctx_node_data";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (instance, node, slot) =
            unsafe { (instance(handle, CALL)?, checked(node, CALL)?, checked(task, CALL)?.as_static()) };
        let fits = |does: &Does| match does {
            Does::Task(core) if core::ptr::eq(slot.context(), *core) => Ok(()),
            Does::Task(_) => Err("the task is of another context"),
            _ => Err("it runs no task"),
        };
        bind(instance, node, Data::Task(slot), fits, CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_set_user_node_data(
    handle: *const Instance,
    node: *const Node,
    cookie: *mut c_void,
) -> c_int {
    const CALL: &str = "doca_graph_instance_set_user_node_data";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (instance, node) = unsafe { (instance(handle, CALL)?, checked(node, CALL)?) };
        let fits = |does: &Does| match does {
            Does::Call(_) => Ok(()),
            _ => Err("it calls no function"),
        };
        bind(instance, node, Data::Cookie(cookie), fits, CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_set_sub_graph_node_data(
    handle: *const Instance,
    node: *const Node,
    sub_graph_instance: *const Instance,
) -> c_int {
    const CALL: &str = "doca_graph_instance_set_sub_graph_node_data";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (whole, node, sub) =
            unsafe { (instance(handle, CALL)?, checked(node, CALL)?, instance(sub_graph_instance, CALL)?) };
        let fits = |does: &Does| match does {
            Does::Graph(graph) if core::ptr::eq(sub.graph, *graph) => Ok(()),
            Does::Graph(_) => Err("the instance is of another graph"),
            _ => Err("it runs no graph"),
        };
        drop(at_rest(sub, Code::BadState, CALL)?);
        bind(whole, node, Data::Graph(sub), fits, CALL)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_graph_instance_submit(handle: *const Instance) -> c_int {
    const CALL: &str = "doca_graph_instance_submit";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let instance = unsafe { instance(handle, CALL)? };
        drop(at_rest(instance, Code::InUse, CALL)?);
        instance.check()?;
        instance.start(None)
    })
}
