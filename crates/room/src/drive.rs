//! Progress as a task of a tokio runtime (feature `tokio`).

use crate::pump::ProgressEngine;
use core::future::poll_fn;
use core::task::Poll;
use softdpu_status::{Code, Error};
use std::os::fd::{AsFd, OwnedFd};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

impl ProgressEngine {
    /// Progresses for ever as part of a tokio runtime: spawn it, or race it against the work it is for. Sleeps on the
    /// event descriptor in the runtime's reactor, needs no thread of its own, and gives way to other tasks between
    /// rounds. It may be dropped at any time; the engine goes on with the next call.
    ///
    /// Comes back only when the runtime fails it.
    ///
    /// ```
    /// # use softdpu::dma::{Dma, Memcpy};
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let device = session.first_with(EngineKind::Dma)?.open()?;
    /// # let memory = Memory::heap(8192).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// # let mut dma = Context::<Dma>::start(&mut pe, &device, Default::default())?.wait(&mut pe)?;
    /// # let (mut src, dst) = (memory.buf(..4096)?, memory.buf(4096..)?);
    /// # src.push_slice(b"bytes")?;
    /// # let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    /// runtime.block_on(async move {
    ///     let progress = tokio::spawn(async move { pe.drive().await });
    ///     let done = dma.submit(Memcpy { src, dst })?.await;
    ///     assert_eq!(done.result, Ok(5));
    ///     progress.abort();
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// OperatingSystem: the descriptor could not be duplicated or watched. The log line has the cause.
    ///
    /// # Panics
    /// Outside a runtime that has I/O enabled.
    pub async fn drive(&mut self) -> Error {
        // A duplicate, so that the watch borrows nothing; both stand for one event.
        let watched = self.as_fd().try_clone_to_owned().and_then(watch);
        let watched = match watched {
            Ok(watched) => watched,
            Err(e) => return failed(&e),
        };
        loop {
            while self.progress() > 0 {
                give_way().await;
            }
            match self.arm() {
                Err(e) => return e,
                // Something is there already, such as a part of a large task.
                Ok(false) => give_way().await,
                Ok(true) => match watched.readable().await {
                    Ok(mut ready) => {
                        self.disarm();
                        // What was signalled since then counts as a new event and is not cleared.
                        ready.clear_ready();
                    }
                    Err(e) => return failed(&e),
                },
            }
        }
    }
}

#[allow(
    deprecated,
    reason = "the call without unsafe; an owned descriptor stays open and the same, as it must"
)]
fn watch(fd: OwnedFd) -> std::io::Result<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(fd, Interest::READABLE)
}

#[cold]
fn failed(cause: &std::io::Error) -> Error {
    log::error!(target: "softdpu::pe", "the event descriptor cannot be watched by the runtime: {cause}");
    Error::new(Code::OperatingSystem, "the runtime cannot watch the event descriptor")
}

/// Lets the runtime's other tasks run once.
async fn give_way() {
    let mut given = false;
    poll_fn(|cx| {
        if core::mem::replace(&mut given, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
