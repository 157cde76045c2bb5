//! Buffers on several threads: exclusive ones stay exclusive, pools lose and double nothing.

mod common;

use common::{Dice, device};
use softdpu_memory::buf::Lend;
use softdpu_memory::copy::{Gate, transfer};
use softdpu_memory::{Access, Buf, Memory};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread;

#[test]
fn a_pool_serves_threads_that_pass_buffers_on() {
    const WINDOWS: usize = 24;
    let memory = Memory::heap(WINDOWS * 64).access(Access::LOCAL_READ_WRITE).register(&[&device(0)]).unwrap();
    let pool = memory.pool(64).unwrap();
    let (send, receive) = channel::<(u8, Buf)>();
    let makers: Vec<_> = (0..4u8)
        .map(|id| {
            let (pool, send) = (pool.clone(), send.clone());
            thread::spawn(move || {
                let mut dice = Dice::new(u64::from(id));
                for round in 0..5000usize {
                    let Some(mut buf) = pool.take() else {
                        thread::yield_now();
                        continue;
                    };
                    let mark = id * 50 + (round % 50) as u8;
                    buf.push_slice(&[mark; 64]).unwrap();
                    if dice.roll(4) == 0 {
                        thread::yield_now();
                    }
                    assert_eq!(buf.as_slice().unwrap(), [mark; 64], "somebody else has this window");
                    match dice.roll(3) {
                        0 => drop(buf),
                        1 => send.send((mark, buf)).unwrap(),
                        _ => {
                            // A list travels and is freed as one.
                            if let Some(tail) = pool.take() {
                                buf.chain(tail);
                            }
                            send.send((mark, buf)).unwrap();
                        }
                    }
                }
            })
        })
        .collect();
    drop(send);
    let eater = thread::spawn(move || {
        let mut eaten = 0;
        for (mark, buf) in receive {
            assert_eq!(buf.to_vec(), [mark; 64]);
            eaten += 1;
        }
        eaten
    });
    for maker in makers {
        maker.join().unwrap();
    }
    assert!(eater.join().unwrap() > 0);
    assert_eq!(pool.available(), WINDOWS);
    drop(pool);
    assert!(memory.is_unclaimed());
}

#[test]
fn windows_of_one_memory_are_claimed_from_many_threads() {
    let memory = Memory::heap(256).register(&[&device(0)]).unwrap();
    let threads: Vec<_> = (0..4u8)
        .map(|id| {
            let memory = memory.clone();
            thread::spawn(move || {
                let mut dice = Dice::new(100 + u64::from(id));
                let mut held = Vec::new();
                let mut got = 0;
                for _ in 0..3000 {
                    let start = dice.roll(250);
                    if let Ok(mut buf) = memory.buf(start..start + 1 + dice.roll(6)) {
                        buf.set_data(..).unwrap();
                        buf.as_mut_slice().unwrap().fill(id);
                        held.push(buf);
                        got += 1;
                    }
                    if held.len() > 5 {
                        let buf = held.swap_remove(dice.roll(held.len()));
                        assert!(buf.as_slice().unwrap().iter().all(|&b| b == id), "overlapped");
                    }
                }
                got
            })
        })
        .collect();
    for thread in threads {
        assert!(thread.join().unwrap() > 0);
    }
    assert!(memory.is_unclaimed());
}

#[test]
fn engines_may_race_on_aliases() {
    let device = device(0);
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&device]).unwrap();
    let gate = Gate::new(device.bit(), 1 << 20, 8);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for id in [1u8, 2] {
            let (memory, gate, stop) = (&memory, &gate, &stop);
            scope.spawn(move || {
                let mut source = memory.alias(usize::from(id) * 8192..usize::from(id + 1) * 8192).unwrap();
                source.push_slice(&[id; 8192]).unwrap();
                let mut target = memory.alias(32768..40960).unwrap();
                for _ in 0..2000 {
                    target.reset();
                    assert_eq!(transfer(source.node(), target.node(), gate).unwrap(), 8192);
                }
                stop.store(true, Relaxed);
            });
        }
        let reader = memory.alias(32768..40960).unwrap();
        let mut seen = vec![0; 8192];
        while !stop.load(Relaxed) {
            reader.read_at(0, &mut seen).unwrap();
            assert!(seen.iter().all(|&b| b <= 2), "only bytes that somebody wrote");
        }
    });
    assert!(memory.is_unclaimed());
}
