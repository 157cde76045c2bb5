//! What becomes of contexts and tasks.

use super::canvas::{Canvas, Tint};

/// The states of a context.
pub(super) fn context() -> String {
    let mut c = Canvas::new(
        820.0,
        250.0,
        "A context is idle, starting, running, stopping and idle again; only progress leads out of starting and stopping",
    );
    c.block([20.0, 90.0, 130.0, 70.0], Tint::Program, "IDLE", &["configure,", "destroy"]);
    c.block([235.0, 30.0, 130.0, 70.0], Tint::Turn, "STARTING", &["connecting"]);
    c.block([450.0, 90.0, 150.0, 70.0], Tint::Work, "RUNNING", &["allocate, submit"]);
    c.block([235.0, 150.0, 130.0, 70.0], Tint::Turn, "STOPPING", &["tasks come back"]);
    c.arrow(&[(85.0, 90.0), (85.0, 65.0), (233.0, 65.0)], "start: IN_PROGRESS");
    c.arrow(&[(365.0, 65.0), (525.0, 65.0), (525.0, 88.0)], "");
    c.words(445.0, 58.0, "middle", "note", "progress");
    c.arrow(&[(150.0, 125.0), (448.0, 125.0)], "start: SUCCESS (most engines)");
    c.arrow(&[(525.0, 160.0), (525.0, 195.0), (367.0, 195.0)], "");
    c.words(446.0, 188.0, "middle", "note", "stop: IN_PROGRESS");
    c.arrow(&[(235.0, 195.0), (85.0, 195.0), (85.0, 162.0)], "");
    c.words(160.0, 188.0, "middle", "note", "progress, frees");
    c.arrow(&[(600.0, 125.0), (700.0, 125.0), (700.0, 238.0), (40.0, 238.0), (40.0, 162.0)], "");
    c.words(700.0, 118.0, "middle", "note", "stop: SUCCESS, nothing was left");
    c.finish()
}

/// The states of a C task, and the way of a Rust task beside it.
pub(super) fn task() -> String {
    let mut c = Canvas::new(
        820.0,
        270.0,
        "A task is free in its pool, held by the program, in flight, and held again inside its callback, where it is freed \
         or submitted again",
    );
    c.block([20.0, 80.0, 130.0, 70.0], Tint::Program, "in the pool", &["sized before start"]);
    c.block([235.0, 80.0, 130.0, 70.0], Tint::Memory, "held", &["the program's:", "set, submit, free"]);
    c.block([450.0, 80.0, 130.0, 70.0], Tint::Work, "in flight", &["the library's,", "buffers, too"]);
    c.block([665.0, 80.0, 130.0, 70.0], Tint::Turn, "in its callback", &["held again;", "status, result"]);
    c.arrow(&[(150.0, 115.0), (233.0, 115.0)], "alloc_init");
    c.arrow(&[(365.0, 115.0), (448.0, 115.0)], "submit");
    c.arrow(&[(580.0, 115.0), (663.0, 115.0)], "progress");
    c.arrow(&[(730.0, 80.0), (730.0, 40.0), (515.0, 40.0), (515.0, 78.0)], "");
    c.words(622.0, 34.0, "middle", "note", "submit again, as it is or with other buffers");
    c.arrow(&[(730.0, 150.0), (730.0, 190.0), (85.0, 190.0), (85.0, 152.0)], "");
    c.words(410.0, 184.0, "middle", "note", "free");
    c.words(20.0, 232.0, "start", "note", "Rust: the task is a value that owns its buffers. submit moves it away, the future gives it back with the result,");
    c.words(
        20.0,
        250.0,
        "start",
        "note",
        "whether it succeeded or not; a handler gets it by value and says Next::Free or Next::Again(task).",
    );
    c.finish()
}
