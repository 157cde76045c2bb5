//! Which provider of the fabric carries a connection: the one that is demanded by the environment or the topology file;
//! otherwise the verbs of the RDMA device through which the line to the peer goes, where both ends have one, and TCP.

use super::meet::text;
use crate::ffi::Library;
use rustix::process::{Resource, geteuid, getrlimit};
use softdpu_card::VerbsPort;
use std::net::IpAddr;

/// What one end can use at this address of its machine, best first, separated by blanks. `named`: what is demanded.
pub(super) fn of_port(named: Option<&str>, here: IpAddr) -> String {
    of(named, || VerbsPort::at(here).is_some() && is_usable(here))
}

/// Bytes that a process may lock at least, where verbs are used unasked: each connection locks its buffers.
const LOCKABLE: u64 = 64 << 20;

/// The device may be out of a container's reach, the library may come without that provider, and who may lock little
/// would get a connection or two.
fn is_usable(here: IpAddr) -> bool {
    let limit = getrlimit(Resource::Memlock).current;
    (geteuid().is_root() || limit.is_none_or(|most| most >= LOCKABLE))
        && Library::get().is_ok_and(|library| library.offers("verbs", here))
}

fn of(named: Option<&str>, has_verbs: impl Fn() -> bool) -> String {
    match named {
        None if has_verbs() => "verbs tcp".into(),
        _ => crate::ffi::provider(named),
    }
}

/// The first of ours that is one of theirs.
///
/// # Errors
/// There is none; in words.
pub(super) fn choose(ours: &str, theirs: &[u8]) -> Result<String, String> {
    let theirs = text(theirs);
    let common = ours.split(' ').find(|one| theirs.split(' ').any(|other| other == *one));
    common.map(str::to_owned).ok_or_else(|| format!("its provider is `{theirs}`, here it is `{ours}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_taken_where_both_ends_have_them() {
        let (with, without) = (of(None, || true), of(None, || false));
        let choose = |a: &str, b: &str| choose(a, b.as_bytes());
        assert_eq!(choose(&with, &with).unwrap(), "verbs");
        assert_eq!(choose(&with, &without).unwrap(), "tcp");
        assert_eq!(choose(&without, &with).unwrap(), "tcp");
    }

    #[test]
    fn what_is_demanded_is_used_or_nothing() {
        let demanded = of(Some("tcp;ofi_rxm"), || true);
        assert_eq!(demanded, "tcp");
        assert_eq!(choose(&demanded, b"verbs tcp").unwrap(), "tcp");
        let why = choose("verbs", b"tcp").unwrap_err();
        assert!(why.contains("`tcp`") && why.contains("`verbs`"), "{why}");
        assert!(choose("tcp", b"").is_err());
        assert!(choose("tcp", b"\xff\x00").is_err());
    }
}
