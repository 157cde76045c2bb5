//! What the functions of `src/c/note.c` tell.
#![expect(unsafe_code, reason = "entry points for C, and memory of the program that it hands over")]

use std::ffi::{c_int, c_void};

use softdpu_record::file::{Kind, hash};

use crate::place::Place;
use crate::{begin, entry, with};

/// Of a task's buffer at most so many bytes are kept; of longer ones the hash tells whether they are the same.
const CONTENT: usize = 1 << 20;
/// So many buffers of a list are looked at.
const PIECES: usize = 64;

/// Bytes of the program.
#[repr(C)]
#[derive(Clone, Copy)]
struct Piece {
    addr: *const c_void,
    len: usize,
}

unsafe extern "C" {
    /// The data of the buffers of a list, at most `most`.
    fn softdpu_record_pieces(list: *const c_void, pieces: *mut Piece, most: usize) -> usize;
}

fn thread() -> u32 {
    // SAFETY: takes nothing and changes nothing.
    (unsafe { libc::gettid() }) as u32
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_begin(key: u64) -> c_int {
    c_int::from(begin(key))
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_end(status: c_int) {
    let ended = entry(Kind::Ended, 0, thread(), status as u32 as u64, &[], &[]);
    with(|recorder| {
        if let Some(writer) = recorder.writer.as_mut() {
            writer.append(&ended);
            writer.close();
        }
    });
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_append(bytes: *const u8, len: usize) {
    // SAFETY: the note of the calling thread, which nobody else writes to.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, len) };
    with(|recorder| recorder.append(bytes));
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_idle(engine: *const c_void) {
    let thread = thread();
    with(|recorder| recorder.idle(thread, engine as u64));
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_lost() {
    with(|recorder| recorder.writer.as_mut().map(|writer| writer.lost()));
}

/// The words for a place, once.
#[unsafe(no_mangle)]
extern "C" fn softdpu_record_place(place: usize) {
    if with(|recorder| recorder.places.insert(place)) != Some(true) {
        return;
    }
    let words = Place(place).of_program().to_string();
    let entry = entry(Kind::Place, 0, thread(), place as u64, &[], words.as_bytes());
    with(|recorder| recorder.append(&entry));
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_task(task: usize) {
    with(|recorder| recorder.tasks.made(task));
}

#[unsafe(no_mangle)]
extern "C" fn softdpu_record_buffer(task: usize, role: u32, buffer: usize) {
    with(|recorder| recorder.tasks.set(task, role, buffer));
}

/// The bytes of a task's buffers, before it is submitted and after it came back.
#[unsafe(no_mangle)]
extern "C" fn softdpu_record_memory(task: usize, after: c_int) {
    let Some(buffers) = with(|recorder| recorder.tasks.of(task)) else { return };
    let thread = thread();
    for buffer in buffers {
        let mut pieces = [Piece { addr: std::ptr::null(), len: 0 }; PIECES];
        // SAFETY: the library answers for what is no buffer any more; there is room for so many.
        let count = unsafe { softdpu_record_pieces(buffer as *const c_void, pieces.as_mut_ptr(), PIECES) };
        for piece in pieces.iter().take(count).filter(|piece| piece.len != 0) {
            let Some(bytes) = read(piece.addr as usize, piece.len) else { continue };
            let content = if after == 0 && bytes.len() <= CONTENT { &bytes[..] } else { &[] };
            let words = [bytes.len() as u64, hash(&bytes)];
            let index = u16::from(after != 0);
            let entry = entry(Kind::Memory, index, thread, piece.addr as u64, &words, content);
            with(|recorder| recorder.append(&entry));
        }
    }
}

/// Bytes of this process, if they are there: those of another one's memory are not.
fn read(addr: usize, len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let there = libc::iovec { iov_base: addr as *mut c_void, iov_len: len };
    // SAFETY: writes into `bytes`; the kernel answers for an address where nothing is.
    let got = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
    (usize::try_from(got) == Ok(len)).then_some(bytes)
}
