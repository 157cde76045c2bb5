//! An engine for tests: its tasks do as they are told, and it is known when each of them is gone.

use softdpu::card::EngineKind;
use softdpu::{Code, Error, Handler, Result, Task};
use softdpu_card::Function;
use softdpu_memory::device::Device;
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::task::deliver;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The engine; `FATAL`: a failed task stops its context.
#[derive(Debug)]
pub struct Mock<const FATAL: bool>;

/// What a task does.
#[derive(Debug)]
pub enum Act {
    /// Succeeds with this number.
    Give(u64),
    /// Fails.
    Fail,
    /// Panics.
    Panic,
    /// Is refused at submit.
    Refuse,
    /// Says that it has begun, then works until the gate is open.
    Until(Arc<Gate>),
    /// Large: this many times 256 KiB, in parts; the number counts the bytes that were done.
    Parts(u64, Arc<AtomicUsize>),
    /// Large: this many steps of 256 KiB, one after the other; the number is where they got to.
    Steps(u64, Arc<AtomicUsize>),
    /// Long, and not to be cut.
    Whole(u64),
}

/// See [`Act::Until`].
#[derive(Debug, Default)]
pub struct Gate {
    pub begun: AtomicBool,
    pub open: AtomicBool,
}

/// A task.
#[derive(Debug)]
pub struct Op<const FATAL: bool> {
    pub act: Act,
    /// How often it was carried out.
    pub runs: u32,
    /// Held as long as the task lives.
    pub token: Option<Arc<()>>,
}

impl<const FATAL: bool> Op<FATAL> {
    pub fn new(act: Act) -> Self {
        Op { act, runs: 0, token: None }
    }

    pub fn held(act: Act, token: &Arc<()>) -> Self {
        Op { token: Some(token.clone()), ..Op::new(act) }
    }
}

#[derive(Default)]
pub struct Config<const FATAL: bool> {
    pub tasks: u32,
    pub handler: Option<Handler<Op<FATAL>>>,
}

impl<const FATAL: bool> Engine for Mock<FATAL> {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "mock", kind: EngineKind::Dma, tasks: &["op"], fatal: FATAL };
    type Caps = ();
    type Config = Config<FATAL>;
    type Job = Op<FATAL>;
    type Event = std::convert::Infallible;

    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }

    fn build(_: &Arc<Device>, config: Config<FATAL>) -> Result<(Box<dyn Work>, u32)> {
        let work = Computed::new(Mock::<FATAL>, config.handler);
        Ok((work, if config.tasks == 0 { 16 } else { config.tasks }))
    }
}

impl<const FATAL: bool> Task for Op<FATAL> {
    type Engine = Mock<FATAL>;
    type Output = u64;
    fn into_job(self) -> Self {
        self
    }
    fn from_job(job: Self) -> Self {
        job
    }
    fn output(raw: u64) -> u64 {
        raw
    }
}

/// Bytes of one part or step.
pub const PART: u64 = 256 << 10;

impl<const FATAL: bool> Compute for Mock<FATAL> {
    type Engine = Mock<FATAL>;
    type Handlers = Option<Handler<Op<FATAL>>>;

    fn deliver(
        handler: &mut Self::Handlers,
        job: Op<FATAL>,
        result: Result<u64>,
        outbox: &mut Outbox<'_, Self::Engine>,
    ) -> Option<Op<FATAL>> {
        deliver(handler, job, result, outbox)
    }

    fn shape(&self, job: &Op<FATAL>) -> Shape {
        match job.act {
            Act::Parts(..) => Shape::Parts,
            Act::Steps(..) => Shape::Steps,
            Act::Whole(..) => Shape::Whole,
            _ => Shape::Small,
        }
    }

    fn check(&self, job: &Op<FATAL>) -> Result<()> {
        if matches!(job.act, Act::Refuse) {
            return Err(Error::new(Code::InvalidValue, "the test wants it refused"));
        }
        Ok(())
    }

    fn run(&self, job: &mut Op<FATAL>) -> Result<u64> {
        job.runs += 1;
        match &job.act {
            Act::Give(n) | Act::Whole(n) => Ok(*n),
            Act::Panic => panic!("the test wants a panic in the engine"),
            Act::Until(gate) => {
                gate.begun.store(true, Ordering::SeqCst);
                while !gate.open.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                Ok(0)
            }
            Act::Fail | Act::Refuse | Act::Parts(..) | Act::Steps(..) => {
                Err(Error::new(Code::IoFailed, "the test wants it to fail"))
            }
        }
    }

    fn open(&self, job: &Op<FATAL>) -> Result<u64> {
        match job.act {
            Act::Parts(n, _) | Act::Steps(n, _) => Ok(n * PART),
            _ => Ok(1),
        }
    }

    fn step(&self, job: &mut Op<FATAL>, from: u64, _len: u64) -> Result<()> {
        if let Act::Steps(_, at) = &job.act {
            // One after the other, whoever does them.
            assert_eq!(at.swap(from as usize + PART as usize, Ordering::SeqCst), from as usize);
        }
        Ok(())
    }

    fn part(&self, job: &Op<FATAL>, _from: u64, len: u64) -> Result<()> {
        if let Act::Parts(_, count) = &job.act {
            count.fetch_add(len as usize, Ordering::SeqCst);
        }
        Ok(())
    }
}
