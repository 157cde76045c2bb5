//! Trying again, with a bound and a back-off that keeps the progress engine going.

use crate::{Class, Code, Context, Done, Engine, Error, ProgressEngine, Rejected, Result, Task};
use core::future::poll_fn;
use core::task::Poll;
use std::time::{Duration, Instant};

/// Longest wait between two tries.
const LONGEST: Duration = Duration::from_millis(10);
/// How long the thread sleeps at most while nothing happens.
const NAP: Duration = Duration::from_micros(100);

/// Tries a call again while it is refused for a passing reason ([`Class::Transient`]), a bounded number of times.
///
/// A task that completed with IO_FAILED is another matter: it was carried out, perhaps in part. It is tried again only
/// when asked for with [`Retry::also_failed`]. After such a failure a DMA context has stopped, so that a further try ends
/// with BadState; other engines go on.
///
/// ```
/// # use softdpu::dma::{Config, Dma, Memcpy};
/// # use softdpu::prelude::*;
/// # fn main() -> softdpu::Result<()> {
/// # let session = Session::builder().board(Board::inline()).open()?;
/// # let device = session.first_with(EngineKind::Dma)?.open()?;
/// # let mut pe = ProgressEngine::new(&session)?;
/// # let config = Config { memcpy: 1, ..Config::default() };
/// # let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;
/// # let pool = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(64)?;
/// # let pair = || {
/// #     let (mut src, dst) = (pool.take().unwrap(), pool.take().unwrap());
/// #     src.push_slice(b"bytes").unwrap();
/// #     Memcpy { src, dst }
/// # };
/// dma.post(pair())?; // takes the context's only slot
/// let done = pe.run(Retry::times(3).task(&mut dma, pair()))?;
/// assert_eq!(done.result, Ok(5));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    times: u32,
    failed: bool,
}

impl Retry {
    /// Up to `times` further tries after the first.
    pub const fn times(times: u32) -> Retry {
        Retry { times, failed: false }
    }

    /// Also submits a task again that completed with IO_FAILED. Its buffers are submitted as they came back; for tasks
    /// whose effect may be doubled that is for the program to judge.
    ///
    /// ```
    /// use softdpu::Retry;
    /// let patient = Retry::times(5).also_failed();
    /// # let _ = patient;
    /// ```
    pub const fn also_failed(self) -> Retry {
        Retry { failed: true, ..self }
    }

    /// Calls `call` until it is not refused for a passing reason. Between two tries it waits 1 microsecond, twice as long
    /// each time, at most 10 ms, and makes progress meanwhile.
    ///
    /// ```
    /// # use softdpu::prelude::*;
    /// # fn main() -> softdpu::Result<()> {
    /// # let session = Session::builder().board(Board::inline()).open()?;
    /// # let mut pe = ProgressEngine::new(&session)?;
    /// let mut tries = 0;
    /// let answer = Retry::times(2).call(&mut pe, || {
    ///     tries += 1;
    ///     Err::<(), _>(Code::Again.into())
    /// });
    /// assert_eq!((answer.unwrap_err().code(), tries), (Code::Again, 3));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The last refusal.
    pub fn call<R>(&self, pe: &mut ProgressEngine, mut call: impl FnMut() -> Result<R>) -> Result<R> {
        let mut attempt = 0;
        loop {
            match call() {
                Err(e) if attempt < self.times && e.class() == Class::Transient => back_off(pe, attempt),
                answer => return answer,
            }
            attempt += 1;
        }
    }

    /// Submits a task and waits for it, while somebody progresses. A context that is full is waited for; that uses up one
    /// try, as every refusal does.
    ///
    /// # Errors
    /// The task back with the last refusal. A task that was accepted comes back in [`Done`], however it went.
    pub async fn task<T: Task>(
        &self,
        context: &mut Context<T::Engine>,
        task: T,
    ) -> Result<Done<T>, Rejected<T>> {
        let mut left = self.times;
        let mut task = task;
        loop {
            match context.submit(task) {
                Ok(flying) => {
                    let done = flying.await;
                    match done.result {
                        Err(e) if self.failed && left > 0 && e.code() == Code::IoFailed => task = done.task,
                        _ => return Ok(done),
                    }
                }
                Err(refused) if left > 0 && refused.error.class() == Class::Transient => {
                    task = refused.back;
                    if let Err(error) = passing(context, refused.error).await {
                        return Err(Rejected { error, back: task });
                    }
                }
                Err(refused) => return Err(refused),
            }
            left -= 1;
        }
    }
}

/// The wait after try number `attempt`, counted from 0.
fn wait_after(attempt: u32) -> Duration {
    Duration::from_micros(1 << attempt.min(20)).min(LONGEST)
}

/// Waits, longer after each try, and makes progress meanwhile.
fn back_off(pe: &mut ProgressEngine, attempt: u32) {
    let end = Instant::now() + wait_after(attempt);
    loop {
        let moved = pe.progress() > 0;
        let left = end.saturating_duration_since(Instant::now());
        match left {
            Duration::ZERO => return,
            _ if moved => {}
            _ if left > NAP => std::thread::sleep(NAP),
            _ => std::thread::yield_now(),
        }
    }
}

/// Waits until a refusal may have passed.
async fn passing<E: Engine>(context: &mut Context<E>, error: Error) -> Result<()> {
    if error.code() == Code::Full {
        return context.ready().await;
    }
    let mut looked = false;
    poll_fn(|cx| {
        if core::mem::replace(&mut looked, true) {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dma::{Config, Dma, Memcpy};
    use crate::prelude::*;

    #[test]
    fn waits_double_up_to_a_bound() {
        assert_eq!((wait_after(0), wait_after(3)), (Duration::from_micros(1), Duration::from_micros(8)));
        assert_eq!((wait_after(14), wait_after(u32::MAX)), (LONGEST, LONGEST));
    }

    /// What the call waits for happens in the progress between two tries, and nowhere else: the board has no thread.
    #[test]
    fn progress_goes_on_between_tries() -> Result<()> {
        let session = Session::builder().board(Board::inline()).open()?;
        let device = session.first_with(EngineKind::Dma)?.open()?;
        let mut pe = ProgressEngine::new(&session)?;
        let mut dma = Context::<Dma>::start(&mut pe, &device, Config::default())?.wait(&mut pe)?;
        let memory = Memory::heap(8 << 20).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
        let (mut src, dst) = (memory.buf(..4 << 20)?, memory.buf(4 << 20..)?);
        src.push_slice(&vec![7; 4 << 20])?;
        let mut flying = Some(dma.submit(Memcpy { src, dst })?);
        let mut tries = 0;
        let done = Retry::times(10_000).call(&mut pe, || {
            tries += 1;
            match flying.take().map(InFlight::try_take) {
                Some(Ok(done)) => Ok(done),
                Some(Err(still)) => {
                    flying = Some(still);
                    Err(Code::Again.into())
                }
                None => Err(Code::Unexpected.into()),
            }
        })?;
        assert_eq!(done.result, Ok(4 << 20));
        assert!(tries > 1, "it was there at once");
        Ok(())
    }

    #[test]
    fn what_is_wrong_is_not_tried_again() -> Result<()> {
        let session = Session::builder().board(Board::inline()).open()?;
        let mut pe = ProgressEngine::new(&session)?;
        for (code, expected) in
            [(Code::InvalidValue, 1), (Code::NoMemory, 1), (Code::Again, 4), (Code::Full, 4)]
        {
            let mut tries = 0;
            let answer = Retry::times(3).call(&mut pe, || {
                tries += 1;
                Err::<(), _>(code.into())
            });
            assert_eq!((answer.unwrap_err().code(), tries), (code, expected));
        }
        Ok(())
    }
}
