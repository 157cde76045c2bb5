//! Waiting for a context to run.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context as TaskContext, Poll};
use softdpu_room::engine::Engine;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::typed::{Context, Starting};
use softdpu_status::{Code, Error, Result};

/// What an [`Opening`] becomes: [`Server`](crate::face::Server), [`Client`](crate::face::Client),
/// [`Producer`](crate::face::Producer), [`Consumer`](crate::face::Consumer).
pub trait Opens: Sized {
    #[doc(hidden)]
    type Engine: Engine;
    #[doc(hidden)]
    type Plan: fmt::Debug;

    #[doc(hidden)]
    fn open(plan: Self::Plan, context: Context<Self::Engine>) -> Self;
}

/// A server, client, producer or consumer that was asked to start. Servers and producers run at once; clients wait for
/// their server, consumers until the peer has heard of them. A future, too: await it while somebody progresses. Dropping
/// it stops the context.
///
/// ```
/// use softdpu::comch::{Client, Server};
/// use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let (card, host) = (session.device("03:00.0")?.open()?, session.device("b1:00.0")?.open()?);
/// # let name = &format!("opening-{}", std::process::id());
/// let mut pe = ProgressEngine::new(&session)?;
/// let server = Server::builder(name).start(&mut pe, &card)?.wait(&mut pe)?;
/// let opening = Client::builder(name).start(&mut pe, &host)?;
/// let client = pe.run(opening)?; // the same as wait
/// assert!(client.is_up());
/// # drop(server);
/// # Ok(()) }
/// ```
#[must_use = "dropping it stops the context"]
pub struct Opening<T: Opens> {
    starting: Starting<T::Engine>,
    plan: Option<T::Plan>,
}

impl<T: Opens> Opening<T> {
    pub(super) fn new(starting: Starting<T::Engine>, plan: T::Plan) -> Opening<T> {
        Opening { starting, plan: Some(plan) }
    }

    /// Progresses until it runs.
    ///
    /// # Errors
    /// BadState when it stopped instead: nobody of that name serves this host function, the server or the connection
    /// went away. The log line has the cause.
    pub fn wait(self, pe: &mut ProgressEngine) -> Result<T>
    where
        T::Plan: Unpin,
    {
        pe.run(self)
    }
}

impl<T: Opens> Future for Opening<T>
where
    T::Plan: Unpin,
{
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Result<T>> {
        let Opening { starting, plan } = self.get_mut();
        Pin::new(starting).poll(cx).map(|context| {
            let plan = plan.take().ok_or(Error::new(Code::BadState, "it was given out already"))?;
            Ok(T::open(plan, context?))
        })
    }
}

impl<T: Opens> fmt::Debug for Opening<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Opening({:?})", self.starting)
    }
}
