//! Invalidation checks its buffer, changes nothing, and is the card side's.

use softdpu_card::{Machine, Side};
use softdpu_memory::{Access, Memory};
use softdpu_mmap_advise::{Caps, Config, InvalidateCache, MmapAdvise};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Session, inline};
use softdpu_room::typed::Context;
use softdpu_status::Code;

#[test]
fn the_buffer_comes_back_unchanged() {
    let session = Session::new(Machine::builder().build().unwrap(), inline());
    let device = session.devices()[0].open().unwrap();
    let memory = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[device.shared()]).unwrap();
    let mut buf = memory.buf(0..4096).unwrap();
    buf.push_slice(b"still here").unwrap();
    let mut pe = ProgressEngine::new(&session).unwrap();
    let mut advise =
        Context::<MmapAdvise>::start(&mut pe, &device, Config::default()).unwrap().wait(&mut pe).unwrap();
    let flying = advise.submit(InvalidateCache { buf }).unwrap();
    let done = pe.run(flying);
    assert!(done.result.is_ok());
    assert_eq!(done.task.buf.as_slice(), Some(&b"still here"[..]));
}

#[test]
fn only_the_card_side_has_it() {
    let machine = Machine::builder().build().unwrap();
    for function in machine.functions() {
        let caps = Caps::of(function);
        match function.side() {
            Side::Dpu => assert_eq!(caps.unwrap().max_buf_size, function.limits().dma.max_buf_size),
            Side::Host => assert_eq!(caps.unwrap_err().code(), Code::NotSupported),
        }
    }
}
