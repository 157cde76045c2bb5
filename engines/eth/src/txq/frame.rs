//! One frame, one large send: from the program's buffers to the port.

use super::engine::Terms;
use crate::lent::LentHeaders;
use crate::lso::{Template, frames};
use softdpu_memory::copy::volume;
use softdpu_memory::node::{Lent, Node};
use softdpu_memory::view::{Hold, check_source, with_data};
use softdpu_net::{Batch as Outgoing, Sent, checksum};
use softdpu_status::{Code, Error, Result};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;

/// The checksums a task asks for, as the contract numbers them.
const L3: u16 = 1;
const L4: u16 = 2;

/// What came of trying to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Went {
    /// Through, with so many frames.
    Out(u64),
    /// The port takes no more now, or enough was done for one turn.
    Later,
}

/// How far a large send has got.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cut {
    frames: u64,
}

#[cold]
fn refuse<T>(what: &'static str, line: std::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: crate::LOG, "{line}");
    Err(Error::new(Code::InvalidValue, what))
}

#[cold]
fn missing<T>() -> Result<T> {
    refuse("a buffer is missing", format_args!("send: the packet's buffer is NULL or was released"))
}

/// Checks a frame: rights, list, length. Returns its bytes.
///
/// # Errors
/// InvalidValue, NotPermitted, with one log line.
pub(crate) fn check_frame(packet: Lent, terms: &Terms) -> Result<usize> {
    let Some(node) = packet.node() else { return missing() };
    let len = check_source(node, &terms.gate)? as usize;
    if len < ETHERNET {
        return runt(node, len);
    }
    Ok(len)
}

#[cold]
fn runt<T>(node: &Node, len: usize) -> Result<T> {
    let line = format_args!("send: buffer {node:p} holds {len} bytes, a frame has at least {ETHERNET}");
    refuse("shorter than an Ethernet header", line)
}

/// The header of a large send.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Header<'a> {
    Lent(LentHeaders),
    Own(&'a [u8]),
}

impl Header<'_> {
    /// Copies it into `into`.
    ///
    /// # Errors
    /// InvalidValue: longer than the queue takes, or shorter than an Ethernet header.
    pub(crate) fn gather(&self, into: &mut [u8], terms: &Terms) -> Result<usize> {
        let room = terms.max_header.min(into.len());
        let got = match self {
            Header::Lent(list) => list.gather(&mut into[..room]),
            Header::Own(bytes) if bytes.len() <= room => {
                into[..bytes.len()].copy_from_slice(bytes);
                Some(bytes.len())
            }
            Header::Own(_) => None,
        };
        match got {
            Some(len) if len >= ETHERNET => Ok(len),
            Some(len) => refuse(
                "header shorter than that of Ethernet",
                format_args!("large send: a header of {len} bytes, it has at least {ETHERNET}"),
            ),
            None => refuse(
                "header longer than the queue takes",
                format_args!("large send: the header has more than {room} bytes, which this queue takes"),
            ),
        }
    }
}

/// Checks a large send; returns the bytes of its header (which is put into `into`) and of its data.
///
/// # Errors
/// InvalidValue, NotPermitted, with one log line.
pub(crate) fn check_large(
    payload: Lent,
    header: Header<'_>,
    mss: u16,
    terms: &Terms,
    into: &mut [u8],
) -> Result<(usize, u64)> {
    let Some(node) = payload.node() else { return missing() };
    let bytes = check_source(node, &terms.large)?;
    let len = header.gather(into, terms)?;
    if mss == 0 || len + usize::from(mss) > terms.max_packet {
        let line = format_args!(
            "large send: segments of {mss} bytes behind {len} bytes of header, a frame has at most {}",
            terms.max_packet
        );
        return refuse("segment size out of range", line);
    }
    Ok((len, bytes))
}

/// Puts frames together.
#[derive(Debug)]
pub(crate) struct Maker {
    /// A frame, where it cannot be sent as it lies.
    scratch: Box<[u8]>,
    /// The header of a large send.
    header: Box<[u8]>,
}

impl Maker {
    pub(crate) fn new(terms: &Terms) -> Maker {
        Maker { scratch: vec![0; terms.max_packet].into(), header: vec![0; terms.max_header].into() }
    }

    /// Sends a frame.
    ///
    /// # Errors
    /// As [`check_frame`].
    #[inline]
    pub(crate) fn frame(
        &mut self,
        out: &mut Outgoing<'_>,
        packet: Lent,
        flags: u16,
        terms: &Terms,
    ) -> Result<Went> {
        let Some(node) = packet.node() else { return missing() };
        if flags & (L3 | L4) == 0 {
            let fits = |frame: &[u8]| (ETHERNET..=terms.max_packet).contains(&frame.len());
            let plainly =
                with_data(node, &terms.gate, |frame| fits(frame).then(|| (out.send(&[frame]), frame.len())));
            match plainly.flatten() {
                Some((Sent::Yes, _)) => return Ok(Went::Out(1)),
                Some((sent, len)) => return taken(sent, len).map(|_| Went::Later),
                None => {}
            }
        }
        self.any_frame(out, node, flags, terms)
    }

    /// The same for everything that is not as simple.
    #[inline(never)]
    fn any_frame(&mut self, out: &mut Outgoing<'_>, node: &Node, flags: u16, terms: &Terms) -> Result<Went> {
        let len = volume(node) as usize;
        if node.next().is_some() || len > terms.max_packet {
            check_source(node, &terms.gate)?;
        }
        if len < ETHERNET {
            return runt(node, len);
        }
        let hold = Hold::source(node, &terms.gate)?;
        let source = hold.sources();
        let whole = if flags & (L3 | L4) == 0 { source.slice(0, len) } else { None };
        let sent = match whole {
            Some(bytes) => out.send(&[bytes]),
            None => {
                let frame = &mut self.scratch[..len];
                source.read(0, frame);
                hold.check()?;
                if flags & (L3 | L4) != 0 {
                    checksum::fill(frame, flags & L3 != 0, flags & L4 != 0);
                }
                out.send(&[frame])
            }
        };
        taken(sent, len).map(|yes| if yes { Went::Out(1) } else { Went::Later })
    }

    /// Goes on with a large send; stops after `budget` bytes, which are taken off it.
    ///
    /// # Errors
    /// As [`check_large`].
    #[expect(
        clippy::too_many_arguments,
        reason = "a task, where it goes, what holds for it, and how far it is"
    )]
    pub(crate) fn large(
        &mut self,
        out: &mut Outgoing<'_>,
        payload: Lent,
        header: Header<'_>,
        mss: u16,
        terms: &Terms,
        cut: &mut Cut,
        budget: &mut u64,
    ) -> Result<Went> {
        let (len, bytes) = check_large(payload, header, mss, terms, &mut self.header)?;
        let header = &self.header[..len];
        let (template, count) = (Template::of(header), frames(bytes, mss));
        let Some(node) = payload.node() else { return missing() };
        let hold = Hold::source(node, &terms.large)?;
        let source = hold.sources();
        while cut.frames < count {
            if *budget == 0 {
                return Ok(Went::Later);
            }
            let from = cut.frames * u64::from(mss);
            let n = (bytes - from).min(mss.into()) as usize;
            let as_it_lies = if template.is_understood() { None } else { source.slice(from, n) };
            let sent = match as_it_lies {
                Some(data) => out.send(&[header, data]),
                None => {
                    let frame = &mut self.scratch[..len + n];
                    frame[..len].copy_from_slice(header);
                    source.read(from, &mut frame[len..]);
                    hold.check()?;
                    template.finish(frame, cut.frames as usize, from as usize, cut.frames + 1 == count);
                    out.send(&[frame])
                }
            };
            if !taken(sent, len + n)? {
                return Ok(Went::Later);
            }
            *budget = budget.saturating_sub((len + n) as u64);
            cut.frames += 1;
        }
        Ok(Went::Out(count))
    }
}

#[inline]
fn taken(sent: Sent, len: usize) -> Result<bool> {
    match sent {
        Sent::Yes => Ok(true),
        Sent::Full => Ok(false),
        Sent::Bad => refuse(
            "the port takes no such frame",
            format_args!("send: a frame of {len} bytes, which the port does not take"),
        ),
    }
}
