//! What is refused, and with which status; profiles; limits.

mod common;

use common::{Dice, Rig, sample, scattered, span};
use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_compress::{
    Caps, Compress, CompressDeflate, Config, DecompressDeflate, DecompressLz4Block, DecompressLz4Stream, Kind,
};
use softdpu_memory::{Access, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Session;
use softdpu_room::task::Next;
use softdpu_room::typed::Context;
use softdpu_status::Code;
use std::sync::{Arc, Mutex};

#[test]
fn nothing_to_read_and_nowhere_to_write() {
    let mut rig = Rig::new();
    let no_data = CompressDeflate { src: rig.empty(10), dst: rig.empty(10) };
    assert_eq!(rig.refusal(no_data), Code::InvalidValue);
    let no_room = DecompressDeflate { src: rig.full(&[3, 0]), dst: rig.full(b"full") };
    assert_eq!(rig.refusal(no_room), Code::InvalidValue);
}

#[test]
fn rights_and_devices() {
    let mut rig = Rig::new();
    let read_only = |rig: &Rig| {
        let memory =
            Memory::heap(100).access(Access::LOCAL_READ_ONLY).register(&[rig.device.shared()]).unwrap();
        memory.buf(..).unwrap()
    };
    let task = CompressDeflate { src: rig.full(b"data"), dst: read_only(&rig) };
    assert_eq!(rig.refusal(task), Code::NotPermitted);
    // Read-only is enough for a source (whatever its bytes are).
    let mut src = read_only(&rig);
    src.set_data(..).unwrap();
    assert!(rig.run(CompressDeflate { src, dst: rig.empty(200) }).result.is_ok());
    // Registered with another device alone.
    let machine = Machine::builder().build().unwrap();
    let second = softdpu_memory::device::Device::open(machine.functions()[1].clone()).unwrap();
    let memory = Memory::heap(100).access(Access::LOCAL_READ_WRITE).register(&[&second]).unwrap();
    let task = CompressDeflate { src: rig.full(b"data"), dst: memory.buf(..).unwrap() };
    assert_eq!(rig.refusal(task), Code::InvalidValue);
}

#[test]
fn sizes_and_lists_above_the_limits() {
    let mut rig = Rig::of(Profile::Bf2, softdpu_board::threads(), Config::default());
    let caps = Caps::of(rig.device.function()).unwrap();
    assert_eq!((caps.max_buf_size, caps.max_buf_list_len, caps.max_num_tasks), (2 << 20, 64, 65536));
    let most = 2 << 20;
    let long = CompressDeflate { src: rig.full(&vec![1; most + 1]), dst: rig.empty(most) };
    assert_eq!(rig.refusal(long), Code::InvalidValue);
    let wide = CompressDeflate { src: rig.full(&[1; 100]), dst: rig.empty(most + 1) };
    assert_eq!(rig.refusal(wide), Code::InvalidValue);
    let just = rig.run(CompressDeflate { src: rig.full(&vec![1; most]), dst: rig.empty(most) });
    assert!(just.result.is_ok());

    let dice = &mut Dice::new(1);
    let plain = sample(10_000, dice);
    let list =
        |rig: &Rig, n: usize, dice: &mut Dice| scattered(&rig.memory(span(10_000, n)), &plain, n, dice);
    let many = CompressDeflate { src: list(&rig, 65, dice), dst: rig.empty(20_000) };
    assert_eq!(rig.refusal(many), Code::InvalidValue);
    assert!(rig.run(CompressDeflate { src: list(&rig, 64, dice), dst: rig.empty(20_000) }).result.is_ok());
}

#[test]
fn profiles_can_what_their_cards_can() {
    let rows = [
        (Profile::All, [true, true, true, true]),
        (Profile::Bf2, [true, true, false, false]),
        (Profile::Bf3, [false, true, true, true]),
    ];
    for (profile, expected) in rows {
        let mut rig = Rig::of(profile, softdpu_board::threads(), Config::default());
        let caps = Caps::of(rig.device.function()).unwrap();
        assert_eq!(Kind::ALL.map(|kind| caps.supports(kind)), expected, "{profile}");
        let block = b"\x50plain";
        let compress = CompressDeflate { src: rig.full(b"plain"), dst: rig.empty(100) };
        let inflate = DecompressDeflate { src: rig.full(&[3, 0]), dst: rig.empty(100) };
        let one = DecompressLz4Block { src: rig.full(block), dst: rig.empty(100) };
        let stream = [&[6, 0, 0, 0][..], block].concat();
        let stream = DecompressLz4Stream {
            src: rig.full(&stream),
            dst: rig.empty(100),
            has_block_checksum: false,
            are_blocks_independent: true,
        };
        // Each kind either works or is refused as not supported.
        let mut answers = Vec::new();
        answers.push(
            rig.context
                .submit(compress)
                .map(|f| assert!(rig.pe.run(f).result.is_ok()))
                .map_err(|r| r.error.code()),
        );
        answers.push(
            rig.context
                .submit(inflate)
                .map(|f| assert!(rig.pe.run(f).result.is_ok()))
                .map_err(|r| r.error.code()),
        );
        answers.push(
            rig.context
                .submit(stream)
                .map(|f| assert!(rig.pe.run(f).result.is_ok()))
                .map_err(|r| r.error.code()),
        );
        answers.push(
            rig.context
                .submit(one)
                .map(|f| assert!(rig.pe.run(f).result.is_ok()))
                .map_err(|r| r.error.code()),
        );
        let expected = expected.map(|can| if can { Ok(()) } else { Err(Code::NotSupported) });
        assert_eq!(answers, expected, "{profile}");
    }
    let cx7 = Machine::builder().profile(Profile::Cx7).build().unwrap();
    assert_eq!(Caps::of(&cx7.functions()[0]).unwrap_err().code(), Code::NotSupported);
}

#[test]
fn more_tasks_than_the_device_takes() {
    common::watchdog();
    let session = Session::new(Machine::builder().build().unwrap(), softdpu_board::inline());
    let device = session.first_with(EngineKind::Compress).and_then(|d| d.open()).unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let config = Config { tasks: 65537, ..Config::default() };
    let started = Context::<Compress>::start(&mut pe, &device, config);
    assert_eq!(started.map(|_| ()).unwrap_err().code(), Code::InvalidValue);
}

/// Failing tasks do not stop the context, and handlers get their kind's tasks.
#[test]
fn handlers_and_failures() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let seen = Arc::clone(&seen);
        move |failed: bool| seen.lock().unwrap().push((name, failed))
    };
    let (deflated, inflated, streamed, blocked) =
        (note("deflated"), note("inflated"), note("streamed"), note("blocked"));
    let config = Config {
        on_compress_deflate: Some(Box::new(move |done, _| {
            deflated(done.result.is_err());
            Next::Free
        })),
        on_decompress_deflate: Some(Box::new(move |done, _| {
            inflated(done.result.is_err());
            Next::Free
        })),
        on_decompress_lz4_stream: Some(Box::new(move |done, _| {
            streamed(done.result.is_err());
            Next::Free
        })),
        on_decompress_lz4_block: Some(Box::new(move |done, _| {
            blocked(done.result.is_err());
            Next::Free
        })),
        ..Config::default()
    };
    let mut rig = Rig::of(Profile::All, softdpu_board::threads(), config);
    let damaged = [0xff; 20];
    rig.context.post(DecompressDeflate { src: rig.full(&damaged), dst: rig.empty(100) }).unwrap();
    rig.context.post(DecompressLz4Block { src: rig.full(&damaged), dst: rig.empty(100) }).unwrap();
    rig.context.post(CompressDeflate { src: rig.full(&damaged), dst: rig.empty(1) }).unwrap();
    rig.context.post(CompressDeflate { src: rig.full(&damaged), dst: rig.empty(100) }).unwrap();
    let (src, dst) = (rig.full(&[1, 0, 0, 0x80, 7]), rig.empty(9));
    rig.context
        .post(DecompressLz4Stream { src, dst, has_block_checksum: false, are_blocks_independent: true })
        .unwrap();
    while rig.context.in_flight() > 0 {
        rig.pe.progress();
    }
    let expected =
        [("inflated", true), ("blocked", true), ("deflated", true), ("deflated", false), ("streamed", false)];
    assert_eq!(*seen.lock().unwrap(), expected);
}
