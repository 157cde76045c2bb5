//! `softdpu caps`: every capability call of the C interface, with the answer a program gets.
//!
//! The list of calls is the project's function table. Calls that the library does not carry out answer
//! NOT_SUPPORTED, as they do in a program; for the others the answer is taken from the card, from where the
//! library takes it too. A test runs a C program and compares.

mod eth;

use lexopt::Parser;
use lexopt::prelude::*;
use serde::Serialize;
use softdpu::compress::Kind;
use softdpu::sha::Algorithm;
use softdpu_card::{EngineKind, Feature, Function};
use softdpu_memory::export::MAX_TOKEN;

use crate::card::{CARD_HELP, CardOptions};
use crate::contract::{Contract, Row};
use crate::message::{Failure, Outcome};
use crate::output::{self, Table};

const HELP: &str = "\
Lists every capability call with its answer.

Usage: softdpu caps [OPTIONS] [DEVICE]

DEVICE is a PCI address (with or without domain), an interface or an RDMA device; without it all of them.

Options:
  --json                      one JSON document instead of tables
";

/// What a capability call answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The call succeeds and that is all it says.
    Yes,
    /// The call succeeds and gives a number.
    Number(u64),
    /// `DOCA_ERROR_NOT_SUPPORTED`.
    No,
}

#[derive(Debug, Serialize)]
struct Document {
    devices: Vec<Device>,
}

#[derive(Debug, Serialize)]
struct Device {
    pci: String,
    side: &'static str,
    ibdev: String,
    iface: String,
    caps: Vec<Cap>,
}

#[derive(Debug, Serialize)]
struct Cap {
    call: String,
    family: String,
    /// The returned error, by name.
    answer: &'static str,
    /// What the call stores, when it stores a number.
    value: Option<u64>,
}

pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let mut card = CardOptions::default();
    let (mut json, mut wanted) = (false, None);
    while let Some(argument) = arguments.next()? {
        match argument {
            Short('h') | Long("help") => return output::print(&format!("{HELP}{CARD_HELP}")),
            Long("json") => json = true,
            Long(name) if CardOptions::NAMES.contains(&name) => {
                let name = name.to_owned();
                card.set(&name, arguments.value()?)?;
            }
            Value(device) if wanted.is_none() => wanted = Some(device.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().into()),
        }
    }
    let machine = card.machine()?;
    let functions = match wanted {
        Some(name) => vec![machine.find(&name).map_err(|e| Failure::failed(e.to_string()))?],
        None => machine.functions().to_vec(),
    };
    if functions.is_empty() {
        return Err(Failure::failed(format!("no device is visible with side '{}'", machine.view().name())));
    }
    let contract = Contract::load()?;
    let document = Document { devices: functions.iter().map(|f| device(f, &contract)).collect() };
    output::print(&if json { output::json(&document)? } else { text(&document) })
}

fn device(function: &Function, contract: &Contract) -> Device {
    Device {
        pci: function.pci().to_string(),
        side: function.side().name(),
        ibdev: function.ibdev().to_owned(),
        iface: function.iface().to_owned(),
        caps: contract.capability_calls().map(|row| cap(function, row)).collect(),
    }
}

fn cap(function: &Function, row: &Row) -> Cap {
    let known = if row.is_done() { answer(function, &row.name) } else { None };
    let (answer, value) = match known.unwrap_or(Answer::No) {
        Answer::Yes => ("DOCA_SUCCESS", None),
        Answer::Number(n) => ("DOCA_SUCCESS", Some(n)),
        Answer::No => ("DOCA_ERROR_NOT_SUPPORTED", None),
    };
    Cap { call: row.name.clone(), family: row.family.clone(), answer, value }
}

fn sync_event(function: &Function, call: &str) -> Answer {
    let Ok(caps) = softdpu::sync_event::Caps::of(function) else { return Answer::No };
    let able = match call {
        "doca_sync_event_cap_is_create_from_export_supported" => caps.import_pci,
        "doca_sync_event_cap_is_export_to_remote_pci_supported" => caps.export_pci,
        "doca_sync_event_cap_is_export_to_remote_net_supported"
        | "doca_sync_event_cap_remote_net_is_create_from_export_supported" => caps.net,
        call if call.starts_with("doca_sync_event_cap_task_") => caps.local,
        _ => false,
    };
    if able { Answer::Yes } else { Answer::No }
}

/// The answers of the calls that the library carries out; `None` for a call that is not among them.
fn answer(function: &Function, call: &str) -> Option<Answer> {
    let flag = |yes: bool| Answer::Number(u64::from(yes));
    let on_dma = |n: u64| if function.has(Feature::DmaMemcpy) { Answer::Number(n) } else { Answer::No };
    let dma = &function.limits().dma;
    Some(match call {
        "doca_devinfo_cap_is_hotplug_manager_supported" => flag(false),
        "doca_devinfo_cap_is_notification_moderation_supported" => flag(false),
        "doca_devinfo_cap_is_accelerate_resource_reclaim_supported" => flag(false),
        "doca_devinfo_rep_cap_is_filter_all_supported" => flag(function.shows_representors()),
        "doca_devinfo_rep_cap_is_filter_net_supported" => flag(function.shows_representors()),
        "doca_devinfo_rep_cap_is_filter_emulated_supported" => flag(false),
        // Completions of a context come on the thread that drives it: one vector.
        "doca_ctx_cap_get_num_completion_vectors" => Answer::Number(1),
        "doca_mmap_cap_get_max_export_access_token_size" => Answer::Number(MAX_TOKEN as u64),
        "doca_mmap_cap_is_export_pci_supported" => flag(function.can_export_pci()),
        "doca_mmap_cap_is_create_from_export_pci_supported" => flag(function.can_import_pci()),
        "doca_dma_cap_task_memcpy_is_supported" if function.has(Feature::DmaMemcpy) => Answer::Yes,
        "doca_dma_cap_task_memcpy_is_supported" => Answer::No,
        "doca_dma_cap_get_max_num_tasks" => on_dma(dma.max_num_tasks.into()),
        "doca_dma_cap_task_memcpy_get_max_buf_size" => on_dma(dma.max_buf_size),
        "doca_dma_cap_task_memcpy_get_max_buf_list_len" => on_dma(dma.max_buf_list_len.into()),
        call if call.starts_with("doca_sync_event_cap_") => sync_event(function, call),
        call if call.starts_with("doca_eth_") => return eth::answer(function, call),
        "doca_clock_cap_nic_free_running_is_supported"
        | "doca_clock_cap_nic_real_time_is_supported"
        | "doca_clock_cap_nic_dpa_timer_is_supported" => Answer::Yes,
        "doca_mmap_advise_cap_task_cache_invalidate_is_supported" => {
            match softdpu::mmap_advise::Caps::of(function) {
                Ok(_) => Answer::Yes,
                Err(_) => Answer::No,
            }
        }
        call if call.starts_with("doca_comch_") => return comch(function, call),
        call if call.starts_with("doca_aes_gcm_") => return aes_gcm(function, call),
        call if call.starts_with("doca_compress_") => return compress(function, call),
        call if call.starts_with("doca_sha_") => return sha(function, call),
        call if call.starts_with("doca_ec_") => return erasure_coding(function, call),
        call if call.starts_with("doca_rdma_") => return rdma(function, call),
        _ => return None,
    })
}

/// The answers of the channel between host and card: of its ends, and of producers and consumers.
fn comch(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().comch;
    let can = |feature| if function.has(feature) { Answer::Yes } else { Answer::No };
    let number = |n: u32| Answer::Number(n.into());
    let answer = match call.strip_prefix("doca_comch_")? {
        "cap_server_is_supported" => return Some(can(Feature::ComchServer)),
        "cap_client_is_supported" => return Some(can(Feature::ComchClient)),
        "producer_cap_is_supported" => return Some(can(Feature::ComchProducer)),
        "consumer_cap_is_supported" => return Some(can(Feature::ComchConsumer)),
        "cap_get_max_name_len" => number(limits.max_name_len),
        "cap_get_max_msg_size" => number(limits.max_msg_size),
        "cap_get_max_recv_queue_size" => number(limits.max_recv_queue_size),
        "cap_get_max_clients" => number(limits.max_clients),
        "cap_get_max_send_tasks" => number(limits.max_send_tasks),
        "producer_cap_get_max_num_tasks" | "consumer_cap_get_max_num_tasks" => {
            number(limits.max_stream_tasks)
        }
        "producer_cap_get_max_buf_size" | "consumer_cap_get_max_buf_size" => {
            number(limits.max_stream_buf_size)
        }
        "producer_cap_get_max_buf_list_len" => number(limits.max_stream_buf_list_len),
        // Receives are single buffers.
        "consumer_cap_get_max_buf_list_len" => number(1),
        "producer_cap_get_max_producers" | "consumer_cap_get_max_consumers" => number(limits.max_streams),
        "consumer_cap_get_max_imm_data_len" => number(limits.max_imm_data_len),
        _ => return None,
    };
    Some(if function.supports(EngineKind::Comch) { answer } else { Answer::No })
}

/// The answers of the AES-GCM engine: the same calls for each direction.
fn aes_gcm(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().aes_gcm;
    let rest = call.strip_prefix("doca_aes_gcm_cap_")?;
    if rest == "get_max_num_tasks" {
        let supported = function.supports(EngineKind::AesGcm);
        return Some(if supported { Answer::Number(limits.max_num_tasks.into()) } else { Answer::No });
    }
    let (feature, question) = match rest.strip_prefix("task_encrypt_") {
        Some(question) => (Feature::AesGcmEncrypt, question),
        None => (Feature::AesGcmDecrypt, rest.strip_prefix("task_decrypt_")?),
    };
    let on = |feature| if function.has(feature) { Answer::Yes } else { Answer::No };
    let answer = match question {
        "is_supported" => Answer::Yes,
        "is_tag_96_supported" => on(Feature::AesGcmTag96),
        "is_tag_128_supported" => on(Feature::AesGcmTag128),
        // The call asks for a type; the answer is that for the longer one.
        "is_key_type_supported" => on(Feature::AesGcmKey256),
        "get_max_iv_len" => Answer::Number(limits.max_iv_len.min(12).into()),
        "get_max_buf_size" => Answer::Number(limits.max_buf_size),
        "get_max_list_buf_num_elem" => Answer::Number(limits.max_buf_list_len.into()),
        _ => return None,
    };
    Some(if function.has(feature) { answer } else { Answer::No })
}

/// The answers of the compression engine: three calls for each kind of task.
fn compress(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().compress;
    let rest = call.strip_prefix("doca_compress_cap_")?;
    if rest == "get_max_num_tasks" {
        let supported = function.supports(EngineKind::Compress);
        return Some(if supported { Answer::Number(limits.max_num_tasks.into()) } else { Answer::No });
    }
    let rest = rest.strip_prefix("task_")?;
    let (kind, question) = Kind::ALL.iter().find_map(|kind| Some((kind, rest.strip_prefix(kind.name())?)))?;
    let answer = match question {
        "_is_supported" => Answer::Yes,
        "_get_max_buf_size" => Answer::Number(limits.max_buf_size),
        "_get_max_buf_list_len" => Answer::Number(limits.max_buf_list_len.into()),
        _ => return None,
    };
    Some(if function.has(kind.feature()) { answer } else { Answer::No })
}

/// The answers of the hash engine. Where a call asks for a hash function, what holds for all of them: a destination of
/// that room and pieces of that size suit each.
fn sha(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().sha;
    let number = |n: u64| if function.supports(EngineKind::Sha) { Answer::Number(n) } else { Answer::No };
    let all = |features: &[Feature]| {
        if features.iter().all(|f| function.has(*f)) { Answer::Yes } else { Answer::No }
    };
    let largest =
        |size: fn(Algorithm) -> usize| Algorithm::ALL.into_iter().map(size).max().unwrap_or(0) as u64;
    Some(match call.strip_prefix("doca_sha_cap_")? {
        "task_hash_get_supported" => all(&[Feature::Sha1, Feature::Sha256, Feature::Sha512]),
        "task_partial_hash_get_supported" => {
            all(&[Feature::Sha1Partial, Feature::Sha256Partial, Feature::Sha512Partial])
        }
        "get_max_list_buf_num_elem" => number(limits.max_buf_list_len.into()),
        "get_max_src_buf_size" => number(limits.max_src_buf_size),
        "get_min_dst_buf_size" => number(largest(Algorithm::digest_len)),
        "get_partial_hash_block_size" => number(largest(Algorithm::block_len)),
        "get_max_num_tasks" => number(limits.max_num_tasks.into()),
        _ => return None,
    })
}

/// The answers of the erasure coding engine.
fn erasure_coding(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().erasure_coding;
    let number =
        |n: u64| if function.supports(EngineKind::ErasureCoding) { Answer::Number(n) } else { Answer::No };
    let can = |feature| if function.has(feature) { Answer::Yes } else { Answer::No };
    Some(match call.strip_prefix("doca_ec_cap_")? {
        "get_max_block_size" => number(limits.max_block_size),
        "get_max_buf_list_len" => number(limits.max_buf_list_len.into()),
        "task_galois_mul_is_supported" => can(Feature::EcGaloisMul),
        "task_create_is_supported" => can(Feature::EcCreate),
        "task_update_is_supported" => can(Feature::EcUpdate),
        "task_recover_is_supported" => can(Feature::EcRecover),
        _ => return None,
    })
}

/// The answers of the RDMA engine. Where a call asks for a transport, those for reliable connections; the table of global
/// identifiers is no number, so that call's answer is whether there is one.
fn rdma(function: &Function, call: &str) -> Option<Answer> {
    let limits = &function.limits().rdma;
    let number = |n: u32| Answer::Number(n.into());
    let all = |features: &[Feature]| {
        if features.iter().all(|f| function.has(*f)) { Answer::Yes } else { Answer::No }
    };
    let answer = match call.strip_prefix("doca_rdma_cap_")? {
        "get_max_recv_queue_size" => number(limits.max_recv_queue_size),
        "get_max_send_queue_size" => number(limits.max_send_queue_size),
        "get_max_send_buf_list_len" => number(limits.max_send_buf_list_len),
        "get_max_message_size" => number(limits.max_message_size),
        "get_gid_table_size" => number(limits.gid_table_size),
        "get_gid" => Answer::Yes,
        "transport_type_is_supported" => all(&[Feature::RdmaTransportRc]),
        "task_receive_get_max_dst_buf_list_len" if function.has(Feature::RdmaTransportRc) => {
            number(limits.max_recv_buf_list_len)
        }
        "task_receive_get_max_dst_buf_list_len" => Answer::No,
        "task_receive_is_supported" | "task_send_is_supported" => all(&[Feature::RdmaSend]),
        "task_send_imm_is_supported" => all(&[Feature::RdmaSend, Feature::RdmaImmediate]),
        "task_read_is_supported" => all(&[Feature::RdmaRead]),
        "task_write_is_supported" => all(&[Feature::RdmaWrite]),
        "task_write_imm_is_supported" => all(&[Feature::RdmaWrite, Feature::RdmaImmediate]),
        "task_remote_net_sync_event_get_is_supported"
        | "task_remote_net_sync_event_notify_set_is_supported"
        | "task_remote_net_sync_event_notify_add_is_supported" => all(&[Feature::RdmaSyncEvent]),
        "task_atomic_cmp_swp_is_supported" | "task_atomic_fetch_add_is_supported" => {
            all(&[Feature::RdmaAtomic])
        }
        _ => return None,
    };
    Some(if function.supports(EngineKind::Rdma) { answer } else { Answer::No })
}

fn text(document: &Document) -> String {
    let mut text = String::new();
    for (i, device) in document.devices.iter().enumerate() {
        let gap = if i == 0 { "" } else { "\n" };
        text += &format!("{gap}{} ({}, {}, {})\n", device.pci, device.side, device.ibdev, device.iface);
        let mut table = Table::new(&["capability call", "answer"]);
        for cap in &device.caps {
            let answer = match cap.value {
                Some(n) => n.to_string(),
                None => cap.answer.trim_start_matches("DOCA_").trim_start_matches("ERROR_").to_owned(),
            };
            table.row([cap.call.clone(), answer]);
        }
        text += &table.text(&[]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever finishes an engine must say here where the answers come from.
    #[test]
    fn every_finished_call_has_an_answer() {
        let contract = Contract::load().ok().unwrap();
        let machine = softdpu_card::Machine::builder().build().unwrap();
        let function = &machine.functions()[0];
        let open: Vec<_> = contract
            .capability_calls()
            .filter(|row| row.is_done() && answer(function, &row.name).is_none())
            .map(|row| row.name.as_str())
            .collect();
        assert_eq!(open, [""; 0]);
    }
}
