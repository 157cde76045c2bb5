//! The ring against a model, and against a peer that writes what it wants.

use super::*;
use std::collections::VecDeque;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

fn ends(data: usize, at: usize) -> (Arc<Segment>, Sender, Receiver) {
    let segment = Arc::new(Segment::create("test", at + ring_bytes(data) + 64).unwrap());
    let (sender, receiver) =
        (Sender::new(segment.clone(), at, data), Receiver::new(segment.clone(), at, data));
    (segment, sender, receiver)
}

fn next(receiver: &mut Receiver) -> Option<(u32, Vec<u8>)> {
    let front = receiver.front().unwrap()?;
    let mut bytes = vec![0; front.len];
    assert_eq!(receiver.take(&mut bytes), front.len);
    receiver.pop();
    Some((front.tag, bytes))
}

/// Random sizes in random order against a queue; what lies beside the ring is not touched.
#[test]
fn like_a_queue() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for data in [64, 128, 256, 4096] {
        let (segment, mut sender, mut receiver) = ends(data, 64);
        segment.word64(56).store(u64::MAX, Ordering::Relaxed);
        segment.word64(64 + ring_bytes(data)).store(u64::MAX, Ordering::Relaxed);
        // Placed, published.
        let (mut staged, mut queue) = (VecDeque::new(), VecDeque::new());
        let (mut sent, mut full) = (0, 0);
        for n in 0..60_000u32 {
            match random.below(5) {
                0..=1 => {
                    let most =
                        if random.below(4) == 0 { max_message(data) } else { 24.min(max_message(data)) };
                    let bytes: Vec<u8> = (0..random.below(most + 1)).map(|_| random.next() as u8).collect();
                    let cut = random.below(bytes.len() + 1);
                    let parts = [&bytes[..cut], &[], &bytes[cut..]];
                    let fits = sender.fits(bytes.len()).unwrap();
                    let placed = if random.below(2) == 0 {
                        sender.push(n, &parts).unwrap()
                    } else {
                        sender.stage(n, &parts).unwrap()
                    };
                    assert_eq!(fits, placed);
                    if placed {
                        staged.push_back((n, bytes));
                        sent += 1;
                        if sender.published == sender.tail {
                            queue.append(&mut staged);
                        }
                    } else {
                        full += 1;
                        assert!(!queue.is_empty() || !staged.is_empty(), "full and empty");
                    }
                }
                2 => {
                    sender.publish();
                    queue.append(&mut staged);
                }
                _ => {
                    assert_eq!(receiver.is_empty(), queue.is_empty());
                    assert_eq!(next(&mut receiver), queue.pop_front());
                    if queue.is_empty() {
                        assert!(sender.is_drained().unwrap());
                    }
                }
            }
        }
        assert!(sent > 5_000 && full > 100, "{sent} sent, {full} times full");
        assert!(sender.tail > 20 * data as u64, "it wrapped");
        for place in [56, 64 + ring_bytes(data)] {
            assert_eq!(segment.word64(place).load(Ordering::Relaxed), u64::MAX, "written beside the ring");
        }
    }
}

/// Whatever the indices are: an empty ring takes the longest message.
#[test]
fn the_longest_message_fits_wherever_the_ring_stands() {
    for data in [64, 256] {
        for before in 0..2 * data / 8 {
            let (_, mut sender, mut receiver) = ends(data, 0);
            for n in 0..before {
                assert!(sender.push(n as u32, &[]).unwrap());
                assert_eq!(next(&mut receiver), Some((n as u32, Vec::new())));
            }
            let bytes = vec![7; max_message(data)];
            assert!(sender.push(1, &[&bytes]).unwrap(), "{before} of {data}");
            assert_eq!(next(&mut receiver), Some((1, bytes)));
        }
    }
}

#[test]
fn the_sender_is_told_about_room() {
    let (_, mut sender, mut receiver) = ends(256, 0);
    let mut count = 0;
    while sender.push(0, &[&[0; 8]]).unwrap() {
        count += 1;
    }
    assert_eq!(count, 16);
    let mut told = 0;
    for _ in 0..count {
        receiver.front().unwrap().unwrap();
        told += u32::from(receiver.pop());
    }
    assert_eq!(told, 4, "each quarter");
    assert!(receiver.front().unwrap().is_none() && !receiver.pop());
    assert!(sender.is_drained().unwrap());
}

#[test]
fn indices_of_the_counters_end_wrap() {
    let (segment, mut sender, mut receiver) = ends(64, 0);
    let start = u64::MAX - 63;
    (sender.tail, sender.head, sender.published) = (start, start, start);
    (receiver.tail, receiver.head, receiver.published) = (start, start, start);
    segment.word64(0).store(start, Ordering::Relaxed);
    segment.word64(HEAD).store(start, Ordering::Relaxed);
    for n in 0..20 {
        assert!(sender.push(n, &[&[n as u8; 9]]).unwrap());
        assert_eq!(next(&mut receiver), Some((n, vec![n as u8; 9])));
    }
    assert!(sender.tail < 1000);
}

#[test]
#[should_panic(expected = "at most 24")]
fn what_never_fits_panics() {
    let _ = ends(64, 0).1.push(0, &[&[0; 25]]);
}

#[test]
fn places_that_are_no_rings_panic() {
    let segment = Arc::new(Segment::create("test", 1000).unwrap());
    for (at, data) in [(0, 100), (0, 32), (8, 64), (0, 1024), (896, 64), (usize::MAX - 63, 64)] {
        let segment = segment.clone();
        let made = std::panic::catch_unwind(move || Sender::new(segment, at, data));
        assert!(made.is_err(), "ring of {data} bytes at {at}");
    }
}

/// One forged word at a time.
#[test]
fn impossible_indices_and_lengths_are_noticed() {
    let data = 256usize;
    let forged = |word: usize, value: u64| {
        let (segment, mut sender, mut receiver) = ends(data, 0);
        sender.push(1, &[&[1; 16]]).unwrap();
        segment.word64(word).store(value, Ordering::Relaxed);
        (sender.is_drained().is_err(), receiver.front().is_err())
    };
    assert_eq!(forged(DATA, 16 | 1 << 32), (false, false), "as it was");
    for tail in [data as u64 + 8, 25, u64::MAX, u64::MAX - 7, 1 << 63] {
        assert_eq!(forged(0, tail), (false, true), "tail {tail}");
    }
    for head in [32, 25, 1, u64::MAX - 7, 1 << 63] {
        assert_eq!(forged(HEAD, head), (true, false), "head {head}");
    }
    for len in [17, 24, 256, 1 << 20, u32::MAX - 1, u32::MAX] {
        assert_eq!(forged(DATA, u64::from(len)), (false, true), "length {len}");
    }
}

/// The receiver's index must not move backwards, which would let the sender overtake itself.
#[test]
fn an_index_that_moves_backwards_is_noticed() {
    let (segment, mut sender, mut receiver) = ends(64, 0);
    for n in 0..10 {
        sender.push(n, &[&[0; 8]]).unwrap();
        next(&mut receiver).unwrap();
        assert!(sender.is_drained().unwrap());
    }
    segment.word64(HEAD).store(80, Ordering::Relaxed);
    assert!(sender.is_drained().is_err());
    let mut receiver = Receiver::new(segment.clone(), 0, 64);
    (receiver.head, receiver.tail) = (160, 160);
    segment.word64(0).store(152, Ordering::Relaxed);
    assert!(!receiver.is_empty() && receiver.front().is_err());
}

/// Seeded: a peer that writes anything anywhere while the other end works. Errors are fine; panics, accesses beside the
/// ring and messages longer than any are not.
#[test]
fn messages_are_found_wherever_they_wait_and_stay() {
    let mut random = Random(0x7777_0dd0_beef_1234);
    let (_segment, mut sender, mut receiver) = ends(256, 64);
    let (mut sent, mut taken, mut most) = (0u32, 0u32, 0);
    for _ in 0..5_000 {
        let len = random.below(60);
        let payload: Vec<u8> = sent.to_le_bytes().into_iter().cycle().take(len).collect();
        if random.below(2) == 0 && sender.push(sent, &[&payload]).unwrap() {
            sent += 1;
        }
        let mut next = taken;
        let looked = receiver.look_ahead(|front, bytes: [u8; 4]| {
            assert_eq!(front.tag, next);
            let known = front.len.min(4);
            assert_eq!((&bytes[..known], &bytes[known..]), (&next.to_le_bytes()[..known], &[0; 4][known..]));
            next += 1;
        });
        assert_eq!((looked, next), (Ok(()), sent));
        most = most.max(sent - taken);
        // One that was looked at already, or not.
        if random.below(2) == 0 && receiver.front().unwrap().is_some() && random.below(2) == 0 {
            receiver.pop();
            taken += 1;
        }
    }
    assert!(sent > 1_000 && most > 8, "{sent} sent, {most} at a time");
}

#[test]
fn a_hostile_peer_breaks_the_ring_and_nothing_else() {
    let mut random = Random(0x0dd0_beef_1234_5671);
    let (mut good, mut bad) = (0u32, 0u32);
    for _ in 0..3_000 {
        let data = 64 << random.below(3);
        let (segment, mut sender, mut receiver) = ends(data, 64);
        let (before, after) = (56, 64 + ring_bytes(data));
        for place in [before, after] {
            segment.word64(place).store(0x5a5a, Ordering::Relaxed);
        }
        let mut into = vec![0; max_message(data)];
        for _ in 0..40 {
            if random.below(3) == 0 {
                let word = match random.below(3) {
                    0 => 0,
                    1 => HEAD,
                    _ => DATA + 8 * random.below(data / 8),
                };
                let value = match random.below(4) {
                    0 => random.next(),
                    1 => random.below(2 * data) as u64,
                    2 => sender.tail.wrapping_add(8 * random.below(9) as u64).wrapping_sub(32),
                    _ => u64::from(u32::MAX) | random.next() << 32,
                };
                segment.word64(64 + word).store(value, Ordering::Relaxed);
            }
            let len = random.below(max_message(data) + 1);
            let sent = sender.push(1, &[&into[..len]]);
            let _ = receiver.look_ahead(|front, _: [u8; 8]| assert!(front.len <= data));
            let front = receiver.front();
            if let Ok(Some(front)) = front {
                assert!(front.len <= data);
                into.resize(into.len().max(front.len), 0);
                assert!(receiver.take(&mut into) <= data);
                receiver.pop();
                into.truncate(max_message(data));
            }
            if sent.is_err() || front.is_err() { bad += 1 } else { good += 1 }
        }
        for place in [before, after] {
            assert_eq!(segment.word64(place).load(Ordering::Relaxed), 0x5a5a, "written beside the ring");
        }
    }
    assert!(good > 1_000 && bad > 1_000, "{good} good, {bad} bad");
}
