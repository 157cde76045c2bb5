//! Configuration of a context of the Rust face: of which endpoint it is, and who gets tasks that were posted rather than
//! submitted.

use crate::engine::Rdma;
use crate::face::Endpoint;
use crate::job::{Job, Op};
use crate::task::{CompareSwap, EventAdd, EventGet, EventSet, FetchAdd, Read, Receive, Send, Write};
use core::fmt;
use softdpu_room::job::{Deliver, Outbox};
use softdpu_room::task::{Handler, deliver};
use softdpu_status::Result;

/// Configuration of an RDMA context: of which endpoint it is ([`Endpoint::config`]; one context at a time per endpoint),
/// and handlers of tasks that are posted, kind by kind. Without its handler a posted task is dropped when it lands.
///
/// What a handler posts, or lets fly again, has a queue of its own, in which as many tasks fit as the endpoint has room
/// for; it counts against no connection's send queue.
///
/// ```no_run
/// # use softdpu_rdma::{Endpoint, Rdma, Receive};
/// # use softdpu_room::task::Next;
/// # fn serve(endpoint: &Endpoint, buffers: Vec<softdpu_memory::Buf>, pe: &mut softdpu_room::pump::ProgressEngine,
/// #     device: &softdpu_room::session::Device) -> softdpu_status::Result<()> {
/// // Each receive is posted again when its message was looked at.
/// let config = endpoint.config().on_receive(Box::new(|done, _| {
///     let (Ok(bytes), Some(mut buf)) = (done.result, done.task.dst) else { return Next::Free };
///     println!("{bytes} bytes: {:?}", buf.to_vec());
///     buf.reset();
///     Next::Again(Receive { dst: Some(buf), message: None })
/// }));
/// let mut rdma = softdpu_room::typed::Context::<Rdma>::start(pe, device, config)?.wait(pe)?;
/// for buffer in buffers {
///     rdma.post(Receive { dst: Some(buffer), message: None })?;
/// }
/// # Ok(()) }
/// ```
#[derive(Default)]
pub struct Config {
    pub(crate) endpoint: Option<Endpoint>,
    handlers: Handlers,
}

impl Config {
    pub(crate) fn of(endpoint: Endpoint) -> Config {
        Config { endpoint: Some(endpoint), handlers: Handlers::default() }
    }

    /// The endpoint, and what hands out tasks that were posted, if there is any handler.
    pub(crate) fn split(self) -> (Option<Endpoint>, Option<Deliver<Rdma>>) {
        let mut handlers = self.handlers;
        let any = handlers.is_any();
        let hand_out =
            move |job: Job, result, outbox: &mut Outbox<'_, Rdma>| handlers.hand_out(job, result, outbox);
        (self.endpoint, any.then(|| Box::new(hand_out) as Deliver<Rdma>))
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let handlers = if self.handlers.is_any() { "with handlers" } else { "without handlers" };
        write!(f, "Config({:?}, {handlers})", self.endpoint)
    }
}

macro_rules! handlers {
    ($($op:pat => $field:ident, $set:ident: $task:ident, $what:literal;)*) => {
        #[derive(Default)]
        struct Handlers {
            $($field: Option<Handler<$task>>,)*
        }

        impl Handlers {
            fn is_any(&self) -> bool {
                false $(|| self.$field.is_some())*
            }

            fn hand_out(&mut self, job: Job, result: Result<u64>, outbox: &mut Outbox<'_, Rdma>) -> Option<Job> {
                match job.op {
                    $($op => deliver(&mut self.$field, job, result, outbox),)*
                }
            }
        }

        impl Config {
            $(
                #[doc = concat!("Gets every ", $what, " that was posted.")]
                #[must_use]
                pub fn $set(mut self, handler: Handler<$task>) -> Config {
                    self.handlers.$field = Some(handler);
                    self
                }
            )*
        }
    };
}

handlers! {
    Op::Receive => receive, on_receive: Receive, "receive";
    Op::Send | Op::SendImm => send, on_send: Send, "message";
    Op::Read => read, on_read: Read, "read";
    Op::Write | Op::WriteImm => write, on_write: Write, "write";
    Op::FetchAdd => fetch_add, on_fetch_add: FetchAdd, "addition";
    Op::CmpSwap => compare_swap, on_compare_swap: CompareSwap, "exchange";
    Op::EventGet => event_get, on_event_get: EventGet, "look at a peer's event";
    Op::EventSet => event_set, on_event_set: EventSet, "change of a peer's event";
    Op::EventAdd => event_add, on_event_add: EventAdd, "addition to a peer's event";
}
