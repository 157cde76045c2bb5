//! The second process of the channel's bench: answers messages, takes buffers, echoes packets of a socket, or reads slots.

use std::io::{BufRead, BufReader};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use lexopt::Parser;
use softdpu::card::Side;
use softdpu::comch::{Connection, Consumer, Server};
use softdpu::memory::Memory;
use softdpu::{Access, Code, ProgressEngine};

use super::super::options::Options;
use super::{QUEUE, open, receives, slots, socket};
use crate::bench::eth;
use crate::bench::lane::text;
use crate::bench::place::{self, Place};
use crate::card::CardOptions;
use crate::message::{Failure, Outcome};
use crate::session;

/// The sub-command that peers are started with; not for people.
pub(crate) const PEER: &str = "bench-peer";

/// What the first byte of a message, or of a packet, means.
pub(super) mod word {
    /// Come back.
    pub(crate) const ECHO: u8 = b'e';
    /// Nothing.
    pub(crate) const DROP: u8 = b'd';
    /// Look all the time from now on.
    pub(crate) const WAKE: u8 = b'w';
    /// Sleep until something comes.
    pub(crate) const SLEEP: u8 = b's';
    /// Say that everything up to here was seen.
    pub(crate) const ANSWER: u8 = b'a';

    /// One of `bytes` bytes.
    pub(crate) fn message(word: u8, bytes: usize) -> Vec<u8> {
        let mut message = vec![0; bytes.max(1)];
        message[0] = word;
        message
    }
}

/// A running peer; it ends with this.
pub(in crate::bench) struct Peer {
    process: Child,
    name: String,
}

impl Peer {
    /// One that serves a channel.
    pub(super) fn of_channel(options: &Options, bytes: usize, depth: u32) -> Result<Self, String> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("bench {} {}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let arguments = ["channel", &name, &bytes.to_string(), &depth.to_string()];
        Self::start(options, &arguments, Stdio::null(), name.clone())
    }

    /// One at the other end of a socket.
    pub(super) fn of_socket(options: &Options, end: OwnedFd) -> Result<Self, String> {
        Self::start(options, &["socket"], Stdio::from(end), String::new())
    }

    /// One that reads slots in a file of this process, when the other end of a socket tells it to.
    pub(super) fn of_slots(
        options: &Options,
        file: &str,
        bytes: usize,
        count: u64,
        end: OwnedFd,
    ) -> Result<Self, String> {
        let arguments = ["slots", file, &bytes.to_string(), &count.to_string()];
        Self::start(options, &arguments, Stdio::from(end), String::new())
    }

    /// One that answers frames of `bytes` bytes, with queues of `depth` tasks, at this function and in this way.
    pub(in crate::bench) fn of_frames(
        options: &Options,
        (function, way): (&str, eth::Way),
        bytes: usize,
        depth: u32,
    ) -> Result<Self, String> {
        let arguments = ["frames", function, way.name(), &bytes.to_string(), &depth.to_string()];
        Self::start(options, &arguments, Stdio::piped(), String::new())
    }

    /// # Errors
    /// It has ended.
    pub(in crate::bench) fn check(&mut self) -> Result<(), String> {
        match self.process.try_wait() {
            Ok(None) => Ok(()),
            _ => Err("the second process has left".to_owned()),
        }
    }

    fn start(options: &Options, arguments: &[&str], input: Stdio, name: String) -> Result<Self, String> {
        let command = std::env::current_exe().map_err(|e| format!("this command is not found: {e}"))?;
        place::leave();
        let mut started = Command::new(command);
        started.arg(PEER).args(arguments).envs(options.card.environment());
        // It is at the card's end, whichever side this one sees.
        started.env("SOFTDPU_SIDE", Side::Dpu.name());
        let process = started.stdin(input).stdout(Stdio::piped()).spawn();
        let process = process.map_err(|e| format!("no second process: {e}"))?;
        let mut peer = Self { process, name };
        let mut line = String::new();
        let read = peer.process.stdout.take().map(|out| BufReader::new(out).read_line(&mut line));
        match read {
            Some(Ok(_)) if line == READY => Ok(peer),
            _ => Err("the second process did not begin".to_owned()),
        }
    }

    /// Of its server.
    pub(super) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It has nothing that would have to be brought to an end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const READY: &str = "ready\n";

/// The peer's part; ends with the process that started it.
pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let wrong = || Failure::usage(format!("{PEER}: started by 'softdpu bench' alone"));
    let mut argument = || -> Result<String, Failure> {
        let value = arguments.value().map_err(|_| wrong())?;
        value.into_string().map_err(|_| wrong())
    };
    match argument()?.as_str() {
        "socket" => {
            crate::output::print(READY)?;
            let _taken = place::take(Place::There);
            let input = std::io::stdin();
            socket::serve(input.as_fd());
            Ok(crate::output::print("")?)
        }
        "channel" => {
            let name = argument()?;
            let bytes: usize = argument()?.parse().map_err(|_| wrong())?;
            let depth: u32 = argument()?.parse().map_err(|_| wrong())?;
            serve(&name, bytes, depth).map_err(Failure::failed)?;
            Ok(crate::output::print("")?)
        }
        "slots" => {
            let file = argument()?;
            let bytes: usize = argument()?.parse().map_err(|_| wrong())?;
            let count: u64 = argument()?.parse().map_err(|_| wrong())?;
            crate::output::print(READY)?;
            let _taken = place::take(Place::There);
            slots::serve(std::io::stdin(), &file, bytes, count).map_err(Failure::failed)?;
            Ok(crate::output::print("")?)
        }
        "frames" => {
            let function = argument()?;
            let way = eth::Way::named(&argument()?).ok_or_else(wrong)?;
            let bytes: usize = argument()?.parse().map_err(|_| wrong())?;
            let depth: u32 = argument()?.parse().map_err(|_| wrong())?;
            let ready = || crate::output::print(READY).map(drop).map_err(Failure::into_text);
            eth::serve((&function, way), bytes, depth, ready).map_err(Failure::failed)?;
            Ok(crate::output::print("")?)
        }
        _ => Err(wrong()),
    }
}

fn serve(name: &str, bytes: usize, depth: u32) -> Result<(), String> {
    let machine = CardOptions::default().machine().map_err(Failure::into_text)?;
    let session = session::open(machine.clone());
    let card = open(&session, &machine, Side::Dpu)?;
    let mut pe = ProgressEngine::new(&session).map_err(text)?;
    let server = Server::builder(name).recv_queue(QUEUE).tasks(QUEUE).start(&mut pe, &card);
    let server = server.and_then(|opening| opening.wait(&mut pe)).map_err(text)?;
    crate::output::print(READY).map_err(Failure::into_text)?;
    let connection = pe.run(server.accept()).ok_or("no client came")?;

    let receives = receives(depth);
    let stride = bytes.next_multiple_of(64);
    let memory = Memory::heap(receives as usize * stride).access(Access::PCI_READ_WRITE);
    let memory = memory.register(&[card.shared()]).map_err(text)?;
    let consumer = connection.consumer().memory(&memory).receives(receives).start(&mut pe);
    let consumer = consumer.and_then(|opening| opening.wait(&mut pe)).map_err(text)?;
    for n in 0..receives as usize {
        let mut buf = memory.buf(n * stride..n * stride + bytes).map_err(|e| e.to_string())?;
        // Pages that were never written would cost the first sends.
        buf.write_at(0, &vec![0; bytes]).map_err(|e| e.to_string())?;
        buf.reset();
        consumer.post(buf).map_err(|refused| text(refused.error))?;
    }
    let _taken = place::take(Place::There);
    let mut awake = false;
    let mut read = vec![0; bytes];
    while connection.is_up() {
        take(&mut pe, &connection, &consumer, &mut read)?;
        while let Some(message) = connection.try_recv() {
            match message.first() {
                Some(&word::ECHO) => say(&mut pe, &connection, &message)?,
                Some(&word::ANSWER) => say(&mut pe, &connection, &[word::ANSWER])?,
                Some(&word::WAKE) => awake = true,
                Some(&word::SLEEP) => awake = false,
                _ => {}
            }
        }
        if awake {
            pe.progress();
        } else {
            pe.wait(None).map_err(text)?;
        }
    }
    Ok(())
}

/// Reads what was filled, and posts it again.
fn take(
    pe: &mut ProgressEngine,
    connection: &Connection,
    consumer: &Consumer,
    read: &mut [u8],
) -> Result<(), String> {
    while let Some(arrived) = consumer.try_next() {
        // What failed is not measured, and ends with the connection.
        let Ok(delivery) = arrived else { continue };
        let asked = delivery.imm.as_bytes() == [word::ANSWER];
        if let Some(mut buf) = delivery.buf {
            buf.read_at(0, read).map_err(|e| e.to_string())?;
            buf.reset();
            if consumer.post(buf).is_err() {
                // The other process is through.
                return Ok(());
            }
        }
        if asked {
            say(pe, connection, &[word::ANSWER])?;
        }
    }
    Ok(())
}

fn say(pe: &mut ProgressEngine, connection: &Connection, message: &[u8]) -> Result<(), String> {
    loop {
        match connection.try_feed(message) {
            Ok(()) => return Ok(()),
            Err(error) if error.code() == Code::Full => drop(pe.progress()),
            // The other process is through.
            Err(_) => return Ok(()),
        }
    }
}
