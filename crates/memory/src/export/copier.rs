//! The owner's service thread copies for an importer that cannot do it itself, and changes words.
//!
//! Here range and rights are checked by the owner, since it is the owner who touches the memory. The kernel copies, from
//! this process to this process: so memory that the program has unmapped is an error and not a signal.
#![expect(unsafe_code, reason = "copies between exported memory and a bounce")]

use super::share::Share;
use crate::far::{Alter, CHANGED, COPIED, Piece, REFUSED, STAGE_BYTES, Way};
use crate::kernel;
use crate::procmaps;
use core::sync::atomic::AtomicU64;
use rustix::io::Errno;
use softdpu_link::{Segment, Tie};
use softdpu_status::{Code, Error, Result};
use std::cell::RefCell;
use std::fs::OpenOptions;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

thread_local! {
    /// One for all stages, since one thread carries them all out: however many there are, they cost no more memory.
    static BOUNCE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One importer's stage.
pub(super) struct Copier {
    share: Arc<Share>,
    stage: Segment,
}

impl Copier {
    pub(super) fn new(share: Arc<Share>, stage: Segment) -> Result<Copier> {
        BOUNCE.with_borrow_mut(|bounce| {
            bounce
                .try_reserve_exact(STAGE_BYTES.saturating_sub(bounce.len()))
                .map_err(|_| Error::new(Code::NoMemory, "no memory for a stage"))?;
            bounce.resize(STAGE_BYTES, 0);
            Ok(Copier { share, stage })
        })
    }

    /// Where the piece lies in this process, if the importer may touch it so.
    fn place(&self, piece: &Piece) -> Option<usize> {
        let share = &self.share;
        let allowed = match piece.way {
            Way::Read => share.may_read,
            Way::Write => share.may_write,
        };
        let from = piece.addr.checked_sub(share.base)?;
        let inside = from <= share.len && u64::from(piece.len) <= share.len - from;
        (allowed && inside && piece.len as usize <= STAGE_BYTES).then(|| share.at + from as usize)
    }

    fn carry_out(&self, piece: &Piece) -> Option<()> {
        let at = self.place(piece)?;
        BOUNCE.with_borrow_mut(|bounce| {
            let bounce = bounce.get_mut(..piece.len as usize)?;
            if piece.way == Way::Write {
                self.stage.get(0, bounce);
            }
            if !self.share.begin_copy() {
                return None;
            }
            let copied = own_memory(piece.way, at, bounce);
            self.share.end_copy();
            copied.ok()?;
            if piece.way == Way::Read {
                self.stage.put(0, bounce);
            }
            Some(())
        })
    }
}

impl Copier {
    /// Changes a word in one step; gives the value before.
    fn change(&self, alter: &Alter) -> Option<u64> {
        let share = &self.share;
        let from = alter.addr.checked_sub(share.base)?;
        let inside = from <= share.len && size_of::<u64>() as u64 <= share.len - from;
        let at = share.at.wrapping_add(from as usize);
        if !share.may_change || !inside || !at.is_multiple_of(size_of::<u64>()) || !share.begin_copy() {
            return None;
        }
        // What the program has unmapped is an error here, too.
        let there = procmaps::survey(at, size_of::<u64>()).is_ok_and(|found| found.writable);
        // SAFETY: aligned, lent to importers until `end_copy`, and mapped a moment ago; every other access to it is atomic,
        // or one that the compiler cannot see through.
        let before = there.then(|| alter.change.apply(unsafe { AtomicU64::from_ptr(at as *mut u64) }));
        share.end_copy();
        before
    }
}

/// Copies between `bounce` and an address of this process that was exported. For the kernel the bounce is the far end: of
/// that one it wants pages that it manages itself, which those of a dmabuf are not; at the near one it does as the
/// program would.
fn own_memory(way: Way, at: usize, bounce: &mut [u8]) -> Result<(), Errno> {
    let near = match way {
        Way::Read => Way::Write,
        Way::Write => Way::Read,
    };
    let far = bounce.as_mut_ptr() as usize;
    // SAFETY: the bounce is ours. What lies at `at` was lent to importers by its owner, who keeps it from changing
    // hands until `end_copy`, and forms no references to what others may write; the kernel asks whether it is there.
    match unsafe { kernel::copy(std::process::id(), near, far, at as *mut u8, bounce.len()) } {
        Err(Errno::PERM | Errno::NOSYS) => own_memory_by_file(way, at, bounce),
        outcome => outcome,
    }
}

/// The same where a sandbox forbids such calls altogether, even within a process.
fn own_memory_by_file(way: Way, at: usize, bounce: &mut [u8]) -> Result<(), Errno> {
    // The file looks past protections: what the program took from itself since the export has to be asked for.
    let writable = procmaps::survey(at, bounce.len().max(1)).map_err(|_| Errno::FAULT)?.writable;
    if way == Way::Write && !writable {
        return Err(Errno::FAULT);
    }
    let failed = |e: std::io::Error| Errno::from_io_error(&e).unwrap_or(Errno::IO);
    let memory =
        OpenOptions::new().read(true).write(way == Way::Write).open("/proc/self/mem").map_err(failed)?;
    match way {
        Way::Read => memory.read_exact_at(bounce, at as u64).map_err(failed),
        Way::Write => memory.write_all_at(bounce, at as u64).map_err(failed),
    }
}

impl Tie for Copier {
    fn message(&mut self, bytes: &[u8], _: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if let Some(alter) = Alter::decode(bytes) {
            let before = self.change(&alter).map(|before| [*CHANGED, before.to_le_bytes()].concat());
            return Some(before.unwrap_or_else(|| REFUSED.to_vec()));
        }
        let done = Piece::decode(bytes).and_then(|piece| self.carry_out(&piece));
        Some(if done.is_some() { COPIED } else { REFUSED }.to_vec())
    }

    fn gone(&mut self) {}
}

#[cfg(test)]
mod tests {
    /// As in the kernel's copies: what the program protected is an error.
    #[test]
    fn the_file_of_all_memory_does_not_get_past_protections() {
        use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
        let rw = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a page of this function, which nothing refers to.
        let page = unsafe { mmap_anonymous(core::ptr::null_mut(), 4096, rw, MapFlags::PRIVATE).unwrap() };
        let at = page as usize;
        assert_eq!(own_memory_by_file(Way::Write, at, &mut [7; 100]), Ok(()));
        // SAFETY: as above.
        unsafe { mprotect(page, 4096, MprotectFlags::READ).unwrap() };
        assert_eq!(own_memory_by_file(Way::Write, at, &mut [8; 100]), Err(Errno::FAULT));
        let mut got = [0; 100];
        assert_eq!((own_memory_by_file(Way::Read, at, &mut got), got), (Ok(()), [7; 100]));
        // SAFETY: as above.
        unsafe { munmap(page, 4096).unwrap() };
        assert_eq!(own_memory_by_file(Way::Read, at, &mut got), Err(Errno::FAULT));
    }

    use super::super::descriptor::tests::sample;
    use super::*;
    use crate::export::{Descriptor, Kind};
    use crate::region::Access;

    #[test]
    fn the_owner_checks_range_and_rights() {
        let mut memory = vec![1u8; 1000];
        let at = memory.as_mut_ptr() as usize;
        let copier = |access, writable| {
            let kind = Kind::Pci;
            let lent = Descriptor { kind, access, base: 0x10_0000, len: 1000, ..sample() };
            let share = Share::new(&lent, at, writable);
            Copier::new(Arc::new(share), Segment::create("softdpu-test", STAGE_BYTES).unwrap()).unwrap()
        };
        let ask = |copier: &mut Copier, way, from: u64, len| {
            let piece = Piece { way, addr: from, len };
            copier.message(&piece.encode(), Vec::new()).unwrap() == COPIED
        };
        let mut both = copier(Access::PCI_READ_WRITE, true);
        both.stage.put(0, &[7; 1000]);
        assert!(ask(&mut both, Way::Write, 0x10_0000 + 990, 10));
        assert!(ask(&mut both, Way::Read, 0x10_0000 + 980, 20));
        let mut got = [0; 20];
        both.stage.get(0, &mut got);
        assert_eq!((&got[..10], &got[10..]), (&[1; 10][..], &[7; 10][..]));
        for (from, len) in
            [(0x10_0000 - 1, 1), (0x10_0000 + 1000, 1), (0x10_0000, 1001), (u64::MAX, 2), (0, 1)]
        {
            assert!(!ask(&mut both, Way::Read, from, len), "{from:#x} {len}");
        }
        assert!(!ask(&mut both, Way::Read, 0x10_0000, u32::MAX));
        for mut reads in [copier(Access::PCI_READ_ONLY, true), copier(Access::PCI_READ_WRITE, false)] {
            assert!(ask(&mut reads, Way::Read, 0x10_0000, 10));
            assert!(!ask(&mut reads, Way::Write, 0x10_0000, 10));
        }
        assert!(both.message(b"garbage", Vec::new()).unwrap() != COPIED);
        both.share.recall();
        assert!(!ask(&mut both, Way::Read, 0x10_0000, 10));
        assert_eq!(memory[980], 1);
        memory.clear();
    }

    #[test]
    fn words_are_changed_where_that_is_granted() {
        use crate::peer::Change;
        let mut memory = vec![7u64; 4];
        let at = memory.as_mut_ptr() as usize;
        let all = Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC;
        let copier = |kind, access, writable| {
            let lent = Descriptor { kind, access, base: 0x10_0000, len: 32, ..sample() };
            let share = Share::new(&lent, at, writable);
            Copier::new(Arc::new(share), Segment::create("softdpu-test", STAGE_BYTES).unwrap()).unwrap()
        };
        let ask = |copier: &mut Copier, addr, change| {
            let answer = copier.message(&Alter { addr, change }.encode(), Vec::new()).unwrap();
            answer.strip_prefix(CHANGED).map(|word| u64::from_le_bytes(word.try_into().unwrap()))
        };
        let mut good = copier(Kind::Rdma, all, true);
        assert_eq!(ask(&mut good, 0x10_0018, Change::Add(u64::MAX)), Some(7));
        assert_eq!(ask(&mut good, 0x10_0018, Change::Swap(6, 9)), Some(6));
        assert_eq!(ask(&mut good, 0x10_0018, Change::Swap(6, 10)), Some(9));
        for addr in [0x10_0014, 0x10_0020, 0x0f_fff8, 0, u64::MAX] {
            assert_eq!(ask(&mut good, addr, Change::Add(1)), None, "{addr:#x}");
        }
        for (kind, access, writable) in [
            (Kind::Pci, Access::PCI_READ_WRITE, true),
            (Kind::Rdma, Access::RDMA_READ | Access::RDMA_WRITE, true),
            (Kind::Rdma, all, false),
        ] {
            assert_eq!(ask(&mut copier(kind, access, writable), 0x10_0018, Change::Add(1)), None);
        }
        good.share.recall();
        assert_eq!(ask(&mut good, 0x10_0018, Change::Add(1)), None);
        assert_eq!(memory[3], 9);
        memory.clear();
    }
}
