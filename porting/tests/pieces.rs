//! Hashes in pieces on "a card".

mod common;

use common::{Rig, rig, run_children};
use softdpu::Result;
use softdpu::prelude::*;
use softdpu::sha::{Algorithm, Config, Finish, HashState, Sha, Update};

#[test]
fn programs_run_on_a_card() {
    run_children(5);
}

fn start(rig: &mut Rig, tasks: u32) -> Context<Sha> {
    let config = Config { tasks, ..Config::default() };
    Context::<Sha>::start(&mut rig.pe, &rig.device, config).unwrap().wait(&mut rig.pe).unwrap()
}

/// The digest that the same library gives for the whole message at once, on a software card.
fn wanted(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    let session = Session::builder().board(Board::inline()).open().unwrap();
    let device = session.first_with(EngineKind::Sha).unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut sha = Context::<Sha>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let (mut src, dst) = (memory.buf(..32_768).unwrap(), memory.buf(32_768..).unwrap());
    src.push_slice(message).unwrap();
    let hash = sha.submit(softdpu::sha::Hash { algorithm, src, dst }).unwrap();
    pe.run(hash).task.dst.to_vec()
}

fn update(rig: &mut Rig, sha: &mut Context<Sha>, hash: HashState, piece: &[u8]) -> (HashState, Result<u64>) {
    let mut src = rig.memory.buf(..8192).unwrap();
    src.push_slice(piece).unwrap();
    let flight = sha.submit(Update { hash, src }).unwrap();
    let done = rig.pe.run(flight);
    (done.task.hash, done.result)
}

fn close(
    rig: &mut Rig,
    sha: &mut Context<Sha>,
    hash: HashState,
    piece: &[u8],
) -> (HashState, Result<Vec<u8>>) {
    let (mut src, mut dst) = (rig.memory.buf(..8192).unwrap(), rig.memory.buf(8192..16_384).unwrap());
    src.push_slice(piece).unwrap();
    dst.push_slice(b"before").unwrap();
    let flight = sha.submit(Finish { hash, src, dst }).unwrap();
    let done = rig.pe.run(flight);
    let digest = done.result.map(|len| {
        let got = done.task.dst.to_vec();
        assert_eq!((&got[..6], got.len()), (&b"before"[..], 6 + len as usize));
        got[6..].to_vec()
    });
    (done.task.hash, digest)
}

/// Several at a time, in pieces of one block and of many, and the last one of any length.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_pieces_make_the_digest_of_the_whole() {
    let mut rig = rig(1 << 16);
    let mut sha = start(&mut rig, 4);
    let message: Vec<u8> = (0..5000u32).map(|n| ((n * n) >> 3) as u8).collect();
    let mut under_way: Vec<(HashState, usize)> = Algorithm::ALL
        .iter()
        .flat_map(|algorithm| [(HashState::new(*algorithm), 0), (HashState::new(*algorithm), 0)])
        .collect();
    for round in 1..=3 {
        for (n, (hash, at)) in under_way.iter_mut().enumerate() {
            let len = hash.algorithm().block_len() * (1 + (n + round) % 4);
            let piece = &message[*at..*at + len];
            let (back, result) = update(&mut rig, &mut sha, hash.clone(), piece);
            *at += len;
            assert_eq!(result, Ok(*at as u64));
            assert_eq!((back.hashed(), back.is_finished()), (*at as u64, false));
            *hash = back;
        }
    }
    for (n, (hash, at)) in under_way.into_iter().enumerate() {
        let (algorithm, end) = (hash.algorithm(), at + 1 + 37 * n);
        let (hash, digest) = close(&mut rig, &mut sha, hash, &message[at..end]);
        assert_eq!(digest.unwrap(), wanted(algorithm, &message[..end]), "{algorithm}");
        assert!(hash.is_finished() && hash.hashed() == end as u64);
        // Over is over, here as there.
        let mut src = rig.memory.buf(..4096).unwrap();
        src.push_slice(&[0; 128]).unwrap();
        assert_eq!(sha.submit(Update { hash, src }).unwrap_err().error.code(), Code::BadState);
    }
    sha.stop().wait(&mut rig.pe).unwrap();
}

/// A message whose first piece is its last.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_one_piece_is_a_message() {
    let mut rig = rig(1 << 16);
    let mut sha = start(&mut rig, 0);
    for algorithm in Algorithm::ALL {
        let (hash, digest) = close(&mut rig, &mut sha, HashState::new(algorithm), b"abc");
        assert_eq!(digest.unwrap(), wanted(algorithm, b"abc"));
        assert!(hash.is_finished() && hash.hashed() == 3);
    }
}

/// What a card cannot do is said, and costs nothing but the message.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_what_a_card_cannot_do() {
    let mut rig = rig(1 << 16);
    let mut sha = start(&mut rig, 0);
    let (block, algorithm) = ([7; 128], Algorithm::Sha256);
    let (hash, result) = update(&mut rig, &mut sha, HashState::new(algorithm), &block);
    assert_eq!(result, Ok(128));

    // A last piece without bytes is refused before it flies, and the hash can go on.
    let hash = {
        let (src, dst) = (rig.memory.buf(..64).unwrap(), rig.memory.buf(64..128).unwrap());
        let refused = sha.submit(Finish { hash, src, dst }).unwrap_err();
        assert_eq!(refused.error.code(), Code::NotSupported);
        refused.back.hash
    };

    // Two copies of one state cannot both go on.
    let copy = hash.clone();
    let (hash, result) = update(&mut rig, &mut sha, hash, &block);
    assert_eq!(result, Ok(256));
    let (_, result) = update(&mut rig, &mut sha, copy, &block);
    assert_eq!(result.unwrap_err().code(), Code::BadState);

    // Nor does it go to a software card, or into another context.
    let soft = Session::builder().board(Board::inline()).open().unwrap();
    let device = soft.first_with(EngineKind::Sha).unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&soft).unwrap();
    let mut other =
        Context::<Sha>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let mut src = memory.buf(..128).unwrap();
    src.push_slice(&block).unwrap();
    let flight = other.submit(Update { hash: hash.clone(), src }).unwrap();
    let done = pe.run(flight);
    assert_eq!(done.result.unwrap_err().code(), Code::BadState);
    let mut again = start(&mut rig, 0);
    let (_, result) = update(&mut rig, &mut again, hash.clone(), &block);
    assert_eq!(result.unwrap_err().code(), Code::BadState);
    // One that was begun there does not come here.
    let flight = other.submit(Update { hash: HashState::new(algorithm), src: done.task.src }).unwrap();
    let begun = pe.run(flight).task.hash;
    let (_, result) = update(&mut rig, &mut sha, begun.clone(), &block);
    assert_eq!(result.unwrap_err().code(), Code::BadState);
    let (_, result) = close(&mut rig, &mut sha, begun, &block);
    assert_eq!(result.unwrap_err().code(), Code::BadState);

    // None of that has done it any harm.
    let (_, digest) = close(&mut rig, &mut sha, hash, b"end");
    assert_eq!(digest.unwrap(), wanted(algorithm, &[&[7; 256][..], b"end"].concat()));
}

/// Programs may forget hashes: others get their places, those that rested longest first.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_forgotten_hashes_give_way() {
    let mut rig = rig(1 << 16);
    let mut sha = start(&mut rig, 2);
    let algorithm = Algorithm::Sha1;
    let mut kept = HashState::new(algorithm);
    let mut first = None;
    for round in 0..200 {
        let (hash, result) = update(&mut rig, &mut sha, HashState::new(algorithm), &[round as u8; 64]);
        assert_eq!(result, Ok(64));
        first.get_or_insert(hash);
        let (hash, result) = update(&mut rig, &mut sha, kept, &[1; 64]);
        assert_eq!(result, Ok(64 * (round + 1)));
        kept = hash;
    }
    let (hash, result) = update(&mut rig, &mut sha, first.unwrap(), &[0; 64]);
    assert_eq!(result.unwrap_err().code(), Code::BadState);
    let (_, digest) = close(&mut rig, &mut sha, kept, b"x");
    let whole = [&[1; 64 * 200][..], b"x"].concat();
    assert_eq!(digest.unwrap(), wanted(algorithm, &whole));
    // It starts anew like any other.
    let mut hash = hash;
    hash.reset();
    let (_, result) = update(&mut rig, &mut sha, hash, &[0; 64]);
    assert_eq!(result, Ok(64));
}

/// Pieces in flight when the context stops come back.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_stop_brings_pieces_back() {
    let mut rig = rig(1 << 16);
    let mut sha = start(&mut rig, 8);
    let pool = rig.memory.pool(4096).unwrap();
    let mut flying = Vec::new();
    for _ in 0..8 {
        let mut src = pool.take().unwrap();
        src.advance(4096).unwrap();
        flying.push(sha.submit(Update { hash: HashState::new(Algorithm::Sha512), src }).unwrap());
    }
    sha.stop().wait(&mut rig.pe).unwrap();
    for task in flying {
        let done = task.try_take().expect("everything is back after a stop");
        assert!(matches!(done.result.map_err(|e| e.code()), Ok(4096) | Err(Code::IoFailed)));
    }
    assert_eq!(pool.available(), pool.capacity());
}
