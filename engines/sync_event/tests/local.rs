//! One process: direct operations, tasks, waits, stops, sleeping programs.

use softdpu_card::{Machine, Profile};
use softdpu_memory::{Access, Memory};
use softdpu_room::context::State;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session, inline};
use softdpu_room::typed::Context;
use softdpu_status::Code;
use softdpu_sync_event::{
    Caps, Condition, Config, Get, NotifyAdd, NotifySet, SyncEvent, SyncEvents, WaitEqual, WaitNotEqual,
};
use std::time::{Duration, Instant};

fn session(threads: bool) -> (Session, Device) {
    let board = if threads { softdpu_board::threads() } else { inline() };
    let session = Session::new(Machine::builder().build().unwrap(), board);
    let device = session.devices()[0].open().unwrap();
    (session, device)
}

fn start(threads: bool) -> (ProgressEngine, Context<SyncEvents>, SyncEvent) {
    let (session, device) = session(threads);
    let event = SyncEvent::new(&device).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let context = Context::start(&mut pe, &device, Config::of(&event)).unwrap().wait(&mut pe).unwrap();
    (pe, context, event)
}

fn code<T>(result: softdpu_status::Result<T>) -> Code {
    result.err().unwrap().code()
}

#[test]
fn the_value_is_read_changed_and_waited_for() {
    let (_session, device) = session(false);
    let event = SyncEvent::new(&device).unwrap();
    assert_eq!(event.get(), Ok(0));
    event.set(u64::MAX).unwrap();
    assert_eq!(event.add(2), Ok(u64::MAX));
    assert_eq!(event.get(), Ok(1));
    assert_eq!(event.wait(Condition::greater(0)), Ok(1));
    assert_eq!(event.wait(Condition::not_equal(0)), Ok(1));
    event.set(0x1234).unwrap();
    assert_eq!(event.wait(Condition::equal(0x34).masked(0xff)), Ok(0x1234));
    assert_eq!(event.wait(Condition::greater(0x33).masked(0xff)), Ok(0x1234));
    let late = event.wait_for(Condition::equal(7), Duration::from_millis(2));
    assert_eq!(code(late), Code::TimeOut);
}

#[test]
fn threads_add_without_losing_any() {
    let (_session, device) = session(false);
    let event = SyncEvent::new(&device).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                (0..100_000).for_each(|_| {
                    event.add(1).unwrap();
                })
            });
        }
        assert_eq!(event.wait(Condition::greater(399_999)), Ok(400_000));
    });
}

#[test]
fn tasks_do_what_the_direct_calls_do() {
    let (mut pe, mut context, event) = start(false);
    assert_eq!(pe.run(context.submit(NotifySet(40)).unwrap()).result, Ok(()));
    assert_eq!(pe.run(context.submit(NotifyAdd(2)).unwrap()).result, Ok(40));
    assert_eq!(pe.run(context.submit(Get).unwrap()).result, Ok(42));
    assert_eq!(event.get(), Ok(42));
    assert_eq!(pe.run(context.submit(WaitEqual::to(42)).unwrap()).result, Ok(42));
    assert_eq!(pe.run(context.submit(WaitNotEqual { value: 0x2b, mask: 0xff }).unwrap()).result, Ok(42));
}

#[test]
fn a_wait_holds_nobody_back_and_each_gets_its_value() {
    let (mut pe, mut context, event) = start(false);
    let three = context.submit(WaitEqual::to(3)).unwrap();
    let one = context.submit(WaitEqual::to(1)).unwrap();
    let change = context.submit(WaitNotEqual::to(0)).unwrap();
    let get = context.submit(Get).unwrap();
    assert_eq!(pe.run(get).result, Ok(0));
    assert_eq!(pe.progress(), 0);
    event.set(1).unwrap();
    assert_eq!(pe.run(one).result, Ok(1));
    assert_eq!(pe.run(change).result, Ok(1));
    assert!(!three.is_done());
    event.add(2).unwrap();
    assert_eq!(pe.run(three).result, Ok(3));
}

/// The value goes to and fro between two looks: a wait that came in between is looked at all the same.
#[test]
fn a_wait_that_comes_late_is_not_overlooked() {
    let (mut pe, mut context, event) = start(false);
    let never = context.submit(WaitEqual::to(99)).unwrap();
    pe.progress();
    event.set(5).unwrap();
    pe.progress();
    event.set(6).unwrap();
    let five = context.submit(WaitEqual::to(5)).unwrap();
    pe.progress();
    event.set(5).unwrap();
    assert_eq!(pe.run(five).result, Ok(5));
    assert!(!never.is_done());
}

#[test]
fn stop_gives_waits_back() {
    let (mut pe, mut context, event) = start(true);
    let waits: Vec<_> = (1..=8).map(|n| context.submit(WaitEqual::to(n)).unwrap()).collect();
    pe.progress();
    context.stop().wait(&mut pe).unwrap();
    for wait in waits {
        assert_eq!(code(wait.try_take().ok().unwrap().result), Code::IoFailed);
    }
    // The event is its handles', not the context's.
    assert_eq!(event.add(1), Ok(0));
}

#[test]
fn masks_that_tasks_do_not_take_are_refused() {
    let (_pe, mut context, _event) = start(false);
    for mask in [1, 0xff0, 0xff_ff_ff, 0xff00_00ff] {
        let refused = context.submit(WaitEqual { value: 0, mask }).map(|_| ()).unwrap_err();
        assert_eq!(refused.error.code(), Code::InvalidValue, "{mask:#x}");
        assert_eq!(refused.back, WaitEqual { value: 0, mask });
    }
}

/// The program sleeps on its descriptor; a change by another thread, which knows nothing of the program, wakes it.
#[test]
fn a_sleeping_program_is_woken() {
    for threads in [true, false] {
        let (mut pe, mut context, event) = start(threads);
        for round in 1..=20 {
            let wait = context.submit(WaitEqual::to(round)).unwrap();
            let other = event.clone();
            let setter = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2));
                other.set(round).unwrap();
            });
            let begun = Instant::now();
            while !wait.is_done() {
                pe.wait(Some(Duration::from_secs(20))).unwrap();
                assert!(begun.elapsed() < Duration::from_secs(60), "nobody woke the program");
            }
            setter.join().unwrap();
        }
    }
}

/// Many waits in one context, satisfied at once and one by one.
#[test]
fn thousands_of_waits() {
    let (session, device) = session(false);
    let event = SyncEvent::new(&device).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let config = Config { event: Some(event.clone()), tasks: 4000 };
    let mut context = Context::<SyncEvents>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
    let all: Vec<_> = (0..4000).map(|_| context.submit(WaitEqual::to(1)).unwrap()).collect();
    assert_eq!(pe.progress(), 0);
    event.set(1).unwrap();
    for wait in all {
        assert_eq!(pe.run(wait).result, Ok(1));
    }
    let each: Vec<_> = (2..4002).map(|n| context.submit(WaitEqual::to(n)).unwrap()).collect();
    for (wait, n) in each.into_iter().zip(2..) {
        event.set(n).unwrap();
        assert_eq!(pe.run(wait).result, Ok(n));
    }
}

#[test]
fn a_value_in_a_buffer() {
    let (_session, device) = session(false);
    let access = Access::LOCAL_READ_WRITE | Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC;
    let memory = Memory::heap(4096).access(access).register(&[&device]).unwrap();
    let mut buf = memory.buf(64..72).unwrap();
    buf.push_slice(&41u64.to_ne_bytes()).unwrap();
    let event = SyncEvent::in_buf(&device, buf).unwrap();
    assert_eq!(event.add(1), Ok(41));
    assert_eq!(event.get(), Ok(42));
    for range in [64..71, 68..76] {
        let mut bad = match memory.buf(range.clone()) {
            Ok(buf) => buf,
            Err(_) => memory.buf(1000 + range.start..1000 + range.end).unwrap(),
        };
        let n = bad.capacity();
        bad.push_slice(&vec![0; n]).unwrap();
        assert_eq!(code(SyncEvent::in_buf(&device, bad)), Code::InvalidValue, "{range:?}");
    }
}

#[test]
fn configurations_are_checked() {
    let (session, device) = session(false);
    let mut pe = ProgressEngine::new(&session).unwrap();
    let none = Context::<SyncEvents>::start(&mut pe, &device, Config::default());
    assert_eq!(none.map(|_| ()).unwrap_err().code(), Code::InvalidValue);
    let event = SyncEvent::new(&device).unwrap();
    let limit = Caps::of(device.function()).unwrap().max_num_tasks;
    let many = Config { tasks: limit + 1, ..Config::of(&event) };
    let refused = Context::<SyncEvents>::start(&mut pe, &device, many);
    assert_eq!(refused.map(|_| ()).unwrap_err().code(), Code::InvalidValue);
}

#[test]
fn devices_differ() {
    let session = Session::new(Machine::builder().profile(Profile::Cx7).build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    assert_eq!(code(SyncEvent::new(&device)), Code::NotSupported);
    let caps = Caps::of(device.function()).unwrap();
    assert!(caps.net && !caps.local && !caps.export_pci && !caps.import_pci);
}

#[test]
fn the_context_does_not_keep_a_forgotten_event_from_ending() {
    let (mut pe, mut context, event) = start(false);
    let wait = context.submit(WaitEqual::to(1)).unwrap();
    drop(event);
    pe.progress();
    assert_eq!(context.state(), State::Running);
    assert_eq!(pe.run(context.submit(NotifyAdd(1)).unwrap()).result, Ok(0));
    assert_eq!(pe.run(wait).result, Ok(1));
}
