//! What the tests of the memory family share, on top of `dev_common`.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part")]

use crate::dev_common::{SUCCESS, lines};
use softdpu_c::buf::*;
use softdpu_c::dev::Dev;
use softdpu_c::inventory::*;
use softdpu_c::mmap::*;
use softdpu_memory::node::Node;
use std::ffi::c_void;
use std::ptr::null_mut;

pub const NOT_PERMITTED: i32 = 2;
pub const NO_MEMORY: i32 = 7;
pub const INITIALIZATION: i32 = 8;
pub const DRIVER: i32 = 21;
pub const ALREADY_EXIST: i32 = 23;
pub const EMPTY: i32 = 25;
pub const TOO_BIG: i32 = 27;

pub const LOCAL_READ_ONLY: u32 = 0;
pub const LOCAL_READ_WRITE: u32 = 1;
pub const RDMA_READ: u32 = 2;
pub const RDMA_WRITE: u32 = 4;
pub const PCI_READ_ONLY: u32 = 0x10;
pub const PCI_READ_WRITE: u32 = 0x20;

pub const CARD: &str = "03:00.0";
pub const HOST: &str = "b1:00.0";

pub fn ok(status: i32) {
    assert_eq!(status, SUCCESS, "{:?}", lines());
}

/// The call was refused with this status and said why in exactly one line, which is returned.
#[track_caller]
pub fn refused(call: impl FnOnce() -> i32, status: i32) -> String {
    lines();
    let got = call();
    let mut said: Vec<_> = lines().into_iter().filter(|line| line.starts_with("ERROR")).collect();
    assert_eq!(got, status, "{said:?}");
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

pub fn create() -> *mut Mmap {
    let mut map = null_mut();
    ok(c! { doca_mmap_create(&mut map) });
    map
}

pub fn at(memory: &[u8]) -> *mut c_void {
    memory.as_ptr().cast_mut().cast()
}

/// A map with range, device and permissions, not started.
pub fn configured(dev: *mut Dev, memory: &[u8], access: u32) -> *mut Mmap {
    let map = create();
    c! {
        ok(doca_mmap_set_memrange(map, at(memory), memory.len()));
        ok(doca_mmap_add_dev(map, dev));
        ok(doca_mmap_set_permissions(map, access));
    }
    map
}

pub fn started(dev: *mut Dev, memory: &[u8], access: u32) -> *mut Mmap {
    let map = configured(dev, memory, access);
    ok(c! { doca_mmap_start(map) });
    map
}

pub fn destroy(map: *mut Mmap) {
    ok(c! { doca_mmap_destroy(map) });
}

/// A started inventory.
pub fn inventory(elements: usize) -> *mut Inventory {
    let mut inventory = null_mut();
    ok(c! { doca_buf_inventory_create(elements, &mut inventory) });
    ok(c! { doca_buf_inventory_start(inventory) });
    inventory
}

/// Takes a buffer, or tells the status.
pub fn take(
    inventory: *mut Inventory,
    map: *mut Mmap,
    addr: usize,
    len: usize,
    data: usize,
    data_len: usize,
) -> Result<*mut Node, i32> {
    let mut buf = null_mut();
    let (addr, data) = (addr as *mut c_void, data as *mut c_void);
    match c! { doca_buf_inventory_buf_get_by_args(inventory, map, addr, len, data, data_len, &mut buf) } {
        SUCCESS => Ok(buf),
        status => {
            assert!(buf.is_null(), "nothing is written on error");
            Err(status)
        }
    }
}

/// A full buffer over all of `memory`.
pub fn full(inventory: *mut Inventory, map: *mut Mmap, memory: &[u8]) -> *mut Node {
    let addr = memory.as_ptr() as usize;
    take(inventory, map, addr, memory.len(), addr, memory.len()).unwrap()
}

pub fn drop_buf(buf: *mut Node) {
    ok(c! { doca_buf_dec_refcount(buf, null_mut()) });
}

/// The access word of the region a buffer points into.
pub fn word(buf: *mut Node) -> u64 {
    c! { (*buf).region().word() }
}

pub fn num_bufs(map: *mut Mmap) -> u32 {
    let mut n = 99;
    ok(c! { doca_mmap_get_num_bufs(map, &mut n) });
    n
}

pub fn num_free(inventory: *mut Inventory) -> u32 {
    let mut n = 99;
    ok(c! { doca_buf_inventory_get_num_free_elements(inventory, &mut n) });
    n
}

/// A seeded source of numbers.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }
}
