//! Frames from a packet socket.

use crate::drain::Feed;
use crate::headers::HEAD;
use crate::source::pause::Pause;
use crate::sys::packet::{At, PacketRing};
use softdpu_link::Receiver;

/// The receiving end of a packet socket.
#[derive(Debug)]
pub(crate) struct PacketSource {
    pub(crate) ring: PacketRing,
    front: Option<At>,
    /// The frame at the front with the VLAN tag that the kernel took out.
    tagged: Vec<u8>,
    pause: Pause,
}

impl PacketSource {
    pub(crate) fn new(ring: PacketRing) -> PacketSource {
        PacketSource { ring, front: None, tagged: Vec::new(), pause: Pause::default() }
    }

    pub(crate) fn is_ready(&mut self) -> bool {
        self.pause.ends_if(self.ring.is_ready())
    }
}

impl Feed for PacketSource {
    #[inline]
    fn front(&mut self) -> Option<usize> {
        let front = match self.front {
            Some(front) => front,
            None => {
                if self.pause.lasts() {
                    return None;
                }
                let Some(front) = self.ring.front() else {
                    self.pause.begin();
                    return None;
                };
                self.front = Some(front);
                if let Some(tag) = front.tag {
                    let bytes = self.ring.bytes(&front);
                    let (addresses, rest) = bytes.split_at(bytes.len().min(12));
                    self.tagged.clear();
                    [addresses, &tag, rest].iter().for_each(|part| self.tagged.extend_from_slice(part));
                }
                front
            }
        };
        Some(if front.tag.is_some() { self.tagged.len() } else { front.len })
    }

    #[inline]
    fn look<'a>(&'a self, _head: Option<&'a mut [u8; HEAD]>) -> (&'a [u8], Option<&'a Receiver>) {
        let bytes = match &self.front {
            Some(front) if front.tag.is_some() => &self.tagged,
            Some(front) => self.ring.bytes(front),
            None => &[],
        };
        (bytes, None)
    }

    fn stamp(&self) -> Option<u64> {
        self.front.map(|front| front.stamp)
    }

    fn is_unsummed(&self) -> bool {
        self.front.is_some_and(|front| front.is_unsummed)
    }

    #[inline]
    fn pop(&mut self) {
        self.front = None;
        self.ring.pop();
    }

    fn settle(&mut self) {
        self.ring.settle();
    }
}
