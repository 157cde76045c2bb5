//! Messages of any length, cut in any way, in memory of any kind, alone and many at once: the digest is always that of
//! the crates, and nothing outside the destination's room is written.

mod common;

use common::{Dice, Place, Rig, digest};
use softdpu_room::task::Next;
use softdpu_room::typed::Context;
use softdpu_sha::{Config, Finish, Hash, HashState, Sha, Update};
use std::sync::{Arc, Mutex};

/// Lengths around everything that matters: blocks, padding, scratch, splitting, steps.
fn length(dice: &mut Dice) -> usize {
    let near = [0, 55, 56, 63, 64, 111, 112, 119, 128, 512, 1024, 3968, 4096, 8192, 65_536, 262_144, 300_000];
    match dice.roll(4) {
        0 => dice.roll(300),
        1 => dice.roll(20_000),
        _ => {
            let top = if dice.roll(5) == 0 { near.len() } else { near.len() - 3 };
            (near[dice.roll(top)] + dice.roll(5)).saturating_sub(2)
        }
    }
}

#[test]
fn whole_messages_in_groups() {
    let mut rig = Rig::new();
    let mut dice = Dice(11);
    for round in 0..120 {
        let count = 1 + dice.roll(40);
        // Often all of one kind, as programs do.
        let fixed = (dice.roll(3) == 0).then(|| (dice.algorithm(), length(&mut dice)));
        let (mut tasks, mut places) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let (algorithm, len) = fixed.unwrap_or_else(|| (dice.algorithm(), length(&mut dice)));
            let bytes = dice.bytes(len);
            let pieces = if dice.roll(2) == 0 { 1 } else { 1 + dice.roll(60) };
            let src = rig.list(&bytes, pieces, &mut dice);
            let (place, dst) = Place::new(&rig, algorithm.digest_len(), &mut dice);
            tasks.push(Hash { algorithm, src, dst });
            places.push((place, bytes));
        }
        for (done, (place, bytes)) in rig.run_all(tasks).into_iter().zip(places) {
            let algorithm = done.task.algorithm;
            assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64, "round {round}");
            assert_eq!(done.task.src.to_vec(), bytes);
            place.check(done.task.dst, &digest(algorithm, &bytes));
        }
    }
}

/// Messages in one piece of memory, all of one length: every number of them, and one among them that is of another kind.
#[test]
fn messages_of_one_length() {
    let mut rig = Rig::new();
    let mut dice = Dice(14);
    let lengths =
        [1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 1024, 4096, 5000, 20_000, 65_536];
    for (algorithm, len) in softdpu_sha::Algorithm::ALL.into_iter().flat_map(|a| lengths.map(|len| (a, len)))
    {
        for count in [1, 2, 3, 8, 15, 16, 17, 33] {
            let odd = (dice.roll(2) == 0).then(|| dice.roll(count));
            let (mut tasks, mut places) = (Vec::new(), Vec::new());
            for i in 0..count {
                let bytes = dice.bytes(len);
                let pieces = if odd == Some(i) { 1 + dice.roll(3) } else { 1 };
                let src = rig.list(&bytes, pieces, &mut dice);
                let (place, dst) = Place::new(&rig, algorithm.digest_len(), &mut dice);
                tasks.push(Hash { algorithm, src, dst });
                places.push((place, bytes));
            }
            for (done, (place, bytes)) in rig.run_all(tasks).into_iter().zip(places) {
                assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64, "{count} of {len} bytes");
                place.check(done.task.dst, &digest(algorithm, &bytes));
            }
        }
    }
}

#[test]
fn pieces_of_many_hashes_side_by_side() {
    let mut rig = Rig::new();
    let mut dice = Dice(12);
    for _ in 0..15 {
        let count = 1 + dice.roll(30);
        let mut messages: Vec<(HashState, Vec<u8>)> =
            (0..count).map(|_| (HashState::new(dice.algorithm()), Vec::new())).collect();
        for _ in 0..dice.roll(4) {
            let mut tasks = Vec::new();
            for (hash, message) in &mut messages {
                let most = if dice.roll(20) == 0 { 3000 } else { 40 };
                let blocks = 1 + dice.roll(most);
                let bytes = dice.bytes(blocks * hash.algorithm().block_len());
                message.extend_from_slice(&bytes);
                let pieces = 1 + dice.roll(10);
                tasks.push(Update { hash: hash.clone(), src: rig.list(&bytes, pieces, &mut dice) });
            }
            for (done, (hash, message)) in rig.run_all(tasks).into_iter().zip(&mut messages) {
                assert_eq!(done.result.unwrap(), message.len() as u64);
                *hash = done.task.hash;
                assert_eq!(hash.hashed(), message.len() as u64);
            }
        }
        let (mut tasks, mut places) = (Vec::new(), Vec::new());
        for (hash, message) in &mut messages {
            let len = length(&mut dice);
            let bytes = dice.bytes(len);
            message.extend_from_slice(&bytes);
            let src = rig.list(&bytes, 1 + dice.roll(5), &mut dice);
            let (place, dst) = Place::new(&rig, hash.algorithm().digest_len(), &mut dice);
            tasks.push(Finish { hash: hash.clone(), src, dst });
            places.push(place);
        }
        for ((done, place), (_, message)) in rig.run_all(tasks).into_iter().zip(places).zip(&messages) {
            let algorithm = done.task.hash.algorithm();
            assert_eq!(done.result.unwrap(), algorithm.digest_len() as u64);
            place.check(done.task.dst, &digest(algorithm, message));
        }
    }
}

/// A copy of a state goes on by itself.
#[test]
fn a_common_beginning_is_hashed_once() {
    let mut rig = Rig::new();
    let mut dice = Dice(13);
    let head = dice.bytes(4096);
    let algorithm = softdpu_sha::Algorithm::Sha256;
    let src = rig.full(&head);
    let hash = rig.run(Update { hash: HashState::new(algorithm), src }).task.hash;
    for n in [0, 1, 100] {
        let tail = dice.bytes(n);
        let (src, dst) = (rig.full(&tail), rig.memory(32).buf(..).unwrap());
        let done = rig.run(Finish { hash: hash.clone(), src, dst });
        assert_eq!(done.task.dst.to_vec(), digest(algorithm, &[&head[..], &tail].concat()));
    }
    assert!(!hash.is_finished());
}

/// The digest may go where the message is.
#[test]
fn the_destination_may_be_the_source() {
    let mut rig = Rig::new();
    let mut dice = Dice(14);
    let bytes = dice.bytes(1000);
    let memory = rig.memory(2000);
    let mut src = memory.alias(..1000).unwrap();
    src.push_slice(&bytes).unwrap();
    let dst = memory.alias(500..1000).unwrap();
    let algorithm = dice.algorithm();
    let done = rig.run(Hash { algorithm, src, dst });
    assert_eq!(done.task.dst.to_vec(), digest(algorithm, &bytes));
}

/// Posted tasks go to the handler of their kind.
#[test]
fn handlers_get_their_kind() {
    let mut rig = Rig::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut config = Config { tasks: 8, ..Config::default() };
    let log = Arc::clone(&seen);
    config.handlers.hash = Some(Box::new(move |done, _| {
        log.lock().unwrap().push(("hash", done.result.unwrap()));
        Next::Free
    }));
    let log = Arc::clone(&seen);
    config.handlers.update = Some(Box::new(move |done, outbox| {
        log.lock().unwrap().push(("update", done.result.unwrap()));
        // The same piece again, as the last one.
        let dst = done.task.src.memory().buf(128..192).unwrap();
        outbox.post(Finish { hash: done.task.hash, src: done.task.src, dst }).map_err(|r| r.error).unwrap();
        Next::Free
    }));
    let log = Arc::clone(&seen);
    config.handlers.finish = Some(Box::new(move |done, _| {
        log.lock().unwrap().push(("finish", done.result.unwrap()));
        assert_eq!(done.task.dst.to_vec(), digest(done.task.hash.algorithm(), &[7; 256]));
        Next::Free
    }));
    let mut context =
        Context::<Sha>::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap();
    let memory = rig.memory(192);
    let mut src = memory.buf(..128).unwrap();
    src.push_slice(&[7; 128]).unwrap();
    let hash = HashState::new(softdpu_sha::Algorithm::Sha512);
    context.post(Update { hash, src }).map_err(|r| r.error).unwrap();
    let (src, dst) = (rig.full(b"x"), rig.memory(20).buf(..).unwrap());
    context.post(Hash { algorithm: softdpu_sha::Algorithm::Sha1, src, dst }).map_err(|r| r.error).unwrap();
    while seen.lock().unwrap().len() < 3 {
        rig.pe.progress();
    }
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [("finish", 64), ("hash", 20), ("update", 128)]);
}
