use super::*;
use crate::receives::Receives;

fn posted(slot: u32) -> Posted {
    Posted { slot, addr: 0x1000 * u64::from(slot), room: 64 }
}

fn filled(slot: u32, bytes: u32) -> Filled {
    Filled { slot, status: 0, bytes, producer: 9, imm_len: 0 }
}

#[test]
fn receives_are_taken_in_order_and_done_in_any() {
    let mine = Receives::create(3).unwrap();
    let peer = Receives::accept(mine.fd().try_clone_to_owned().unwrap(), 3).unwrap();
    let mut claims = Claims::default();
    assert_eq!(peer.take(&mut claims), Take::Empty);
    for index in 0..3 {
        mine.post(index, posted(2 - index as u32));
    }
    assert_eq!(peer.take(&mut claims), Take::Empty, "not published");
    assert!(!mine.publish(3));
    for slot in [2, 1, 0] {
        assert_eq!(peer.take(&mut claims), Take::Taken(posted(slot)));
    }
    assert_eq!(peer.take(&mut claims), Take::Empty);
    assert!(!mine.is_through(0));
    peer.put_imm(1, b"five!");
    peer.finish(&mut claims, Filled { imm_len: 5, ..filled(1, 17) });
    peer.finish(&mut claims, Filled { status: 15, ..filled(2, 0) });
    assert!(mine.is_through(0));
    assert_eq!(mine.filled(0), Some(Filled { imm_len: 5, ..filled(1, 17) }));
    let mut imm = [0; 5];
    mine.imm(1, &mut imm);
    assert_eq!(&imm, b"five!");
    assert_eq!(mine.filled(1), Some(Filled { status: 15, ..filled(2, 0) }));
    assert!(mine.filled(2).is_none() && !mine.is_through(2));
    mine.post(3, posted(1));
    mine.close();
    assert_eq!(peer.take(&mut claims), Take::Closed);
}

#[test]
fn the_hungry_are_told_once() {
    let mine = Receives::create(4).unwrap();
    let peer = Receives::accept(mine.fd().try_clone_to_owned().unwrap(), 4).unwrap();
    mine.post(0, posted(0));
    assert!(!mine.publish(1));
    peer.hunger();
    mine.post(1, posted(1));
    assert!(mine.publish(2));
    assert!(!mine.publish(2));
}

#[test]
fn every_receive_arrives_with_what_was_written() {
    const COUNT: u64 = 50_000;
    for slots in [1, 3, 8] {
        let mine = Receives::create(slots).unwrap();
        let peer = mine.clone();
        let taker = std::thread::spawn(move || {
            let mut claims = Claims::default();
            let mut next = 0;
            loop {
                match peer.take(&mut claims) {
                    Take::Taken(posted) => {
                        assert_eq!(posted.addr, next, "in the order of posting");
                        next += 1;
                        let bytes = posted.addr as u32 ^ 0x5555;
                        peer.finish(&mut claims, filled(posted.slot, bytes));
                    }
                    Take::Empty => std::thread::yield_now(),
                    Take::Closed => break next,
                    Take::Broken => panic!("broken"),
                }
            }
        });
        let (mut free, mut next, mut done) = ((0..slots).collect::<Vec<u32>>(), 0, 0);
        let mut addrs = vec![0; slots as usize];
        while done < COUNT {
            let before = next;
            while next < COUNT
                && let Some(slot) = free.pop()
            {
                mine.post(next, Posted { slot, addr: next, room: 0 });
                addrs[slot as usize] = next;
                next += 1;
            }
            if next != before {
                mine.publish(next);
            }
            match mine.filled(done) {
                Some(filled) => {
                    assert_eq!(filled.bytes, addrs[filled.slot as usize] as u32 ^ 0x5555);
                    free.push(filled.slot);
                    done += 1;
                }
                None => std::thread::yield_now(),
            }
        }
        mine.close();
        assert_eq!(taker.join().unwrap(), COUNT);
    }
}

#[test]
fn nonsense_is_noticed() {
    let mine = Receives::create(4).unwrap();
    mine.segment.word64(POSTED).store(1 << 40, Release);
    assert_eq!(mine.take(&mut Claims::default()), Take::Broken);
    mine.segment.word64(POSTED).store(1, Release);
    mine.segment.word64(mine.post_at(0) + 8).store(77, Relaxed);
    assert_eq!(mine.take(&mut Claims::default()), Take::Broken);
    mine.segment.word64(mine.done_at(0) + 8).store(mine.stamp(0) | 0xff_ffff_ffff, Relaxed);
    let filled = mine.filled(0).unwrap();
    assert_eq!(filled.slot, 0xff_ffff);
    mine.imm(filled.slot, &mut [0; 64]);
}

#[test]
fn rounds_are_told_apart() {
    let mine = Receives::create(4).unwrap();
    for round in [0, 1, 0xff_fffe, 0xff_ffff, 0x100_0000] {
        let mut claims = Claims { done: 4 * round + 1, ..Claims::default() };
        assert!(mine.filled(claims.done).is_none(), "{round}");
        mine.finish(&mut claims, filled(2, 7));
        assert_eq!(mine.filled(4 * round + 1), Some(filled(2, 7)), "{round}");
        assert!(mine.filled(4 * round + 5).is_none(), "{round}");
    }
}
