//! Does the peer's process live? Its machine may answer for it when it is stopped, and nothing of a connection breaks then.
//! So while tasks wait the two threads of the network ask each other, once a second at most, and a peer that says nothing
//! for too long is taken for gone.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Variable that says how many seconds tasks wait for a peer that says nothing.
pub(super) const DEADLINE: &str = "SOFTDPU_RDMA_DEADLINE";
const DEFAULT: u64 = 10;
/// Between two looks.
const BETWEEN: Duration = Duration::from_secs(1);

/// How long tasks wait for a peer that says nothing.
pub(super) fn deadline() -> Duration {
    static READ: OnceLock<Duration> = OnceLock::new();
    *READ.get_or_init(|| {
        let text = std::env::var(DEADLINE).unwrap_or_default();
        let seconds = text.parse().ok().filter(|&seconds| seconds > 0);
        if seconds.is_none() && !text.is_empty() {
            log::warn!(target: crate::LOG, "{DEADLINE}={text}: not a number of seconds above 0; it is {DEFAULT}");
        }
        Duration::from_secs(seconds.unwrap_or(DEFAULT))
    })
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Pulse {
    /// The next look, while tasks wait.
    look: Option<Instant>,
    /// Since when the peer owes an answer.
    asked: Option<Instant>,
}

/// What a look came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beat {
    Fine,
    /// The peer is to be asked.
    Ask,
    /// It has been silent for so long.
    Gone(Duration),
}

impl Pulse {
    pub(super) fn due(&self) -> Option<Instant> {
        self.look
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.look.is_some_and(|look| look <= now)
    }

    pub(super) fn is_on(&self) -> bool {
        self.look.is_some()
    }

    /// Tasks wait: begins to look.
    pub(super) fn begin(&mut self, now: Instant) {
        (self.look, self.asked) = (Some(now + BETWEEN), None);
    }

    /// Looks.
    pub(super) fn feel(&mut self, waits: bool, now: Instant) -> Beat {
        self.feel_within(waits, now, deadline())
    }

    fn feel_within(&mut self, waits: bool, now: Instant, most: Duration) -> Beat {
        if !waits {
            self.look = None;
            return Beat::Fine;
        }
        self.look = Some(now + BETWEEN.min(most));
        match self.asked {
            Some(asked) if now.duration_since(asked) >= most => Beat::Gone(now.duration_since(asked)),
            Some(_) => Beat::Fine,
            None => {
                self.asked = Some(now);
                Beat::Ask
            }
        }
    }

    /// The peer has answered.
    pub(super) fn alive(&mut self) {
        self.asked = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_silent_while_tasks_wait_is_gone_and_nobody_else() {
        let (most, start) = (Duration::from_secs(4), Instant::now());
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut pulse = Pulse::default();
        assert!(pulse.due().is_none());
        pulse.begin(at(0));
        assert!(!pulse.is_due(at(0)) && pulse.is_due(at(1)));
        assert_eq!(pulse.feel_within(true, at(1), most), Beat::Ask);
        assert_eq!(pulse.feel_within(true, at(2), most), Beat::Fine);
        pulse.alive();
        assert_eq!(pulse.feel_within(true, at(3), most), Beat::Ask);
        assert_eq!(pulse.feel_within(true, at(6), most), Beat::Fine);
        assert_eq!(pulse.feel_within(true, at(7), most), Beat::Gone(most));
        // Nothing waits any more; who waits later begins anew.
        assert_eq!(pulse.feel_within(false, at(8), most), Beat::Fine);
        assert!(!pulse.is_on());
        pulse.begin(at(100));
        assert_eq!(pulse.feel_within(true, at(101), most), Beat::Ask);
        assert_eq!(pulse.feel_within(true, at(102), most), Beat::Fine);
    }
}
