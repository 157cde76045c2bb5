//! Receives and what became of them: each is taken once, with the address it was posted with; what a producer wrote is
//! there for the consumer, and nobody waits for receives that are posted.

/// Receives in flight.
const SLOTS: u32 = 2;

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use super::SLOTS;
            use crate::segment::Segment;
            use crate::sync::{ProtocolCell, World, explore, spin};
            use loom::thread;
            use std::sync::Arc;
            use subject::{Claims, Filled, Posted, Rings, Take};
            use $subject as subject;

            fn rings() -> Rings {
                Rings::new(Arc::new(Segment::new(subject::bytes(SLOTS))), SLOTS)
            }

            fn post(rings: &Rings, index: u64, slot: u32) {
                rings.post(index, Posted { slot, addr: index, room: 8 });
            }

            /// `count` receives; each slot has a buffer that one side at a time may touch.
            pub(super) fn arrive(world: World, count: u64) {
                explore(world, 2, move || {
                    let rings = rings();
                    let buffers: Arc<Vec<_>> =
                        Arc::new((0..SLOTS).map(|_| ProtocolCell::new(0u64)).collect());
                    let producer = thread::spawn({
                        let (rings, buffers) = (rings.clone(), buffers.clone());
                        move || {
                            let mut claims = Claims::default();
                            for index in 0..count {
                                let posted = loop {
                                    match rings.take(&mut claims) {
                                        Take::Taken(posted) => break posted,
                                        Take::Empty => spin(),
                                        other => panic!("{other:?}"),
                                    }
                                };
                                assert_eq!(posted.addr, index, "lost or out of order");
                                buffers[posted.slot as usize].update(|_| index + 100);
                                let slot = posted.slot;
                                rings.finish(
                                    &mut claims,
                                    Filled { slot, status: 0, bytes: index as u32, producer: 1, imm_len: 0 },
                                );
                            }
                        }
                    });
                    let first = count.min(u64::from(SLOTS));
                    (0..first).for_each(|index| post(&rings, index, index as u32));
                    rings.publish(first);
                    let mut next = first;
                    for index in 0..count {
                        let filled = loop {
                            match rings.filled(index) {
                                Some(filled) => break filled,
                                None => spin(),
                            }
                        };
                        assert_eq!(u64::from(filled.bytes), index, "another round's");
                        assert_eq!(buffers[filled.slot as usize].get(), index + 100);
                        if next < count {
                            post(&rings, next, filled.slot);
                            next += 1;
                            rings.publish(next);
                        }
                    }
                    producer.join().unwrap();
                });
            }

            /// A producer finds nothing, says so, and looks again, while a receive is posted.
            pub(super) fn feeds_the_hungry(world: World, reaching: bool) {
                explore(world, 3, move || {
                    let rings = rings();
                    rings.reach(reaching);
                    let consumer = thread::spawn({
                        let rings = rings.clone();
                        move || {
                            post(&rings, 0, 1);
                            rings.publish(1)
                        }
                    });
                    let mut claims = Claims::default();
                    rings.hunger();
                    let found = rings.take(&mut claims) != Take::Empty;
                    let told = consumer.join().unwrap();
                    assert!(found || told, "hungry, and nobody tells");
                });
            }
        }
    };
}

scenarios!(source, crate::rings);
scenarios!(posts_unpublished, crate::mutants::receives_posts_unpublished);
scenarios!(posts_unseen, crate::mutants::receives_posts_unseen);
scenarios!(done_unpublished, crate::mutants::receives_done_unpublished);
scenarios!(done_unseen, crate::mutants::receives_done_unseen);
scenarios!(rounds_alike, crate::mutants::receives_rounds_alike);

use crate::sync::{STRICT, USUAL, World};

#[test]
fn receives_arrive_with_what_was_written() {
    source::arrive(USUAL, 3);
    source::arrive(STRICT, 3);
}

#[test]
fn a_hungry_producer_is_told() {
    source::feeds_the_hungry(USUAL, true);
    source::feeds_the_hungry(USUAL, false);
    source::feeds_the_hungry(STRICT, true);
}

#[test]
#[should_panic(expected = "hungry, and nobody tells")]
fn broken_without_the_far_barrier() {
    source::feeds_the_hungry(World { heavy: false, ..USUAL }, true);
}

#[test]
#[should_panic(expected = "hungry, and nobody tells")]
fn broken_without_the_light_barrier() {
    source::feeds_the_hungry(World { light: false, ..USUAL }, true);
}

#[test]
#[should_panic]
fn broken_with_posts_not_published() {
    posts_unpublished::arrive(USUAL, 3);
}

#[test]
#[should_panic]
fn broken_without_looking_at_posts_in_order() {
    posts_unseen::arrive(USUAL, 3);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_with_what_is_done_not_published() {
    done_unpublished::arrive(USUAL, 1);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn broken_without_looking_at_what_is_done_in_order() {
    done_unseen::arrive(USUAL, 1);
}

#[test]
#[should_panic]
fn broken_where_rounds_look_alike() {
    rounds_alike::arrive(USUAL, 3);
}
