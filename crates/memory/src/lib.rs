//! Memory as a card sees it: regions, windows on them, and how bytes move.
//!
//! Rules of the house for memory that others may write at the same time (another engine, another process, a peer):
//! no reference to it is ever formed; bytes are moved by the routines of [`copy`] alone. Memory that nobody outside the
//! process can reach is *private*, and a window on it that is held exclusively may be looked at as a slice.
//!
//! | file | what |
//! |---|---|
//! | [`handle`] | objects that C programs hold: kind word, type-stable slabs |
//! | [`device`] | an opened function of a card |
//! | [`region`] | a registered range: access word, address, way to its bytes |
//! | [`register`], [`procmaps`], [`keys`] | how a range becomes a region: what the kernel says, keys, device addresses |
//! | `report` | what is registered, exported and imported, for who shows it |
//! | [`lease`] | regions that outlive their maps |
//! | `backing` | the file behind exported memory, for importers that map it |
//! | [`dmabuf`], `udmabuf` | memory that somebody hands over as a descriptor |
//! | [`export`](mod@export) | a range as plain bytes for somebody else, and back |
//! | [`node`] | buffer descriptors and the stores they come from |
//! | [`copy`] | copy routines, and lists copied into lists |
//! | [`cache`] | how large the last cache is, and which copies may go past it |
//! | [`view`], `overlap` | how engines look at lists of buffers |
//! | `guard`, `quiesce`, `seat`, `seats` | memory that somebody else can end: marks of accesses, and who waits for whom |
//! | `far`, `kernel`, [`fault`] | memory of another process: the ways there, and what happens when it is gone |
//! | [`word`] | one word of registered memory, changed atomically |
//! | [`real`] | exports and imports through the libraries of a real card |
//! | [`peer`] | buffers over memory of an RDMA peer: copies from and to it, atomics |
//! | `memory`, `builder`, `page`, `map` | [`Memory`]: where bytes come from, and how they get an address |
//! | `claim`, `error` | which ranges of a memory are held, and why a window is refused |
//! | `remote` | [`RemoteMemory`]: memory that another process exported, and windows on it |
//! | [`buf`], `element`, `pool` | [`Buf`], [`BufPool`]: owned windows, lists of them, windows in stock |

mod backing;
pub mod buf;
mod builder;
pub mod cache;
mod claim;
pub mod copy;
pub mod device;
pub mod dmabuf;
mod element;
mod error;
pub mod export;
mod far;
pub mod fault;
mod guard;
pub mod handle;
mod kernel;
pub mod keys;
pub mod lease;
mod map;
mod memory;
pub mod node;
mod overlap;
mod page;
pub mod peer;
mod pool;
pub mod procmaps;
mod quiesce;
pub mod real;
pub mod region;
pub mod register;
mod remote;
mod report;
mod seat;
mod seats;
mod sync;
mod udmabuf;
pub mod view;
pub mod word;

pub use buf::Buf;
pub use builder::{MemoryBuilder, OnDevice};
pub use dmabuf::Dmabuf;
pub use element::{Element, ElementMut};
pub use error::WindowError;
pub use memory::Memory;
pub use page::{HugePage, PageSize};
pub use pool::BufPool;
pub use region::Access;
pub use remote::{Export, RemoteBuf, RemoteMemory};
pub use softdpu_card::Reach;
