//! What a submit refuses, with what code; limits of devices and profiles.

mod common;

use common::{Bench, list, machine};
use softdpu_aes_gcm::{AesGcm, Caps, Config, Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Session;
use softdpu_room::typed::Context;
use softdpu_status::Code;

fn full(memory: &Memory, range: std::ops::Range<usize>) -> Buf {
    let mut buf = memory.buf(range).unwrap();
    buf.set_data(..).unwrap();
    buf
}

fn encrypt(src: Buf, dst: Buf, aad_len: u32) -> Encrypt {
    let (key, iv) = (Key::new(&[1; 32]).unwrap(), Iv::from([2; 12]));
    Encrypt { src, dst, key, iv, aad_len, tag: TagLen::Bits128 }
}

fn decrypt(src: Buf, dst: Buf, aad_len: u32, tag: TagLen) -> Decrypt {
    let (key, iv) = (Key::new(&[1; 32]).unwrap(), Iv::from([2; 12]));
    Decrypt { src, dst, key, iv, aad_len, tag }
}

macro_rules! refused {
    ($bench:expr, $task:expr, $code:expr) => {{
        let rejected = $bench.context.submit($task).err().expect("a refusal");
        assert_eq!(rejected.error.code(), $code, "{}", rejected.error);
        assert_eq!($bench.context.in_flight(), 0);
        // The task comes back as it was.
        rejected.back
    }};
}

#[test]
fn sizes_and_rooms() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let memory = bench.memory(1 << 16, Access::LOCAL_READ_WRITE);
    let window = |at: usize, len: usize| memory.buf(at..at + len).unwrap();

    // Less data than additional data, or than that and the tag.
    let back = refused!(bench, encrypt(full(&memory, 0..10), window(100, 100), 11), Code::InvalidValue);
    assert_eq!(
        (back.src.data_len(), back.aad_len, back.key.bits(), back.iv),
        (10, 11, 256, Iv::from([2; 12]))
    );
    drop(back);
    refused!(bench, encrypt(full(&memory, 0..10), window(100, 100), u32::MAX), Code::InvalidValue);
    refused!(bench, decrypt(full(&memory, 0..15), window(100, 100), 0, TagLen::Bits128), Code::InvalidValue);
    refused!(bench, decrypt(full(&memory, 0..20), window(100, 100), 9, TagLen::Bits96), Code::InvalidValue);
    refused!(bench, decrypt(window(0, 10), window(100, 100), 0, TagLen::Bits96), Code::InvalidValue);

    // A byte of room missing.
    refused!(bench, encrypt(full(&memory, 0..10), window(100, 25), 3), Code::InvalidValue);
    refused!(bench, decrypt(full(&memory, 0..30), window(100, 17), 3, TagLen::Bits96), Code::InvalidValue);
    assert!(bench.run(encrypt(full(&memory, 0..10), window(100, 26), 3)).result.is_ok());

    // An empty message has a tag, and that opens to nothing.
    let done = bench.run(encrypt(window(0, 10), window(100, 16), 0));
    assert_eq!(done.result.unwrap(), 16);
    let done = bench.run(decrypt(done.task.dst, window(300, 1), 0, TagLen::Bits128));
    assert_eq!(done.result.unwrap(), 0);
}

#[test]
fn limits_of_the_device() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let caps = Caps::of(bench.device.function()).unwrap();
    let max = caps.max_buf_size as usize;
    let memory = bench.memory(2 * max + 4096, Access::LOCAL_READ_WRITE);
    let window = |at: usize, len: usize| memory.buf(at..at + len).unwrap();
    refused!(bench, encrypt(full(&memory, 0..max + 1), window(max + 1, max + 64), 0), Code::InvalidValue);
    // The tag counts as well.
    refused!(bench, encrypt(full(&memory, 0..max - 15), window(max + 1, max + 64), 0), Code::InvalidValue);
    let done = bench.run(encrypt(full(&memory, 0..max - 16), window(max, max), 0));
    assert_eq!(done.result.unwrap() as usize, max);
    let mut back = done.task.src;
    back.reset();
    let done = bench.run(decrypt(done.task.dst, back, 0, TagLen::Bits128));
    assert_eq!(done.result.unwrap() as usize, max - 16);
    drop(done);

    let most = caps.max_buf_list_len as usize;
    let (long, _) = list(&memory, &vec![8; most + 1], 0, false);
    refused!(bench, encrypt(full(&memory, max..max + 64), long, 0), Code::InvalidValue);
    let (long, _) = list(&memory, &vec![8; most], 0, false);
    assert!(bench.run(encrypt(full(&memory, max..max + 64), long, 0)).result.is_ok());
}

#[test]
fn rights_and_devices() {
    let mut bench = Bench::new(softdpu_room::session::inline());
    let ours = bench.memory(4096, Access::LOCAL_READ_WRITE);
    let read_only = bench.memory(4096, Access::LOCAL_READ_ONLY);
    let dst = read_only.buf(..).unwrap();
    refused!(bench, encrypt(full(&ours, 0..16), dst, 0), Code::NotPermitted);
    assert!(bench.run(encrypt(full(&read_only, 0..16), ours.buf(..).unwrap(), 0)).result.is_ok());

    let session = Session::new(machine(Profile::All), softdpu_room::session::inline());
    let other = session.devices().into_iter().map(|d| d.open().unwrap());
    let other = other.into_iter().find(|d| d.function().pci() != bench.device.function().pci()).unwrap();
    let foreign = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[other.shared()]).unwrap();
    refused!(bench, encrypt(full(&foreign, 0..16), ours.buf(..).unwrap(), 0), Code::InvalidValue);
    refused!(bench, encrypt(full(&ours, 0..16), foreign.buf(..).unwrap(), 0), Code::InvalidValue);
}

#[test]
fn keys_and_vectors() {
    for len in [0, 1, 15, 17, 24, 31, 33] {
        assert_eq!(Key::new(&vec![0; len]).err().map(|e| e.code()), Some(Code::InvalidValue), "{len}");
    }
    assert_eq!(Key::new(&[0; 16]).unwrap().bits(), 128);
    assert_eq!(Iv::new(&[0; 13]).err().map(|e| e.code()), Some(Code::InvalidValue));
    // Neither shows its secret.
    assert_eq!(format!("{:?}", Key::new(&[0x41; 32]).unwrap()), "Key(AES-256)");
}

#[test]
fn profiles() {
    let with = |profile| {
        let machine: Machine = machine(profile);
        machine.functions().iter().filter(|f| f.supports(EngineKind::AesGcm)).count()
    };
    assert_eq!((with(Profile::Bf2), with(Profile::Cx7)), (0, 0));
    assert!(with(Profile::Bf3) > 0 && with(Profile::All) > 0);
    let bf2 = machine(Profile::Bf2);
    assert_eq!(Caps::of(&bf2.functions()[0]).err().map(|e| e.code()), Some(Code::NotSupported));

    let session = Session::new(bf2, softdpu_room::session::inline());
    let device = session.devices()[0].open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let started = Context::<AesGcm>::start(&mut pe, &device, Config::default());
    assert_eq!(started.err().map(|e| e.code()), Some(Code::NotSupported));
}

#[test]
fn too_many_tasks() {
    let session = Session::new(machine(Profile::Bf3), softdpu_room::session::inline());
    let device = session.first_with(EngineKind::AesGcm).unwrap().open().unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let limit = Caps::of(device.function()).unwrap().max_num_tasks;
    let config = Config { tasks: limit + 1, ..Config::default() };
    let started = Context::<AesGcm>::start(&mut pe, &device, config);
    assert_eq!(started.err().map(|e| e.code()), Some(Code::InvalidValue));
}
