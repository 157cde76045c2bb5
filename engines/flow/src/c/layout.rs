//! The structures of `doca_flow.h` that programs fill in, and what is read from them.

use crate::book::{Target, refuse};
use core::mem::offset_of;
use softdpu_net::steer::HashFields;
use softdpu_status::{Code, Result};

/// `struct doca_flow_meta`.
#[derive(Debug)]
#[repr(C)]
struct Meta {
    /// Big-endian.
    pkt_meta: u32,
    words: [u32; 10],
}

/// `struct doca_flow_match`: of what it could say, nothing can be asked for.
#[derive(Debug)]
#[repr(C)]
pub struct FlowMatch {
    meta: Meta,
    parser_meta: [u8; 32],
    outer: [u8; 128],
    tun: [u8; 64],
    inner: [u8; 128],
}

/// `struct doca_flow_actions`.
#[derive(Debug)]
#[repr(C)]
pub struct Actions {
    decap_type: u32,
    decap: [u8; 128],
    pop_vlan: u8,
    meta: Meta,
    parser_meta: [u8; 32],
    outer: [u8; 128],
    tun: [u8; 64],
    encap_type: u32,
    encap: [u8; 128],
    has_push: u8,
    push: [u8; 128],
    nat64: [u8; 128],
    has_crypto_encap: u8,
    crypto_encap: [u8; 128],
    crypto: [u8; 128],
}

/// `struct doca_flow_fwd`, with the one member of its union that counts here.
#[derive(Debug)]
#[repr(C)]
pub struct Fwd {
    kind: u32,
    /// Begins where the union does, which holds pointers.
    rss: FwdRss,
}

#[derive(Debug)]
#[repr(C, align(8))]
struct FwdRss {
    resource: u32,
    cfg: RssCfg,
}

#[derive(Debug)]
#[repr(C, align(8))]
struct RssCfg {
    outer_flags: u32,
    inner_flags: u32,
    queues: *const u16,
    count: i32,
    function: u32,
}

const _: () = assert!(size_of::<FlowMatch>() == 396 && offset_of!(Actions, meta) == 136);
const _: () = assert!(size_of::<Actions>() == 1052 && offset_of!(Actions, encap_type) == 404);
const _: () = assert!(size_of::<Fwd>() == 40 && offset_of!(FwdRss, cfg) == 8);

const FWD_NONE: u32 = 0;
const FWD_RSS: u32 = 1;
const FWD_DROP: u32 = 4;
const NON_SHARED: u32 = 2;
const FUNCTIONS: u32 = 1;
/// Known header fields of the hash, ESP among them, which no packet here has ports of.
const HASHED: u32 = 31;

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

#[cold]
fn reserved<T>(call: &str, what: &str) -> Result<T> {
    let line = format_args!("{call}: a member of {what} is not zero that nothing here goes by");
    refuse(Code::NotSupported, "a reserved member is not zero", line)
}

impl FlowMatch {
    /// Refuses what asks for more than every packet.
    pub(super) fn check(&self, call: &str) -> Result<()> {
        let parts: [&[u8]; 4] = [&self.parser_meta, &self.outer, &self.tun, &self.inner];
        let meta = self.meta.pkt_meta == 0 && self.meta.words == [0; 10];
        if meta && parts.into_iter().all(is_zero) { Ok(()) } else { reserved(call, "the match") }
    }
}

impl Actions {
    /// What it writes into word 0 of the metadata.
    pub(super) fn mark(&self, call: &str) -> Result<u32> {
        let parts: [&[u8]; 8] = [
            &self.decap,
            &self.parser_meta,
            &self.outer,
            &self.tun,
            &self.encap,
            &self.push,
            &self.nat64,
            &self.crypto_encap,
        ];
        let flags = self.decap_type
            | self.encap_type
            | u32::from(self.pop_vlan | self.has_push | self.has_crypto_encap);
        let good = flags == 0
            && self.meta.words == [0; 10]
            && parts.into_iter().all(is_zero)
            && is_zero(&self.crypto);
        if good { Ok(u32::from_be(self.meta.pkt_meta)) } else { reserved(call, "the actions") }
    }
}

impl Fwd {
    /// Where it leads. None: it says nothing.
    ///
    /// # Safety
    /// Filled in as its kind says: the queues are as many as their count.
    pub(super) unsafe fn target(&self, call: &str) -> Result<Option<Target>> {
        match self.kind {
            FWD_NONE => Ok(None),
            FWD_DROP => Ok(Some(Target::Nowhere)),
            // SAFETY: the caller's promise.
            FWD_RSS => unsafe { self.queues(call) }.map(Some),
            other => {
                let line = format_args!(
                    "{call}: forwarding of kind {other}; to queues (1) and nowhere (4) are what there is"
                );
                refuse(Code::NotSupported, "kind of forwarding", line)
            }
        }
    }

    /// # Safety
    /// As [`Fwd::target`].
    unsafe fn queues(&self, call: &str) -> Result<Target> {
        let RssCfg { outer_flags, inner_flags, queues, count, function } = self.rss.cfg;
        let resource = self.rss.resource;
        if resource != NON_SHARED || inner_flags != 0 || outer_flags & !HASHED != 0 || function > FUNCTIONS {
            let line = format_args!(
                "{call}: queues of resource kind {resource} by hash function {function} of outer headers {outer_flags:#x}, \
                 inner {inner_flags:#x}; there are non-shared ones (2), functions 0 and 1, outer headers {HASHED:#x}"
            );
            return refuse(Code::NotSupported, "way of spreading", line);
        }
        let Some(count) = usize::try_from(count).ok().filter(|n| *n > 0 && !queues.is_null()) else {
            return refuse(
                Code::InvalidValue,
                "no queues",
                format_args!("{call}: {count} queues at {queues:p}"),
            );
        };
        // SAFETY: the caller's promise.
        let numbers = unsafe { core::slice::from_raw_parts(queues, count) }.to_vec();
        let has = |bit: u32| outer_flags & bit != 0;
        let fields =
            HashFields { v4: has(1), v6: has(2), udp: has(4), tcp: has(8), symmetric: function == 1 };
        Ok(Target::Queues { numbers, fields })
    }
}
