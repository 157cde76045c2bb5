//! The thread that carries parcels to collectors, so that the program never waits for one.
//!
//! A parcel that cannot be delivered is tried three times, 100 ms apart; meanwhile the others wait behind it, at most
//! 4 MiB of them. What does not fit is dropped. Each streak of losses has one log line at its beginning and one with the
//! count at its end. The same thread looks after what has to happen by the clock.

use crate::LOG;
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::fmt::Debug;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

/// Tries per parcel.
const TRIES: u32 = 3;
/// From one try to the next.
const PAUSE: Duration = Duration::from_millis(100);
/// Bytes that may wait.
const MAX_WAITING: usize = 4 << 20;
/// How long the end of a courier waits for what is still to be delivered.
const FAREWELL: Duration = Duration::from_secs(3);

/// Somebody who takes parcels.
pub(crate) trait Collector: Send + Sync + Debug {
    /// Hands one over. An error of kind `InvalidData` says that the collector refused this parcel and would again.
    fn deliver(&self, parcel: &[u8]) -> io::Result<()>;
    /// Who and where, for messages.
    fn place(&self) -> String;
}

/// Something that has to happen by the clock.
pub(crate) trait Chore: Send + Sync {
    /// Does what is due; when to call again, if ever. Runs on the delivery thread.
    fn tick(&self, now: Instant, mail: Mail<'_>) -> Option<Instant>;
}

struct Parcel {
    to: Arc<dyn Collector>,
    bytes: Vec<u8>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Parcel>,
    bytes: usize,
    chores: Vec<Weak<dyn Chore>>,
    closing: Option<Instant>,
    ended: bool,
    /// Chores came or changed since they were looked at.
    reminded: bool,
    /// Parcels lost since the last one that was delivered.
    lost: u64,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    news: Condvar,
    done: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// A delivery thread, `softdpu-courier`. Dropping it waits up to 3 s for what is still to be delivered.
pub(crate) struct Courier {
    shared: Arc<Shared>,
    /// The process it was started in: a fork has no such thread.
    home: rustix::process::Pid,
}

impl Debug for Courier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Courier")
    }
}

impl Courier {
    /// Starts the thread; it takes no signals.
    ///
    /// # Errors
    /// NoMemory: the system has no thread left.
    pub(crate) fn start() -> Result<Courier> {
        let shared = Arc::new(Shared::default());
        let its = shared.clone();
        let started = softdpu_link::with_signals_blocked(|| {
            std::thread::Builder::new().name("softdpu-courier".into()).spawn(move || run(&its))
        });
        started.map_err(|e| {
            log::error!(target: LOG, "no thread for deliveries: {e}");
            Error::new(Code::NoMemory, "no thread for deliveries")
        })?;
        Ok(Courier { shared, home: rustix::process::getpid() })
    }

    /// Where parcels are posted.
    pub(crate) fn mail(&self) -> Mail<'_> {
        Mail(&self.shared)
    }

    /// From now on, as long as it lives.
    pub(crate) fn look_after(&self, chore: &Arc<impl Chore + 'static>) {
        let chore: Weak<dyn Chore> = Arc::downgrade(&(chore.clone() as Arc<dyn Chore>));
        self.shared.lock().chores.push(chore);
        self.remind();
    }

    /// A chore's times have changed.
    pub(crate) fn remind(&self) {
        self.shared.lock().reminded = true;
        self.shared.news.notify_one();
    }
}

/// The way into a courier; also for what its own thread has to post.
#[derive(Clone, Copy)]
pub(crate) struct Mail<'a>(&'a Shared);

impl Mail<'_> {
    /// Takes a parcel along; drops it when too much is waiting.
    pub(crate) fn send(&self, to: &Arc<dyn Collector>, bytes: Vec<u8>) {
        let mut state = self.0.lock();
        if state.bytes + bytes.len() > MAX_WAITING && !state.waiting.is_empty() {
            state.lost += 1;
            let (first, waiting) = (state.lost == 1, state.bytes);
            drop(state);
            if first {
                log::error!(target: LOG, "{}: too slow: {waiting} bytes are waiting, allowed {MAX_WAITING}; \
                    parcels are dropped", to.place());
            }
            return;
        }
        state.bytes += bytes.len();
        state.waiting.push_back(Parcel { to: to.clone(), bytes });
        self.0.news.notify_one();
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        if self.home != rustix::process::getpid() {
            return;
        }
        let end = Instant::now() + FAREWELL;
        let mut state = self.shared.lock();
        state.closing = Some(end);
        self.shared.news.notify_one();
        while !state.ended {
            // A little longer than the thread itself waits; one that is stuck in a system call is left behind.
            let rest = (end + PAUSE).saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return;
            }
            state = self.shared.done.wait_timeout(state, rest).unwrap_or_else(|e| e.into_inner()).0;
        }
    }
}

fn run(shared: &Shared) {
    while let Some(parcel) = next(shared) {
        let outcome = attempt(shared, &parcel);
        settle(shared, &parcel, outcome);
    }
    let mut state = shared.lock();
    let lost = state.lost;
    state.ended = true;
    shared.done.notify_all();
    drop(state);
    if lost > 0 {
        log::error!(target: LOG, "{lost} parcels for collectors were lost");
    }
}

/// The next parcel; sees to the chores while there is none. None when all is done.
fn next(shared: &Shared) -> Option<Parcel> {
    loop {
        let wake = chores(shared);
        let mut state = shared.lock();
        if let Some(parcel) = state.waiting.pop_front() {
            state.bytes -= parcel.bytes.len();
            return Some(parcel);
        }
        if state.closing.is_some() {
            return None;
        }
        if std::mem::take(&mut state.reminded) {
            continue;
        }
        let rest = wake.map_or(Duration::from_secs(3600), |w| w.saturating_duration_since(Instant::now()));
        if !rest.is_zero() {
            drop(shared.news.wait_timeout(state, rest).unwrap_or_else(|e| e.into_inner()));
        }
    }
}

fn chores(shared: &Shared) -> Option<Instant> {
    let chores: Vec<Arc<dyn Chore>> = {
        let mut state = shared.lock();
        state.chores.retain(|chore| chore.strong_count() > 0);
        state.chores.iter().filter_map(Weak::upgrade).collect()
    };
    let now = Instant::now();
    chores.iter().filter_map(|chore| chore.tick(now, Mail(shared))).min()
}

/// All tries of one parcel.
fn attempt(shared: &Shared, parcel: &Parcel) -> io::Result<()> {
    let mut outcome = parcel.to.deliver(&parcel.bytes);
    for _ in 1..TRIES {
        match &outcome {
            Err(e) if e.kind() != io::ErrorKind::InvalidData => {}
            _ => return outcome,
        }
        if shared.lock().closing.is_some_and(|end| Instant::now() + PAUSE > end) {
            return outcome;
        }
        std::thread::sleep(PAUSE);
        outcome = parcel.to.deliver(&parcel.bytes);
    }
    outcome
}

fn settle(shared: &Shared, parcel: &Parcel, outcome: io::Result<()>) {
    let mut state = shared.lock();
    match outcome {
        Ok(()) => {
            let lost = std::mem::take(&mut state.lost);
            drop(state);
            if lost > 0 {
                log::warn!(target: LOG, "{}: reached again; {lost} parcels were lost", parcel.to.place());
            }
        }
        Err(e) => {
            state.lost += 1;
            let first = state.lost == 1;
            if state.closing.is_some() {
                // Who did not take this one will not take the rest in the time that is left.
                let before = state.waiting.len();
                state.waiting.retain(|other| !Arc::ptr_eq(&other.to, &parcel.to));
                state.lost += (before - state.waiting.len()) as u64;
                state.bytes = state.waiting.iter().map(|p| p.bytes.len()).sum();
            }
            drop(state);
            if first {
                let place = parcel.to.place();
                log::warn!(target: LOG, "{place}: nothing was delivered in {TRIES} tries: {e}; the program goes on without");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails the first so many times, then keeps what it gets.
    #[derive(Debug, Default)]
    struct Moody {
        failures: Mutex<u32>,
        got: Mutex<Vec<Vec<u8>>>,
    }
    impl Collector for Moody {
        fn deliver(&self, parcel: &[u8]) -> io::Result<()> {
            let mut failures = self.failures.lock().unwrap();
            if *failures > 0 {
                *failures -= 1;
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
            self.got.lock().unwrap().push(parcel.to_vec());
            Ok(())
        }
        fn place(&self) -> String {
            "a test".into()
        }
    }

    #[test]
    fn parcels_survive_two_failures_and_keep_their_order() {
        let moody = Arc::new(Moody { failures: Mutex::new(2), ..Moody::default() });
        let to: Arc<dyn Collector> = moody.clone();
        let courier = Courier::start().unwrap();
        for i in 0..10u8 {
            courier.mail().send(&to, vec![i]);
        }
        drop(courier);
        assert_eq!(*moody.got.lock().unwrap(), (0..10u8).map(|i| vec![i]).collect::<Vec<_>>());
    }

    #[test]
    fn who_never_answers_costs_the_end_a_moment_only() {
        let moody = Arc::new(Moody { failures: Mutex::new(u32::MAX), ..Moody::default() });
        let to: Arc<dyn Collector> = moody.clone();
        let courier = Courier::start().unwrap();
        for _ in 0..1000 {
            courier.mail().send(&to, vec![0; 10]);
        }
        drop(courier);
        let tries = u32::MAX - *moody.failures.lock().unwrap();
        assert!((TRIES..1000).contains(&tries), "{tries} tries, the rest was given up");
        assert!(moody.got.lock().unwrap().is_empty());
    }

    #[test]
    fn what_waits_is_bounded() {
        let moody = Arc::new(Moody { failures: Mutex::new(2), ..Moody::default() });
        let to: Arc<dyn Collector> = moody.clone();
        let courier = Courier::start().unwrap();
        for _ in 0..20 {
            courier.mail().send(&to, vec![0; 1 << 20]);
        }
        drop(courier);
        // One in delivery, four waiting; the first may not have been taken up before the others came.
        let got = moody.got.lock().unwrap().len();
        assert!((4..20).contains(&got), "{got} of 20");
    }

    #[test]
    fn chores_come_by_the_clock() {
        struct Count(Mutex<u32>);
        impl Chore for Count {
            fn tick(&self, now: Instant, _: Mail<'_>) -> Option<Instant> {
                *self.0.lock().unwrap() += 1;
                Some(now + Duration::from_millis(1))
            }
        }
        let count = Arc::new(Count(Mutex::new(0)));
        let courier = Courier::start().unwrap();
        courier.look_after(&count);
        let watchdog = Instant::now() + Duration::from_secs(60);
        while *count.0.lock().unwrap() < 5 {
            assert!(Instant::now() < watchdog, "the chore is not done");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
