//! Bare libfabric: the very endpoint that connections use, with nothing above it.

use crate::TIME;
use crate::ffi::{Class, Gate, Got, Library, Plug, Shape, State};
use std::time::Instant;

const ECHO: u8 = 1;
const SINK: u8 = 2;
const LAST: u8 = 3;
const STOP: u8 = 4;

pub(crate) struct Bare(Plug);

fn ip() -> std::net::IpAddr {
    "127.0.0.1".parse().expect("an address")
}

fn provider() -> String {
    crate::ffi::provider(std::env::var("SOFTDPU_FABRIC_PROVIDER").ok().as_deref())
}

fn send(plug: &mut Plug, kind: u8, len: usize, mut got: impl FnMut(&mut Plug, Got)) {
    let slot = loop {
        if let Some(slot) = plug.take(Class::Request) {
            break slot;
        }
        poll(plug, &mut got);
    };
    plug.fill(slot)[0] = kind;
    plug.send(slot, len.clamp(1, Shape::BYTES));
}

fn poll(plug: &mut Plug, mut each: impl FnMut(&mut Plug, Got)) {
    let mut came = [const { None }; Shape::RECEIVES as usize];
    let mut n = 0;
    plug.poll(false, |got| {
        came[n] = Some(got);
        n += 1;
    });
    assert!(plug.state() != State::Closed, "the peer is gone");
    for got in came.into_iter().flatten() {
        each(plug, got);
        plug.give_back(got.slot);
    }
}

fn answer(plug: &mut Plug) {
    let mut there = false;
    while !there {
        poll(plug, |_, _| there = true);
    }
}

impl Bare {
    pub(crate) fn new(port: &str) -> Bare {
        let library = Library::get().expect("libfabric");
        let port = port.parse().expect("a port");
        let mut plug = Plug::dial(library, &provider(), ip(), port).expect("a peer");
        while plug.state() != State::Open {
            plug.poll(true, |_| panic!("a message out of nowhere"));
        }
        Bare(plug)
    }

    /// Microseconds there and back.
    pub(crate) fn ping(&mut self, len: usize) -> f64 {
        let (start, mut n) = (Instant::now(), 0);
        while start.elapsed() < TIME {
            send(&mut self.0, ECHO, len, |_, _| ());
            answer(&mut self.0);
            n += 1;
        }
        let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(n);
        self.stop();
        time
    }

    /// Bytes per second, in messages of `len` bytes, or as long as they can be.
    pub(crate) fn stream(&mut self, len: usize) -> f64 {
        let len = len.min(Shape::BYTES);
        let (start, mut bytes) = (Instant::now(), 0);
        while start.elapsed() < TIME {
            for _ in 0..8 {
                send(&mut self.0, SINK, len, |_, _| ());
                bytes += len;
            }
        }
        send(&mut self.0, LAST, len, |_, _| ());
        answer(&mut self.0);
        let rate = (bytes + len) as f64 / start.elapsed().as_secs_f64();
        self.stop();
        rate
    }

    fn stop(&mut self) {
        send(&mut self.0, STOP, 1, |_, _| ());
        while !self.0.is_idle() {
            poll(&mut self.0, |_, _| ());
        }
    }
}

pub(crate) fn peer() {
    let library = Library::get().expect("libfabric");
    let mut gate = Gate::open(library, &provider(), ip()).expect("a gate");
    println!("{}", gate.port().expect("a port"));
    let mut plug = loop {
        if let Some(plug) = gate.poll().expect("a peer") {
            break plug;
        }
    };
    while plug.state() != State::Open {
        plug.poll(true, |_| panic!("a message out of nowhere"));
    }
    while crate::told_to_go() {
        let mut on = true;
        while on {
            poll(&mut plug, |plug, got| match plug.bytes(got)[0] {
                ECHO => send(plug, ECHO, got.len as usize, |_, _| panic!("two pings")),
                LAST => send(plug, LAST, 1, |_, _| panic!("a message behind the last one")),
                kind => on &= kind != STOP,
            });
        }
    }
}
