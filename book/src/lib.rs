//! The manual's Rust programs, compiled and run as documentation tests. Its C programs are run by `tests/c_programs.rs`.

/// [Chapter](../text/start.md).
#[cfg(doctest)]
#[doc = include_str!("../text/start.md")]
pub struct Start;

/// [Chapter](../text/progress.md).
#[cfg(doctest)]
#[doc = include_str!("../text/progress.md")]
pub struct Progress;

/// [Chapter](../text/memory.md).
#[cfg(doctest)]
#[doc = include_str!("../text/memory.md")]
pub struct Memory;

/// [Chapter](../text/textbook.md).
#[cfg(doctest)]
#[doc = include_str!("../text/textbook.md")]
pub struct Textbook;

/// [Chapter](../text/tutorial.md).
#[cfg(doctest)]
#[doc = include_str!("../text/tutorial.md")]
pub struct Tutorial;

/// [Chapter](../text/dma.md).
#[cfg(doctest)]
#[doc = include_str!("../text/dma.md")]
pub struct Dma;

/// [Chapter](../text/sha.md).
#[cfg(doctest)]
#[doc = include_str!("../text/sha.md")]
pub struct Sha;

/// [Chapter](../text/compress.md).
#[cfg(doctest)]
#[doc = include_str!("../text/compress.md")]
pub struct Compress;

/// [Chapter](../text/aes_gcm.md).
#[cfg(doctest)]
#[doc = include_str!("../text/aes_gcm.md")]
pub struct AesGcm;

/// [Chapter](../text/erasure_coding.md).
#[cfg(doctest)]
#[doc = include_str!("../text/erasure_coding.md")]
pub struct ErasureCoding;

/// [Chapter](../text/sync_event.md).
#[cfg(doctest)]
#[doc = include_str!("../text/sync_event.md")]
pub struct SyncEvent;

/// [Chapter](../text/graph.md).
#[cfg(doctest)]
#[doc = include_str!("../text/graph.md")]
pub struct Graph;

/// [Chapter](../text/clock.md).
#[cfg(doctest)]
#[doc = include_str!("../text/clock.md")]
pub struct Clock;

/// [Chapter](../text/telemetry.md).
#[cfg(doctest)]
#[doc = include_str!("../text/telemetry.md")]
pub struct Telemetry;

/// [Chapter](../text/host_and_card.md).
#[cfg(doctest)]
#[doc = include_str!("../text/host_and_card.md")]
pub struct HostAndCard;

/// [Chapter](../text/rdma.md).
#[cfg(doctest)]
#[doc = include_str!("../text/rdma.md")]
pub struct Rdma;

/// [Chapter](../text/ethernet.md).
#[cfg(doctest)]
#[doc = include_str!("../text/ethernet.md")]
pub struct Ethernet;

/// [Chapter](../text/check.md).
#[cfg(doctest)]
#[doc = include_str!("../text/check.md")]
pub struct Check;
