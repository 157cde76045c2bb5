//! The session that the command's own programs run in.

use softdpu::Session;
use softdpu::card::Machine;

/// A session on this machine, with the card's workers.
pub(crate) fn open(machine: Machine) -> Session {
    Session::new(machine, softdpu_board::threads())
}
