//! Sequences of calls thrown by dice, against a model of what they must do. A failure prints its seed.

mod common;
use common::mock::{self, Act, Mock, Op};
use common::{Dice, Rig, boards};
use softdpu::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const SLOTS: usize = 6;

/// What is known of one task.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Fate {
    /// Somebody holds its future.
    Held,
    /// Its future was dropped, or it goes to the handler.
    Loose,
    /// Its future was leaked.
    Leaked,
}

struct Game<const FATAL: bool> {
    rig: Rig,
    context: Option<Context<Mock<FATAL>>>,
    held: Vec<(u64, InFlight<Op<FATAL>>)>,
    tokens: HashMap<u64, (Arc<()>, Fate)>,
    handled: Arc<Mutex<Vec<u64>>>,
    posted: u64,
    next: u64,
    /// Slots lost to leaks in the present context.
    leaked: usize,
}

impl<const FATAL: bool> Game<FATAL> {
    fn new(board: Board) -> Self {
        Game {
            rig: Rig::new(board),
            context: None,
            held: Vec::new(),
            tokens: HashMap::new(),
            handled: Arc::default(),
            posted: 0,
            next: 0,
            leaked: 0,
        }
    }

    fn restart(&mut self) {
        let handled = self.handled.clone();
        let handler: Handler<Op<FATAL>> = Box::new(move |done, outbox| {
            handled.lock().unwrap().push(done.result.unwrap_or(u64::MAX));
            match done.result {
                Ok(n) if n % 7 == 3 && matches!(done.task.act, Act::Give(_)) && done.task.runs < 3 => {
                    Next::Again(done.task)
                }
                Ok(n) if n % 7 == 4 => {
                    outbox.post(Op::new(Act::Give(0))).ok();
                    Next::Free
                }
                _ => Next::Free,
            }
        });
        let config = mock::Config { tasks: SLOTS as u32, handler: Some(handler) };
        self.leaked = 0;
        let starting = Context::start(&mut self.rig.pe, &self.rig.device, config).unwrap();
        self.context = Some(starting.wait(&mut self.rig.pe).unwrap());
    }

    fn op(&mut self, dice: &mut Dice) -> (u64, Op<FATAL>) {
        let n = self.next;
        self.next += 1;
        let token = Arc::new(());
        let act = match dice.roll(20) {
            0 => Act::Fail,
            1 => Act::Panic,
            2 => Act::Parts(1 + dice.roll(3) as u64, Arc::default()),
            3 => Act::Steps(1 + dice.roll(3) as u64, Arc::default()),
            4 => Act::Whole(n),
            _ => Act::Give(n),
        };
        let op = Op::held(act, &token);
        self.tokens.insert(n, (token, Fate::Loose));
        (n, op)
    }

    fn fate(&mut self, n: u64, fate: Fate) {
        self.tokens.get_mut(&n).unwrap().1 = fate;
    }

    fn submit(&mut self, dice: &mut Dice) {
        let (n, op) = self.op(dice);
        let posts = dice.roll(3) == 0;
        let leaked = self.leaked;
        let Some(context) = &mut self.context else {
            self.tokens.remove(&n);
            return;
        };
        let (full, running) = (context.is_full(), context.state() == State::Running);
        let outcome = if posts { context.post(op).map(|()| None) } else { context.submit(op).map(Some) };
        match outcome {
            Ok(flying) => {
                assert!(!full && running);
                match flying {
                    Some(flying) => {
                        self.held.push((n, flying));
                        self.fate(n, Fate::Held);
                    }
                    None => self.posted += 1,
                }
            }
            Err(refused) => {
                assert!(leaked <= SLOTS);
                let expected = if running { Code::Full } else { Code::BadState };
                assert_eq!(refused.error.code(), expected);
                drop(refused);
                assert_eq!(Arc::strong_count(&self.tokens[&n].0), 1, "a refused task is kept");
                self.tokens.remove(&n);
            }
        }
    }

    fn check(&self, n: u64, done: &Done<Op<FATAL>>) {
        assert!(done.task.runs <= 1, "carried out {} times", done.task.runs);
        match (&done.task.act, done.result) {
            (Act::Give(m) | Act::Whole(m), Ok(r)) => assert_eq!((*m, r), (n, n)),
            (Act::Parts(k, count), Ok(_)) => {
                assert_eq!(*k * mock::PART, count.load(std::sync::atomic::Ordering::SeqCst) as u64);
            }
            (Act::Steps(k, at), Ok(_)) => {
                assert_eq!(*k * mock::PART, at.load(std::sync::atomic::Ordering::SeqCst) as u64);
            }
            (Act::Panic, Err(e)) => assert!([Code::Unexpected, Code::IoFailed].contains(&e.code())),
            (_, Err(e)) => assert_eq!(e.code(), Code::IoFailed),
            (act, Ok(r)) => panic!("{act:?} succeeded with {r}"),
        }
    }

    fn step(&mut self, dice: &mut Dice) {
        match dice.roll(24) {
            0..8 => self.submit(dice),
            8..13 => {
                self.rig.pe.progress();
            }
            13..17 => {
                if !self.held.is_empty() {
                    let at = dice.roll(self.held.len());
                    let (n, flying) = self.held.swap_remove(at);
                    match flying.try_take() {
                        Ok(done) => {
                            self.check(n, &done);
                            self.fate(n, Fate::Loose);
                        }
                        Err(flying) => self.held.push((n, flying)),
                    }
                }
            }
            17..20 => {
                if !self.held.is_empty() {
                    let at = dice.roll(self.held.len());
                    let (n, flying) = self.held.swap_remove(at);
                    drop(flying);
                    self.fate(n, Fate::Loose);
                }
            }
            20 => {
                if dice.roll(10) == 0 && !self.held.is_empty() && self.leaked < SLOTS - 1 {
                    let at = dice.roll(self.held.len());
                    let (n, flying) = self.held.swap_remove(at);
                    std::mem::forget(flying);
                    self.fate(n, Fate::Leaked);
                    self.leaked += 1;
                }
            }
            21 => {
                // Awaits one, with its own engine; only futures of running or stopped contexts end.
                if !self.held.is_empty() {
                    let at = dice.roll(self.held.len());
                    let (n, flying) = self.held.swap_remove(at);
                    let done = self.rig.pe.run(flying);
                    self.check(n, &done);
                    self.fate(n, Fate::Loose);
                }
            }
            22 => {
                if dice.roll(4) == 0 {
                    match (self.context.take(), dice.roll(3)) {
                        (None, _) => self.restart(),
                        (Some(context), 0) => drop(context),
                        (Some(context), 1) => drop(context.stop()),
                        (Some(context), _) => {
                            context.stop().wait(&mut self.rig.pe).unwrap();
                        }
                    }
                }
            }
            _ => {
                let armed = self.rig.pe.arm().unwrap();
                if dice.roll(2) == 0 {
                    self.rig.pe.disarm();
                }
                if let (true, Some(context)) = (armed, &self.context)
                    && self.rig.session.board().name() == "inline"
                {
                    // Nothing is carried out elsewhere: if it may sleep, nothing flies.
                    assert_eq!(context.in_flight(), 0);
                }
            }
        }
    }

    fn end(mut self) {
        drop(self.context.take());
        drop(self.rig);
        for (n, flying) in std::mem::take(&mut self.held) {
            assert!(flying.is_done(), "task {n} did not come back");
            drop(flying);
        }
        for (n, (token, fate)) in &self.tokens {
            let expected = if *fate == Fate::Leaked { 2 } else { 1 };
            assert_eq!(Arc::strong_count(token), expected, "task {n} ({fate:?}) is lost or kept");
        }
        // Every posted task was told at least once (some fly again).
        assert!(self.handled.lock().unwrap().len() as u64 >= self.posted);
    }
}

fn play<const FATAL: bool>(board: Board, seeds: std::ops::Range<u64>, steps: usize) {
    for seed in seeds {
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut dice = Dice::new(seed);
            let mut game = Game::<FATAL>::new(board);
            game.restart();
            for _ in 0..steps {
                game.step(&mut dice);
            }
            game.end();
        }));
        if let Err(cause) = told {
            eprintln!("seed {seed}, {board:?}, stops on failures: {FATAL}");
            std::panic::resume_unwind(cause);
        }
    }
}

#[test]
fn sturdy() {
    for board in boards() {
        play::<false>(board, 0..150, 600);
    }
}

#[test]
fn fragile() {
    for board in boards() {
        play::<true>(board, 1000..1150, 600);
    }
}
