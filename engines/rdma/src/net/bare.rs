//! The endpoint that connections over the network use, with nothing above it: messages, and answers of so many bytes.
//! Benches measure connections against it. Nothing is written into the messages but what the other end has to know, and
//! nobody copies them. Long ones come from and go to as many buffers in turn as tasks of that length have memory, up to
//! all there are: bytes that are always the same few would be in the cache, which those of tasks are not.

use crate::ffi::{Class, Gate, Got, Library, Plug, Shape, State, provider};
use rustix::event::{PollFd, PollFlags, poll};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr};

/// Bytes of a message at least: how many are wanted back, whether the peer may sleep, and how many buffers are used in turn.
pub const SHORTEST: usize = 8;

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const GONE: &str = "the bare endpoint's peer is gone";

/// One end, which asks.
pub struct Bare {
    plug: Plug,
    heard: usize,
    span: usize,
}

impl core::fmt::Debug for Bare {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Bare(heard: {})", self.heard)
    }
}

impl Bare {
    /// Connects to a port of this machine where somebody [`serve`]s, by the provider that connections use.
    ///
    /// # Errors
    /// Why not, in words: there is no libfabric, most likely.
    pub fn dial(port: u16) -> Result<Bare, String> {
        let mut plug = Plug::dial(Library::get()?, &chosen(), HERE, port)?;
        join(&mut plug)?;
        Ok(Bare { plug, heard: 0, span: 1 })
    }

    /// Sends `len` bytes, in messages as long as they may be, and asks for `answer` bytes back.
    ///
    /// # Errors
    /// The peer is gone.
    pub fn say(&mut self, len: usize, answer: u32) -> Result<(), String> {
        let mut left = len.max(SHORTEST);
        self.span = len.max(answer as usize).div_ceil(Shape::BYTES).clamp(1, Shape::REQUESTS as usize);
        self.plug.set_span(self.span);
        while left > 0 {
            // The last one is long enough for what it has to say.
            let n = if left <= Shape::BYTES { left } else { Shape::BYTES.min(left - SHORTEST) };
            left -= n;
            self.message(n, if left == 0 { answer } else { 0 }, false)?;
        }
        Ok(())
    }

    /// Bytes that came since the last time.
    ///
    /// # Errors
    /// The peer is gone.
    pub fn hear(&mut self) -> Result<usize, String> {
        self.collect()?;
        Ok(core::mem::take(&mut self.heard))
    }

    /// The peer sleeps until the next message.
    ///
    /// # Errors
    /// The peer is gone.
    pub fn rest(&mut self) -> Result<(), String> {
        self.message(SHORTEST, 0, true)?;
        while !self.plug.is_idle() {
            self.collect()?;
        }
        Ok(())
    }

    fn message(&mut self, len: usize, answer: u32, last: bool) -> Result<(), String> {
        let slot = loop {
            match self.plug.take(Class::Request) {
                Some(slot) => break slot,
                None => self.collect()?,
            }
        };
        let head = self.plug.fill(slot);
        head[..4].copy_from_slice(&answer.to_le_bytes());
        (head[4], head[5]) = (last.into(), self.span as u8);
        self.plug.send(slot, len);
        Ok(())
    }

    fn collect(&mut self) -> Result<(), String> {
        let heard = &mut self.heard;
        look(&mut self.plug, false, |_, got| *heard += got.len as usize)
    }
}

/// Gives who asks the bytes that it wants, until it is gone. `tell` is given the port.
///
/// # Errors
/// Why nobody can connect, in words.
pub fn serve(tell: impl FnOnce(u16)) -> Result<(), String> {
    let mut gate = Gate::open(Library::get()?, &chosen(), HERE)?;
    tell(gate.port().ok_or("an endpoint without a port")?);
    let mut plug = loop {
        if let Some(plug) = gate.poll()? {
            break plug;
        }
        std::thread::yield_now();
    };
    join(&mut plug)?;
    let (mut owed, mut rests) = (VecDeque::new(), true);
    loop {
        if rests && plug.may_sleep() {
            let fds = plug.wait_fds();
            let mut fds: Vec<_> =
                fds.iter().flatten().map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
            // A signal is no harm: it looks and sleeps again.
            let _ = poll(&mut fds, None);
        }
        let end = look(&mut plug, rests, |plug, got| {
            let bytes = plug.bytes(got);
            rests = bytes.get(4) == Some(&1);
            let span = bytes.get(5).map_or(1, |&span| span.into());
            let answer = bytes.first_chunk().map_or(0, |n| u32::from_le_bytes(*n)) as usize;
            if answer > 0 {
                owed.push_back(answer);
            }
            plug.set_span(span);
        });
        if end.is_err() {
            return Ok(());
        }
        while let Some(answer) = owed.front_mut()
            && let Some(slot) = plug.take(Class::Answer)
        {
            let n = Shape::BYTES.min(*answer);
            plug.send(slot, n);
            *answer -= n;
            if *answer == 0 {
                owed.pop_front();
            }
        }
    }
}

fn chosen() -> String {
    provider(std::env::var("SOFTDPU_FABRIC_PROVIDER").ok().as_deref())
}

fn join(plug: &mut Plug) -> Result<(), String> {
    while plug.state() != State::Open {
        look(plug, true, |_, _| ())?;
        std::thread::yield_now();
    }
    Ok(())
}

fn look(plug: &mut Plug, thorough: bool, mut each: impl FnMut(&mut Plug, Got)) -> Result<(), String> {
    let mut came = [const { None }; Shape::RECEIVES as usize];
    let mut places = came.iter_mut();
    plug.poll(thorough, |got| places.by_ref().take(1).for_each(|place| *place = Some(got)));
    for got in came.into_iter().flatten() {
        each(plug, got);
        plug.give_back(got.slot);
    }
    if plug.state() == State::Closed { Err(GONE.to_owned()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    /// As many bytes come back as were asked for, however long the way there, also after the peer slept.
    #[test]
    fn answers_are_as_long_as_was_asked() {
        if let Err(why) = Library::get() {
            eprintln!("skipped: {why}");
            return;
        }
        let (tell, told) = channel();
        let peer = std::thread::spawn(move || serve(move |port| tell.send(port).unwrap()));
        let mut bare = Bare::dial(told.recv_timeout(Duration::from_secs(60)).unwrap()).unwrap();
        let end = Instant::now() + Duration::from_secs(60);
        for (len, answer) in [(1, 1), (Shape::BYTES, 7), (Shape::BYTES + 1, 1 << 20), (3 << 20, 8)] {
            bare.say(len, answer).unwrap();
            let mut heard = 0;
            while heard < answer as usize {
                assert!(Instant::now() < end, "{heard} bytes of {answer} came");
                heard += bare.hear().unwrap();
            }
            assert_eq!(heard, answer as usize);
            bare.rest().unwrap();
        }
        drop(bare);
        peer.join().unwrap().unwrap();
    }
}
