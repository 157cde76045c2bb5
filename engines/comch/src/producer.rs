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
use crate::remote::Remote;
use crate::rings::{Filled, Posted, Take};
use crate::streams::Member;
use softdpu_memory::copy::{self, Gate};
use softdpu_memory::device::Device;
use softdpu_memory::node::{Lent, Node, Owned};
use softdpu_memory::view::{check_room, check_source};
use softdpu_room::biased::Biased;
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Result};
use std::collections::VecDeque;
use std::sync::Arc;

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
    /// Its fate may be told before that of any that is not known yet: there is none.
    settled: bool,
    /// Keeps buffer and immediate data (Rust); none where the program does (C).
    pub(crate) owned: Option<Payload>,
}

/// What became of it. Plain fields: what is read in another width than it was written waits until everything before is
/// written, all bytes of the send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fate {
    /// Not known yet; in the order of submission.
    later: bool,
    failure: Option<Code>,
    bytes: u64,
}

impl Fate {
    const LATER: Fate = Fate { later: true, failure: None, bytes: 0 };

    fn failed(code: Code) -> Fate {
        Fate { later: false, failure: Some(code), bytes: 0 }
    }

    #[inline(always)]
    fn result(self) -> Option<Result<u64, Code>> {
        if self.later { None } else { Some(self.failure.map_or(Ok(self.bytes), Err)) }
    }
}

impl ProduceJob {
    /// A buffer and immediate data, either may be none.
    pub fn new(src: Lent, imm: LentBytes, consumer: u32) -> ProduceJob {
        ProduceJob { src, imm, consumer, fate: Fate::LATER, settled: false, owned: None }
    }
}

/// A consumer that was sent to.
struct Route {
    remote: Arc<Remote>,
    /// A descriptor on its memory, aimed anew for every receive.
    window: Option<Owned>,
}

/// What goes where.
#[derive(Clone, Copy)]
struct Part {
    src: Lent,
    posted: Posted,
    from: u64,
    bytes: u64,
    imm_len: u8,
}

/// A send that is not through.
struct Move {
    remote: Arc<Remote>,
    part: Part,
}

/// What submits and turns share.
pub(crate) struct Mover {
    member: Arc<Member>,
    device: Arc<Device>,
    gate: Gate,
    routes: Vec<Route>,
    moves: VecDeque<Move>,
    /// Of those that were moved later, in order.
    finished: VecDeque<Fate>,
}

impl Mover {
    /// Carries a send out, or begins it.
    fn submit(&mut self, job: &mut ProduceJob) -> Result<(), Code> {
        job.settled = false;
        if !self.moves.is_empty() {
            self.step();
        }
        if !self.member.carrier().is_up() {
            job.fate = Fate::failed(Code::ConnectionReset);
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
                job.fate = Fate::failed(Code::InvalidValue);
                return Ok(());
            }
            Err(code) => {
                job.fate = Fate::failed(code);
                return Ok(());
            }
        };
        let receives = &remote.parcel.receives;
        let posted = match remote.claims.with(|claims| receives.take(claims)) {
            Take::Taken(posted) => posted,
            Take::Empty => return Err(Code::Again),
            Take::Closed => return Err(Code::NotFound),
            Take::Broken => {
                log::error!(target: crate::LOG, "consumer {} of the peer posted what no consumer posts", job.consumer);
                job.fate = Fate::failed(Code::ConnectionReset);
                return Ok(());
            }
        };
        if !imm.is_empty() {
            receives.put_imm(posted.slot, imm);
        }
        self.member.streams().say();
        let part = Part { src: job.src, posted, from: 0, bytes, imm_len: imm.len() as u8 };
        job.settled = self.finished.is_empty();
        if self.moves.is_empty() && (bytes <= AT_ONCE || bytes > posted.room.into()) {
            let moved = self.carry(&part, at, bytes);
            job.fate = self.finish(&self.routes[at].remote, &part, moved.err());
        } else {
            self.moves.push_back(Move { remote: remote.clone(), part });
            job.fate = Fate::LATER;
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
        self.routes.push(Route { remote, window: None });
        Some(self.routes.len() - 1)
    }

    /// Moves `n` bytes of a send.
    fn carry(&mut self, send: &Part, route: usize, n: u64) -> Result<(), Code> {
        if send.bytes > send.posted.room.into() {
            log::error!(target: crate::LOG, "{} bytes for consumer {}, the receive they met has room for {}", send.bytes,
                self.routes[route].remote.parcel.id, send.posted.room);
            return Err(Code::TooBig);
        }
        if n == 0 {
            return Ok(());
        }
        let src = send.src.node().ok_or(Code::InvalidValue)?;
        let window = self.window(route).map_err(|e| e.code())?;
        let (addr, room) = (send.posted.addr as usize, send.posted.room as usize);
        let moved = window.reuse(addr, room, addr, 0).and_then(|()| {
            // The usual one, which needs no reason.
            let most = if n == send.bytes { AT_ONCE as usize + 1 } else { 0 };
            match copy::transfer_lone(src, window, &self.gate, most) {
                Some(_) => Ok(()),
                None => copy::transfer_part(src, window, send.from, n, false),
            }
        });
        moved.map_err(|error| {
            let there = self.routes[route].remote.is_alive() && window.region().is_open();
            let ended = !there || !self.member.carrier().is_up();
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
    #[inline(always)]
    fn finish(&self, remote: &Remote, send: &Part, failure: Option<Code>) -> Fate {
        let (status, bytes) = match failure {
            None => (0, send.bytes),
            Some(code) => (code.number() as u8, 0),
        };
        let filled = Filled {
            slot: send.posted.slot,
            status,
            bytes: bytes as u32,
            producer: self.member.id(),
            imm_len: send.imm_len,
        };
        remote.claims.with(|claims| remote.parcel.receives.finish(claims, filled));
        remote.ring();
        Fate { later: false, failure, bytes }
    }

    /// A chunk of the oldest send. False: there is none.
    fn step(&mut self) -> bool {
        let Some(mut send) = self.moves.pop_front() else { return false };
        let part = &mut send.part;
        let n = CHUNK.min(part.bytes - part.from);
        let moved = match self.route(send.remote.parcel.id) {
            Some(at) => self.carry(part, at, n),
            None => Err(Code::ConnectionReset),
        };
        part.from += n;
        if moved.is_err() || part.from == part.bytes {
            let fate = self.finish(&send.remote, part, moved.err());
            self.finished.push_back(fate);
        } else {
            self.moves.push_front(send);
        }
        true
    }

    /// The connection is over.
    fn give_up(&mut self) {
        while let Some(send) = self.moves.pop_front() {
            let fate = self.finish(&send.remote, &send.part, Some(Code::ConnectionReset));
            self.finished.push_back(fate);
        }
        self.routes.clear();
    }
}

/// See the module.
pub(crate) struct Producer {
    mover: Arc<Biased<Mover>>,
    member: Arc<Member>,
    /// Those that wait for [`Mover::finished`] begin with the first.
    tickets: VecDeque<Ticket<ComchProducer>>,
    listening: Option<u64>,
}

impl Producer {
    /// The work of a producer.
    ///
    /// # Errors
    /// NotSupported.
    pub(crate) fn work(device: &Arc<Device>, member: Arc<Member>) -> Result<Box<dyn Work>> {
        let caps = Caps::of(device.function())?;
        let mover = Arc::new(Biased::new(Mover {
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

impl Producer {
    /// Sends that were not carried out inside submit, and those behind them. True: something moved.
    #[cold]
    fn go_on(&mut self, port: &mut Port<'_, ComchProducer>, up: bool) -> bool {
        let tickets = &mut self.tickets;
        self.mover.visit(|mover| {
            if !up {
                mover.give_up();
            }
            let moved = mover.step();
            while let Some(mut ticket) = tickets.pop_front() {
                let result = port.job(&mut ticket).fate.result();
                match result.or_else(|| mover.finished.pop_front()?.result()) {
                    Some(result) => port.complete(ticket, result),
                    None => {
                        tickets.push_front(ticket);
                        break;
                    }
                }
            }
            moved
        })
    }
}

impl Hardware for Producer {
    type Engine = ComchProducer;
    type Desk = Arc<Biased<Mover>>;
    const GATED: bool = true;
    const SETTLES: bool = true;
    const TELLS: bool = false;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        self.listening = Some(self.member.streams().listen(alarm));
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, ComchProducer>) -> Turn {
        let mut turn = Turn::Idle;
        for _ in 0..TASKS {
            let Some(mut ticket) = port.take() else { break };
            turn = Turn::Busy;
            match port.job(&mut ticket).fate.result() {
                Some(result) if self.tickets.is_empty() => port.complete(ticket, result),
                _ => self.tickets.push_back(ticket),
            }
        }
        let up = self.member.carrier().is_up();
        if !self.tickets.is_empty() && self.go_on(port, up) {
            turn = Turn::Busy;
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
        self.mover.visit(Mover::give_up);
        self.member.idle();
    }

    fn sever(&mut self, _: &mut Port<'_, ComchProducer>, _: &ProduceJob) -> bool {
        self.member.carrier().sever()
    }

    fn touches(mover: &Arc<Biased<Mover>>, job: &ProduceJob, tell: Tell<'_>) {
        touch::source(job.src, tell);
        touch::process(mover.visit(|mover| mover.member.carrier().peer()), tell);
    }

    fn settled(job: &ProduceJob) -> Option<Result<u64, Code>> {
        if job.settled { job.fate.result() } else { None }
    }

    fn admit(mover: &Arc<Biased<Mover>>, job: &mut ProduceJob) -> Result<(), Code> {
        if let Some(payload) = &job.owned {
            // The job is in its place now.
            job.imm = LentBytes::of(payload.imm.as_bytes());
        }
        mover.with(|mover| mover.submit(job))
    }
}
