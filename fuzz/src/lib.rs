//! What the targets of the compression engine share: a running context, and a destination that notices what is written
//! beside it.

use softdpu_card::{EngineKind, Machine};
use softdpu_compress::{Compress, Config};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Device, Session};
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;
use std::cell::RefCell;

/// What stands around destinations.
const AROUND: u8 = 0xa5;
/// Bytes of it on each side.
const MARGIN: usize = 64;

/// A context of the compression engine without worker threads: the same input takes the same way each time.
pub struct Rig {
    context: Context<Compress>,
    pe: ProgressEngine,
    device: Device,
}

thread_local! {
    static RIG: RefCell<Rig> = RefCell::new(Rig::new());
}

impl Rig {
    fn new() -> Rig {
        let machine = Machine::builder().build().expect("a machine");
        let session = Session::new(machine, softdpu_board::inline());
        let device = session.first_with(EngineKind::Compress).and_then(|d| d.open()).expect("a device");
        let mut pe = ProgressEngine::new(&session).expect("a progress engine");
        let started = Context::start(&mut pe, &device, Config::default());
        let context = started.and_then(|s| s.wait(&mut pe)).expect("a context");
        Rig { context, pe, device }
    }

    fn memory(&self, len: usize) -> Memory {
        let memory = Memory::heap(len.max(1)).access(Access::LOCAL_READ_WRITE);
        memory.register(&[self.device.shared()]).expect("memory")
    }
}

/// Carries out the task that `make` makes of a source with these bytes and a destination with this room. `Some` is the
/// data that came out.
pub fn decompress<T: Task<Engine = Compress>>(
    bytes: &[u8],
    room: usize,
    make: impl FnOnce(Buf, Buf) -> T,
    take: impl FnOnce(T) -> Buf,
) -> Option<Vec<u8>> {
    RIG.with_borrow_mut(|rig| {
        let mut src = rig.memory(bytes.len()).buf(..).expect("a source");
        src.push_slice(bytes).expect("room");
        let memory = rig.memory(MARGIN + room + MARGIN);
        let mut all = memory.buf(..).expect("all of it");
        all.push_slice(&vec![AROUND; MARGIN + room + MARGIN]).expect("room");
        drop(all);
        let dst = memory.buf(MARGIN..MARGIN + room).expect("a destination");
        let flight = rig.context.submit(make(src, dst)).map_err(|refused| refused.error).expect("accepted");
        let Done { task, result } = rig.pe.run(flight);
        let dst = take(task);
        let out = result.is_ok().then(|| dst.to_vec());
        assert!(out.is_some() || dst.data_len() == 0, "a failed task left data");
        drop(dst);
        let mut all = memory.buf(..).expect("all of it");
        all.set_data(..).expect("all of it");
        let all = all.to_vec();
        let beside = all[..MARGIN].iter().chain(&all[MARGIN + room..]);
        assert!(beside.into_iter().all(|byte| *byte == AROUND), "bytes beside the room were written");
        out
    })
}

/// Splits a byte off the input: settings, and how large the room is.
pub fn settings(input: &[u8]) -> Option<(u8, usize, &[u8])> {
    let (&first, bytes) = input.split_first()?;
    let room = [1, 17, 300, 4096, 20_000, 70_000, 200_000, 1 << 20][usize::from(first & 7)];
    (!bytes.is_empty()).then_some((first >> 3, room, bytes))
}
