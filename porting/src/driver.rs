//! A context whose tasks the card carries out.
//!
//! To the room it is an engine that completes in its own time. Submits, states, futures and handlers are the room's and the
//! software engine's; only what turns the lane is here: jobs become tasks of the card, its completions become results.
//! Results are reported in the order of submission, as those of the software engines are.

use crate::card::Card;
use crate::engines::Driven;
use crate::live::{Live, Sent};
use softdpu::{Code, Error, Result};
use softdpu_memory::device::Device;
use softdpu_room::context::Core;
use softdpu_room::engine::{Shape, Work};
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::slot::Slot;
use std::collections::VecDeque;
use std::sync::Arc;

/// How many completions one turn fetches.
const AT_ONCE: usize = 64;

/// The room's view of such a context: the software engine checks and lands, the card works.
pub(crate) struct OnCard {
    soft: Box<dyn Work>,
    card: Box<dyn Work>,
}

impl OnCard {
    /// For a context with `tasks` in flight at most.
    pub(crate) fn make<E: Driven>(
        card: &'static Card,
        device: &Arc<Device>,
        tasks: u32,
        soft: Box<dyn Work>,
    ) -> Result<Box<dyn Work>> {
        let pci = device.function().pci().to_string();
        let home = device.clone();
        let driver = Driver::<E> { card, home, pci, tasks, live: None, flights: VecDeque::new(), first: 0 };
        Ok(Box::new(OnCard { soft, card: Peered::new(driver, ()) }))
    }
}

impl Work for OnCard {
    fn shape(&self, _: &Slot) -> Shape {
        Shape::Small
    }
    fn check(&self, slot: &Slot) -> Result<()> {
        self.soft.check(slot)?;
        self.card.check(slot)
    }
    fn quick(&self, _: &Slot) -> Option<u64> {
        None
    }
    fn kind(&self, slot: &Slot) -> Option<usize> {
        self.soft.kind(slot)
    }
    fn class(&self, slot: &Slot) -> Option<u8> {
        self.soft.class(slot)
    }
    fn run(&self, slot: &Slot) {
        self.card.run(slot);
    }
    fn open(&self, slot: &Slot) -> Result<u64, Code> {
        self.card.open(slot)
    }
    fn part(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.card.part(slot, from, len)
    }
    fn step(&self, slot: &Slot, from: u64, len: u64) -> Result<(), Code> {
        self.card.step(slot, from, len)
    }
    fn close(&self, slot: &Slot, total: u64) -> Result<u64, Code> {
        self.card.close(slot, total)
    }
    fn discard(&self, slot: &Slot) {
        self.soft.discard(slot);
    }
    fn handle(&self, core: &'static Core, slot: &'static Slot) {
        self.soft.handle(core, slot);
    }
    fn turn(&self, core: &'static Core) -> bool {
        self.card.turn(core)
    }
    fn unordered(&self) -> bool {
        true
    }
    fn start(&self, core: &'static Core) -> Result<Begun> {
        self.card.start(core)
    }
    fn is_pending(&self, core: &'static Core) -> bool {
        self.card.is_pending(core)
    }
    fn rouse(&self) {
        self.card.rouse();
    }
    fn idle(&self, core: &'static Core) {
        self.card.idle(core);
    }
}

/// A task on its way, or a result that waits for those before it.
struct Flight<E: Driven> {
    ticket: Ticket<E>,
    way: Way,
}

enum Way {
    /// The card has it.
    Flying(Sent),
    Done(Result<u64, Code>),
}

struct Driver<E: Driven> {
    card: &'static Card,
    home: Arc<Device>,
    pci: String,
    tasks: u32,
    live: Option<Live<E>>,
    /// In the order of submission.
    flights: VecDeque<Flight<E>>,
    /// The number of the first of them.
    first: u64,
}

impl<E: Driven> Hardware for Driver<E> {
    type Engine = E;
    type Desk = ();
    const TELLS: bool = false;

    fn start(&mut self, _: &Arc<Alarm>) -> Result<Begun> {
        let card = self.card;
        let device = card.device(&self.pci)?;
        self.live = Some(Live::start(card, &self.home, device, self.tasks)?);
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, E>) -> Turn {
        let mut moved = false;
        while self.flights.len() < self.tasks as usize {
            let Some(mut ticket) = port.take().or_else(|| port.take_posted()) else { break };
            let stopping = port.is_stopping();
            let job = port.job(&mut ticket);
            let number = self.first + self.flights.len() as u64;
            let begun = match (&mut self.live, stopping) {
                (Some(live), false) => live.begin(self.card, job, number).map(Way::Flying),
                _ => Err(Error::new(Code::IoFailed, "flushed")),
            };
            let way = begun.unwrap_or_else(|error| Way::Done(Err(status::<E>(error.code()))));
            self.flights.push_back(Flight { ticket, way });
            moved = true;
        }
        moved |= self.fetch(port);
        while let Some(Flight { way: Way::Done(_), .. }) = self.flights.front() {
            let Some(flight) = self.flights.pop_front() else { break };
            self.first += 1;
            if let Way::Done(result) = flight.way {
                if E::INFO.fatal && result.is_err() {
                    // On the card, too, such a failure ends the context; progress does it once the failure was told.
                    port.stop();
                }
                port.complete(flight.ticket, result);
            }
            moved = true;
        }
        if moved { Turn::Busy } else { Turn::Idle }
    }

    fn check((): &(), job: &E::Job) -> Result<()> {
        if E::lists(job).is_some() {
            return Ok(());
        }
        let name = E::INFO.name;
        log::error!(target: "softdpu::bridge", "{name}: what the bridge does not give to a card: {}", E::REFUSED);
        Err(Error::new(Code::NotSupported, "the bridge to the card has no such task"))
    }

    /// The card does not ring: whoever would sleep for its tasks looks at it instead.
    fn is_pending(&mut self) -> bool {
        !self.flights.is_empty()
    }

    fn idle(&mut self) {
        if let Some(live) = self.live.take() {
            live.end(self.card);
        }
    }
}

/// The status of a failed task, as the software engines give it.
fn status<E: Driven>(code: Code) -> Code {
    if E::INFO.fatal { Code::IoFailed } else { code }
}

impl<E: Driven> Driver<E> {
    /// Fetches what the card has completed; true when there was anything.
    fn fetch(&mut self, port: &mut Port<'_, E>) -> bool {
        let (card, Some(live)) = (self.card, &mut self.live) else { return false };
        for _ in 0..AT_ONCE {
            if !live.progress(card) {
                break;
            }
        }
        let numbers = live.landed();
        for number in &numbers {
            let at = number.wrapping_sub(self.first) as usize;
            let Some(flight) = self.flights.get_mut(at) else {
                log::error!(target: "softdpu::bridge", "{}: the card completes task {number}, which does not fly", E::INFO.name);
                continue;
            };
            let Way::Flying(sent) = flight.way else { continue };
            let result = live.finish(card, port.job(&mut flight.ticket), sent);
            flight.way = Way::Done(result.map_err(|error| status::<E>(error.code())));
        }
        !numbers.is_empty()
    }
}
