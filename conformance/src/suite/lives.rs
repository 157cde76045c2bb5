//! The life of contexts and progress engines.

use crate::way::{Rig, Subject, Way};
use softdpu::card::Profile;
use softdpu::prelude::*;

/// A result that a stop may give.
fn stopped_or_right<S: Subject>(n: u64, done: Done<S::Task>) {
    match done.result {
        Ok(_) => S::check(n, done),
        Err(e) => assert_eq!(e.code(), Code::IoFailed),
    }
}

/// The states, as the program sees them.
pub fn starts_and_stops<W: Way>() {
    let mut rig = Rig::new::<W>();
    let context = rig.start(4);
    let stopping = context.stop();
    assert_eq!(stopping.state(), State::Stopping, "nothing changes outside progress");
    stopping.wait(&mut rig.pe).unwrap();
}

/// Every task in flight at a stop comes back once.
pub fn stop_brings_everything_back<W: Way>() {
    for progressed in 0..4 {
        let mut rig = Rig::new::<W>();
        let mut context = rig.start(16);
        let flying: Vec<_> = (0..16).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
        for _ in 0..progressed {
            rig.pe.progress();
        }
        context.stop().wait(&mut rig.pe).unwrap();
        for (n, task) in flying.into_iter().enumerate() {
            stopped_or_right::<W::Subject>(n as u64, task.try_take().unwrap());
        }
        assert!(rig.subject.is_whole());
    }
}

/// A context that is dropped stops by itself.
pub fn dropped_context<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(8);
    let flying: Vec<_> = (0..8).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
    drop(context);
    for (n, task) in flying.into_iter().enumerate() {
        stopped_or_right::<W::Subject>(n as u64, rig.pe.run(task));
    }
    assert!(rig.subject.is_whole());
}

/// The drop of a progress engine waits for everything.
pub fn dropped_engine<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut contexts = [rig.start(8), rig.start(8)];
    let mut flying = Vec::new();
    for n in 0..16 {
        flying.push((n, contexts[n as usize % 2].submit(rig.subject.task(n).unwrap()).unwrap()));
    }
    drop(rig.pe);
    assert!(contexts.iter().all(|c| c.state() == State::Idle && c.in_flight() == 0));
    for (n, task) in flying {
        stopped_or_right::<W::Subject>(n, task.try_take().unwrap());
    }
}

/// Nothing can be submitted when the progress engine is gone.
pub fn submits_after_the_engine<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(8);
    drop(rig.pe);
    let refused = context.submit(rig.subject.task(0).unwrap()).unwrap_err();
    assert_eq!((refused.error.code(), refused.error.class()), (Code::BadState, Class::Resource));
}

/// Contexts come and go on one engine.
pub fn restarts<W: Way>() {
    let mut rig = Rig::new::<W>();
    for n in 0..50 {
        let mut context = rig.start(4);
        let done = rig.pe.run(context.submit(rig.subject.task(n).unwrap()).unwrap());
        W::Subject::check(n, done);
        match n % 3 {
            0 => context.stop().wait(&mut rig.pe).unwrap(),
            1 => drop(context.stop()),
            _ => drop(context),
        }
    }
}

/// Two contexts on one engine both get on.
pub fn two_contexts_share_an_engine<W: Way>() {
    let mut rig = Rig::new::<W>();
    let (mut busy, mut modest) = (rig.start(8), rig.start(1));
    let mut flying = std::collections::VecDeque::new();
    for n in 0..200 {
        while flying.len() < 8 {
            flying.push_back(busy.submit(rig.subject.task(n).unwrap()).unwrap());
        }
        let one = modest.submit(rig.subject.task(n).unwrap()).unwrap();
        // However busy the other is, this one is told within a bounded number of rounds.
        let done = rig.pe.run(one);
        W::Subject::check(n, done);
        flying.pop_front();
        while busy.is_full() {
            rig.pe.progress();
        }
    }
    drop(flying);
    rig.land(&busy);
}

/// Many contexts, one task each.
pub fn many_contexts<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut contexts: Vec<_> = (0..32).map(|_| rig.start(1)).collect();
    for round in 0..5 {
        let flying: Vec<_> = contexts
            .iter_mut()
            .enumerate()
            .map(|(i, c)| {
                (round * 100 + i as u64, c.submit(rig.subject.task(round * 100 + i as u64).unwrap()).unwrap())
            })
            .collect();
        for (n, task) in flying {
            let done = rig.pe.run(task);
            W::Subject::check(n, done);
        }
    }
}

/// Two engines on two threads share a device and its memory.
pub fn two_engines<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut here = rig.start(8);
    let mut pe = ProgressEngine::new(&rig.session).unwrap();
    let mut there =
        Context::<<W::Subject as Subject>::Engine>::start(&mut pe, &rig.device, W::Subject::config(8, None))
            .unwrap()
            .wait(&mut pe)
            .unwrap();
    let (send, tasks) = std::sync::mpsc::sync_channel::<(u64, <W::Subject as Subject>::Task)>(4);
    let other = std::thread::spawn(move || {
        for (n, task) in tasks {
            let done = pe.run(there.submit(W::Subject::again(task)).unwrap());
            W::Subject::check(n, done);
        }
    });
    for n in 0..200 {
        let task = loop {
            match rig.subject.task(n) {
                Some(task) => break task,
                None => std::thread::yield_now(),
            }
        };
        let done = rig.pe.run(here.submit(task).unwrap());
        assert!(done.result.is_ok());
        send.send((n, done.task)).unwrap();
    }
    drop(send);
    other.join().unwrap();
    assert!(rig.subject.is_whole());
}

/// Every order of dropping context, engine, device and futures.
pub fn any_order<W: Way>() {
    for order in 0..24usize {
        for landed in [false, true] {
            let mut rig = Rig::new::<W>();
            let mut context = rig.start(4);
            let flying: Vec<_> =
                (0..4).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
            if landed {
                rig.land(&context);
            }
            let Rig { session, device, subject, pe } = rig;
            let (mut pe, mut context, mut device, mut flying) =
                (Some(pe), Some(context), Some((session, device)), Some(flying));
            let mut left = vec![0, 1, 2, 3];
            let mut code = order;
            while !left.is_empty() {
                match left.remove(code % left.len()) {
                    0 => drop(pe.take()),
                    1 => drop(context.take()),
                    2 => drop(device.take()),
                    _ => drop(flying.take()),
                }
                code /= left.len() + 1;
            }
            assert!(subject.is_whole(), "order {order}");
        }
    }
}

/// A device without the engine is refused.
pub fn nothing_starts_without_the_engine<W: Way>() {
    let session = Session::builder().profile(Profile::Cx7).board(W::board()).open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    for device in session.devices() {
        let device = device.open().unwrap();
        let refused =
            Context::<<W::Subject as Subject>::Engine>::start(&mut pe, &device, W::Subject::config(4, None))
                .unwrap_err();
        assert_eq!((refused.code(), refused.class()), (Code::NotSupported, Class::Parameter));
    }
}
