//! Steering rules of a topology file: which queue of a program gets which frames, where the program says nothing itself.

use crate::config::{Bad, bad};
use crate::real::parse_mac;
use serde::Deserialize;
use std::net::IpAddr;
use toml::Spanned;

/// Most rules of a function.
const MOST_RULES: usize = 65536;
/// Most queues of a rule.
const MOST_QUEUES: usize = 128;

/// A rule. Whatever is `None` is not looked at; the first rule that matches a frame counts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SteerRule {
    /// Destination MAC address.
    pub dst_mac: Option<[u8; 6]>,
    /// Source MAC address.
    pub src_mac: Option<[u8; 6]>,
    /// Type of the payload.
    pub ether_type: Option<u16>,
    /// Number of the outer VLAN.
    pub vlan: Option<u16>,
    /// Source address, the first so many bits of it.
    pub src: Option<(IpAddr, u8)>,
    /// Destination address.
    pub dst: Option<(IpAddr, u8)>,
    /// Number of the transport protocol.
    pub protocol: Option<u8>,
    /// Source port.
    pub src_port: Option<u16>,
    /// Destination port.
    pub dst_port: Option<u16>,
    /// Numbers of the queues that share the frames by flows; none: they are dropped.
    pub queues: Vec<u16>,
    /// Word 0 of the metadata that arrives with the frame.
    pub mark: u32,
    /// Flow tag that arrives with the frame.
    pub tag: u32,
}

/// `[[card.function.steer]]`, as written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SteerEntry {
    dst_mac: Option<Spanned<String>>,
    src_mac: Option<Spanned<String>>,
    ether_type: Option<u16>,
    vlan: Option<Spanned<u16>>,
    src: Option<Spanned<String>>,
    dst: Option<Spanned<String>>,
    protocol: Option<Spanned<Protocol>>,
    src_port: Option<u16>,
    dst_port: Option<u16>,
    #[serde(default)]
    queues: Vec<u16>,
    #[serde(default)]
    drop: bool,
    #[serde(default)]
    mark: u32,
    #[serde(default)]
    tag: u32,
}

/// A transport protocol by name or number.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Protocol {
    Number(u8),
    Name(String),
}

/// The rules that the entries of a function mean.
pub(crate) fn rules(entries: &[Spanned<SteerEntry>]) -> Result<Vec<SteerRule>, Bad> {
    if let Some(extra) = entries.get(MOST_RULES) {
        return Err(bad(extra, format!("more than {MOST_RULES} steering rules")));
    }
    entries.iter().map(rule).collect()
}

fn rule(entry: &Spanned<SteerEntry>) -> Result<SteerRule, Bad> {
    let spec = entry.get_ref();
    if spec.drop != spec.queues.is_empty() {
        return Err(bad(entry, "a steering rule needs either `queues` or `drop = true`"));
    }
    if spec.queues.len() > MOST_QUEUES {
        return Err(bad(entry, format!("{} queues, allowed {MOST_QUEUES}", spec.queues.len())));
    }
    let vlan = match &spec.vlan {
        Some(vlan) if *vlan.get_ref() > 4095 => return Err(bad(vlan, "VLAN numbers are 0 to 4095")),
        vlan => vlan.as_ref().map(|vlan| *vlan.get_ref()),
    };
    Ok(SteerRule {
        dst_mac: spec.dst_mac.as_ref().map(mac).transpose()?,
        src_mac: spec.src_mac.as_ref().map(mac).transpose()?,
        ether_type: spec.ether_type,
        vlan,
        src: spec.src.as_ref().map(network).transpose()?,
        dst: spec.dst.as_ref().map(network).transpose()?,
        protocol: spec.protocol.as_ref().map(protocol).transpose()?,
        src_port: spec.src_port,
        dst_port: spec.dst_port,
        queues: spec.queues.clone(),
        mark: spec.mark,
        tag: spec.tag,
    })
}

fn mac(text: &Spanned<String>) -> Result<[u8; 6], Bad> {
    parse_mac(text.get_ref())
        .ok_or_else(|| bad(text, format!("`{}` is not an Ethernet address", text.get_ref())))
}

/// `192.0.2.0/24`, or an address.
fn network(text: &Spanned<String>) -> Result<(IpAddr, u8), Bad> {
    let wrong =
        || bad(text, format!("`{}` is neither an IP address nor a prefix like 192.0.2.0/24", text.get_ref()));
    let (address, bits) = match text.get_ref().split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse::<u8>().map_err(|_| wrong())?)),
        None => (text.get_ref().as_str(), None),
    };
    let address: IpAddr = address.parse().map_err(|_| wrong())?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    match bits.unwrap_or(most) {
        bits if bits <= most => Ok((address, bits)),
        _ => Err(wrong()),
    }
}

fn protocol(value: &Spanned<Protocol>) -> Result<u8, Bad> {
    match value.get_ref() {
        Protocol::Number(number) => Ok(*number),
        Protocol::Name(name) => match name.as_str() {
            "icmp" => Ok(1),
            "tcp" => Ok(6),
            "udp" => Ok(17),
            "icmpv6" => Ok(58),
            "sctp" => Ok(132),
            _ => Err(bad(
                value,
                format!("unknown protocol `{name}`; allowed: icmp, tcp, udp, icmpv6, sctp, a number"),
            )),
        },
    }
}
