//! One turn of the engine: mail, tasks that wait, fresh tasks, messages that came.

use crate::config::{Settings, senders};
use crate::conn::Conn;
use crate::control::Control;
use crate::desk::Desk;
use crate::engine::{Event, Rdma};
use crate::events::Events;
use crate::inbox::{CHUNK, State};
use crate::job::{ConnRef, Job, Op};
use crate::link::{Front, Link, Step, Tools};
use crate::net::Wire;
use crate::posted::Posted;
use crate::queue::Store;
use crate::srq::Srq;
use crate::{event, onesided, send};
use softdpu_memory::copy::Gate;
use softdpu_room::carry::PART_BYTES;
use softdpu_room::context::Core;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::job::Deliver;
use softdpu_room::touch::Tell;
use softdpu_status::{Code, Result};
use std::sync::Arc;

/// Tasks and messages of one turn at most.
const AT_ONCE: u32 = 128;

/// The engine of a running context.
pub(crate) struct Engine {
    pub(crate) control: Arc<Control>,
    desk: Arc<Desk>,
    pub(crate) told: bool,
    pub(crate) links: Box<[Option<Box<Link>>]>,
    pub(crate) inbounds: Box<[Option<Box<crate::receive::In>>]>,
    pub(crate) srq: Srq<Posted>,
    pub(crate) fresh_receives: bool,
    /// Turns made.
    turns: u64,
    /// Connections over the network.
    pub(crate) wires: Vec<Wire>,
    pub(crate) store: Store,
    /// Connections with tasks that wait, by slot.
    pub(crate) pending: Vec<u32>,
    pub(crate) dirty: Vec<u32>,
    pub(crate) events: Events,
    pub(crate) tools: Tools,
    pub(crate) left: u32,
    pub(crate) dynamic: bool,
    /// Messages that are half here.
    pub(crate) partial: u32,
    /// Is the program still to be told of the end of a connection?
    pub(crate) owed: bool,
}

/// The engine of a context with these settings, for the room; with handlers of tasks that are posted (Rust face).
///
/// # Errors
/// NoMemory.
pub(crate) fn work(control: &Arc<Control>, handlers: Option<Deliver<Rdma>>) -> Result<Box<Peered<Engine>>> {
    let settings: Settings = control.settings();
    let caps = &control.caps;
    let device = control.device().bit();
    let largest = u64::from(caps.max_message_size);
    let send = Gate::new(device, largest, settings.send_list);
    let receive = Gate::new(device, u64::MAX, settings.receive_list);
    let connections = usize::from(settings.connections);
    let desk = Arc::new(Desk::new(control, connections, settings.send_queue(caps), device, send, receive));
    // Of the Rust face every slot may hold any task, and handlers have as many slots for what they post.
    let posted = if handlers.is_some() { settings.slots.saturating_mul(2) } else { 0 };
    let receives = settings.tasks[Op::Receive as usize].max(posted);
    let srq = Srq::new(receives, senders(&settings), settings.rights)?;
    let sends = settings.tasks.iter().fold(0u32, |sum, &n| sum.saturating_add(n)).max(posted);
    let scratch = vec![0; CHUNK].into();
    let engine = Engine {
        control: control.clone(),
        desk: desk.clone(),
        told: settings.told,
        links: (0..connections).map(|_| None).collect(),
        inbounds: (0..senders(&settings)).map(|_| None).collect(),
        srq,
        fresh_receives: false,
        turns: 0,
        wires: Vec::new(),
        store: Store::new(sends)?,
        pending: Vec::with_capacity(connections),
        dirty: Vec::with_capacity(connections),
        events: Events::default(),
        tools: Tools {
            device,
            send,
            receive,
            stream_from: onesided::stream_from(),
            rnr: settings.rnr,
            scratch,
            budget: 0,
        },
        left: 0,
        dynamic: settings.transport == crate::caps::Transport::Dynamic,
        partial: 0,
        owed: false,
    };
    Ok(Peered::with_handlers(engine, desk, handlers))
}

impl Hardware for Engine {
    type Engine = Rdma;
    type Desk = Arc<Desk>;
    const GATED: bool = true;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        self.control.start(self.srq.segment().clone(), self.desk.clone(), alarm)?;
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, Rdma>) -> Turn {
        (self.tools.budget, self.left) = (PART_BYTES, AT_ONCE);
        self.turns += 1;
        let mut moved = false;
        if self.control.attention.take() {
            self.attend(port);
            moved = true;
        }
        if port.is_stopping() {
            return self.flush(port);
        }
        moved |= self.go_on(port);
        // Where nothing waits, what might not fit into this turn is left for the next one, which takes it the short way.
        while self.left > 0
            && (self.tools.budget >= onesided::STRAIGHT || !self.pending.is_empty())
            && let Some(ticket) = port.take().or_else(|| port.take_posted())
        {
            moved = true;
            self.left -= 1;
            self.begin(port, ticket);
        }
        if core::mem::take(&mut self.fresh_receives) && self.srq.publish() {
            self.inbounds.iter().flatten().for_each(|inbound| inbound.way.ring_sender());
        }
        moved |= self.receive(port);
        self.publish();
        if !self.wires.is_empty() {
            moved |= self.turn_wires(port);
        }
        port.rely_on_alarm(self.pending.is_empty() && self.partial == 0 && !self.wires_wait());
        self.hold(port);
        port.has_events(!self.events.is_empty());
        if moved { Turn::Busy } else { Turn::Idle }
    }

    fn event(&mut self, port: &mut Port<'_, Rdma>) -> Option<Event> {
        self.events.next(port.reported())
    }

    fn tell(core: &'static Core, event: Event) {
        let (Event::Requested(conn) | Event::Established(conn) | Event::Failed(conn) | Event::Ended(conn)) =
            &event;
        if let Some(tell) = conn.control.upgrade().and_then(|control| control.teller.get().copied()) {
            tell(core, event);
        }
    }

    fn is_pending(&mut self) -> bool {
        if self.control.attention.is_called() || self.srq.is_ready() || !self.events.is_empty() {
            return true;
        }
        let links = &mut self.links;
        let here = self.pending.iter().any(|&slot| {
            links[slot as usize].as_mut().is_some_and(|link| match link.state() {
                Some(State::Waiting) => false,
                Some(State::Open) => match (&mut link.out, link.front.claim) {
                    (Some(out), None) => out.srq.has_receives(),
                    (Some(out), Some(_)) => out.has_room(),
                    _ => true,
                },
                _ => true,
            })
        });
        here || !self.wires.is_empty() && self.wires_are_pending()
    }

    fn idle(&mut self) {
        self.control.close();
        self.srq.close();
        self.links.iter_mut().for_each(|link| *link = None);
        self.inbounds.iter_mut().for_each(|inbound| *inbound = None);
        self.wires.clear();
        let conns = self.control.end();
        if let Some(retire) = self.control.retire.get() {
            conns.iter().for_each(retire);
        }
    }

    fn sever(&mut self, port: &mut Port<'_, Rdma>, job: &Job) -> bool {
        let live = job.op != Op::Receive && self.link(job.conn).is_some();
        if live {
            self.lose(port, job.conn.slot);
        }
        live
    }

    fn admit(desk: &Arc<Desk>, job: &mut Job) -> Result<(), Code> {
        desk.admit(job)
    }

    fn check(desk: &Arc<Desk>, job: &Job) -> Result<()> {
        desk.check(job)
    }

    fn is_owed(desk: &Arc<Desk>) -> bool {
        desk.is_owed()
    }

    fn touches(desk: &Arc<Desk>, job: &Job, tell: Tell<'_>) {
        desk.touches(job, tell);
    }
}

impl Engine {
    /// Gives a task of the send side back.
    #[inline(always)]
    pub(crate) fn complete(
        &mut self,
        port: &mut Port<'_, Rdma>,
        mut ticket: Ticket<Rdma>,
        result: Result<u64, Code>,
    ) {
        self.desk.completed(port.job(&mut ticket).conn.slot, ticket.is_posted());
        port.complete(ticket, result);
    }

    pub(crate) fn link(&mut self, which: ConnRef) -> Option<&mut Box<Link>> {
        self.links.get_mut(which.slot as usize)?.as_mut().filter(|link| link.conn.here == which)
    }

    pub(crate) fn link_conn(&self, which: ConnRef) -> Option<&Arc<Conn>> {
        let link = self.links.get(which.slot as usize)?.as_ref()?;
        (link.conn.here == which).then_some(&link.conn)
    }

    /// A fresh task.
    fn begin(&mut self, port: &mut Port<'_, Rdma>, mut ticket: Ticket<Rdma>) {
        let job = port.job(&mut ticket);
        if job.op == Op::Receive {
            return self.post(port, ticket);
        }
        let which = job.conn;
        if let Some(Some(link)) = self.links.get_mut(which.slot as usize)
            && link.is_clear(which, self.turns)
        {
            let was_dirty = link.dirty;
            if let Some(result) = straight(link, job, &mut self.tools) {
                if link.dirty && !was_dirty {
                    self.dirty.push(which.slot);
                }
                return self.complete(port, ticket, Ok(result));
            }
        }
        if self.link(which).is_none_or(|link| link.out.is_none() && link.net.is_none())
            && self.control.attention.take()
        {
            // The program connected after this turn had begun.
            self.attend(port);
        }
        let Some(link) = self.links.get_mut(which.slot as usize).and_then(Option::as_mut) else {
            return self.refuse(port, ticket);
        };
        let has_way = link.out.is_some() || link.net.is_some();
        if link.conn.here != which || !has_way || link.failed {
            return self.refuse(port, ticket);
        }
        if link.net.is_some() {
            return self.queue(port, ticket, which.slot);
        }
        if link.queue.is_empty() {
            match step(link, port.job(&mut ticket), &mut self.tools) {
                Step::Done(bytes) => {
                    link.front = Front::default();
                    if link.dirty {
                        self.dirty.push(which.slot);
                    }
                    return self.complete(port, ticket, Ok(bytes));
                }
                Step::Failed => {
                    self.complete(port, ticket, Err(Code::IoFailed));
                    return self.fail(port, which.slot);
                }
                Step::More | Step::Wait => self.pending.push(which.slot),
            }
        }
        if link.dirty {
            self.dirty.push(which.slot);
        }
        if let Err(ticket) = self.store.push(&mut link.queue, ticket) {
            self.complete(port, ticket, Err(Code::Unexpected));
        }
    }

    #[cold]
    fn refuse(&mut self, port: &mut Port<'_, Rdma>, mut ticket: Ticket<Rdma>) {
        let (op, which) = {
            let job = port.job(&mut ticket);
            (job.op, job.conn)
        };
        let why = if self.link(which).is_some_and(|link| link.failed) {
            "had a failed task before"
        } else if self.control.conn(which).is_some() {
            "is not connected"
        } else {
            "has ended"
        };
        log::error!(target: crate::LOG, "{} task on connection {}, which {why}", op.name(), which.uid);
        self.complete(port, ticket, Err(Code::IoFailed));
    }

    /// Tasks that wait.
    fn go_on(&mut self, port: &mut Port<'_, Rdma>) -> bool {
        let mut moved = false;
        let mut at = 0;
        while let Some(&slot) = self.pending.get(at) {
            let Some(link) = self.links[slot as usize].as_mut() else {
                self.pending.swap_remove(at);
                continue;
            };
            let mut failed = false;
            while self.left > 0
                && self.tools.budget > 0
                && let Some(ticket) = self.store.front(&link.queue)
            {
                let before = link.front.done;
                match step(link, port.job(ticket), &mut self.tools) {
                    Step::Done(bytes) => {
                        link.front = Front::default();
                        self.left -= 1;
                        moved = true;
                        if let Some(mut ticket) = self.store.pop(&mut link.queue) {
                            self.desk.completed(port.job(&mut ticket).conn.slot, ticket.is_posted());
                            port.complete(ticket, Ok(bytes));
                        }
                    }
                    Step::Failed => {
                        failed = true;
                        break;
                    }
                    Step::More | Step::Wait => {
                        moved |= link.front.done != before;
                        break;
                    }
                }
            }
            let empty = link.queue.is_empty();
            if link.dirty {
                self.dirty.push(slot);
            }
            if failed {
                moved = true;
                self.fail(port, slot);
            }
            if empty || failed {
                self.pending.swap_remove(at);
            } else {
                at += 1;
            }
        }
        moved
    }

    /// What was staged is seen, and peers that sleep are woken.
    fn publish(&mut self) {
        while let Some(slot) = self.dirty.pop() {
            if let Some(link) = &mut self.links[slot as usize] {
                link.publish();
            }
        }
    }
}

/// What came of a task on a clear connection that has nothing against it; `None` where it goes the long way.
#[inline]
fn straight(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Option<u64> {
    match job.op {
        Op::Write | Op::Read => onesided::straight(link, job, tools),
        Op::Send | Op::SendImm => send::straight(link, job, tools),
        _ => None,
    }
}

/// Goes on with the task at the front of a connection.
#[inline]
fn step(link: &mut Link, job: &mut Job, tools: &mut Tools) -> Step {
    match job.op {
        Op::Write | Op::WriteImm => onesided::write(link, job, tools),
        Op::Read => onesided::read(link, job, tools),
        Op::Send | Op::SendImm => send::send(link, job, tools),
        Op::CmpSwap | Op::FetchAdd => onesided::atomic(link, job, tools),
        Op::EventGet | Op::EventSet | Op::EventAdd => event::carry_out(link, job, tools),
        Op::Receive => Step::Failed,
    }
}
