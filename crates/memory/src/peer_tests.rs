use super::*;
use crate::node::Store;
use crate::region::GUARDED;

/// An address of the owner must never be taken for one of this process, also while the region is being closed.
#[test]
fn memory_that_is_not_mapped_is_never_changed_in_place() {
    let cell = AtomicU64::new(7);
    let (base, region) = (cell.as_ptr() as usize, Region::closed());
    region.open(base, 8, 0, FAR | GUARDED | PEER_ATOMIC);
    let store = Store::new();
    store.expand(1).unwrap();
    let node = store.take(&region).unwrap();
    node.aim(base, 8, base, 8);
    let mark = region.touch().unwrap();
    assert_eq!(place(node).unwrap_err().code(), Code::NotSupported);
    // What another thread does when it finds that the owner took it back.
    region.access.store(0, SeqCst);
    assert_eq!(place(node).unwrap_err().code(), Code::NotSupported);
    drop(mark);
    node.give_back_list();
    store.dissolve();
}

/// The straight way moves what it may, and leaves everything else to the checks, touching nothing.
#[test]
fn the_straight_way_takes_what_has_nothing_against_it() {
    use crate::region::{CAN_READ, CAN_WRITE, SHARED};
    const DEVICE: u64 = 1 << 20;
    let (near, far) = (Region::closed(), Region::closed());
    let (mut mine, mut theirs) = ((0..=255).collect::<Vec<u8>>(), vec![9u8; 256]);
    let (here, there) = (mine.as_mut_ptr().expose_provenance(), theirs.as_mut_ptr().expose_provenance());
    let store = Store::new();
    store.expand(3).unwrap();
    let node = |region, at, data| {
        let node = store.take(region).unwrap();
        node.aim(at, 256, at, data);
        node
    };
    near.open(here, 256, 0, CAN_READ | CAN_WRITE | DEVICE);
    let peers = PEER_READ | PEER_WRITE;
    far.open(there, 256, 0, SHARED | peers | DEVICE);
    let (local, remote, extra) = (node(&near, here, 64), node(&far, there, 32), node(&near, here, 0));
    let gate = Gate::new(DEVICE, 1 << 20, 4);
    let write = |most| write_lone(local, remote, &gate, DEVICE, most);
    let read = |most| read_lone(remote, local, &gate, DEVICE, most);
    // Another device, more than asked for, a list.
    assert!(write_lone(local, remote, &gate, DEVICE << 1, 4096).is_none());
    assert!(write(63).is_none() && read(31).is_none());
    Node::link(local, extra);
    assert!(write(4096).is_none() && read(4096).is_none());
    extra.cut();
    // Rights, and where the memory lies.
    for (word, writes, reads) in
        [(PEER_READ, false, true), (PEER_WRITE, true, false), (0, false, false), (peers | FAR, false, false)]
    {
        far.access.store(0, SeqCst);
        far.open(there, 256, 0, SHARED | DEVICE | word);
        assert_eq!(
            (is_lone_write(local, remote, &gate, DEVICE), is_lone_read(remote, local, &gate, DEVICE)),
            (writes, reads)
        );
    }
    far.open(there, 256, 0, SHARED | peers | DEVICE);
    assert_eq!(write(4096), Some(64));
    assert_eq!((theirs[63], theirs[64]), (63, 9));
    assert_eq!(read(4096), Some(32));
    assert_eq!((local.data_len(), mine[63], mine[64], mine[95], mine[96]), (96, 63, 0, 31, 96));
    // No data, no space.
    local.aim(here, 256, here, 0);
    assert!(write(4096).is_none());
    local.aim(here, 256, here, 250);
    assert!(read(4096).is_none());
    [local, remote, extra].into_iter().for_each(Node::give_back_list);
    store.dissolve();
}
