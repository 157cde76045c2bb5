use super::bytes::copy_stream;
use super::*;
use crate::node::Store;
use crate::region::Region;

const DEV: u64 = 1 << 16;

fn region(bytes: &mut [u8], word: u64) -> Region {
    let r = Region::closed();
    r.open(bytes.as_mut_ptr() as usize, bytes.len(), 0, word | DEV);
    r
}

fn pattern(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 31 + i / 251) as u8).collect()
}

/// All routines against each other, at every alignment that matters and around every seam.
#[test]
fn routines_copy_exactly() {
    let sizes =
        [0usize, 1, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 511, 512, 513, 4096, 70_000];
    let src = pattern(80_000);
    for n in sizes {
        for (so, d_o) in [(0usize, 0usize), (1, 0), (0, 3), (13, 29)] {
            for which in 0..3 {
                if which == 0 && (n == 0 || n > 64) {
                    continue;
                }
                let mut dst = vec![0xAAu8; 80_000];
                // SAFETY: both vectors are longer than any size plus offset used.
                unsafe {
                    let (s, d) = (src.as_ptr().add(so), dst.as_mut_ptr().add(d_o));
                    match which {
                        0 => copy_line(s, d, n),
                        1 => copy_shared(s, d, n),
                        _ => {
                            if !copy_stream(s, d, n) {
                                core::ptr::copy(s, d, n);
                            }
                        }
                    }
                }
                assert_eq!(&dst[d_o..d_o + n], &src[so..so + n], "routine {which} size {n}");
                assert!(
                    dst[..d_o].iter().chain(&dst[d_o + n..]).all(|&b| b == 0xAA),
                    "routine {which} size {n} spills"
                );
            }
        }
    }
}

#[test]
fn lists_of_different_shapes() {
    let mut from = pattern(1000);
    let want = from.clone();
    let mut to = vec![0u8; 1200];
    let (sr, dr) = (region(&mut from, CAN_READ), region(&mut to, CAN_READ | CAN_WRITE));
    let store = Store::new();
    store.expand(8).unwrap();
    let cut = |r: &Region, parts: &[(usize, usize, usize, usize)]| {
        let mut head: Option<&Node> = None;
        for &(at, len, data, data_len) in parts {
            let n: &Node = store.take(r).unwrap();
            n.aim(r.base() + at, len, r.base() + data, data_len);
            match head {
                None => head = Some(n),
                Some(h) => Node::link(h.last(), n),
            }
            // SAFETY-free: stores outlive the test's nodes.
        }
        head.unwrap() as *const Node as usize
    };
    let src = cut(&sr, &[(0, 100, 0, 100), (100, 1, 100, 1), (101, 899, 101, 899)]);
    let dst = cut(&dr, &[(0, 10, 0, 4), (200, 500, 200, 0), (700, 500, 700, 0)]);
    // SAFETY: nodes of `store`, alive until the end of the test.
    let (src, dst) = unsafe { (&*(src as *const Node), &*(dst as *const Node)) };
    let gate = Gate::new(DEV, 2000, 8);
    assert_eq!(transfer(src, dst, &gate).unwrap(), 1000);
    let got: Vec<u8> = to[4..10].iter().chain(&to[200..700]).chain(&to[700..1194]).copied().collect();
    assert_eq!(got, want);
    let lens: Vec<usize> = dst.list().map(|n| n.data_len()).collect();
    assert_eq!(lens, [10, 500, 494]);
    // Parts that overlap nothing give the same bytes.
    for n in dst.list() {
        n.set_data(n.data(), 0).unwrap();
    }
    to.fill(0);
    for (at, len) in [(500u64, 500u64), (0, 7), (7, 493)] {
        transfer_part(src, dst, at, len, false).unwrap();
    }
    commit(dst, 1000);
    let got: Vec<u8> = to[0..10].iter().chain(&to[200..700]).chain(&to[700..1190]).copied().collect();
    assert_eq!(got, want);
    src.give_back_list();
    dst.give_back_list();
    store.dissolve();
}

#[test]
fn what_is_refused_and_how() {
    let mut from = pattern(300);
    let mut to = vec![0u8; 300];
    let (sr, dr) = (region(&mut from, CAN_READ), region(&mut to, CAN_READ | CAN_WRITE));
    let store = Store::new();
    store.expand(2).unwrap();
    let (src, dst) = (store.take(&sr).unwrap(), store.take(&dr).unwrap());
    src.aim(sr.base(), 300, sr.base(), 300);
    dst.aim(dr.base(), 300, dr.base(), 0);
    let gate = Gate::new(DEV, 256, 1);
    let code = |s: &Node, d: &Node, g: &Gate| transfer(s, d, g).map_err(|e| e.code());
    assert_eq!(code(src, dst, &gate), Err(Code::InvalidValue), "above the limit");
    src.set_data(sr.base(), 0).unwrap();
    assert_eq!(code(src, dst, &gate), Err(Code::InvalidValue), "empty");
    for n in [1usize, 64, 65, 256] {
        src.set_data(sr.base(), n).unwrap();
        dst.set_data(dr.base(), 300 - n + 1).unwrap();
        assert_eq!(code(src, dst, &gate), Err(Code::InvalidValue), "no room for {n}");
        assert_eq!(dst.data_len(), 300 - n + 1);
        dst.set_data(dr.base(), 0).unwrap();
        assert_eq!(code(dst, src, &Gate::new(DEV, 256, 1)), Err(Code::InvalidValue), "empty the other way");
        assert_eq!(code(src, dst, &Gate::new(DEV << 1, 256, 1)), Err(Code::InvalidValue), "other device");
        assert_eq!(code(src, dst, &gate), Ok(n as u64));
        dst.set_data(dr.base(), n).unwrap();
        src.set_data(sr.base(), 0).unwrap();
        assert_eq!(code(dst, src, &gate), Err(Code::NotPermitted), "read-only destination");
        dst.set_data(dr.base(), 0).unwrap();
    }
    src.set_data(sr.base(), 8).unwrap();
    sr.close();
    assert_eq!(code(src, dst, &gate), Err(Code::InvalidValue), "stopped map");
    src.give_back_list();
    dst.give_back_list();
    store.dissolve();
}

/// The straight line moves the same bytes as the long way, and leaves everything unusual to it.
#[test]
fn lone_buffers_go_straight_or_not_at_all() {
    let from = pattern(9000);
    let mut to = vec![0u8; 9000];
    let (mine, moved) = (from.as_ptr() as usize, 0x10_0000usize);
    let (sr, dr) = (Region::closed(), Region::closed());
    let store = Store::new();
    store.expand(3).unwrap();
    let (src, dst, other) = (store.take(&sr).unwrap(), store.take(&dr).unwrap(), store.take(&sr).unwrap());
    let gate = Gate::new(DEV, 8000, 1);
    let aim = |n: usize, room: usize| {
        src.aim(sr.base(), 9000, sr.base() + 1, n);
        dst.aim(dr.base(), room, dr.base(), 0);
    };
    for kind in [0, SHARED, GUARDED, SHARED | GUARDED] {
        // The program names the source by another process's addresses.
        sr.open(moved, 9000, mine.wrapping_sub(moved) as isize, kind | CAN_READ | DEV);
        dr.open(to.as_mut_ptr() as usize, 9000, 0, CAN_READ | CAN_WRITE | DEV);
        for n in [1usize, 15, 64, 65, 1023, 1024, 5000, 7000] {
            aim(n, n);
            to.fill(0);
            assert!(is_lone_still(src, dst, &gate, 7000));
            assert_eq!(transfer_lone(src, dst, &gate, 7000), Some(n as u64));
            assert_eq!(dst.data_len(), n);
            assert!(to[..n] == from[1..n + 1] && to[n..].iter().all(|&b| b == 0), "{kind:#x} {n}");
        }
        let refused = |what: &str| {
            assert!(!is_lone_still(src, dst, &gate, 7000), "{kind:#x}: {what}");
            assert_eq!(transfer_lone(src, dst, &gate, 7000), None, "{kind:#x}: {what}");
            assert_eq!(dst.data_len(), 0, "{kind:#x}: {what}");
        };
        aim(7001, 9000);
        refused("longer than asked for");
        aim(0, 100);
        refused("empty");
        aim(101, 100);
        refused("no room");
        aim(100, 100);
        assert_eq!(transfer_lone(src, dst, &Gate::new(DEV << 1, 8000, 1), 7000), None, "another device");
        assert_eq!(transfer_lone(src, dst, &Gate::new(DEV, 99, 1), 7000), None, "above the device's limit");
        assert_eq!(transfer_lone(dst, src, &gate, 7000), None, "no right to write");
        other.aim(sr.base() + 200, 8, sr.base() + 200, 8);
        Node::link(src, other);
        refused("a list");
        other.cut();
        sr.close();
        refused("a closed region");
        sr.open(moved, 9000, 0, SLOW | FAR | GUARDED | CAN_READ | DEV);
        refused("memory that its owner has to copy");
        sr.close();
        dr.close();
    }
    [src, dst, other].into_iter().for_each(Node::give_back_list);
    store.dissolve();
}

/// An owner that takes its memory back between the look and the access: the access is refused, and leaves no mark behind,
/// nor one too few.
#[test]
fn memory_taken_back_is_left_as_it_was() {
    use crate::far::{Far, Mark, Means};
    use crate::quiesce;
    use softdpu_link::Segment;

    let there = pattern(200);
    let mut to = vec![0u8; 200];
    let page = Segment::create("softdpu-test", Mark::BYTES).unwrap();
    crate::seats::init();
    Mark::lend(&page);
    let again = Segment::from_fd(page.fd().try_clone_to_owned().unwrap(), Mark::BYTES).unwrap();
    let marks = vec![Mark::new(again.into_mapping()).unwrap()];
    let me = std::process::id();
    let sr: &Region = Box::leak(Box::new(Region::closed()));
    let word = FAR | GUARDED | CAN_READ | DEV;
    let far = std::sync::Arc::new(Far::new(marks, Means::Kernel(me), me));
    sr.open_far(there.as_ptr() as usize, 200, 0, word, far);
    let dr = region(&mut to, CAN_READ | CAN_WRITE);
    let store = Store::new();
    store.expand(2).unwrap();
    let (src, dst) = (store.take(sr).unwrap(), store.take(&dr).unwrap());
    src.aim(sr.base(), 200, sr.base(), 200);
    dst.aim(dr.base(), 200, dr.base(), 0);
    let gate = Gate::new(DEV, 256, 1);
    // Where the kernel does not copy at all there is nothing to see but the marks.
    if transfer_lone(src, dst, &gate, 1000).is_some() {
        assert_eq!(to, there);
        dst.set_data(dr.base(), 0).unwrap();
    }
    assert!(Mark::is_quiet(&page));
    quiesce::recall([Mark::lent(&page)].into_iter());
    assert!(is_lone(src, dst, &gate, 1000), "nobody has looked since");
    assert_eq!(transfer_lone(src, dst, &gate, 1000), None);
    assert!(!sr.is_open() && !is_lone_still(src, dst, &gate, 1000));
    assert!(Mark::is_quiet(&page));
    let (done, end) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        sr.close();
        done.send(()).unwrap();
    });
    end.recv_timeout(std::time::Duration::from_secs(60)).expect("a mark was lost");
    [src, dst].into_iter().for_each(Node::give_back_list);
    store.dissolve();
}
