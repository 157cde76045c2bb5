//! Which card an exporter uses, as processes name it to each other.

use softdpu_card::Function;
pub(crate) use softdpu_link::Owner;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

/// A card as processes name it to each other: runtime folder, name and topology.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Card {
    /// Number of the runtime folder's path.
    pub(crate) folder: u64,
    /// Number of the topology.
    pub(crate) topology: u64,
    /// The name, cut to fit and filled with zeros.
    pub(crate) name: [u8; Card::NAME],
}

impl Card {
    /// Bytes of a name.
    pub(crate) const NAME: usize = 64;

    /// The card that a function belongs to.
    pub(crate) fn of(function: &Function) -> Card {
        let text = function.card().name().as_bytes();
        let mut name = [0; Card::NAME];
        let n = text.len().min(Card::NAME);
        name[..n].copy_from_slice(&text[..n]);
        let folder =
            super::descriptor::checksum(softdpu_link::Folder::path_from_environment().as_os_str().as_bytes());
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
