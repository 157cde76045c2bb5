//! Handles that are none, at every call that takes a memory map. In a process of its own: the place of a destroyed map is
//! given out again, and no other test may get it meanwhile.
#![allow(unsafe_code, reason = "calls the C face")]

#[macro_use]
mod dev_common;
mod memory_common;

use dev_common::*;
use memory_common::*;
use softdpu_c::dev::*;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::node::Node;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

/// Every call that takes a map, with that map replaced by what is none.
#[test]
fn stray_handles_are_refused_everywhere() {
    setup();
    let dev = open(CARD);
    let memory = vec![0u8; 100];
    let gone = create();
    destroy(gone);
    let inventory = inventory(1);
    unsafe extern "C" fn nothing(_: *mut c_void, _: usize, _: *mut c_void) {}
    let strays: [*mut Mmap; 4] = [null_mut(), dev.cast(), inventory.cast(), gone];
    for map in strays {
        let (mut addr, mut len, mut byte, mut number, mut wide) = (null_mut(), 0, 0, 0, 0);
        let (mut desc, mut buf): (*const c_void, *mut Node) = (null(), null_mut());
        let mut pool = null_mut();
        let check = |call: &mut dyn FnMut() -> i32| {
            refused(call, INVALID_VALUE);
        };
        c! {
            check(&mut || doca_mmap_destroy(map));
            check(&mut || doca_mmap_start(map));
            check(&mut || doca_mmap_stop(map));
            check(&mut || doca_mmap_add_dev(map, dev));
            check(&mut || doca_mmap_rm_dev(map, dev));
            check(&mut || doca_mmap_enable_thread_safety(map));
            check(&mut || doca_mmap_set_memrange(map, at(&memory), 100));
            check(&mut || doca_mmap_set_dmabuf_memrange(map, 1, at(&memory), 0, 100));
            check(&mut || doca_mmap_get_memrange(map, &mut addr, &mut len));
            check(&mut || doca_mmap_set_permissions(map, 1));
            check(&mut || doca_mmap_set_free_cb(map, Some(nothing), null_mut()));
            check(&mut || doca_mmap_set_user_data(map, 1));
            check(&mut || doca_mmap_set_max_num_devices(map, 2));
            check(&mut || doca_mmap_set_export_access_token(map, dev, memory.as_ptr(), 1));
            check(&mut || doca_mmap_get_user_data(map, &mut wide));
            check(&mut || doca_mmap_get_max_num_devices(map, &mut number));
            check(&mut || doca_mmap_get_num_bufs(map, &mut number));
            check(&mut || doca_mmap_get_exported(map, &mut byte));
            check(&mut || doca_mmap_get_from_export(map, &mut byte));
            check(&mut || doca_mmap_get_mkey(map, dev, &mut number));
            check(&mut || doca_mmap_export_pci(map, dev, &mut desc, &mut len));
            check(&mut || doca_mmap_export_rdma(map, dev, &mut desc, &mut len));
            check(&mut || {
                doca_buf_inventory_buf_get_by_args(inventory, map, at(&memory), 1, at(&memory), 0, &mut buf)
            });
            check(&mut || softdpu_c::pool::doca_buf_pool_create(1, 1, map, &mut pool));
        }
        assert!(addr.is_null() && len == 0 && byte == 0 && number == 0 && wide == 0);
        assert!(desc.is_null() && buf.is_null() && pool.is_null());
    }
    let map = create();
    let strays: [*mut Dev; 3] = [null_mut(), map.cast(), gone.cast()];
    for dev in strays {
        let (mut number, mut desc, mut len) = (0, null(), 0);
        let mut imported = null_mut();
        c! {
            refused(|| doca_mmap_add_dev(map, dev), INVALID_VALUE);
            refused(|| doca_mmap_rm_dev(map, dev), INVALID_VALUE);
            refused(|| doca_mmap_set_export_access_token(map, dev, memory.as_ptr(), 1), INVALID_VALUE);
            refused(|| doca_mmap_get_mkey(map, dev, &mut number), INVALID_VALUE);
            refused(|| doca_mmap_export_pci(map, dev, &mut desc, &mut len), INVALID_VALUE);
            refused(|| doca_mmap_export_rdma(map, dev, &mut desc, &mut len), INVALID_VALUE);
            refused(|| doca_mmap_create_from_export(null(), at(&memory), 100, dev, &mut imported), INVALID_VALUE);
        }
        assert!(imported.is_null());
    }
    destroy(map);
    ok(c! { doca_buf_inventory_destroy(inventory) });
    close(dev);
}
