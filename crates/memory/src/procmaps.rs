//! What the kernel says about a range of this process: is all of it mapped and readable, is all of it writable?
//!
//! Registering a range with a real card pins its pages, and the kernel refuses what is not there. Here the list of
//! mappings in `/proc/self/maps` answers the same question before an engine ever touches the bytes, so that a hole or
//! a read-only page shows as a status and not as a signal. A mapping of a file may reach beyond the file's end, where
//! touching it would be a bus error; the last byte of each file mapping is therefore read once through
//! `/proc/self/mem`, which answers with an error number instead.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::FileExt;

/// What was found out about a range without holes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Survey {
    /// Every page may be written.
    pub writable: bool,
}

/// Why a range cannot be registered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hole {
    /// First byte that is not there.
    pub from: usize,
    /// First byte behind the hole (the end of the range, when the hole goes further).
    pub to: usize,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for Hole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{:#x}, {:#x}) is {}", self.from, self.to, self.why)
    }
}

/// Looks at `[base, base + len)`; the range is not empty and does not wrap.
///
/// A machine without `/proc` cannot be asked: the range then passes as writable, with one warning.
///
/// # Errors
/// The first part of the range that is not mapped, not readable, or behind the end of its file.
pub fn survey(base: usize, len: usize) -> Result<Survey, Hole> {
    let end = base.saturating_add(len);
    let maps = match File::open("/proc/self/maps") {
        Ok(file) => BufReader::with_capacity(1 << 14, file),
        Err(error) => return Ok(unknown(error)),
    };
    let mem = File::open("/proc/self/mem").ok();
    let reads = |at: usize| mem.as_ref().is_none_or(|mem| mem.read_exact_at(&mut [0], at as u64).is_ok());
    match scan(maps, base, end, reads) {
        Ok(found) => found,
        Err(error) => Ok(unknown(error)),
    }
}

fn unknown(error: io::Error) -> Survey {
    log::warn!(target: "softdpu::mmap", "/proc/self/maps cannot be read ({error}): ranges are registered unseen");
    Survey { writable: true }
}

/// The file that a range is a shared mapping of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Behind {
    /// Number of its file system, and its own in there.
    pub(crate) device: (u32, u32),
    pub(crate) inode: u64,
    /// Where in the file the range begins.
    pub(crate) offset: u64,
    /// A mapping of it, as `/proc/self/map_files` names it.
    pub(crate) mapping: (usize, usize),
}

/// The file behind `[base, base + len)`, if all of it is one stretch of one file, mapped shared.
pub(crate) fn behind(base: usize, len: usize) -> Option<Behind> {
    let maps = BufReader::with_capacity(1 << 14, File::open("/proc/self/maps").ok()?);
    stretch(maps, base, base.checked_add(len)?)
}

fn stretch(mut maps: impl BufRead, base: usize, end: usize) -> Option<Behind> {
    let (mut at, mut found) = (base, None::<Behind>);
    let mut line = Vec::with_capacity(256);
    while at < end {
        line.clear();
        if maps.read_until(b'\n', &mut line).ok()? == 0 {
            return None;
        }
        let map = parse(&line)?;
        if map.to <= at {
            continue;
        }
        if map.from > at || !map.shared || map.inode == 0 {
            return None;
        }
        let offset = map.offset + (at - map.from) as u64;
        match found {
            None => {
                let (device, inode, mapping) = (map.device, map.inode, (map.from, map.to));
                found = Some(Behind { device, inode, offset, mapping });
            }
            Some(first) => {
                let goes_on = (first.device, first.inode, first.offset + (at - base) as u64);
                if goes_on != (map.device, map.inode, offset) {
                    return None;
                }
            }
        }
        at = end.min(map.to);
    }
    found
}

/// One line of the list.
struct Mapping<'a> {
    from: usize,
    to: usize,
    readable: bool,
    writable: bool,
    shared: bool,
    offset: u64,
    device: (u32, u32),
    inode: u64,
    /// The file behind it, for kinds of files that have an end.
    path: Option<&'a [u8]>,
}

/// Walks over the list, which is sorted by address, until it has passed `end`. `reads` tells whether the byte at an
/// address can be read.
fn scan(
    mut maps: impl BufRead,
    base: usize,
    end: usize,
    reads: impl Fn(usize) -> bool,
) -> io::Result<Result<Survey, Hole>> {
    let (mut at, mut writable) = (base, true);
    let mut line = Vec::with_capacity(256);
    while at < end {
        line.clear();
        if maps.read_until(b'\n', &mut line)? == 0 {
            return Ok(Err(Hole { from: at, to: end, why: "not mapped" }));
        }
        let Some(map) = parse(&line) else {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "unknown format"));
        };
        if map.to <= at {
            continue;
        }
        if map.from > at {
            return Ok(Err(Hole { from: at, to: end.min(map.from), why: "not mapped" }));
        }
        let to = end.min(map.to);
        if !map.readable {
            return Ok(Err(Hole { from: at, to, why: "mapped without read access" }));
        }
        if map.path.is_some_and(has_an_end) && !reads(to - 1) {
            return Ok(Err(Hole {
                from: at,
                to,
                why: "a file mapping that goes beyond the end of the file",
            }));
        }
        writable &= map.writable;
        at = to;
    }
    Ok(Ok(Survey { writable }))
}

/// Devices and buffers of drivers have no end to run into, and may not be readable in this way at all.
fn has_an_end(path: &[u8]) -> bool {
    let plain_in_dev = [&b"/dev/shm/"[..], b"/dev/hugepages/", b"/dev/zero"];
    let starts = |with: &[u8]| path.starts_with(with);
    starts(b"/") && !starts(b"/dmabuf") && (!starts(b"/dev/") || plain_in_dev.into_iter().any(starts))
}

/// `from-to perms offset device inode path`, the numbers hexadecimal.
fn parse(line: &[u8]) -> Option<Mapping<'_>> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut fields = line.splitn(6, |&b| b == b' ');
    let range = fields.next()?;
    let dash = range.iter().position(|&b| b == b'-')?;
    let perms = fields.next()?;
    let offset = hex(fields.next()?)?;
    let device = fields.next()?;
    let colon = device.iter().position(|&b| b == b':')?;
    let inode = std::str::from_utf8(fields.next()?).ok()?.trim_ascii_end().parse().ok()?;
    let path = fields.next().map(|p| p.trim_ascii_start()).filter(|p| !p.is_empty());
    Some(Mapping {
        from: hex(&range[..dash])?,
        to: hex(&range[dash + 1..])?,
        readable: *perms.first()? == b'r',
        writable: *perms.get(1)? == b'w',
        shared: *perms.get(3)? == b's',
        offset: offset as u64,
        device: (hex(&device[..colon])? as u32, hex(&device[colon + 1..])? as u32),
        inode,
        path,
    })
}

fn hex(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-3000 rw-p 00000000 00:00 0 
3000-4000 r--p 00000000 fe:01 77                         /usr/lib/a b.so
4000-5000 ---p 00000000 00:00 0 
5000-9000 rw-s 00000000 00:01 78                         /dev/shm/x
9000-a000 rw-s 00000000 00:01 79                         /dev/gadget
c000-d000 rw-p 00000000 00:00 0                          [heap]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";

    fn look(from: usize, to: usize, bad_byte: usize) -> Result<Survey, Hole> {
        scan(MAPS.as_bytes(), from, to, |at| at != bad_byte).unwrap()
    }

    #[test]
    fn ranges_are_judged_by_the_mappings_they_touch() {
        assert_eq!(look(0x1000, 0x3000, 0), Ok(Survey { writable: true }));
        assert_eq!(look(0x2fff, 0x3001, 0), Ok(Survey { writable: false }));
        assert_eq!(look(0x5000, 0xa000, 0), Ok(Survey { writable: true }));
        assert_eq!(look(0xcfff, 0xd000, 0), Ok(Survey { writable: true }));
    }

    #[test]
    fn holes_are_named_with_their_bounds() {
        assert_eq!(look(0x800, 0x1800, 0), Err(Hole { from: 0x800, to: 0x1000, why: "not mapped" }));
        assert_eq!(look(0x800, 0x900, 0), Err(Hole { from: 0x800, to: 0x900, why: "not mapped" }));
        assert_eq!(look(0x9800, 0xd000, 0), Err(Hole { from: 0xa000, to: 0xc000, why: "not mapped" }));
        assert_eq!(look(0xc000, 0xd001, 0), Err(Hole { from: 0xd000, to: 0xd001, why: "not mapped" }));
        assert_eq!(
            look(0x2000, 0x6000, 0),
            Err(Hole { from: 0x4000, to: 0x5000, why: "mapped without read access" })
        );
        let last = look(usize::MAX - 10, usize::MAX, 0).unwrap_err();
        assert_eq!((last.from, last.why), (usize::MAX - 10, "not mapped"));
    }

    #[test]
    fn a_file_that_ends_early_is_a_hole_but_a_device_is_not() {
        let hole = look(0x5000, 0x6000, 0x5fff).unwrap_err();
        assert_eq!((hole.from, hole.to), (0x5000, 0x6000));
        assert!(hole.to_string().contains("end of the file"), "{hole}");
        assert!(look(0x9000, 0xa000, 0x9fff).is_ok());
    }

    #[test]
    fn a_stretch_of_one_shared_file_is_found() {
        let maps = "\
1000-3000 rw-s 00005000 00:01 78                         /memfd:x (deleted)
3000-4000 r--s 00007000 00:01 78                         /memfd:x (deleted)
4000-5000 rw-s 00009000 00:01 78                         /memfd:x (deleted)
5000-6000 rw-s 0000a000 00:01 79                         /memfd:y (deleted)
6000-7000 rw-p 0000b000 00:01 79                         /memfd:y (deleted)
7000-8000 rw-p 00000000 00:00 0
";
        let look =
            |from, to| stretch(maps.as_bytes(), from, to).map(|b| (b.device, b.inode, b.offset, b.mapping));
        assert_eq!(look(0x1010, 0x3fff), Some(((0, 1), 78, 0x5010, (0x1000, 0x3000))));
        assert_eq!(look(0x3fff, 0x4000), Some(((0, 1), 78, 0x7fff, (0x3000, 0x4000))));
        for (from, to) in
            [(0x3000, 0x4001), (0x4000, 0x6000), (0x6000, 0x6001), (0x7000, 0x7001), (0x7fff, 0x8001), (0, 1)]
        {
            assert_eq!(look(from, to), None, "{from:#x}");
        }
    }

    #[test]
    fn any_bytes_for_a_list_give_an_answer() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..2000 {
            let mut list = MAPS.as_bytes().to_vec();
            for _ in 0..8 {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                let at = (state >> 33) as usize % list.len();
                list[at] = (state >> 20) as u8;
            }
            let _ = scan(&list[..], 0x2000, 0xd000, |_| true);
            let _ = stretch(&list[..], 0x5000, 0xa000);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "reads /proc")]
    fn the_memory_of_this_process_is_seen() {
        let heap = vec![0u8; 3 << 20];
        assert_eq!(survey(heap.as_ptr() as usize, heap.len()), Ok(Survey { writable: true }));
        let stack = [0u8; 64];
        assert_eq!(survey(stack.as_ptr() as usize, stack.len()), Ok(Survey { writable: true }));
        static TEXT: [u8; 4096] = [7; 4096];
        assert_eq!(survey(TEXT.as_ptr() as usize, TEXT.len()), Ok(Survey { writable: false }));
        assert_eq!(survey(16, 16).unwrap_err().why, "not mapped");
    }
}
