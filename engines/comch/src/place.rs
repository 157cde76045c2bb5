//! Where servers are found: one name per card, host function and server.

use softdpu_card::Function;

/// Host functions of a machine have numbers below this; looking for the right one asks each.
pub(crate) const MOST_FUNCTIONS: u16 = 256;

/// The name that a server listens on for clients on the host function with this number, and that those call.
///
/// The runtime folder is the border of a machine already; card and topology tell apart processes of one folder that see
/// different cards.
pub(crate) fn name(card: &Function, host_function: u16, server: &[u8]) -> String {
    let (topology, name) = (card.card().topology_hash(), card.card().name());
    format!("comch {topology:016x} {} {host_function} {}", name.escape_default(), server.escape_ascii())
}
