//! Loom models of the hand-made concurrency.
