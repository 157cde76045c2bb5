//! What of libfabric's binary interface is used here, declared by hand: objects begin with a [`Fid`] and carry tables of
//! functions; attributes are plain structures that the library allocates. Tables and structures are reached through
//! pointers alone, so that only their beginnings need to be known. The layout is that of interface version 1.14, which
//! every later library still serves.
use core::ffi::{c_char, c_int, c_void};

/// The interface version that is asked for.
pub(super) const VERSION: u32 = 1 << 16 | 14;

pub(super) type Ptr = *mut c_void;

/// What every object begins with.
#[repr(C)]
pub(super) struct Fid {
    class: usize,
    context: Ptr,
    pub(super) ops: *const FidOps,
}

#[repr(C)]
pub(super) struct FidOps {
    size: usize,
    pub(super) close: unsafe extern "C" fn(*mut Fid) -> c_int,
    pub(super) bind: unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int,
    pub(super) control: unsafe extern "C" fn(*mut Fid, c_int, Ptr) -> c_int,
}

/// Commands of `control`.
pub(super) const GET_WAIT: c_int = 5;
pub(super) const ENABLE: c_int = 6;

#[repr(C)]
pub(super) struct Info {
    next: *mut Info,
    pub(super) caps: u64,
    pub(super) mode: u64,
    addr_format: u32,
    src_len: usize,
    dest_len: usize,
    src: Ptr,
    pub(super) dest: Ptr,
    pub(super) handle: *mut Fid,
    pub(super) tx: *mut TxAttr,
    rx: Ptr,
    pub(super) ep: *mut EpAttr,
    pub(super) domain: *mut DomainAttr,
    pub(super) fabric: *mut FabricAttr,
    nic: Ptr,
}

#[repr(C)]
pub(super) struct TxAttr {
    caps: u64,
    mode: u64,
    flags: u64,
    order: [u64; 2],
    /// Bytes that may be sent by `inject` at most.
    pub(super) inject: usize,
    size: usize,
    pub(super) pieces: usize,
}

#[repr(C)]
pub(super) struct EpAttr {
    pub(super) kind: c_int,
    protocol: u32,
    protocol_version: u32,
    pub(super) max_msg: usize,
}

#[repr(C)]
pub(super) struct DomainAttr {
    domain: Ptr,
    name: *mut c_char,
    pub(super) threading: c_int,
    control_progress: c_int,
    data_progress: c_int,
    resources: c_int,
    av_kind: c_int,
    pub(super) mr_mode: c_int,
}

#[repr(C)]
pub(super) struct FabricAttr {
    fabric: Ptr,
    pub(super) name: *mut c_char,
    pub(super) provider: *mut c_char,
}

/// Connected, reliable, in order.
pub(super) const EP_MSG: c_int = 1;
/// Without connections, reliable.
pub(super) const EP_RDM: c_int = 3;
/// Nothing fits what was asked for.
pub(super) const NO_DATA: c_int = -61;
pub(super) const CAP_MSG: u64 = 1 << 1;
/// Modes that callers may be asked for: room for the library in what a completion carries.
pub(super) const MODE_CONTEXT: u64 = 1 << 59;
pub(super) const MODE_CONTEXT2: u64 = 1 << 52;
/// Local buffers have to be registered, too.
pub(super) const MR_LOCAL: c_int = 1 << 2;
/// Other modes of registration that make no difference to who registers what it owns.
pub(super) const MR_OTHERS: c_int = 1 << 4 | 1 << 5 | 1 << 6;
pub(super) const THREAD_SAFE: c_int = 1;
/// The node names this side.
pub(super) const SOURCE: u64 = 1 << 57;
/// The node is an address, not a name that has to be resolved.
pub(super) const NUMERIC: u64 = 1 << 55;

pub(super) type GetInfo =
    unsafe extern "C" fn(u32, *const c_char, *const c_char, u64, *const Info, *mut *mut Info) -> c_int;
pub(super) type DupInfo = unsafe extern "C" fn(*const Info) -> *mut Info;
pub(super) type FreeInfo = unsafe extern "C" fn(*mut Info);
pub(super) type OpenFabric = unsafe extern "C" fn(*mut FabricAttr, *mut *mut Fabric, Ptr) -> c_int;
pub(super) type Version = unsafe extern "C" fn() -> u32;

#[repr(C)]
pub(super) struct Fabric {
    pub(super) fid: Fid,
    pub(super) ops: *const FabricOps,
}

#[repr(C)]
pub(super) struct FabricOps {
    size: usize,
    pub(super) domain: unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Domain, Ptr) -> c_int,
    pub(super) passive: unsafe extern "C" fn(*mut Fabric, *mut Info, *mut *mut Passive, Ptr) -> c_int,
    pub(super) events: unsafe extern "C" fn(*mut Fabric, *mut EventAttr, *mut *mut Events, Ptr) -> c_int,
    wait: Ptr,
    pub(super) try_wait: unsafe extern "C" fn(*mut Fabric, *mut *mut Fid, c_int) -> c_int,
}

#[repr(C)]
pub(super) struct Domain {
    pub(super) fid: Fid,
    pub(super) ops: *const DomainOps,
    pub(super) mr: *const MrOps,
}

#[repr(C)]
pub(super) struct DomainOps {
    size: usize,
    av: Ptr,
    pub(super) queue: unsafe extern "C" fn(*mut Domain, *mut QueueAttr, *mut *mut Queue, Ptr) -> c_int,
    pub(super) endpoint: unsafe extern "C" fn(*mut Domain, *mut Info, *mut *mut Endpoint, Ptr) -> c_int,
}

#[repr(C)]
pub(super) struct MrOps {
    size: usize,
    pub(super) register: unsafe extern "C" fn(
        *mut Fid,
        *const c_void,
        usize,
        u64,
        u64,
        u64,
        u64,
        *mut *mut Region,
        Ptr,
    ) -> c_int,
}

#[repr(C)]
pub(super) struct Region {
    pub(super) fid: Fid,
    pub(super) desc: Ptr,
    key: u64,
}

/// What registered buffers are good for.
pub(super) const RECEIVE: u64 = 1 << 10;
pub(super) const TRANSMIT: u64 = 1 << 11;

#[repr(C)]
#[derive(Default)]
pub(super) struct EventAttr {
    pub(super) size: usize,
    pub(super) flags: u64,
    pub(super) wait: c_int,
    pub(super) vector: c_int,
    pub(super) set: usize,
}

#[repr(C)]
#[derive(Default)]
pub(super) struct QueueAttr {
    pub(super) size: usize,
    pub(super) flags: u64,
    pub(super) format: c_int,
    pub(super) wait: c_int,
    pub(super) vector: c_int,
    pub(super) condition: c_int,
    pub(super) set: usize,
}

pub(super) const WAIT_FD: c_int = 3;
pub(super) const FORMAT_MSG: c_int = 2;

#[repr(C)]
pub(super) struct Events {
    pub(super) fid: Fid,
    pub(super) ops: *const EventOps,
}

#[repr(C)]
pub(super) struct EventOps {
    size: usize,
    pub(super) read: unsafe extern "C" fn(*mut Events, *mut u32, Ptr, usize, u64) -> isize,
    pub(super) error: unsafe extern "C" fn(*mut Events, *mut EventError, u64) -> isize,
}

pub(super) const REQUESTED: u32 = 1;
pub(super) const CONNECTED: u32 = 2;
pub(super) const SHUTDOWN: u32 = 3;

#[repr(C)]
pub(super) struct EventError {
    fid: *mut Fid,
    context: Ptr,
    data: u64,
    pub(super) error: c_int,
    provider_error: c_int,
    more: Ptr,
    more_len: usize,
}

/// What a connection event carries; private data follows.
#[repr(C)]
pub(super) struct ConnectionEvent {
    fid: *mut Fid,
    pub(super) info: *mut Info,
    more: [u8; 512],
}

#[repr(C)]
pub(super) struct Queue {
    pub(super) fid: Fid,
    pub(super) ops: *const QueueOps,
}

#[repr(C)]
pub(super) struct QueueOps {
    size: usize,
    pub(super) read: unsafe extern "C" fn(*mut Queue, *mut Completion, usize) -> isize,
    read_from: Ptr,
    pub(super) error: unsafe extern "C" fn(*mut Queue, *mut CompletionError, u64) -> isize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Completion {
    pub(super) context: Ptr,
    pub(super) flags: u64,
    pub(super) len: usize,
}

#[repr(C)]
pub(super) struct CompletionError {
    context: Ptr,
    flags: u64,
    len: usize,
    buf: Ptr,
    data: u64,
    tag: u64,
    over: usize,
    pub(super) error: c_int,
    provider_error: c_int,
    more: Ptr,
    more_len: usize,
}

/// Nothing there; something went wrong, ask what.
pub(super) const AGAIN: isize = -11;
pub(super) const ERROR_THERE: isize = -259;

#[repr(C)]
pub(super) struct Endpoint {
    pub(super) fid: Fid,
    ops: Ptr,
    pub(super) cm: *const CmOps,
    pub(super) msg: *const MsgOps,
}

#[repr(C)]
pub(super) struct Passive {
    pub(super) fid: Fid,
    ops: Ptr,
    pub(super) cm: *const CmOps,
}

#[repr(C)]
pub(super) struct CmOps {
    size: usize,
    set_name: Ptr,
    pub(super) get_name: unsafe extern "C" fn(*mut Fid, Ptr, *mut usize) -> c_int,
    get_peer: Ptr,
    pub(super) connect: unsafe extern "C" fn(*mut Endpoint, *const c_void, *const c_void, usize) -> c_int,
    pub(super) listen: unsafe extern "C" fn(*mut Passive) -> c_int,
    pub(super) accept: unsafe extern "C" fn(*mut Endpoint, *const c_void, usize) -> c_int,
    pub(super) reject: unsafe extern "C" fn(*mut Passive, *mut Fid, *const c_void, usize) -> c_int,
}

type Post = unsafe extern "C" fn(*mut Endpoint, Ptr, usize, Ptr, u64, Ptr) -> isize;

#[repr(C)]
pub(super) struct MsgOps {
    size: usize,
    pub(super) receive: Post,
    receive_v: Ptr,
    receive_msg: Ptr,
    pub(super) send: Post,
    pub(super) send_v: unsafe extern "C" fn(*mut Endpoint, *const Piece, *mut Ptr, usize, u64, Ptr) -> isize,
    send_msg: Ptr,
    pub(super) inject: unsafe extern "C" fn(*mut Endpoint, *const c_void, usize, u64) -> isize,
}

/// Some bytes of a message that lies in several places.
#[repr(C)]
pub(super) struct Piece {
    pub(super) at: *const u8,
    pub(super) len: usize,
}

/// No address: connected endpoints have one peer.
pub(super) const NOBODY: u64 = u64::MAX;
