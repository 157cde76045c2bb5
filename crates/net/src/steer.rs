//! Steering: which queue of a process gets a frame, if any.
//!
//! [`Rules`] are written down in order, the first that matches counts; [`Rules::compile`] makes a [`Classifier`] of them.
//! That sorts rules by *shape* (which fields they look at, under which masks) and keeps one hash table per shape: a
//! frame costs one look-up per shape, however many rules there are, and shapes whose best rule stands behind a match that
//! was found are not looked at.
//!
//! | file | what |
//! |---|---|
//! | `rule` | matches, actions, the builder |
//! | `key` | what rules can ask of a frame, as seven words |
//! | `table` | the hash table of a shape |
//! | `classifier` | the whole, and its counters |
//! | `topology` | rules of a topology file |
//! | `toeplitz` | the hash that spreads flows over queues |

mod classifier;
mod key;
mod rule;
mod table;
mod toeplitz;
pub(crate) mod topology;

pub use classifier::{Classifier, RuleCount, Tally, Verdict};
pub use key::Key;
pub use rule::{Action, Match, Rules, Spread};
pub use toeplitz::{HashFields, Toeplitz};

#[cfg(test)]
#[path = "steer_tests.rs"]
mod tests;
