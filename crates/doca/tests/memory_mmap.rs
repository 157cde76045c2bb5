//! Memory maps: life, configuration, devices, counts, free callback, thread safety, refusals.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::dev::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::region::{ALIVE, CAN_READ, CAN_WRITE};
use std::ffi::c_void;
use std::ptr::{null, null_mut};

#[test]
fn every_order_of_configuration_leads_to_a_started_map() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let map = create();
        for step in order {
            ok(c! {
                match step {
                    0 => doca_mmap_set_memrange(map, at(&memory), memory.len()),
                    1 => doca_mmap_add_dev(map, dev),
                    _ => doca_mmap_set_permissions(map, PCI_READ_ONLY),
                }
            });
        }
        ok(c! { doca_mmap_start(map) });
        ok(c! { doca_mmap_stop(map) });
        ok(c! { doca_mmap_stop(map) });
        destroy(map);
    }
    let (only_device, nothing) = (create(), create());
    ok(c! { doca_mmap_add_dev(only_device, dev) });
    destroy(only_device);
    destroy(nothing);
    let left_running = started(dev, &memory, LOCAL_READ_WRITE);
    destroy(left_running);
    close(dev);
}

#[test]
fn start_needs_a_range_and_a_device_and_works_once() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = create();
    ok(c! { doca_mmap_add_dev(map, dev) });
    refused(|| c! { doca_mmap_start(map) }, INVALID_VALUE);
    ok(c! { doca_mmap_set_memrange(map, at(&memory), memory.len()) });
    ok(c! { doca_mmap_rm_dev(map, dev) });
    refused(|| c! { doca_mmap_start(map) }, INVALID_VALUE);
    ok(c! { doca_mmap_add_dev(map, dev) });
    ok(c! { doca_mmap_start(map) });
    refused(|| c! { doca_mmap_start(map) }, NOT_PERMITTED);
    ok(c! { doca_mmap_stop(map) });
    ok(c! { doca_mmap_start(map) });
    destroy(map);
    close(dev);
}

#[test]
fn ranges_are_checked_and_set_once() {
    setup();
    let memory = vec![0u8; 100];
    let dev = open(CARD);
    let map = create();
    let (mut addr, mut len) = (null_mut(), 7);
    refused(|| c! { doca_mmap_get_memrange(map, &mut addr, &mut len) }, BAD_STATE);
    for (bad, bytes) in [(null_mut(), 100), (at(&memory), 0), (at(&memory), usize::MAX)] {
        refused(|| c! { doca_mmap_set_memrange(map, bad, bytes) }, INVALID_VALUE);
    }
    ok(c! { doca_mmap_set_memrange(map, at(&memory), 99) });
    refused(|| c! { doca_mmap_set_memrange(map, at(&memory), 99) }, NOT_PERMITTED);
    ok(c! { doca_mmap_get_memrange(map, &mut addr, &mut len) });
    assert_eq!((addr, len), (at(&memory), 99));
    ok(c! { doca_mmap_add_dev(map, dev) });
    ok(c! { doca_mmap_start(map) });
    refused(|| c! { doca_mmap_set_memrange(map, at(&memory), 98) }, BAD_STATE);
    ok(c! { doca_mmap_stop(map) });
    refused(|| c! { doca_mmap_set_memrange(map, at(&memory), 98) }, NOT_PERMITTED);
    ok(c! { doca_mmap_get_memrange(map, &mut addr, &mut len) });
    assert_eq!((addr, len), (at(&memory), 99));
    destroy(map);
    close(dev);
}

#[test]
fn masks_decide_what_devices_may_do() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let inventory = inventory(1);
    for mask in [0x00, 0x01, 0x10, 0x20, 0x21, 0x27, 0x03, 0x05, 0x07, 0x09, 0x40, 0x41] {
        let map = started(dev, &memory, mask);
        let buf = full(inventory, map, &memory);
        let writes = if mask & 1 != 0 { CAN_WRITE } else { 0 };
        let bit = word(buf) & !(ALIVE | CAN_READ | CAN_WRITE);
        assert_eq!(word(buf), ALIVE | CAN_READ | writes | bit, "{mask:#x}");
        assert_eq!(bit.count_ones(), 1, "one device");
        drop_buf(buf);
        destroy(map);
    }
    let map = create();
    for mask in [0x80, 0x30, 0x31, 0x50, 0x60, u32::MAX] {
        let line = refused(|| c! { doca_mmap_set_permissions(map, mask) }, INVALID_VALUE);
        assert!(line.contains(&format!("{mask:#x}")), "{line}");
    }
    // Without a word about permissions devices may write.
    ok(c! { doca_mmap_set_memrange(map, at(&memory), memory.len()) });
    ok(c! { doca_mmap_add_dev(map, dev) });
    ok(c! { doca_mmap_start(map) });
    let buf = full(inventory, map, &memory);
    assert_ne!(word(buf) & CAN_WRITE, 0);
    drop_buf(buf);
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn a_started_map_cannot_be_configured() {
    setup();
    let (dev, other) = (open(CARD), open(HOST));
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, LOCAL_READ_WRITE);
    unsafe extern "C" fn nothing(_: *mut c_void, _: usize, _: *mut c_void) {}
    refused(|| c! { doca_mmap_set_permissions(map, 1) }, BAD_STATE);
    refused(|| c! { doca_mmap_set_user_data(map, 1) }, BAD_STATE);
    refused(|| c! { doca_mmap_set_free_cb(map, Some(nothing), null_mut()) }, BAD_STATE);
    refused(|| c! { doca_mmap_set_max_num_devices(map, 4) }, NOT_PERMITTED);
    refused(|| c! { doca_mmap_add_dev(map, other) }, NOT_PERMITTED);
    refused(|| c! { doca_mmap_rm_dev(map, dev) }, NOT_PERMITTED);
    refused(|| c! { doca_mmap_enable_thread_safety(map) }, NOT_PERMITTED);
    refused(|| c! { doca_mmap_set_export_access_token(map, dev, [1].as_ptr(), 1) }, BAD_STATE);
    ok(c! { doca_mmap_stop(map) });
    ok(c! { doca_mmap_set_permissions(map, PCI_READ_WRITE) });
    ok(c! { doca_mmap_set_user_data(map, 1) });
    ok(c! { doca_mmap_set_free_cb(map, Some(nothing), null_mut()) });
    refused(|| c! { doca_mmap_set_max_num_devices(map, 4) }, NOT_PERMITTED);
    ok(c! { doca_mmap_add_dev(map, other) });
    ok(c! { doca_mmap_rm_dev(map, dev) });
    ok(c! { doca_mmap_set_export_access_token(map, other, [1].as_ptr(), 1) });
    ok(c! { doca_mmap_enable_thread_safety(map) });
    ok(c! { doca_mmap_start(map) });
    destroy(map);
    close(dev);
    close(other);
}

#[test]
fn devices_are_members_once_and_up_to_the_limit() {
    setup();
    let devs = ["03:00.0", "03:00.1", "b1:00.0"].map(open);
    let map = create();
    let mut limit = 0;
    ok(c! { doca_mmap_get_max_num_devices(map, &mut limit) });
    assert!(limit >= 2, "two devices need no word");
    ok(c! { doca_mmap_set_max_num_devices(map, 2) });
    refused(|| c! { doca_mmap_rm_dev(map, devs[0]) }, NOT_FOUND);
    ok(c! { doca_mmap_add_dev(map, devs[0]) });
    refused(|| c! { doca_mmap_add_dev(map, devs[0]) }, ALREADY_EXIST);
    ok(c! { doca_mmap_add_dev(map, devs[1]) });
    let line = refused(|| c! { doca_mmap_add_dev(map, devs[2]) }, NO_MEMORY);
    assert!(line.contains("limit 2"), "{line}");
    refused(|| c! { doca_mmap_set_max_num_devices(map, 1) }, INVALID_VALUE);
    refused(|| c! { doca_mmap_set_max_num_devices(map, 0) }, INVALID_VALUE);
    ok(c! { doca_mmap_set_max_num_devices(map, 3) });
    ok(c! { doca_mmap_get_max_num_devices(map, &mut limit) });
    assert_eq!(limit, 3);
    ok(c! { doca_mmap_add_dev(map, devs[2]) });
    ok(c! { doca_mmap_rm_dev(map, devs[1]) });
    ok(c! { doca_mmap_add_dev(map, devs[1]) });
    destroy(map);
    devs.into_iter().for_each(close);
}

#[test]
fn a_member_device_stays_open() {
    // A device no other test of this program uses, so that this close is the last one.
    setup();
    let dev = open("b1:00.1");
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, LOCAL_READ_WRITE);
    refused(|| c! { doca_dev_close(dev) }, IN_USE);
    ok(c! { doca_mmap_stop(map) });
    refused(|| c! { doca_dev_close(dev) }, IN_USE);
    ok(c! { doca_mmap_rm_dev(map, dev) });
    ok(c! { doca_mmap_add_dev(map, dev) });
    destroy(map);
    close(dev);
    refused(|| c! { doca_dev_close(dev) }, INVALID_VALUE);
}

thread_local! {
    static FREED: std::cell::RefCell<Vec<(usize, usize, usize)>> = const { std::cell::RefCell::new(Vec::new()) };
}

unsafe extern "C" fn note(addr: *mut c_void, len: usize, cookie: *mut c_void) {
    FREED.with(|freed| freed.borrow_mut().push((addr as usize, len, cookie as usize)));
}

#[test]
fn the_free_callback_runs_once_and_only_for_maps_started_after_it_was_set() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 77];
    let expect = |expected: &[usize]| {
        let freed = FREED.with(|freed| freed.take());
        let range = (memory.as_ptr() as usize, 77);
        let all: Vec<_> = expected.iter().map(|&cookie| (range.0, range.1, cookie)).collect();
        assert_eq!(freed, all);
    };
    let set = |map, cookie: usize| ok(c! { doca_mmap_set_free_cb(map, Some(note), cookie as *mut c_void) });

    let never_started = configured(dev, &memory, 1);
    set(never_started, 1);
    destroy(never_started);
    expect(&[]);

    let stopped = configured(dev, &memory, 1);
    set(stopped, 2);
    ok(c! { doca_mmap_start(stopped) });
    ok(c! { doca_mmap_stop(stopped) });
    expect(&[]);
    destroy(stopped);
    expect(&[2]);

    let running = configured(dev, &memory, 1);
    set(running, 3);
    ok(c! { doca_mmap_start(running) });
    destroy(running);
    expect(&[3]);

    let set_late = started(dev, &memory, 1);
    ok(c! { doca_mmap_stop(set_late) });
    set(set_late, 4);
    destroy(set_late);
    expect(&[]);

    let replaced = configured(dev, &memory, 1);
    set(replaced, 5);
    ok(c! { doca_mmap_start(replaced) });
    ok(c! { doca_mmap_stop(replaced) });
    set(replaced, 6);
    destroy(replaced);
    expect(&[]);

    let failed = configured(dev, &memory, 1);
    set(failed, 7);
    ok(c! { doca_mmap_rm_dev(failed, dev) });
    refused(|| c! { doca_mmap_start(failed) }, INVALID_VALUE);
    destroy(failed);
    expect(&[]);

    let none = create();
    refused(|| c! { doca_mmap_set_free_cb(none, None, null_mut()) }, INVALID_VALUE);
    destroy(none);
    close(dev);
}

#[test]
fn the_free_callback_may_use_the_library() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 64];
    unsafe extern "C" fn end_other(_: *mut c_void, _: usize, other: *mut c_void) {
        destroy(other.cast());
        destroy(create());
    }
    let inner = configured(dev, &memory, 1);
    let outer = configured(dev, &memory, 1);
    ok(c! { doca_mmap_set_free_cb(outer, Some(end_other), inner.cast()) });
    ok(c! { doca_mmap_start(outer) });
    ok(c! { doca_mmap_start(inner) });
    destroy(outer);
    refused(|| c! { doca_mmap_destroy(inner) }, INVALID_VALUE);
    close(dev);
}

#[test]
fn live_buffers_hold_a_map() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, 1);
    let inventory = inventory(3);
    let bufs: Vec<_> = (0..3).map(|_| full(inventory, map, &memory)).collect();
    assert_eq!(num_bufs(map), 3);
    let line = refused(|| c! { doca_mmap_destroy(map) }, NOT_PERMITTED);
    assert!(line.contains("3 buffers"), "{line}");
    refused(|| c! { doca_mmap_stop(map) }, NOT_PERMITTED);
    ok(c! { softdpu_c::buf::doca_buf_chain_list(bufs[0], bufs[1]) });
    drop_buf(bufs[0]);
    assert_eq!(num_bufs(map), 1);
    refused(|| c! { doca_mmap_stop(map) }, NOT_PERMITTED);
    drop_buf(bufs[2]);
    ok(c! { doca_mmap_stop(map) });
    let addr = memory.as_ptr() as usize;
    refused(|| take(inventory, map, addr, 1, addr, 0).unwrap_err(), BAD_STATE);
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn a_thread_safe_map_goes_before_its_buffers() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let inventory = inventory(40);
    let map = configured(dev, &memory, 1);
    ok(c! { doca_mmap_enable_thread_safety(map) });
    ok(c! { doca_mmap_enable_thread_safety(map) });
    ok(c! { doca_mmap_start(map) });
    let stays = full(inventory, map, &memory);
    ok(c! { doca_mmap_stop(map) });
    assert_eq!(word(stays), 0, "no access through a stopped map");
    ok(c! { doca_mmap_start(map) });
    assert_ne!(word(stays), 0, "the same range again");
    destroy(map);
    assert_eq!(word(stays), 0);
    // Other maps come and go; none of them may get the place that the buffer looks at.
    let others: Vec<_> = (0..30).map(|_| started(dev, &memory, 1)).collect();
    assert_eq!(word(stays), 0);
    let bufs: Vec<_> = others.iter().map(|&map| full(inventory, map, &memory)).collect();
    drop_buf(stays);
    assert!(others.iter().all(|&map| num_bufs(map) == 1));
    bufs.into_iter().for_each(drop_buf);
    others.into_iter().for_each(destroy);
    ok(c! { doca_buf_inventory_destroy(inventory) });

    let late = configured(dev, &memory, 1);
    ok(c! { doca_mmap_start(late) });
    refused(|| c! { doca_mmap_enable_thread_safety(late) }, NOT_PERMITTED);
    destroy(late);
    close(dev);
}

#[test]
fn threads_share_a_thread_safe_map() {
    setup();
    struct Shared(*mut Mmap);
    // SAFETY: the map was made safe for threads.
    unsafe impl Sync for Shared {}
    let dev = open(CARD);
    let memory = vec![0u8; 4096];
    let map = configured(dev, &memory, 1);
    ok(c! { doca_mmap_enable_thread_safety(map) });
    ok(c! { doca_mmap_start(map) });
    let shared = &Shared(map);
    let memory = &memory[..];
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                let inventory = inventory(8);
                for round in 0..20_000 {
                    let window = &memory[(thread * 64 + round) % 4000..][..64];
                    let buf = full(inventory, shared.0, window);
                    drop_buf(buf);
                }
                ok(c! { doca_buf_inventory_destroy(inventory) });
            });
        }
    });
    // The count is still right, so a later map can have the place.
    assert_eq!(num_bufs(map), 0);
    destroy(map);
    close(dev);
}

#[test]
fn keys_belong_to_a_map_and_a_device() {
    setup();
    let (one, two, stranger) = (open("03:00.0"), open("03:00.1"), open("b1:00.0"));
    let memory = vec![0u8; 100];
    let (a, b) = (configured(one, &memory, 1), configured(one, &memory, 1));
    let key = |map, dev| {
        let mut key = 0;
        match c! { doca_mmap_get_mkey(map, dev, &mut key) } {
            SUCCESS => Ok(key),
            status => Err(status),
        }
    };
    refused(|| key(a, one).unwrap_err(), INVALID_VALUE);
    for map in [a, b] {
        ok(c! { doca_mmap_add_dev(map, two) });
        ok(c! { doca_mmap_start(map) });
    }
    let mut keys = [key(a, one), key(a, two), key(b, one), key(b, two)].map(Result::unwrap);
    assert_eq!(key(a, one), Ok(keys[0]), "stable");
    keys.sort_unstable();
    assert!(keys[0] != 0 && keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:x?}");
    refused(|| key(a, stranger).unwrap_err(), INVALID_VALUE);
    [a, b].into_iter().for_each(destroy);
    [one, two, stranger].into_iter().for_each(close);
}

#[test]
fn user_data_is_kept() {
    setup();
    let map = create();
    let mut data = 7;
    ok(c! { doca_mmap_get_user_data(map, &mut data) });
    assert_eq!(data, 0);
    ok(c! { doca_mmap_set_user_data(map, u64::MAX - 1) });
    ok(c! { doca_mmap_get_user_data(map, &mut data) });
    assert_eq!(data, u64::MAX - 1);
    destroy(map);
}

#[test]
fn dmabuf_ranges_are_refused_in_one_line() {
    setup();
    let memory = vec![0u8; 100];
    let map = create();
    let file = std::fs::File::open("/proc/self/exe").expect("the test itself");
    let fd = std::os::fd::AsRawFd::as_raw_fd(&file);
    refused(|| c! { doca_mmap_set_dmabuf_memrange(map, fd, at(&memory), 0, 100) }, NOT_SUPPORTED);
    refused(|| c! { doca_mmap_set_dmabuf_memrange(map, -1, at(&memory), 0, 100) }, INVALID_VALUE);
    refused(|| c! { doca_mmap_set_dmabuf_memrange(map, 1 << 20, at(&memory), 0, 100) }, INVALID_VALUE);
    refused(|| c! { doca_mmap_set_dmabuf_memrange(map, fd, null_mut(), 0, 100) }, INVALID_VALUE);
    destroy(map);
}

#[test]
fn null_outputs_are_refused() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, PCI_READ_WRITE | RDMA_READ);
    let (mut addr, mut len, mut desc) = (null_mut(), 0, null());
    c! {
        refused(|| doca_mmap_create(null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_memrange(map, null_mut(), &mut len), INVALID_VALUE);
        refused(|| doca_mmap_get_memrange(map, &mut addr, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_user_data(map, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_max_num_devices(map, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_num_bufs(map, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_exported(map, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_from_export(map, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_get_mkey(map, dev, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_export_pci(map, dev, null_mut(), &mut len), INVALID_VALUE);
        refused(|| doca_mmap_export_rdma(map, dev, &mut desc, null_mut()), INVALID_VALUE);
        refused(|| doca_mmap_create_from_export(null(), at(&memory), 100, dev, null_mut()), INVALID_VALUE);
    }
    destroy(map);
    close(dev);
}
