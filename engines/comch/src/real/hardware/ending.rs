//! How connections end, and servers and clients of a real card with them.

use super::{RealHardware, Role, Stage};
use crate::connection::Phase;
use crate::event::Event;
use crate::send::SendJob;
use softdpu_room::engine::Engine;
use softdpu_room::hardware::Port;
use softdpu_status::Code;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an end that stops waits for a peer that takes nothing.
const PATIENCE: Duration = Duration::from_secs(5);

impl<E: Engine<Job = SendJob, Event = Event>> RealHardware<E> {
    /// The card's end is at rest.
    pub(super) fn over(&mut self, port: &mut Port<'_, E>) {
        let was = core::mem::replace(&mut self.stage, Stage::Over);
        self.end = None;
        for flight in core::mem::take(&mut self.flights).into_values() {
            port.complete(flight.ticket, Err(Code::ConnectionReset));
        }
        match was {
            Stage::Starting => {
                log::error!(target: crate::LOG, "client {}: nobody serves it as `{}` on the other side of the card, or it was refused",
                    self.device.function(), self.name.escape_ascii());
                port.give_up();
            }
            Stage::Running => {
                let ends = self.ends.listener.wants_end();
                for seat in self.seats.iter_mut().filter(|seat| !seat.gone) {
                    seat.gone = true;
                    if ends {
                        self.events.push_back(Event::Disconnected(seat.connection.clone()));
                    }
                }
                if self.events.is_empty() {
                    port.stop();
                }
            }
            Stage::Leaving(_) | Stage::Stopping | Stage::Over => self.forget_all(),
        }
        port.hold(false);
    }

    pub(super) fn forget_all(&mut self) {
        self.events.clear();
        for seat in core::mem::take(&mut self.seats) {
            seat.connection.set_phase(Phase::Down);
            self.ends.listener.forget(&seat.connection);
        }
    }

    /// Clients that the program has given up are dropped, once what was sent to them is handed over.
    pub(super) fn drop_clients(&mut self, port: &mut Port<'_, E>) -> bool {
        let (Role::Server { .. }, Stage::Running) = (&self.role, self.stage) else { return false };
        let RealHardware { seats, flights, events, end, ends, .. } = self;
        let before = seats.len();
        seats.retain(|seat| {
            let leaves = seat.connection.phase() == Phase::Leaving && !seat.gone;
            if !leaves || flights.values().any(|flight| flight.over == seat.over) {
                return true;
            }
            let dropped = end.as_mut().map_or(Ok(()), |end| end.disconnect(seat.over));
            if dropped.is_err_and(|error| error.code() == Code::Again) {
                return true;
            }
            events.retain(|event| !Arc::ptr_eq(event.connection(), &seat.connection));
            seat.connection.set_phase(Phase::Down);
            ends.listener.forget(&seat.connection);
            false
        });
        port.hold(!seats.is_empty());
        before != seats.len()
    }

    /// The context is to stop: what was sent is handed over first.
    pub(super) fn leave(&mut self) {
        match self.stage {
            Stage::Starting | Stage::Running => self.stage = Stage::Leaving(Instant::now() + PATIENCE),
            Stage::Leaving(until) if self.flights.is_empty() || Instant::now() >= until => {
                if let Some(end) = &mut self.end {
                    end.stop();
                }
                self.stage = Stage::Stopping;
            }
            Stage::Leaving(_) | Stage::Stopping | Stage::Over => {}
        }
    }
}
