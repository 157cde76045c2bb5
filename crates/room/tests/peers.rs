//! An engine with peers, as progress sees it: late starts, events, stops it asks for, good-byes, gated submits, alarms.
//! Through a context of the C face, where one call of progress reports one thing.

use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::context::{Core, State};
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Turn};
use softdpu_room::life::Equipment;
use softdpu_room::pe::Pe;
use softdpu_room::session::{Session, inline};
use softdpu_room::slot::Slot;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// What the far side did, and what the near side noticed.
#[derive(Default)]
struct Far {
    accepts: bool,
    refuses: bool,
    gone: bool,
    messages: VecDeque<u64>,
    credits: u32,
    /// Turns of good-bye still to go.
    good_bye: u32,
    idle: u32,
    alarm: Option<Arc<Alarm>>,
}

type Line = Arc<Mutex<Far>>;

static LINES: Mutex<Vec<(usize, Line)>> = Mutex::new(Vec::new());
static TOLD: Mutex<Vec<(usize, String)>> = Mutex::new(Vec::new());

fn line_of(core: &Core) -> Line {
    let lines = LINES.lock().unwrap();
    lines.iter().find(|l| l.0 == core::ptr::from_ref(core) as usize).unwrap().1.clone()
}

fn note(core: *const Core, what: String) {
    TOLD.lock().unwrap().push((core as usize, what));
}

fn told(core: &Core) -> Vec<String> {
    let me = core::ptr::from_ref(core) as usize;
    let mut all = TOLD.lock().unwrap();
    let (mine, others) = all.drain(..).partition(|t| t.0 == me);
    *all = others;
    mine.into_iter().map(|t: (usize, String)| t.1).collect()
}

#[derive(Debug)]
struct Talk;

impl Engine for Talk {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "talk", kind: EngineKind::Dma, tasks: &["say"], fatal: false };
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

struct Near(Line);

impl Hardware for Near {
    type Engine = Talk;
    type Desk = Line;
    const GATED: bool = true;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        let mut far = self.0.lock().unwrap();
        if far.gone {
            return Err(Error::new(Code::AlreadyExist, "nobody there"));
        }
        far.alarm = Some(alarm.clone());
        Ok(Begun::Later)
    }

    fn turn(&mut self, port: &mut Port<'_, Talk>) -> Turn {
        port.rely_on_alarm(true);
        let mut far = self.0.lock().unwrap();
        let mut turn = Turn::Idle;
        while let Some(ticket) = port.take() {
            turn = Turn::Busy;
            port.complete(ticket, if port.is_stopping() { Err(Code::IoFailed) } else { Ok(0) });
        }
        if far.accepts {
            port.run();
            port.hold(true);
            far.accepts = false;
        }
        if far.refuses {
            port.give_up();
        }
        if far.gone {
            port.stop();
        }
        if port.is_stopping() {
            far.good_bye = far.good_bye.saturating_sub(1);
            port.hold(far.good_bye != 0);
        }
        turn
    }

    fn event(&mut self, _: &mut Port<'_, Talk>) -> Option<u64> {
        self.0.lock().unwrap().messages.pop_front()
    }

    fn tell(core: &'static Core, message: u64) {
        note(core, format!("message {message}"));
        if message == 99 {
            assert!(!core.stop().unwrap());
        }
    }

    fn is_pending(&mut self) -> bool {
        let far = self.0.lock().unwrap();
        !far.messages.is_empty() || far.accepts || far.gone || far.refuses
    }

    fn idle(&mut self) {
        self.0.lock().unwrap().idle += 1;
    }

    fn admit(line: &Line, _: &mut u64) -> Result<(), Code> {
        let mut far = line.lock().unwrap();
        far.credits = far.credits.checked_sub(1).ok_or(Code::Again)?;
        Ok(())
    }
}

extern "C" fn said(_: *const Slot, user: u64, ctx: u64) {
    note(ctx as *const Core, format!("said {user}"));
}

extern "C" fn failed(_: *const Slot, user: u64, ctx: u64) {
    note(ctx as *const Core, format!("failed {user}"));
}

extern "C" fn changed(_: u64, core: *const Core, from: u32, to: u32) {
    note(core, format!("{from}>{to}"));
}

fn equip(core: &'static Core) -> Result<Equipment> {
    let line = line_of(core);
    Ok((Peered::new(Near(line.clone()), line), vec![(0, 8)]))
}

fn make() -> (&'static Pe, &'static Core, Line) {
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let pe = Pe::create(inline()).unwrap();
    let core = Core::create(Talk::INFO, device.shared().clone(), inline()).unwrap();
    let line = Line::default();
    {
        // Places are used again: the newest line of a place counts.
        let mut lines = LINES.lock().unwrap();
        let me = core::ptr::from_ref(core) as usize;
        lines.retain(|l| l.0 != me);
        lines.push((me, line.clone()));
    }
    core.connect(pe).unwrap();
    core.set_callbacks(0, said, failed);
    core.set_user_data(core::ptr::from_ref(core) as u64);
    core.set_state_callback(Some(changed));
    told(core);
    (pe, core, line)
}

fn running() -> (&'static Pe, &'static Core, Line) {
    let (pe, core, line) = make();
    assert!(!core.start(|| equip(core)).unwrap());
    line.lock().unwrap().accepts = true;
    assert!(pe.step());
    assert_eq!(core.state(), State::Running);
    assert_eq!(told(core), ["0>1", "1>2"]);
    (pe, core, line)
}

fn end(pe: &'static Pe, core: &'static Core) {
    if core.state() != State::Idle {
        let _ = core.stop();
    }
    for _ in 0..100 {
        if core.state() == State::Idle {
            break;
        }
        pe.step();
    }
    core.destroy().unwrap();
    pe.destroy().unwrap();
}

#[test]
fn a_late_start_is_starting_until_the_peer_answers() {
    let (pe, core, line) = make();
    assert!(!core.start(|| equip(core)).unwrap());
    assert_eq!(told(core), ["0>1"]);
    for _ in 0..5 {
        assert!(!pe.step());
        assert_eq!(core.state(), State::Starting);
    }
    assert!(core.allocate_checked(0, 1, "test").is_err());
    {
        let mut far = line.lock().unwrap();
        far.accepts = true;
        far.messages.push_back(7);
    }
    // The message waits for the call after the one that made it run.
    assert!(pe.step());
    assert_eq!(told(core), ["1>2"]);
    assert!(pe.step());
    assert_eq!(told(core), ["message 7"]);
    assert!(!pe.step());
    end(pe, core);
    assert_eq!(line.lock().unwrap().idle, 1);
}

#[test]
fn a_refused_start_is_idle_again() {
    let (pe, core, line) = make();
    assert!(!core.start(|| equip(core)).unwrap());
    line.lock().unwrap().refuses = true;
    assert!(pe.step());
    assert_eq!(core.state(), State::Idle);
    assert_eq!(told(core), ["0>1", "1>0"]);
    assert_eq!(line.lock().unwrap().idle, 1);
    // And may be tried again.
    line.lock().unwrap().refuses = false;
    assert!(!core.start(|| equip(core)).unwrap());
    line.lock().unwrap().accepts = true;
    assert!(pe.step());
    assert_eq!(core.state(), State::Running);
    end(pe, core);
}

#[test]
fn a_start_that_fails_leaves_the_context_idle() {
    let (pe, core, line) = make();
    line.lock().unwrap().gone = true;
    assert_eq!(core.start(|| equip(core)).unwrap_err().code(), Code::AlreadyExist);
    assert_eq!((core.state(), told(core).len(), line.lock().unwrap().idle), (State::Idle, 0, 1));
    end(pe, core);
}

#[test]
fn stopping_while_starting_is_allowed() {
    let (pe, core, _) = make();
    assert!(!core.start(|| equip(core)).unwrap());
    assert!(core.stop().unwrap());
    assert_eq!(told(core), ["0>1", "1>3", "3>0"]);
    end(pe, core);
}

#[test]
fn one_report_per_call_and_events_take_turns_with_completions() {
    let (pe, core, line) = running();
    line.lock().unwrap().credits = 3;
    for n in 0..3 {
        let slot = core.allocate_checked(0, n, "test").unwrap();
        assert_eq!(core.submit(slot), 0);
    }
    line.lock().unwrap().messages.extend([10, 11, 12]);
    for reported in 1..=6 {
        assert!(pe.step());
        assert_eq!(
            TOLD.lock().unwrap().iter().filter(|t| t.0 == core::ptr::from_ref(core) as usize).count(),
            reported
        );
    }
    assert!(!pe.step());
    let told = told(core);
    assert_eq!(told.iter().filter(|t| t.starts_with("said")).count(), 3);
    // Neither had to wait for all of the other.
    assert!(
        told[..3].iter().any(|t| t.starts_with("said")) && told[..3].iter().any(|t| t.starts_with("message"))
    );
    let unfreed = core.tasks_held();
    assert_eq!(unfreed, 3);
    let _ = core.stop();
    // Held up by unfreed tasks, like every context.
    pe.step();
    assert_eq!(core.state(), State::Stopping);
}

#[test]
fn submits_are_admitted_one_by_one() {
    let (pe, core, line) = running();
    let slot = core.allocate_checked(0, 5, "test").unwrap();
    assert_eq!(core.submit(slot), Code::Again.number());
    assert_eq!(core.try_submit(slot), Code::Again.number());
    assert_eq!(core.in_flight(), 0);
    line.lock().unwrap().credits = 1;
    assert_eq!(core.submit(slot), 0);
    assert_eq!(core.submit(slot), Code::BadState.number()); // in flight
    assert!(pe.step());
    assert_eq!(told(core), ["said 5"]);
    core.release(slot);
    end(pe, core);
}

#[test]
fn a_peer_that_leaves_stops_the_context() {
    let (pe, core, line) = running();
    line.lock().unwrap().gone = true;
    assert!(pe.step());
    assert_eq!(told(core), ["2>3"]);
    assert!(pe.step());
    assert_eq!((core.state(), told(core)), (State::Idle, vec!["3>0".to_owned()]));
    assert_eq!(line.lock().unwrap().idle, 1);
    end(pe, core);
}

#[test]
fn good_byes_hold_idle_up() {
    let (pe, core, line) = running();
    line.lock().unwrap().good_bye = 4;
    assert!(!core.stop().unwrap());
    let mut calls = 0;
    while core.state() != State::Idle {
        pe.step();
        calls += 1;
        assert!(calls < 100);
    }
    assert_eq!((calls, line.lock().unwrap().good_bye), (4, 0));
    end(pe, core);
}

#[test]
fn a_stop_inside_an_event_is_fine() {
    let (pe, core, line) = running();
    line.lock().unwrap().messages.push_back(99);
    assert!(pe.step());
    assert_eq!(told(core), ["message 99", "2>3"]);
    assert!(pe.step());
    assert_eq!(core.state(), State::Idle);
    end(pe, core);
}

#[test]
fn what_comes_while_the_program_sleeps_rings() {
    let (pe, core, line) = running();
    assert!(!pe.arm());
    let readable = |pe: &Pe| {
        let mut fds = [rustix::event::PollFd::new(pe.signal(), rustix::event::PollFlags::IN)];
        let now = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        rustix::event::poll(&mut fds, Some(&now)).unwrap() == 1
    };
    assert!(!readable(pe));
    let alarm = line.lock().unwrap().alarm.clone().unwrap();
    line.lock().unwrap().messages.push_back(1);
    std::thread::spawn(move || alarm.ring()).join().unwrap();
    assert!(readable(pe));
    assert!(pe.step());
    assert_eq!(told(core), ["message 1"]);
    // What is there already is found while arming.
    line.lock().unwrap().messages.push_back(2);
    assert!(pe.arm() && readable(pe));
    pe.disarm();
    assert!(pe.step());
    let alarm = line.lock().unwrap().alarm.clone().unwrap();
    end(pe, core);
    // Whoever still has the alarm of an idle context rings nobody.
    alarm.ring();
}
