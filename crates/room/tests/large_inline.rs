//! Without workers a large task waits for progress alone: whoever sleeps must be told that there is something to do.

use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Session, inline};
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::sync::Arc;

/// Sums up where its parts begin.
struct Summer;

#[derive(Debug)]
struct Sum(Shape, u64);

impl Task for Sum {
    type Engine = Summer;
    type Output = u64;
    fn into_job(self) -> Sum {
        self
    }
    fn from_job(job: Sum) -> Sum {
        job
    }
    fn output(raw: u64) -> u64 {
        raw
    }
}

impl Engine for Summer {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "summer", kind: EngineKind::Dma, tasks: &["sum"], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = Sum;
    type Event = ();
    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }
    fn build(_: &Arc<Shared>, _: ()) -> Result<(Box<dyn Work>, u32)> {
        Ok((Computed::new(Summer, ()), 8))
    }
}

impl Compute for Summer {
    type Engine = Summer;
    type Handlers = ();
    fn deliver(_: &mut (), _: Sum, _: Result<u64>, _: &mut Outbox<'_, Summer>) -> Option<Sum> {
        None
    }
    fn shape(&self, job: &Sum) -> Shape {
        job.0
    }
    fn check(&self, _: &Sum) -> Result<()> {
        Ok(())
    }
    fn run(&self, job: &mut Sum) -> Result<u64> {
        Ok(job.1)
    }
    fn open(&self, job: &Sum) -> Result<u64> {
        Ok(job.1)
    }
    fn step(&self, job: &mut Sum, from: u64, len: u64) -> Result<()> {
        // Steps come one after the other and leave nothing out.
        assert_eq!(from % (256 << 10), 0);
        job.1 += u64::from(len > 0);
        Ok(())
    }
    fn close(&self, job: &mut Sum, total: u64) -> Result<u64> {
        Ok(job.1 - total)
    }
}

fn start(board: &'static dyn softdpu_room::board::Board) -> (ProgressEngine, Context<Summer>) {
    let session = Session::new(Machine::builder().build().unwrap(), board);
    let device = session.devices()[0].open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let context = Context::<Summer>::start(&mut pe, &device, ()).unwrap().wait(&mut pe).unwrap();
    (pe, context)
}

#[test]
fn a_sleeper_is_told_of_large_tasks() {
    let (mut pe, mut context) = start(inline());
    for (shape, want) in [
        (Shape::Steps, 40),
        (Shape::Parts, 0),
        (Shape::Whole, 40 * (256 << 10)),
        (Shape::Small, 40 * (256 << 10)),
    ] {
        let mut flying = context.submit(Sum(shape, 40 * (256 << 10))).unwrap();
        let mut rounds = 0;
        let done = loop {
            match flying.try_take() {
                Ok(done) => break done,
                Err(back) => flying = back,
            }
            assert!(!pe.arm().unwrap(), "{shape:?}: would sleep for ever");
            pe.progress();
            rounds += 1;
            assert!(rounds < 1000);
        };
        assert_eq!(done.result, Ok(want), "{shape:?}");
    }
}

#[test]
fn shapes_may_change_from_task_to_task_of_a_slot() {
    let (mut pe, mut context) = start(inline());
    for i in 0..200u64 {
        let shape = [Shape::Steps, Shape::Parts, Shape::Whole, Shape::Small][(i * 7 % 4) as usize];
        let flying = context.submit(Sum(shape, (i % 5 + 1) * (256 << 10))).unwrap();
        let done = pe.run(flying);
        let want = match shape {
            Shape::Steps => i % 5 + 1,
            Shape::Parts => 0,
            _ => (i % 5 + 1) * (256 << 10),
        };
        assert_eq!(done.result, Ok(want), "{i}");
    }
}
