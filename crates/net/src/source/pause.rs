//! A pause between looks at something that the kernel is busy with: whoever looks all the time takes the line away from the
//! processor that fills it.

use std::time::{Duration, Instant};

/// Far less than the kernel needs for a wake, enough for it to go on in peace.
const PAUSE: Duration = Duration::from_micros(10);

/// When to look next.
#[derive(Debug, Default)]
pub(crate) struct Pause(Option<Instant>);

impl Pause {
    /// Is it too early?
    #[inline]
    pub(crate) fn lasts(&mut self) -> bool {
        match self.0 {
            Some(end) if Instant::now() < end => {
                // The other thread of this core may be the one that fills it.
                core::hint::spin_loop();
                true
            }
            Some(_) => {
                self.0 = None;
                false
            }
            None => false,
        }
    }

    /// Ends early if somebody has seen that there is something; returns what they saw.
    #[inline]
    pub(crate) fn ends_if(&mut self, is_ready: bool) -> bool {
        if is_ready {
            self.0 = None;
        }
        is_ready
    }

    /// There was nothing.
    pub(crate) fn begin(&mut self) {
        self.0 = Some(Instant::now() + PAUSE);
    }
}
