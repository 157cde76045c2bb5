//! A context that streams reports many times in a row; the others of its progress engine get their turns nevertheless.
//! Counted in calls of progress of the C face, not in time.

use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Compute, Engine, EngineInfo, Shape, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Turn};
use softdpu_room::job::{Computed, Outbox};
use softdpu_room::life::Equipment;
use softdpu_room::pe::Pe;
use softdpu_room::session::{Session, inline};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::cell::RefCell;
use std::sync::Arc;

macro_rules! engine {
    ($name:ident, $kind:ident) => {
        #[derive(Debug)]
        struct $name;

        impl Engine for $name {
            const INFO: &'static EngineInfo = &EngineInfo {
                name: stringify!($name),
                kind: EngineKind::$kind,
                tasks: &["task"],
                fatal: false,
            };
            type Caps = ();
            type Config = ();
            type Job = u64;
            type Event = u64;
            fn caps(_: &Function) -> Result<()> {
                Ok(())
            }
            fn build(_: &Arc<Shared>, (): ()) -> Result<(Box<dyn Work>, u32)> {
                Err(Error::new(Code::NotSupported, "C face only"))
            }
        }
    };
}

engine!(Streams, Comch);
engine!(Turns, Comch);
engine!(Computes, Dma);

/// Tasks are through once they are admitted, as a producer's are.
impl Hardware for Streams {
    type Engine = Streams;
    type Desk = ();
    const GATED: bool = true;
    const SETTLES: bool = true;

    fn turn(&mut self, port: &mut Port<'_, Streams>) -> Turn {
        complete_all(port)
    }

    fn settled(_: &u64) -> Option<Result<u64, Code>> {
        Some(Ok(0))
    }
}

/// Tasks are through with the next turn; and there is always something to tell.
impl Hardware for Turns {
    type Engine = Turns;
    type Desk = ();

    fn turn(&mut self, port: &mut Port<'_, Turns>) -> Turn {
        complete_all(port)
    }

    fn event(&mut self, _: &mut Port<'_, Turns>) -> Option<u64> {
        Some(EVENT)
    }

    fn tell(_: &'static Core, event: u64) {
        count(event);
    }
}

fn complete_all<E: Engine>(port: &mut Port<'_, E>) -> Turn {
    let mut turn = Turn::Idle;
    while let Some(ticket) = port.take() {
        turn = Turn::Busy;
        port.complete(ticket, if port.is_stopping() { Err(Code::IoFailed) } else { Ok(0) });
    }
    turn
}

impl Compute for Computes {
    type Engine = Computes;
    type Handlers = ();
    fn deliver(_: &mut (), _: u64, _: Result<u64>, _: &mut Outbox<'_, Computes>) -> Option<u64> {
        None
    }
    fn shape(&self, _: &u64) -> Shape {
        Shape::Small
    }
    fn check(&self, _: &u64) -> Result<()> {
        Ok(())
    }
    fn run(&self, _: &mut u64) -> Result<u64> {
        Ok(0)
    }
}

/// What is counted: reports by the number in their tasks' user data, and events.
const EVENT: u64 = 9;

thread_local! {
    static TASKS: RefCell<Vec<(&'static Core, &'static Slot)>> = const { RefCell::new(Vec::new()) };
    static COUNTS: RefCell<[u64; 10]> = const { RefCell::new([0; 10]) };
    /// Who was reported last, how often in a row, and the most of that.
    static RUN: RefCell<(u64, u64, u64)> = const { RefCell::new((0, 0, 0)) };
}

fn count(who: u64) {
    COUNTS.with_borrow_mut(|counts| counts[who as usize] += 1);
    RUN.with_borrow_mut(|(last, length, most)| {
        *length = if *last == who { *length + 1 } else { 1 };
        (*last, *most) = (who, (*most).max(*length));
    });
}

/// Counts, and submits the task again, for as long as the context runs.
extern "C" fn again(slot: *const Slot, who: u64, _: u64) {
    count(who);
    let (core, slot) = TASKS.with_borrow(|tasks| *tasks.iter().find(|t| core::ptr::eq(t.1, slot)).unwrap());
    if core.submit(slot) != 0 {
        assert_ne!(core.state(), State::Running);
        core.release(slot);
    }
}

extern "C" fn failed(slot: *const Slot, _: u64, _: u64) {
    let (core, slot) = TASKS.with_borrow(|tasks| *tasks.iter().find(|t| core::ptr::eq(t.1, slot)).unwrap());
    core.release(slot);
}

/// A running context whose tasks, numbered `who`, are all submitted.
fn busy(pe: &'static Pe, info: &'static EngineInfo, who: u64, equip: fn() -> Box<dyn Work>) -> &'static Core {
    const TASKS_EACH: u32 = 32;
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let core = Core::create(info, device.shared().clone(), inline()).unwrap();
    core.connect(pe).unwrap();
    core.set_callbacks(0, again, failed);
    assert!(core.start(|| -> Result<Equipment> { Ok((equip(), vec![(0, TASKS_EACH)])) }).unwrap());
    for _ in 0..TASKS_EACH {
        let slot = core.allocate_checked(0, who, "test").unwrap();
        TASKS.with_borrow_mut(|tasks| tasks.push((core, slot)));
        assert_eq!(core.submit(slot), 0);
    }
    core
}

#[test]
fn nobody_waits_for_the_end_of_a_stream() {
    let pe = Pe::create(inline()).unwrap();
    let contexts = [
        busy(pe, Streams::INFO, 0, || Peered::new(Streams, ())),
        busy(pe, Turns::INFO, 1, || Peered::new(Turns, ())),
        busy(pe, Computes::INFO, 2, || Computed::new(Computes, ())),
        busy(pe, Streams::INFO, 3, || Peered::new(Streams, ())),
    ];
    const CALLS: u64 = 10_000;
    for _ in 0..CALLS {
        assert!(pe.step(), "there is always something to report");
    }
    let counts = COUNTS.with_borrow(|counts| *counts);
    assert_eq!(counts.iter().sum::<u64>(), CALLS, "one report per call");
    // Between two looks at the ring there are at most so many reports, the one that the look led to among them; and each
    // look goes on to the next context. The two kinds of reports of one context take turns.
    const IN_A_ROW: u64 = 17;
    let contexts_in_turn = CALLS / (IN_A_ROW * contexts.len() as u64);
    for (who, least) in [
        (0, contexts_in_turn),
        (1, contexts_in_turn / 2),
        (2, contexts_in_turn),
        (3, contexts_in_turn),
        (EVENT as usize, contexts_in_turn / 2),
    ] {
        assert!(
            counts[who] >= least - 1,
            "{who}: {} of {CALLS} reports, at least {least}: {counts:?}",
            counts[who]
        );
    }
    let most = RUN.with_borrow(|run| run.2);
    assert!(most > 1, "a stream is reported in a row");
    assert!(most <= IN_A_ROW, "{most} reports of one context in a row");

    for core in contexts {
        let _ = core.stop();
        while core.state() != State::Idle {
            pe.step();
        }
        core.destroy().unwrap();
    }
    pe.destroy().unwrap();
}
