//! Programs of the safe interface on "a card": SoftDPU's own C libraries, loaded in the place of a card's.
//!
//! The libraries are loaded once per process and read the environment, so everything runs in a child process.

use common::{Rig, Runtime, finish, program, rig, run_children, session};
use softdpu::aes_gcm::{self, AesGcm, Decrypt, Encrypt, EncryptInPlace, Iv, Key, TagLen};
use softdpu::compress::{self, Compress, CompressDeflate, DecompressDeflate};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::erasure_coding::{self, Create, ErasureCoding, Matrix, Recover};
use softdpu::prelude::*;
use softdpu::sha::{self, Algorithm, Hash, Sha};
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

mod common;

/// Runs the tests below that are marked as children, and those of the session with worker threads by themselves.
#[test]
fn programs_run_on_a_card() {
    run_children(15);
}

/// The example prints what the software card would.
#[test]
fn the_example_runs() {
    let kit = softdpu_sdk::kit_for_tests().unwrap();
    let runtime = Runtime::new("example");
    // Tests lie in `deps`, examples beside it.
    let tests = env::current_exe().unwrap();
    let example = tests.parent().and_then(Path::parent).unwrap().join("examples/on_a_card");
    let done = Command::new(example)
        .arg("abc")
        .env("SOFTDPU_CARD_LIBRARIES", kit.lib_dir())
        .env("SOFTDPU_RUNTIME_DIR", &runtime.0)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(text.starts_with("device 0000:03:00.0 (p0)\ncopied: abc\nSHA-256: ba7816bf"), "{text}");
}

/// A fault plan is heeded by the C libraries alone: what fails here failed on the card.
#[test]
fn what_fails_on_the_card_fails_in_the_program() {
    let runtime = Runtime::new("faults");
    fs::create_dir_all(&runtime.0).unwrap();
    let plan = runtime.0.join("plan.toml");
    fs::write(&plan, "[[fault]]\nengine = \"dma\"\ntask = 2\nerror = \"IO_FAILED\"\n").unwrap();
    let child = program(&runtime)
        .args(["--ignored", "--exact", "child_second_copy_fails"])
        .env("SOFTDPU_FAULTS", &plan)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (success, text) = finish(child);
    assert!(success && text.contains("1 passed"), "{text}");
}

#[test]
#[ignore = "run by what_fails_on_the_card_fails_in_the_program"]
fn child_second_copy_fails() {
    if env::var_os("SOFTDPU_FAULTS").is_none() {
        return;
    }
    let mut rig = rig(8192);
    let mut dma = rig.dma(Config::default());
    let (mut src, dst) = (rig.memory.buf(..64).unwrap(), rig.memory.buf(64..128).unwrap());
    src.push_slice(b"bytes").unwrap();
    let copy = dma.submit(Memcpy { src, dst }).unwrap();
    let Done { task, result } = rig.pe.run(copy);
    assert_eq!(result, Ok(5));
    let copy = dma.submit(task).unwrap();
    let Done { task, result } = rig.pe.run(copy);
    assert_eq!(result.unwrap_err().code(), Code::IoFailed);
    assert_eq!(task.dst.data_len(), 5, "nothing was added");
    // As with the software engine: a failed copy stops its context.
    let end = Instant::now() + Duration::from_secs(60);
    while dma.state() != State::Idle {
        rig.pe.progress();
        assert!(Instant::now() < end, "it stops");
    }
    let refused = dma.submit(task).unwrap_err();
    assert_eq!(refused.error.code(), Code::BadState);
    drop(refused);
    // The next one works: the plan speaks of one task.
    let mut again = rig.dma(Config::default());
    let (mut src, dst) = (rig.memory.buf(128..192).unwrap(), rig.memory.buf(256..).unwrap());
    src.push_slice(b"more").unwrap();
    let copy = again.submit(Memcpy { src, dst }).unwrap();
    assert_eq!(rig.pe.run(copy).result, Ok(4));
}

/// Without libraries there is no session, and the error says so.
#[test]
fn no_card_is_said() {
    let done = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", "child_without_libraries"])
        .env("SOFTDPU_CARD_LIBRARIES", "/no/such/folder")
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
#[ignore = "run by no_card_is_said"]
fn child_without_libraries() {
    if env::var("SOFTDPU_CARD_LIBRARIES").is_ok_and(|folder| folder.starts_with("/no/")) {
        assert_eq!(softdpu_card_bridge::session().unwrap_err().code(), Code::NotFound);
    }
}

trait Copies {
    fn dma(&mut self, config: Config) -> Context<Dma>;
}

impl Copies for Rig {
    fn dma(&mut self, config: Config) -> Context<Dma> {
        Context::<Dma>::start(&mut self.pe, &self.device, config).unwrap().wait(&mut self.pe).unwrap()
    }
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_devices_are_those_of_the_card() {
    let session = session();
    let names: Vec<String> = session.devices().iter().map(DeviceInfo::name).collect();
    assert_eq!(names, ["0000:03:00.0", "0000:03:00.1", "0000:b1:00.0", "0000:b1:00.1"]);
    for device in session.devices() {
        let function = device.function();
        let has: Vec<_> = [
            EngineKind::Sha,
            EngineKind::Compress,
            EngineKind::ErasureCoding,
            EngineKind::AesGcm,
            EngineKind::SyncEvent,
            EngineKind::Comch,
            EngineKind::Rdma,
        ]
        .map(|kind| function.supports(kind))
        .into();
        assert_eq!(has, [true, true, true, true, true, true, false], "{}", device.name());
        assert!(function.limits().dma.max_buf_size >= 1 << 20);
    }
    assert_eq!(session.device("p0").unwrap().name(), "0000:03:00.0");
    assert_eq!(session.first_with(EngineKind::EthTxq).unwrap_err().code(), Code::NotFound);
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_copies_of_all_sizes() {
    let mut rig = rig(4 << 20);
    let mut dma = rig.dma(Config::default());
    for len in [1, 64, 4096, 65_537, 2 << 20] {
        let (mut src, mut dst) = (rig.memory.buf(..2 << 20).unwrap(), rig.memory.buf(2 << 20..).unwrap());
        let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
        src.push_slice(&bytes).unwrap();
        // Behind data that is there.
        let before = if len < 2 << 20 { 3 } else { 0 };
        dst.push_slice(&b"abc"[..before]).unwrap();
        let copy = dma.submit(Memcpy { src, dst }).unwrap();
        let done = rig.pe.run(copy);
        assert_eq!(done.result, Ok(len as u64));
        let got = done.task.dst.to_vec();
        assert_eq!((&got[..before], &got[before..] == bytes.as_slice()), (&b"abc"[..before], true), "{len}");
    }
    dma.stop().wait(&mut rig.pe).unwrap();
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_lists_are_gathered_and_scattered() {
    let mut rig = rig(1 << 16);
    // One task takes more descriptors than the inventory begins with.
    let mut dma = rig.dma(Config { memcpy: 1, ..Config::default() });
    let pool = rig.memory.pool(256).unwrap();
    let list = |pieces: usize, fill: bool| {
        let mut list = pool.take().unwrap();
        for n in 0..pieces {
            let mut piece = pool.take().unwrap();
            if fill && n % 2 == 0 {
                piece.push_slice(&[n as u8; 100]).unwrap();
            }
            list.chain(piece);
        }
        list
    };
    let copy = dma.submit(Memcpy { src: list(30, true), dst: list(20, false) }).unwrap();
    let done = rig.pe.run(copy);
    assert_eq!(done.result, Ok(1500));
    assert!(done.task.dst.to_vec() == done.task.src.to_vec());
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_many_in_flight_come_back_in_order() {
    let mut rig = rig(1 << 20);
    let (tell, told) = mpsc::channel();
    let handler = move |done: Done<Memcpy>, _: &mut Outbox<'_, Dma>| {
        assert_eq!(done.result, Ok(8));
        let number = u64::from_le_bytes(done.task.dst.to_vec().try_into().unwrap());
        tell.send(number).unwrap();
        Next::Free
    };
    let mut dma = rig.dma(Config { memcpy: 32, on_memcpy: Some(Box::new(handler)), ..Config::default() });
    let pool = rig.memory.pool(64).unwrap();
    let (mut sent, mut got) = (0u64, 0u64);
    while got < 1000 {
        while sent < 1000 && pool.available() >= 2 {
            let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
            src.push_slice(&sent.to_le_bytes()).unwrap();
            match dma.post(Memcpy { src, dst }) {
                Ok(()) => sent += 1,
                Err(refused) => {
                    assert_eq!(refused.error.code(), Code::Full);
                    break;
                }
            }
        }
        rig.pe.progress();
        for number in told.try_iter() {
            assert_eq!(number, got);
            got += 1;
        }
    }
    assert_eq!(dma.in_flight(), 0);
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_handlers_send_tasks_again() {
    let mut rig = rig(1 << 16);
    let (tell, told) = mpsc::channel();
    let mut rounds = 0;
    let handler = move |mut done: Done<Memcpy>, _: &mut Outbox<'_, Dma>| {
        assert_eq!(done.result, Ok(64));
        rounds += 1;
        tell.send(rounds).unwrap();
        done.task.dst.reset();
        if rounds < 100 { Next::Again(done.task) } else { Next::Free }
    };
    let mut dma = rig.dma(Config { memcpy: 4, on_memcpy: Some(Box::new(handler)), ..Config::default() });
    let (mut src, dst) = (rig.memory.buf(..64).unwrap(), rig.memory.buf(64..128).unwrap());
    src.push_slice(&[9; 64]).unwrap();
    dma.post(Memcpy { src, dst }).unwrap();
    let end = Instant::now() + Duration::from_secs(60);
    while told.try_iter().last() != Some(100) {
        rig.pe.progress();
        assert!(Instant::now() < end, "the task goes round");
    }
    dma.stop().wait(&mut rig.pe).unwrap();
    assert_eq!(rig.memory.buf(..).unwrap().capacity(), 1 << 16, "the buffers are back");
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_digests() {
    let mut rig = rig(8192);
    let starting = Context::<Sha>::start(&mut rig.pe, &rig.device, sha::Config::default()).unwrap();
    let mut sha = starting.wait(&mut rig.pe).unwrap();
    for (algorithm, wanted) in [
        (Algorithm::Sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (Algorithm::Sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            Algorithm::Sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
        ),
    ] {
        let (mut src, dst) = (rig.memory.buf(..4096).unwrap(), rig.memory.buf(4096..).unwrap());
        src.push_slice(b"abc").unwrap();
        let hash = sha.submit(Hash { algorithm, src, dst }).unwrap();
        let done = rig.pe.run(hash);
        let digest: String = done.task.dst.to_vec().iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!((done.result.unwrap() as usize, digest.as_str()), (wanted.len() / 2, wanted));
    }
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_deflate_there_and_back() {
    let mut rig = rig(1 << 20);
    let starting = Context::<Compress>::start(&mut rig.pe, &rig.device, compress::Config::default()).unwrap();
    let mut compress = starting.wait(&mut rig.pe).unwrap();
    let text = b"again and again ".repeat(5000);
    let mut src = rig.memory.buf(..100_000).unwrap();
    src.push_slice(&text).unwrap();
    let task =
        compress.submit(CompressDeflate { src, dst: rig.memory.buf(100_000..200_000).unwrap() }).unwrap();
    let packed = rig.pe.run(task);
    let sums = packed.result.unwrap();
    assert!(packed.task.dst.data_len() < text.len() / 20);
    let plain = rig.memory.buf(300_000..400_000).unwrap();
    let task = compress.submit(DecompressDeflate { src: packed.task.dst, dst: plain }).unwrap();
    let unpacked = rig.pe.run(task);
    assert_eq!(unpacked.result.unwrap(), sums, "both know the sums of the plain data");
    assert!(unpacked.task.dst.to_vec() == text);

    // A damaged stream fails as a task, and the context goes on.
    let mut src = rig.memory.buf(400_000..400_100).unwrap();
    src.push_slice(&[0xff; 50]).unwrap();
    let task = compress.submit(DecompressDeflate { src, dst: rig.memory.buf(500_000..).unwrap() }).unwrap();
    let damaged = rig.pe.run(task);
    assert_eq!(damaged.result.unwrap_err().code(), Code::IoFailed);
    assert_eq!((damaged.task.dst.data_len(), compress.state()), (0, State::Running));
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_lost_blocks_come_back() {
    const BLOCK: usize = 1024;
    let mut rig = rig(64 * BLOCK);
    let config = erasure_coding::Config::default();
    let starting = Context::<ErasureCoding>::start(&mut rig.pe, &rig.device, config).unwrap();
    let mut coding = starting.wait(&mut rig.pe).unwrap();
    let matrix = Matrix::cauchy(4, 2).unwrap();
    let bytes: Vec<u8> = (0..4 * BLOCK).map(|i| (i * i / 7) as u8).collect();
    let mut data = rig.memory.buf(..4 * BLOCK).unwrap();
    data.push_slice(&bytes).unwrap();
    let rdnc = rig.memory.buf(4 * BLOCK..6 * BLOCK).unwrap();
    let task = coding.submit(Create { matrix: matrix.clone(), data, rdnc }).unwrap();
    let created = rig.pe.run(task);
    assert_eq!(created.result, Ok(2 * BLOCK as u64));
    // Blocks 1 and 2 are lost; 0, 3 and both redundancy blocks are left.
    let mut available = rig.memory.buf(8 * BLOCK..12 * BLOCK).unwrap();
    available.push_slice(&bytes[..BLOCK]).unwrap();
    available.push_slice(&bytes[3 * BLOCK..]).unwrap();
    available.push_slice(&created.task.rdnc.to_vec()).unwrap();
    let recovered = rig.memory.buf(16 * BLOCK..18 * BLOCK).unwrap();
    let recover = Recover { matrix: matrix.recover(&[1, 2]).unwrap(), available, recovered };
    let task = coding.submit(recover).unwrap();
    let done = rig.pe.run(task);
    assert_eq!(done.result, Ok(2 * BLOCK as u64));
    assert!(done.task.recovered.to_vec() == bytes[BLOCK..3 * BLOCK]);
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_messages_are_sealed_and_opened() {
    let mut rig = rig(1 << 16);
    let starting = Context::<AesGcm>::start(&mut rig.pe, &rig.device, aes_gcm::Config::default()).unwrap();
    let mut aes_gcm = starting.wait(&mut rig.pe).unwrap();
    // A published vector: AES-256, all zeros, one block.
    let wanted = "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919";
    let (mut src, dst) = (rig.memory.buf(..64).unwrap(), rig.memory.buf(64..256).unwrap());
    src.push_slice(&[0; 16]).unwrap();
    let (key, iv, tag) = (Key::new(&[0; 32]).unwrap(), Iv::from([0; 12]), TagLen::Bits128);
    let task = aes_gcm.submit(Encrypt { src, dst, key: key.clone(), iv, aad_len: 0, tag }).unwrap();
    let sealed = rig.pe.run(task);
    assert_eq!(sealed.result, Ok(32));
    let got: String = sealed.task.dst.to_vec().iter().map(|b| format!("{b:02x}")).collect();
    assert_eq!(got, wanted);
    let dst = rig.memory.buf(256..512).unwrap();
    let task =
        aes_gcm.submit(Decrypt { src: sealed.task.dst, dst, key: key.clone(), iv, aad_len: 0, tag }).unwrap();
    let opened = rig.pe.run(task);
    assert_eq!((opened.result, opened.task.dst.to_vec()), (Ok(16), vec![0; 16]));

    // With additional data, a short tag and a short vector; a changed byte is found, and the context goes on.
    let (short, iv, tag) = (Key::new(&[7; 16]).unwrap(), Iv::new(b"short").unwrap(), TagLen::Bits96);
    let (mut src, dst) = (rig.memory.buf(512..1024).unwrap(), rig.memory.buf(1024..2048).unwrap());
    src.push_slice(b"header, then the secret").unwrap();
    let task = aes_gcm.submit(Encrypt { src, dst, key: short.clone(), iv, aad_len: 8, tag }).unwrap();
    let sealed = rig.pe.run(task);
    assert_eq!((sealed.result, &sealed.task.dst.to_vec()[..8]), (Ok(23 + 12), &b"header, "[..]));
    let mut bytes = sealed.task.dst.to_vec();
    for (forged, wanted) in [(true, Err(Code::IoFailed)), (false, Ok(23))] {
        bytes[10] ^= u8::from(forged);
        let (mut src, dst) = (rig.memory.buf(4096..5000).unwrap(), rig.memory.buf(8192..9000).unwrap());
        src.push_slice(&bytes).unwrap();
        bytes[10] ^= u8::from(forged);
        let task = aes_gcm.submit(Decrypt { src, dst, key: short.clone(), iv, aad_len: 8, tag }).unwrap();
        let done = rig.pe.run(task);
        assert_eq!(done.result.map_err(|e| e.code()), wanted);
        assert_eq!(done.task.dst.to_vec(), if forged { &b""[..] } else { b"header, then the secret" });
    }

    // What the bridge has no task for is refused, with the task.
    let mut buf = rig.memory.buf(16384..17408).unwrap();
    buf.push_slice(b"in place").unwrap();
    let refused = aes_gcm.submit(EncryptInPlace { buf, key, iv, aad_len: 0, tag }).unwrap_err();
    assert_eq!((refused.error.code(), refused.back.buf.data_len()), (Code::NotSupported, 8));
}

/// More keys than a context keeps on the card, some of them in flight together, and some that come back.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_keys_come_and_go() {
    let mut rig = rig(1 << 16);
    let starting = Context::<AesGcm>::start(&mut rig.pe, &rig.device, aes_gcm::Config::default()).unwrap();
    let mut aes_gcm = starting.wait(&mut rig.pe).unwrap();
    let pool = rig.memory.pool(256).unwrap();
    let (iv, tag) = (Iv::from([3; 12]), TagLen::Bits128);
    let mut round = |keys: &mut dyn Iterator<Item = u8>| {
        let mut flying = Vec::new();
        for number in keys {
            let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
            src.push_slice(b"the same text").unwrap();
            let key = Key::new(&[number; 32]).unwrap();
            flying.push(aes_gcm.submit(Encrypt { src, dst, key, iv, aad_len: 0, tag }).unwrap());
        }
        let mut sealed = Vec::new();
        for task in flying {
            let done = rig.pe.run(task);
            assert_eq!(done.result, Ok(13 + 16));
            sealed.push(done.task.dst.to_vec());
        }
        sealed
    };
    let together = round(&mut (0..50));
    let again: Vec<_> = (0..50).rev().flat_map(|number| round(&mut [number].into_iter())).collect();
    assert!(together.iter().eq(again.iter().rev()), "each key has its own cipher text, whenever it is used");
    assert!((1..50).all(|n| together[n] != together[n - 1]));
    aes_gcm.stop().wait(&mut rig.pe).unwrap();
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_what_is_wrong_is_refused_before_the_card_sees_it() {
    let mut rig = rig(8192);
    let mut dma = rig.dma(Config::default());
    let (mut src, dst) = (rig.memory.buf(..4096).unwrap(), rig.memory.buf(8000..).unwrap());
    src.advance(4096).unwrap();
    let refused = dma.submit(Memcpy { src, dst }).unwrap_err();
    assert_eq!(refused.error.code(), Code::InvalidValue);
    assert_eq!(refused.back.src.data_len(), 4096);
    let many = Config { memcpy: u32::MAX, ..Config::default() };
    let refused = Context::<Dma>::start(&mut rig.pe, &rig.device, many).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidValue);
}

#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_stop_brings_everything_back() {
    let mut rig = rig(1 << 20);
    let mut dma = rig.dma(Config { memcpy: 16, ..Config::default() });
    let pool = rig.memory.pool(32 << 10).unwrap();
    let mut flying = Vec::new();
    for _ in 0..16 {
        let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
        src.advance(32 << 10).unwrap();
        flying.push(dma.submit(Memcpy { src, dst }).unwrap());
        rig.pe.progress();
    }
    // Dropping the interest in a task is no harm.
    flying.truncate(12);
    dma.stop().wait(&mut rig.pe).unwrap();
    for task in flying {
        let done = task.try_take().expect("everything is back after a stop");
        assert!(matches!(done.result.map_err(|e| e.code()), Ok(32_768) | Err(Code::IoFailed)));
    }
    assert_eq!(pool.available(), pool.capacity());
    // The engine can be started again, and dropped in any order.
    let mut again = rig.dma(Config::default());
    let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
    src.push_slice(b"x").unwrap();
    let copy = again.submit(Memcpy { src, dst }).unwrap();
    drop(rig.memory);
    assert_eq!(rig.pe.run(copy).result, Ok(1));
    drop(rig.pe);
    assert_eq!(again.state(), State::Idle);
}

/// Memory that goes is taken from the card before somebody else gets its addresses.
#[test]
#[ignore = "run by programs_run_on_a_card"]
fn child_memory_comes_and_goes() {
    let mut rig = rig(4096);
    let mut dma = rig.dma(Config::default());
    for round in 0..200u32 {
        let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&rig.device]).unwrap();
        let (mut src, dst) = (memory.buf(..4096).unwrap(), memory.buf(4096..8192).unwrap());
        src.push_slice(&round.to_le_bytes()).unwrap();
        let copy = dma.submit(Memcpy { src, dst }).unwrap();
        let done = rig.pe.run(copy);
        assert_eq!((done.result, done.task.dst.to_vec()), (Ok(4), round.to_le_bytes().to_vec()));
    }
}
