//! Inside a tokio runtime: one task drives progress, any others await copies.
//!
//! `cargo run --example tokio`

use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::error::Error;
use std::time::Duration;
use tokio::time::timeout;

fn main() -> Result<(), Box<dyn Error>> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work())
}

async fn work() -> Result<(), Box<dyn Error>> {
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Dma)?.open()?;
    let pool = Memory::heap(1 << 18).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(1024)?;
    let mut pe = ProgressEngine::new(&session)?;
    let config = Config { memcpy: 16, ..Config::default() };
    let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.await?;

    // From here on nobody needs to think of progress.
    let progress = tokio::spawn(async move { pe.drive().await });

    let mut waiting = Vec::new();
    for n in 0..100 {
        let (mut src, dst) = pool.take().zip(pool.take()).ok_or("no buffers")?;
        let text = format!("task {n}");
        src.push_slice(text.as_bytes())?;
        // Waits for one of the sixteen slots; a copy may be awaited, raced or dropped like any future.
        let flying = dma.submit_ready(Memcpy { src, dst }).await?;
        waiting.push(tokio::spawn(async move {
            let done = timeout(Duration::from_secs(10), flying).await.map_err(|_| Code::TimeOut)?;
            done.result?;
            Ok::<bool, softdpu::Error>(done.task.dst.to_vec() == text.as_bytes())
        }));
    }
    let mut right = 0;
    for task in waiting {
        right += usize::from(task.await??);
    }
    println!("{right} of 100 copies were awaited by tasks of their own");
    assert_eq!(right, 100);
    dma.stop().await?;
    progress.abort();
    Ok(())
}
