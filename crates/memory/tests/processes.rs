//! Memory of another process: every reach, every right, every way in which it can end.
#![cfg(not(miri))]

mod common;
#[path = "common/peer.rs"]
mod peer;

use peer::{Owner, card, host, in_own_folder, pattern};
use softdpu_memory::buf::Lend;
use softdpu_memory::copy::{Gate, transfer};
use softdpu_memory::export::{self, Kind};
use softdpu_memory::{Access, Memory, Reach, RemoteMemory};
use softdpu_status::Code;
use std::time::{Duration, Instant};

#[test]
#[ignore = "started by the other tests as a second process"]
fn owner_process() {
    peer::owner_process();
}

/// Each test runs in a process and a runtime folder of its own.
macro_rules! isolated {
    ($($(#[$doc:meta])* $name:ident, $inner:ident: $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            common::watchdog();
            in_own_folder(stringify!($inner));
        }

        #[test]
        #[ignore = "run in a process of its own"]
        fn $inner() {
            common::watchdog();
            $body
        }
    )*};
}

const PCI_RW: Access = Access::PCI_READ_WRITE;
const LEN: usize = 300_000;

fn reaches() -> [(&'static str, Reach); 3] {
    [("mapped", Reach::Mapped), ("kernel", Reach::KernelCopy), ("worker", Reach::Worker)]
}

/// The card's first function on a machine where this reach is demanded.
fn card_with(reach: Reach) -> std::sync::Arc<softdpu_memory::device::Device> {
    let machine = softdpu_card::Machine::builder().reach(reach).build().unwrap();
    let function = machine.functions().iter().find(|f| f.side() == softdpu_card::Side::Dpu).unwrap();
    softdpu_memory::device::Device::open(function.clone()).unwrap()
}

/// Are dmabufs real ones on this machine?
fn makes_dmabufs() -> bool {
    std::path::Path::new("/dev/udmabuf").exists()
}

/// Copies there and back through engines' routines, lists of odd pieces on both sides.
fn there_and_back(
    device: &std::sync::Arc<softdpu_memory::device::Device>,
    remote: &RemoteMemory,
    owner: &mut Owner,
) {
    let gate = Gate::new(device.bit(), 1 << 30, 64);
    let memory = Memory::heap(LEN).access(Access::LOCAL_READ_WRITE).register(&[device]).unwrap();
    let cut = |at: [usize; 3]| {
        let mut list = remote.buf(..at[0]).unwrap();
        for range in [at[0]..at[1], at[1]..at[2], at[2]..LEN] {
            list.chain(remote.buf(range).unwrap());
        }
        list
    };
    // Fetch.
    let mut src = cut([1, 4097, 100_000]);
    src.node().list().for_each(|n| n.set_data(n.addr(), n.len()).unwrap());
    let (mut dst, tail) = (memory.buf(..77_777).unwrap(), memory.buf(77_777..).unwrap());
    dst.chain(tail);
    assert_eq!(transfer(src.node(), dst.node(), &gate).unwrap(), LEN as u64);
    let got = dst.to_vec();
    assert!((0..LEN).all(|i| got[i] == pattern(i)));
    // Store, changed.
    for mut element in dst.elements_mut() {
        element.as_mut_slice().unwrap().iter_mut().for_each(|b| *b ^= 0x5a);
    }
    src = cut([3, 5000, 299_999]);
    src.reset();
    assert_eq!(transfer(dst.node(), src.node(), &gate).unwrap(), LEN as u64);
    let theirs = peer::unhex(&owner.tell(&format!("peek 0 {LEN}")));
    assert!((0..LEN).all(|i| theirs[i] == pattern(i) ^ 0x5a));
    // From there to there.
    let from = remote.buf(..1000).unwrap();
    from.node().set_data(from.node().addr(), 1000).unwrap();
    let to = remote.buf(200_000..).unwrap();
    assert_eq!(transfer(from.node(), to.node(), &gate).unwrap(), 1000);
    let theirs = peer::unhex(&owner.tell("peek 200000 1000"));
    assert!((0..1000).all(|i| theirs[i] == pattern(i) ^ 0x5a));
}

isolated! {
    every_reach_moves_bytes_both_ways, every_reach: {
        for (name, reach) in reaches() {
            let device = card_with(reach);
            for kind in ["heap", "dmabuf"] {
                let mut owner = Owner::start();
                let letter = owner.export(kind, LEN, PCI_RW, "pci");
                let imported = RemoteMemory::import(&device, &letter);
                if kind == "dmabuf" && makes_dmabufs() && reach == Reach::KernelCopy {
                    // Between processes the kernel copies no pages but those that it manages itself.
                    assert_eq!(imported.unwrap_err().code(), Code::NotSupported);
                    continue;
                }
                let remote = imported.unwrap();
                assert_eq!((remote.reach(), remote.reach().name(), remote.len()), (reach, name, LEN));
                assert_eq!((remote.owner(), remote.access()), (owner.child.id(), PCI_RW));
                there_and_back(&device, &remote, &mut owner);
                assert_eq!(remote.read(LEN - 5, &mut [0; 6]).unwrap_err().code(), Code::InvalidValue);
                drop(remote);
                assert_eq!(owner.tell("stop"), "stopped");
                owner.finish();
            }
        }
    }

    /// Process numbers mean nothing in another namespace: what is copied from is the process that answered.
    an_owner_in_another_process_namespace, other_namespace: {
        let unshare = || {
            let mut command = std::process::Command::new("unshare");
            command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
            command
        };
        if !unshare().arg("true").status().is_ok_and(|status| status.success()) {
            println!("skipped: no process namespaces for this user here");
            return;
        }
        let mut owner = Owner::start_under(unshare());
        let letter = owner.export("vec", LEN, PCI_RW, "pci");
        match RemoteMemory::import(&card_with(Reach::KernelCopy), &letter) {
            Ok(remote) => {
                assert_ne!(remote.owner(), owner.child.id(), "it has another number there");
                let mut got = vec![0; 1000];
                remote.read(0, &mut got).unwrap();
                assert!((0..1000).all(|i| got[i] == pattern(i)));
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// Without a demand: what can be mapped is mapped, the rest is copied by the kernel where it lets us.
    the_best_reach_is_taken, best_reach: {
        let device = card();
        for (kind, expected) in [("heap", Reach::Mapped), ("memfd", Reach::Mapped), ("huge", Reach::Mapped), ("dmabuf", Reach::Mapped), ("vec", Reach::KernelCopy)] {
            let mut owner = Owner::start();
            let letter = owner.export(kind, LEN, PCI_RW, "pci");
            let remote = RemoteMemory::import(&device, &letter).unwrap();
            if expected == Reach::KernelCopy && remote.reach() == Reach::Worker {
                println!("skipped: the kernel lets nobody copy here");
            } else {
                assert_eq!(remote.reach(), expected, "{kind}");
            }
            there_and_back(&device, &remote, &mut owner);
        }
        // There are no descriptors of dmabufs that can only be read.
        let mut owner = Owner::start();
        let letter = owner.export("dmabuf", LEN, Access::PCI_READ_ONLY, "pci");
        let remote = RemoteMemory::import(&device, &letter).unwrap();
        assert_eq!(remote.reach(), if makes_dmabufs() { Reach::Worker } else { Reach::Mapped });
        let mut got = vec![0; 1000];
        remote.read(5000, &mut got).unwrap();
        assert!((0..1000).all(|i| got[i] == pattern(5000 + i)));
        // A reach that cannot be is refused, not replaced.
        let mut owner = Owner::start();
        let letter = owner.export("vec", LEN, PCI_RW, "pci");
        let error = RemoteMemory::import(&card_with(Reach::Mapped), &letter).unwrap_err();
        assert_eq!(error.code(), Code::NotSupported);
    }

    stop_and_death_of_the_owner_fail_accesses, ends: {
        for (_, reach) in reaches() {
            for how in ["stop", "free", "kill"] {
                let device = card_with(reach);
                let mut owner = Owner::start();
                let letter = owner.export("heap", LEN, PCI_RW, "pci");
                let remote = RemoteMemory::import(&device, &letter).unwrap();
                let mut byte = [0];
                remote.read(7, &mut byte).unwrap();
                assert_eq!(byte[0], pattern(7));
                if how == "kill" {
                    owner.kill();
                    // Mapped memory stays until the news is here.
                    let start = Instant::now();
                    while remote.write(0, &[1]).is_ok() {
                        assert!(start.elapsed() < Duration::from_secs(60));
                        std::thread::sleep(Duration::from_millis(1));
                    }
                } else {
                    owner.tell(how);
                }
                let code = remote.read(7, &mut byte).unwrap_err().code();
                assert!(matches!(code, Code::InvalidValue | Code::IoFailed), "{reach} {how}: {code:?}");
                assert_eq!(RemoteMemory::import(&device, &letter).unwrap_err().code(), Code::InvalidValue);
                // Tasks fail, and nothing grows.
                let memory = Memory::heap(64).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
                let mut src = remote.buf(..64).unwrap();
                src.set_data(..).unwrap();
                let dst = memory.buf(..).unwrap();
                let gate = Gate::new(device.bit(), 1 << 30, 64);
                assert!(transfer(src.node(), dst.node(), &gate).is_err());
                assert_eq!(dst.data_len(), 0);
            }
        }
    }

    forged_stale_and_strange_descriptors_are_refused, forged: {
        let device = card();
        let mut owner = Owner::start();
        let good = owner.export("heap", LEN, PCI_RW, "pci");
        let code = |bytes: &[u8]| RemoteMemory::import(&device, bytes).unwrap_err().code();
        for at in 0..good.len() {
            let mut bent = good.clone();
            bent[at] ^= 1 << (at % 8);
            assert_eq!(code(&bent), Code::InvalidValue, "byte {at}");
            assert_eq!(code(&good[..at]), Code::InvalidValue);
            // The same with a checksum that fits: the owner has to find it.
            let body = bent.len() - 8;
            let sum = export::checksum(&bent[..body]);
            bent[body..].copy_from_slice(&sum.to_le_bytes());
            if at < body {
                assert_eq!(code(&bent), Code::InvalidValue, "byte {at} with checksum");
            }
        }
        let remote = RemoteMemory::import(&device, &good).unwrap();
        remote.write(0, b"still fine").unwrap();
        assert_eq!(owner.tell("peek 0 10"), peer::hex(b"still fine"));
        // After a stop they are dead for good, also when the memory is exported again.
        owner.tell("stop");
        assert_eq!(code(&good), Code::InvalidValue);
        let again = owner.export("heap", LEN, PCI_RW, "pci");
        assert_ne!(good, again);
        assert_eq!(code(&good), Code::InvalidValue);
        RemoteMemory::import(&device, &again).unwrap();
    }

    /// Cell by cell: what a mask allows an importer, for both kinds of export.
    rights_follow_the_mask, rights: {
        let device = card();
        let local = Access::LOCAL_READ_WRITE;
        let (ro, rw) = (Access::PCI_READ_ONLY, PCI_RW);
        let (r, w, a) = (Access::RDMA_READ, Access::RDMA_WRITE, Access::RDMA_ATOMIC);
        for (_, reach) in reaches() {
            let device_of = card_with(reach);
            for (mask, link, reads, writes) in [
                (ro, "pci", true, false), (ro | local, "pci", true, false), (rw, "pci", true, true),
                (rw | local | r, "pci", true, true), (ro | w, "pci", true, false),
                (r, "rdma", true, false), (w, "rdma", false, true), (a, "rdma", true, true),
                (r | w, "rdma", true, true), (rw | r, "rdma", true, false),
            ] {
                let mut owner = Owner::start();
                let letter = owner.export("heap", LEN, mask, link);
                let remote = RemoteMemory::import(&device_of, &letter).unwrap();
                let allowed = |outcome: softdpu_status::Result<()>| match outcome {
                    Ok(()) => true,
                    Err(e) => {
                        assert_eq!(e.code(), Code::NotPermitted);
                        false
                    }
                };
                assert_eq!(allowed(remote.read(1, &mut [0; 9])), reads, "{mask:?} {link} {reach}");
                assert_eq!(allowed(remote.write(1, &[7; 9])), writes, "{mask:?} {link} {reach}");
                let expected = if writes { [7; 9] } else { core::array::from_fn(|i| pattern(i + 1)) };
                assert_eq!(owner.tell("peek 1 9"), peer::hex(&expected));
                // Engines with buffers: over PCI only.
                let gate = Gate::new(device_of.bit(), 1 << 30, 64);
                let here = Memory::heap(64).access(local).register(&[&device_of]).unwrap();
                let (mut mine, mut theirs) = (here.buf(..).unwrap(), remote.buf(..64).unwrap());
                theirs.set_data(..).unwrap();
                let fetched = transfer(theirs.node(), mine.node(), &gate).map_err(|e| e.code());
                let refused = Err(Code::NotPermitted);
                assert_eq!(fetched, if link == "pci" { Ok(64) } else { refused }, "{mask:?} {link}");
                mine.set_data(..).unwrap();
                theirs.reset();
                let stored = transfer(mine.node(), theirs.node(), &gate).map_err(|e| e.code());
                assert_eq!(stored, if link == "pci" && writes { Ok(64) } else { refused }, "{mask:?} {link}");
            }
        }
        drop(device);
    }

    many_processes_import_the_same_memory, many: {
        const EACH: usize = 1000;
        let host = host();
        let memory = Memory::heap(64 * EACH).access(PCI_RW).register(&[&host]).unwrap();
        let export = memory.export(&host).unwrap();
        let children: Vec<_> = (0..64)
            .map(|i| {
                let mut command = peer::again("many_importer");
                command.env("SOFTDPU_TEST_LETTER", format!("{i} {}", peer::hex(export.bytes())));
                command.stdout(std::process::Stdio::null()).spawn().unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let buf = memory.buf(..).unwrap();
        let mut bytes = vec![0; 64 * EACH];
        buf.read_at(0, &mut bytes).unwrap();
        assert!(bytes.chunks(EACH).enumerate().all(|(i, piece)| piece.iter().all(|&b| b == i as u8 + 1)));
        drop(export);
    }

    imported_memory_is_exported_once_more, chain: {
        for (_, reach) in reaches() {
            let device = card_with(reach);
            let (mut first, mut second) = (Owner::start(), Owner::start());
            let letter = first.export("heap", LEN, PCI_RW | Access::RDMA_READ | Access::RDMA_WRITE, "pci");
            let answer = second.tell(&format!("pass_on {}", peer::hex(&letter)));
            let onward = peer::unhex(answer.split_once(' ').unwrap().1);
            let remote = RemoteMemory::import(&device, &onward).unwrap();
            assert_eq!((remote.reach(), remote.owner()), (reach, second.child.id()));
            let mut byte = [0];
            remote.read(123, &mut byte).unwrap();
            assert_eq!(byte[0], pattern(123));
            remote.write(5, b"across three").unwrap();
            assert_eq!(first.tell("peek 5 12"), peer::hex(b"across three"));
            // The one in the middle ends it, or the first.
            if reach == Reach::KernelCopy {
                second.tell("end_pass_on");
            } else {
                first.tell("stop");
            }
            assert_eq!(remote.read(123, &mut byte).unwrap_err().code(), Code::InvalidValue);
            assert_eq!(RemoteMemory::import(&device, &onward).unwrap_err().code(), Code::InvalidValue);
        }
    }

    a_gibibyte_is_imported_in_no_time, gibibyte: {
        let device = card();
        let mut owner = Owner::start();
        let len = (1 << 30) + 4097;
        let letter = owner.export("memfd", len, PCI_RW, "pci");
        let start = Instant::now();
        let remote = RemoteMemory::import(&device, &letter).unwrap();
        println!("import of {len} bytes: {:?}", start.elapsed());
        assert_eq!(remote.reach(), Reach::Mapped);
        remote.write(len - 3, b"end").unwrap();
        assert_eq!(owner.tell(&format!("peek {} 3", len - 3)), peer::hex(b"end"));
        assert_eq!(remote.write(len - 2, b"end").unwrap_err().code(), Code::InvalidValue);
    }

    /// The border is the user: whoever has the bytes but another number gets nothing.
    another_user_is_refused, stranger: {
        if !rustix::process::geteuid().is_root() {
            println!("skipped: only root can become somebody else");
            return;
        }
        let host = host();
        let memory = Memory::heap(LEN).access(PCI_RW).register(&[&host]).unwrap();
        let export = memory.export(&host).unwrap();
        // The folder keeps strangers out; that sockets do, too, is tested where they are made.
        let output = std::process::Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(std::env::current_exe().unwrap())
            .args(["stranger_importer", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env("SOFTDPU_TEST_LETTER", peer::hex(export.bytes()))
            .output();
        let Ok(output) = output else {
            println!("skipped: no setpriv here");
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if text.contains("ermission denied") && !text.contains("stranger:") {
            println!("skipped: strangers cannot run this program: {text}");
            return;
        }
        assert!(text.contains("stranger: refused"), "{text}");
        assert_eq!(export::exports()[0].importers, 0);
    }

    /// Inside one process every operation of the DMA kind is decided by the mask, cell by cell.
    local_operations_follow_the_mask, local_rights: {
        let host = host();
        let gate = Gate::new(host.bit(), 1 << 30, 64);
        let whole = Memory::heap(64).access(Access::LOCAL_READ_WRITE).register(&[&host]).unwrap();
        for bits in 0..0x80 {
            let Ok(access) = Access::from_bits(bits) else { continue };
            let memory = Memory::heap(64).access(access).register(&[&host]).unwrap();
            // Devices of this process read with every mask, and write with LOCAL_READ_WRITE.
            let (mut src, dst) = (memory.buf(..).unwrap(), whole.buf(..).unwrap());
            src.set_data(..).unwrap();
            assert_eq!(transfer(src.node(), dst.node(), &gate), Ok(64), "{access:?}");
            drop(src);
            let (mut src, dst) = (dst, memory.buf(..).unwrap());
            src.set_data(..).unwrap();
            let wrote = transfer(src.node(), dst.node(), &gate).map_err(|e| e.code());
            let may = access.contains(Access::LOCAL_READ_WRITE);
            assert_eq!(wrote, if may { Ok(64) } else { Err(Code::NotPermitted) }, "{access:?}");
            drop((src, dst));
            // Exports, and what an import of each kind allows.
            for (export, reads, writes) in [
                (memory.export(&host), Access::PCI_READ_ONLY | Access::PCI_READ_WRITE, Access::PCI_READ_WRITE),
                (memory.export_rdma(&host), Access::RDMA_READ | Access::RDMA_ATOMIC, Access::RDMA_WRITE | Access::RDMA_ATOMIC),
            ] {
                if !access.intersects(reads | writes) {
                    assert_eq!(export.unwrap_err().code(), Code::NotPermitted, "{access:?}");
                    continue;
                }
                let export = export.unwrap();
                let remote = RemoteMemory::import(&card(), export.bytes()).unwrap();
                assert_eq!(remote.read(0, &mut [0; 8]).is_ok(), access.intersects(reads), "{access:?}");
                assert_eq!(remote.write(0, &[0; 8]).is_ok(), access.intersects(writes), "{access:?}");
            }
        }
    }

    /// What the process shows of itself.
    exports_and_imports_are_listed, listed: {
        let device = card();
        let mut owner = Owner::start();
        let letter = owner.export("vec", LEN, PCI_RW, "pci");
        let remote = RemoteMemory::import(&device, &letter).unwrap();
        let host = host();
        let memory = Memory::heap(5000).access(PCI_RW).register(&[&host]).unwrap();
        let export = memory.export(&host).unwrap();
        let own = RemoteMemory::import(&device, export.bytes()).unwrap();
        assert_eq!((own.reach(), own.owner()), (Reach::Local, std::process::id()));
        let exports = export::exports();
        assert_eq!(exports.len(), 1);
        assert_eq!((exports[0].len, exports[0].kind, exports[0].is_mappable), (5000, Kind::Pci, true));
        let imports = export::imports();
        let seen: Vec<_> = imports.iter().map(|i| (i.owner, i.len, i.reach)).collect();
        assert_eq!(seen, [
            (owner.child.id(), LEN as u64, remote.reach()),
            (std::process::id(), 5000, Reach::Local),
        ]);
        drop((remote, own, export));
        assert!(export::exports().is_empty() && export::imports().is_empty());
    }
}

#[test]
#[ignore = "started by the test of many importers"]
fn many_importer() {
    common::watchdog();
    let letter = std::env::var("SOFTDPU_TEST_LETTER").unwrap();
    let (number, letter) = letter.split_once(' ').unwrap();
    let number: usize = number.parse().unwrap();
    let remote = RemoteMemory::import(&card(), &peer::unhex(letter)).unwrap();
    remote.write(number * 1000, &[number as u8 + 1; 1000]).unwrap();
}

#[test]
#[ignore = "started by the test of another user"]
fn stranger_importer() {
    common::watchdog();
    let letter = peer::unhex(&std::env::var("SOFTDPU_TEST_LETTER").unwrap());
    match RemoteMemory::import(&card(), &letter) {
        Ok(_) => println!("stranger: imported"),
        Err(error) => println!("stranger: refused ({error})"),
    }
}
