//! Memory and sync events that two processes share through "a card".

mod common;

use common::{finish, hex, letter, rig, run_child, session, start_peer, unhex};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use softdpu::sync_event::{
    self, Condition, Get, NotifyAdd, NotifySet, SyncEvent, SyncEvents, WaitEqual, WaitNotEqual,
};
use std::env;
use std::time::Duration;

fn is_alone() -> bool {
    env::var_os("ALONE").is_some()
}

#[test]
fn memory_is_shared() {
    run_child("child_exports_memory");
}

/// The host: exports, and looks at its memory when the other side is through.
#[test]
#[ignore = "run by memory_is_shared"]
fn child_exports_memory() {
    if !is_alone() {
        return;
    }
    let session = session();
    let device = session.device("p0").unwrap().open().unwrap();
    let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
    let memory = Memory::heap(1 << 16).access(access).register(&[&device]).unwrap();
    memory.buf(..9).unwrap().push_slice(b"from host").unwrap();
    let export = memory.export(&device).unwrap();
    assert!(format!("{export:?}").contains("Exported"));

    let peer = start_peer("child_imports_memory", &hex(export.bytes()));
    let (success, text) = finish(peer);
    assert!(success && text.contains("1 passed"), "{text}");
    let mut seen = [0; 13];
    memory.buf(4096..).unwrap().read_at(0, &mut seen).unwrap();
    assert_eq!(&seen, b"from the card");

    // Its own tasks go on.
    let mut rig = rig(8192);
    let mut dma = start(&mut rig.pe, &device);
    let (mut src, dst) = (memory.buf(..64).unwrap(), memory.buf(64..128).unwrap());
    src.set_data(..9).unwrap();
    let copy = dma.submit(Memcpy { src, dst }).unwrap();
    assert_eq!(rig.pe.run(copy).result, Ok(9));

    // What the mask does not allow is refused, and so is what the bridge does not do.
    let private = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    assert_eq!(private.export(&device).unwrap_err().code(), Code::NotPermitted);
    assert_eq!(memory.export_rdma(&device).unwrap_err().code(), Code::NotSupported);
    let damaged = RemoteMemory::import(&device, &export.bytes()[1..]).unwrap_err();
    assert_eq!(damaged.code(), Code::InvalidValue);

    // An export that ended is worth nothing.
    let letter = hex(export.bytes());
    drop(export);
    assert_eq!(RemoteMemory::import(&device, &unhex(&letter)).unwrap_err().code(), Code::InvalidValue);
}

fn start(pe: &mut ProgressEngine, device: &Device) -> Context<Dma> {
    Context::<Dma>::start(pe, device, Config::default()).unwrap().wait(pe).unwrap()
}

/// The card: reads and writes what was exported, one-sidedly.
#[test]
#[ignore = "run by child_exports_memory"]
fn child_imports_memory() {
    let Some(letter) = letter() else { return };
    let mut rig = rig(1 << 16);
    let mut dma = start(&mut rig.pe, &rig.device);
    let remote = RemoteMemory::import(&rig.device, &unhex(&letter)).unwrap();
    assert_eq!((remote.len(), remote.reach().name()), (1 << 16, "card"));

    let mut src = remote.buf(..64).unwrap();
    src.set_data(..9).unwrap();
    let copy = dma.submit(Memcpy { src, dst: rig.memory.buf(..64).unwrap() }).unwrap();
    let done = rig.pe.run(copy);
    assert_eq!((done.result, done.task.dst.to_vec()), (Ok(9), b"from host".to_vec()));

    // A list on both sides.
    let (mut src, mut tail) = (rig.memory.buf(100..200).unwrap(), rig.memory.buf(300..400).unwrap());
    src.push_slice(b"from ").unwrap();
    tail.push_slice(b"the card").unwrap();
    src.chain(tail);
    let mut dst = remote.buf(4096..4099).unwrap();
    dst.chain(remote.buf(4099..5000).unwrap());
    let copy = dma.submit(Memcpy { src, dst }).unwrap();
    let done = rig.pe.run(copy);
    assert_eq!((done.result, done.task.dst.data_len()), (Ok(13), 3));

    // The processor alone gets at none of it.
    assert_eq!(remote.read(0, &mut [0; 4]).unwrap_err().code(), Code::IoFailed);
    // Nor does another device of the card.
    let session = session();
    let other = session.devices()[1].open().unwrap();
    let mut elsewhere = start(&mut rig.pe, &other);
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&other]).unwrap();
    let mut src = remote.buf(..64).unwrap();
    src.set_data(..9).unwrap();
    let refused = elsewhere.submit(Memcpy { src, dst: memory.buf(..).unwrap() }).unwrap_err();
    assert_eq!(refused.error.code(), Code::InvalidValue);
    drop(refused);

    // It comes and goes; what is left of it keeps it.
    for _ in 0..50 {
        let again = RemoteMemory::import(&rig.device, &unhex(&letter)).unwrap();
        let mut src = again.buf(..9).unwrap();
        src.set_data(..).unwrap();
        drop(again);
        let copy = dma.submit(Memcpy { src, dst: rig.memory.buf(8192..8256).unwrap() }).unwrap();
        assert_eq!(rig.pe.run(copy).result, Ok(9));
    }
}

#[test]
fn events_are_shared() {
    run_child("child_exports_an_event");
}

#[test]
#[ignore = "run by events_are_shared"]
fn child_exports_an_event() {
    if !is_alone() {
        return;
    }
    let session = session();
    let device = session.device("p0").unwrap().open().unwrap();
    let event = SyncEvent::new(&device).unwrap();
    // Directly.
    assert_eq!((event.get(), event.add(5), event.set(7), event.get()), (Ok(0), Ok(0), Ok(()), Ok(7)));
    let late = event.wait_for(Condition::equal(8), Duration::from_millis(1)).unwrap_err();
    assert_eq!(late.code(), Code::TimeOut);
    assert_eq!(event.wait(Condition::greater(6)), Ok(7));
    let other = event.clone();
    let waiter = std::thread::spawn(move || other.wait(Condition::equal(8).masked(0xff)));
    assert_eq!(event.add(0x101), Ok(7));
    assert_eq!(waiter.join().unwrap(), Ok(0x108));
    event.set(0).unwrap();
    assert_eq!(event.export_net().unwrap_err().code(), Code::NotSupported);
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let in_memory = SyncEvent::in_buf(&device, memory.buf(..8).unwrap()).unwrap_err();
    assert_eq!(in_memory.code(), Code::NotSupported);

    // With the other side; what it does to the value is seen here, by tasks.
    let export = event.export().unwrap();
    assert_eq!(SyncEvent::import(&device, &export[1..]).unwrap_err().code(), Code::InvalidValue);
    let peer = start_peer("child_imports_an_event", &hex(&export));
    let mut pe = ProgressEngine::new(&session).unwrap();
    let config = sync_event::Config::of(&event);
    let mut tasks = Context::<SyncEvents>::start(&mut pe, &device, config).unwrap().wait(&mut pe).unwrap();
    let there = tasks.submit(WaitEqual::to(1)).unwrap();
    assert_eq!(pe.run(there).result, Ok(1));
    let set = tasks.submit(NotifySet(10)).unwrap();
    assert_eq!(pe.run(set).result, Ok(()));
    let changed = tasks.submit(WaitNotEqual::to(10)).unwrap();
    assert_eq!(pe.run(changed).result, Ok(11));
    let add = tasks.submit(NotifyAdd(100)).unwrap();
    assert_eq!(pe.run(add).result, Ok(11));
    let get = tasks.submit(Get).unwrap();
    assert_eq!(pe.run(get).result, Ok(111));
    let (success, text) = finish(peer);
    assert!(success && text.contains("1 passed"), "{text}");

    // A wait that nobody ends comes back with the stop.
    let never = tasks.submit(WaitEqual::to(0)).unwrap();
    pe.progress();
    tasks.stop().wait(&mut pe).unwrap();
    assert_eq!(never.try_take().unwrap().result.unwrap_err().code(), Code::IoFailed);
    drop(event);
    assert_eq!(SyncEvent::import(&device, &export).unwrap_err().code(), Code::InvalidValue);
}

#[test]
#[ignore = "run by child_exports_an_event"]
fn child_imports_an_event() {
    let Some(letter) = letter() else { return };
    let session = session();
    let device = session.device("p0").unwrap().open().unwrap();
    let event = SyncEvent::import(&device, &unhex(&letter)).unwrap();
    assert_eq!(event.add(1), Ok(0));
    assert_eq!(event.wait(Condition::equal(10)), Ok(10));
    assert_eq!(event.add(1), Ok(10));
    assert_eq!(event.wait(Condition::greater(100)), Ok(111));
}
