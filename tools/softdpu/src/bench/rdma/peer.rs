//! The other processes of the bench: they lend memory, answer, take messages, or add to a word.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use lexopt::Parser;
use softdpu::card::Side;
use softdpu::rdma::{Config, FetchAdd, Receive, Write};
use softdpu::{Handler, Next};

use super::end::{End, Half, Plan};
use super::{PLACES, WORD, network, open};
use crate::bench::lane::text;
use crate::bench::patience::Patience;
use crate::card::CardOptions;
use crate::message::{Failure, Outcome};
use crate::session;

/// The sub-command that peers are started with; not for people.
pub(crate) const PEER: &str = "bench-rdma-peer";

/// What a peer says once it is connected.
const READY: &str = "ready\n";

/// What a peer does until its input ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// Sleeps.
    Lend,
    /// Writes back what is written into its memory.
    Answer,
    /// Receives messages.
    Take,
    /// Adds to the word of its own peer, and says how often it did.
    Add,
    /// As on another machine: takes messages and makes progress, while it is told to.
    Turn,
    /// Answers on a yardstick of the network, and says at which port.
    Tcp,
    Fabric,
}

impl Role {
    const ALL: [(Role, &str); 7] = [
        (Role::Lend, "lend"),
        (Role::Answer, "answer"),
        (Role::Take, "take"),
        (Role::Add, "add"),
        (Role::Turn, "turn"),
        (Role::Tcp, "tcp"),
        (Role::Fabric, "fabric"),
    ];

    fn name(self) -> &'static str {
        Role::ALL.iter().find(|(role, _)| *role == self).map_or("", |(_, name)| name)
    }
}

/// Another process; it ends with this.
#[derive(Debug)]
pub(super) struct Peer {
    process: Child,
    output: BufReader<ChildStdout>,
    /// Its own runtime folder, if it has one.
    folder: Option<PathBuf>,
}

impl Peer {
    pub(super) fn start(card: &CardOptions, role: Role, plan: Plan) -> Result<Self, String> {
        let command = std::env::current_exe().map_err(|e| format!("this command is not found: {e}"))?;
        let mut started = Command::new(command);
        let numbers = [plan.bytes.to_string(), plan.depth.to_string(), plan.links.to_string()];
        started.args([PEER, role.name()]).args(numbers).envs(card.environment());
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = format!("softdpu-bench-{}-{number}", std::process::id());
        let folder = (role == Role::Turn).then(|| std::env::temp_dir().join(folder));
        started.envs(folder.iter().map(|folder| ("SOFTDPU_RUNTIME_DIR", folder)));
        let process = started.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = process.map_err(|e| format!("no second process: {e}"))?;
        let output = process.stdout.take().ok_or("the second process has no output")?;
        Ok(Self { process, output: BufReader::new(output), folder })
    }

    /// What it says next.
    pub(super) fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(read) if read > 0 => Ok(line),
            _ => Err("the second process has ended".to_owned()),
        }
    }

    pub(super) fn tell(&mut self, card: &str) -> Result<(), String> {
        let gone = || "the second process has ended".to_owned();
        writeln!(self.process.stdin.as_mut().ok_or_else(gone)?, "{card}").map_err(|_| gone())
    }

    /// Waits until it is connected: until then it needs what this end lends.
    pub(super) fn ready(&mut self) -> Result<(), String> {
        if self.line()? == READY { Ok(()) } else { Err("the second process said nonsense".to_owned()) }
    }

    /// It is to end, and say what it has done.
    pub(super) fn end(&mut self) -> Result<String, String> {
        drop(self.process.stdin.take());
        self.line()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of its input tells it to end.
        drop(self.process.stdin.take());
        let _ = self.process.wait();
        if let Some(folder) = &self.folder {
            // Nobody else has anything in it.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// The peer's part; ends with its input.
pub(crate) fn main(mut arguments: Parser) -> Outcome {
    let wrong = || Failure::usage(format!("{PEER}: started by 'softdpu bench' alone"));
    let mut next = || arguments.value().ok().and_then(|value| value.into_string().ok()).ok_or_else(wrong);
    let name = next()?;
    let role = Role::ALL.iter().find(|(_, known)| *known == name).map(|(role, _)| *role).ok_or_else(wrong)?;
    let plan = Plan {
        bytes: next()?.parse().map_err(|_| wrong())?,
        depth: next()?.parse().map_err(|_| wrong())?,
        links: next()?.parse().map_err(|_| wrong())?,
    };
    crate::output::print(&serve(role, plan).map_err(Failure::failed)?)
}

fn serve(role: Role, plan: Plan) -> Result<String, String> {
    if let Role::Tcp | Role::Fabric = role {
        return network::serve(role);
    }
    let machine = CardOptions::default().machine().map_err(Failure::into_text)?;
    let session = session::open(machine.clone());
    // Who adds is an initiator, too.
    let device = open(&session, &machine, if role == Role::Add { Side::Host } else { Side::Dpu })?;
    let gone = Arc::new(AtomicBool::new(false));
    let half = match role {
        Role::Take | Role::Turn => Half::with(&session, &device, plan, taker(gone.clone()))?,
        _ => Half::new(&session, &device, plan)?,
    };
    let cards: String = half.cards().iter().map(|card| format!("{card}\n")).collect();
    crate::output::print(&cards).map_err(Failure::into_text)?;
    let mut input = BufReader::new(std::io::stdin()).lines();
    let cards: Vec<String> = input.by_ref().take(plan.links.into()).map_while(Result::ok).collect();
    let mut end = half.join(&device, &cards)?;
    if let Role::Take | Role::Turn = role {
        post_receives(&mut end, plan)?;
    }
    crate::output::print(READY).map_err(Failure::into_text)?;
    if role == Role::Lend {
        input.for_each(drop);
        return Ok(String::new());
    }
    if role == Role::Turn {
        return network::turn(&mut end, &gone, input);
    }
    let over = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&over);
    std::thread::spawn(move || {
        input.for_each(drop);
        tell.store(true, Ordering::Relaxed);
    });
    let is_over = || over.load(Ordering::Relaxed);
    match role {
        Role::Answer => answer(&mut end, is_over),
        Role::Take => take(&mut end, &gone, is_over),
        _ => add(&mut end, plan.depth, is_over),
    }
}

/// Answers a word in its first place by a task, and one in its second place by a plain write.
fn answer(end: &mut End, is_over: impl Fn() -> bool) -> Result<String, String> {
    let window = |at| end.memory.alias(at..at + WORD).map_err(|e| e.to_string());
    let (places, mut src) = (end.memory.alias(..2 * WORD).map_err(|e| e.to_string())?, window(PLACES)?);
    src.set_data(..).map_err(|e| e.to_string())?;
    let to = end.connections[0].target();
    let dst = end.remote.buf(..WORD).map_err(|e| e.to_string())?;
    let mut task = Some(Write { to, src, dst, immediate: None });
    // No word is there before the other end's first, which may be here already.
    let (mut seen, mut now) = ([0; 2 * WORD], [0; 2 * WORD]);
    let mut patience = Patience::default();
    loop {
        places.read_at(0, &mut now).map_err(|e| e.to_string())?;
        if now == seen {
            if patience.pass().is_multiple_of(1024) && is_over() {
                return Ok(String::new());
            }
            continue;
        }
        patience.reset();
        if now[..WORD] != seen[..WORD]
            && let Some(mut write) = task.take()
        {
            write.src.write_at(0, &now[..WORD]).map_err(|e| e.to_string())?;
            let flight = end.context.submit(write).map_err(|refused| text(refused.error))?;
            while !flight.is_done() {
                end.pe.progress();
            }
            task = flight.try_take().ok().map(|done| done.task);
        }
        if now[WORD..] != seen[WORD..] {
            end.remote.write(WORD, &now[WORD..]).map_err(text)?;
        }
        seen = now;
    }
}

/// Gets messages, and posts each receive again; `gone` says that the other end has left.
fn taker(gone: Arc<AtomicBool>) -> impl FnOnce(Config) -> Config {
    let on_receive: Handler<Receive> = Box::new(move |done, _| match (done.result, done.task.dst) {
        (Ok(_), Some(mut buf)) => {
            buf.reset();
            Next::Again(Receive { dst: Some(buf), message: None })
        }
        _ => {
            gone.store(true, Ordering::Relaxed);
            Next::Free
        }
    });
    |config| config.on_receive(on_receive)
}

/// As many receives as were planned.
fn post_receives(end: &mut End, plan: Plan) -> Result<(), String> {
    let stride = plan.bytes / plan.depth as usize;
    for at in 0..plan.depth as usize {
        let buf = end.memory.alias(at * stride..(at + 1) * stride).map_err(|e| e.to_string())?;
        let receive = Receive { dst: Some(buf), message: None };
        end.context.post(receive).map_err(|refused| text(refused.error))?;
    }
    Ok(())
}

/// Takes messages.
fn take(end: &mut End, gone: &AtomicBool, is_over: impl Fn() -> bool) -> Result<String, String> {
    let mut patience = Patience::default();
    while !gone.load(Ordering::Relaxed) {
        if end.pe.progress() > 0 {
            patience.reset();
        } else if patience.pass().is_multiple_of(1024) && is_over() {
            break;
        }
    }
    Ok(String::new())
}

/// Adds one as often as it can; gives how often.
fn add(end: &mut End, depth: u32, is_over: impl Fn() -> bool) -> Result<String, String> {
    let mut flying = VecDeque::with_capacity(depth as usize);
    let to = end.connections[0].target();
    for _ in 0..depth {
        let word = end.remote.buf(..WORD).map_err(|e| e.to_string())?;
        let task = FetchAdd { to, word, add: 1 };
        flying.push_back(end.context.submit(task).map_err(|refused| text(refused.error))?);
    }
    let mut added = 0u64;
    while let Some(flight) = flying.pop_front() {
        while !flight.is_done() {
            end.pe.progress();
        }
        let Ok(done) = flight.try_take() else { break };
        done.result.map_err(text)?;
        added += 1;
        if !is_over() {
            flying.push_back(end.context.submit(done.task).map_err(|refused| text(refused.error))?);
        }
    }
    Ok(format!("{added}\n"))
}
