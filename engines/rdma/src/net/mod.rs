//! The way to peers on other machines, and to those that do not share a runtime folder.
//!
//! Two ends meet on a plain stream (a *line*), where one of them listens at a *door*; there secrets are checked and
//! connections accepted, and its end tells that a peer is gone. What the connection carries goes through a connected
//! endpoint of the fabric, one per connection, as frames of requests and answers. One-sided requests are carried out by
//! the owner of the memory, piece by piece and under the marks of its export, so that rights and ranges are its own
//! affair and stopping a map means what it means everywhere else. The owner's program need not take part: the
//! thread `softdpu-fabric` does, while no engine turns.
//!
//! | file | what |
//! |---|---|
//! | `door.rs`, `line.rs`, `meet.rs`, `offer.rs`, `share.rs`, `pulse.rs` | ports and addresses, a line, what is said on it, the choice of a provider, whether the peer lives |
//! | `hub.rs` | the thread |
//! | `frame.rs` | frames and records |
//! | `pipe.rs`, `flush.rs`, `ask.rs`, `lend.rs`, `words.rs`, `serve.rs` | a connection of the fabric: the end that asks, the end that is asked |
//! | `bare.rs` | the endpoint without all this, to measure against |
//! | `wire.rs`, `join.rs`, `turn.rs`, `messages.rs` | the engine's part |

mod ask;
pub mod bare;
mod door;
mod flush;
mod frame;
mod hub;
mod join;
mod lend;
mod line;
mod meet;
mod messages;
mod offer;
mod pipe;
mod pulse;
mod serve;
mod share;
mod turn;
mod wire;
mod words;

pub(crate) use door::{Listening, Reachable, listen, reachable};
pub(crate) use pipe::Pipe;
use wire::Held;
pub(crate) use wire::{Joint, Way, Wire};

use crate::blob::Blob;
use crate::caller::Caller;
use crate::conn::{Conn, Phase};
use crate::control::{Control, Mail};
use crate::ffi::Library;
use line::Line;
use meet::Role;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How long a peer that was described may take for its answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the peer that a description speaks of to take tasks; waits for its answer, but not for its program.
///
/// # Errors
/// Why not, in words.
pub(crate) fn attach(
    control: &Arc<Control>,
    conn: &Arc<Conn>,
    blob: &Blob,
    caller: &Caller,
) -> Result<(), String> {
    // Said here rather than by the peer that waits in vain.
    Library::get()?;
    if share::share(control, conn, blob, caller) {
        return Ok(());
    }
    let stream = connect(&blob.reachable.addresses(), PATIENCE)?;
    let packet = meet::call(meet::ATTACH, blob.name.context, caller);
    let (tell, told) = sync_channel(1);
    let role = Role::Asked { control: Arc::downgrade(control), conn: conn.here, tell };
    begin(stream, role, PATIENCE, packet, meet::named(control).as_deref())?;
    let late = "no answer in time".to_owned();
    let pipe = told.recv_timeout(PATIENCE + Duration::from_secs(1)).map_err(|_| late)??;
    conn.fabric.get_or_init(|| pipe.provider.clone());
    control.send(Mail::Net(conn.here, Joint { pipe: Held::new(pipe), out: true, inward: None }));
    Ok(())
}

/// Asks at an address for a connection. What comes of it is told later.
///
/// # Errors
/// Why nothing can come of it, in words.
pub(crate) fn knock(
    control: &Arc<Control>,
    conn: &Arc<Conn>,
    bytes: [u8; 16],
    port: u16,
) -> Result<(), String> {
    Library::get()?;
    let name = Blob::decode(conn.description())?.name;
    let settings = control.settings();
    let sender = control.take_sender().ok_or("too many peers")?;
    let timeout = Duration::from_millis(settings.timeout.into());
    let mut packet = vec![meet::KNOCK];
    name.encode(&mut packet);
    packet.extend(settings.rights.to_le_bytes());
    let named = meet::named(control);
    let ip = IpAddr::V6(bytes.into()).to_canonical();
    let (control, conn) = (Arc::downgrade(control), conn.clone());
    // Connecting may take as long as the peer's machine likes; the program goes on.
    let dial = move || {
        let role = Role::Server { control: control.clone(), conn: conn.clone(), sender };
        let begun = connect(&[(ip, port)], timeout)
            .and_then(|stream| begin(stream, role, timeout, packet, named.as_deref()));
        if let (Err(why), Some(control)) = (begun, control.upgrade()) {
            control.give_sender(sender);
            crate::knock::fail(&control, &conn, &why);
        }
    };
    let spawn = || std::thread::Builder::new().name("softdpu-dial".into()).stack_size(256 << 10).spawn(dial);
    softdpu_link::with_signals_blocked(spawn).map(drop).map_err(|error| error.to_string())
}

/// Accepts a request that came over the network.
///
/// # Errors
/// Why it cannot be, in words.
pub(crate) fn accept(
    control: &Arc<Control>,
    conn: &Arc<Conn>,
    pipe: Arc<Pipe>,
    private: &[u8],
) -> Result<(), String> {
    if pipe.is_gone() || !is_there(&pipe) || !conn.advance(Phase::Requested, Phase::Accepted) {
        return Err("the peer is gone".into());
    }
    let sender = control.take_sender().ok_or("too many peers")?;
    control
        .send(Mail::Net(conn.here, Joint { pipe: Held::new(pipe.clone()), out: true, inward: Some(sender) }));
    let private = private.to_vec();
    on_line(pipe, move |line| line.accept(&private))
}

/// Refuses a request that came over the network.
pub(crate) fn reject(pipe: Arc<Pipe>) {
    // A peer that is gone needs no answer.
    let _ = on_line(pipe, Line::reject);
}

/// Is the peer still waiting? The thread may not have looked since it left, so it is asked; while it is busy with others
/// for long, the answer is yes.
fn is_there(pipe: &Arc<Pipe>) -> bool {
    let (answer, answered) = sync_channel(1);
    let asked = pipe.clone();
    let look = move |this: &mut hub::Loop| {
        let line =
            this.lines.iter().find(|line| line.pipe.as_ref().is_some_and(|own| Arc::ptr_eq(own, &asked)));
        let _ = answer.send(line.is_some_and(Line::is_there));
    };
    hub::call(look).is_ok() && answered.recv_timeout(Duration::from_millis(200)) != Ok(false)
}

fn on_line(pipe: Arc<Pipe>, act: impl FnOnce(&mut Line) + Send + 'static) -> Result<(), String> {
    let of = move |line: &&mut Line| line.pipe.as_ref().is_some_and(|other| Arc::ptr_eq(other, &pipe));
    hub::call(move |this| {
        if let Some(line) = this.lines.iter_mut().find(of) {
            act(line);
        }
    })
    .map_err(|error| error.what().to_owned())
}

fn connect(addresses: &[(IpAddr, u16)], timeout: Duration) -> Result<TcpStream, String> {
    let mut why = "the peer has no address on a network: it was started with the local path alone".to_owned();
    for &(ip, port) in addresses {
        let address = SocketAddr::from((ip, port));
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => return Ok(stream),
            Err(error) => why = format!("{address}: {error}"),
        }
    }
    Err(why)
}

/// Says the packet, and behind it what this end offers.
fn begin(
    stream: TcpStream,
    role: Role,
    timeout: Duration,
    mut packet: Vec<u8>,
    named: Option<&str>,
) -> Result<(), String> {
    let here = stream.local_addr().map_err(|error| error.to_string())?;
    packet.extend(offer::of_port(named, here.ip()).bytes());
    let mut line = Line::new(stream, role, meet::until(timeout)).map_err(|error| error.to_string())?;
    hub::call(move |this| {
        line.say(&packet);
        this.lines.push(line);
    })
    .map_err(|error| error.what().to_owned())
}
