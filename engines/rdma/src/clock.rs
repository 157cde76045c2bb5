//! Attempts to connect that take too long: one thread for all of them, which is there only while there are any.

use crate::conn::{Conn, Phase};
use softdpu_link::LineHandle;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

struct Watched {
    until: Instant,
    conn: Weak<Conn>,
    line: LineHandle,
}

struct Watch {
    list: Vec<Watched>,
    running: bool,
}

static WATCH: Mutex<Watch> = Mutex::new(Watch { list: Vec::new(), running: false });
static CHANGED: Condvar = Condvar::new();

/// Lets an attempt fail when it is not through after this time.
pub(crate) fn watch(time: Duration, conn: &Arc<Conn>, line: LineHandle) {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    watch.list.push(Watched { until: Instant::now() + time, conn: Arc::downgrade(conn), line });
    if !watch.running {
        let spawn =
            || std::thread::Builder::new().name("softdpu-rdma".into()).stack_size(128 << 10).spawn(run);
        match softdpu_link::with_signals_blocked(spawn) {
            Ok(_) => watch.running = true,
            Err(error) => {
                log::warn!(target: crate::LOG, "attempts to connect are not timed: {error}");
                watch.list.clear();
            }
        }
    }
    CHANGED.notify_one();
}

fn run() {
    let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let now = Instant::now();
        let waits = |w: &Watched| w.conn.upgrade().is_some_and(|conn| conn.phase() == Phase::Connecting);
        watch.list.retain(waits);
        let late: Vec<_> = watch.list.extract_if(.., |w| w.until <= now).collect();
        if !late.is_empty() {
            drop(watch);
            for Watched { conn, line, .. } in late {
                if let Some(conn) = conn.upgrade()
                    && let Some(control) = conn.control.upgrade()
                {
                    crate::knock::fail(&control, &conn, "no answer in time");
                    line.hang_up();
                }
            }
            watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        let Some(next) = watch.list.iter().map(|w| w.until).min() else {
            watch.running = false;
            return;
        };
        // Attempts that were answered are forgotten now and then, so that their connections go.
        let time = next.saturating_duration_since(now).min(Duration::from_secs(1));
        watch = CHANGED.wait_timeout(watch, time).unwrap_or_else(PoisonError::into_inner).0;
    }
}
