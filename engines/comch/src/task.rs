//! A message as a task of the Rust face.

use crate::connection::Connection;
use crate::engine::{ComchClient, ComchServer};
use crate::lent::Handle;
use crate::send::SendJob;
use core::marker::PhantomData;
use softdpu_room::engine::Engine;
use softdpu_room::task::Task;
use std::sync::Arc;

/// A connection to send to.
#[derive(Clone, Debug)]
pub struct Peer(Arc<Handle>);

impl Peer {
    /// Of a connection, as an [`Event`](crate::Event) or [`Found`](crate::Found) gives it.
    pub fn of(connection: &Arc<Connection>) -> Peer {
        let handle = Arc::new(Handle::new(connection.clone(), 0));
        handle.wake();
        Peer(handle)
    }

    /// The connection.
    pub fn connection(&self) -> &Arc<Connection> {
        self.0.connection()
    }
}

/// A message: success says that it was handed over.
pub struct Say<E> {
    /// To whom.
    pub to: Peer,
    /// The bytes.
    pub bytes: Vec<u8>,
    end: PhantomData<fn() -> E>,
}

impl<E> Say<E> {
    /// A message.
    pub fn new(to: &Peer, bytes: impl Into<Vec<u8>>) -> Say<E> {
        Say { to: to.clone(), bytes: bytes.into(), end: PhantomData }
    }
}

impl<E> std::fmt::Debug for Say<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Say({} bytes to {})", self.bytes.len(), self.to.connection().number())
    }
}

fn from_job<E>(job: SendJob) -> Say<E> {
    // Jobs of the Rust face own what they are made of.
    let (to, bytes) = job.owned.unwrap_or_else(|| unreachable!("a message without an owner"));
    Say { to: Peer(to), bytes, end: PhantomData }
}

macro_rules! says {
    ($($engine:ident),*) => {$(
        impl Task for Say<$engine> {
            type Engine = $engine;
            type Output = ();

            fn into_job(self) -> <$engine as Engine>::Job {
                SendJob::owning(self.to.0, self.bytes)
            }

            fn from_job(job: SendJob) -> Self {
                from_job(job)
            }

            fn output(_: u64) {}
        }
    )*};
}

says!(ComchServer, ComchClient);
