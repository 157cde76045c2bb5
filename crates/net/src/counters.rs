//! What a port counts in this process.

use crate::sync::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// Counters of a port in this process, since it was first used.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct PortCounters { $($(#[$doc])* pub $name: u64,)* }

        impl PortCounters {
            /// Names and values.
            pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> {
                [$((stringify!($name), self.$name),)*].into_iter()
            }
        }

        /// The same, counted on.
        #[derive(Debug, Default)]
        pub(crate) struct Totals { $($name: AtomicU64,)* }

        impl Totals {
            /// Adds what one turn counted, and begins anew. Zeros, which are most, cost nothing.
            #[inline]
            pub(crate) fn add(&self, part: &mut PortCounters) {
                $(if part.$name != 0 { self.$name.fetch_add(part.$name, Ordering::Relaxed); })*
                *part = PortCounters::default();
            }

            pub(crate) fn read(&self) -> PortCounters {
                PortCounters { $($name: self.$name.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Frames that queues got.
    rx_frames;
    /// Their bytes.
    rx_bytes;
    /// Lost on arrival: no room in the ring of the port, of a queue, or of the kernel.
    rx_missed;
    /// Arrived while there were no rules, or matched none.
    rx_unmatched;
    /// Dropped by a rule.
    rx_dropped;
    /// For a queue that is not there.
    rx_no_queue;
    /// Runts and frames longer than the port takes.
    rx_bad;
    /// Frames that left.
    tx_frames;
    /// Their bytes.
    tx_bytes;
    /// Left, but nobody receives at the other end, or has room: each receiving process that missed one counts.
    tx_lost;
    /// Refused: runts and frames longer than the port takes.
    tx_bad;
}
