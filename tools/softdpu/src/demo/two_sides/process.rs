//! The card's process, as the host sees it: started with a letter, looked after, and never left behind.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde::de::DeserializeOwned;

use super::{Farewell, Greeting, Letter};
use crate::card::CardOptions;

/// The sub-command that the process is started with.
pub(crate) const COMMAND: &str = "demo-card";

/// Whoever takes the card's turns.
pub(super) trait Peer {
    /// # Errors
    /// It has ended, and how.
    fn still_there(&mut self) -> Result<(), String>;

    /// Its last words, once it has taken all turns.
    fn part(self) -> Result<Farewell, String>;
}

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Process {
    /// Starts this program as the card and waits until it has imported what `letter` speaks of.
    pub(super) fn start(options: &CardOptions, letter: &Letter) -> Result<(Self, Greeting), String> {
        let line = serde_json::to_string(letter).map_err(|e| e.to_string())? + "\n";
        let program = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
        let mut command = Command::new(&program);
        command.arg(COMMAND).envs(options.environment()).env("SOFTDPU_SIDE", "dpu");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", program.display()))?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let answers = stdout.map(BufReader::new).ok_or("the card's process has no output")?;
        let mut process = Self { child, answers };
        // One that has ended already says more with its status than the broken pipe does.
        let sent = stdin.map(|mut stdin| stdin.write_all(line.as_bytes()));
        match sent {
            Some(Ok(())) => {}
            _ => return Err(process.ended()),
        }
        let greeting = process.answer()?;
        Ok((process, greeting))
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line of its output.
    fn answer<T: DeserializeOwned>(&mut self) -> Result<T, String> {
        let mut line = String::new();
        match self.answers.read_line(&mut line) {
            Ok(0) | Err(_) => Err(self.ended()),
            Ok(_) => serde_json::from_str(&line)
                .map_err(|e| format!("the card's process {} said '{}': {e}", self.id(), line.trim())),
        }
    }

    /// Waits for its end, and says how it was.
    fn ended(&mut self) -> String {
        match self.child.wait() {
            Ok(status) => self.end(status),
            Err(e) => format!("the card's process {}: {e}", self.id()),
        }
    }

    fn end(&self, status: ExitStatus) -> String {
        format!("the card's process {} has ended: {status}", self.id())
    }
}

impl Peer for Process {
    fn still_there(&mut self) -> Result<(), String> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(self.end(status)),
            Err(e) => Err(format!("the card's process {}: {e}", self.id())),
        }
    }

    fn part(mut self) -> Result<Farewell, String> {
        let farewell = self.answer()?;
        let status = self.child.wait().map_err(|e| format!("the card's process {}: {e}", self.id()))?;
        if status.success() { Ok(farewell) } else { Err(self.end(status)) }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both do nothing when it has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
