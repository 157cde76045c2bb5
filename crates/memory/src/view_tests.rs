use super::*;
use crate::node::Store;
use crate::region::{CAN_READ, CAN_WRITE, GUARDED, SHARED};
use softdpu_status::Code;

const DEV: u64 = 1 << 16;
const GATE: Gate = Gate::new(DEV, 1 << 20, 8);
const BOTH: u64 = CAN_READ | CAN_WRITE;

struct Lab {
    bytes: Vec<u8>,
    region: Region,
    store: Store,
}

impl Lab {
    fn new(n: usize, word: u64) -> Lab {
        let mut bytes: Vec<u8> = (0..n).map(|i| (i * 31 + i / 251) as u8).collect();
        let region = Region::closed();
        region.open(bytes.as_mut_ptr() as usize, n, 0, word | DEV);
        let store = Store::new();
        store.expand(16).unwrap();
        Lab { bytes, region, store }
    }

    /// A list of elements `(window start, window length, data start, data length)`.
    fn list(&self, cuts: &[(usize, usize, usize, usize)]) -> &Node {
        let mut head: Option<&Node> = None;
        for &(at, len, data, data_len) in cuts {
            let node = self.store.take(&self.region).unwrap();
            node.aim(self.region.base() + at, len, self.region.base() + data, data_len);
            match head {
                None => head = Some(node),
                Some(h) => Node::link(h.last(), node),
            }
        }
        head.unwrap()
    }
}

fn random(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*seed >> 33) as usize
}

#[test]
fn sources_read_the_same_whatever_the_memory() {
    for word in [CAN_READ, CAN_READ | SHARED, CAN_READ | GUARDED, CAN_READ | SHARED | GUARDED] {
        let lab = Lab::new(60_000, word);
        let list = lab.list(&[
            (0, 100, 10, 50),
            (100, 10, 105, 0),
            (200, 40_000, 300, 39_000),
            (50_000, 7, 50_000, 7),
        ]);
        let want = [&lab.bytes[10..60], &lab.bytes[300..39_300], &lab.bytes[50_000..50_007]].concat();
        let hold = Hold::source(list, &GATE).unwrap();
        let sources = hold.sources();
        assert_eq!(sources.len(), want.len() as u64);
        let mut seed = word;
        for _ in 0..200 {
            let from = random(&mut seed) % (want.len() + 10);
            let len = random(&mut seed) % 20_000;
            let expect = &want[from.min(want.len())..(from + len).min(want.len())];
            let mut seen = Vec::new();
            assert_eq!(
                sources.each(from as u64, len as u64, |p| seen.extend_from_slice(p)),
                expect.len() as u64
            );
            assert_eq!(seen, expect);
            let mut into = vec![0; len];
            let n = sources.read(from as u64, &mut into);
            assert_eq!(&into[..n], expect);
            let mut scratch = [0; 64];
            let piece = sources.piece(from as u64, len, &mut scratch);
            assert!(expect.starts_with(piece) && piece.is_empty() == expect.is_empty());
            if let Some(slice) = sources.slice(from as u64, len) {
                assert_eq!((word, slice), (CAN_READ, expect));
            }
        }
        drop(hold);
        list.give_back_list();
    }
}

#[test]
fn sinks_write_the_room_and_nothing_else() {
    for word in [BOTH, BOTH | SHARED, BOTH | GUARDED] {
        let src = Lab::new(5000, CAN_READ);
        let dst = Lab::new(9000, word);
        let before = dst.bytes.clone();
        let to = dst.list(&[(100, 1000, 150, 50), (1500, 64, 1564, 0), (2000, 6000, 2001, 0)]);
        let from = src.list(&[(0, 5000, 0, 5000)]);
        let mut hold = Hold::both(from, to, &GATE).unwrap();
        let (sources, mut sink) = hold.split();
        assert_eq!(sink.room(), 900 + 5999);
        let mut seed = 5;
        let mut at = 0u64;
        while at < 5000 {
            let n = (1 + random(&mut seed) % 300).min(5000 - at as usize);
            let mut scratch = [0; 300];
            let piece = sources.piece(at, n, &mut scratch);
            at += piece.len() as u64;
            match sink.slice(piece.len()) {
                Some(place) if random(&mut seed).is_multiple_of(2) => {
                    assert_eq!(word, BOTH);
                    let n = place.len();
                    place.copy_from_slice(&piece[..n]);
                    sink.advance(n as u64);
                    assert_eq!(sink.write(&piece[n..]), piece.len() - n);
                }
                _ => assert_eq!(sink.write(piece), piece.len()),
            }
        }
        assert_eq!(sink.room(), 900 + 5999 - 5000);
        drop(hold);
        let mut want = before;
        want[200..1100].copy_from_slice(&src.bytes[..900]);
        want[2001..2001 + 4100].copy_from_slice(&src.bytes[900..]);
        assert_eq!(dst.bytes, want);
        assert_eq!(to.data_len(), 50, "nothing is data before the commit");
        copy::commit(to, 5000);
        assert_eq!(copy::volume(to), 5050);
        from.give_back_list();
        to.give_back_list();
    }
}

#[test]
fn overlap_is_found_and_harmless() {
    let lab = Lab::new(1000, BOTH);
    let check =
        |src: &[(usize, usize, usize, usize)], dst: &[(usize, usize, usize, usize)], want: Overlap| {
            let (s, d) = (lab.list(src), lab.list(dst));
            let mut hold = Hold::both(s, d, &GATE).unwrap();
            assert_eq!(hold.overlap(), want, "{src:?} {dst:?}");
            let (sources, _) = hold.split();
            assert_eq!(sources.slice(0, 1).is_some(), want == Overlap::Apart);
            drop(hold);
            s.give_back_list();
            d.give_back_list();
        };
    check(&[(0, 100, 0, 100)], &[(100, 100, 100, 0)], Overlap::Apart);
    check(&[(0, 100, 0, 100)], &[(0, 100, 0, 0)], Overlap::Same);
    check(&[(0, 100, 0, 100)], &[(0, 200, 0, 0)], Overlap::Same);
    check(&[(0, 50, 0, 50), (50, 50, 50, 50)], &[(0, 100, 0, 0)], Overlap::Same);
    check(&[(0, 100, 1, 99)], &[(0, 100, 0, 0)], Overlap::Mixed);
    check(&[(0, 100, 0, 100)], &[(0, 50, 0, 0), (100, 50, 100, 0)], Overlap::Mixed);
    check(&[(0, 50, 0, 50), (0, 50, 0, 50)], &[(0, 50, 0, 0), (0, 50, 0, 0)], Overlap::Mixed);
    check(&[(0, 100, 0, 50)], &[(0, 100, 0, 50)], Overlap::Apart);
}

#[test]
fn several_slices_are_apart_and_private() {
    let lab = Lab::new(1000, BOTH);
    let list = lab.list(&[(0, 100, 0, 0), (100, 100, 100, 0), (0, 100, 0, 0)]);
    let mut hold = Hold::room(list, &GATE).unwrap();
    assert!(hold.split().1.slices(&[(0, 100), (100, 100)]).is_some());
    assert!(hold.split().1.slices(&[(100, 100), (0, 50), (50, 50)]).is_some());
    assert!(hold.split().1.slices(&[(0, 60), (50, 50)]).is_none(), "overlapping ranges");
    assert!(hold.split().1.slices(&[(0, 100), (200, 100)]).is_none(), "the same memory twice");
    assert!(hold.split().1.slices(&[(50, 100)]).is_none(), "across elements");
    assert!(hold.split().1.slices(&[(250, 100)]).is_none(), "behind the end");
    let mut sink = hold.split().1;
    sink.advance(30);
    let mut slices = sink.slices(&[(0, 10), (80, 10)]).unwrap();
    slices[0].fill(1);
    slices[1].fill(2);
    drop(hold);
    assert!(lab.bytes[30..40].iter().all(|&b| b == 1) && lab.bytes[110..120].iter().all(|&b| b == 2));
    list.give_back_list();
}

#[test]
fn rights_limits_and_closed_regions_refuse() {
    let lab = Lab::new(1000, CAN_READ);
    let list = lab.list(&[(0, 1000, 0, 500)]);
    assert_eq!(check_source(list, &GATE).unwrap(), 500);
    assert_eq!(check_room(list, &GATE).unwrap_err().code(), Code::NotPermitted);
    assert_eq!(Hold::both(list, list, &GATE).unwrap_err().code(), Code::NotPermitted);
    assert_eq!(check_source(list, &Gate::new(DEV, 499, 8)).unwrap_err().code(), Code::InvalidValue);
    assert_eq!(check_source(list, &Gate::new(DEV << 1, 500, 8)).unwrap_err().code(), Code::InvalidValue);
    lab.region.close();
    assert_eq!(check_source(list, &GATE).unwrap_err().code(), Code::InvalidValue);
    assert_eq!(Hold::source(list, &GATE).unwrap_err().code(), Code::InvalidValue);
    list.give_back_list();
    let guarded = Lab::new(1000, BOTH | GUARDED);
    let list = guarded.list(&[(0, 500, 0, 0), (500, 500, 500, 0)]);
    assert_eq!(check_room(list, &Gate::new(DEV, 1, 1)).unwrap_err().code(), Code::InvalidValue);
    let hold = Hold::room(list, &GATE).unwrap();
    std::thread::scope(|s| {
        let closer = s.spawn(|| guarded.region.close());
        while guarded.region.is_open() {
            std::thread::yield_now();
        }
        assert!(!closer.is_finished(), "closing waits for the hold");
        drop(hold);
    });
    assert_eq!(Hold::room(list, &GATE).unwrap_err().code(), Code::InvalidValue);
    list.give_back_list();
}
