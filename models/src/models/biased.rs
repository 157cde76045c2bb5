//! One thread at a time uses a value: its owner, which pays nothing, and others, until the bias is given up.

macro_rules! scenarios {
    ($name:ident, $subject:path) => {
        #[allow(dead_code, reason = "each variant is run on what it breaks")]
        mod $name {
            use crate::sync::{ProtocolCell, World, explore};
            use loom::sync::Arc;
            use loom::thread;
            use subject::Biased;
            use $subject as subject;

            /// Loom sees who is at the cell; the value itself says nothing to it.
            struct Guarded {
                value: Biased<()>,
                count: ProtocolCell<u32>,
            }

            impl Guarded {
                fn bump(&self) {
                    self.value.with(|()| self.count.update(|n| n + 1));
                }
            }

            /// The owner and `others`, who come once each; the first of them costs the owner its bias.
            pub(super) fn owner_and(others: usize, world: World) {
                explore(world, 2, move || {
                    let guarded = Arc::new(Guarded { value: Biased::new(()), count: ProtocolCell::new(0) });
                    guarded.bump();
                    let others: Vec<_> = (0..others)
                        .map(|_| {
                            let guarded = guarded.clone();
                            thread::spawn(move || guarded.bump())
                        })
                        .collect();
                    guarded.bump();
                    guarded.bump();
                    let came = others.len() as u32;
                    others.into_iter().for_each(|other| other.join().unwrap());
                    assert_eq!(guarded.count.get(), 3 + came, "each visit once");
                });
            }
        }
    };
}

scenarios!(source, crate::biased);
scenarios!(anybody_owns, crate::mutants::biased_anybody_owns);
scenarios!(plain_given_back, crate::mutants::biased_plain_given_back);

use crate::sync::{STRICT, USUAL, World};

#[test]
fn the_owner_and_another() {
    source::owner_and(1, USUAL);
    source::owner_and(1, STRICT);
}

#[test]
fn the_owner_and_two_others() {
    source::owner_and(2, USUAL);
}

#[test]
#[should_panic]
fn broken_without_the_light_barrier() {
    source::owner_and(1, World { light: false, ..USUAL });
}

#[test]
#[should_panic]
fn broken_where_anybody_goes_in_for_nothing() {
    anybody_owns::owner_and(1, USUAL);
}

#[test]
#[should_panic]
fn broken_where_the_owner_goes_on_as_before() {
    plain_given_back::owner_and(2, USUAL);
}
