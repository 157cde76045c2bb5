//! libdeflate and lz4, as safe functions on slices; and bounce memory that is not touched before it is used.
#![expect(unsafe_code, reason = "calls C libraries; allocates untouched memory")]

pub(crate) mod isal;

use core::ffi::{c_char, c_int};
use core::ptr::NonNull;
use libdeflate_sys as sys;
use softdpu_status::{Code, Error, Result};
use std::alloc::Layout;

unsafe extern "C" {
    /// As `LZ4_decompress_safe`, for a block that may refer to `dictSize` bytes at `dictStart` before it.
    fn LZ4_decompress_safe_usingDict(
        src: *const c_char,
        dst: *mut c_char,
        src_size: c_int,
        dst_capacity: c_int,
        dict_start: *const c_char,
        dict_size: c_int,
    ) -> c_int;
}

fn no_memory(what: &str) -> Error {
    log::error!(target: "softdpu::compress", "no memory for {what}");
    Error::new(Code::NoMemory, "no memory for the codec")
}

/// Why a stream could not be decompressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It is damaged, or ends early.
    Damaged,
    /// Its plain data is longer than the room for it.
    TooLong,
}

/// A DEFLATE compressor of one level.
#[derive(Debug)]
pub(crate) struct Deflater(NonNull<sys::libdeflate_compressor>);

// SAFETY: plain memory of the library, bound to no thread.
unsafe impl Send for Deflater {}

impl Deflater {
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(level: u8) -> Result<Deflater> {
        // SAFETY: no preconditions; levels out of range give NULL.
        let made = unsafe { sys::libdeflate_alloc_compressor(level.into()) };
        NonNull::new(made).map(Deflater).ok_or_else(|| no_memory("a compressor"))
    }

    /// One complete stream; `None` when it does not fit `to`.
    pub(crate) fn deflate(&mut self, from: &[u8], to: &mut [u8]) -> Option<usize> {
        let (source, room) = (from.as_ptr().cast(), to.as_mut_ptr().cast());
        // SAFETY: both ranges are slices, apart from each other; the compressor is ours.
        let n =
            unsafe { sys::libdeflate_deflate_compress(self.0.as_ptr(), source, from.len(), room, to.len()) };
        (n != 0).then_some(n)
    }
}

/// Most bytes of a stream of `len` bytes, whatever they are.
pub(crate) fn deflate_bound(len: usize) -> usize {
    // SAFETY: the call allows NULL for "any compressor".
    unsafe { sys::libdeflate_deflate_compress_bound(core::ptr::null_mut(), len) }
}

impl Drop for Deflater {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { sys::libdeflate_free_compressor(self.0.as_ptr()) };
    }
}

/// A DEFLATE decompressor.
#[derive(Debug)]
pub(crate) struct Inflater(NonNull<sys::libdeflate_decompressor>);

// SAFETY: plain memory of the library, bound to no thread.
unsafe impl Send for Inflater {}

impl Inflater {
    /// # Errors
    /// NoMemory.
    pub(crate) fn new() -> Result<Inflater> {
        // SAFETY: no preconditions.
        let made = unsafe { sys::libdeflate_alloc_decompressor() };
        NonNull::new(made).map(Inflater).ok_or_else(|| no_memory("a decompressor"))
    }

    /// The data of the stream that `from` begins with.
    pub(crate) fn inflate(&mut self, from: &[u8], to: &mut [u8]) -> Result<usize, Trouble> {
        let mut n = 0;
        // SAFETY: both ranges are slices, apart from each other; the decompressor is ours, `n` good for one write.
        let result = unsafe {
            sys::libdeflate_deflate_decompress(
                self.0.as_ptr(),
                from.as_ptr().cast(),
                from.len(),
                to.as_mut_ptr().cast(),
                to.len(),
                &raw mut n,
            )
        };
        match result {
            sys::libdeflate_result_LIBDEFLATE_SUCCESS => Ok(n),
            sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(Trouble::TooLong),
            _ => Err(Trouble::Damaged),
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: made by the library, freed once.
        unsafe { sys::libdeflate_free_decompressor(self.0.as_ptr()) };
    }
}

/// CRC-32 as zlib has it, of the bytes so far and these; 0 before the first.
pub(crate) fn crc32(so_far: u32, bytes: &[u8]) -> u32 {
    // SAFETY: the range is a slice.
    unsafe { sys::libdeflate_crc32(so_far, bytes.as_ptr().cast(), bytes.len()) }
}

/// Adler-32 of the bytes so far and these; 1 before the first.
pub(crate) fn adler32(so_far: u32, bytes: &[u8]) -> u32 {
    // SAFETY: the range is a slice.
    unsafe { sys::libdeflate_adler32(so_far, bytes.as_ptr().cast(), bytes.len()) }
}

/// Most plain bytes before a block that it can refer to.
const LZ4_HISTORY: usize = 64 << 10;

/// Decompresses one LZ4 block into `to[at..]`. With `linked` it may refer to what stands before. Returns its plain
/// bytes, `None` when it is damaged or does not fit.
pub(crate) fn lz4_block(from: &[u8], to: &mut [u8], at: usize, linked: bool) -> Option<usize> {
    let room = c_int::try_from((to.len() - at).min(c_int::MAX as usize)).ok()?;
    let len = c_int::try_from(from.len()).ok()?;
    let history = if linked { at.min(LZ4_HISTORY) } else { 0 };
    let base = to.as_mut_ptr().cast::<c_char>();
    // SAFETY: the block is a slice, apart from `to`; history, output and capacity lie inside `to`. The decoder checks the
    // block's contents.
    let n = unsafe {
        let start = base.add(at);
        LZ4_decompress_safe_usingDict(
            from.as_ptr().cast(),
            start,
            len,
            room,
            start.sub(history),
            history as c_int,
        )
    };
    usize::try_from(n).ok()
}

/// Compresses one LZ4 block; `None` when it does not fit.
pub(crate) fn lz4_compress(from: &[u8], to: &mut [u8]) -> Option<usize> {
    let (len, room) = (c_int::try_from(from.len()).ok()?, c_int::try_from(to.len()).ok()?);
    // SAFETY: both ranges are slices, apart from each other.
    let n = unsafe { lz4_sys::LZ4_compress_default(from.as_ptr().cast(), to.as_mut_ptr().cast(), len, room) };
    usize::try_from(n).ok().filter(|n| *n > 0)
}

/// Memory to put input or output in for a moment. Grows on demand, keeps what it has up to [`Scratch::KEPT`].
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    start: Option<NonNull<u8>>,
    len: usize,
}

// SAFETY: owned bytes.
unsafe impl Send for Scratch {}

impl Scratch {
    /// Bytes that stay between jobs.
    const KEPT: usize = 1 << 20;
    /// What the system allocator gives anyway; asking for more would have it clear the memory by hand.
    const ALIGN: usize = 16;

    /// At least one byte and `n` bytes, whatever they hold.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn take(&mut self, n: usize) -> Result<&mut [u8]> {
        if self.len < n {
            self.release();
            let size = n.next_multiple_of(4096);
            let layout =
                Layout::from_size_align(size, Self::ALIGN).map_err(|_| no_memory("a bounce buffer"))?;
            // SAFETY: the size is above zero. Zeroed, so that it may be looked at; large ones cost nothing until touched.
            let start = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) });
            self.start = Some(start.ok_or_else(|| no_memory("a bounce buffer"))?);
            self.len = size;
        }
        match self.start {
            // SAFETY: allocated with at least `n` bytes, initialised, ours alone.
            Some(start) => Ok(unsafe { core::slice::from_raw_parts_mut(start.as_ptr(), n) }),
            None => Ok(&mut []),
        }
    }

    /// Gives what is large back to the system.
    pub(crate) fn trim(&mut self) {
        if self.len > Self::KEPT {
            self.release();
        }
    }

    fn release(&mut self) {
        if let (Some(start), Ok(layout)) = (self.start.take(), Layout::from_size_align(self.len, Self::ALIGN))
        {
            // SAFETY: allocated with this layout, freed once.
            unsafe { std::alloc::dealloc(start.as_ptr(), layout) };
        }
        self.len = 0;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.release();
    }
}
