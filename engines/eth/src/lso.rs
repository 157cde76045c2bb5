//! Large sends: one header and much data become many frames, each with the header in front and at most the maximum
//! segment size of data behind it.
//!
//! A header that ends with TCP or UDP over IPv4 or IPv6 is brought up to date in every frame: lengths, the IPv4
//! identification, sequence numbers; FIN and PSH only in the last frame, CWR only in the first; and its checksums, which
//! would be wrong otherwise. Any other header is repeated as it is.

use softdpu_net::checksum::fill;
use softdpu_net::headers::{Headers, L3, headers};

/// The header of a large send, understood once for all its frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Template {
    found: Option<Found>,
    len: usize,
}

/// Where the headers of IP and of TCP or UDP begin.
#[derive(Clone, Copy, Debug)]
struct Found {
    v4: bool,
    l3: usize,
    tcp: bool,
    l4: usize,
}

const TCP: u8 = 6;
const UDP: u8 = 17;

const FIN: u8 = 1;
const PSH: u8 = 8;
const CWR: u8 = 0x80;

impl Template {
    /// Of these header bytes.
    pub(crate) fn of(header: &[u8]) -> Template {
        Template { found: find(header), len: header.len() }
    }

    /// Is it one whose fields are brought up to date?
    pub(crate) fn is_understood(&self) -> bool {
        self.found.is_some()
    }

    /// Brings frame number `index`, which has `from` bytes of data before it and is the last one or not, up to date.
    pub(crate) fn finish(&self, frame: &mut [u8], index: usize, from: usize, last: bool) {
        let Some(Found { v4, l3, tcp, l4 }) = self.found else { return };
        let data = frame.len() - self.len;
        if v4 {
            put16(frame, l3 + 2, (self.len - l3 + data) as u16);
            put16(frame, l3 + 4, be16(frame, l3 + 4).wrapping_add(index as u16));
        } else {
            put16(frame, l3 + 4, (self.len - l3 - 40 + data) as u16);
        }
        if tcp {
            let sequence = &mut frame[l4 + 4..l4 + 8];
            let first = u32::from_be_bytes([sequence[0], sequence[1], sequence[2], sequence[3]]);
            sequence.copy_from_slice(&first.wrapping_add(from as u32).to_be_bytes());
            if !last {
                frame[l4 + 13] &= !(FIN | PSH);
            }
            if index > 0 {
                frame[l4 + 13] &= !CWR;
            }
        } else {
            put16(frame, l4 + 4, (8 + data) as u16);
        }
        fill(frame, true, true);
    }
}

/// The headers, where they end exactly with that of TCP or UDP.
fn find(header: &[u8]) -> Option<Found> {
    let found = lengths_filled(header)?;
    let (v4, l3) = match found.l3 {
        L3::V4 => (true, found.l3_at),
        L3::V6 => (false, found.l3_at),
        L3::Other => return None,
    };
    let l4 = found.l4_at.filter(|_| !found.is_fragment)?;
    let tcp = found.protocol == TCP;
    let len = match found.protocol {
        TCP => usize::from(header.get(l4 + 12)? >> 4) * 4,
        UDP => 8,
        _ => return None,
    };
    (len >= 8 && header.len() == l4 + len && (!tcp || len >= 20)).then_some(Found { v4, l3, tcp, l4 })
}

/// What the headers are once their lengths say what they will say: those given are to be written anew, and may be nothing.
fn lengths_filled(header: &[u8]) -> Option<Headers> {
    let mut copy = [0; 1024];
    let copy = copy.get_mut(..header.len())?;
    copy.copy_from_slice(header);
    let Headers { l3_at: l3, ether_type, .. } = headers(header, header.len());
    let (at, len) = match ether_type {
        0x0800 => (l3 + 2, header.len().checked_sub(l3)?),
        _ => (l3 + 4, header.len().checked_sub(l3 + 40)?),
    };
    copy.get_mut(at..at + 2)?.copy_from_slice(&u16::try_from(len).ok()?.to_be_bytes());
    Some(headers(copy, header.len()))
}

fn put16(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn be16(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// Into how many frames `bytes` of data are cut. No data makes one frame.
pub(crate) fn frames(bytes: u64, mss: u16) -> u64 {
    bytes.div_ceil(u64::from(mss.max(1))).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use softdpu_net::checksum::{Check, verify};

    fn cut(header: &[u8], data: &[u8], mss: u16) -> Vec<Vec<u8>> {
        let template = Template::of(header);
        let count = frames(data.len() as u64, mss) as usize;
        (0..count)
            .map(|index| {
                let from = index * usize::from(mss);
                let to = data.len().min(from + usize::from(mss));
                let mut frame = [header, &data[from..to]].concat();
                template.finish(&mut frame, index, from, index + 1 == count);
                frame
            })
            .collect()
    }

    #[test]
    fn tcp_is_cut_into_a_stream_of_good_segments() {
        let mut random = sample::Random::new(5);
        for frame in [sample::tcp4(&[]), sample::tcp6(&[]), sample::tagged(&sample::tcp4(&[]))] {
            let mut header = frame;
            let Found { v4, l3, l4, .. } = find(&header).unwrap();
            header[l4 + 13] |= CWR;
            let data = random.bytes(4000);
            let all = cut(&header, &data, 1460);
            assert_eq!(all.len(), 3);
            let mut back = Vec::new();
            for (index, frame) in all.iter().enumerate() {
                assert_eq!(verify(frame), (Check::Good, Check::Good));
                assert_eq!(headers(frame, frame.len()).end, frame.len());
                assert_eq!(be16(frame, l4 + 6), back.len() as u16);
                let flags = frame[l4 + 13];
                assert_eq!((flags & (FIN | PSH) != 0, flags & CWR != 0), (index == 2, index == 0));
                if v4 {
                    assert_eq!(be16(frame, l3 + 4), 0x1234 + index as u16);
                }
                back.extend_from_slice(&frame[header.len()..]);
            }
            assert_eq!(back, data);
        }
    }

    #[test]
    fn lengths_that_are_to_be_written_need_not_be_given() {
        for (mut header, at) in [(sample::tcp4(&[]), 16), (sample::tcp6(&[]), 18), (sample::udp4(&[]), 16)] {
            let given = cut(&header, &[3; 100], 40);
            put16(&mut header, at, 0);
            assert_eq!(cut(&header, &[3; 100], 40), given);
            assert!(given.iter().all(|frame| verify(frame) == (Check::Good, Check::Good)));
        }
    }

    #[test]
    fn udp_becomes_datagrams() {
        let all = cut(&sample::udp4(&[]), &[7; 100], 30);
        assert_eq!(all.iter().map(|frame| be16(frame, 38)).collect::<Vec<_>>(), [38, 38, 38, 18]);
        assert!(all.iter().all(|frame| verify(frame) == (Check::Good, Check::Good)));
    }

    #[test]
    fn other_headers_are_repeated() {
        let header = &sample::udp4(&[])[..14];
        assert!(!Template::of(header).is_understood());
        let all = cut(header, &[7; 4000], 1500);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [1514, 1514, 1014]);
        assert!(all.iter().all(|frame| &frame[..14] == header));
        // A transport header that ends in the data is none that could be brought up to date.
        let tcp = sample::tcp4(&[]);
        assert!(!Template::of(&tcp[..tcp.len() - 1]).is_understood());
        assert!(!Template::of(&[tcp.as_slice(), &[0]].concat()).is_understood());
        assert_eq!(cut(header, &[], 1500).len(), 1);
    }

    #[test]
    fn garbage_is_no_header() {
        let mut random = sample::Random::new(11);
        for round in 0..20_000u64 {
            let mut header = if round % 2 == 0 { sample::tcp4(&[]) } else { sample::tcp6(&[]) };
            for _ in 0..1 + random.below(4) {
                let at = random.below(header.len() as u64) as usize;
                header[at] = random.next() as u8;
            }
            header.truncate(14 + random.below(header.len() as u64 - 13) as usize);
            cut(&header, &[1; 50], 20);
        }
    }
}
