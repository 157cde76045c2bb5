//! Killed peers: two hundred processes, importers and owners, die by SIGKILL at random moments in the middle of copies.
//! Nobody else may hang, crash or see a wrong byte. And memory that is taken back while others hammer it.
#![cfg(not(miri))]

mod common;
#[path = "common/peer.rs"]
mod peer;

use common::Dice;
use peer::{Owner, host, in_own_folder, pattern};
use softdpu_card::{Machine, Reach, Side};
use softdpu_memory::device::Device;
use softdpu_memory::{Access, Memory, RemoteMemory};
use std::io::BufRead;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

const LEN: usize = 1 << 20;
const ROUNDS: usize = 100;

#[test]
#[ignore = "started by the other tests as a second process"]
fn owner_process() {
    peer::owner_process();
}

fn reach(round: usize) -> Reach {
    [Reach::Mapped, Reach::KernelCopy, Reach::Worker][round % 3]
}

fn card_with(reach: Reach) -> Arc<Device> {
    let machine = Machine::builder().reach(reach).build().unwrap();
    let function = machine.functions().iter().find(|f| f.side() == Side::Dpu).unwrap();
    Device::open(function.clone()).unwrap()
}

fn nap(dice: &mut Dice) {
    std::thread::sleep(Duration::from_micros(dice.roll(4000) as u64));
}

#[test]
fn importers_die_in_mid_copy() {
    common::watchdog();
    in_own_folder("killed_importers");
}

#[test]
fn owners_die_in_mid_copy() {
    common::watchdog();
    in_own_folder("killed_owners");
}

#[test]
fn memory_is_taken_back_under_load() {
    common::watchdog();
    in_own_folder("taken_back");
}

#[test]
#[ignore = "run in a process of its own"]
fn killed_importers() {
    common::watchdog();
    let host = host();
    let mut dice = Dice::new(0x6b69_6c6c);
    for round in 0..ROUNDS {
        let memory = Memory::heap(LEN).access(Access::PCI_READ_WRITE).register(&[&host]).unwrap();
        memory.buf(..).unwrap().write_at(0, &vec![1; LEN]).unwrap();
        let export = memory.export(&host).unwrap();
        let mut command = peer::again("importer_process");
        command
            .env("SOFTDPU_REACH", reach(round).name())
            .env("SOFTDPU_TEST_LETTER", peer::hex(export.bytes()));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        // It says so when it has begun.
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.contains("importer: writes")));
        nap(&mut dice);
        child.kill().unwrap();
        // Not waited for: it is a zombie, if it is dead at all.
        drop(export);
        let read = || {
            let mut bytes = vec![0; LEN];
            memory.buf(..).unwrap().read_at(0, &mut bytes).unwrap();
            bytes
        };
        let bytes = read();
        assert!(bytes.iter().all(|&b| (1..=3).contains(&b)), "round {round}: a byte that nobody wrote");
        // After the stop nobody writes any more, dead or alive.
        memory.buf(..).unwrap().write_at(0, &vec![9; LEN]).unwrap();
        child.wait().unwrap();
        assert!(read().iter().all(|&b| b == 9), "round {round}: written after the stop");
    }
}

#[test]
#[ignore = "started by the test of killed importers"]
fn importer_process() {
    common::watchdog();
    let letter = peer::unhex(&std::env::var("SOFTDPU_TEST_LETTER").unwrap());
    let remote = RemoteMemory::import(&peer::card(), &letter).unwrap();
    println!("importer: writes ({})", remote.reach());
    for round in 0u32.. {
        if remote.write(0, &vec![2 + (round % 2) as u8; LEN]).is_err() {
            break;
        }
    }
}

#[test]
#[ignore = "run in a process of its own"]
fn killed_owners() {
    common::watchdog();
    let mut dice = Dice::new(0x6f77_6e65);
    for round in 0..ROUNDS {
        let device = card_with(reach(round));
        let mut owner = Owner::start();
        let letter = owner.export("heap", LEN, Access::PCI_READ_WRITE, "pci");
        let remote = RemoteMemory::import(&device, &letter).unwrap();
        assert_eq!(remote.reach(), reach(round));
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut bytes = vec![0; LEN];
                let mut good = 0;
                while remote.read(0, &mut bytes).is_ok() {
                    good += 1;
                    assert!(bytes.iter().enumerate().all(|(i, &b)| b == pattern(i)), "a wrong byte");
                }
                good
            });
            nap(&mut dice);
            owner.kill();
            reader.join().unwrap();
        });
        // The news is here: from now on everything is refused at once.
        assert!(remote.read(0, &mut [0]).is_err() && remote.write(0, &[0]).is_err());
        assert!(RemoteMemory::import(&device, &letter).is_err());
    }
}

/// The owner stops, and then does with its memory what it likes, while several importers are at it.
#[test]
#[ignore = "run in a process of its own"]
fn taken_back() {
    common::watchdog();
    let host = host();
    for round in 0..30 {
        let memory = Memory::heap(LEN).access(Access::PCI_READ_WRITE).register(&[&host]).unwrap();
        let export = memory.export(&host).unwrap();
        // One in this process, two in others.
        let letter = peer::hex(export.bytes());
        let children: Vec<_> = (0..2)
            .map(|i| {
                let mut command = peer::again("importer_process");
                command.env("SOFTDPU_REACH", reach(round + i).name()).env("SOFTDPU_TEST_LETTER", &letter);
                let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
                let mut lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
                assert!(lines.any(|line| line.unwrap().contains("importer: writes")));
                // The harness of the child has something to say at its end.
                (child, lines)
            })
            .collect();
        let local = RemoteMemory::import(&peer::card(), export.bytes()).unwrap();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while local.write(0, &vec![4; LEN]).is_ok() {}
                assert!(over.load(Relaxed), "refused before the stop");
            });
            std::thread::sleep(Duration::from_millis(2));
            over.store(true, Relaxed);
            drop(export);
            memory.buf(..).unwrap().write_at(0, &vec![9; LEN]).unwrap();
        });
        // They find out by themselves.
        for (mut child, _lines) in children {
            assert!(child.wait().unwrap().success());
        }
        let mut bytes = vec![0; LEN];
        memory.buf(..).unwrap().read_at(0, &mut bytes).unwrap();
        assert!(bytes.iter().all(|&b| b == 9), "round {round}: written after the stop");
    }
}
