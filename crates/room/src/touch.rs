//! What a task has to do with besides its context: memory, and peers. Engines tell it to deciders that choose tasks by it;
//! nobody else asks.

use core::net::IpAddr;
use softdpu_memory::node::{Lent, Node};

/// Memory that a task reads or may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The number of its map, from 1, in the order in which maps were started or imported first; 0: it is in none.
    pub map: u32,
    /// First address of the map.
    pub base: usize,
    /// First address.
    pub start: usize,
    /// Bytes.
    pub len: usize,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The process; 0 where that is not known.
    pub process: u32,
    /// The network address of its card, where the connection was made by one.
    pub address: Option<IpAddr>,
}

/// One of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// Memory.
    Memory(Span),
    /// A peer: of a connection, or the process that exported memory.
    Peer(Peer),
}

/// Takes what is told.
pub type Tell<'a> = &'a mut dyn FnMut(Touch);

/// Tells of the data of a list of buffers, which is read.
pub fn source(list: Lent, tell: Tell<'_>) {
    each(list, tell, |node| (node.data(), node.data_len()));
}

/// Tells of the room behind the data of a list of buffers, which may be written.
pub fn destination(list: Lent, tell: Tell<'_>) {
    each(list, tell, |node| (node.tail(), node.room()));
}

/// Tells of a list of buffers from where their data begins on, which peers may write.
pub fn target(list: Lent, tell: Tell<'_>) {
    each(list, tell, |node| (node.data(), (node.addr() + node.len()).saturating_sub(node.data())));
}

/// Tells of bytes in no map.
pub fn bytes(start: usize, len: usize, tell: Tell<'_>) {
    tell(Touch::Memory(Span { map: 0, base: 0, start, len }));
}

/// Tells of a process at the other end; of nobody for 0.
pub fn process(process: u32, tell: Tell<'_>) {
    if process != 0 {
        tell(Touch::Peer(Peer { process, address: None }));
    }
}

fn each(list: Lent, tell: Tell<'_>, span: impl Fn(&Node) -> (usize, usize)) {
    for node in list.node().into_iter().flat_map(Node::list) {
        let (start, len) = span(node);
        let region = node.region();
        tell(Touch::Memory(Span { map: region.number(), base: region.base(), start, len }));
        process(region.exporter(), tell);
    }
}
