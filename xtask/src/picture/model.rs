//! What there is: the objects and how they hang together, the four mechanisms and the data between them.

use super::canvas::{Canvas, Tint};

/// The objects of a program. An arrow leads from a child to what it needs: children are destroyed first.
pub(super) fn objects() -> String {
    let mut c = Canvas::new(
        820.0,
        430.0,
        "Objects: contexts and memory maps belong to a device, buffers to a memory map, tasks to a context; \
         a context is connected to one progress engine",
    );
    c.block([330.0, 20.0, 160.0, 52.0], Tint::Card, "device", &["doca_dev"]);
    c.block([60.0, 130.0, 170.0, 62.0], Tint::Memory, "memory map", &["doca_mmap", "range, rights, devices"]);
    c.block([60.0, 250.0, 170.0, 52.0], Tint::Memory, "inventory or pool", &["doca_buf_inventory"]);
    c.block([60.0, 360.0, 170.0, 52.0], Tint::Memory, "buffer", &["doca_buf: window, data"]);
    c.block(
        [325.0, 130.0, 170.0, 62.0],
        Tint::Work,
        "context",
        &["doca_dma, doca_sha, ...", "idle, running, ..."],
    );
    c.block([325.0, 360.0, 170.0, 52.0], Tint::Work, "task", &["one piece of work"]);
    c.block([590.0, 130.0, 170.0, 62.0], Tint::Turn, "progress engine", &["doca_pe", "one thread at a time"]);
    c.block([590.0, 360.0, 170.0, 52.0], Tint::Program, "the program", &["callbacks, futures"]);
    c.arrow(&[(145.0, 130.0), (145.0, 46.0), (330.0, 46.0)], "known to");
    c.arrow(&[(410.0, 130.0), (410.0, 74.0)], "opened on");
    c.arrow(&[(495.0, 161.0), (588.0, 161.0)], "connected");
    c.arrow(&[(410.0, 360.0), (410.0, 194.0)], "from its pool");
    c.arrow(&[(325.0, 386.0), (232.0, 386.0)], "source, target");
    c.arrow(&[(110.0, 360.0), (110.0, 304.0)], "from");
    c.arrow(&[(215.0, 360.0), (215.0, 330.0), (248.0, 330.0), (248.0, 161.0), (232.0, 161.0)], "");
    c.words(255.0, 250.0, "start", "note", "window on");
    c.arrow(&[(675.0, 194.0), (675.0, 358.0)], "runs callbacks");
    c.arrow(&[(590.0, 386.0), (497.0, 386.0)], "submits, frees");
    c.finish()
}

/// The four mechanisms, and what goes from one to the other.
pub(super) fn mechanisms() -> String {
    let mut c = Canvas::new(
        820.0,
        400.0,
        "Four mechanisms: the device abstraction gives handles, memory management gives buffers, asynchronous tasks \
         join them, the event-driven engine tells what was done",
    );
    c.block([20.0, 20.0, 370.0, 150.0], Tint::Group, "1  device abstraction", &[]);
    c.block([45.0, 60.0, 140.0, 80.0], Tint::Card, "list", &["addresses, names,", "capabilities"]);
    c.block([225.0, 60.0, 140.0, 80.0], Tint::Card, "open device", &["parent of all", "that follows"]);
    c.arrow(&[(185.0, 100.0), (223.0, 100.0)], "open");
    c.block([430.0, 20.0, 370.0, 150.0], Tint::Group, "2  memory management", &[]);
    c.block([455.0, 60.0, 140.0, 80.0], Tint::Memory, "memory map", &["heap, huge pages,", "memfd, dmabuf"]);
    c.block([635.0, 60.0, 140.0, 80.0], Tint::Memory, "buffers", &["windows that", "engines reach"]);
    c.arrow(&[(595.0, 100.0), (633.0, 100.0)], "cut");
    c.block([430.0, 220.0, 370.0, 160.0], Tint::Group, "4  asynchronous tasks", &[]);
    c.block([455.0, 265.0, 140.0, 90.0], Tint::Work, "context", &["pool of tasks,", "one engine's work"]);
    c.block([635.0, 265.0, 140.0, 90.0], Tint::Work, "task in flight", &["belongs to the", "library"]);
    c.arrow(&[(595.0, 310.0), (633.0, 310.0)], "submit");
    c.block([20.0, 220.0, 370.0, 160.0], Tint::Group, "3  event-driven progress", &[]);
    c.block(
        [225.0, 265.0, 140.0, 90.0],
        Tint::Turn,
        "progress engine",
        &["never blocks;", "descriptor to sleep on"],
    );
    c.block(
        [45.0, 265.0, 140.0, 90.0],
        Tint::Program,
        "callback",
        &["frees the task or", "submits it again"],
    );
    c.arrow(&[(225.0, 310.0), (187.0, 310.0)], "calls");
    c.arrow(&[(365.0, 120.0), (410.0, 120.0), (410.0, 290.0), (453.0, 290.0)], "");
    c.words(418.0, 190.0, "start", "note", "handle");
    c.arrow(&[(365.0, 90.0), (453.0, 90.0)], "handle");
    c.arrow(&[(705.0, 140.0), (705.0, 263.0)], "buffers");
    c.arrow(
        &[(635.0, 340.0), (615.0, 340.0), (615.0, 370.0), (380.0, 370.0), (380.0, 330.0), (367.0, 330.0)],
        "",
    );
    c.words(446.0, 366.0, "middle", "note", "done: status and bytes");
    c.arrow(&[(115.0, 355.0), (115.0, 392.0), (525.0, 392.0), (525.0, 357.0)], "");
    c.words(250.0, 389.0, "middle", "note", "the next task");
    c.finish()
}
