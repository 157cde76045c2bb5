//! What a device's RDMA engine can do.

use crate::job::Op;
use softdpu_card::{EngineKind, Feature, FeatureSet, Function};
use softdpu_status::{Code, Error, Result};

/// How connections are made and kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[repr(u32)]
pub enum Transport {
    /// Reliable connections, one to one.
    #[default]
    Reliable = 0,
    /// Dynamic connections: one end takes from everybody who was given its description.
    Dynamic = 1,
}

impl Transport {
    /// From the contract's number.
    pub fn from_number(n: u32) -> Option<Transport> {
        [Transport::Reliable, Transport::Dynamic].into_iter().find(|&t| t as u32 == n)
    }

    fn feature(self) -> Feature {
        match self {
            Transport::Reliable => Feature::RdmaTransportRc,
            Transport::Dynamic => Feature::RdmaTransportDc,
        }
    }
}

/// Limits of the RDMA engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most bytes of one message or transfer.
    pub max_message_size: u32,
    /// Most send-side tasks of one connection in flight.
    pub max_send_queue_size: u32,
    /// Most receives posted.
    pub max_recv_queue_size: u32,
    /// Most elements of the local list of a send-side task.
    pub max_send_buf_list_len: u32,
    /// Most elements of the list of a receive.
    pub max_recv_buf_list_len: u32,
    /// Rows of the table of global identifiers.
    pub gid_table_size: u32,
    /// Largest path unit in bytes.
    pub max_mtu: u32,
    /// Most connections of one context.
    pub max_num_connections: u32,
    gid: [u8; 16],
    ipv6: [u8; 16],
    features: FeatureSet,
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no RDMA engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::Rdma) {
            return Err(Error::new(Code::NotSupported, "the device has no RDMA engine"));
        }
        let limits = &function.limits().rdma;
        Ok(Caps {
            max_message_size: limits.max_message_size,
            max_send_queue_size: limits.max_send_queue_size,
            max_recv_queue_size: limits.max_recv_queue_size,
            max_send_buf_list_len: limits.max_send_buf_list_len,
            max_recv_buf_list_len: limits.max_recv_buf_list_len,
            gid_table_size: limits.gid_table_size,
            max_mtu: limits.max_mtu,
            max_num_connections: limits.max_num_connections.min(u32::from(u16::MAX)),
            gid: function.gid(),
            ipv6: function.ipv6(),
            features: function.features(),
        })
    }

    /// Has the device this kind of task?
    pub fn has(&self, op: Op) -> bool {
        let features: &[Feature] = match op {
            Op::Receive | Op::Send => &[Feature::RdmaSend],
            Op::SendImm => &[Feature::RdmaSend, Feature::RdmaImmediate],
            Op::Read => &[Feature::RdmaRead],
            Op::Write => &[Feature::RdmaWrite],
            Op::WriteImm => &[Feature::RdmaWrite, Feature::RdmaImmediate],
            Op::CmpSwap | Op::FetchAdd => &[Feature::RdmaAtomic],
            Op::EventGet | Op::EventSet | Op::EventAdd => &[Feature::RdmaSyncEvent],
        };
        features.iter().all(|&feature| self.features.contains(feature))
    }

    /// Has the device this transport?
    pub fn has_transport(&self, transport: Transport) -> bool {
        self.features.contains(transport.feature())
    }

    /// A row of the table of global identifiers: row 0 is the function's own, row 1 its IPv6 address, the others are
    /// empty. `None` behind the end.
    pub fn gid(&self, row: u32) -> Option<[u8; 16]> {
        if row >= self.gid_table_size {
            return None;
        }
        Some(match row {
            0 => self.gid,
            1 => self.ipv6,
            _ => [0; 16],
        })
    }
}
