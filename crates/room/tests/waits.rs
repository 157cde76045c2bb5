//! An engine with waits: jobs complete in their own order, everything comes back on stop, lost tickets do not hang.

use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Session, inline};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// Counts up; waits for the count.
#[derive(Debug)]
struct Counter;

#[derive(Debug)]
enum Job {
    Add(u64),
    Wait(u64),
    Lose,
    Break,
}

#[derive(Debug)]
struct Add(u64);
#[derive(Debug)]
struct Wait(u64);
#[derive(Debug)]
struct Lose;
#[derive(Debug)]
struct Break;

macro_rules! task {
    ($task:ident, $into:expr, $from:pat => $back:expr) => {
        impl Task for $task {
            type Engine = Counter;
            type Output = u64;
            fn into_job(self) -> Job {
                $into(self)
            }
            fn from_job(job: Job) -> $task {
                match job {
                    $from => $back,
                    _ => unreachable!("another task's job"),
                }
            }
            fn output(raw: u64) -> u64 {
                raw
            }
        }
    };
}
task!(Add, |t: Add| Job::Add(t.0), Job::Add(n) => Add(n));
task!(Wait, |t: Wait| Job::Wait(t.0), Job::Wait(n) => Wait(n));
task!(Lose, |_| Job::Lose, Job::Lose => Lose);
task!(Break, |_| Job::Break, Job::Break => Break);

impl Engine for Counter {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "counter", kind: EngineKind::Dma, tasks: &["add", "wait"], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = Job;
    type Event = ();
    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }
    fn build(_: &Arc<Shared>, _: ()) -> Result<(Box<dyn Work>, u32)> {
        Ok((Peered::new(Counting { count: 0, waiting: Vec::new() }, ()), 16))
    }
}

struct Counting {
    count: u64,
    waiting: Vec<(u64, Ticket<Counter>)>,
}

impl Hardware for Counting {
    type Engine = Counter;
    type Desk = ();
    fn turn(&mut self, port: &mut Port<'_, Counter>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some(mut ticket) = port.take() {
            turn = Turn::Busy;
            match *port.job(&mut ticket) {
                Job::Add(n) => {
                    self.count += n;
                    port.complete(ticket, Ok(self.count));
                }
                Job::Wait(n) => self.waiting.push((n, ticket)),
                Job::Lose => drop(ticket),
                Job::Break => panic!("expected by the test"),
            }
        }
        let count = self.count;
        let stopping = port.is_stopping();
        for (n, ticket) in std::mem::take(&mut self.waiting) {
            if stopping {
                port.complete(ticket, Err(Code::IoFailed));
            } else if count >= n {
                port.complete(ticket, Ok(count));
            } else {
                self.waiting.push((n, ticket));
            }
        }
        turn
    }
}

fn start() -> (ProgressEngine, Context<Counter>) {
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let context = Context::<Counter>::start(&mut pe, &device, ()).unwrap().wait(&mut pe).unwrap();
    (pe, context)
}

#[test]
fn a_wait_holds_nobody_back() {
    let (mut pe, mut context) = start();
    let late = context.submit(Wait(5)).unwrap();
    let first = context.submit(Add(2)).unwrap();
    assert_eq!(pe.run(first).result, Ok(2));
    assert!(!late.is_done());
    let second = context.submit(Add(3)).unwrap();
    assert_eq!(pe.run(late).result, Ok(5));
    assert_eq!(pe.run(second).result, Ok(5));
    assert_eq!(context.in_flight(), 0);
}

#[test]
fn stop_gives_waiting_tasks_back() {
    let (mut pe, mut context) = start();
    let waits: Vec<_> = (1..=8).map(|n| context.submit(Wait(n)).unwrap()).collect();
    pe.progress();
    context.stop().wait(&mut pe).unwrap();
    for wait in waits {
        assert_eq!(wait.try_take().ok().unwrap().result.map_err(|e| e.code()), Err(Code::IoFailed));
    }
}

#[test]
fn a_lost_ticket_completes_with_unexpected() {
    let (mut pe, mut context) = start();
    let lost = context.submit(Lose).unwrap();
    assert_eq!(pe.run(lost).result.map_err(|e| e.code()), Err(Code::Unexpected));
}

/// Whoever has a job when the engine breaks gets it back, and the context stops; nothing hangs.
#[test]
fn an_engine_that_panics_stops_its_context() {
    let (mut pe, mut context) = start();
    let wait = context.submit(Wait(9)).unwrap();
    pe.progress();
    let fatal = context.submit(Break).unwrap();
    assert_eq!(pe.run(fatal).result.map_err(|e| e.code()), Err(Code::Unexpected));
    assert_eq!(pe.run(wait).result.map_err(|e| e.code()), Err(Code::IoFailed));
    pe.progress();
    assert_eq!(context.state(), softdpu_room::context::State::Idle);
    assert_eq!(context.submit(Add(1)).map(|_| ()).unwrap_err().error.code(), Code::BadState);
}

#[test]
fn everything_may_be_dropped_while_tasks_wait() {
    let (mut pe, mut context) = start();
    let wait = context.submit(Wait(9)).unwrap();
    let forgotten = context.submit(Wait(9)).unwrap();
    pe.progress();
    drop(context);
    drop(forgotten);
    drop(pe);
    assert!(wait.is_done());
    assert!(wait.try_take().is_ok());
}
