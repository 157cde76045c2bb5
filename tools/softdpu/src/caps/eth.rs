//! The answers of the Ethernet queues.

use super::Answer;
use softdpu::eth::{RxCaps, TxCaps};
use softdpu_card::Function;

/// Where a call asks for a type, that for regular queues on the processor; where it asks for more, for one buffer without
/// a header.
pub(super) fn answer(function: &Function, call: &str) -> Option<Answer> {
    let yes = |it: bool| if it { Answer::Yes } else { Answer::No };
    Some(if let Some(what) = call.strip_prefix("doca_eth_rxq_cap_") {
        let Ok(caps) = RxCaps::of(function) else { return Some(Answer::No) };
        match what {
            "get_max_burst_size" => Answer::Number(caps.max_burst_size.into()),
            "get_max_metadata_num" => Answer::Number(caps.max_metadata_num.into()),
            "get_max_packet_headroom" => Answer::Number(caps.max_packet_headroom.into()),
            "get_max_packet_tailroom" => Answer::Number(caps.max_packet_tailroom.into()),
            "get_max_recv_buf_list_len" => Answer::Number(caps.max_recv_buf_list_len.into()),
            "get_max_packet_size" => Answer::Number(caps.max_packet_size.into()),
            "is_type_supported" => yes(caps.regular),
            _ => return None,
        }
    } else {
        let what = call.strip_prefix("doca_eth_txq_cap_")?;
        let Ok(caps) = TxCaps::of(function) else { return Some(Answer::No) };
        match what {
            "get_max_burst_size" => Answer::Number(caps.max_burst_for(1, 0).into()),
            "get_max_send_buf_list_len" => Answer::Number(caps.max_send_buf_list_len.into()),
            "get_max_metadata_num" => Answer::Number(caps.max_metadata_num.into()),
            "get_max_lso_header_size" => Answer::Number(caps.max_lso_header_size.into()),
            "get_max_lso_msg_size" => Answer::Number(caps.max_lso_msg_size.into()),
            "is_type_supported" => yes(caps.regular),
            "is_l3_chksum_offload_supported" => yes(caps.l3_checksum),
            "is_l4_chksum_offload_supported" => yes(caps.l4_checksum),
            "get_wait_on_time_offload_supported" => Answer::Number(0),
            _ => return None,
        }
    })
}
