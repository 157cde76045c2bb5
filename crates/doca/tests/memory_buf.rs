//! Buffers and inventories: windows, lists, references, duplicates, re-aiming, exhaustion, refusals.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::buf::*;
use softdpu_c::dev::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::node::Node;
use std::ffi::c_void;
use std::ptr::null_mut;

/// A started map over some memory, and a started inventory.
struct Rig {
    dev: *mut Dev,
    memory: Vec<u8>,
    map: *mut Mmap,
    inventory: *mut Inventory,
}

impl Rig {
    fn new(elements: usize) -> Rig {
        setup();
        let dev = open(CARD);
        let memory = vec![0u8; 4096];
        let map = started(dev, &memory, LOCAL_READ_WRITE);
        Rig { dev, map, memory, inventory: inventory(elements) }
    }

    fn base(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// A full buffer of `len` bytes at `offset`.
    fn buf(&self, offset: usize, len: usize) -> *mut Node {
        let at = self.base() + offset;
        take(self.inventory, self.map, at, len, at, len).unwrap()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            destroy(self.map);
            ok(c! { doca_buf_inventory_destroy(self.inventory) });
            close(self.dev);
        }
    }
}

/// Head, length, data, data length, references.
fn look(buf: *mut Node) -> (usize, usize, usize, usize, u16) {
    let (mut head, mut len, mut data, mut data_len, mut refs) = (null_mut(), 0, null_mut(), 0, 0);
    c! {
        ok(doca_buf_get_head(buf, &mut head));
        ok(doca_buf_get_len(buf, &mut len));
        ok(doca_buf_get_data(buf, &mut data));
        ok(doca_buf_get_data_len(buf, &mut data_len));
        ok(doca_buf_get_refcount(buf, &mut refs));
    }
    (head as usize, len, data as usize, data_len, refs)
}

/// Next, last, is last, is first, is in a list, elements (or the status of asking for them).
fn links(buf: *mut Node) -> (*mut Node, *mut Node, u8, u8, u8, Result<u32, i32>) {
    let (mut next, mut last, mut is_last, mut is_first, mut in_list, mut n) =
        (null_mut(), null_mut(), 9, 9, 9, 0);
    c! {
        ok(doca_buf_get_next_in_list(buf, &mut next));
        ok(doca_buf_get_last_in_list(buf, &mut last));
        ok(doca_buf_is_last_in_list(buf, &mut is_last));
        ok(doca_buf_is_first_in_list(buf, &mut is_first));
        ok(doca_buf_is_in_list(buf, &mut in_list));
        let status = doca_buf_get_list_len(buf, &mut n);
        (next, last, is_last, is_first, in_list, if status == SUCCESS { Ok(n) } else { Err(status) })
    }
}

#[test]
fn a_buffer_is_a_window_that_is_checked() {
    let rig = Rig::new(1);
    let base = rig.base();
    let fits =
        [(0, 4096, 0, 4096), (0, 4096, 4096, 0), (4095, 1, 4095, 1), (100, 50, 120, 30), (4096, 0, 4096, 0)];
    for (addr, len, data, data_len) in fits {
        let buf = take(rig.inventory, rig.map, base + addr, len, base + data, data_len).unwrap();
        assert_eq!(look(buf), (base + addr, len, base + data, data_len, 1));
        assert_eq!(links(buf), (null_mut(), buf, 1, 1, 0, Ok(1)));
        drop_buf(buf);
    }
    let leaves = [
        (0, 4097, 0, 0),
        (4096, 1, 4096, 0),
        (1, 4096, 1, 0),
        (100, 50, 99, 1),
        (100, 50, 120, 31),
        (100, 50, 151, 0),
        (100, 50, 120, usize::MAX),
        (100, usize::MAX, 100, 0),
    ];
    for (addr, len, data, data_len) in leaves {
        let call = || take(rig.inventory, rig.map, base + addr, len, base + data, data_len).unwrap_err();
        let line = refused(call, INVALID_VALUE);
        assert!(line.contains("0x"), "{line}");
    }
    refused(|| take(rig.inventory, rig.map, base - 1, 2, base, 0).unwrap_err(), INVALID_VALUE);
    refused(|| take(rig.inventory, rig.map, 0, 2, 0, 0).unwrap_err(), INVALID_VALUE);
    assert_eq!((num_free(rig.inventory), num_bufs(rig.map)), (1, 0));
}

#[test]
fn the_data_window_moves_inside_the_region() {
    let rig = Rig::new(1);
    let base = rig.base();
    let buf = take(rig.inventory, rig.map, base + 100, 100, base + 100, 0).unwrap();
    let set = |at: usize, len| c! { doca_buf_set_data(buf, at as *mut c_void, len) };
    ok(set(base + 150, 50));
    assert_eq!(look(buf), (base + 100, 100, base + 150, 50, 1));
    refused(|| set(base + 150, 51), INVALID_VALUE);
    refused(|| set(base + 99, 1), INVALID_VALUE);
    refused(|| set(base + 201, 0), INVALID_VALUE);
    ok(set(base + 200, 0));
    ok(set(base + 160, 5));
    ok(c! { doca_buf_set_data_len(buf, 40) });
    refused(|| c! { doca_buf_set_data_len(buf, 41) }, INVALID_VALUE);
    assert_eq!(look(buf), (base + 100, 100, base + 160, 40, 1));
    ok(c! { doca_buf_reset_data_len(buf) });
    assert_eq!(look(buf), (base + 100, 100, base + 160, 0, 1), "the data starts where it did");
    drop_buf(buf);
}

#[test]
fn references_are_counted_and_tell_the_count_before() {
    let rig = Rig::new(1);
    let buf = rig.buf(0, 8);
    let mut count = 99;
    ok(c! { doca_buf_inc_refcount(buf, &mut count) });
    assert_eq!(count, 1);
    ok(c! { doca_buf_inc_refcount(buf, null_mut()) });
    ok(c! { doca_buf_dec_refcount(buf, &mut count) });
    assert_eq!(count, 3);
    for _ in 2..65535 {
        ok(c! { doca_buf_inc_refcount(buf, null_mut()) });
    }
    refused(|| c! { doca_buf_inc_refcount(buf, null_mut()) }, TOO_BIG);
    assert_eq!(look(buf).4, 65535);
    for _ in 1..65535 {
        drop_buf(buf);
    }
    assert_eq!((num_free(rig.inventory), num_bufs(rig.map)), (0, 1));
    ok(c! { doca_buf_dec_refcount(buf, &mut count) });
    assert_eq!(count, 1);
    assert_eq!((num_free(rig.inventory), num_bufs(rig.map)), (1, 0));
    refused(|| c! { doca_buf_dec_refcount(buf, &mut count) }, INVALID_VALUE);
}

#[test]
fn lists_are_chained_cut_and_given_back_as_one() {
    let rig = Rig::new(5);
    let other = inventory(1);
    let [a, b, c, d] = [0, 8, 16, 24].map(|offset| rig.buf(offset, 8));
    let far = full(other, rig.map, &rig.memory[64..72]);
    ok(c! { doca_buf_chain_list(a, b) });
    ok(c! { doca_buf_chain_list(c, far) });
    ok(c! { doca_buf_chain_list(a, c) });
    assert_eq!(links(a), (b, far, 0, 1, 1, Ok(4)));
    assert_eq!(links(b), (c, far, 0, 0, 1, Err(NOT_PERMITTED)));
    assert_eq!(links(far), (null_mut(), far, 1, 0, 1, Err(NOT_PERMITTED)));
    // Members are neither counted nor chained.
    refused(|| c! { doca_buf_inc_refcount(c, null_mut()) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_dec_refcount(far, null_mut()) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list(d, b) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list(b, d) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list(a, a) }, INVALID_VALUE);
    ok(c! { doca_buf_inc_refcount(d, null_mut()) });
    refused(|| c! { doca_buf_chain_list(a, d) }, NOT_PERMITTED);
    drop_buf(d);
    ok(c! { doca_buf_chain_list_tail(a, far, d) });
    assert_eq!(links(a).5, Ok(5));
    // Cut.
    refused(|| c! { doca_buf_unchain_list(a, a) }, INVALID_VALUE);
    refused(|| c! { doca_buf_unchain_list(c, b) }, INVALID_VALUE);
    ok(c! { doca_buf_unchain_list(a, c) });
    assert_eq!((links(a), links(c)), ((b, b, 0, 1, 1, Ok(2)), (far, d, 0, 1, 1, Ok(3))));
    assert_eq!(look(c).4, 1);
    refused(|| c! { doca_buf_unchain_list(a, far) }, INVALID_VALUE);
    ok(c! { doca_buf_unchain_list(c, d) });
    assert_eq!(links(d), (null_mut(), d, 1, 1, 0, Ok(1)));
    // One reference of the head holds the whole list; each member goes to its own inventory.
    assert_eq!((num_free(rig.inventory), num_free(other)), (1, 0));
    drop_buf(c);
    assert_eq!((num_free(rig.inventory), num_free(other)), (2, 1));
    refused(|| c! { doca_buf_get_refcount(far, &mut 0) }, INVALID_VALUE);
    drop_buf(a);
    drop_buf(d);
    assert_eq!((num_free(rig.inventory), num_bufs(rig.map)), (5, 0));
    ok(c! { doca_buf_inventory_destroy(other) });
}

#[test]
fn a_given_tail_must_be_one() {
    let rig = Rig::new(4);
    let [a, b, c, d] = [0, 8, 16, 24].map(|offset| rig.buf(offset, 8));
    ok(c! { doca_buf_chain_list_tail(a, a, b) });
    refused(|| c! { doca_buf_chain_list_tail(a, a, c) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list_tail(a, c, d) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list_tail(c, b, d) }, NOT_PERMITTED);
    refused(|| c! { doca_buf_chain_list_tail(c, c, c) }, INVALID_VALUE);
    ok(c! { doca_buf_chain_list_tail(a, b, c) });
    refused(|| c! { doca_buf_chain_list_tail(b, c, d) }, NOT_PERMITTED);
    assert_eq!(links(a).5, Ok(3));
    drop_buf(a);
    drop_buf(d);
}

#[test]
fn duplicates_look_at_the_same_bytes() {
    let rig = Rig::new(3);
    let copies = inventory(4);
    let (a, b) = (rig.buf(0, 100), rig.buf(200, 50));
    ok(c! { doca_buf_set_data(a, (rig.base() + 10) as *mut c_void, 20) });
    ok(c! { doca_buf_chain_list(a, b) });
    let dup = |source| {
        let mut copy = null_mut();
        match c! { doca_buf_inventory_buf_dup(copies, source, &mut copy) } {
            SUCCESS => Ok(copy),
            status => {
                assert!(copy.is_null());
                Err(status)
            }
        }
    };
    let copy = dup(a).unwrap();
    assert_eq!(look(copy), look(a));
    let second = links(copy).0;
    assert_eq!(look(second), look(b));
    assert_eq!((links(copy).5, num_bufs(rig.map), num_free(copies)), (Ok(2), 4, 2));
    refused(|| dup(b).unwrap_err(), NOT_PERMITTED);
    let again = dup(a).unwrap();
    refused(|| dup(a).unwrap_err(), NO_MEMORY);
    drop_buf(again);
    let single = rig.buf(0, 1);
    let one = dup(single).unwrap();
    refused(|| dup(a).unwrap_err(), NO_MEMORY);
    assert_eq!(num_free(copies), 1, "nothing is lost when there is not enough");
    ok(c! { doca_buf_inventory_stop(copies) });
    refused(|| dup(single).unwrap_err(), BAD_STATE);
    for buf in [copy, one, single, a] {
        drop_buf(buf);
    }
    ok(c! { doca_buf_inventory_destroy(copies) });
}

#[test]
fn a_duplicate_needs_a_started_map() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = configured(dev, &memory, LOCAL_READ_WRITE);
    ok(c! { doca_mmap_enable_thread_safety(map) });
    ok(c! { doca_mmap_start(map) });
    let inventory = inventory(2);
    let buf = full(inventory, map, &memory);
    ok(c! { doca_mmap_stop(map) });
    refused(|| c! { doca_buf_inventory_buf_dup(inventory, buf, &mut null_mut()) }, BAD_STATE);
    drop_buf(buf);
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn buffers_are_aimed_anew_inside_their_map() {
    let rig = Rig::new(2);
    let base = rig.base();
    let (head, member) = (rig.buf(0, 1), rig.buf(1, 1));
    ok(c! { doca_buf_chain_list(head, member) });
    ok(c! { doca_buf_inc_refcount(head, null_mut()) });
    let at = |offset: usize| (base + offset) as *mut c_void;
    ok(c! { doca_buf_inventory_buf_reuse_by_addr(head, at(0), 4096) });
    assert_eq!(look(head), (base, 4096, base, 0, 2));
    ok(c! { doca_buf_inventory_buf_reuse_by_data(member, at(100), 200) });
    assert_eq!(look(member), (base + 100, 200, base + 100, 200, 1));
    ok(c! { doca_buf_inventory_buf_reuse_by_args(member, at(100), 200, at(150), 7) });
    assert_eq!(look(member), (base + 100, 200, base + 150, 7, 1));
    assert_eq!(links(head).5, Ok(2), "neighbours stay");
    refused(|| c! { doca_buf_inventory_buf_reuse_by_addr(head, at(1), 4096) }, INVALID_VALUE);
    refused(|| c! { doca_buf_inventory_buf_reuse_by_data(head, at(4096), 1) }, INVALID_VALUE);
    refused(|| c! { doca_buf_inventory_buf_reuse_by_args(head, at(0), 10, at(5), 6) }, INVALID_VALUE);
    assert_eq!(look(head), (base, 4096, base, 0, 2), "a refused call changes nothing");
    drop_buf(head);
    drop_buf(head);
}

#[test]
fn an_inventory_runs_out_and_grows() {
    let rig = Rig::new(2);
    let (a, b) = (rig.buf(0, 1), rig.buf(1, 1));
    let at = rig.base();
    let line = refused(|| take(rig.inventory, rig.map, at, 1, at, 0).unwrap_err(), NO_MEMORY);
    assert!(line.contains("0 of 2"), "{line}");
    refused(|| c! { doca_buf_inventory_expand(rig.inventory, 0) }, INVALID_VALUE);
    refused(|| c! { doca_buf_inventory_expand(rig.inventory, u32::MAX) }, NO_MEMORY);
    ok(c! { doca_buf_inventory_expand(rig.inventory, 3) });
    let mut total = 0;
    ok(c! { doca_buf_inventory_get_num_elements(rig.inventory, &mut total) });
    assert_eq!((total, num_free(rig.inventory)), (5, 3));
    assert_eq!((look(a).0, look(b).0), (at, at + 1));
    let line = refused(|| c! { doca_buf_inventory_destroy(rig.inventory) }, IN_USE);
    assert!(line.contains("2 of 5"), "{line}");
    ok(c! { doca_buf_inventory_stop(rig.inventory) });
    refused(|| take(rig.inventory, rig.map, at, 1, at, 0).unwrap_err(), BAD_STATE);
    refused(|| c! { doca_buf_inventory_expand(rig.inventory, 1) }, BAD_STATE);
    drop_buf(a);
    ok(c! { doca_buf_inventory_start(rig.inventory) });
    drop_buf(rig.buf(0, 1));
    drop_buf(b);
}

#[test]
fn an_inventory_is_created_stopped_with_elements() {
    setup();
    let mut inventory = null_mut();
    refused(|| c! { doca_buf_inventory_create(0, &mut inventory) }, INVALID_VALUE);
    refused(|| c! { doca_buf_inventory_create(1, null_mut()) }, INVALID_VALUE);
    refused(|| c! { doca_buf_inventory_create(usize::MAX, &mut inventory) }, NO_MEMORY);
    assert!(inventory.is_null());
    ok(c! { doca_buf_inventory_create(1, &mut inventory) });
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let map = started(dev, &memory, 1);
    let at = memory.as_ptr() as usize;
    refused(|| take(inventory, map, at, 1, at, 0).unwrap_err(), BAD_STATE);
    let mut data = 5;
    ok(c! { doca_buf_inventory_get_user_data(inventory, &mut data) });
    assert_eq!(data, 0);
    for value in [1, u64::MAX] {
        ok(c! { doca_buf_inventory_set_user_data(inventory, value) });
        ok(c! { doca_buf_inventory_start(inventory) });
        ok(c! { doca_buf_inventory_get_user_data(inventory, &mut data) });
        assert_eq!(data, value);
    }
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

#[test]
fn a_map_that_is_not_started_gives_no_buffers() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let inventory = inventory(1);
    let map = configured(dev, &memory, 1);
    let at = memory.as_ptr() as usize;
    refused(|| take(inventory, map, at, 1, at, 0).unwrap_err(), BAD_STATE);
    ok(c! { doca_mmap_start(map) });
    drop_buf(take(inventory, map, at, 1, at, 0).unwrap());
    ok(c! { doca_mmap_stop(map) });
    refused(|| take(inventory, map, at, 1, at, 0).unwrap_err(), BAD_STATE);
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}

/// Every call that takes a buffer or an inventory, with what is none.
#[test]
fn stray_handles_are_refused_everywhere() {
    let rig = Rig::new(2);
    let (live, gone) = (rig.buf(0, 1), rig.buf(0, 1));
    drop_buf(gone);
    let at = at(&rig.memory);
    for buf in [null_mut(), rig.map.cast(), rig.inventory.cast(), gone] {
        let (mut addr, mut len, mut count, mut next, mut byte, mut n) = (null_mut(), 0, 0, null_mut(), 0, 0);
        let check = |call: &mut dyn FnMut() -> i32| {
            refused(call, INVALID_VALUE);
        };
        c! {
            check(&mut || doca_buf_inc_refcount(buf, &mut count));
            check(&mut || doca_buf_dec_refcount(buf, &mut count));
            check(&mut || doca_buf_get_refcount(buf, &mut count));
            check(&mut || doca_buf_get_head(buf, &mut addr));
            check(&mut || doca_buf_get_len(buf, &mut len));
            check(&mut || doca_buf_get_data(buf, &mut addr));
            check(&mut || doca_buf_get_data_len(buf, &mut len));
            check(&mut || doca_buf_set_data(buf, at, 0));
            check(&mut || doca_buf_set_data_len(buf, 0));
            check(&mut || doca_buf_reset_data_len(buf));
            check(&mut || doca_buf_get_next_in_list(buf, &mut next));
            check(&mut || doca_buf_get_last_in_list(buf, &mut next));
            check(&mut || doca_buf_is_last_in_list(buf, &mut byte));
            check(&mut || doca_buf_is_first_in_list(buf, &mut byte));
            check(&mut || doca_buf_is_in_list(buf, &mut byte));
            check(&mut || doca_buf_get_list_len(buf, &mut n));
            check(&mut || doca_buf_chain_list(buf, live));
            check(&mut || doca_buf_chain_list(live, buf));
            check(&mut || doca_buf_chain_list_tail(buf, live, live));
            check(&mut || doca_buf_chain_list_tail(live, buf, live));
            check(&mut || doca_buf_chain_list_tail(live, live, buf));
            check(&mut || doca_buf_unchain_list(buf, live));
            check(&mut || doca_buf_unchain_list(live, buf));
            check(&mut || doca_buf_inventory_buf_dup(rig.inventory, buf, &mut next));
            check(&mut || doca_buf_inventory_buf_reuse_by_args(buf, at, 1, at, 1));
            check(&mut || doca_buf_inventory_buf_reuse_by_addr(buf, at, 1));
            check(&mut || doca_buf_inventory_buf_reuse_by_data(buf, at, 1));
        }
        assert!(addr.is_null() && len == 0 && count == 0 && next.is_null() && byte == 0 && n == 0);
    }
    let mut ended = null_mut();
    ok(c! { doca_buf_inventory_create(1, &mut ended) });
    ok(c! { doca_buf_inventory_destroy(ended) });
    for inventory in [null_mut(), rig.map.cast(), live.cast(), ended] {
        let (mut buf, mut n, mut wide) = (null_mut(), 0, 0);
        let check = |call: &mut dyn FnMut() -> i32| {
            refused(call, INVALID_VALUE);
        };
        c! {
            check(&mut || doca_buf_inventory_destroy(inventory));
            check(&mut || doca_buf_inventory_start(inventory));
            check(&mut || doca_buf_inventory_stop(inventory));
            check(&mut || doca_buf_inventory_expand(inventory, 1));
            check(&mut || doca_buf_inventory_buf_get_by_args(inventory, rig.map, at, 1, at, 0, &mut buf));
            check(&mut || doca_buf_inventory_buf_dup(inventory, live, &mut buf));
            check(&mut || doca_buf_inventory_set_user_data(inventory, 1));
            check(&mut || doca_buf_inventory_get_user_data(inventory, &mut wide));
            check(&mut || doca_buf_inventory_get_num_elements(inventory, &mut n));
            check(&mut || doca_buf_inventory_get_num_free_elements(inventory, &mut n));
        }
        assert!(buf.is_null() && n == 0 && wide == 0);
    }
    drop_buf(live);
}

#[test]
fn null_outputs_are_refused() {
    let rig = Rig::new(1);
    let buf = rig.buf(0, 8);
    let at = at(&rig.memory);
    c! {
        refused(|| doca_buf_get_refcount(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_head(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_len(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_data(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_data_len(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_next_in_list(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_last_in_list(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_is_last_in_list(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_is_first_in_list(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_is_in_list(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_get_list_len(buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_inventory_buf_get_by_args(rig.inventory, rig.map, at, 1, at, 0, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_inventory_buf_dup(rig.inventory, buf, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_inventory_get_user_data(rig.inventory, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_inventory_get_num_elements(rig.inventory, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_inventory_get_num_free_elements(rig.inventory, null_mut()), INVALID_VALUE);
    }
    drop_buf(buf);
    assert_eq!(num_free(rig.inventory), 1, "no descriptor was lost");
}
