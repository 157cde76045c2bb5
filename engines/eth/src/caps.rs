//! What the queues of a function can do.

use softdpu_card::{EngineKind, Feature, Function};
use softdpu_status::{Code, Error, Result};

/// Most metadata words that a packet has room for.
pub(crate) const MOST_METADATA: usize = 8;

fn lacks<T>(function: &Function, kind: EngineKind) -> Result<T> {
    log::debug!(target: crate::LOG, "device {function} has no {kind}");
    Err(Error::new(Code::NotSupported, "the device lacks this engine"))
}

fn words(limit: u32) -> u8 {
    limit.min(MOST_METADATA as u32) as u8
}

fn short(limit: u32) -> u16 {
    limit.min(u32::from(u16::MAX)) as u16
}

/// Limits of receive queues on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RxCaps {
    /// Can the program post its own buffers?
    pub regular: bool,
    /// Can the queue have packet memory of its own?
    pub managed: bool,
    /// Most packets at once.
    pub max_burst_size: u32,
    /// Largest packet in bytes.
    pub max_packet_size: u32,
    /// Most bytes free before a packet.
    pub max_packet_headroom: u16,
    /// Most bytes free behind a packet.
    pub max_packet_tailroom: u16,
    /// Most bytes of headroom, packet and tailroom together.
    pub max_managed_packet_size: u32,
    /// Most elements of a posted list.
    pub max_recv_buf_list_len: u32,
    /// Most words of metadata per packet.
    pub max_metadata_num: u8,
}

impl RxCaps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when it has no receive queues.
    pub fn of(function: &Function) -> Result<RxCaps> {
        if !function.supports(EngineKind::EthRxq) {
            return lacks(function, EngineKind::EthRxq);
        }
        let limits = &function.limits().eth_rxq;
        Ok(RxCaps {
            regular: function.has(Feature::EthRxqRegular),
            managed: function.has(Feature::EthRxqManaged),
            max_burst_size: limits.max_burst_size,
            max_packet_size: limits.max_packet_size,
            max_packet_headroom: short(limits.max_packet_headroom),
            max_packet_tailroom: short(limits.max_packet_tailroom),
            max_managed_packet_size: limits.max_managed_packet_size,
            max_recv_buf_list_len: limits.max_recv_buf_list_len,
            max_metadata_num: words(limits.max_metadata_num),
        })
    }
}

/// Limits of send queues on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TxCaps {
    /// Can it send?
    pub regular: bool,
    /// Can it cut large sends?
    pub lso: bool,
    /// Can it fill in IPv4 header checksums?
    pub l3_checksum: bool,
    /// Can it fill in TCP and UDP checksums?
    pub l4_checksum: bool,
    /// Most packets at once.
    pub max_burst_size: u32,
    /// Largest packet in bytes.
    pub max_packet_size: u32,
    /// Most elements of a packet's list.
    pub max_send_buf_list_len: u32,
    /// Longest header of a large send in bytes.
    pub max_lso_header_size: u16,
    /// Most data of a large send in bytes.
    pub max_lso_msg_size: u32,
    /// Most words of metadata per packet.
    pub max_metadata_num: u8,
}

impl TxCaps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when it has no send queues.
    pub fn of(function: &Function) -> Result<TxCaps> {
        if !function.supports(EngineKind::EthTxq) {
            return lacks(function, EngineKind::EthTxq);
        }
        let limits = &function.limits().eth_txq;
        Ok(TxCaps {
            regular: function.has(Feature::EthTxqRegular),
            lso: function.has(Feature::EthTxqLso),
            l3_checksum: function.has(Feature::EthTxqL3Checksum),
            l4_checksum: function.has(Feature::EthTxqL4Checksum),
            max_burst_size: limits.max_burst_size,
            max_packet_size: limits.max_packet_size,
            max_send_buf_list_len: limits.max_send_buf_list_len,
            max_lso_header_size: short(limits.max_lso_header_size),
            max_lso_msg_size: limits.max_lso_msg_size,
            max_metadata_num: words(limits.max_metadata_num),
        })
    }

    /// The largest burst for lists and headers of this size: long descriptors take the room of several.
    pub fn max_burst_for(&self, list_len: u32, header: u16) -> u32 {
        // A slot of the queue holds four elements of a list, or 64 bytes of header.
        let slots = list_len.max(1).div_ceil(4) + u32::from(header).div_ceil(64);
        (self.max_burst_size / slots.max(1)).max(1)
    }
}
