//! Export descriptors: any bytes, and changed ones whose checksum was made to fit again. Run it with a
//! `SOFTDPU_RUNTIME_DIR` of its own: descriptors may name other processes, which it then asks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_card::{Machine, Reach};
use softdpu_memory::device::Device;
use softdpu_memory::{Access, Export, Memory, RemoteMemory};
use std::sync::{Arc, OnceLock};

struct Place {
    card: Arc<Device>,
    memory: Memory,
    export: Export,
}

const LEN: usize = 4096;
/// The checksum stands at the end.
const SUM: usize = 8;

fn place() -> &'static Place {
    static PLACE: OnceLock<Place> = OnceLock::new();
    PLACE.get_or_init(|| {
        let machine = Machine::builder().build().expect("a machine");
        let open = |i: usize| Device::open(machine.functions()[i].clone()).expect("a device");
        let (card, host) = (open(0), open(2));
        let memory = Memory::heap(LEN).access(Access::PCI_READ_ONLY).register(&[&host]).expect("memory");
        let export = memory.export(&host).expect("an export");
        let bytes = export.bytes();
        let (body, sum) = bytes.split_at(bytes.len() - SUM);
        assert_eq!(checksum(body), sum, "this target does not know the checksum any more");
        assert!(RemoteMemory::import(&card, bytes).is_ok(), "the genuine one");
        Place { card, memory, export }
    })
}

/// FNV-1a of 64 bits.
fn checksum(bytes: &[u8]) -> [u8; SUM] {
    let step = |sum: u64, b: &u8| (sum ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step).to_le_bytes()
}

fuzz_target!(|input: &[u8]| {
    let Place { card, memory, export } = place();
    let Some((&mode, input)) = input.split_first() else { return };
    let genuine = export.bytes();
    let bytes = if mode & 1 == 0 {
        input.to_vec()
    } else {
        let mut bytes = genuine.to_vec();
        bytes.iter_mut().zip(input).for_each(|(byte, change)| *byte ^= change);
        let (body, sum) = bytes.split_at_mut(genuine.len() - SUM);
        sum.copy_from_slice(&checksum(body));
        bytes
    };
    match RemoteMemory::import(card, &bytes) {
        // An RDMA export of another machine, as far as the bytes tell: its owner looks at them when a connection uses
        // them. Nothing of this process is reached.
        Ok(remote) if remote.reach() == Reach::Network => {
            assert!(remote.read(0, &mut [0; 1]).is_err() && remote.write(0, &[0; 1]).is_err(), "nobody was asked");
        }
        Ok(remote) => {
            let (from, len) = (remote.owner_addr(), remote.len() as u64);
            let base = memory.host_addr() as u64;
            assert!(from >= base && from + len <= base + LEN as u64, "more than was exported");
            assert!(remote.read(0, &mut [0; 1]).is_ok());
            assert!(remote.write(0, &[0; 1]).is_err(), "exported to be read alone");
        }
        Err(_) => assert!(bytes != genuine, "the genuine one was refused"),
    }
});
