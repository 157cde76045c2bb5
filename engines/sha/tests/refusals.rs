//! What is refused, with which code, and that nothing changes then.

mod common;

use common::{Dice, Rig, bf3};
use softdpu_card::{EngineKind, Machine};
use softdpu_memory::{Access, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Session;
use softdpu_room::typed::Context;
use softdpu_sha::{Algorithm, Caps, Config, Finish, Hash, HashState, Sha, Update};
use softdpu_status::Code;

#[test]
fn destinations_without_room() {
    let mut rig = Rig::new();
    for algorithm in Algorithm::ALL {
        let n = algorithm.digest_len();
        let dst = rig.memory(n - 1).buf(..).unwrap();
        let src = rig.full(b"abc");
        assert_eq!(rig.refusal(Hash { algorithm, src, dst }), Code::InvalidValue);
        // Only the first element counts, and only what is behind its data.
        let memory = rig.memory(4 * n);
        let mut dst = memory.buf(..n).unwrap();
        dst.set_data(..1).unwrap();
        dst.chain(memory.buf(n..).unwrap());
        let src = rig.full(b"abc");
        assert_eq!(rig.refusal(Hash { algorithm, src, dst }), Code::InvalidValue);
        let (src, dst) = (rig.full(b"abc"), rig.memory(n - 1).buf(..).unwrap());
        assert_eq!(rig.refusal(Finish { hash: HashState::new(algorithm), src, dst }), Code::InvalidValue);
    }
}

#[test]
fn pieces_that_are_no_pieces() {
    let mut rig = Rig::new();
    for algorithm in Algorithm::ALL {
        for len in [0, 1, algorithm.block_len() - 1, algorithm.block_len() + 1] {
            let src = rig.full(&vec![1; len]);
            assert_eq!(
                rig.refusal(Update { hash: HashState::new(algorithm), src }),
                Code::InvalidValue,
                "{len}"
            );
        }
    }
}

#[test]
fn finished_hashes_want_a_reset() {
    let mut rig = Rig::new();
    let algorithm = Algorithm::Sha1;
    let (src, dst) = (rig.full(b"abc"), rig.memory(100).buf(..).unwrap());
    let done = rig.run(Finish { hash: HashState::new(algorithm), src, dst });
    let first = done.task.dst.to_vec();
    let mut hash = done.task.hash;
    assert!(hash.is_finished() && !hash.is_broken());
    let src = rig.full(&[0; 64]);
    assert_eq!(rig.refusal(Update { hash: hash.clone(), src }), Code::BadState);
    let (src, dst) = (rig.full(b"abc"), rig.memory(20).buf(..).unwrap());
    assert_eq!(rig.refusal(Finish { hash: hash.clone(), src, dst }), Code::BadState);
    hash.reset();
    let (src, dst) = (rig.full(b"abc"), rig.memory(20).buf(..).unwrap());
    assert_eq!(rig.run(Finish { hash, src, dst }).task.dst.to_vec(), first);
}

/// A large piece is given back half way by a context that stops: the state says so.
#[test]
fn broken_hashes_want_a_reset() {
    let machine = Machine::builder().build().unwrap();
    let mut rig = Rig::on(machine, softdpu_board::inline(), Config::default());
    let bytes = vec![3; 2 << 20];
    let src = rig.full(&bytes);
    let flight = rig
        .context
        .submit(Update { hash: HashState::new(Algorithm::Sha256), src })
        .map_err(|r| r.error)
        .unwrap();
    // Opened, and some steps of 256 KiB done, but not all.
    for _ in 0..3 {
        rig.pe.progress();
    }
    let stopping = rig.context.stop();
    let done = rig.pe.run(flight);
    assert_eq!(done.result.unwrap_err().code(), Code::IoFailed);
    let mut hash = done.task.hash;
    assert!(hash.is_broken() && hash.hashed() == 0);
    stopping.wait(&mut rig.pe).unwrap();
    let mut context = Context::<Sha>::start(&mut rig.pe, &rig.device, Config::default())
        .and_then(|s| s.wait(&mut rig.pe))
        .unwrap();
    let refused = context.submit(Update { hash: hash.clone(), src: done.task.src }).err().unwrap();
    assert_eq!(refused.error.code(), Code::BadState);
    hash.reset();
    let flight = context.submit(Update { hash, src: refused.back.src }).map_err(|r| r.error).unwrap();
    let done = rig.pe.run(flight);
    assert_eq!(done.result.unwrap(), bytes.len() as u64);
}

#[test]
fn rights_and_limits() {
    let mut rig = Rig::new();
    let algorithm = Algorithm::Sha256;
    let memory = Memory::heap(100).access(Access::LOCAL_READ_ONLY).register(&[rig.device.shared()]).unwrap();
    let (src, dst) = (rig.full(b"abc"), memory.buf(..).unwrap());
    assert_eq!(rig.refusal(Hash { algorithm, src, dst }), Code::NotPermitted);
    // A list that is too long, by one.
    let most = Caps::of(rig.device.function()).unwrap().max_buf_list_len as usize;
    let mut dice = Dice(5);
    let src = rig.list(&[1; 500], most + 1, &mut dice);
    let dst = rig.memory(32).buf(..).unwrap();
    assert_eq!(rig.refusal(Hash { algorithm, src, dst }), Code::InvalidValue);
    let (src, dst) = (rig.list(&[1; 500], most, &mut dice), rig.memory(32).buf(..).unwrap());
    assert_eq!(rig.run(Hash { algorithm, src, dst }).result.unwrap(), 32);
    // Memory of another device.
    let machine = Machine::builder().build().unwrap();
    let other = Session::new(machine, softdpu_board::inline());
    let devices = other.devices();
    let other =
        devices.iter().find(|d| d.function().pci() != rig.device.function().pci()).unwrap().open().unwrap();
    let memory = Memory::heap(100).register(&[other.shared()]).unwrap();
    let mut src = memory.buf(..).unwrap();
    src.push_slice(b"abc").unwrap();
    let dst = rig.memory(32).buf(..).unwrap();
    assert_eq!(rig.refusal(Hash { algorithm, src, dst }), Code::InvalidValue);
}

#[test]
fn contexts_that_cannot_be() {
    common::watchdog();
    let session = Session::new(Machine::builder().build().unwrap(), softdpu_board::inline());
    let device = session.first_with(EngineKind::Sha).unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let limit = Caps::of(device.function()).unwrap().max_num_tasks;
    let config = Config { tasks: limit + 1, ..Config::default() };
    assert_eq!(Context::<Sha>::start(&mut pe, &device, config).err().unwrap().code(), Code::InvalidValue);
    // A card without the engine.
    let session = Session::new(bf3(), softdpu_board::inline());
    assert_eq!(session.first_with(EngineKind::Sha).err().unwrap().code(), Code::NotFound);
    let info = &session.devices()[0];
    assert_eq!(info.caps::<Sha>().unwrap_err().code(), Code::NotSupported);
    let device = info.open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let started = Context::<Sha>::start(&mut pe, &device, Config::default());
    assert_eq!(started.err().unwrap().code(), Code::NotSupported);
}
