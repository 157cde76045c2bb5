//! The context of a server or client as all of its connections share it: who sends for them, and how they leave.
//!
//! The tasks of the context are shared out among the connections, so that one whose peer takes nothing does not keep the
//! others from sending.

use super::desk::{Clerk, Desk};
use super::hall::Hall;
use super::mailbox::Mailbox;
use super::server::Plan;
use super::wakers::Wakers;
use crate::connection::Phase;
use crate::engine::{ComchClient, ComchServer};
use crate::send::SendJob;
use crate::task::Say;
use core::marker::PhantomData;
use core::task::Waker;
use softdpu_room::context::State;
use softdpu_room::engine::Engine;
use softdpu_room::session::Device;
use softdpu_room::task::{Done, Task};
use softdpu_room::typed::Context;
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

/// What happens to messages that are back.
pub(super) struct Mail<E>(PhantomData<fn() -> E>);

impl<E: 'static> Clerk for Mail<E>
where
    Say<E>: Task<Output = ()>,
{
    type Task = Say<E>;
    type Note = (Arc<Mailbox>, u64);

    fn landed(&mut self, (to, number): Self::Note, done: Done<Say<E>>, wake: &mut Wakers) {
        to.connection().task_is_back();
        to.outgoing.landed(number, done.task.bytes, done.result, wake);
    }
}

/// What a connection needs of its context.
pub(super) trait Office: Send + Sync {
    /// Sends a message for which a place was reserved.
    fn post(&self, to: &Arc<Mailbox>, number: u64, bytes: Vec<u8>, waiter: Option<&Waker>) -> Result<()>;
    /// Messages that one connection may have in flight.
    fn share(&self) -> u32;
    /// May what needs no task go without?
    fn goes_without_tasks(&self) -> bool;
    /// The device.
    fn device(&self) -> &Device;
    /// The program has given the connection up.
    fn leave(&self, mailbox: &Mailbox);
}

/// See the module.
pub(super) struct ContextOffice<E: Engine<Job = SendJob>>
where
    Say<E>: Task<Engine = E, Output = ()>,
{
    desk: Arc<Desk<Mail<E>>>,
    pub(super) hall: Arc<Hall>,
    device: Device,
    tasks: u32,
    without_tasks: bool,
}

impl<E: Engine<Job = SendJob>> ContextOffice<E>
where
    Say<E>: Task<Engine = E, Output = ()>,
{
    pub(super) fn new(context: Context<E>, plan: Plan) -> Arc<ContextOffice<E>> {
        let Plan { tasks, hall, device, without_tasks } = plan;
        let desk = Desk::new(context, tasks, Mail(PhantomData));
        Arc::new(ContextOffice { desk, hall, device, tasks, without_tasks })
    }

    pub(super) fn state(&self) -> State {
        self.desk.state()
    }

    /// The context, to be stopped or dropped. Connections are over from now on, as far as receiving goes.
    pub(super) fn close(&self) -> Option<Context<E>> {
        let context = self.desk.take_context();
        let mut wake = Wakers::default();
        self.hall.close(&mut wake);
        wake.wake();
        context
    }

    fn submit(&self, to: &Arc<Mailbox>, number: u64, bytes: Vec<u8>, waiter: Option<&Waker>) -> Result<()> {
        let task = Say::new(to.peer(), bytes);
        let rejected = match self.desk.submit(task, (to.clone(), number), waiter) {
            Ok(()) => return Ok(()),
            Err(rejected) => rejected,
        };
        to.outgoing.take_back(number, rejected.back.bytes);
        Err(match rejected.error.code() {
            Code::BadState => Error::new(Code::ConnectionReset, "the connection is over"),
            _ => rejected.error,
        })
    }
}

macro_rules! office {
    ($engine:ident, |$office:ident, $mailbox:ident| $leave:expr) => {
        impl Office for ContextOffice<$engine> {
            fn post(
                &self,
                to: &Arc<Mailbox>,
                number: u64,
                bytes: Vec<u8>,
                waiter: Option<&Waker>,
            ) -> Result<()> {
                self.submit(to, number, bytes, waiter)
            }

            fn share(&self) -> u32 {
                (self.tasks / (self.hall.connections() + 1)).max(1)
            }

            fn goes_without_tasks(&self) -> bool {
                self.without_tasks
            }

            fn device(&self) -> &Device {
                &self.device
            }

            fn leave(&self, $mailbox: &Mailbox) {
                let $office = self;
                $leave
            }
        }
    };
}

office!(ComchServer, |office, mailbox| {
    let connection = mailbox.connection();
    let mut wake = Wakers::default();
    office.hall.leave(connection, &mut wake);
    wake.wake();
    // Producers and consumers that still stop go with it.
    if connection.phase() == Phase::Up {
        connection.set_phase(Phase::Leaving);
        connection.look();
    }
});
office!(ComchClient, |office, _mailbox| drop(office.close()));
