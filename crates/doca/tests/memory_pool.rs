//! Buffer pools and buffer arrays.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::buf::*;
use softdpu_c::buf_array::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_c::pool::*;
use softdpu_memory::node::Node;
use std::ffi::c_void;
use std::ptr::null_mut;

fn create_pool(slots: usize, size: usize, map: *mut Mmap) -> *mut Pool {
    let mut pool = null_mut();
    ok(c! { doca_buf_pool_create(slots, size, map, &mut pool) });
    pool
}

fn alloc(pool: *mut Pool) -> Result<*mut Node, i32> {
    let mut buf = null_mut();
    match c! { doca_buf_pool_buf_alloc(pool, &mut buf) } {
        SUCCESS => Ok(buf),
        status => {
            assert!(buf.is_null());
            Err(status)
        }
    }
}

fn counts(pool: *mut Pool) -> (u32, u32) {
    let (mut all, mut free) = (0, 0);
    ok(c! { doca_buf_pool_get_num_elements(pool, &mut all) });
    ok(c! { doca_buf_pool_get_num_free_elements(pool, &mut free) });
    (all, free)
}

/// Head, length, data, data length.
fn look(buf: *mut Node) -> (usize, usize, usize, usize) {
    let (mut head, mut len, mut data, mut data_len) = (null_mut(), 0, null_mut(), 0);
    c! {
        ok(doca_buf_get_head(buf, &mut head));
        ok(doca_buf_get_len(buf, &mut len));
        ok(doca_buf_get_data(buf, &mut data));
        ok(doca_buf_get_data_len(buf, &mut data_len));
    }
    (head as usize, len, data as usize, data_len)
}

#[test]
fn slots_are_equal_disjoint_and_used_again() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 1000];
    let base = memory.as_ptr() as usize;
    let map = started(dev, &memory, LOCAL_READ_WRITE);
    let pool = create_pool(10, 100, map);
    refused(|| alloc(pool).unwrap_err(), BAD_STATE);
    assert_eq!(counts(pool), (10, 10));
    ok(c! { doca_buf_pool_start(pool) });
    let bufs: Vec<_> = (0..10).map(|_| alloc(pool).unwrap()).collect();
    let seen: Vec<_> = bufs.iter().map(|&buf| look(buf)).collect();
    let expected: Vec<_> = (0..10).map(|i| (base + 100 * i, 100, base + 100 * i, 0)).collect();
    assert_eq!(seen, expected);
    refused(|| alloc(pool).unwrap_err(), EMPTY);
    assert_eq!((counts(pool), num_bufs(map)), ((10, 0), 10));
    refused(|| c! { doca_buf_pool_stop(pool) }, IN_USE);
    refused(|| c! { doca_buf_pool_destroy(pool) }, IN_USE);
    refused(|| c! { doca_mmap_stop(map) }, NOT_PERMITTED);
    // What the program did to a buffer is gone when its slot comes again.
    ok(c! { doca_buf_set_data(bufs[3], (base + 350) as *mut c_void, 50) });
    drop_buf(bufs[3]);
    let again = alloc(pool).unwrap();
    assert_eq!(look(again), (base + 300, 100, base + 300, 0));
    // A slot stays where it is.
    refused(|| c! { doca_buf_inventory_buf_reuse_by_addr(again, base as *mut c_void, 1000) }, INVALID_VALUE);
    // Lists of slots go back as one.
    ok(c! { doca_buf_chain_list(bufs[0], bufs[1]) });
    drop_buf(bufs[0]);
    assert_eq!(counts(pool), (10, 2));
    drop_buf(again);
    [2, 4, 5, 6, 7, 8, 9].into_iter().for_each(|i| drop_buf(bufs[i]));
    assert_eq!((counts(pool), num_bufs(map)), ((10, 10), 0));
    let mut heads: Vec<_> = (0..10).map(|_| alloc(pool).unwrap()).map(|buf| (look(buf).0, buf)).collect();
    heads.sort_unstable();
    assert!(heads.iter().enumerate().all(|(i, &(head, _))| head == base + 100 * i));
    heads.into_iter().for_each(|(_, buf)| drop_buf(buf));
    ok(c! { doca_buf_pool_destroy(pool) });
    destroy(map);
    close(dev);
}

#[test]
fn alignment_moves_slots_and_may_not_fit() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 64 * 12];
    let base = memory.as_ptr() as usize;
    let map = started(dev, &memory[1..], LOCAL_READ_WRITE);
    let pool = create_pool(10, 40, map);
    let mut alignment = 0;
    ok(c! { doca_buf_pool_get_element_alignment(pool, &mut alignment) });
    assert_eq!(alignment, 1);
    for bad in [0, 3, 48, usize::MAX] {
        refused(|| c! { doca_buf_pool_set_element_alignment(pool, bad) }, INVALID_VALUE);
    }
    ok(c! { doca_buf_pool_set_element_alignment(pool, 64) });
    ok(c! { doca_buf_pool_start(pool) });
    refused(|| c! { doca_buf_pool_set_element_alignment(pool, 1) }, BAD_STATE);
    let bufs: Vec<_> = (0..10).map(|_| alloc(pool).unwrap()).collect();
    let first = (base + 1).next_multiple_of(64);
    for (i, &buf) in bufs.iter().enumerate() {
        assert_eq!(look(buf), (first + 64 * i, 40, first + 64 * i, 0));
    }
    bufs.into_iter().for_each(drop_buf);
    ok(c! { doca_buf_pool_stop(pool) });
    for too_much in [128, 1 << 63] {
        ok(c! { doca_buf_pool_set_element_alignment(pool, too_much) });
        refused(|| c! { doca_buf_pool_start(pool) }, INITIALIZATION);
    }
    ok(c! { doca_buf_pool_set_element_alignment(pool, 1) });
    ok(c! { doca_buf_pool_start(pool) });
    ok(c! { doca_buf_pool_start(pool) });
    let buf = alloc(pool).unwrap();
    assert_eq!(look(buf).0, base + 1);
    drop_buf(buf);
    ok(c! { doca_buf_pool_destroy(pool) });
    let exact = create_pool(1, memory.len() - 1, map);
    ok(c! { doca_buf_pool_start(exact) });
    ok(c! { doca_buf_pool_destroy(exact) });
    let large = create_pool(1, memory.len(), map);
    refused(|| c! { doca_buf_pool_start(large) }, INITIALIZATION);
    ok(c! { doca_buf_pool_destroy(large) });
    let huge = create_pool(2, usize::MAX, map);
    refused(|| c! { doca_buf_pool_start(huge) }, INITIALIZATION);
    ok(c! { doca_buf_pool_destroy(huge) });
    destroy(map);
    close(dev);
}

#[test]
fn a_pool_follows_the_state_of_its_map() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 1000];
    let mut pool = null_mut();
    let empty = create();
    refused(|| c! { doca_buf_pool_create(1, 1, empty, &mut pool) }, INVALID_VALUE);
    destroy(empty);
    let map = configured(dev, &memory, LOCAL_READ_WRITE);
    refused(|| c! { doca_buf_pool_create(0, 1, map, &mut pool) }, INVALID_VALUE);
    refused(|| c! { doca_buf_pool_create(1, 0, map, &mut pool) }, INVALID_VALUE);
    refused(|| c! { doca_buf_pool_create(usize::MAX, 1, map, &mut pool) }, NO_MEMORY);
    refused(|| c! { doca_buf_pool_create(1, 1, map, null_mut()) }, INVALID_VALUE);
    let pool = create_pool(2, 10, map);
    refused(|| c! { doca_buf_pool_start(pool) }, BAD_STATE);
    ok(c! { doca_mmap_start(map) });
    ok(c! { doca_buf_pool_start(pool) });
    drop_buf(alloc(pool).unwrap());
    ok(c! { doca_mmap_stop(map) });
    refused(|| alloc(pool).unwrap_err(), BAD_STATE);
    ok(c! { doca_mmap_start(map) });
    drop_buf(alloc(pool).unwrap());
    destroy(map);
    refused(|| alloc(pool).unwrap_err(), BAD_STATE);
    // Another map in the place of the first does not bring the pool back.
    let others: Vec<_> = (0..40).map(|_| started(dev, &memory, LOCAL_READ_WRITE)).collect();
    let before = lines().len();
    match alloc(pool) {
        // The same memory under another map of the same place: then the buffer counts there.
        Ok(buf) => {
            assert!(others.iter().any(|&map| num_bufs(map) == 1));
            drop_buf(buf);
        }
        Err(status) => assert_eq!((status, before), (BAD_STATE, 0)),
    }
    others.into_iter().for_each(destroy);
    ok(c! { doca_buf_pool_stop(pool) });
    ok(c! { doca_buf_pool_destroy(pool) });
    refused(|| c! { doca_buf_pool_destroy(pool) }, INVALID_VALUE);
    close(dev);
}

#[test]
fn user_data_is_kept_and_set_before_start() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 1000];
    let map = started(dev, &memory, LOCAL_READ_WRITE);
    let pool = create_pool(2, 10, map);
    let mut data = 3;
    ok(c! { doca_buf_pool_get_user_data(pool, &mut data) });
    assert_eq!(data, 0);
    ok(c! { doca_buf_pool_set_user_data(pool, u64::MAX) });
    ok(c! { doca_buf_pool_start(pool) });
    refused(|| c! { doca_buf_pool_set_user_data(pool, 1) }, BAD_STATE);
    ok(c! { doca_buf_pool_get_user_data(pool, &mut data) });
    assert_eq!(data, u64::MAX);
    for stray in [null_mut(), map.cast(), dev.cast()] {
        let (mut n, mut wide, mut size) = (0, 0, 0);
        c! {
            refused(|| doca_buf_pool_destroy(stray), INVALID_VALUE);
            refused(|| doca_buf_pool_start(stray), INVALID_VALUE);
            refused(|| doca_buf_pool_stop(stray), INVALID_VALUE);
            refused(|| alloc(stray).unwrap_err(), INVALID_VALUE);
            refused(|| doca_buf_pool_set_user_data(stray, 1), INVALID_VALUE);
            refused(|| doca_buf_pool_get_user_data(stray, &mut wide), INVALID_VALUE);
            refused(|| doca_buf_pool_set_element_alignment(stray, 1), INVALID_VALUE);
            refused(|| doca_buf_pool_get_element_alignment(stray, &mut size), INVALID_VALUE);
            refused(|| doca_buf_pool_get_num_elements(stray, &mut n), INVALID_VALUE);
            refused(|| doca_buf_pool_get_num_free_elements(stray, &mut n), INVALID_VALUE);
        }
    }
    c! {
        refused(|| doca_buf_pool_buf_alloc(pool, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_pool_get_user_data(pool, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_pool_get_element_alignment(pool, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_pool_get_num_elements(pool, null_mut()), INVALID_VALUE);
        refused(|| doca_buf_pool_get_num_free_elements(pool, null_mut()), INVALID_VALUE);
    }
    assert_eq!(counts(pool), (2, 2));
    ok(c! { doca_buf_pool_destroy(pool) });
    destroy(map);
    close(dev);
}

#[test]
fn arrays_are_placed_but_find_no_target() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 1000];
    let map = configured(dev, &memory, LOCAL_READ_WRITE);
    let mut array = null_mut();
    refused(|| c! { doca_buf_arr_create(0, &mut array) }, INVALID_VALUE);
    refused(|| c! { doca_buf_arr_create(1, null_mut()) }, INVALID_VALUE);
    ok(c! { doca_buf_arr_create(10, &mut array) });
    refused(|| c! { doca_buf_arr_start(array) }, BAD_STATE);
    refused(|| c! { doca_buf_arr_set_params(array, map, 0, 0) }, INVALID_VALUE);
    refused(|| c! { doca_buf_arr_set_params(array, null_mut(), 1, 0) }, INVALID_VALUE);
    ok(c! { doca_buf_arr_set_params(array, map, 90, 100) });
    refused(|| c! { doca_buf_arr_start(array) }, BAD_STATE);
    ok(c! { doca_mmap_start(map) });
    let line = refused(|| c! { doca_buf_arr_start(array) }, BAD_STATE);
    assert!(line.contains("no target"), "{line}");
    for (size, offset) in [(90, 101), (usize::MAX, 0), (1, u64::MAX)] {
        ok(c! { doca_buf_arr_set_params(array, map, size, offset) });
        refused(|| c! { doca_buf_arr_start(array) }, NO_MEMORY);
    }
    ok(c! { doca_buf_arr_stop(array) });
    ok(c! { doca_buf_arr_destroy(array) });
    for stray in [null_mut(), array, map.cast()] {
        refused(|| c! { doca_buf_arr_set_params(stray, map, 1, 0) }, INVALID_VALUE);
        refused(|| c! { doca_buf_arr_start(stray) }, INVALID_VALUE);
        refused(|| c! { doca_buf_arr_stop(stray) }, INVALID_VALUE);
        refused(|| c! { doca_buf_arr_destroy(stray) }, INVALID_VALUE);
    }
    destroy(map);
    close(dev);
}
