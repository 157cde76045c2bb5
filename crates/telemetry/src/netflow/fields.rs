//! Names of the fields, and how their values are written.

use crate::json;
use std::net::{Ipv4Addr, Ipv6Addr};

#[derive(Clone, Copy)]
enum Form {
    Number,
    Address,
    Text,
}

use Form::{Address, Number, Text};

/// Number, name, and what the bytes are.
const FIELDS: [(u16, &str, Form); 23] = [
    (1, "IN_BYTES", Number),
    (2, "IN_PKTS", Number),
    (4, "PROTOCOL", Number),
    (5, "SRC_TOS", Number),
    (6, "TCP_FLAGS", Number),
    (7, "L4_SRC_PORT", Number),
    (8, "IPV4_SRC_ADDR", Address),
    (9, "SRC_MASK", Number),
    (10, "INPUT_SNMP", Number),
    (11, "L4_DST_PORT", Number),
    (12, "IPV4_DST_ADDR", Address),
    (13, "DST_MASK", Number),
    (14, "OUTPUT_SNMP", Number),
    (15, "IPV4_NEXT_HOP", Address),
    (16, "SRC_AS", Number),
    (17, "DST_AS", Number),
    (21, "LAST_SWITCHED", Number),
    (22, "FIRST_SWITCHED", Number),
    (27, "IPV6_SRC_ADDR", Address),
    (28, "IPV6_DST_ADDR", Address),
    (62, "IPV6_NEXT_HOP", Address),
    (96, "APPLICATION_NAME", Text),
    (280, "CONNECTION_TRANSACTION_ID", Number),
];

/// Appends `"name":value`. A field that is not known, or too long for what it should be, is written as its bytes.
pub(super) fn write(out: &mut Vec<u8>, kind: u16, bytes: &[u8]) {
    let known = FIELDS.iter().find(|(number, ..)| *number == kind);
    match known {
        Some((_, name, _)) => json::text(out, name),
        None => json::text(out, &format!("FIELD_{kind}")),
    }
    out.push(b':');
    let form = known.map_or(Number, |(.., form)| *form);
    match (form, bytes.len()) {
        (Number, 1..=8) => {
            json::plain(out, bytes.iter().fold(0u64, |n, &b| n << 8 | u64::from(b)));
        }
        (Address, 4) => {
            let octets: [u8; 4] = bytes.try_into().unwrap_or_default();
            json::text(out, &Ipv4Addr::from(octets).to_string());
        }
        (Address, 16) => {
            let octets: [u8; 16] = bytes.try_into().unwrap_or_default();
            json::text(out, &Ipv6Addr::from(octets).to_string());
        }
        (Text, _) => {
            let text = bytes.split(|&b| b == 0).next().unwrap_or_default();
            json::text(out, &String::from_utf8_lossy(text));
        }
        _ => json::text(out, &bytes.iter().map(|b| format!("{b:02x}")).collect::<String>()),
    }
}
