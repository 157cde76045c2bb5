//! The hardware of a send queue: takes tasks and batches in order, a bounded number of bytes per turn, and publishes the
//! frames of a turn at once.

use super::engine::{EthTxq, Terms};
use super::frame::{Cut, Header, Maker, Went, check_frame, check_large};
use super::number::Number;
use super::task::{SendJob, What};
use crate::batch::{Batch, BatchKind};
use softdpu_memory::device::Device;
use softdpu_memory::fault;
use softdpu_memory::node::Lent;
use softdpu_net::{Batch as Outgoing, Outlet};
use softdpu_room::engine::Work;
use softdpu_room::hardware::{Alarm, Begun, Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::touch::{self, Tell};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// Tasks (batches count as one) and bytes per turn.
const TASKS: u32 = 64;
const BYTES: u64 = 256 << 10;

/// See the module.
pub(crate) struct SendQueue {
    device: Arc<Device>,
    terms: Arc<Terms>,
    outlet: Option<Outlet>,
    maker: Maker,
    /// The task that is not through, and how far it is.
    begun: Option<(Ticket<EthTxq>, Place)>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Task of a batch.
    at: usize,
    cut: Cut,
}

impl SendQueue {
    pub(crate) fn work(device: &Arc<Device>, terms: Arc<Terms>) -> Box<dyn Work> {
        let maker = Maker::new(&terms);
        let queue =
            SendQueue { device: device.clone(), terms: terms.clone(), outlet: None, maker, begun: None };
        Peered::new(queue, terms)
    }

    /// Gives everything back.
    fn flush(&mut self, port: &mut Port<'_, EthTxq>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some((mut ticket, place)) =
            self.begun.take().or_else(|| port.take().map(|t| (t, Place::default())))
        {
            turn = Turn::Busy;
            if let What::Batch(batch) = port.job(&mut ticket).what {
                (place.at..batch.len()).for_each(|at| batch.finish(at, Err(Code::IoFailed)));
            }
            port.complete(ticket, Err(Code::IoFailed));
        }
        turn
    }
}

/// Goes on with a job. `None`: it is not through.
#[inline]
fn carry(
    job: &SendJob,
    place: &mut Place,
    maker: &mut Maker,
    terms: &Terms,
    out: &mut Outgoing<'_>,
    budget: &mut u64,
) -> Option<Result<u64, Code>> {
    let went = match job.what {
        What::Frame => frame(maker, out, job, terms, budget),
        What::Large => {
            let header = header_of(job);
            maker.large(out, job.packet, header, job.mss, terms, &mut place.cut, budget)
        }
        What::Batch(batch) => return carry_batch(batch, place, maker, terms, out, budget),
    };
    through(went)
}

#[inline]
fn through(went: Result<Went>) -> Option<Result<u64, Code>> {
    match went {
        Ok(Went::Out(frames)) => Some(Ok(frames)),
        Ok(Went::Later) => None,
        Err(error) => {
            // What failed under the task hits this task alone.
            let _ = fault::take();
            Some(Err(error.code()))
        }
    }
}

fn header_of(job: &SendJob) -> Header<'_> {
    if job.header.is_empty() { Header::Lent(job.headers) } else { Header::Own(&job.header) }
}

#[inline]
fn frame(
    maker: &mut Maker,
    out: &mut Outgoing<'_>,
    job: &SendJob,
    terms: &Terms,
    budget: &mut u64,
) -> Result<Went> {
    *budget = budget.saturating_sub(job.packet.any().data_len() as u64);
    maker.frame(out, job.packet, job.flags, terms)
}

fn carry_batch(
    batch: &Batch,
    place: &mut Place,
    maker: &mut Maker,
    terms: &Terms,
    out: &mut Outgoing<'_>,
    budget: &mut u64,
) -> Option<Result<u64, Code>> {
    while place.at < batch.len() {
        if *budget == 0 {
            return None;
        }
        let at = place.at;
        let packet = batch.packet(at);
        let went = match batch.kind {
            BatchKind::Send => {
                *budget = budget.saturating_sub(packet.any().data_len() as u64);
                maker.frame(out, packet, batch.flags(at), terms)
            }
            BatchKind::Lso => {
                let header = Header::Lent(batch.headers(at));
                maker.large(out, packet, header, batch.mss(at), terms, &mut place.cut, budget)
            }
        };
        let result = through(went)?;
        batch.finish(at, result.map(|_| ()));
        *place = Place { at: at + 1, cut: Cut::default() };
    }
    Some(batch.outcome())
}

impl Hardware for SendQueue {
    type Engine = EthTxq;
    type Desk = Arc<Terms>;

    fn start(&mut self, _: &Arc<Alarm>) -> Result<Begun> {
        let function = self.device.function();
        self.outlet = Some(softdpu_net::port(function).outlet()?);
        self.terms.claim(Some(Number::any(function)?));
        Ok(Begun::Running)
    }

    fn turn(&mut self, port: &mut Port<'_, EthTxq>) -> Turn {
        if port.is_stopping() {
            return self.flush(port);
        }
        let Some(outlet) = &mut self.outlet else { return Turn::Idle };
        let (mut turn, mut budget) = (Turn::Idle, BYTES);
        let mut out: Option<Outgoing<'_>> = None;
        let mut outlet = Some(outlet);
        for _ in 0..TASKS {
            let next = self.begun.take().or_else(|| port.take().map(|ticket| (ticket, Place::default())));
            let Some((mut ticket, mut place)) = next else { break };
            // Nothing is opened, and nobody rung, for a turn without tasks.
            if let Some(outlet) = outlet.take() {
                out = Some(outlet.batch());
            }
            let Some(out) = &mut out else { break };
            turn = Turn::Busy;
            let job = port.job(&mut ticket);
            match carry(job, &mut place, &mut self.maker, &self.terms, out, &mut budget) {
                Some(result) => port.complete(ticket, result),
                None => {
                    self.begun = Some((ticket, place));
                    break;
                }
            }
            if budget == 0 {
                break;
            }
        }
        turn
    }

    fn is_pending(&mut self) -> bool {
        self.begun.is_some()
    }

    fn idle(&mut self) {
        self.outlet = None;
        self.terms.claim(None);
    }

    fn check(terms: &Arc<Terms>, job: &SendJob) -> Result<()> {
        let one = |packet: Lent, headers: Header<'_>, mss: u16, large: bool| {
            if !large {
                return check_frame(packet, terms).map(|_| ());
            }
            let mut header = vec![0; terms.max_header];
            check_large(packet, headers, mss, terms, &mut header).map(|_| ())
        };
        match job.what {
            What::Frame => one(job.packet, header_of(job), 0, false),
            What::Large => one(job.packet, header_of(job), job.mss, true),
            What::Batch(batch) => (0..batch.len()).try_for_each(|at| match batch.kind {
                BatchKind::Send => one(batch.packet(at), Header::Own(&[]), 0, false),
                BatchKind::Lso => one(batch.packet(at), Header::Lent(batch.headers(at)), batch.mss(at), true),
            }),
        }
        .map_err(|error| Error::new(error.code(), "the task would fail"))
    }

    fn touches(_: &Arc<Terms>, job: &SendJob, tell: Tell<'_>) {
        match job.what {
            What::Frame | What::Large => touch::source(job.packet, tell),
            What::Batch(batch) => (0..batch.len()).for_each(|at| touch::source(batch.packet(at), tell)),
        }
    }

    fn expansion(terms: &Arc<Terms>) -> u32 {
        terms.expansion
    }
}
