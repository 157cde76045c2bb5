//! Every task that observers hear of comes to an end for them, also where no callback follows: freed by the program after
//! its engine was through with it, or submitted when the progress engine was gone.

use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Turn};
use softdpu_room::instrument::{self, Decider, End, Observer, Task as Flying, TaskId};
use softdpu_room::pe::Pe;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Session, inline};
use softdpu_room::slot::Slot;
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::{Code, Result};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

#[derive(Debug)]
struct Peers;

impl Engine for Peers {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "peers", kind: EngineKind::Dma, tasks: &["say"], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = u64;
    type Event = u64;
    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }
    fn build(_: &Arc<Shared>, (): ()) -> Result<(Box<dyn Work>, u32)> {
        Ok((Peered::new(AtOnce, ()), 8))
    }
}

/// Through with every task as soon as it sees it.
struct AtOnce;

impl Hardware for AtOnce {
    type Engine = Peers;
    type Desk = ();

    fn turn(&mut self, port: &mut Port<'_, Peers>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some(ticket) = port.take() {
            turn = Turn::Busy;
            port.complete(ticket, Ok(0));
        }
        turn
    }

    fn check((): &(), _: &u64) -> Result<()> {
        if let Some((inside, go_on)) = HELD_UP.lock().unwrap().take() {
            inside.send(()).unwrap();
            go_on.recv().unwrap();
        }
        Ok(())
    }
}

/// The next submit says that it is inside, and waits.
static HELD_UP: Mutex<Option<(Sender<()>, Receiver<()>)>> = Mutex::new(None);

#[derive(Debug)]
struct Say;

impl Task for Say {
    type Engine = Peers;
    type Output = u64;
    fn into_job(self) -> u64 {
        0
    }
    fn from_job(_: u64) -> Say {
        Say
    }
    fn output(raw: u64) -> u64 {
        raw
    }
}

/// What was told of which context.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<(u32, String)>>);

impl Told {
    fn note(&self, task: &TaskId, what: &str) {
        self.0.lock().unwrap().push((task.context, format!("{what} {}", task.number)));
    }

    /// Of the context that started last.
    fn last(&self) -> Vec<String> {
        let all = core::mem::take(&mut *self.0.lock().unwrap());
        let last = all.iter().map(|(context, _)| *context).max();
        all.into_iter().filter(|(context, _)| Some(*context) == last).map(|(_, what)| what).collect()
    }
}

impl Observer for Told {
    fn submitted(&self, task: &TaskId) {
        self.note(task, "submitted");
    }
    fn ended(&self, task: &TaskId, result: Result<u64, Code>, called: bool) {
        let how = result.map_or_else(|code| code.name(), |_| "ok");
        self.note(task, &format!("{how}{}", if called { ", to be called:" } else { ":" }));
    }
    fn delivered(&self, task: &TaskId) {
        self.note(task, "delivered");
    }
    fn forgotten(&self, task: &TaskId) {
        self.note(task, "forgotten");
    }
}

/// Decides nothing, but has contexts go through a gate.
#[derive(Debug)]
struct Nothing;

impl Decider for Nothing {
    fn may_end(&self, _: &Flying<'_>, _: u64, result: Result<u64, Code>) -> End {
        End::Now(result)
    }
}

extern "C" fn done(_: *const Slot, _: u64, _: u64) {}

/// C: two tasks are through in one turn; the second is freed before its turn to be reported.
fn freed_before_it_is_reported(told: &Told) -> Vec<String> {
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let pe = Pe::create(inline()).unwrap();
    let core = Core::create(Peers::INFO, device.shared().clone(), inline()).unwrap();
    core.connect(pe).unwrap();
    core.set_callbacks(0, done, done);
    assert!(core.start(|| Ok((Peered::new(AtOnce, ()) as Box<dyn Work>, vec![(0, 8)]))).unwrap());
    let tasks: Vec<_> = (0..2)
        .map(|n| {
            let slot = core.allocate_checked(0, n, "test").unwrap();
            assert_eq!(core.submit(slot), 0);
            slot
        })
        .collect();
    while told.0.lock().unwrap().iter().all(|(_, what)| !what.starts_with("delivered")) {
        pe.step();
    }
    core.release(tasks[1]);
    while core.in_flight() != 0 {
        pe.step();
    }
    core.release(tasks[0]);
    let _ = core.stop().unwrap();
    while core.state() != State::Idle {
        pe.step();
    }
    core.destroy().unwrap();
    pe.destroy().unwrap();
    told.last()
}

/// Rust: the progress engine goes while a task is being submitted.
fn submitted_without_progress_engine(told: &Told) -> Vec<String> {
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut context = Context::<Peers>::start(&mut pe, &device, ()).unwrap().wait(&mut pe).unwrap();
    let ((inside, is_inside), (go, go_on)) = (channel(), channel());
    *HELD_UP.lock().unwrap() = Some((inside, go_on));
    std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            let flight = context.submit(Say).unwrap();
            assert_eq!(flight.try_take().unwrap().result, Err(Code::IoFailed.into()));
        });
        is_inside.recv().unwrap();
        drop(pe);
        go.send(()).unwrap();
        other.join().unwrap();
    });
    told.last()
}

#[test]
fn every_task_comes_to_an_end() {
    let told = Arc::new(Told::default());
    instrument::observe(told.clone());
    let expected = [
        "submitted 1",
        "submitted 2",
        "ok, to be called: 1",
        "ok, to be called: 2",
        "delivered 1",
        "forgotten 2",
    ];
    assert_eq!(freed_before_it_is_reported(&told), expected, "watched");
    let flushed = ["submitted 1", "DOCA_ERROR_IO_FAILED: 1"];
    assert_eq!(submitted_without_progress_engine(&told), flushed, "watched");
    instrument::decide(Arc::new(Nothing));
    assert_eq!(freed_before_it_is_reported(&told), expected, "behind a gate");
    assert_eq!(submitted_without_progress_engine(&told), flushed, "behind a gate");
}
