//! RDMA devices of the machine: which of its addresses a NIC with verbs has, so that connections from there can leave
//! through it. Read from what the kernel shows of them; a kernel without RDMA shows nothing.

use std::collections::BTreeMap;
use std::fs::read_to_string;
use std::net::IpAddr;
use std::path::Path;

/// A port of an RDMA device with a network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerbsPort {
    /// The device, such as `mlx5_0`.
    pub device: String,
    /// The port's number, from 1.
    pub port: u32,
    /// Its network interface, such as `eth0`.
    pub interface: String,
    /// The addresses of that.
    pub addresses: Vec<IpAddr>,
}

impl VerbsPort {
    /// The ports that carry traffic now, sorted by name. Looks at the machine each time: devices come and go.
    pub fn all() -> Vec<VerbsPort> {
        let found = active(Path::new("/sys"));
        if found.is_empty() {
            return Vec::new();
        }
        let all = if_addrs::get_if_addrs().unwrap_or_default();
        let of = |name: &str| all.iter().filter(|a| a.name == name).map(|a| a.ip()).collect();
        let port = |((device, port), interface): ((String, u32), String)| {
            let addresses = of(&interface);
            VerbsPort { device, port, interface, addresses }
        };
        found.into_iter().map(port).collect()
    }

    /// The port through which traffic from this address of the machine can leave.
    pub fn at(address: IpAddr) -> Option<VerbsPort> {
        VerbsPort::all().into_iter().find(|port| port.addresses.contains(&address.to_canonical()))
    }
}

/// Device, port and interface of those that are up.
fn active(sys: &Path) -> BTreeMap<(String, u32), String> {
    let mut found = BTreeMap::new();
    for device in names(&sys.join("class/infiniband")) {
        let ports = sys.join("class/infiniband").join(&device).join("ports");
        for port in names(&ports) {
            let Ok(number) = port.parse() else { continue };
            let folder = ports.join(&port);
            let state = read_to_string(folder.join("state")).unwrap_or_default();
            if !state.trim_end().ends_with("ACTIVE") {
                continue;
            }
            if let Some(interface) = interface(sys, &device, number, &folder) {
                found.insert((device.clone(), number), interface);
            }
        }
    }
    found
}

/// The interface that entries of the port's table of addresses belong to; of devices without such a table, the one that
/// shares the device, and its number there.
fn interface(sys: &Path, device: &str, port: u32, folder: &Path) -> Option<String> {
    let table = folder.join("gid_attrs/ndevs");
    let named = |entry: String| read_to_string(table.join(entry)).ok().map(|text| text.trim().to_owned());
    let from_table = names(&table).into_iter().filter_map(named).find(|name| !name.is_empty());
    from_table.or_else(|| {
        let shares = |name: &String| {
            let own = sys.join("class/net").join(name);
            let number = read_to_string(own.join("dev_port")).ok().and_then(|text| text.trim().parse().ok());
            own.join("device/infiniband").join(device).exists() && number == port.checked_sub(1)
        };
        names(&sys.join("class/net")).into_iter().find(shares)
    })
}

/// What a folder has, sorted.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_that_are_up_are_found_with_their_interfaces() {
        let sys = std::env::temp_dir().join(format!("softdpu-verbs-{}", std::process::id()));
        let put = |path: &str, text: &str| {
            let path = sys.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        assert!(active(&sys).is_empty(), "no such folders");
        put("class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n");
        put("class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "v0\n");
        put("class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n");
        put("class/infiniband/mlx5_1/ports/1/gid_attrs/ndevs/0", "eth1\n");
        put("class/infiniband/mlx4_0/ports/2/state", "4: ACTIVE\n");
        put("class/infiniband/mlx4_0/ports/1/state", "4: ACTIVE\n");
        for (name, port) in [("ib0", "0\n"), ("ib1", "1\n")] {
            put(&format!("class/net/{name}/dev_port"), port);
            put(&format!("class/net/{name}/device/infiniband/mlx4_0/node_desc"), "");
        }
        let found: Vec<_> = active(&sys).into_iter().map(|((d, p), i)| format!("{d}/{p} {i}")).collect();
        std::fs::remove_dir_all(&sys).unwrap();
        assert_eq!(found, ["mlx4_0/1 ib0", "mlx4_0/2 ib1", "rxe0/1 v0"]);
    }

    #[test]
    fn addresses_that_no_port_has_lead_nowhere() {
        assert_eq!(VerbsPort::at("192.0.2.1".parse().unwrap()), None);
    }
}
