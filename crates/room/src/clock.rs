//! Clocks of the machine and of its cards, read one by one or two at the same instant.
//!
//! A card's clocks are made of the machine's: the free-running one and the accelerator's timer tick as the raw monotonic
//! clock does, each from a zero of its own, the wall clock is the machine's. All processes of a machine agree on them.

use core::time::Duration;
use rustix::time::{ClockId, clock_gettime};
use softdpu_status::{Code, Error, Result};

/// A clock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Clock {
    /// The card's free-running clock.
    CardFreeRunning,
    /// The card's wall clock.
    CardRealTime,
    /// The timer of the card's accelerator.
    CardTimer,
    /// The processor's cycle counter (time stamp counter, virtual counter).
    HostCycles,
    /// The machine's wall clock.
    HostRealTime,
    /// The machine's monotonic clock.
    HostMonotonic,
    /// The same, untouched by adjustments of its speed.
    HostMonotonicRaw,
}

/// A reading.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
pub enum Reading {
    /// Since the clock's zero.
    Time(Duration),
    /// Of the cycle counter.
    Cycles(u64),
}

/// Two clocks, read for the same instant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The first clock.
    pub primary: Reading,
    /// The card's.
    pub card: Reading,
    /// How far off the pairing may be: nanoseconds, or cycles where the first clock is the cycle counter.
    pub margin: u64,
}

/// Seconds between the zero of the free-running clock and that of the timer.
const FREE_RUNNING_ZERO: Duration = Duration::from_secs(0x5D0C);

/// Pairs taken to find the narrowest.
const TRIES: u32 = 5;

impl Clock {
    /// Is it one of the card's?
    pub const fn is_of_card(self) -> bool {
        matches!(self, Clock::CardFreeRunning | Clock::CardRealTime | Clock::CardTimer)
    }
}

fn host(id: ClockId) -> Result<Duration> {
    let time = clock_gettime(id);
    match (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec)) {
        (Ok(seconds), Ok(nanos)) => Ok(Duration::new(seconds, nanos)),
        _ => {
            log::error!(target: "softdpu::clock", "a clock of the machine stands before its zero: {time:?}");
            Err(Error::new(Code::OperatingSystem, "the machine's clock is not set"))
        }
    }
}

/// Reads a clock. Any thread.
///
/// # Errors
/// OperatingSystem when the machine's wall clock is set to before 1970.
pub fn read(clock: Clock) -> Result<Reading> {
    Ok(Reading::Time(match clock {
        Clock::HostCycles => return Ok(Reading::Cycles(crate::sys::cycles())),
        Clock::CardFreeRunning => host(ClockId::MonotonicRaw)? + FREE_RUNNING_ZERO,
        Clock::CardTimer | Clock::HostMonotonicRaw => host(ClockId::MonotonicRaw)?,
        Clock::CardRealTime | Clock::HostRealTime => host(ClockId::Realtime)?,
        Clock::HostMonotonic => host(ClockId::Monotonic)?,
    }))
}

/// Reads two clocks for the same instant: the first one before and after the second, several times, and the narrowest of
/// these counts. Any thread.
///
/// # Errors
/// As [`read`].
pub fn read_both(primary: Clock, card: Clock) -> Result<Pair> {
    let mut best: Option<Pair> = None;
    for _ in 0..TRIES {
        let (before, middle, after) = (read(primary)?, read(card)?, read(primary)?);
        let (at, margin) = between(before, after);
        if best.is_none_or(|best| margin < best.margin) {
            best = Some(Pair { primary: at, card: middle, margin });
        }
    }
    best.ok_or(Error::new(Code::Unexpected, "no pair was taken"))
}

/// The middle of two readings of one clock, and half of what is between them, rounded up.
fn between(before: Reading, after: Reading) -> (Reading, u64) {
    match (before, after) {
        (Reading::Cycles(before), Reading::Cycles(after)) => {
            let gap = after.saturating_sub(before);
            (Reading::Cycles(before + gap / 2), gap.div_ceil(2))
        }
        (Reading::Time(before), Reading::Time(after)) => {
            // A wall clock may be set back meanwhile.
            let gap = after.saturating_sub(before);
            let nanos = u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX);
            (Reading::Time(before + gap / 2), nanos.div_ceil(2))
        }
        (before, _) => (before, u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Clock; 7] = [
        Clock::CardFreeRunning,
        Clock::CardRealTime,
        Clock::CardTimer,
        Clock::HostCycles,
        Clock::HostRealTime,
        Clock::HostMonotonic,
        Clock::HostMonotonicRaw,
    ];

    #[test]
    fn clocks_go_forward() {
        for clock in ALL.into_iter().filter(|c| !matches!(c, Clock::CardRealTime | Clock::HostRealTime)) {
            let mut last = read(clock).unwrap();
            for _ in 0..1000 {
                let now = read(clock).unwrap();
                assert!(now >= last, "{clock:?}: {last:?}, then {now:?}");
                last = now;
            }
        }
    }

    #[test]
    fn a_pair_lies_between_readings_around_it() {
        for primary in ALL {
            for card in ALL.into_iter().filter(|c| c.is_of_card()) {
                let before = (read(primary).unwrap(), read(card).unwrap());
                let pair = read_both(primary, card).unwrap();
                let after = (read(primary).unwrap(), read(card).unwrap());
                if primary != Clock::HostRealTime && primary != Clock::CardRealTime {
                    assert!(before.0 <= pair.primary && pair.primary <= after.0, "{primary:?} {card:?}");
                }
                if card != Clock::CardRealTime {
                    assert!(before.1 <= pair.card && pair.card <= after.1, "{primary:?} {card:?}");
                }
            }
        }
    }

    #[test]
    fn the_middle_and_its_margin() {
        let time = |n| Reading::Time(Duration::from_nanos(n));
        assert_eq!(between(time(10), time(15)), (time(12), 3));
        assert_eq!(between(time(10), time(9)), (time(10), 0));
        assert_eq!(between(Reading::Cycles(4), Reading::Cycles(8)), (Reading::Cycles(6), 2));
    }

    /// Two clocks that tick alike are as far apart in every pair as they always are, within the margin.
    #[test]
    fn a_pair_is_exact_within_its_margin() {
        for _ in 0..100 {
            let pair = read_both(Clock::HostMonotonicRaw, Clock::CardFreeRunning).unwrap();
            let (Reading::Time(host), Reading::Time(card)) = (pair.primary, pair.card) else {
                panic!("times");
            };
            let off = (host + FREE_RUNNING_ZERO).abs_diff(card);
            assert!(off.as_nanos() <= u128::from(pair.margin), "{off:?} of {}", pair.margin);
        }
    }
}
