//! The wall clock, and how moments are written.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Microseconds since 1970-01-01 UTC; 0 for a clock that stands before.
#[must_use]
pub fn now_micros() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A moment, in microseconds since 1970, written as `2026-01-31T23:59:59.000001Z`; with `{:#}` in the form for file
/// names, `20260131T235959.000001Z`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamp(pub(crate) u64);

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, micros) = (self.0 / 1_000_000, self.0 % 1_000_000);
        let (year, month, day) = date(seconds / 86_400);
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        if f.alternate() {
            write!(f, "{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}.{micros:06}Z")
        } else {
            write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
        }
    }
}

/// Year, month and day of a number of days since 1970 (the Gregorian calendar repeats every 400 years, counted here from
/// March, so that leap days come last).
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_read_as_the_calendar_says() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_399_999_999, "2000-02-28T23:59:59.999999Z"),
            (951_782_400_000_000, "2000-02-29T00:00:00.000000Z"),
            (4_107_542_400_000_000, "2100-03-01T00:00:00.000000Z"),
            (1_709_251_199_000_001, "2024-02-29T23:59:59.000001Z"),
        ] {
            assert_eq!(Stamp(micros).to_string(), text);
        }
        assert_eq!(format!("{:#}", Stamp(1_709_251_199_000_001)), "20240229T235959.000001Z");
        // Beyond every calendar, but no panic.
        let _ = Stamp(u64::MAX).to_string();
        assert!(now_micros() > 1_700_000_000_000_000);
    }
}
