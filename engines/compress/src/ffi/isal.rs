//! ISA-L's compressor, where the machine has that library: between two and three times as fast as libdeflate's fastest
//! level at nearly its ratio. It is looked for once, when the first context compresses; `SOFTDPU_ISAL=off` leaves it
//! alone. Nothing is linked against it.
//!
//! Used are two functions and the public head of one structure, which have been the same in every release with the
//! soname `libisal.so.2`; the library's own state behind the head is reserved generously.

use super::{Scratch, no_memory};
use core::ffi::{CStr, c_int, c_void};
use core::ptr::NonNull;
use softdpu_status::Result;
use std::sync::OnceLock;

/// `struct isal_zstream` up to its internal state.
#[repr(C)]
#[derive(Debug)]
struct Stream {
    next_in: *const u8,
    avail_in: u32,
    total_in: u32,
    next_out: *mut u8,
    avail_out: u32,
    total_out: u32,
    huffman_tables: *mut c_void,
    level: u32,
    level_buf_size: u32,
    level_buf: *mut u8,
    end_of_stream: u16,
    flush: u16,
    gzip_flag: u16,
    hist_bits: u16,
}

/// Of the whole structure; 82384 bytes in release 2.30.
const STREAM_BYTES: usize = 256 << 10;
/// What the library calls the default size of the work space of level 1.
const LEVEL_BYTES: usize = 282_624;
/// The level: the best ratio at full speed.
const LEVEL: u32 = 1;
/// `COMP_OK`.
const OK: c_int = 0;

#[derive(Clone, Copy, Debug)]
struct Library {
    init: unsafe extern "C" fn(*mut Stream),
    deflate: unsafe extern "C" fn(*mut Stream) -> c_int,
}

const SONAME: &CStr = c"libisal.so.2";

fn library() -> Option<Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        if std::env::var_os("SOFTDPU_ISAL").is_some_and(|value| value == "off") {
            return None;
        }
        // SAFETY: a library of the system, loaded for good; the names have these types in every release of its soname.
        let found = unsafe {
            let handle = libc::dlopen(SONAME.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL);
            if handle.is_null() {
                return None;
            }
            let symbol = |name: &CStr| NonNull::new(libc::dlsym(handle, name.as_ptr()));
            Library {
                init: core::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut Stream)>(symbol(
                    c"isal_deflate_stateless_init",
                )?),
                deflate: core::mem::transmute::<NonNull<c_void>, unsafe extern "C" fn(*mut Stream) -> c_int>(
                    symbol(c"isal_deflate_stateless")?,
                ),
            }
        };
        log::debug!(target: "softdpu::compress", "libisal.so.2 is there: fast compression uses it");
        Some(found)
    })
}

/// A compressor of ISA-L.
#[derive(Debug)]
pub(crate) struct Deflater {
    library: Library,
    stream: Scratch,
    level: Scratch,
}

impl Deflater {
    /// `None` where the machine has no ISA-L.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn find() -> Result<Option<Deflater>> {
        let Some(library) = library() else { return Ok(None) };
        let (mut stream, mut level) = (Scratch::default(), Scratch::default());
        stream.take(STREAM_BYTES)?;
        level.take(LEVEL_BYTES)?;
        Ok(Some(Deflater { library, stream, level }))
    }

    /// One complete stream; `None` when it does not fit `to`, or is too long for the library.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn deflate(&mut self, from: &[u8], to: &mut [u8]) -> Result<Option<usize>> {
        let Ok(avail_in) = u32::try_from(from.len()) else { return Ok(None) };
        let avail_out = to.len().min(u32::MAX as usize) as u32;
        let level_buf = self.level.take(LEVEL_BYTES)?.as_mut_ptr();
        let stream = self.stream.take(STREAM_BYTES)?.as_mut_ptr().cast::<Stream>();
        if !stream.is_aligned() {
            return Err(no_memory("a compressor"));
        }
        // SAFETY: the structure has room for the library's state behind its head, and is ours; both ranges are slices,
        // apart from each other, and the library keeps within `avail_in` and `avail_out`.
        unsafe {
            (self.library.init)(stream);
            let head = &mut *stream;
            head.next_in = from.as_ptr();
            head.avail_in = avail_in;
            head.next_out = to.as_mut_ptr();
            head.avail_out = avail_out;
            head.level = LEVEL;
            head.level_buf = level_buf;
            head.level_buf_size = LEVEL_BYTES as u32;
            head.end_of_stream = 1;
            let done = (self.library.deflate)(stream) == OK && (*stream).avail_in == 0;
            Ok(done.then_some((*stream).total_out as usize))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Deflater;

    /// Machines without the library have nothing to test.
    #[test]
    fn streams_are_read_by_others_and_keep_to_their_room() {
        let Some(mut deflater) = Deflater::find().unwrap() else {
            println!("skipped: this machine has no ISA-L");
            return;
        };
        let mut state = 1_u32;
        let mut roll = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for round in 0..200 {
            let len = roll() as usize % if round % 20 == 0 { 300_000 } else { 5000 } + 1;
            let noise = round % 5;
            let plain: Vec<u8> =
                (0..len).map(|i| if roll() % 5 < noise { roll() as u8 } else { b"sample "[i % 7] }).collect();
            let mut room = vec![0xee; len + len / 100 + 600];
            let n = deflater.deflate(&plain, &mut room[..len + len / 100 + 400]).unwrap().unwrap();
            assert_eq!(miniz_oxide::inflate::decompress_to_vec(&room[..n]).unwrap(), plain);
            assert!(room[len + len / 100 + 400..].iter().all(|b| *b == 0xee));
            // Less room than that: another stream that fits, or none; never a byte more.
            let less = n * (roll() as usize % 100) / 100;
            let mut room = vec![0xee; n + 600];
            if let Some(n) = deflater.deflate(&plain, &mut room[..less]).unwrap() {
                assert!(n <= less);
                assert_eq!(miniz_oxide::inflate::decompress_to_vec(&room[..n]).unwrap(), plain);
            }
            assert!(room[less..].iter().all(|b| *b == 0xee));
        }
    }
}
