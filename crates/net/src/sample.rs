//! Frames for the tests of ports and of Ethernet queues, and bytes that look random and are the same in every run.

/// A generator of numbers (xorshift).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next() as u8).collect()
    }
}

fn ethernet(kind: u16) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    frame.extend(kind.to_be_bytes());
    frame
}

fn v4(protocol: u8, src: [u8; 4], dst: [u8; 4], body: &[u8]) -> Vec<u8> {
    let mut frame = ethernet(0x0800);
    frame.extend([0x45, 0]);
    frame.extend((20 + body.len() as u16).to_be_bytes());
    frame.extend([0x12, 0x34, 0x40, 0, 64, protocol, 0, 0]);
    frame.extend(src);
    frame.extend(dst);
    frame.extend(body);
    frame
}

fn v6(next: u8, body: &[u8]) -> Vec<u8> {
    let mut frame = ethernet(0x86dd);
    frame.extend([0x60, 0, 0, 0]);
    frame.extend((body.len() as u16).to_be_bytes());
    frame.extend([next, 64]);
    for last in [1, 2] {
        frame.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    frame.extend(body);
    frame
}

/// Sequence number 0x10000000, FIN and PSH set.
fn tcp(data: &[u8]) -> Vec<u8> {
    let mut body = vec![0x30, 0x39, 0x00, 0x50, 0x10, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x19, 0x20, 0, 0, 0, 0, 0];
    body.extend(data);
    body
}

/// A UDP datagram over IPv4; no checksum is filled in.
pub(crate) fn datagram(src: [u8; 4], dst: [u8; 4], ports: (u16, u16), data: &[u8]) -> Vec<u8> {
    let mut body = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    body.extend((8 + data.len() as u16).to_be_bytes());
    body.extend([0, 0]);
    body.extend(data);
    v4(17, src, dst, &body)
}

const SRC: [u8; 4] = [10, 0, 0, 1];
const DST: [u8; 4] = [10, 0, 0, 2];

pub(crate) fn udp4(data: &[u8]) -> Vec<u8> {
    datagram(SRC, DST, (12345, 53), data)
}

pub(crate) fn tcp4(data: &[u8]) -> Vec<u8> {
    v4(6, SRC, DST, &tcp(data))
}

pub(crate) fn tcp6(data: &[u8]) -> Vec<u8> {
    v6(6, &tcp(data))
}

/// The same frame with a VLAN tag.
pub(crate) fn tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat()
}
