//! The hardware of a consumer: posts receives where the peer's producers find them, and reports what they filled.

mod poster;

use crate::bell::Bell;
use crate::engine::ComchConsumer;
use crate::pace::Pace;
use crate::receives::Receives;
use crate::rings::{Filled, Posted};
use crate::streams::{Member, News};
use crate::sync::{AtomicBool, Ordering};
use softdpu_memory::device::Device;
use softdpu_memory::export::{Exported, Kind, Origin, export};
use softdpu_memory::procmaps;
use softdpu_memory::region::{Access, GUARDED, Region};
use softdpu_memory::{Export, Memory};
use softdpu_room::context::State;
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Tasks taken in hand, and reported, per turn.
const AT_ONCE: u32 = 64;
pub use poster::ReceiveJob;
use poster::{Desk, Poster, accept};

/// What a consumer is asked to be.
#[derive(Debug)]
pub struct ConsumerSetup {
    /// Its membership.
    pub member: Arc<Member>,
    /// The memory its buffers lie in; none for immediate data alone. It stays as long as the consumer.
    pub region: Option<&'static Region>,
    /// The same of the Rust face.
    pub memory: Option<Memory>,
    /// Receives that may be posted at a time.
    pub tasks: u32,
    /// Most bytes of immediate data.
    pub imm: u32,
}

/// See the module.
pub(crate) struct Consumer {
    setup: ConsumerSetup,
    device: Arc<Device>,
    receives: Receives,
    desk: Arc<Desk>,
    /// By slot.
    tickets: Vec<Option<Ticket<ComchConsumer>>>,
    /// Filled, but the task has not come this way yet.
    early: Vec<Filled>,
    filled: u64,
    pace: Pace,
    exported: Option<Exported>,
    lent: Option<Export>,
    bell: Option<Bell>,
    announced: bool,
    seen: Arc<AtomicBool>,
    running: bool,
    listening: Option<u64>,
}

impl Consumer {
    /// The work of a consumer.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn work(device: &Arc<Device>, setup: ConsumerSetup) -> Result<Box<dyn Work>> {
        let receives = Receives::create(setup.tasks)?;
        let count = setup.tasks as usize;
        let (mut tickets, mut free, mut posted) = (Vec::new(), Vec::new(), Vec::new());
        let reserved = tickets.try_reserve_exact(count).and(free.try_reserve_exact(count));
        reserved
            .and(posted.try_reserve_exact(count))
            .map_err(|_| Error::new(Code::NoMemory, "no memory for receives"))?;
        tickets.resize_with(count, || None);
        free.extend((0..setup.tasks).rev());
        posted.resize(count, Posted { slot: 0, addr: 0, room: 0 });
        let desk = Desk::new(Poster {
            member: setup.member.clone(),
            region: setup.region,
            has_memory: setup.memory.is_some(),
            receives: receives.clone(),
            next: 0,
            published: 0,
            together: false,
            free,
            posted,
            closed: false,
        });
        let consumer = Consumer {
            pace: Pace::to(setup.member.carrier().peer()),
            setup,
            device: device.clone(),
            receives,
            desk: desk.clone(),
            tickets,
            early: Vec::new(),
            filled: 0,
            exported: None,
            lent: None,
            bell: None,
            announced: false,
            seen: Arc::default(),
            running: false,
            listening: None,
        };
        Ok(Peered::new(consumer, desk))
    }

    /// Lends the memory to the peer.
    fn lend(&self, region: &'static Region) -> Result<Exported> {
        let object = format!("memory of consumer {}", self.setup.member.id());
        let at = region.base().wrapping_add_signed(region.delta());
        let writable = procmaps::survey(at, region.len()).is_ok_and(|survey| survey.writable);
        region.expose();
        let access = region.granted();
        let origin = Origin { region, access, writable, mkey: 0, parent: None, backing: None };
        export(&object, origin, &self.device, Kind::Pci, None)
    }

    /// On the way to RUNNING.
    fn start_on(&mut self, port: &mut Port<'_, ComchConsumer>) {
        let member = &self.setup.member;
        if !member.carrier().is_up() {
            log::error!(target: crate::LOG, "consumer {}: its connection is over", member.id());
            return port.give_up();
        }
        if self.seen.load(Ordering::Acquire) {
            return port.run();
        }
        if let Err(error) = self.announce() {
            log::error!(target: crate::LOG, "consumer {} cannot be announced to the peer: {error}",
                self.setup.member.id());
            port.give_up();
        }
    }

    fn announce(&mut self) -> Result<()> {
        let (false, Some(bell)) = (self.announced, &self.bell) else { return Ok(()) };
        let member = &self.setup.member;
        let news = News {
            id: member.id(),
            imm: self.setup.imm,
            receives: &self.receives,
            bell,
            descriptor: match (&self.exported, &self.lent) {
                (Some(exported), _) => exported.bytes(),
                (None, Some(lent)) => lent.bytes(),
                (None, None) => &[],
            },
        };
        match member.carrier().announce(&news) {
            Ok(()) => self.announced = true,
            Err(error) if error.code() == Code::Again => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Takes submitted receives in hand.
    fn take_tasks(&mut self, port: &mut Port<'_, ComchConsumer>) -> Turn {
        let mut turn = Turn::Idle;
        // A stopping context gives all of them back in one turn.
        let limit = if port.is_stopping() { u32::MAX } else { AT_ONCE };
        for _ in 0..limit {
            let Some(mut ticket) = port.take() else { break };
            turn = Turn::Busy;
            let job = port.job(&mut ticket);
            match (job.fault, self.tickets.get_mut(job.slot as usize)) {
                (None, Some(place)) => *place = Some(ticket),
                (fault, _) => port.complete(ticket, Err(fault.unwrap_or(Code::Unexpected))),
            }
        }
        turn
    }

    /// Reports what was filled.
    fn report(&mut self, port: &mut Port<'_, ComchConsumer>) -> Turn {
        if self.early.is_empty() {
            if !self.pace.may_look() && !port.is_stopping() {
                return Turn::Idle;
            }
            let found = self.receives.is_through(self.filled);
            self.pace.looked(found, self.setup.member.streams().said());
            if !found {
                return Turn::Idle;
            }
        }
        let limit = if port.is_stopping() { u32::MAX } else { AT_ONCE };
        let desk = self.desk.clone();
        desk.poster.visit(|poster| {
            let mut landed = 0;
            for filled in core::mem::take(&mut self.early) {
                landed += self.land(port, poster, filled);
            }
            for _ in 0..limit {
                let Some(filled) = self.receives.filled(self.filled) else { break };
                self.filled += 1;
                landed += self.land(port, poster, filled);
            }
            // What comes together is likely to be posted together again.
            poster.together = landed > 1;
        });
        Turn::Busy
    }

    /// Reports one; how many were.
    fn land(&mut self, port: &mut Port<'_, ComchConsumer>, poster: &mut Poster, filled: Filled) -> u32 {
        let Some(place) = self.tickets.get_mut(filled.slot as usize) else { return 0 };
        let Some(mut ticket) = place.take() else {
            // Its task is on the way from submit; or the peer said so of a slot that is free.
            if self.early.len() < self.setup.tasks as usize {
                self.early.push(filled);
            }
            return 0;
        };
        let posted = poster.posted[filled.slot as usize];
        let job = port.job(&mut ticket);
        let result = accept(&self.receives, self.setup.imm, posted, filled, job);
        // Only now: whoever posts the slot again lets a producer write into it.
        poster.free.push(filled.slot);
        port.complete(ticket, result);
        1
    }

    /// Everything is given back.
    fn flush(&mut self, port: &mut Port<'_, ComchConsumer>) {
        self.desk.poster.visit(|poster| poster.closed = true);
        self.receives.close();
        // On return nobody writes into the buffers any more.
        (self.exported, self.lent) = (None, None);
        self.take_tasks(port);
        self.report(port);
        let code = if self.setup.member.carrier().is_up() { Code::IoFailed } else { Code::ConnectionReset };
        for ticket in self.tickets.iter_mut().filter_map(Option::take) {
            port.complete(ticket, Err(code));
        }
    }
}

/// May receives lie in this memory?
///
/// # Errors
/// NotPermitted: no right to write over PCI. NotSupported: it is an import. One log line.
pub(crate) fn check_memory(region: &Region) -> Result<()> {
    if region.word() & GUARDED != 0 {
        log::error!(target: crate::LOG, "memory map [{:#x}, +{}) is an import; receives need memory of this process",
            region.base(), region.len());
        return Err(Error::new(Code::NotSupported, "imported memory"));
    }
    if !region.is_open() {
        log::error!(target: crate::LOG, "the memory map of receives is not started");
        return Err(Error::new(Code::InvalidValue, "the memory map is not started"));
    }
    if !region.granted().contains(Access::PCI_READ_WRITE) {
        log::error!(target: crate::LOG, "memory map [{:#x}, +{}) grants {:?}; receives need PCI_READ_WRITE", region.base(),
            region.len(), region.granted());
        return Err(Error::new(Code::NotPermitted, "access right missing"));
    }
    Ok(())
}

impl Hardware for Consumer {
    type Engine = ComchConsumer;
    type Desk = Arc<Desk>;
    const GATED: bool = true;
    const TELLS: bool = false;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        if let Some(region) = self.setup.region {
            check_memory(region)?;
            self.exported = Some(self.lend(region)?);
        }
        if let Some(memory) = &self.setup.memory {
            self.lent = Some(memory.export(&self.device)?);
        }
        self.bell = Some(Bell::of(alarm)?);
        let (id, streams) = (self.setup.member.id(), self.setup.member.streams());
        self.listening = Some(streams.listen(alarm));
        streams.wait_seen(id, &self.seen, alarm);
        // What fails now fails again in progress, which says so.
        let _ = self.announce();
        Ok(Begun::Later)
    }

    fn turn(&mut self, port: &mut Port<'_, ComchConsumer>) -> Turn {
        port.rely_on_alarm(true);
        if port.core().state() == State::Starting {
            self.start_on(port);
            return Turn::Idle;
        }
        if port.is_stopping() {
            self.flush(port);
            return Turn::Busy;
        }
        self.running = true;
        let mut turn = self.take_tasks(port);
        self.desk.publish();
        if self.report(port) == Turn::Busy {
            turn = Turn::Busy;
        }
        if !self.setup.member.carrier().is_up() {
            port.stop();
        }
        turn
    }

    fn is_pending(&mut self) -> bool {
        self.receives.is_through(self.filled)
            || !self.early.is_empty()
            || !self.running && (self.seen.load(Ordering::Acquire) || !self.announced)
            || !self.setup.member.carrier().is_up()
    }

    fn idle(&mut self) {
        let (id, streams) = (self.setup.member.id(), self.setup.member.streams());
        self.receives.close();
        (self.exported, self.lent) = (None, None);
        streams.seen(id, false);
        if let Some(number) = self.listening.take() {
            streams.leave(number);
        }
        if core::mem::take(&mut self.announced) {
            self.setup.member.carrier().retract(id);
        }
        self.setup.member.idle();
    }

    fn sever(&mut self, _: &mut Port<'_, ComchConsumer>, _: &ReceiveJob) -> bool {
        self.setup.member.carrier().sever()
    }

    fn touches(desk: &Arc<Desk>, job: &ReceiveJob, tell: Tell<'_>) {
        touch::destination(job.dst, tell);
        touch::process(desk.member.carrier().peer(), tell);
    }

    fn admit(desk: &Arc<Desk>, job: &mut ReceiveJob) -> Result<(), Code> {
        desk.post(job)
    }
}
