//! An engine with waits on a board with workers: they turn it, and leave its tasks to it.

mod common;

use common::watched;
use softdpu_card::{EngineKind, Function, Machine};
use softdpu_memory::device::Device as Shared;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_room::hardware::{Hardware, Peered, Port, Ticket, Turn};
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::Session;
use softdpu_room::task::Task;
use softdpu_room::typed::Context;
use softdpu_status::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

/// Waits until a number that others count up is reached.
#[derive(Debug)]
struct Clock;
static NOW: AtomicU64 = AtomicU64::new(0);

#[derive(Debug)]
struct Wait(u64);
impl Task for Wait {
    type Engine = Clock;
    type Output = u64;
    fn into_job(self) -> u64 {
        self.0
    }
    fn from_job(job: u64) -> Wait {
        Wait(job)
    }
    fn output(raw: u64) -> u64 {
        raw
    }
}

impl Engine for Clock {
    const INFO: &'static EngineInfo =
        &EngineInfo { name: "clock", kind: EngineKind::Dma, tasks: &["wait"], fatal: false };
    type Caps = ();
    type Config = ();
    type Job = u64;
    type Event = ();
    fn caps(_: &Function) -> Result<()> {
        Ok(())
    }
    fn build(_: &Arc<Shared>, _: ()) -> Result<(Box<dyn Work>, u32)> {
        Ok((Peered::new(Waiting(Vec::new()), ()), 16))
    }
}

struct Waiting(Vec<Ticket<Clock>>);
impl Hardware for Waiting {
    type Engine = Clock;
    type Desk = ();
    fn turn(&mut self, port: &mut Port<'_, Clock>) -> Turn {
        let mut turn = Turn::Idle;
        while let Some(ticket) = port.take() {
            self.0.push(ticket);
            turn = Turn::Busy;
        }
        let now = if port.is_stopping() { u64::MAX } else { NOW.load(Ordering::SeqCst) };
        let mut at = 0;
        while at < self.0.len() {
            if *port.job(&mut self.0[at]) <= now {
                let ticket = self.0.swap_remove(at);
                port.complete(ticket, Ok(now));
                turn = Turn::Busy;
            } else {
                at += 1;
            }
        }
        turn
    }
}

#[test]
fn workers_turn_it_while_the_program_sleeps() {
    watched(|| {
        let session = Session::new(Machine::builder().build().unwrap(), softdpu_board::threads());
        let device = session.first_with(EngineKind::Dma).unwrap().open().unwrap();
        let mut pe = ProgressEngine::new(&session).unwrap();
        let mut clock = Context::<Clock>::start(&mut pe, &device, ()).unwrap().wait(&mut pe).unwrap();
        for round in 1..100u64 {
            let near = clock.submit(Wait(round)).unwrap();
            let far = clock.submit(Wait(round)).unwrap();
            let bell = thread::spawn(move || {
                thread::sleep(Duration::from_micros(round * 150));
                NOW.store(round, Ordering::SeqCst);
            });
            assert_eq!(pe.run(near).result.unwrap(), round);
            assert_eq!(pe.run(far).result.unwrap(), round);
            bell.join().unwrap();
        }
    });
}
