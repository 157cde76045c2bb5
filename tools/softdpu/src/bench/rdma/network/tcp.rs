//! TCP as a yardstick: messages that say how long they are and how many bytes they want back.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use super::{SHORTEST, Way};

/// Bytes that are read at once.
const PIECE: usize = 256 << 10;
/// Stands for the number of bytes that are wanted: the peer is to sleep.
const SLEEP: u32 = u32::MAX;

/// The end that asks.
pub(super) struct Tcp {
    stream: TcpStream,
    bytes: Vec<u8>,
}

impl Way for Tcp {
    fn new(port: u16) -> Result<Self, String> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(text)?;
        stream.set_nodelay(true).map_err(text)?;
        Ok(Self { stream, bytes: vec![0; PIECE] })
    }

    fn say(&mut self, len: usize, answer: u32) -> Result<(), String> {
        if self.bytes.len() < len {
            self.bytes.resize(len, 0);
        }
        self.bytes[..4].copy_from_slice(&(len as u32).to_le_bytes());
        self.bytes[4..SHORTEST].copy_from_slice(&answer.to_le_bytes());
        self.stream.write_all(&self.bytes[..len]).map_err(text)
    }

    fn hear(&mut self) -> Result<usize, String> {
        look(&self.stream, &mut self.bytes)
    }

    fn rest(&mut self) -> Result<(), String> {
        self.say(SHORTEST, SLEEP)
    }
}

/// What is there of a stream, without waiting for more.
fn look(stream: &TcpStream, into: &mut [u8]) -> Result<usize, String> {
    match recv(stream, into, RecvFlags::DONTWAIT) {
        Ok((0, _)) => Err("the peer of a stream is gone".to_owned()),
        Ok((n, _)) => Ok(n),
        Err(Errno::AGAIN | Errno::INTR) => Ok(0),
        Err(error) => Err(text(error.into())),
    }
}

fn text(error: std::io::Error) -> String {
    format!("TCP: {error}")
}

/// Gives who asks the bytes that it wants, until it is gone.
pub(super) fn serve(tell: impl FnOnce(u16)) -> Result<(), String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(text)?;
    tell(listener.local_addr().map_err(text)?.port());
    let (mut stream, _) = listener.accept().map_err(text)?;
    stream.set_nodelay(true).map_err(text)?;
    let mut bytes = vec![0; PIECE];
    loop {
        // It sleeps before a message if it was told to, and never inside one.
        let mut head = [0; SHORTEST];
        if stream.read_exact(&mut head).is_err() {
            return Ok(());
        }
        let mut awake = true;
        while awake {
            let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
            let (mut left, mut answer) = ((word(0) as usize).saturating_sub(SHORTEST), word(4));
            while left > 0 {
                let most = left.min(PIECE);
                left -= look(&stream, &mut bytes[..most])?;
            }
            if answer == SLEEP {
                awake = false;
                continue;
            }
            while answer > 0 {
                let n = (answer as usize).min(PIECE);
                stream.write_all(&bytes[..n]).map_err(text)?;
                answer -= n as u32;
            }
            let mut at = 0;
            while at < SHORTEST {
                match look(&stream, &mut head[at..]) {
                    Ok(n) => at += n,
                    Err(_) => return Ok(()),
                }
            }
        }
    }
}
