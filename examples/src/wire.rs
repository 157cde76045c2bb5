//! How the two sides of an example swap descriptions before they are connected: by a channel inside of a process, by
//! standard input and output between two. Any other way would do.

use std::io::{self, BufRead, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};

/// One end.
#[derive(Debug)]
pub struct Wire(End);

#[derive(Debug)]
enum End {
    Channel(Sender<Vec<u8>>, Receiver<Vec<u8>>),
    Stdio,
    Child(Box<Child>, io::BufReader<std::process::ChildStdout>),
}

impl Wire {
    /// Both ends in this process.
    pub fn pair() -> (Wire, Wire) {
        let ((to_b, from_a), (to_a, from_b)) = (channel(), channel());
        (Wire(End::Channel(to_b, from_b)), Wire(End::Channel(to_a, from_a)))
    }

    /// Standard input and output.
    pub fn stdio() -> Wire {
        Wire(End::Stdio)
    }

    /// This program once more with an argument; the other end is its standard input and output.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn child(argument: &str) -> io::Result<Wire> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(argument)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let from = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Wire(End::Child(Box::new(child), io::BufReader::new(from))))
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let line = || bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        match &mut self.0 {
            End::Channel(to, _) => to.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe.into()),
            End::Stdio => writeln!(io::stdout(), "{}", line()),
            End::Child(child, _) => match &mut child.stdin {
                Some(stdin) => writeln!(stdin, "{}", line()),
                None => Err(io::ErrorKind::BrokenPipe.into()),
            },
        }
    }

    /// Receives what the other end put.
    ///
    /// # Errors
    /// The other end is gone, or sends something else.
    pub fn get(&mut self) -> io::Result<Vec<u8>> {
        let mut line = String::new();
        match &mut self.0 {
            End::Channel(_, from) => return from.recv().map_err(|_| io::ErrorKind::BrokenPipe.into()),
            End::Stdio => io::stdin().lock().read_line(&mut line)?,
            End::Child(_, from) => from.read_line(&mut line)?,
        };
        let line = line.trim().as_bytes();
        if line.is_empty() || !line.len().is_multiple_of(2) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let digit =
            |byte: u8| char::from(byte).to_digit(16).map(|d| d as u8).ok_or(io::ErrorKind::InvalidData);
        line.chunks(2).map(|pair| Ok(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
    }

    /// Waits for the end of the other process, if there is one.
    ///
    /// # Errors
    /// It did not end well.
    pub fn close(self) -> io::Result<()> {
        let End::Child(mut child, _) = self.0 else { return Ok(()) };
        drop(child.stdin.take());
        let status = child.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("the other process: {status}"))) }
    }
}
