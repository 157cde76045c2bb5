//! Claims, gaps, and what a hostile peer may write.

use super::*;

fn pair(receives: u32) -> (Srq<u32>, RemoteSrq) {
    let srq = Srq::new(receives, 100, 6).unwrap();
    let remote = RemoteSrq::new(srq.segment().clone()).unwrap();
    (srq, remote)
}

#[test]
fn claims_come_in_order_of_posting_and_only_once() {
    let (mut srq, remote) = pair(4);
    assert_eq!((remote.rights(), remote.is_open(), remote.claim(7)), (6, true, None));
    for n in 0..4 {
        srq.post(n, 100 + n).unwrap();
    }
    assert_eq!(remote.claim(7), None, "not published");
    assert!(!srq.publish());
    for n in 0..4 {
        let claim = remote.claim(7 + n).unwrap();
        assert_eq!(claim.room, 100 + n);
        let letter = Letter { len: n, imm: [1, 2, 3, 4], kind: 1 };
        remote.write(claim, letter);
        assert_eq!(srq.letter(claim.place, 7 + n), Some(letter));
        assert_eq!(srq.letter(claim.place, 8 + n), None, "somebody else's");
        assert_eq!(srq.take(claim.place), Some(n));
        assert_eq!(srq.letter(claim.place, 7 + n), None);
    }
    assert_eq!((remote.claim(7), srq.count), (None, 0));
    remote.wait();
    srq.post(9, 1).unwrap();
    assert!(srq.publish());
    assert!(!srq.publish(), "told once");
}

#[test]
fn a_receive_that_is_held_up_blocks_no_other() {
    let (mut srq, remote) = pair(2);
    srq.post(0, 0).unwrap();
    srq.publish();
    let held = remote.claim(1).unwrap();
    for n in 1..50 {
        srq.post(n, n).unwrap();
        srq.publish();
        let claim = remote.claim(2).unwrap();
        assert_eq!((claim.room, srq.take(claim.place)), (n, Some(n)));
    }
    assert_eq!(srq.claimed_by(1), Some(held.place));
    assert_eq!(srq.claimed_by(2), None);
    assert_eq!(srq.take(held.place), Some(0));
}

#[test]
fn a_claim_given_back_is_found_again() {
    let (mut srq, remote) = pair(8);
    for n in 0..3 {
        srq.post(n, n).unwrap();
    }
    srq.publish();
    let (a, b) = (remote.claim(1).unwrap(), remote.claim(1).unwrap());
    remote.unclaim(a, 1);
    assert_eq!(remote.claim(2).map(|c| c.place), Some(a.place));
    assert_ne!(remote.claim(2).map(|c| c.place), Some(b.place));
    assert_eq!(remote.claim(2), None);
}

#[test]
fn nothing_a_peer_writes_leads_out_of_the_segment() {
    let mut seed = 1u64;
    for _ in 0..2000 {
        let mut next = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            seed >> 33
        };
        let (mut srq, remote) = pair(8);
        srq.post(0, 64).unwrap();
        srq.publish();
        for _ in 0..next() % 8 {
            let at = next() as usize % (srq.segment().len() / 8) * 8;
            let value = [0, 1, u64::MAX, next() << 32 | next()][next() as usize % 4];
            srq.segment().word64(at).store(value, Ordering::Relaxed);
        }
        if let Some(claim) = remote.claim(next() as u32) {
            remote.write(claim, Letter { len: 1, imm: [0; 4], kind: 0 });
            remote.unclaim(claim, 3);
        }
        remote.set_ready(next() as u32);
        let _ = RemoteSrq::new(srq.segment().clone());
        let _ = (srq.letter(next() as u32, next() as u32), srq.claimed_by(3), srq.is_ready());
        for w in 0..srq.ready_words() {
            srq.take_ready(w);
        }
        let _ = srq.take(0);
    }
}

#[test]
fn who_remembers_what_was_posted_misses_nothing() {
    let (mut srq, remote) = pair(4);
    let mut seen = 0;
    assert_eq!(remote.claim_seen(1, &mut seen), None);
    for round in 0..40u64 {
        srq.post(round as u32, 64).unwrap();
        srq.publish();
        // Another sender takes every second one, behind the back of this one.
        let by = if round % 2 == 0 { remote.claim_seen(1, &mut seen) } else { remote.claim(2) };
        let place = by.expect("a receive was posted").place;
        assert_eq!(srq.take(place), Some(round as u32));
        assert_eq!((remote.claim_seen(1, &mut seen), remote.claim(2)), (None, None));
    }
    // What another sender gives back, and what comes while everything seen is taken.
    srq.post(7, 64).unwrap();
    srq.publish();
    let claim = remote.claim(2).unwrap();
    assert_eq!(remote.claim_seen(1, &mut seen), None);
    remote.unclaim(claim, 2);
    assert_eq!(remote.claim_seen(1, &mut seen), Some(claim));
    srq.post(8, 64).unwrap();
    assert_eq!(remote.claim_seen(1, &mut seen), None, "not published");
    srq.publish();
    assert!(remote.claim_seen(1, &mut seen).is_some());
}
