//! The hardware of a producer: moves bytes straight into the buffers that consumers of the peer posted.
//!
//! Submit takes the receive, so that the program learns at once when there is none, and moves what is short at once, too:
//! programs submit in a loop without progress until a receive is there, and the receives they wait for come from
//! consumers that wait for what was submitted before. What is long is moved in chunks, by progress, by a card's worker,
//! and by such a loop.

use crate::caps::Caps;
use crate::engine::ComchProducer;
use crate::face::Payload;
use crate::lent::LentBytes;
use crate::receives::{Posted, Take};
use crate::remote::Remote;
use crate::streams::Member;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::{Lent, Node, Owned};
use softdpu_memory::view::{check_room, check_source};
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_status::{Code, Result};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Up to so many bytes are moved inside submit.
const AT_ONCE: u64 = 64 << 10;
/// Bytes of a chunk of what is longer.
const CHUNK: u64 = 256 << 10;
/// Tasks taken in hand per turn.
const TASKS: u32 = 64;

/// Something to send to a consumer.
#[derive(Debug)]
pub struct ProduceJob {
    pub(crate) src: Lent,
    pub(crate) imm: LentBytes,
    pub(crate) consumer: u32,
    fate: Fate,
    /// Keeps buffer and immediate data (Rust); none where the program does (C).
    pub(crate) owned: Option<Payload>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Done(Result<u64, Code>),
    /// In the order of submission.
    Later,
}

impl ProduceJob {
    /// A buffer and immediate data, either may be none.
    pub fn new(src: Lent, imm: LentBytes, consumer: u32) -> ProduceJob {
        ProduceJob { src, imm, consumer, fate: Fate::Later, owned: None }
    }
}

/// A consumer that was sent to.
struct Route {
    remote: Arc<Remote>,
    /// A descriptor on its memory, aimed anew for every receive.
    window: Option<Owned>,
    /// Receives that were seen posted.
    seen: u64,
}

/// A send that is not through.
struct Move {
    src: Lent,
    remote: Arc<Remote>,
    posted: Posted,
    from: u64,
    bytes: u64,
}

/// What submits and turns share.
pub(crate) struct Mover {
    member: Arc<Member>,
    device: Arc<Device>,
    gate: Gate,
    routes: Vec<Route>,
    moves: VecDeque<Move>,
    /// Of those that were moved later, in order.
    finished: VecDeque<Result<u64, Code>>,
}

impl Mover {
    /// Carries a send out, or begins it.
    fn submit(&mut self, job: &mut ProduceJob) -> Result<(), Code> {
        self.step();
        if !self.member.carrier().is_up() {
            job.fate = Fate::Done(Err(Code::ConnectionReset));
            return Ok(());
        }
        let at = self.route(job.consumer).ok_or(Code::NotFound)?;
        let remote = &self.routes[at].remote;
        let imm = job.imm.bytes();
        let checked = match job.src.node() {
            Some(node) => check_source(node, &self.gate).map_err(|e| e.code()),
            None if job.src.handle().is_null() && !imm.is_empty() => Ok(0),
            None => Err(Code::InvalidValue),
        };
        let bytes = match checked {
            Ok(bytes) if imm.len() <= remote.parcel.imm as usize => bytes,
            Ok(_) => {
                log::error!(target: crate::LOG, "{} bytes of immediate data for consumer {}, which takes {}", imm.len(),
                    job.consumer, remote.parcel.imm);
                job.fate = Fate::Done(Err(Code::InvalidValue));
                return Ok(());
            }
            Err(code) => {
                job.fate = Fate::Done(Err(code));
                return Ok(());
            }
        };
        let mut seen = self.routes[at].seen;
        let taken = remote.parcel.receives.take(&mut seen);
        let remote = remote.clone();
        self.routes[at].seen = seen;
        let posted = match taken {
            Take::Taken(posted) => posted,
            Take::Empty => return Err(Code::Again),
            Take::Closed => return Err(Code::NotFound),
            Take::Broken => {
                log::error!(target: crate::LOG, "consumer {} of the peer posted what no consumer posts", job.consumer);
                job.fate = Fate::Done(Err(Code::ConnectionReset));
                return Ok(());
            }
        };
        remote.parcel.receives.put_imm(posted.slot, imm);
        let send = Move { src: job.src, remote, posted, from: 0, bytes };
        if self.moves.is_empty() && (bytes <= AT_ONCE || bytes > posted.room) {
            let moved = self.carry(&send, at, bytes);
            job.fate = Fate::Done(self.finish(&send, moved));
        } else {
            self.moves.push_back(send);
            job.fate = Fate::Later;
        }
        Ok(())
    }

    /// Where in `routes` a consumer is.
    fn route(&mut self, id: u32) -> Option<usize> {
        if let Some(at) = self.routes.iter().position(|route| route.remote.parcel.id == id) {
            if self.routes[at].remote.is_alive() {
                return Some(at);
            }
            self.routes.swap_remove(at);
            return None;
        }
        let remote = self.member.streams().remote(id)?;
        self.routes.push(Route { remote, window: None, seen: 0 });
        Some(self.routes.len() - 1)
    }

    /// Moves `n` bytes of a send.
    fn carry(&mut self, send: &Move, route: usize, n: u64) -> Result<(), Code> {
        if send.bytes > send.posted.room {
            log::error!(target: crate::LOG, "{} bytes for consumer {}, the receive they met has room for {}", send.bytes,
                send.remote.parcel.id, send.posted.room);
            return Err(Code::TooBig);
        }
        if n == 0 {
            return Ok(());
        }
        let src = send.src.node().ok_or(Code::InvalidValue)?;
        let window = self.window(route).map_err(|e| e.code())?;
        let (addr, room) = (send.posted.addr as usize, send.posted.room as usize);
        let moved = window
            .reuse(addr, room, addr, 0)
            .and_then(|()| copy::transfer_part(src, window, send.from, n, false));
        moved.map_err(|error| {
            let ended =
                !send.remote.is_alive() || !window.region().is_open() || !self.member.carrier().is_up();
            if ended { Code::ConnectionReset } else { error.code() }
        })
    }

    fn window(&mut self, route: usize) -> Result<&'static Node> {
        let route = &mut self.routes[route];
        if route.window.is_none() {
            let window = route.remote.memory(&self.device)?.window()?;
            // Rights do not change while the memory is lent.
            check_room(window.node(), &self.gate)?;
            route.window = Some(window);
        }
        let lent = route.window.as_ref().map(Owned::lend);
        lent.and_then(Lent::node).ok_or(Code::Unexpected.into())
    }

    /// Says that a send is through.
    fn finish(&self, send: &Move, moved: Result<(), Code>) -> Result<u64, Code> {
        let (status, bytes) = match moved {
            Ok(()) => (0, send.bytes),
            Err(code) => (code.number(), 0),
        };
        send.remote.parcel.receives.finish(send.posted.slot, status, bytes, self.member.id());
        send.remote.ring();
        moved.map(|()| bytes)
    }

    /// A chunk of the oldest send. False: there is none.
    fn step(&mut self) -> bool {
        let Some(mut send) = self.moves.pop_front() else { return false };
        let n = CHUNK.min(send.bytes - send.from);
        let moved = match self.route(send.remote.parcel.id) {
            Some(at) => self.carry(&send, at, n),
            None => Err(Code::ConnectionReset),
        };
        send.from += n;
        if moved.is_err() || send.from == send.bytes {
            let result = self.finish(&send, moved);
            self.finished.push_back(result);
        } else {
            self.moves.push_front(send);
        }
        true
    }

    /// The connection is over.
    fn give_up(&mut self) {
        while let Some(send) = self.moves.pop_front() {
            let result = self.finish(&send, Err(Code::ConnectionReset));
            self.finished.push_back(result);
        }
        self.routes.clear();
    }
}

/// See the module.
pub(crate) struct Producer {
    mover: Arc<Mutex<Mover>>,
    member: Arc<Member>,
    /// Those that wait for [`Mover::finished`] begin with the first.
    tickets: VecDeque<Ticket<ComchProducer>>,
    listening: Option<u64>,
}

fn lock(mover: &Mutex<Mover>) -> MutexGuard<'_, Mover> {
    mover.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Producer {
    /// The work of a producer.
    ///
    /// # Errors
    /// NotSupported.
    pub(crate) fn work(device: &Arc<Device>, member: Arc<Member>) -> Result<Box<dyn Work>> {
        let caps = Caps::of(device.function())?;
        let mover = Arc::new(Mutex::new(Mover {
            member: member.clone(),
            device: device.clone(),
            gate: Gate::new(device.bit(), caps.max_stream_buf_size.into(), caps.max_stream_buf_list_len),
            routes: Vec::new(),
            moves: VecDeque::new(),
            finished: VecDeque::new(),
        }));
        let producer = Producer { mover: mover.clone(), member, tickets: VecDeque::new(), listening: None };
        Ok(Peered::new(producer, mover))
    }
}

impl Hardware for Producer {
    type Engine = ComchProducer;
    type Desk = Arc<Mutex<Mover>>;
    const GATED: bool = true;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        self.listening = Some(self.member.streams().listen(alarm));
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, ComchProducer>) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..TASKS {
            let Some(ticket) = port.take() else { break };
            self.tickets.push_back(ticket);
            turn = Turn::Busy;
        }
        let up = self.member.carrier().is_up();
        if !self.tickets.is_empty() {
            let mut mover = lock(&self.mover);
            if !up {
                mover.give_up();
            } else if mover.step() {
                turn = Turn::Busy;
            }
            while let Some(mut ticket) = self.tickets.pop_front() {
                let result = match port.job(&mut ticket).fate {
                    Fate::Done(result) => Some(result),
                    Fate::Later => mover.finished.pop_front(),
                };
                match result {
                    Some(result) => port.complete(ticket, result),
                    None => {
                        self.tickets.push_front(ticket);
                        break;
                    }
                }
            }
        }
        port.rely_on_alarm(self.tickets.is_empty());
        if !up && !port.is_stopping() {
            port.stop();
        }
        turn
    }

    fn is_pending(&mut self) -> bool {
        !self.tickets.is_empty() || !self.member.carrier().is_up()
    }

    fn idle(&mut self) {
        if let Some(number) = self.listening.take() {
            self.member.streams().leave(number);
        }
        lock(&self.mover).give_up();
        self.member.idle();
    }

    fn admit(mover: &Arc<Mutex<Mover>>, job: &mut ProduceJob) -> Result<(), Code> {
        if let Some(payload) = &job.owned {
            // The job is in its place now.
            job.imm = LentBytes::of(payload.imm.as_bytes());
        }
        lock(mover).submit(job)
    }
}
