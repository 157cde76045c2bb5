//! The hardware of a receive queue: takes frames from the port as long as there is room for them. What there is no room for
//! stays with the port, which drops what it cannot hold, and counts it.

use super::engine::{EthRxq, Mode, RxDesk};
use super::fill::{Info, fill};
use super::gather::Gatherer;
use super::report::{Report, Told};
use super::task::RecvJob;
use crate::face::Inbox;
use softdpu_memory::device::Device;
use softdpu_memory::fault;
use softdpu_net::{Inlet, InletSetup, Taken, Wake};
use softdpu_room::context::Core;
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::collections::VecDeque;
use std::sync::Arc;

/// Frames per turn.
const FRAMES: usize = 64;

/// What a queue tells the program.
#[derive(Debug)]
pub enum Event {
    /// C: through the handlers of the queue.
    Told(&'static Report, Told),
    /// Rust: there is something in the inbox.
    Arrived(Arc<Inbox>),
}

/// Wakes the queue's progress engine when a frame arrives.
struct Bell(Arc<Alarm>);

impl Wake for Bell {
    fn wake(&self) {
        self.0.ring();
    }
}

/// See the module.
pub(crate) struct ReceiveQueue {
    device: Arc<Device>,
    desk: Arc<RxDesk>,
    inlet: Option<Inlet>,
    /// Receives in the order of posting.
    posted: VecDeque<Ticket<EthRxq>>,
    gatherer: Gatherer,
    armed: bool,
    /// The link is down: frames are lost.
    cut: bool,
}

impl ReceiveQueue {
    pub(crate) fn work(device: &Arc<Device>, desk: Arc<RxDesk>) -> Box<dyn Work> {
        let queue = ReceiveQueue {
            device: device.clone(),
            desk: desk.clone(),
            inlet: None,
            posted: VecDeque::with_capacity(desk.setup.max_burst as usize),
            gatherer: Gatherer::default(),
            armed: false,
            cut: false,
        };
        Peered::new(queue, desk)
    }

    /// Somebody visits: nobody needs waking.
    #[inline]
    fn disarm(&mut self) {
        if core::mem::take(&mut self.armed)
            && let Some(inlet) = &self.inlet
        {
            inlet.disarm();
        }
    }

    /// The link is down: what has come over it is lost.
    #[cold]
    fn lose(&mut self) -> Turn {
        let Some(inlet) = &mut self.inlet else { return Turn::Idle };
        if inlet.receive(FRAMES, |_| Taken::Yes) > 0 { Turn::Busy } else { Turn::Idle }
    }

    /// Gives all receives back.
    fn flush(&mut self, port: &mut Port<'_, EthRxq>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some(ticket) = self.posted.pop_front().or_else(|| port.take()) {
            turn = Turn::Busy;
            port.complete(ticket, Err(Code::IoFailed));
        }
        turn
    }

    /// Frames into posted buffers.
    fn receive(&mut self, port: &mut Port<'_, EthRxq>) -> Turn {
        let Some(inlet) = &mut self.inlet else { return Turn::Idle };
        let (desk, posted) = (&*self.desk, &mut self.posted);
        let got = inlet.receive(FRAMES, |frame| {
            if desk.is_oversize(frame.len()) {
                return Taken::Yes;
            }
            let Some(mut ticket) = posted.pop_front() else { return Taken::Later };
            let job = port.job(&mut ticket);
            let result = match job.packet.node() {
                Some(node) => fill(node, frame, &desk.gate),
                None => Err(missing()),
            };
            let result = result.map_err(|error| {
                // What failed under the task hits this task alone.
                let _ = fault::take();
                error.code()
            });
            if let Ok(len) = result {
                job.info = Info::of(frame.meta(), &desk.setup.want);
                desk.count(len);
            }
            port.complete(ticket, result);
            Taken::Yes
        });
        if got > 0 { Turn::Busy } else { Turn::Idle }
    }
}

#[cold]
fn missing() -> Error {
    log::error!(target: crate::LOG, "receive: the packet's buffer is NULL or was released");
    Error::new(Code::InvalidValue, "a buffer is missing")
}

impl Hardware for ReceiveQueue {
    type Engine = EthRxq;
    type Desk = Arc<RxDesk>;

    fn start(&mut self, alarm: &Arc<Alarm>) -> Result<Begun> {
        let want = &self.desk.setup.want;
        let setup = InletSetup {
            wake: Arc::new(Bell(alarm.clone())),
            hash: want.hash,
            timestamp: want.timestamp,
            checksums: true,
        };
        let inlet = softdpu_net::port(self.device.function()).inlet(setup)?;
        self.desk.set_queue(Some(inlet.queue().clone()));
        self.inlet = Some(inlet);
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, EthRxq>) -> Turn {
        // Receives wait for frames, which ring.
        port.rely_on_alarm(true);
        if port.is_stopping() {
            return self.flush(port);
        }
        let mut turn = Turn::Idle;
        while let Some(mut ticket) = port.take() {
            // What could never take a frame fails now: it would cost somebody else's frame, whenever one comes.
            match Self::check(&self.desk, port.job(&mut ticket)) {
                Ok(()) => self.posted.push_back(ticket),
                Err(error) => port.complete(ticket, Err(error.code())),
            }
            turn = Turn::Busy;
        }
        if self.cut {
            self.disarm();
            return if self.lose() == Turn::Busy { Turn::Busy } else { turn };
        }
        if self.posted.is_empty() {
            return turn;
        }
        self.disarm();
        match self.receive(port) {
            Turn::Idle => turn,
            Turn::Busy => Turn::Busy,
        }
    }

    fn event(&mut self, port: &mut Port<'_, EthRxq>) -> Option<Event> {
        if matches!(self.desk.setup.mode, Mode::Posted { .. }) {
            return None;
        }
        self.disarm();
        if self.cut {
            self.lose();
            return None;
        }
        match &self.desk.setup.mode {
            Mode::Managed(_) if port.is_stopping() => {
                self.gatherer.forget(&self.desk);
                None
            }
            Mode::Stream(_) if port.is_stopping() => None,
            Mode::Posted { .. } => None,
            Mode::Managed(managed) => {
                let inlet = self.inlet.as_mut()?;
                let told = self.gatherer.event(inlet, &self.desk, managed)?;
                Some(Event::Told(managed.report, told))
            }
            Mode::Stream(inbox) => {
                let inlet = self.inlet.as_mut()?;
                inbox.fill(inlet, &self.desk, FRAMES).then(|| Event::Arrived(inbox.clone()))
            }
        }
    }

    fn tell(_: &'static Core, event: Event) {
        match event {
            Event::Told(report, told) => report.tell(told),
            Event::Arrived(inbox) => inbox.wake(),
        }
    }

    fn is_pending(&mut self) -> bool {
        let has_room = match &self.desk.setup.mode {
            Mode::Posted { .. } => !self.posted.is_empty(),
            Mode::Managed(managed) => managed.pool.has_free(),
            Mode::Stream(inbox) => inbox.has_room(),
        };
        let Some(inlet) = &self.inlet else { return false };
        if !has_room {
            // What comes meanwhile waits; whoever makes room visits.
            return false;
        }
        // Frames that are there already need nobody to be woken, which costs more where the kernel is asked.
        if inlet.is_ready() {
            return true;
        }
        self.armed = true;
        inlet.arm();
        inlet.is_ready()
    }

    fn idle(&mut self) {
        if let Mode::Stream(inbox) = &self.desk.setup.mode {
            inbox.end();
        }
        self.gatherer.forget(&self.desk);
        self.desk.set_queue(None);
        self.inlet = None;
    }

    fn check(desk: &Arc<RxDesk>, job: &RecvJob) -> Result<()> {
        let Some(node) = job.packet.node() else { return Err(missing()) };
        softdpu_memory::view::check_room(node, &desk.gate).map(|_| ())
    }

    fn touches(_: &Arc<RxDesk>, job: &RecvJob, tell: Tell<'_>) {
        touch::destination(job.packet, tell);
    }

    fn cut(&mut self, on: bool) {
        self.cut = on;
    }

    fn is_owed(desk: &Arc<RxDesk>) -> bool {
        desk.owed() != 0
    }
}
