//! Interfaces of the operating system, for functions that the topology ties to one.

use std::net::IpAddr;

/// What an interface brings along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RealInterface {
    pub(crate) index: u32,
    pub(crate) ipv4: Option<[u8; 4]>,
    pub(crate) ipv6: Option<[u8; 16]>,
    pub(crate) mac: Option<[u8; 6]>,
}

/// Looks an interface up; the error lists those that exist.
pub(crate) fn look_up(name: &str) -> Result<RealInterface, String> {
    let folder = std::path::Path::new("/sys/class/net").join(name);
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let Some(index) = read("ifindex").and_then(|text| text.trim().parse().ok()) else {
        return Err(format!(
            "there is no network interface `{name}`; those that exist: {}",
            names().join(", ")
        ));
    };
    let mut interface = RealInterface {
        index,
        ipv4: None,
        ipv6: None,
        mac: read("address").and_then(|text| parse_mac(text.trim())),
    };
    let all = if_addrs::get_if_addrs().map_err(|error| format!("cannot list network interfaces: {error}"))?;
    for address in all.into_iter().filter(|address| address.name == name) {
        match address.ip() {
            IpAddr::V4(v4) => {
                interface.ipv4.get_or_insert(v4.octets());
            }
            IpAddr::V6(v6) => {
                interface.ipv6.get_or_insert(v6.octets());
            }
        }
    }
    Ok(interface)
}

fn names() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir("/sys/class/net")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// Reads `02:53:44:50:00:01`.
pub(crate) fn parse_mac(text: &str) -> Option<[u8; 6]> {
    let mut mac = [0; 6];
    let mut parts = text.split(':');
    for byte in &mut mac {
        let part =
            parts.next().filter(|part| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit()))?;
        *byte = u8::from_str_radix(part, 16).ok()?;
    }
    parts.next().is_none().then_some(mac)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_addresses_are_read_strictly() {
        assert_eq!(parse_mac("02:53:aF:50:00:01"), Some([2, 0x53, 0xaf, 0x50, 0, 1]));
        for text in ["", "02:53:44:50:00", "02:53:44:50:00:01:02", "2:53:44:50:00:01", "02:53:44:50:00:+1"] {
            assert_eq!(parse_mac(text), None, "{text}");
        }
    }

    #[test]
    fn a_missing_interface_is_reported_with_those_that_exist() {
        let text = look_up("no-such-if").unwrap_err();
        assert!(text.contains("no-such-if"), "{text}");
        for name in names() {
            assert!(text.contains(&name), "{text}");
            let found = look_up(&name).unwrap();
            assert!(found.index > 0);
        }
    }
}
