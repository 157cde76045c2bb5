//! Each refusal says in one line what was asked for and what stood against it.
#![cfg(not(miri))]

mod common;

use common::device;
use log::{Level, LevelFilter, Log, Metadata, Record};
use softdpu_memory::{HugePage, Memory, PageSize};
use std::cell::RefCell;

thread_local! {
    static LINES: RefCell<Vec<(Level, String)>> = const { RefCell::new(Vec::new()) };
}

struct Keeper;

impl Log for Keeper {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn log(&self, record: &Record<'_>) {
        LINES.with_borrow_mut(|lines| lines.push((record.level(), record.args().to_string())));
    }
    fn flush(&self) {}
}

/// The lines that `work` leaves at `level` or above.
fn lines(level: Level, work: impl FnOnce()) -> Vec<String> {
    LINES.with_borrow_mut(Vec::clear);
    work();
    LINES.take().into_iter().filter(|line| line.0 <= level).map(|line| line.1).collect()
}

/// Exactly one error line, which has all `parts`.
fn one_line<T>(parts: &[&str], refused: impl FnOnce() -> Result<T, E>) {
    let lines = lines(Level::Error, || assert!(refused().is_err(), "not refused: {parts:?}"));
    assert_eq!(lines.len(), 1, "{lines:?}");
    for part in parts {
        assert!(lines[0].contains(part), "{part} is not in: {}", lines[0]);
    }
}

type E = Box<dyn std::error::Error>;

#[test]
fn one_line_with_the_numbers() {
    log::set_logger(&Keeper).unwrap();
    log::set_max_level(LevelFilter::Trace);
    let dev = device(0);
    let memory = Memory::heap(4096).register(&[&dev]).unwrap();
    let mut buf = memory.buf(0x100..0x200).unwrap();
    let at = format!("memory {:#x}", memory.host_addr());

    one_line(&[&at, "[0x180, 0x300)", "[0x100, 0x200)"], || Ok(memory.buf(0x180..0x300)?));
    one_line(&[&at, "[0x0, 0x1001)", "[0x0, 0x1000)"], || Ok(memory.alias(..0x1001)?));
    one_line(&[&at, "windows of 9999 bytes"], || Ok(memory.pool_in(0x200.., 9999, 1)?));
    one_line(&["256..512", "[0xff, 0x101)", "[0x0, 0x100)"], || Ok(buf.read_at(255, &mut [0, 0])?));
    one_line(&["heap", "4611686018427387904 bytes"], || Ok(Memory::heap(1 << 62).register(&[&dev])?));
    one_line(&["0 bytes"], || Ok(Memory::heap(0).register(&[&dev])?));
    one_line(&["alignment 3"], || Ok(Memory::heap(1).align(3).register(&[&dev])?));
    one_line(&["no device"], || {
        Ok(Memory::heap(1).register::<std::sync::Arc<softdpu_memory::device::Device>>(&[])?)
    });
    one_line(&["[0, 4611686018427387904)"], || {
        let file = std::fs::File::open("/proc/self/exe")?;
        Ok(Memory::file(file, 0..1 << 62).register(&[&dev])?)
    });
    one_line(&[&at, "not registered", "0000:03:00.1"], || Ok(memory.mkey(&device(1))?));
    buf.set_data(..).unwrap();
    one_line(&["256..512", "[0x100, 0x101)"], || Ok(buf.push_slice(b"x")?));

    // What page it came to is told, if it is not the one that was preferred.
    let mut page = 0;
    let told = lines(Level::Warn, || {
        let rule = HugePage::Prefer(PageSize::Mib2);
        page = Memory::hugepage(1 << 20, rule).register(&[&dev]).unwrap().page_size();
    });
    if page == PageSize::Mib2.bytes() {
        println!("skipped: there are huge pages, so that nothing falls back");
        assert!(told.is_empty(), "{told:?}");
    } else {
        assert!(told.len() == 1 && told[0].contains(&format!("took pages of {page} bytes")), "{told:?}");
    }
    assert!(lines(Level::Info, || drop(memory.buf(..0x80).unwrap())).is_empty(), "success is silent");
}
