//! Doors: ports of the machine where peers on other machines ask for connections.
//!
//! A process has one for descriptions of its connections, and one for each port that a connection manager listens to.

use super::hub;
use super::line::Line;
use super::meet::Role;
use crate::control::{Control, lock};
use crate::sync::{AtomicU64, Ordering};
use softdpu_card::RdmaPath;
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

/// How long a stranger may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// A door.
pub(super) struct Door {
    number: u64,
    pub(super) listener: TcpListener,
    /// Whose connection manager listens; none for descriptions.
    manager: Option<(Weak<Control>, u16)>,
}

static NEXT: AtomicU64 = AtomicU64::new(0);

impl Door {
    pub(super) fn accept(&self, now: Instant) -> Option<Line> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    let role = Role::Stranger { manager: self.manager.clone() };
                    if let Ok(line) = Line::new(stream, role, now + PATIENCE) {
                        return Some(line);
                    }
                }
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return None,
                Err(error) => {
                    // No descriptors, most likely: whoever waits at the door waits on.
                    log::warn!(target: crate::LOG, "network: a peer cannot be let in: {error}");
                    std::thread::sleep(Duration::from_millis(10));
                    return None;
                }
            }
        }
    }
}

/// A door that is closed when this is dropped.
#[derive(Debug)]
pub(crate) struct Listening(u64);

impl Drop for Listening {
    fn drop(&mut self) {
        let number = self.0;
        let _ = hub::call(move |this| this.doors.retain(|door| door.number != number));
    }
}

fn open(port: u16, manager: Option<(Weak<Control>, u16)>) -> std::io::Result<(u16, Listening)> {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port))
        .or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let door = Door { number, listener, manager };
    hub::call(move |this| this.doors.push(door)).map_err(|error| std::io::Error::other(error.what()))?;
    Ok((port, Listening(number)))
}

/// Listens to a port of the machine, too. None: the port is another program's or another device's, or the network is not
/// wanted.
pub(crate) fn listen(control: &Arc<Control>, port: u16) -> Option<Listening> {
    if RdmaPath::of_process() == RdmaPath::Local {
        return None;
    }
    match open(port, Some((Arc::downgrade(control), port))) {
        Ok((_, listening)) => Some(listening),
        Err(error) => {
            log::info!(target: crate::LOG, "port {port} of the machine: {error}; only peers on this machine are heard");
            None
        }
    }
}

/// Where this process can be reached from other machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Reachable {
    pub(crate) port: u16,
    pub(crate) v4: [u8; 4],
    pub(crate) v6: [u8; 16],
}

impl Reachable {
    /// The addresses to try, best first.
    pub(super) fn addresses(self) -> Vec<(IpAddr, u16)> {
        let (v4, v6) = (Ipv4Addr::from(self.v4), Ipv6Addr::from(self.v6));
        let v4 = (!v4.is_unspecified()).then_some((IpAddr::V4(v4), self.port));
        let v6 = (!v6.is_unspecified()).then_some((IpAddr::V6(v6), self.port));
        if self.port == 0 { Vec::new() } else { v4.into_iter().chain(v6).collect() }
    }
}

/// The door for descriptions; made when it is first asked for. Nothing when there is none.
pub(crate) fn reachable(control: &Control) -> Reachable {
    static DOOR: Mutex<Option<(u32, u16, Listening)>> = Mutex::new(None);
    if RdmaPath::of_process() == RdmaPath::Local {
        return Reachable::default();
    }
    let mut door = lock(&DOOR);
    let here = std::process::id();
    if door.as_ref().is_none_or(|(process, ..)| *process != here) {
        match open(0, None) {
            Ok((port, listening)) => *door = Some((here, port, listening)),
            Err(error) => {
                log::warn!(target: crate::LOG, "peers on other machines cannot connect: {error}");
                return Reachable::default();
            }
        }
    }
    let port = door.as_ref().map_or(0, |&(_, port, _)| port);
    let (v4, v6) = addresses(control.device().function().ipv4());
    Reachable { port, v4: v4.octets(), v6: v6.octets() }
}

/// Variable that names the address at which others reach this machine.
const ADDRESS: &str = "SOFTDPU_RDMA_ADDRESS";

/// Addresses at which others reach this machine: that of the device's interface, if it has one; otherwise the first ones
/// of the machine that are not its own ends alone. Zeros where there is none.
fn addresses(device: Option<[u8; 4]>) -> (Ipv4Addr, Ipv6Addr) {
    let mut found = (Ipv4Addr::UNSPECIFIED, Ipv6Addr::UNSPECIFIED);
    match std::env::var(ADDRESS).unwrap_or_default().parse() {
        Ok(IpAddr::V4(v4)) => return (v4, found.1),
        Ok(IpAddr::V6(v6)) => return (found.0, v6),
        Err(_) => {}
    }
    let own = |ip: IpAddr| UdpSocket::bind((ip, 0)).is_ok();
    let device = device.map(Ipv4Addr::from).filter(|&v4| own(v4.into()));
    let trie = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    found.0 = device.or_else(|| local_v4(&trie)).unwrap_or(Ipv4Addr::LOCALHOST);
    let list = std::fs::read_to_string("/proc/net/if_inet6").unwrap_or_default();
    found.1 = global_v6(&list).unwrap_or(Ipv6Addr::UNSPECIFIED);
    found
}

/// The first address of the machine in the kernel's routing trie that is not a loopback one.
fn local_v4(trie: &str) -> Option<Ipv4Addr> {
    let mut last = None;
    trie.lines().find_map(|line| {
        if let Some(text) = line.trim_start().strip_prefix("|-- ") {
            last = text.parse::<Ipv4Addr>().ok();
        }
        last.filter(|v4| line.contains("/32 host LOCAL") && !v4.is_loopback())
    })
}

/// The first address of global scope in the kernel's list.
fn global_v6(list: &str) -> Option<Ipv6Addr> {
    list.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let address = u128::from_str_radix(words.next()?, 16).ok()?;
        // Then its interface, the length of its prefix, and its scope.
        (words.nth(2)? == "00").then(|| Ipv6Addr::from(address)).filter(|v6| !v6.is_loopback())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_lists_are_read() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     \
                    +-- 127.0.0.0/8 2 0 2\n           |-- 127.0.0.1\n              /32 host LOCAL\n        \
                    |-- 192.0.2.0\n           /24 link UNICAST\n           |-- 192.0.2.7\n              /32 host LOCAL\n";
        assert_eq!(local_v4(trie), Some(Ipv4Addr::new(192, 0, 2, 7)));
        assert_eq!(local_v4(""), None);
        let list = "00000000000000000000000000000001 01 80 10 80       lo\n\
                    fe80000000000000aa00000000000001 02 40 20 80     eth0\n\
                    20010db8000000000000000000000007 02 40 00 80     eth0\n";
        assert_eq!(global_v6(list), Some("2001:db8::7".parse().unwrap()));
        assert_eq!(global_v6("nonsense"), None);
    }
}
