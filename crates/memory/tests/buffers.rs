//! Buffers: claims, data, lists, what may be looked at; and any order of dropping.

mod common;

use common::{Dice, device};
use softdpu_memory::buf::Lend;
use softdpu_memory::copy::{Gate, transfer};
use softdpu_memory::{Access, Buf, Memory};
use softdpu_status::{Class, Code, Error};
use std::any::Any;
use std::ops::{Bound, Range};

fn memory(len: usize) -> Memory {
    Memory::heap(len).access(Access::LOCAL_READ_WRITE).register(&[&device(0)]).unwrap()
}

fn shared(len: usize) -> Memory {
    let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
    let builder = if cfg!(miri) { Memory::heap(len) } else { Memory::memfd(len) };
    builder.access(access).register(&[&device(0)]).unwrap()
}

#[test]
fn a_buffer_is_one_word() {
    assert_eq!((size_of::<Buf>(), size_of::<Option<Buf>>()), (size_of::<usize>(), size_of::<usize>()));
    fn sendable<T: Send + Sync + 'static>() {}
    sendable::<Buf>();
    sendable::<Memory>();
    sendable::<softdpu_memory::BufPool>();
}

#[test]
fn exclusive_windows_overlap_nothing_and_aliases_only_aliases() {
    let m = memory(1000);
    let held = m.buf(100..200).unwrap();
    for range in [0..101, 100..200, 150..160, 199..1000, 0..1000] {
        for refused in [m.buf(range.clone()).unwrap_err(), m.alias(range.clone()).unwrap_err()] {
            assert_eq!((refused.requested(), refused.against()), (range.clone(), 100..200));
            assert_eq!((refused.code(), refused.class()), (Code::InvalidValue, Class::Parameter));
        }
    }
    let around = (m.buf(0..100).unwrap(), m.buf(200..201).unwrap());
    drop(held);
    let aliases = (m.alias(100..150).unwrap(), m.alias(120..200).unwrap());
    assert!(!aliases.0.is_exclusive() && around.0.is_exclusive());
    let refused = m.buf(110..115).unwrap_err();
    assert!(refused.against().start < 115 && 110 < refused.against().end, "{refused}");
    drop(aliases.0);
    drop(m.buf(100..120).unwrap());
    assert!(m.buf(119..121).is_err() && !m.is_unclaimed());
    drop((around, aliases.1));
    assert!(m.is_unclaimed());
    drop(m.buf(..).unwrap());
}

#[test]
fn ranges_that_are_none() {
    let m = memory(1000);
    let (later, earlier) = (30, 20);
    for refused in [
        m.buf(0..1001),
        m.buf(1000..1001),
        m.buf(later..earlier),
        m.buf(5..5),
        m.buf(1000..),
        m.buf(0..=usize::MAX),
        m.buf((Bound::Excluded(usize::MAX), Bound::Unbounded)),
        m.alias(0..usize::MAX),
    ] {
        let refused = refused.unwrap_err();
        assert_eq!((refused.code(), refused.against()), (Code::InvalidValue, 0..1000));
    }
    assert!(m.is_unclaimed());
    fn turns<T>(r: Result<T, softdpu_memory::WindowError>) -> Result<T, Error> {
        Ok(r?)
    }
    assert_eq!(turns(m.buf(2000..)).unwrap_err().what(), "window leaves the memory");
}

#[test]
fn data_stays_in_the_window() {
    let m = memory(1000);
    let mut buf = m.buf(100..200).unwrap();
    assert_eq!((buf.capacity(), buf.data(), buf.room()), (100, 0..0, 100));
    buf.set_data(90..=99).unwrap();
    assert_eq!((buf.data(), buf.data_len(), buf.room()), (90..100, 10, 0));
    let (later, earlier) = (30, 20);
    for refused in [buf.set_data(..101), buf.set_data(later..earlier), buf.advance(1), buf.push_slice(b"x")] {
        assert_eq!(refused.unwrap_err().against(), 0..100);
    }
    assert_eq!(buf.advance(usize::MAX).unwrap_err().requested(), 100..usize::MAX);
    let mut byte = [0];
    for at in [100, 101, usize::MAX] {
        assert_eq!(buf.read_at(at, &mut byte).unwrap_err().code(), Code::InvalidValue);
        assert_eq!(buf.write_at(at, &byte).unwrap_err().code(), Code::InvalidValue);
    }
    assert_eq!(buf.read_at(99, &mut [0, 0]).unwrap_err().requested(), 99..101);
    buf.read_at(100, &mut []).unwrap();
    assert_eq!(buf.data(), 90..100);
    buf.reset();
    assert_eq!(buf.data(), 0..0);
}

#[test]
fn slices_only_where_nobody_else_can_write() {
    let (private, shared) = (memory(64), shared(64));
    let mut own = private.buf(..32).unwrap();
    own.tail_mut().unwrap()[..3].copy_from_slice(b"abc");
    own.advance(3).unwrap();
    own.as_mut_slice().unwrap()[0] = b'A';
    assert_eq!(own.tail_mut().map(|t| t.len()), Some(29));
    assert_eq!(own.as_slice(), Some(&b"Abc"[..]));
    for mut other in [private.alias(32..).unwrap(), shared.buf(..32).unwrap(), shared.alias(32..).unwrap()] {
        other.push_slice(b"abc").unwrap();
        assert!(other.as_slice().is_none() && other.as_mut_slice().is_none() && other.tail_mut().is_none());
        let mut back = [0; 2];
        other.read_at(1, &mut back).unwrap();
        assert_eq!((&back, other.to_vec().as_slice()), (b"bc", &b"abc"[..]));
    }
}

#[test]
fn lists_cross_memories_and_give_everything_back() {
    let (one, two) = (memory(100), shared(100));
    let pool = memory(64).pool(16).unwrap();
    let mut list = one.buf(10..20).unwrap();
    let mut middle = two.alias(50..60).unwrap();
    middle.chain(pool.take().unwrap());
    list.chain(middle);
    list.chain(one.buf(..10).unwrap());
    for (i, mut element) in list.elements_mut().enumerate() {
        element.push_slice(&[b'a' + i as u8; 5]).unwrap();
        assert_eq!(element.as_element().data_len(), 5);
    }
    assert_eq!((list.total_data_len(), list.to_vec().as_slice()), (20, &b"aaaaabbbbbcccccddddd"[..]));
    let kinds: Vec<_> =
        list.elements().map(|e| (e.memory().clone(), e.range_in_memory(), e.is_exclusive())).collect();
    assert_eq!((&kinds[0].0, kinds[0].1.clone(), kinds[0].2), (&one, 10..20, true));
    assert_eq!((&kinds[1].0, kinds[1].1.clone(), kinds[1].2), (&two, 50..60, false));
    assert_eq!((&kinds[2].0, kinds[2].1.clone(), kinds[2].2), (pool.memory(), 0..16, true));
    assert_eq!(
        format!("{:?}", list.elements().nth(1).unwrap()),
        format!("50..60 of memory {:#x}, data 0..5, alias", two.host_addr())
    );
    drop(kinds);

    let rest = list.unchain().unwrap();
    assert!(list.unchain().is_none());
    assert_eq!((list.to_vec().as_slice(), rest.elements().count()), (&b"aaaaa"[..], 3));
    assert!(one.buf(..).is_err() && pool.available() == 3);
    list.chain(rest);
    list.reset();
    assert_eq!(list.total_data_len(), 0);
    drop(list);
    assert!(one.is_unclaimed() && two.is_unclaimed() && pool.available() == 4);
}

#[test]
fn long_lists_do_not_overflow_the_stack() {
    let many = if cfg!(miri) { 500 } else { 200_000 };
    let pool = memory(many).pool(1).unwrap();
    let mut list: Option<Buf> = None;
    while let Some(mut buf) = pool.take() {
        buf.push_slice(&[1]).unwrap();
        if let Some(behind) = list.take() {
            buf.chain(behind);
        }
        list = Some(buf);
    }
    assert_eq!(list.as_ref().unwrap().total_data_len(), many);
    drop(list);
    assert_eq!(pool.available(), many);
}

fn one(range: Range<usize>) -> Vec<Range<usize>> {
    Vec::from([range])
}

#[test]
fn pools_are_carved_exactly() {
    let m = memory(1 << 16);
    for (range, window, align, want) in [
        (0..100, 10, 1, vec![0..10, 10..20, 90..100]),
        (3..100, 10, 1, vec![3..13, 13..23, 83..93]),
        (1..1000, 100, 64, vec![64..164, 192..292, 832..932]),
        (0..4196, 100, 4096, vec![0..100, 4096..4196]),
        (0..4195, 100, 4096, one(0..100)),
        (100..200, 100, 4, one(100..200)),
    ] {
        let pool = m.pool_in(range, window, align).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
        let mut ranges: Vec<_> = all.iter().map(Buf::range_in_memory).collect();
        assert!(all.iter().all(|b| b.data() == (0..0) && b.capacity() == window && b.is_exclusive()));
        assert!(ranges.windows(2).all(|w| w[0].end <= w[1].start), "in order, disjoint: {ranges:?}");
        assert_eq!((pool.capacity(), pool.available(), pool.window()), (ranges.len(), 0, window));
        let last = ranges.pop();
        ranges.truncate(want.len() - 1);
        ranges.extend(last);
        assert_eq!(ranges, want);
    }
    assert!(m.is_unclaimed());
    for (window, align) in
        [(0, 1), (1, 0), (1, 3), ((1 << 16) + 1, 1), (1, 1 << 40), (usize::MAX, 2), (usize::MAX, 1)]
    {
        // The memory may happen to lie at a multiple of a large power of two, but hardly of 2^40.
        assert_eq!(m.pool_aligned(window, align).unwrap_err().code(), Code::InvalidValue, "{window} {align}");
    }
    let pool = m.pool(1 << 15).unwrap();
    assert_eq!(m.buf(..1).unwrap_err().against(), 0..1 << 16);
    let held = pool.take().unwrap();
    drop(pool);
    assert!(!m.is_unclaimed(), "a buffer keeps its pool");
    drop(held);
    assert!(m.is_unclaimed());
}

#[test]
fn a_pooled_buffer_comes_back_empty() {
    let pool = memory(64).pool(64).unwrap();
    let mut buf = pool.take().unwrap();
    buf.push_slice(b"used").unwrap();
    buf.set_data(2..4).unwrap();
    drop(buf);
    let buf = pool.take().unwrap();
    assert_eq!((buf.data(), buf.capacity(), pool.take().is_none()), (0..0, 64, true));
}

/// Device, memory, pool and buffers, dropped in each of the 5040 orders (Miri: in some).
#[test]
fn any_order_of_dropping_is_fine() {
    let mut order: Vec<usize> = (0..7).collect();
    permute(&mut order, if cfg!(miri) { 4 } else { 0 }, &mut |order| {
        let dev = device(0);
        let m = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&dev]).unwrap();
        let pool = m.pool_in(1024.., 512, 1).unwrap();
        let mut list = m.buf(..100).unwrap();
        list.chain(pool.take().unwrap());
        list.chain(m.alias(200..300).unwrap());
        let (pooled, alias, buf) =
            (pool.take().unwrap(), m.alias(250..350).unwrap(), m.buf(600..700).unwrap());
        let mut things: [Option<Box<dyn Any>>; 7] = [
            Box::new(dev) as Box<dyn Any>,
            Box::new(m),
            Box::new(pool),
            Box::new(list),
            Box::new(pooled),
            Box::new(alias),
            Box::new(buf),
        ]
        .map(Some);
        for (at, &i) in order.iter().enumerate() {
            things[i] = None;
            // What is left still works.
            for thing in things.iter_mut().flatten() {
                if let Some(buf) = thing.downcast_mut::<Buf>() {
                    buf.write_at(0, &[at as u8]).unwrap();
                    let mut byte = [0xff];
                    buf.read_at(0, &mut byte).unwrap();
                    assert_eq!(byte[0], at as u8);
                }
            }
        }
    });
}

fn permute(order: &mut Vec<usize>, from: usize, each: &mut dyn FnMut(&[usize])) {
    if from == order.len() {
        return each(order);
    }
    for i in from..order.len() {
        order.swap(from, i);
        permute(order, from + 1, each);
        order.swap(from, i);
    }
}

/// Buffers as a program sees them, against plain vectors: windows, data, lists, copies by an engine.
#[test]
fn random_work_follows_a_model() {
    const BYTES: usize = 400;
    for seed in 0..if cfg!(miri) { 4 } else { 60 } {
        let mut dice = Dice::new(seed);
        let dev = device(0);
        let m = if seed % 2 == 0 { memory(BYTES) } else { shared(BYTES) };
        let gate = Gate::new(dev.bit(), 1 << 20, 64);
        let mut bytes = vec![0u8; BYTES];
        // Each list with the model of its elements: start and end in memory, data in the window.
        let mut lists: Vec<(Buf, Vec<Model>)> = Vec::new();
        for step in 0..400 {
            let context = format!("seed {seed} step {step}");
            match dice.roll(9) {
                0 | 1 => {
                    let start = dice.roll(BYTES);
                    let end = start + 1 + dice.roll((BYTES - start).min(60));
                    let exclusive = dice.roll(3) > 0;
                    let free = lists
                        .iter()
                        .flat_map(|l| &l.1)
                        .all(|e| e.end <= start || end <= e.start || (!exclusive && !e.exclusive));
                    let got = if exclusive { m.buf(start..end) } else { m.alias(start..end) };
                    assert_eq!(got.is_ok(), free, "{context}");
                    if let Ok(buf) = got {
                        lists.push((buf, vec![Model { start, end, data: 0..0, exclusive }]));
                    }
                }
                _ if lists.is_empty() => {}
                2 => drop(lists.swap_remove(dice.roll(lists.len()))),
                3 => {
                    let (mut buf, mut model) = lists.swap_remove(dice.roll(lists.len()));
                    if let Some((tail, more)) = lists.pop() {
                        buf.chain(tail);
                        model.extend(more);
                    }
                    lists.push((buf, model));
                }
                4 => {
                    let i = dice.roll(lists.len());
                    if let Some(rest) = lists[i].0.unchain() {
                        let more = lists[i].1.split_off(1);
                        lists.push((rest, more));
                    }
                }
                5 => {
                    let i = dice.roll(lists.len());
                    let (buf, model) = &mut lists[i];
                    for (mut element, model) in buf.elements_mut().zip(model) {
                        let cap = model.end - model.start;
                        let start = dice.roll(cap + 1);
                        model.data = start..start + dice.roll(cap + 1 - start);
                        element.set_data(model.data.clone()).unwrap();
                    }
                }
                6 => {
                    let i = dice.roll(lists.len());
                    let (buf, model) = &mut lists[i];
                    let at = dice.roll(buf.capacity());
                    let new = vec![dice.roll(256) as u8; dice.roll(buf.capacity() - at + 1)];
                    buf.write_at(at, &new).unwrap();
                    bytes[model[0].start + at..][..new.len()].copy_from_slice(&new);
                }
                7 => {
                    let i = dice.roll(lists.len());
                    let (buf, model) = &mut lists[i];
                    let new = vec![dice.roll(256) as u8; dice.roll(20)];
                    let first = &mut model[0];
                    let fits = new.len() <= first.end - first.start - first.data.end;
                    assert_eq!(buf.push_slice(&new).is_ok(), fits, "{context}");
                    if fits {
                        bytes[first.start + first.data.end..][..new.len()].copy_from_slice(&new);
                        first.data.end += new.len();
                    }
                }
                _ => {
                    // A copy between two lists that do not overlap.
                    let (mut src, from) = lists.swap_remove(dice.roll(lists.len()));
                    let Some((dst, mut to)) = lists.pop() else {
                        src.reset();
                        continue;
                    };
                    let apart = from.iter().all(|f| to.iter().all(|t| f.end <= t.start || t.end <= f.start));
                    let volume: usize = from.iter().map(|e| e.data.len()).sum();
                    let room: usize = to.iter().map(|e| e.end - e.start - e.data.end).sum();
                    let fits = volume > 0 && volume <= room;
                    if apart && distinct(&to) {
                        let got = transfer(src.node(), dst.node(), &gate);
                        assert_eq!(got.is_ok(), fits, "{context}");
                        if fits {
                            let flat: Vec<u8> = from
                                .iter()
                                .flat_map(|e| bytes[e.start..e.end][e.data.clone()].to_vec())
                                .collect();
                            let mut left = &flat[..];
                            for e in &mut to {
                                let n = left.len().min(e.end - e.start - e.data.end);
                                bytes[e.start + e.data.end..][..n].copy_from_slice(&left[..n]);
                                e.data.end += n;
                                left = &left[n..];
                            }
                        }
                    }
                    lists.push((src, from));
                    lists.push((dst, to));
                }
            }
            check(&lists, &bytes, m.is_shared(), &context);
        }
        drop(lists);
        assert!(m.is_unclaimed(), "seed {seed}");
    }
}

#[derive(Clone, Debug)]
struct Model {
    start: usize,
    end: usize,
    data: Range<usize>,
    exclusive: bool,
}

/// A list may hold aliases of the same bytes; copying into such a one has no single right result.
fn distinct(list: &[Model]) -> bool {
    list.iter().enumerate().all(|(i, a)| list[..i].iter().all(|b| a.end <= b.start || b.end <= a.start))
}

fn check(lists: &[(Buf, Vec<Model>)], bytes: &[u8], shared: bool, context: &str) {
    for (buf, model) in lists {
        assert_eq!(buf.elements().count(), model.len(), "{context}");
        for (element, e) in buf.elements().zip(model) {
            assert_eq!(
                (element.range_in_memory(), element.data()),
                (e.start..e.end, e.data.clone()),
                "{context}"
            );
            assert_eq!(element.is_exclusive(), e.exclusive, "{context}");
            assert_eq!(element.as_slice().is_some(), e.exclusive && !shared, "{context}");
            let want = &bytes[e.start..e.end];
            let mut got = vec![0; want.len()];
            element.read_at(0, &mut got).unwrap();
            assert_eq!(got, want, "{context}");
            if let Some(slice) = element.as_slice() {
                assert_eq!(slice, &want[e.data.clone()], "{context}");
            }
        }
        let flat: Vec<u8> =
            model.iter().flat_map(|e| bytes[e.start..e.end][e.data.clone()].to_vec()).collect();
        assert_eq!(buf.to_vec(), flat, "{context}");
    }
}
