//! The suite: what holds on every way, for every engine.

pub mod flights;
pub mod lives;
pub mod sleeping;

/// Ends the process when its tests hang.
pub fn watchdog() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        std::thread::spawn(|| {
            std::thread::sleep(std::time::Duration::from_secs(300));
            eprintln!("watchdog: tests hang");
            std::process::abort();
        });
    });
}

/// Makes a module of tests out of a name and a way.
#[macro_export]
macro_rules! suite {
    ($($name:ident: $way:ty;)*) => {$(
        mod $name {
            $crate::suite! { @cases $way;
                flights: awaited polled handled told_in_order refused_tasks_come_back full_is_refused
                    flies_again dropped leaked awaited_elsewhere batched back_pressure by_dice;
                lives: starts_and_stops stop_brings_everything_back dropped_context dropped_engine
                    submits_after_the_engine restarts two_contexts_share_an_engine many_contexts two_engines
                    any_order nothing_starts_without_the_engine;
                sleeping: wait run armed_descriptor sleeps_when_idle wakes_by_another_thread;
            }
        }
    )*};
    (@cases $way:ty; $($group:ident: $($case:ident)*;)*) => {$($(
        #[test]
        fn $case() {
            $crate::suite::watchdog();
            $crate::suite::$group::$case::<$way>();
        }
    )*)*};
}
