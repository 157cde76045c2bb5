//! The file while it is written: mapped, so that what is in it stays when the program is killed, and grown by steps that
//! have their place on the disk, so that a full one is noticed here.
#![expect(unsafe_code, reason = "the file is mapped; lengths and counts in it are stored at once")]

use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use rustix::mm::{MapFlags, ProtFlags, mmap};

use softdpu_record::file::{HEAD, LOST, MAGIC, VERSION};

/// How much the file grows at once.
const STEP: usize = 1 << 20;

/// A file that is written.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    map: *mut u8,
    limit: usize,
    grown: usize,
    used: usize,
    full: bool,
}

// SAFETY: the mapping belongs to this object alone and is reached through `&mut self`.
unsafe impl Send for Writer {}

impl Writer {
    /// Makes a file that may become `limit` bytes long.
    pub(super) fn create(path: &Path, limit: usize, key: u64) -> io::Result<Self> {
        let limit = limit.max(STEP);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: the kernel chooses a place that nothing else is at.
        let map = unsafe { mmap(std::ptr::null_mut(), limit, protection, flags, &file, 0) }?;
        let mut writer = Self { file, map: map.cast(), limit, grown: 0, used: HEAD, full: false };
        writer.grow()?;
        let begun = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let mut head = MAGIC.to_vec();
        head.extend(VERSION.to_le_bytes());
        head.extend((HEAD as u32).to_le_bytes());
        [key, 0, u64::from(std::process::id()), begun].iter().for_each(|n| head.extend(n.to_le_bytes()));
        writer.copy(0, &head);
        Ok(writer)
    }

    fn grow(&mut self) -> io::Result<()> {
        let step = STEP.min(self.limit - self.grown);
        fallocate(&self.file, FallocateFlags::empty(), self.grown as u64, step as u64)?;
        self.grown += step;
        Ok(())
    }

    /// Adds an entry; gives its place. An entry without room is counted, and so is every one after it: what is in the file
    /// has no gaps.
    pub(super) fn append(&mut self, entry: &[u8]) -> Option<usize> {
        let at = self.used;
        // The length of the next one is the end of the file until there is a next one.
        let need = at + entry.len() + 4;
        while !self.full && need > self.grown {
            self.full = need > self.limit || self.grow().is_err();
        }
        if self.full {
            self.lost();
            return None;
        }
        self.copy(at + 4, &entry[4..]);
        self.used += entry.len();
        // SAFETY: below `grown`, and aligned, since entries are multiples of 8 bytes long.
        let len = unsafe { AtomicU32::from_ptr(self.map.add(at).cast()) };
        len.store(u32::from_le_bytes(entry[..4].try_into().unwrap_or_default()).to_le(), Ordering::Release);
        Some(at)
    }

    /// One more in a word of the file.
    pub(super) fn count(&mut self, at: usize) {
        debug_assert!(at + 8 <= self.grown && at.is_multiple_of(8));
        // SAFETY: a word of an entry that was written, below `grown` and aligned.
        let word = unsafe { AtomicU64::from_ptr(self.map.add(at).cast()) };
        word.store(word.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// One more entry that is not in the file.
    pub(super) fn lost(&mut self) {
        self.count(LOST);
    }

    /// No more entries: the file gets its length.
    pub(super) fn close(&mut self) {
        self.full = true;
        // What is left too long reads the same.
        let _ = ftruncate(&self.file, self.used as u64);
        self.grown = self.used;
    }

    fn copy(&mut self, at: usize, bytes: &[u8]) {
        assert!(at + bytes.len() <= self.grown);
        // SAFETY: the mapping is there as far as the file has grown, and nobody else writes to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.map.add(at), bytes.len()) };
    }
}
