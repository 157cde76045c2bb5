//! `softdpu caps`: every capability call of the C interface, with the answer a program gets.
//!
//! The list of calls is the project's function table. Calls that the library does not carry out answer
//! NOT_SUPPORTED, as they do in a program; for the others the answer is taken from the card, from where the
//! library takes it too. A test runs a C program and compares.

use lexopt::Parser;
use lexopt::prelude::*;
use serde::Serialize;
use softdpu_card::{Feature, Function};
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
        _ => return None,
    })
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
