//! The C face: source compatible with DOCA 3.3.

pub mod argp;
pub mod buf;
pub mod buf_array;
mod call;
pub mod clock;
pub mod ctx;
pub mod dev;
mod entry;
pub mod error;
pub mod graph;
pub mod inventory;
pub mod log;
mod missing;
pub mod mmap;
pub mod pe;
pub mod pool;
pub mod primer;
pub mod task;
pub mod telemetry;
pub mod version;

/// Before the first object: the board that contexts of this process run on. `SOFTDPU_BOARD=inline` asks for no worker
/// threads: everything is carried out inside progress. A seed asks for that, too; with it, and with a plan of faults,
/// instruments are installed.
pub(crate) fn prepare() {
    softdpu_faults::start::from_environment();
    // After the others, so that it sees what comes of them.
    softdpu_trace::start::from_environment();
    let inline = std::env::var_os("SOFTDPU_BOARD").is_some_and(|v| v == "inline");
    let inline = inline || softdpu_faults::start::is_seeded();
    let board = if inline { softdpu_board::inline() } else { softdpu_board::threads() };
    softdpu_room::board::choose_for_process(board);
}

// Engines bring their entry points along.
pub use softdpu_engines::aes_gcm::c as aes_gcm;
pub use softdpu_engines::comch::c as comch;
pub use softdpu_engines::compress::c as compress;
pub use softdpu_engines::dma::c as dma;
pub use softdpu_engines::erasure_coding::c as erasure_coding;
pub use softdpu_engines::eth::c as eth;
pub use softdpu_engines::flow::c as flow;
pub use softdpu_engines::mmap_advise::c as mmap_advise;
pub use softdpu_engines::rdma::c as rdma;
pub use softdpu_engines::sha::c as sha;
pub use softdpu_engines::sync_event::c as sync_event;
