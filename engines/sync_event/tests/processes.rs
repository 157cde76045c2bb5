//! Two processes: both sides in both modes, contended adds, deaths, forged and stale exports, another user.

mod common;

use common::{alone, await_file, command, context, device, end, put_file, role as my_role, spawn};
use softdpu_memory::export::checksum;
use softdpu_memory::{Access, Memory};
use softdpu_status::Code;
use softdpu_sync_event::{Condition, NotifySet, SyncEvent, WaitEqual, WaitNotEqual};
use std::os::unix::process::CommandExt as _;
use std::time::Duration;

/// What the other process does.
#[test]
#[ignore = "started by the other tests"]
fn role() {
    let Some((role, with)) = my_role() else { return };
    let (_session, device) = device();
    match role.as_str() {
        "direct" => {
            let event = SyncEvent::import(&device, &with).unwrap();
            assert_eq!(event.wait(Condition::equal(1)), Ok(1));
            event.set(2).unwrap();
        }
        "tasks" => {
            let event = SyncEvent::import(&device, &with).unwrap();
            let (mut pe, mut context) = context(&event);
            assert_eq!(pe.run(context.submit(WaitEqual::to(1)).unwrap()).result, Ok(1));
            assert_eq!(pe.run(context.submit(NotifySet(2)).unwrap()).result, Ok(()));
            context.stop().wait(&mut pe).unwrap();
        }
        "add" => {
            let event = SyncEvent::import(&device, &with).unwrap();
            let before = event.add(0).unwrap();
            assert!(before <= 500_000);
            (0..500_000).for_each(|_| {
                event.add(1).unwrap();
            });
        }
        "hold" => {
            let event = SyncEvent::import(&device, &with).unwrap();
            event.set(1).unwrap();
            let _ = event.wait(Condition::equal(u64::MAX));
        }
        "own" => {
            let event = SyncEvent::new(&device).unwrap();
            put_file("export", &event.export().unwrap());
            event.wait(Condition::equal(7)).unwrap();
            drop(event);
            put_file("stopped", b"");
            std::thread::sleep(Duration::from_secs(600));
        }
        "stranger" => {
            let refused = SyncEvent::import(&device, &with).unwrap_err();
            let fits = matches!(refused.code(), Code::NotPermitted | Code::InvalidValue | Code::Driver);
            assert!(fits, "{refused}");
        }
        other => panic!("no role {other}"),
    }
}

#[test]
fn both_sides_in_both_modes() {
    alone("both_sides_in_both_modes", || {
        let (_session, device) = device();
        for (mine, other) in
            [("direct", "direct"), ("direct", "tasks"), ("tasks", "direct"), ("tasks", "tasks")]
        {
            let event = SyncEvent::new(&device).unwrap();
            let export = event.export().unwrap();
            assert!(export.len() <= softdpu_sync_event::MAX_EXPORT);
            let mut child = spawn(other, &export);
            if mine == "direct" {
                event.set(1).unwrap();
                // Blocked, without a progress engine.
                assert_eq!(event.wait(Condition::greater(1)), Ok(2));
            } else {
                let (mut pe, mut context) = context(&event);
                assert_eq!(pe.run(context.submit(NotifySet(1)).unwrap()).result, Ok(()));
                assert_eq!(pe.run(context.submit(WaitNotEqual::to(1)).unwrap()).result, Ok(2));
            }
            assert_eq!(end(&mut child), Some(0), "{mine} {other}");
        }
    });
}

#[test]
fn a_million_adds_of_two_processes() {
    alone("a_million_adds_of_two_processes", || {
        let (_session, device) = device();
        let event = SyncEvent::new(&device).unwrap();
        let mut child = spawn("add", &event.export().unwrap());
        (0..500_000).for_each(|_| {
            event.add(1).unwrap();
        });
        assert_eq!(event.wait(Condition::greater(999_999)), Ok(1_000_000));
        assert_eq!(end(&mut child), Some(0));
        assert_eq!(event.get(), Ok(1_000_000));
    });
}

#[test]
fn an_importer_that_is_killed_takes_nothing_along() {
    alone("an_importer_that_is_killed_takes_nothing_along", || {
        let (_session, device) = device();
        for _ in 0..10 {
            let event = SyncEvent::new(&device).unwrap();
            let mut child = spawn("hold", &event.export().unwrap());
            event.wait(Condition::equal(1)).unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(event.add(41), Ok(1));
            assert_eq!(event.get(), Ok(42));
        }
    });
}

#[test]
fn an_owner_that_is_killed_leaves_an_answer() {
    alone("an_owner_that_is_killed_leaves_an_answer", || {
        let (_session, device) = device();
        for _ in 0..5 {
            let mut child = spawn("own", &[]);
            let export = await_file("export");
            std::fs::remove_file(common::file("export")).unwrap();
            let event = SyncEvent::import(&device, &export).unwrap();
            event.set(3).unwrap();
            let other = event.clone();
            let blocked = std::thread::spawn(move || other.wait(Condition::equal(u64::MAX)));
            let (mut pe, mut context) = context(&event);
            let wait = context.submit(WaitEqual::to(u64::MAX)).unwrap();
            pe.progress();
            child.kill().unwrap();
            child.wait().unwrap();
            let gone = Code::ConnectionReset;
            assert_eq!(blocked.join().unwrap().unwrap_err().code(), gone);
            assert_eq!(pe.run(wait).result.unwrap_err().code(), gone);
            assert_eq!(event.get().unwrap_err().code(), gone);
            assert_eq!(event.set(1).unwrap_err().code(), gone);
            let stale = SyncEvent::import(&device, &export).unwrap_err();
            assert_eq!(stale.code(), Code::InvalidValue);
        }
    });
}

#[test]
fn a_stopped_event_leaves_an_answer() {
    alone("a_stopped_event_leaves_an_answer", || {
        let (_session, device) = device();
        let mut child = spawn("own", &[]);
        let export = await_file("export");
        let event = SyncEvent::import(&device, &export).unwrap();
        let (mut pe, mut context) = context(&event);
        let wait = context.submit(WaitEqual::to(u64::MAX)).unwrap();
        pe.progress();
        event.set(7).unwrap();
        await_file("stopped");
        assert_eq!(event.get().unwrap_err().code(), Code::Shutdown);
        assert_eq!(event.add(1).unwrap_err().code(), Code::Shutdown);
        assert_eq!(pe.run(wait).result.unwrap_err().code(), Code::Shutdown);
        let stale = SyncEvent::import(&device, &export).unwrap_err();
        assert_eq!(stale.code(), Code::InvalidValue);
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

/// Every byte changed, with and without a checksum that fits; every cut; for an owner here and for one elsewhere.
#[test]
fn forged_exports_are_refused() {
    alone("forged_exports_are_refused", || {
        let (_session, device) = device();
        let here = SyncEvent::new(&device).unwrap();
        let mut child = spawn("own", &[]);
        for export in [here.export().unwrap(), await_file("export")] {
            let refused = |bytes: &[u8], what: &str| {
                let code = SyncEvent::import(&device, bytes).map(|_| ()).unwrap_err().code();
                assert_eq!(code, Code::InvalidValue, "{what}");
            };
            for at in 0..export.len() {
                let mut bad = export.clone();
                bad[at] ^= 0x10;
                refused(&bad, &format!("byte {at}"));
                refused(&export[..at], &format!("cut to {at}"));
                let (body, sum) = bad.split_at_mut(export.len() - 8);
                sum.copy_from_slice(&checksum(body).to_le_bytes());
                if bad != export {
                    refused(&bad, &format!("byte {at}, checksum fits"));
                }
            }
            let event = SyncEvent::import(&device, &export).unwrap();
            event.set(5).unwrap();
            assert_eq!(event.get(), Ok(5));
        }
        assert_eq!(
            SyncEvent::import(&device, &here.export_net().unwrap()).unwrap_err().code(),
            Code::InvalidValue
        );
        let export = here.export().unwrap();
        drop(here);
        assert_eq!(SyncEvent::import(&device, &export).unwrap_err().code(), Code::InvalidValue);
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

#[test]
fn another_user_is_refused() {
    alone("another_user_is_refused", || {
        let (_session, device) = device();
        let event = SyncEvent::new(&device).unwrap();
        let export = event.export().unwrap();
        // Only who may become another user can try.
        let spawned = command("stranger", &export).uid(65534).gid(65534).spawn();
        match spawned {
            Ok(mut child) => assert_eq!(end(&mut child), Some(0)),
            Err(error) => eprintln!("skipped: cannot start a process of another user: {error}"),
        }
        event.set(9).unwrap();
        assert_eq!(event.get(), Ok(9));
    });
}

/// The value lies in memory that both processes map.
#[test]
fn a_value_in_a_buffer_is_shared() {
    alone("a_value_in_a_buffer_is_shared", || {
        let (_session, device) = device();
        let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
        let memory = Memory::memfd(4096).access(access).register(&[&device]).unwrap();
        let mut buf = memory.buf(64..72).unwrap();
        buf.push_slice(&0u64.to_ne_bytes()).unwrap();
        let event = SyncEvent::in_buf(&device, buf).unwrap();
        let mut child = spawn("direct", &event.export().unwrap());
        event.set(1).unwrap();
        assert_eq!(event.wait(Condition::equal(2)), Ok(2));
        assert_eq!(end(&mut child), Some(0));
    });
}
