//! The seven levels. A larger number is more verbose.

/// `enum doca_log_level`.
#[repr(u32)]
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Level {
    /// As a limit: nothing passes. No record has it.
    Disable = 10,
    Critical = 20,
    Error = 30,
    Warning = 40,
    Info = 50,
    Debug = 60,
    Trace = 70,
}

impl Level {
    pub(crate) const ALL: [Self; 7] =
        [Self::Disable, Self::Critical, Self::Error, Self::Warning, Self::Info, Self::Debug, Self::Trace];

    /// The level with this number; only the exact numbers are levels.
    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|level| *level as u32 == number)
    }

    pub(crate) fn number(self) -> u32 {
        self as u32
    }

    /// A number or a name in any case, as people write it into an environment variable.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        if let Ok(number) = text.parse() {
            return Self::from_number(number);
        }
        let level = match text.to_ascii_uppercase().as_str() {
            "DISABLE" | "OFF" => Self::Disable,
            "CRIT" | "CRITICAL" => Self::Critical,
            "ERR" | "ERROR" => Self::Error,
            "WARN" | "WARNING" => Self::Warning,
            "INFO" => Self::Info,
            "DBG" | "DEBUG" => Self::Debug,
            "TRC" | "TRACE" => Self::Trace,
            _ => return None,
        };
        Some(level)
    }

    /// The field of the record.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::Disable => "OFF",
            Self::Critical => "CRT",
            Self::Error => "ERR",
            Self::Warning => "WRN",
            Self::Info => "INF",
            Self::Debug => "DBG",
            Self::Trace => "TRC",
        }
    }
}

impl From<log::Level> for Level {
    fn from(level: log::Level) -> Self {
        match level {
            log::Level::Error => Self::Error,
            log::Level::Warn => Self::Warning,
            log::Level::Info => Self::Info,
            log::Level::Debug => Self::Debug,
            log::Level::Trace => Self::Trace,
        }
    }
}

/// The facade's filter that lets through what a limit shows.
pub(crate) fn facade_filter(limit: u32) -> log::LevelFilter {
    match limit {
        70.. => log::LevelFilter::Trace,
        60.. => log::LevelFilter::Debug,
        50.. => log::LevelFilter::Info,
        40.. => log::LevelFilter::Warn,
        30.. => log::LevelFilter::Error,
        _ => log::LevelFilter::Off,
    }
}

#[cfg(test)]
mod tests {
    use super::{Level, facade_filter};

    #[test]
    fn only_the_exact_numbers_are_levels() {
        for number in 0..200 {
            let expected = number % 10 == 0 && (10..=70).contains(&number);
            assert_eq!(Level::from_number(number).is_some(), expected, "{number}");
        }
        assert_eq!(Level::from_number(u32::MAX), None);
    }

    #[test]
    fn names_and_numbers_are_read() {
        assert_eq!(Level::from_text("60"), Some(Level::Debug));
        assert_eq!(Level::from_text("Warning"), Some(Level::Warning));
        assert_eq!(Level::from_text("trc"), Some(Level::Trace));
        for bad in ["", "15", "-10", "verbose", "60 "] {
            assert_eq!(Level::from_text(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_filter_lets_through_exactly_what_the_limit_shows() {
        for limit in Level::ALL {
            for level in log::Level::iter() {
                let shown = Level::from(level) <= limit;
                assert_eq!(facade_filter(limit.number()) >= level, shown, "{limit:?} {level:?}");
            }
        }
    }
}
