//! Tasks in flight.

use crate::way::{Rig, Subject, Way};
use softdpu::prelude::*;
use std::sync::{Arc, Mutex};

/// A task is awaited.
pub fn awaited<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    for n in 0..20 {
        let flying = context.submit(rig.subject.task(n).unwrap()).unwrap();
        let done = rig.pe.run(flying);
        W::Subject::check(n, done);
    }
    assert!(rig.subject.is_whole());
}

/// A task is asked for until it is back.
pub fn polled<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    for n in 0..20 {
        let mut flying = context.submit(rig.subject.task(n).unwrap()).unwrap();
        let done = loop {
            match flying.try_take() {
                Ok(done) => break done,
                Err(still) => flying = still,
            }
            rig.pe.progress();
        };
        W::Subject::check(n, done);
    }
}

/// Posted tasks go to the handler, each once, in the order of submission.
pub fn handled<W: Way>() {
    let mut rig = Rig::new::<W>();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let list = seen.clone();
    let handler: Handler<<W::Subject as Subject>::Task> = Box::new(move |done, _| {
        let n = W::Subject::number(&done.task);
        W::Subject::check(n, done);
        list.lock().unwrap().push(n);
        Next::Free
    });
    let mut context = rig.start_with(W::Subject::config(8, Some(handler)));
    let mut n = 0;
    while n < 100 {
        match rig.subject.task(n).map(|task| context.post(task)) {
            Some(Ok(())) => n += 1,
            Some(Err(refused)) => {
                assert_eq!(refused.error.code(), Code::Full);
                rig.pe.progress();
            }
            None => {
                rig.pe.progress();
            }
        }
    }
    rig.land(&context);
    assert_eq!(*seen.lock().unwrap(), (0..100).collect::<Vec<_>>());
    assert!(rig.subject.is_whole());
}

/// Whatever order they are carried out in, tasks of one context land in the order of submission.
pub fn told_in_order<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(16);
    for _ in 0..20 {
        let flying: Vec<_> = (0..16).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
        while context.in_flight() > 0 {
            rig.pe.progress();
            let done: Vec<_> = flying.iter().map(|t| t.is_done()).collect();
            assert!(done.is_sorted_by(|a, b| a >= b), "{done:?}");
        }
        for (n, task) in flying.into_iter().enumerate() {
            W::Subject::check(n as u64, task.try_take().unwrap());
        }
    }
}

/// A wrong task is refused at submit, comes back, and leaves no trace.
pub fn refused_tasks_come_back<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    for _ in 0..10 {
        let refused = context.submit(rig.subject.wrong()).unwrap_err();
        assert_eq!(refused.error.class(), Class::Parameter);
        let refused = context.post(refused.back).unwrap_err();
        assert_eq!(refused.error.class(), Class::Parameter);
        assert!(!rig.subject.is_whole());
        drop(refused);
        assert!(rig.subject.is_whole());
    }
    assert_eq!((context.in_flight(), context.state()), (0, State::Running));
}

/// One task more than there are slots is refused; a slot is free when its result was taken.
pub fn full_is_refused<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(3);
    let mut flying: Vec<_> = (0..3).map(|n| context.submit(rig.subject.task(n).unwrap()).unwrap()).collect();
    let refused = context.submit(rig.subject.task(3).unwrap()).unwrap_err();
    assert_eq!((refused.error.code(), refused.error.class()), (Code::Full, Class::Transient));
    rig.land(&context);
    let refused = context.submit(refused.back).unwrap_err();
    assert_eq!(refused.error.code(), Code::Full);
    W::Subject::check(1, flying.remove(1).try_take().unwrap());
    let done = rig.pe.run(context.submit(refused.back).unwrap());
    W::Subject::check(3, done);
}

/// A handler lets its task fly again, in the same slot, as often as it likes.
pub fn flies_again<W: Way>() {
    let mut rig = Rig::new::<W>();
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    let handler: Handler<<W::Subject as Subject>::Task> = Box::new(move |done, _| {
        assert!(done.result.is_ok());
        let mut count = counted.lock().unwrap();
        *count += 1;
        if *count < 200 { Next::Again(W::Subject::again(done.task)) } else { Next::Free }
    });
    let mut context = rig.start_with(W::Subject::config(2, Some(handler)));
    context.post(rig.subject.task(1).unwrap()).unwrap();
    context.post(rig.subject.task(2).unwrap()).unwrap();
    rig.land(&context);
    assert_eq!(*count.lock().unwrap(), 201);
    assert!(rig.subject.is_whole());
}

/// Futures that are dropped, polled or not, take nothing with them.
pub fn dropped<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(2);
    for n in 0..30 {
        let flying = context.submit(rig.subject.task(n).unwrap()).unwrap();
        if n % 3 == 1 {
            rig.land(&context);
        }
        drop(flying);
        rig.land(&context);
        assert!(rig.subject.is_whole());
        assert_eq!(context.state(), State::Running);
    }
}

/// A leaked future keeps its slot and nothing else.
pub fn leaked<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(2);
    std::mem::forget(context.submit(rig.subject.task(0).unwrap()).unwrap());
    for n in 1..10 {
        let done = rig.pe.run(context.submit(rig.subject.task(n).unwrap()).unwrap());
        W::Subject::check(n, done);
    }
    context.stop().wait(&mut rig.pe).unwrap();
}

/// The result is awaited on a thread that neither submits nor progresses.
pub fn awaited_elsewhere<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(4);
    let session = rig.session.clone();
    let (send, flying) = std::sync::mpsc::channel();
    let other = std::thread::spawn(move || {
        let mut elsewhere = ProgressEngine::new(&session).unwrap();
        for (n, task) in flying {
            W::Subject::check(n, elsewhere.run(task));
        }
    });
    for n in 0..200 {
        while context.is_full() {
            rig.pe.progress();
            std::thread::yield_now();
        }
        send.send((n, context.submit(rig.subject.task(n).unwrap()).unwrap())).unwrap();
    }
    drop(send);
    while !other.is_finished() {
        rig.pe.progress();
    }
    other.join().unwrap();
}

/// A batch is many tasks.
pub fn batched<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(8);
    let mut batch = context.batch();
    let refused = batch.extend((0..9).map(|n| rig.subject.task(n).unwrap())).unwrap_err();
    assert_eq!((refused.error.code(), W::Subject::number(&refused.back)), (Code::Full, 8));
    assert_eq!(batch.finish(), 8);
    assert_eq!(rig.land(&context), 8);
}

/// Many tasks through few slots, waiting for room.
pub fn back_pressure<W: Way>() {
    let mut rig = Rig::new::<W>();
    let mut context = rig.start(2);
    let subject = &rig.subject;
    rig.pe.run(async {
        for n in 0..60 {
            let task = subject.task(n).unwrap();
            let flying = context.submit_ready(task).await.unwrap();
            if n % 2 == 0 {
                W::Subject::check(n, flying.await);
            }
        }
    });
}

/// Calls thrown by dice: nothing is lost, nothing is told twice, every result is right.
pub fn by_dice<W: Way>() {
    for seed in 1..20u64 {
        let mut dice = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut roll = |sides: u64| {
            dice ^= dice << 13;
            dice ^= dice >> 7;
            dice ^= dice << 17;
            (dice >> 11) % sides
        };
        let mut rig = Rig::new::<W>();
        let mut context = rig.start(6);
        let mut flying = Vec::new();
        let mut n = 0;
        for _ in 0..300 {
            match roll(6) {
                0 | 1 => {
                    let full = context.is_full();
                    match context.submit(rig.subject.task(n).unwrap()) {
                        Ok(task) => flying.push((n, task)),
                        Err(refused) => assert!(full && refused.error.code() == Code::Full, "seed {seed}"),
                    }
                    n += 1;
                }
                2 => {
                    rig.pe.progress();
                }
                3 if !flying.is_empty() => {
                    let at = roll(flying.len() as u64) as usize;
                    let (n, task) = flying.swap_remove(at);
                    match task.try_take() {
                        Ok(done) => W::Subject::check(n, done),
                        Err(task) => flying.push((n, task)),
                    }
                }
                4 if !flying.is_empty() => drop(flying.swap_remove(roll(flying.len() as u64) as usize)),
                5 if !flying.is_empty() => {
                    let (n, task) = flying.swap_remove(roll(flying.len() as u64) as usize);
                    W::Subject::check(n, rig.pe.run(task));
                }
                _ => {}
            }
        }
        drop(context);
        drop(rig.pe);
        drop(flying);
        assert!(rig.subject.is_whole(), "seed {seed}");
    }
}
