//! Plain TCP: one stream, both ends at it all the time.

use crate::TIME;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Instant;

/// What ends a measurement: the peer sleeps then.
const STOP: u8 = 0xee;
/// What ends a stream: the peer answers then.
const LAST: u8 = 0xff;

pub(crate) struct Plain(TcpStream);

fn read_exact(stream: &mut TcpStream, buf: &mut [u8]) {
    let mut at = 0;
    while at < buf.len() {
        match stream.read(&mut buf[at..]) {
            Ok(0) => panic!("the peer is gone"),
            Ok(n) => at += n,
            Err(_) => std::hint::spin_loop(),
        }
    }
}

impl Plain {
    pub(crate) fn new(address: &str) -> Plain {
        let stream = TcpStream::connect(address).expect("the peer");
        stream.set_nodelay(true).expect("an option");
        Plain(stream)
    }

    /// Microseconds there and back.
    pub(crate) fn ping(&mut self, len: usize) -> f64 {
        self.0.set_nonblocking(true).expect("an option");
        let (start, mut n) = (Instant::now(), 0);
        let mut buf = vec![1; len];
        while start.elapsed() < TIME {
            self.0.write_all(&buf).expect("a ping");
            read_exact(&mut self.0, &mut buf);
            n += 1;
        }
        let time = start.elapsed().as_secs_f64() * 1e6 / f64::from(n);
        self.0.write_all(&[STOP]).expect("an end");
        time
    }

    /// Bytes per second, in pieces of 64 KiB.
    pub(crate) fn stream(&mut self) -> f64 {
        self.0.set_nonblocking(false).expect("an option");
        let mut buf = vec![0; 64 << 10];
        let (start, mut bytes) = (Instant::now(), 0);
        while start.elapsed() < TIME {
            self.0.write_all(&buf).expect("bytes");
            bytes += buf.len();
        }
        buf[(64 << 10) - 1] = LAST;
        self.0.write_all(&buf).expect("bytes");
        self.0.read_exact(&mut [0]).expect("an answer");
        let rate = (bytes + buf.len()) as f64 / start.elapsed().as_secs_f64();
        self.0.write_all(&[STOP]).expect("an end");
        rate
    }
}

/// Answers what is short, swallows what is long.
pub(crate) fn peer() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    let mut stream = listener.accept().expect("a peer").0;
    stream.set_nodelay(true).expect("an option");
    stream.set_nonblocking(true).expect("an option");
    let mut buf = vec![0; 1 << 20];
    while crate::told_to_go() {
        loop {
            match stream.read(&mut buf) {
                Ok(0) => return,
                Ok(n) if buf[n - 1] == STOP => break,
                Ok(n) if n <= 64 => stream.write_all(&buf[..n]).expect("an answer"),
                Ok(n) if buf[n - 1] == LAST => stream.write_all(&[0]).expect("an answer"),
                Ok(_) => {}
                Err(_) => std::hint::spin_loop(),
            }
        }
    }
}
