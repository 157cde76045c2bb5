//! Which card an exporter uses, as processes name it to each other.

use softdpu_card::Function;
use softdpu_link::Folder;
pub use softdpu_link::Owner;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// A card as processes name it to each other: runtime folder, name and topology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Card {
    /// Number of the runtime folder.
    pub folder: u64,
    /// Number of the topology.
    pub topology: u64,
    /// The name, cut to fit and filled with zeros.
    pub name: [u8; Card::NAME],
}

impl Card {
    /// Bytes of a name.
    pub const NAME: usize = 64;

    /// The card that a function belongs to.
    pub fn of(function: &Function) -> Card {
        let text = function.card().name().as_bytes();
        let mut name = [0; Card::NAME];
        let n = text.len().min(Card::NAME);
        name[..n].copy_from_slice(&text[..n]);
        // Without a usable folder nobody else finds this process: its path will do.
        let path = || super::descriptor::checksum(Folder::path_from_environment().as_os_str().as_bytes());
        let folder = Folder::of_process().map_or_else(|_| path(), Folder::number);
        Card { folder, topology: function.card().topology_hash(), name }
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.name.iter().position(|&b| b == 0).unwrap_or(Card::NAME);
        let name = String::from_utf8_lossy(&self.name[..end]);
        write!(f, "card `{name}` (topology {:#018x}, runtime folder {:#018x})", self.topology, self.folder)
    }
}
