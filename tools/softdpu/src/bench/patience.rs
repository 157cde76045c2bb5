//! How ends of a measurement wait for each other when both spin: without giving the processor away while the other one
//! answers at once, and without keeping it from the other one when there are more of them than processors.

use std::hint::spin_loop;
use std::thread;
use std::time::Duration;

/// Looks in a row that found nothing.
#[derive(Debug, Default)]
pub(super) struct Patience(u32);

impl Patience {
    /// Some microseconds.
    const SPINS: u32 = 1 << 10;
    /// Tenths of a second: whoever is looked for is not about to come.
    const YIELDS: u32 = 1 << 18;
    const NAP: Duration = Duration::from_micros(20);

    /// Nothing was found. Gives how often that was so in a row.
    pub(super) fn pass(&mut self) -> u32 {
        self.0 = self.0.saturating_add(1);
        if self.0 < Self::SPINS {
            spin_loop();
        } else if self.0 < Self::YIELDS {
            thread::yield_now();
        } else {
            thread::sleep(Self::NAP);
        }
        self.0
    }

    /// Something was found.
    pub(super) fn reset(&mut self) {
        self.0 = 0;
    }
}
