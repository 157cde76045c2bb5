//! A program with an event loop of its own: `poll` over a pipe with commands and the progress engine's descriptor.
//!
//! `cargo run --example event_driven`

use rustix::event::{PollFd, PollFlags, poll};
use softdpu::dma::{Config, Dma, Memcpy};
use softdpu::prelude::*;
use std::io::{Read, Write};
use std::sync::mpsc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Dma)?.open()?;
    let memory = Memory::heap(1 << 20).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    let pool = memory.pool(1024)?;
    let mut pe = ProgressEngine::new(&session)?;

    // Finished copies go to a handler.
    let (tell, told) = mpsc::channel();
    let config = Config { memcpy: 32, on_memcpy: Some(handler(tell)), ..Config::default() };
    let mut dma = Context::<Dma>::start(&mut pe, &device, config)?.wait(&mut pe)?;

    // Something else that happens: lines from another thread.
    let (mut commands, mut other_end) = std::io::pipe()?;
    let other = std::thread::spawn(move || {
        for n in 0..100 {
            writeln!(other_end, "line {n:3}").ok();
            if n % 10 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        }
    });

    let (mut open, mut copied) = (true, 0);
    while open || dma.in_flight() > 0 {
        // Arm, look at the answer, sleep, progress.
        if pe.arm()? {
            let mut watched = vec![PollFd::new(&pe, PollFlags::IN)];
            if open {
                watched.push(PollFd::new(&commands, PollFlags::IN));
            }
            poll(&mut watched, None)?;
            let has_line = watched.get(1).is_some_and(|w| !w.revents().is_empty());
            if has_line {
                let mut line = [0; 9];
                match commands.read_exact(&mut line) {
                    Ok(()) => {
                        let (mut src, dst) = pool.take().zip(pool.take()).ok_or("no buffers")?;
                        src.push_slice(&line)?;
                        dma.post(Memcpy { src, dst })?;
                    }
                    Err(_) => open = false,
                }
            }
        }
        pe.progress();
        for text in told.try_iter() {
            assert_eq!(text?, format!("line {copied:3}\n"));
            copied += 1;
        }
    }
    other.join().map_err(|_| "the other thread panicked")?;
    println!("{copied} lines were copied, in order");
    assert_eq!(copied, 100);
    Ok(())
}

/// Keeps the text of each copy and lets the buffers go back to the pool.
fn handler(tell: mpsc::Sender<softdpu::Result<String>>) -> Handler<Memcpy> {
    Box::new(move |done, _outbox| {
        let text = done.result.map(|_| String::from_utf8_lossy(&done.task.dst.to_vec()).into_owned());
        tell.send(text).ok();
        Next::Free
    })
}
