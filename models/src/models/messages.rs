//! Messages from one process to another: each arrives once, in order, with what was written; nobody who sleeps until
//! there is a message, or until there is room, sleeps for ever.

/// Bytes of the ring: two messages of [`LONG`] fill it.
const DATA: usize = 64;
const LONG: usize = 24;
const SHORT: usize = 8;

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        pub(super) mod $name {
            use super::{DATA, LONG, SHORT};
            use crate::armed;
            use crate::segment::Segment;
            use crate::sync::{AtomicU32, Ordering, World, explore, spin};
            use loom::thread;
            use std::sync::Arc;
            use subject::{Receiver, Sender};
            use $subject as subject;

            fn ring() -> (Sender, Receiver) {
                let segment = Arc::new(Segment::new(DATA));
                (Sender::new(segment.clone(), 0, DATA), Receiver::new(segment, 0, DATA))
            }

            fn send(sender: &mut Sender, n: u32, len: usize) -> bool {
                sender.push(n, &[&[n as u8; LONG][..len]]).expect("our own index")
            }

            fn receive(receiver: &mut Receiver) -> Option<(u32, usize)> {
                let front = receiver.front().expect("our own header")?;
                let mut bytes = [0; LONG];
                assert_eq!(receiver.take(&mut bytes), front.len);
                assert!(bytes[..front.len].iter().all(|&b| b == front.tag as u8), "another message's bytes");
                receiver.pop();
                Some((front.tag, front.len))
            }

            /// After `before` short messages, which decide where the others wrap.
            pub(in super::super) fn arrive(world: World, before: u32, lens: &'static [usize]) {
                explore(world, 2, move || {
                    let (mut sender, mut receiver) = ring();
                    for n in 0..before {
                        assert!(send(&mut sender, n, SHORT));
                        assert_eq!(receive(&mut receiver), Some((n, SHORT)));
                    }
                    let other = thread::spawn(move || {
                        for (n, &len) in lens.iter().enumerate() {
                            while !send(&mut sender, n as u32, len) {
                                spin();
                            }
                        }
                        sender
                    });
                    for (n, &len) in lens.iter().enumerate() {
                        let got = loop {
                            match receive(&mut receiver) {
                                Some(got) => break got,
                                None => spin(),
                            }
                        };
                        assert_eq!(got, (n as u32, len), "lost or out of order");
                    }
                    assert!(receiver.is_empty());
                    assert!(
                        other.join().unwrap().is_drained().expect("our own index"),
                        "never told about room"
                    );
                });
            }

            /// The receiver goes to sleep while a message comes.
            pub(in super::super) fn wakes_the_receiver(world: World) {
                explore(world, 3, || {
                    let (mut sender, receiver) = ring();
                    let word = Arc::new(AtomicU32::new(0));
                    let other = {
                        let word = word.clone();
                        thread::spawn(move || {
                            assert!(send(&mut sender, 1, SHORT));
                            armed::wants_ring(&word)
                        })
                    };
                    armed::arm(&word);
                    let seen = !receiver.is_empty();
                    let rung = other.join().unwrap();
                    assert!(seen || rung, "asleep, and nobody rang");
                    assert_eq!(word.load(Ordering::Relaxed) == 0, rung);
                });
            }

            /// The same where the sleeper's barrier stands for both.
            pub(in super::super) fn wakes_the_receiver_far(world: World) {
                explore(world, 3, || {
                    let (mut sender, receiver) = ring();
                    let word = Arc::new(AtomicU32::new(0));
                    let other = {
                        let word = word.clone();
                        thread::spawn(move || {
                            assert!(send(&mut sender, 1, SHORT));
                            armed::wants_ring_light(&word)
                        })
                    };
                    armed::arm_far(&word);
                    let seen = !receiver.is_empty();
                    let rung = other.join().unwrap();
                    assert!(seen || rung, "asleep, and nobody rang");
                });
            }

            /// The ring is full; the sender goes to sleep while the receiver reads everything.
            pub(in super::super) fn wakes_the_sender(world: World) {
                explore(world, 3, || {
                    let (mut sender, mut receiver) = ring();
                    assert!(send(&mut sender, 0, SHORT) && send(&mut sender, 1, SHORT));
                    assert!(receive(&mut receiver).is_some() && receive(&mut receiver).is_some());
                    // The last one is less than a quarter: only an empty ring tells of it.
                    assert!(send(&mut sender, 2, LONG) && sender.push(3, &[]).unwrap());
                    assert!(!send(&mut sender, 4, LONG));
                    let word = Arc::new(AtomicU32::new(0));
                    let other = {
                        let word = word.clone();
                        thread::spawn(move || {
                            let mut rung = false;
                            for _ in 0..2 {
                                receiver.front().unwrap().expect("it was published");
                                if receiver.pop() {
                                    rung |= armed::wants_ring(&word);
                                }
                            }
                            rung
                        })
                    };
                    armed::arm(&word);
                    let seen = sender.fits(LONG).unwrap();
                    let rung = other.join().unwrap();
                    assert!(seen || rung, "asleep, and nobody rang");
                    assert!(!seen || send(&mut sender, 4, LONG));
                    assert!(sender.is_drained().unwrap() || seen, "never told about room");
                });
            }
        }
    };
}

scenarios!(ring, crate::ring);
scenarios!(unpublished, crate::mutants::ring_unpublished);
scenarios!(unseen, crate::mutants::ring_unseen);
scenarios!(head_before_take, crate::mutants::ring_head_before_take);
scenarios!(told_late, crate::mutants::ring_told_late);
scenarios!(too_full, crate::mutants::ring_too_full);
scenarios!(padding_alone, crate::mutants::ring_padding_alone);

use crate::sync::{USUAL, World};

#[test]
fn messages_arrive_once_in_order_with_their_bytes() {
    ring::arrive(USUAL, 0, &[LONG, LONG, LONG]);
    ring::arrive(USUAL, 0, &[SHORT, LONG, SHORT]);
}

/// The second long message does not fit before the end of the area.
#[test]
fn messages_arrive_over_padding() {
    ring::arrive(USUAL, 1, &[LONG, LONG]);
    ring::arrive(USUAL, 3, &[LONG, SHORT, LONG]);
}

#[test]
fn a_message_wakes_a_receiver() {
    ring::wakes_the_receiver(USUAL);
}

#[test]
fn a_message_wakes_a_receiver_that_pays_for_both() {
    ring::wakes_the_receiver_far(USUAL);
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_receiver_without_its_far_barrier() {
    ring::wakes_the_receiver_far(World { heavy: false, ..USUAL });
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_sender_that_the_compiler_reorders() {
    ring::wakes_the_receiver_far(World { light: false, ..USUAL });
}

#[test]
fn room_wakes_a_sender() {
    ring::wakes_the_sender(USUAL);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_publication() {
    unpublished::arrive(USUAL, 0, &[LONG]);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_looking_in_order() {
    unseen::arrive(USUAL, 0, &[LONG]);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_with_room_told_too_early() {
    head_before_take::arrive(USUAL, 0, &[LONG, LONG, LONG]);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_with_room_that_is_not_there() {
    too_full::arrive(USUAL, 0, &[LONG, LONG, LONG]);
}

#[test]
#[should_panic(expected = "our own header")]
fn broken_with_padding_published_alone() {
    padding_alone::arrive(USUAL, 3, &[LONG]);
}

#[test]
#[should_panic(expected = "never told about room")]
fn broken_with_room_told_late() {
    told_late::wakes_the_sender(USUAL);
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_receiver_without_fences() {
    ring::wakes_the_receiver(World { fences: false, ..USUAL });
}

#[test]
#[should_panic(expected = "asleep, and nobody rang")]
fn broken_sender_without_fences() {
    ring::wakes_the_sender(World { fences: false, ..USUAL });
}
