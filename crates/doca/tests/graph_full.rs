//! Graphs over a context that takes no more at the moment: nodes are delayed, not failed, roots and others alike.
#![allow(unsafe_code, reason = "calls the C face")]

use softdpu_c::graph::configure::*;
use softdpu_c::graph::instance::*;
use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::context::Core;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Turn};
use softdpu_room::pe::Pe;
use softdpu_room::session::{Session, inline};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Takes as many tasks as it has credits; gives no credit back by itself.
#[derive(Debug)]
struct Gate;

static CREDITS: AtomicU32 = AtomicU32::new(0);
static CARRIED_OUT: AtomicU32 = AtomicU32::new(0);
static REPORTS: AtomicU32 = AtomicU32::new(0);

impl Engine for Gate {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "gate", kind: EngineKind::Dma, tasks: &["pass"], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = ();
    type Event = ();
    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }
    fn build(_: &Arc<Shared>, (): ()) -> Result<(Box<dyn Work>, u32)> {
        Err(Error::new(Code::NotSupported, "C face only"))
    }
}

struct Door;

impl Hardware for Door {
    type Engine = Gate;
    type Desk = ();
    const GATED: bool = true;

    fn admit((): &(), (): &mut ()) -> Result<(), Code> {
        match CREDITS.fetch_update(SeqCst, SeqCst, |n| n.checked_sub(1)) {
            Ok(_) => Ok(()),
            Err(_) => Err(Code::Again),
        }
    }

    fn turn(&mut self, port: &mut Port<'_, Gate>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some(ticket) = port.take() {
            turn = Turn::Busy;
            CARRIED_OUT.fetch_add(1, SeqCst);
            port.complete(ticket, Ok(0));
        }
        turn
    }
}

extern "C" fn never(_: *const Slot, _: u64, _: u64) {
    std::process::abort();
}

unsafe extern "C" fn report<T>(_: *const T, user: u64, graph_user: u64) {
    assert_eq!((user, graph_user), (7, 0));
    REPORTS.fetch_add(1, SeqCst);
}

unsafe extern "C" fn failure<T>(_: *const T, _: u64, _: u64) {
    std::process::abort();
}

/// A call of the C face that has to succeed.
fn ok(status: i32) {
    assert_eq!(status, 0);
}

#[test]
fn a_full_context_delays_its_nodes() {
    const ROOTS: usize = 3;
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let pe = Pe::create(inline()).unwrap();
    let core = Core::create(Gate::INFO, device.shared().clone(), inline()).unwrap();
    core.connect(pe).unwrap();
    core.set_callbacks(0, never, never);
    core.start(|| Ok((Peered::new(Door, ()), vec![(0, 8)]))).unwrap();

    let mut graph = null();
    let mut nodes = [null(); ROOTS + 1];
    let mut instance = null();
    let tasks: Vec<&Slot> = (0..=ROOTS).map(|_| core.allocate(0, 0).unwrap()).collect();
    for slot in &tasks {
        // SAFETY: allocated, of the engine whose job this is.
        unsafe { slot.job::<()>().write(()) };
    }
    // SAFETY: handles as the contract demands.
    unsafe {
        ok(doca_graph_create(pe, &mut graph));
        for node in &mut nodes {
            ok(doca_graph_node_create_from_ctx(graph, core, node));
        }
        for root in &nodes[..ROOTS] {
            ok(doca_graph_add_dependency(graph, *root, nodes[ROOTS]));
        }
        ok(doca_graph_set_conf(graph, Some(report), Some(failure), 1));
        ok(doca_graph_start(graph));
        ok(doca_graph_instance_create(graph, &mut instance));
        ok(doca_graph_instance_set_user_data(instance, 7));
        for (node, task) in nodes.iter().zip(&tasks) {
            ok(doca_graph_instance_set_ctx_node_data(instance, *node, *task));
        }
        for round in 1..=3 {
            CARRIED_OUT.store(0, SeqCst);
            CREDITS.store(0, SeqCst);
            ok(doca_graph_instance_submit(instance));
            for credit in 0..=ROOTS as u32 {
                for _ in 0..50 {
                    assert!(!pe.step(), "nothing was reported");
                }
                assert_eq!(CARRIED_OUT.load(SeqCst), credit);
                CREDITS.store(1, SeqCst);
            }
            let mut calls = 0;
            while !pe.step() {
                calls += 1;
                assert!(calls < 100, "the graph hangs");
            }
            assert_eq!(CARRIED_OUT.load(SeqCst), ROOTS as u32 + 1);
            assert_eq!(REPORTS.load(SeqCst), round);
        }
        ok(doca_graph_instance_destroy(instance));
        ok(doca_graph_stop(graph));
        ok(doca_graph_destroy(graph));
    }
    for task in tasks {
        core.release(task.as_static());
    }
    assert!(core.stop().unwrap());
    core.destroy().unwrap();
    pe.destroy().unwrap();
}
