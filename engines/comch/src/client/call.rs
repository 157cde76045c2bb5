//! How a client finds its server, and the help it gives when it does not.

use super::ClientSetup;
use crate::bell::Bell;
use crate::caps::Caps;
use crate::connection::{Connection, Parts, Side};
use crate::event::Post;
use crate::inlet::Inlet;
use crate::layout::Terms;
use crate::place::{MOST_FUNCTIONS, name};
use crate::ready::{MOST_SEATS, Ready};
use crate::todo::Todo;
use crate::wire::{self, Kind, Refusal};
use softdpu_card::Function;
use softdpu_link::{Line, Ringer, Segment, Tie, keep};
use softdpu_memory::device::Device;
use softdpu_status::{Code, Error, Result};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A server's service thread answers at once, or its process is stopped.
const ANSWER: Duration = Duration::from_secs(2);
/// The same for those that are only asked for whom they are.
const PROBE: Duration = Duration::from_millis(200);

/// Calls the server; it will take the client when its program calls progress.
///
/// # Errors
/// There is none, it refuses, or it cannot be understood; with one log line.
pub(super) fn place(
    setup: &ClientSetup,
    device: &Arc<Device>,
    todo: &Arc<Todo>,
    post: &Arc<Post>,
) -> Result<(Arc<Connection>, Inlet)> {
    let (function, mine) = (device.function(), setup.ends.terms);
    let server = setup.server.escape_ascii();
    let hello = wire::packet(Kind::Hello, &[mine.msg, mine.queue], &[]);
    let called = softdpu_link::call(&name(function, function.vhca_id(), &setup.server), &hello, &[], ANSWER);
    let (answer, fds, line) = called.inspect_err(|error| match error.code() {
        Code::NotFound => nobody(function, &setup.server),
        _ => {
            log::error!(target: crate::LOG, "client {function}: server `{server}` cannot be reached: {error}")
        }
    })?;
    if let Some(([why], _)) = wire::read(Kind::Refused, &answer) {
        log::error!(target: crate::LOG, "client {function}: server `{server}` of process {} refuses: {}",
            line.peer().pid, Refusal::text(why));
        return Err(Error::new(Code::ConnectionAborted, "the server refused"));
    }
    join(setup, device, todo, post, (answer, fds, line)).inspect_err(|error| {
        log::error!(target: crate::LOG, "client {function}: no connection to server `{server}`: {error}");
    })
}

fn join(
    setup: &ClientSetup,
    device: &Arc<Device>,
    todo: &Arc<Todo>,
    post: &Arc<Post>,
    (answer, fds, line): (Vec<u8>, Vec<OwnedFd>, Line),
) -> Result<(Arc<Connection>, Inlet)> {
    let bad = Error::new(Code::InvalidValue, "its answer is none");
    let ([msg, queue, seat, seats, word], _) = wire::read(Kind::Welcome, &answer).ok_or(bad)?;
    let [page, event, board]: [OwnedFd; 3] = fds.try_into().map_err(|_| bad)?;
    let theirs = Terms::check(msg, queue).filter(|_| seats <= MOST_SEATS && seat < seats).ok_or(bad)?;
    let mine = setup.ends.terms;
    let shape = Terms::shape(mine, theirs);
    let segment = Segment::create("softdpu-comch", shape.bytes())?;
    let bell = Bell::of(todo.alarm())?;
    let packet = wire::packet(Kind::Join, &[shape.up as u32, shape.down as u32, bell.word], &[]);
    let [my_page, my_event] = bell.fds();
    line.send(&packet, &[segment.fd(), my_page, my_event])?;
    let (connection, inlet) = Connection::new(Parts {
        seat,
        side: Side::Client,
        device: Arc::downgrade(device),
        peer: line.peer().pid,
        mine,
        theirs,
        segment,
        shape,
        ringer: Ringer::accept(page, word, event)?,
        ready: Some(Ready::accept(board, seats)?),
        todo: todo.clone(),
        post: post.clone(),
        streams: Caps::of(device.function())?.max_streams,
    });
    let handle = keep(line, Box::new(ServerLine(connection.clone())));
    connection.set_line(handle);
    Ok((connection, inlet))
}

/// Watches the line to the server.
struct ServerLine(Arc<Connection>);

impl Tie for ServerLine {
    fn message(&mut self, bytes: &[u8], fds: Vec<OwnedFd>) -> Option<Vec<u8>> {
        if !self.0.parcel(bytes, fds) {
            self.0.hang_up();
        }
        None
    }

    fn gone(&mut self) {
        self.0.lose();
    }
}

/// Nobody answers: maybe the server is there, for another function.
#[cold]
fn nobody(function: &Function, server: &[u8]) {
    let probe = wire::packet(Kind::Probe, &[], &[]);
    let ask = |other: u16| {
        let (answer, ..) = softdpu_link::call(&name(function, other, server), &probe, &[], PROBE).ok()?;
        wire::read::<0>(Kind::Probed, &answer).map(|(_, text)| wire::printable(text))
    };
    let others = (0..MOST_FUNCTIONS).filter(|&other| other != function.vhca_id());
    let found: Vec<_> = others.filter_map(ask).take(4).collect();
    let (server, card) = (server.escape_ascii(), function.card().name());
    if found.is_empty() {
        log::error!(target: crate::LOG, "client {function}: no server `{server}` on card `{card}` in this runtime folder");
    } else {
        log::error!(target: crate::LOG,
            "client {function}: server `{server}` on card `{card}` is for {}, not for this function: open that one here, \
             or the representor of {} there", found.join(" and "), function.pci());
    }
}
