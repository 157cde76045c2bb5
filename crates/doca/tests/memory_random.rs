//! Random call sequences against a simple model: whatever a program does in whatever order, each call answers what the
//! rules say, and every count is right. Seeded; a failure names seed and step.
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

/// Bytes of memory that all maps of a sequence lie in.
const BYTES: usize = 1 << 14;

struct Map {
    handle: *mut Mmap,
    range: Option<(usize, usize)>,
    device: bool,
    started: bool,
    safe: bool,
}

struct Inv {
    handle: *mut Inventory,
    started: bool,
    total: u32,
}

#[derive(Clone)]
struct Buf {
    handle: *mut Node,
    map: usize,
    inv: usize,
    window: (usize, usize, usize, usize),
    refs: u16,
}

struct World {
    random: Random,
    dev: *mut Dev,
    memory: Vec<u8>,
    maps: Vec<Option<Map>>,
    invs: Vec<Option<Inv>>,
    /// Buffers by list; the first is the head.
    lists: Vec<Vec<Buf>>,
    step: usize,
}

impl World {
    fn new(seed: u64) -> World {
        World {
            random: Random(seed * 2 + 1),
            dev: open(CARD),
            memory: vec![0; BYTES],
            maps: (0..4).map(|_| None).collect(),
            invs: (0..3).map(|_| None).collect(),
            lists: Vec::new(),
            step: 0,
        }
    }

    fn expect(&self, call: &str, got: i32, expected: i32) {
        let said = lines();
        assert_eq!(got, expected, "step {}: {call}: {said:?}", self.step);
        let errors = said.iter().filter(|line| line.starts_with("ERROR")).count();
        assert_eq!(errors, usize::from(expected != SUCCESS), "step {}: {call}: {said:?}", self.step);
    }

    fn bufs_of_map(&self, map: usize) -> usize {
        self.lists.iter().flatten().filter(|buf| buf.map == map).count()
    }

    fn out_of(&self, inv: usize) -> u32 {
        self.lists.iter().flatten().filter(|buf| buf.inv == inv).count() as u32
    }

    fn map_step(&mut self) {
        let at = self.random.below(self.maps.len());
        let bufs = self.bufs_of_map(at);
        let what = self.random.below(14);
        let Some(mut map) = self.maps[at].take() else {
            // Buffers of a map that was destroyed under them still stand for the old one.
            if bufs == 0 {
                let handle = create();
                self.maps[at] = Some(Map { handle, range: None, device: false, started: false, safe: false });
            }
            return;
        };
        let handle = map.handle;
        let locked = if map.started { NOT_PERMITTED } else { SUCCESS };
        match what {
            0 => {
                let from = self.random.below(BYTES - 1);
                let len = self.random.below(BYTES - from + 1);
                let base = self.memory.as_ptr() as usize + from;
                let expected = match (len, map.started, map.range) {
                    (0, ..) => INVALID_VALUE,
                    (_, true, _) => BAD_STATE,
                    (_, _, Some(_)) => NOT_PERMITTED,
                    _ => SUCCESS,
                };
                self.expect(
                    "set_memrange",
                    c! { doca_mmap_set_memrange(handle, base as *mut c_void, len) },
                    expected,
                );
                if expected == SUCCESS {
                    map.range = Some((base, len));
                }
            }
            1 => {
                let expected = if !map.started && map.device { ALREADY_EXIST } else { locked };
                self.expect("add_dev", c! { doca_mmap_add_dev(handle, self.dev) }, expected);
                map.device |= expected == SUCCESS;
            }
            2 => {
                let expected = if !map.started && !map.device { NOT_FOUND } else { locked };
                self.expect("rm_dev", c! { doca_mmap_rm_dev(handle, self.dev) }, expected);
                map.device &= expected != SUCCESS;
            }
            3..=8 => {
                let expected = match (map.started, map.range, map.device) {
                    (true, ..) => NOT_PERMITTED,
                    (_, None, _) | (_, _, false) => INVALID_VALUE,
                    _ => SUCCESS,
                };
                self.expect("start", c! { doca_mmap_start(handle) }, expected);
                map.started |= expected == SUCCESS;
            }
            9 => {
                let expected = if bufs > 0 && !map.safe { NOT_PERMITTED } else { SUCCESS };
                self.expect("stop", c! { doca_mmap_stop(handle) }, expected);
                map.started &= expected != SUCCESS;
            }
            10 => {
                let expected = if map.started || bufs > 0 { NOT_PERMITTED } else { SUCCESS };
                self.expect("enable_thread_safety", c! { doca_mmap_enable_thread_safety(handle) }, expected);
                map.safe |= expected == SUCCESS;
            }
            11 => {
                let expected = if bufs > 0 && !map.safe { NOT_PERMITTED } else { SUCCESS };
                self.expect("destroy", c! { doca_mmap_destroy(handle) }, expected);
                if expected == SUCCESS {
                    self.expect("destroyed", c! { doca_mmap_stop(handle) }, INVALID_VALUE);
                    return;
                }
            }
            _ => {
                let mask = [0x01, 0x30, 0x20, 0x80][self.random.below(4)];
                let expected = match (mask, map.started) {
                    (0x30 | 0x80, _) => INVALID_VALUE,
                    (_, true) => BAD_STATE,
                    _ => SUCCESS,
                };
                self.expect("set_permissions", c! { doca_mmap_set_permissions(handle, mask) }, expected);
            }
        }
        self.maps[at] = Some(map);
    }

    fn inventory_step(&mut self) {
        let at = self.random.below(self.invs.len());
        let Some(mut inv) = self.invs[at].take() else {
            let (total, mut handle) = (1 + self.random.below(20) as u32, null_mut());
            self.expect("create", c! { doca_buf_inventory_create(total as usize, &mut handle) }, SUCCESS);
            self.invs[at] = Some(Inv { handle, started: false, total });
            return;
        };
        let handle = inv.handle;
        match self.random.below(8) {
            0..=3 => {
                self.expect("start", c! { doca_buf_inventory_start(handle) }, SUCCESS);
                inv.started = true;
            }
            4 => {
                self.expect("stop", c! { doca_buf_inventory_stop(handle) }, SUCCESS);
                inv.started = false;
            }
            5 => {
                let more = self.random.below(4) as u32;
                let expected = match (more, inv.started) {
                    (0, _) => INVALID_VALUE,
                    (_, false) => BAD_STATE,
                    _ => SUCCESS,
                };
                self.expect("expand", c! { doca_buf_inventory_expand(handle, more) }, expected);
                inv.total += if expected == SUCCESS { more } else { 0 };
            }
            _ => {
                let expected = if self.out_of(at) > 0 { IN_USE } else { SUCCESS };
                self.expect("destroy", c! { doca_buf_inventory_destroy(handle) }, expected);
                if expected == SUCCESS {
                    return;
                }
            }
        }
        self.invs[at] = Some(inv);
    }

    /// A window around a range, mostly inside.
    fn window(&mut self, base: usize, len: usize) -> (usize, usize, usize, usize) {
        let addr = base + self.random.below(len + 1) - usize::from(self.random.below(8) == 0);
        let room = (base + len).saturating_sub(addr);
        let size = self.random.below(room + 1) + usize::from(self.random.below(8) == 0);
        let data = addr + self.random.below(size + 1);
        let data_len = self.random.below(addr + size - data + 1) + usize::from(self.random.below(8) == 0);
        (addr, size, data, data_len)
    }

    fn take_step(&mut self) {
        let (m, i) = (self.random.below(self.maps.len()), self.random.below(self.invs.len()));
        let map = self.maps[m].as_ref().map(|map| (map.handle, map.range, map.started));
        let inv = self.invs[i].as_ref().map(|inv| (inv.handle, inv.started, inv.total));
        let (Some((map, range, map_started)), Some((inv, inv_started, total))) = (map, inv) else { return };
        let (base, len) = range.unwrap_or((self.memory.as_ptr() as usize, BYTES));
        let window = self.window(base, len);
        let (addr, size, data, data_len) = window;
        let expected = match () {
            () if !inv_started || !map_started => BAD_STATE,
            () if addr < base || addr + size > base + len => INVALID_VALUE,
            () if data + data_len > addr + size => INVALID_VALUE,
            () if self.out_of(i) == total => NO_MEMORY,
            () => SUCCESS,
        };
        let got = take(inv, map, addr, size, data, data_len);
        self.expect("get_by_args", got.err().unwrap_or(SUCCESS), expected);
        if let Ok(handle) = got {
            self.lists.push(vec![Buf { handle, map: m, inv: i, window, refs: 1 }]);
        }
    }

    fn list_step(&mut self) {
        if self.lists.is_empty() {
            return;
        }
        let (l, k) = (self.random.below(self.lists.len()), self.random.below(self.lists.len()));
        let e = self.random.below(self.lists[l].len());
        let buf = self.lists[l][e].clone();
        let member = if e > 0 { NOT_PERMITTED } else { SUCCESS };
        match self.random.below(8) {
            0 | 1 => {
                let mut before = 0;
                self.expect("dec", c! { doca_buf_dec_refcount(buf.handle, &mut before) }, member);
                if member == SUCCESS {
                    assert_eq!(before, buf.refs);
                    self.lists[l][0].refs -= 1;
                    if before == 1 {
                        self.lists.swap_remove(l);
                        self.expect("given back", c! { doca_buf_reset_data_len(buf.handle) }, INVALID_VALUE);
                    }
                }
            }
            2 => {
                self.expect("inc", c! { doca_buf_inc_refcount(buf.handle, null_mut()) }, member);
                self.lists[l][e].refs += u16::from(member == SUCCESS);
            }
            3 | 4 => {
                let second = self.lists[k][0].clone();
                let expected = match () {
                    () if e > 0 => NOT_PERMITTED,
                    () if l == k => INVALID_VALUE,
                    () if second.refs != 1 => NOT_PERMITTED,
                    () => SUCCESS,
                };
                let fast = self.random.below(2) == 0;
                let tail = self.lists[l].last().unwrap().handle;
                let got = c! {
                    if fast {
                        doca_buf_chain_list_tail(buf.handle, tail, second.handle)
                    } else {
                        doca_buf_chain_list(buf.handle, second.handle)
                    }
                };
                self.expect("chain", got, expected);
                if expected == SUCCESS {
                    let moved = std::mem::take(&mut self.lists[k]);
                    self.lists[l].extend(moved);
                    self.lists.swap_remove(k);
                }
            }
            5 => {
                let first = self.lists[k][0].handle;
                let expected = if l == k && e > 0 { SUCCESS } else { INVALID_VALUE };
                self.expect("unchain", c! { doca_buf_unchain_list(first, buf.handle) }, expected);
                if expected == SUCCESS {
                    let cut = self.lists[l].split_off(e);
                    self.lists.push(cut);
                }
            }
            6 => {
                let (addr, len, ..) = buf.window;
                let (_, _, data, data_len) = self.window(addr, len);
                let inside = data >= addr && data + data_len <= addr + len;
                let expected = if inside { SUCCESS } else { INVALID_VALUE };
                self.expect(
                    "set_data",
                    c! { doca_buf_set_data(buf.handle, data as *mut c_void, data_len) },
                    expected,
                );
                if inside {
                    self.lists[l][e].window = (addr, len, data, data_len);
                }
            }
            _ => self.dup_step(l, e),
        }
    }

    fn dup_step(&mut self, l: usize, e: usize) {
        let i = self.random.below(self.invs.len());
        let Some((inv, started, total)) =
            self.invs[i].as_ref().map(|inv| (inv.handle, inv.started, inv.total))
        else {
            return;
        };
        let source = self.lists[l].clone();
        let open = |buf: &Buf| self.maps[buf.map].as_ref().is_some_and(|map| map.started);
        let expected = match () {
            () if !started => BAD_STATE,
            () if e > 0 => NOT_PERMITTED,
            () if !source.iter().all(open) => BAD_STATE,
            () if total - self.out_of(i) < source.len() as u32 => NO_MEMORY,
            () => SUCCESS,
        };
        let mut copy = null_mut();
        self.expect("dup", c! { doca_buf_inventory_buf_dup(inv, source[e].handle, &mut copy) }, expected);
        if expected == SUCCESS {
            let mut list = Vec::new();
            for buf in source {
                list.push(Buf { handle: copy, inv: i, refs: 1, ..buf });
                ok(c! { doca_buf_get_next_in_list(copy, &mut copy) });
            }
            assert!(copy.is_null());
            self.lists.push(list);
        }
    }

    /// Everything the library says against everything the model says.
    fn compare(&self) {
        for (i, inv) in self.invs.iter().enumerate() {
            let Some(inv) = inv else { continue };
            assert_eq!(num_free(inv.handle), inv.total - self.out_of(i), "step {}", self.step);
        }
        for (m, map) in self.maps.iter().enumerate() {
            let Some(map) = map else { continue };
            assert_eq!(num_bufs(map.handle) as usize, self.bufs_of_map(m), "step {}", self.step);
        }
        for list in &self.lists {
            let mut handle = list[0].handle;
            for (e, buf) in list.iter().enumerate() {
                assert_eq!(handle, buf.handle, "step {}", self.step);
                let (mut addr, mut len, mut data, mut data_len, mut refs) = (null_mut(), 0, null_mut(), 0, 0);
                c! {
                    ok(doca_buf_get_head(handle, &mut addr));
                    ok(doca_buf_get_len(handle, &mut len));
                    ok(doca_buf_get_data(handle, &mut data));
                    ok(doca_buf_get_data_len(handle, &mut data_len));
                    ok(doca_buf_get_refcount(handle, &mut refs));
                    ok(doca_buf_get_next_in_list(handle, &mut handle));
                }
                assert_eq!((addr as usize, len, data as usize, data_len), buf.window, "step {}", self.step);
                assert!(e > 0 || refs == buf.refs, "step {}", self.step);
                let open = self.maps[buf.map].as_ref().is_some_and(|map| map.started);
                assert_eq!(
                    word(buf.handle) != 0,
                    open,
                    "step {}: access only through started maps",
                    self.step
                );
            }
            assert!(handle.is_null(), "step {}", self.step);
        }
    }

    /// Gives everything back; nothing may be left.
    fn end(mut self) {
        for list in self.lists.drain(..) {
            for _ in 0..list[0].refs {
                drop_buf(list[0].handle);
            }
        }
        self.compare();
        for inv in self.invs.iter().flatten() {
            ok(c! { doca_buf_inventory_destroy(inv.handle) });
        }
        for map in self.maps.iter().flatten() {
            destroy(map.handle);
        }
        close(self.dev);
    }
}

#[test]
fn random_sequences_follow_the_model() {
    setup();
    for seed in 0..60 {
        println!("seed {seed}");
        let mut world = World::new(seed);
        for step in 0..1500 {
            world.step = step;
            match world.random.below(10) {
                0..=2 => world.map_step(),
                3 => world.inventory_step(),
                4..=6 => world.take_step(),
                _ => world.list_step(),
            }
            if step % 16 == 0 {
                world.compare();
            }
        }
        world.end();
    }
}
