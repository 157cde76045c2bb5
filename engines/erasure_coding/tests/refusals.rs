//! What is refused, with which code, and that nothing changes then.

mod common;

use common::{Dice, Rig};
use softdpu_card::{EngineKind, Machine, Profile};
use softdpu_erasure_coding::{Caps, Config, Create, ErasureCoding, GaloisMul, Kind, Matrix};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::engine::Engine as _;
use softdpu_status::Code;

/// A card whose erasure coding engine has small limits.
const SMALL: &str = r#"
[[card]]
profile = "bf3"
[card.limits.erasure_coding]
max_block_size = 256
max_buf_list_len = 4
max_data_blocks = 4
max_rdnc_blocks = 2
max_num_tasks = 8
"#;

fn small() -> Rig {
    let machine = Machine::builder().config_text(SMALL).build().expect("a machine");
    Rig::on(machine, softdpu_board::threads(), Config { tasks: 8, ..Config::default() })
}

fn refused(rig: &mut Rig, matrix: &Matrix, src: Buf, dst: Buf, want: Code) {
    let before = dst.total_data_len();
    let refused = rig.context.submit(GaloisMul { matrix: matrix.clone(), src, dst }).unwrap_err();
    assert_eq!(refused.error.code(), want, "{}", refused.error);
    assert_eq!(refused.back.dst.total_data_len(), before);
}

#[test]
fn sources_that_are_no_blocks() {
    let mut rig = Rig::new();
    let matrix = Matrix::cauchy(3, 1).unwrap();
    for len in [1, 63, 64, 191, 193, 3 * 32, 3 * 65, 3 * 100, 3 * 64 + 3] {
        let (src, dst) = (rig.full(&vec![1; len]), rig.empty(4096));
        refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
    }
    let (src, dst) = (rig.empty(64), rig.empty(64));
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
}

#[test]
fn destinations_that_are_too_small() {
    let mut rig = Rig::new();
    let matrix = Matrix::cauchy(2, 2).unwrap();
    let (src, dst) = (rig.full(&[1; 256]), rig.empty(255));
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
    // Room is what lies behind the data.
    let (src, mut dst) = (rig.full(&[1; 256]), rig.empty(256));
    dst.push_slice(&[0]).unwrap();
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
}

#[test]
fn limits_of_the_device() {
    let mut rig = small();
    let caps = ErasureCoding::caps(rig.device.function()).unwrap();
    assert_eq!((caps.max_block_size, caps.max_buf_list_len, caps.max_num_tasks), (256, 4, 8));
    let matrix = Matrix::cauchy(2, 1).unwrap();
    let (src, dst) = (rig.full(&[1; 2 * 320]), rig.empty(320));
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
    // Matrices larger than the device takes, also derived ones.
    for large in [
        Matrix::cauchy(5, 1).unwrap(),
        Matrix::cauchy(2, 3).unwrap(),
        Matrix::cauchy(5, 1).unwrap().update(&[0]).unwrap(),
    ] {
        let (src, dst) = (rig.full(&vec![1; large.inputs() * 64]), rig.empty(4096));
        refused(&mut rig, &large, src, dst, Code::InvalidValue);
    }
    // Elements of both lists together.
    let list = |n: usize| {
        let memory = rig.memory(n * 64);
        let element = |i: usize| memory.buf(i * 64..(i + 1) * 64).unwrap();
        let mut list = element(0);
        (1..n).for_each(|i| list.chain(element(i)));
        list
    };
    let (mut src, dst, mut longer, other) = (list(2), list(2), list(4), list(1));
    src.elements_mut().for_each(|mut e| e.push_slice(&[3; 64]).unwrap());
    longer.elements_mut().for_each(|mut e| e.push_slice(&[3; 64]).unwrap());
    refused(&mut rig, &matrix, longer, other, Code::InvalidValue);
    let done = rig.run(Create { matrix, data: src, rdnc: dst });
    assert_eq!(done.result, Ok(64));
}

#[test]
fn rights() {
    let mut rig = Rig::new();
    let matrix = Matrix::cauchy(2, 1).unwrap();
    let device = rig.device.shared().clone();
    let read_only = Memory::heap(256).access(Access::LOCAL_READ_ONLY).register(&[&device]).unwrap();
    let (src, dst) = (rig.full(&[1; 128]), read_only.buf(..).unwrap());
    refused(&mut rig, &matrix, src, dst, Code::NotPermitted);
    let other = rig.session.devices().pop().unwrap().open().unwrap();
    assert_ne!(other.function().pci(), device.function().pci());
    let elsewhere = Memory::heap(256).access(Access::LOCAL_READ_WRITE).register(&[other.shared()]).unwrap();
    let (src, dst) = (rig.full(&[1; 128]), elsewhere.buf(..).unwrap());
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
    let mut src = elsewhere.buf(..128).unwrap();
    src.push_slice(&[1; 128]).unwrap();
    let dst = rig.empty(64);
    refused(&mut rig, &matrix, src, dst, Code::InvalidValue);
}

#[test]
fn profiles() {
    for (profile, has) in [(Profile::All, true), (Profile::Bf3, true), (Profile::Bf2, false)] {
        let machine = Machine::builder().profile(profile).build().unwrap();
        for function in machine.functions() {
            assert_eq!(function.supports(EngineKind::ErasureCoding), has, "{profile:?}");
            match Caps::of(function) {
                Ok(caps) => {
                    assert!(has && Kind::ALL.iter().all(|kind| caps.supports(*kind)));
                    assert_eq!(
                        (caps.max_data_blocks, caps.max_rdnc_blocks, caps.block_alignment),
                        (128, 32, 64)
                    );
                }
                Err(e) => assert!(!has && e.code() == Code::NotSupported),
            }
        }
    }
}

#[test]
fn configurations() {
    let rig = small();
    let mut pe = softdpu_room::pump::ProgressEngine::new(&rig.session).unwrap();
    let config = Config { tasks: 9, ..Config::default() };
    let error =
        softdpu_room::typed::Context::<ErasureCoding>::start(&mut pe, &rig.device, config).unwrap_err();
    assert_eq!(error.code(), Code::InvalidValue);
}

/// A refused task leaves the context as it was, and everything comes back to be used again.
#[test]
fn work_goes_on_after_refusals() {
    let mut rig = Rig::new();
    let mut dice = Dice(11);
    let matrix = Matrix::cauchy(4, 2).unwrap();
    let data = dice.bytes(4 * 640);
    let (src, dst) = (rig.full(&data), rig.empty(2 * 640 - 1));
    let back = rig.context.submit(Create { matrix: matrix.clone(), data: src, rdnc: dst }).unwrap_err().back;
    let rdnc = rig.empty(2 * 640);
    let done = rig.run(Create { rdnc, ..back });
    assert_eq!(done.task.rdnc.to_vec(), common::product(&matrix, &data));
}
