//! Export and import inside one process, and strict mode.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::dev::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::copy::{Gate, transfer};
use softdpu_memory::export::MAX_DESCRIPTOR;
use softdpu_memory::node::Node;
use softdpu_memory::region::{CAN_READ, CAN_WRITE, DEVICE_SHIFT};
use softdpu_status::Code;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Pci,
    Rdma,
}
use Kind::{Pci, Rdma};

/// Where the descriptor lies, or the status.
fn export_at(map: *mut Mmap, dev: *mut Dev, kind: Kind) -> Result<(*const c_void, usize), i32> {
    let (mut desc, mut len) = (null(), 0);
    let status = c! {
        match kind {
            Pci => doca_mmap_export_pci(map, dev, &mut desc, &mut len),
            Rdma => doca_mmap_export_rdma(map, dev, &mut desc, &mut len),
        }
    };
    match status {
        SUCCESS => Ok((desc, len)),
        status => {
            assert!(desc.is_null() && len == 0, "nothing is written on error");
            Err(status)
        }
    }
}

fn export(map: *mut Mmap, dev: *mut Dev, kind: Kind) -> Result<Vec<u8>, i32> {
    let (at, len) = export_at(map, dev, kind)?;
    // SAFETY: the descriptor belongs to the started map.
    Ok(unsafe { std::slice::from_raw_parts(at.cast::<u8>(), len) }.to_vec())
}

fn import(bytes: &[u8], dev: *mut Dev) -> Result<*mut Mmap, i32> {
    let mut map = null_mut();
    match c! { doca_mmap_create_from_export(null(), bytes.as_ptr().cast(), bytes.len(), dev, &mut map) } {
        SUCCESS => Ok(map),
        status => {
            assert!(map.is_null());
            Err(status)
        }
    }
}

/// Copies as an engine on the device of `buf`'s map would: source to destination.
fn engine_copy(src: *mut Node, dst: *mut Node) -> Result<u64, Code> {
    let device = (word(src) >> DEVICE_SHIFT) << DEVICE_SHIFT & word(dst);
    let gate = Gate::new(device, 1 << 30, 64);
    c! { transfer(&*src, &*dst, &gate) }.map_err(|error| error.code())
}

#[test]
fn an_import_reaches_the_memory_of_the_exporter() {
    setup();
    let (host, card) = (open(HOST), open(CARD));
    let mut remote = vec![0u8; 4096];
    remote[100..200].fill(7);
    let local = vec![0u8; 4096];
    let theirs = started(host, &remote, PCI_READ_WRITE);
    let bytes = export(theirs, host, Pci).unwrap();
    assert!(bytes.len() <= MAX_DESCRIPTOR && bytes.len() < 512);
    let mut imported = null_mut();
    let user_data = 4711u64;
    ok(
        c! { doca_mmap_create_from_export(&user_data, bytes.as_ptr().cast(), bytes.len(), card, &mut imported) },
    );
    let (mut addr, mut len, mut data, mut flag) = (null_mut(), 0, 0, 9);
    ok(c! { doca_mmap_get_memrange(imported, &mut addr, &mut len) });
    assert_eq!((addr, len), (at(&remote), 4096));
    ok(c! { doca_mmap_get_user_data(imported, &mut data) });
    assert_eq!(data, user_data);
    for (map, is) in [(theirs, (1, 0)), (imported, (0, 1))] {
        ok(c! { doca_mmap_get_exported(map, &mut flag) });
        assert_eq!(flag, is.0);
        ok(c! { doca_mmap_get_from_export(map, &mut flag) });
        assert_eq!(flag, is.1);
    }
    let mut key = 0;
    ok(c! { doca_mmap_get_mkey(imported, card, &mut key) });
    assert_ne!(key, 0);

    let ours = started(card, &local, LOCAL_READ_WRITE);
    let inventory = inventory(4);
    let source = full(inventory, imported, &remote[100..200]);
    let target = take(inventory, ours, local.as_ptr() as usize, 4096, local.as_ptr() as usize, 0).unwrap();
    assert_eq!(engine_copy(source, target), Ok(100));
    assert_eq!((&local[..100], local[100]), (&[7; 100][..], 0));
    let back = remote.as_ptr() as usize + 1000;
    let back = take(inventory, imported, back, 200, back, 0).unwrap();
    assert_eq!(engine_copy(target, back), Ok(100));
    assert_eq!((&remote[1000..1100], remote[1100]), (&[7; 100][..], 0));
    let outside = remote.as_ptr() as usize + 4000;
    refused(|| take(inventory, imported, outside, 97, outside, 0).unwrap_err(), INVALID_VALUE);

    // The exporter stops: tasks fail, but everything can still be put away.
    ok(c! { doca_mmap_stop(theirs) });
    assert_eq!(engine_copy(source, target), Err(Code::InvalidValue));
    let late = full(inventory, imported, &remote[..10]);
    assert_eq!(engine_copy(late, target), Err(Code::InvalidValue));
    refused(|| c! { doca_mmap_destroy(imported) }, NOT_PERMITTED);
    [source, target, back, late].into_iter().for_each(drop_buf);
    destroy(imported);
    destroy(theirs);
    destroy(ours);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(host);
    close(card);
}

#[test]
fn permissions_cell_by_cell() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let inventory = inventory(1);
    for mask in [0x00, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x21, 0x27, 0x03, 0x05, 0x07, 0x12, 0x29] {
        let map = started(dev, &memory, mask);
        for kind in [Pci, Rdma] {
            let exportable = mask & if kind == Pci { 0x30 } else { 0x0e } != 0;
            if !exportable {
                refused(|| export(map, dev, kind).unwrap_err(), NOT_PERMITTED);
                continue;
            }
            let imported = import(&export(map, dev, kind).unwrap(), dev).unwrap();
            let buf = full(inventory, imported, &memory);
            let reads = if kind == Pci { CAN_READ } else { 0 };
            let writes = if kind == Pci && mask & PCI_READ_WRITE != 0 { CAN_WRITE } else { 0 };
            assert_eq!(word(buf) & (CAN_READ | CAN_WRITE), reads | writes, "{mask:#x} {kind:?}");
            drop_buf(buf);
            destroy(imported);
        }
        destroy(map);
    }
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn a_read_only_mapping_is_read_only_for_importers_too() {
    setup();
    static CONSTANT: [u8; 64] = [3; 64];
    let dev = open(CARD);
    let map = started(dev, &CONSTANT, PCI_READ_WRITE | LOCAL_READ_WRITE);
    let imported = import(&export(map, dev, Pci).unwrap(), dev).unwrap();
    let inventory = inventory(2);
    let source = full(inventory, map, &CONSTANT);
    let target =
        take(inventory, imported, CONSTANT.as_ptr() as usize, 64, CONSTANT.as_ptr() as usize, 0).unwrap();
    assert_eq!(engine_copy(source, target), Err(Code::NotPermitted));
    drop_buf(source);
    drop_buf(target);
    destroy(imported);
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn an_import_is_as_if_started_and_never_configured() {
    setup();
    let (dev, other) = (open(CARD), open(HOST));
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, PCI_READ_WRITE);
    let imported = import(&export(map, dev, Pci).unwrap(), dev).unwrap();
    unsafe extern "C" fn nothing(_: *mut c_void, _: usize, _: *mut c_void) {}
    let refuse_all = |map: *mut Mmap| {
        refused(|| c! { doca_mmap_start(map) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_set_memrange(map, at(&memory), 1) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_set_permissions(map, 0) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_set_free_cb(map, Some(nothing), null_mut()) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_set_user_data(map, 1) }, BAD_STATE);
        refused(|| c! { doca_mmap_set_max_num_devices(map, 4) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_add_dev(map, other) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_rm_dev(map, dev) }, NOT_PERMITTED);
        refused(|| c! { doca_mmap_set_export_access_token(map, dev, [1].as_ptr(), 1) }, NOT_PERMITTED);
        refused(|| export(map, dev, Pci).unwrap_err(), NOT_PERMITTED);
        refused(|| export(map, dev, Rdma).unwrap_err(), NOT_PERMITTED);
    };
    refuse_all(imported);
    ok(c! { doca_mmap_enable_thread_safety(imported) });
    let inventory = inventory(1);
    let buf = full(inventory, imported, &memory);
    refused(|| c! { doca_mmap_enable_thread_safety(imported) }, NOT_PERMITTED);
    ok(c! { doca_mmap_stop(imported) });
    assert_eq!(word(buf), 0);
    drop_buf(buf);
    refuse_all(imported);
    // The place of a stopped import is not given away before it is destroyed.
    let base = memory.as_ptr() as usize;
    let others: Vec<_> = (0..40).map(|_| started(dev, &memory, LOCAL_READ_WRITE)).collect();
    refused(|| take(inventory, imported, base, 1, base, 0).unwrap_err(), BAD_STATE);
    ok(c! { doca_mmap_stop(imported) });
    destroy(imported);
    for map in others {
        drop_buf(full(inventory, map, &memory));
        destroy(map);
    }
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
    close(other);
}

#[test]
fn descriptors_stay_put_until_stop_and_die_then() {
    setup();
    let (dev, other, stranger) = (open("03:00.0"), open("03:00.1"), open(HOST));
    let memory = vec![0u8; 100];
    let map = configured(dev, &memory, PCI_READ_ONLY | RDMA_READ);
    ok(c! { doca_mmap_add_dev(map, other) });
    refused(|| export(map, dev, Pci).unwrap_err(), NOT_PERMITTED);
    ok(c! { doca_mmap_start(map) });
    refused(|| export(map, stranger, Pci).unwrap_err(), NOT_FOUND);
    let first = export_at(map, dev, Pci).unwrap();
    assert_eq!(export_at(map, dev, Pci).unwrap(), first, "the same bytes again");
    let all = [(dev, Pci), (other, Pci), (dev, Rdma), (other, Rdma)];
    let blobs: Vec<_> = all.iter().map(|&(dev, kind)| export(map, dev, kind).unwrap()).collect();
    for (i, blob) in blobs.iter().enumerate() {
        assert!(blobs[..i].iter().all(|other| other != blob));
        destroy(import(blob, dev).unwrap());
    }
    ok(c! { doca_mmap_stop(map) });
    for blob in &blobs {
        refused(|| import(blob, dev).unwrap_err(), INVALID_VALUE);
    }
    // Exported, stopped, started again: same range, dead old descriptors, good new ones.
    ok(c! { doca_mmap_start(map) });
    for blob in &blobs {
        refused(|| import(blob, dev).unwrap_err(), INVALID_VALUE);
    }
    let again = export(map, dev, Pci).unwrap();
    assert_ne!(again, blobs[0]);
    destroy(import(&again, dev).unwrap());
    destroy(map);
    refused(|| import(&again, dev).unwrap_err(), INVALID_VALUE);
    [dev, other, stranger].into_iter().for_each(close);
}

#[test]
fn bytes_that_are_no_descriptor_are_refused() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, PCI_READ_WRITE);
    let good = export(map, dev, Pci).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        refused(|| import(&bad, dev).unwrap_err(), INVALID_VALUE);
        refused(|| import(&good[..at], dev).unwrap_err(), INVALID_VALUE);
    }
    let mut random = Random(99);
    for _ in 0..500 {
        let bytes: Vec<u8> = (0..random.below(500)).map(|_| random.below(256) as u8).collect();
        refused(|| import(&bytes, dev).unwrap_err(), INVALID_VALUE);
    }
    let mut imported = null_mut();
    refused(|| c! { doca_mmap_create_from_export(null(), null(), 100, dev, &mut imported) }, INVALID_VALUE);
    destroy(import(&good, dev).unwrap());
    destroy(map);
    close(dev);
}

#[test]
fn tokens_are_carried_by_later_exports() {
    setup();
    let (dev, other) = (open(CARD), open(HOST));
    let memory = vec![0u8; 100];
    let map = configured(dev, &memory, PCI_READ_WRITE);
    let token = [0xc3u8; 33];
    let set = |dev, size| c! { doca_mmap_set_export_access_token(map, dev, token.as_ptr(), size) };
    refused(|| set(other, 32), NOT_FOUND);
    refused(|| set(dev, 33), INVALID_VALUE);
    refused(|| set(dev, 0), INVALID_VALUE);
    refused(|| c! { doca_mmap_set_export_access_token(map, dev, null(), 4) }, INVALID_VALUE);
    ok(set(dev, 4));
    ok(set(dev, 32));
    ok(c! { doca_mmap_start(map) });
    refused(|| set(dev, 32), BAD_STATE);
    let bytes = export(map, dev, Pci).unwrap();
    assert!(bytes.windows(32).any(|window| window == &token[..32]));
    refused(|| set(dev, 32), NOT_PERMITTED);
    destroy(import(&bytes, dev).unwrap());
    destroy(map);
    close(dev);
    close(other);
}

#[test]
fn an_import_over_pci_is_exported_on_over_rdma() {
    setup();
    let (host, card) = (open(HOST), open(CARD));
    let memory = vec![0u8; 100];
    let map = started(host, &memory, PCI_READ_WRITE | RDMA_READ | RDMA_WRITE);
    let imported = import(&export(map, host, Pci).unwrap(), card).unwrap();
    refused(|| export(imported, card, Pci).unwrap_err(), NOT_PERMITTED);
    refused(|| export(imported, host, Rdma).unwrap_err(), NOT_FOUND);
    let onward = export(imported, card, Rdma).unwrap();
    let end = import(&onward, host).unwrap();
    refused(|| export(end, host, Rdma).unwrap_err(), NOT_PERMITTED);
    let inventory = inventory(1);
    let buf = full(inventory, end, &memory);
    assert_ne!(word(buf), 0);
    ok(c! { doca_mmap_stop(map) });
    assert_eq!(word(buf), 0, "the first owner decides");
    refused(|| import(&onward, host).unwrap_err(), INVALID_VALUE);
    refused(
        || {
            export(imported, card, Rdma)
                .map(|bytes| import(&bytes, host))
                .map_or_else(|e| e, |i| i.unwrap_err())
        },
        INVALID_VALUE,
    );
    drop_buf(buf);
    [end, imported, map].into_iter().for_each(destroy);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(host);
    close(card);
}

#[test]
fn profiles_and_strict_mode_in_processes_of_their_own() {
    in_process("profile_bf3", &[("SOFTDPU_PROFILE", "bf3")]);
    in_process("profile_cx7", &[("SOFTDPU_PROFILE", "cx7")]);
    in_process("strict_mode", &[("SOFTDPU_STRICT", "1")]);
    in_process("another_process", &[]);
}

#[test]
#[ignore = "run by profiles_and_strict_mode_in_processes_of_their_own"]
fn profile_bf3() {
    setup();
    let (host, card) = (open(HOST), open(CARD));
    let memory = vec![0u8; 100];
    let theirs = started(host, &memory, PCI_READ_WRITE);
    let bytes = export(theirs, host, Pci).unwrap();
    destroy(import(&bytes, card).unwrap());
    destroy(import(&bytes, host).unwrap());
    destroy(theirs);
}

#[test]
#[ignore = "run by profiles_and_strict_mode_in_processes_of_their_own"]
fn profile_cx7() {
    setup();
    let host = open(HOST);
    let memory = vec![0u8; 100];
    let map = started(host, &memory, PCI_READ_WRITE | RDMA_READ);
    let line = refused(|| export(map, host, Pci).unwrap_err(), NOT_SUPPORTED);
    assert!(line.contains("cx7"), "{line}");
    destroy(import(&export(map, host, Rdma).unwrap(), host).unwrap());
    destroy(map);
}

#[test]
#[ignore = "run by profiles_and_strict_mode_in_processes_of_their_own"]
fn strict_mode() {
    setup();
    let mut limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
    // SAFETY: plain numbers of this process.
    unsafe {
        libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit);
        limit.rlim_cur = limit.rlim_max.min(1 << 20);
        assert_eq!(libc::setrlimit(libc::RLIMIT_MEMLOCK, &limit), 0);
    }
    let allowed = limit.rlim_cur as usize;
    let dev = open(CARD);
    let memory = vec![0u8; allowed + 8192];
    let large = configured(dev, &memory, 1);
    let line = refused(|| c! { doca_mmap_start(large) }, DRIVER);
    assert!(line.contains(&format!("limit is {allowed} bytes")) && line.contains("locked already"), "{line}");
    if allowed >= 1 << 16 {
        let half = &memory[..allowed / 2 - 4096];
        let (one, two, three) = (started(dev, half, 1), started(dev, half, 1), configured(dev, half, 1));
        refused(|| c! { doca_mmap_start(three) }, DRIVER);
        ok(c! { doca_mmap_stop(one) });
        ok(c! { doca_mmap_start(three) });
        [one, two, three].into_iter().for_each(destroy);
    }
    destroy(large);
    close(dev);
}

/// The descriptor of a living process is recognised, that of one that ended is stale.
#[test]
#[ignore = "run by profiles_and_strict_mode_in_processes_of_their_own"]
fn another_process() {
    setup();
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["exporter", "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = std::io::BufReader::new(child.stdout.take().unwrap());
    let bytes: Vec<u8> = std::iter::from_fn(|| {
        let mut line = String::new();
        (std::io::BufRead::read_line(&mut reader, &mut line).unwrap() > 0).then_some(line)
    })
    .find_map(|line| {
        let text = line.split("descriptor:").nth(1)?.trim().to_owned();
        Some(text.split(' ').map(|byte| byte.parse().unwrap()).collect())
    })
    .expect("the child exports");
    let dev = open(CARD);
    let map = import(&bytes, dev).unwrap();
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let line = refused(|| import(&bytes, dev).unwrap_err(), INVALID_VALUE);
    assert!(line.contains(&child.id().to_string()), "{line}");
    ok(c! { doca_mmap_destroy(map) });
    close(dev);
}

#[test]
#[ignore = "run by another_process"]
fn exporter() {
    setup();
    let dev = open(HOST);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, PCI_READ_WRITE);
    let bytes = export(map, dev, Pci).unwrap();
    let text: Vec<_> = bytes.iter().map(u8::to_string).collect();
    println!("descriptor:{}", text.join(" "));
    // Until the other side has looked.
    std::io::Read::read_to_end(&mut std::io::stdin(), &mut Vec::new()).unwrap();
    destroy(map);
    close(dev);
}
