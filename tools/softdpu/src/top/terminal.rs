//! The terminal: a screen of its own, keys without echo, signals that end the command in good order.
//!
//! Everything is as before when it is dropped, also when the command panics.

use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGWINCH};
use signal_hook::low_level::pipe;

use super::view::Size;
use crate::message::Failure;

/// Another screen, no cursor, no automatic line breaks; and back.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// Where nothing is known.
const USUAL: Size = Size { columns: 80, lines: 24 };

/// What ended a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    Time,
    Resized,
    End,
}

/// The terminal while it shows something.
pub(crate) struct Terminal {
    ends: UnixStream,
    resizes: UnixStream,
    /// How keys were read before, where there is a keyboard.
    before: Option<Termios>,
}

/// Can standard output be drawn on?
pub(crate) fn is_drawable() -> bool {
    let term = std::env::var_os("TERM").unwrap_or_default();
    io::stdout().is_terminal() && !term.is_empty() && term != "dumb"
}

impl Terminal {
    /// Takes the terminal.
    pub(crate) fn enter() -> Result<Terminal, Failure> {
        let taken = || -> io::Result<Terminal> {
            let (ends, ended) = UnixStream::pair()?;
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                pipe::register(signal, ended.try_clone()?)?;
            }
            let (resizes, resized) = UnixStream::pair()?;
            pipe::register(SIGWINCH, resized)?;
            resizes.set_nonblocking(true)?;
            let before = if io::stdin().is_terminal() { Some(read_keys()?) } else { None };
            Ok(Terminal { ends, resizes, before })
        };
        let terminal = taken().map_err(|e| Failure::failed(format!("the terminal cannot be used: {e}")))?;
        write(ENTER).map_err(|e| Failure::failed(format!("cannot write: {e}")))?;
        Ok(terminal)
    }

    /// Its size now.
    pub(crate) fn size(&self) -> Size {
        match tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => {
                Size { columns: size.ws_col.into(), lines: size.ws_row.into() }
            }
            _ => USUAL,
        }
    }

    /// Shows lines, in place of what was there.
    pub(crate) fn draw(&self, lines: &[String]) -> io::Result<()> {
        let mut text = "\x1b[H".to_owned();
        for (n, line) in lines.iter().enumerate() {
            text += if n == 0 { "" } else { "\r\n" };
            text += line;
            text += "\x1b[K";
        }
        text += "\x1b[J";
        write(&text)
    }

    /// Waits until it is time to draw again, or to end.
    pub(crate) fn wait(&self, time: Duration) -> Wake {
        let deadline = Instant::now() + time;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let stdin = io::stdin();
            let mut watched: Vec<PollFd<'_>> = vec![watch(self.ends.as_fd()), watch(self.resizes.as_fd())];
            watched.extend(self.before.is_some().then(|| watch(stdin.as_fd())));
            let until = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
            match poll(&mut watched, Some(&until)) {
                Ok(0) => return Wake::Time,
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(_) => return Wake::End,
            }
            let [end, resize, key] =
                [0, 1, 2].map(|n| watched.get(n).is_some_and(|w| !w.revents().is_empty()));
            if end || key && self.wants_end() {
                return Wake::End;
            }
            if resize {
                while (&self.resizes).read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
                return Wake::Resized;
            }
        }
    }

    /// Is `q` among the keys that were pressed, or the keyboard gone?
    fn wants_end(&self) -> bool {
        let mut keys = [0; 64];
        match rustix::io::read(io::stdin(), &mut keys) {
            Ok(0) => true,
            Ok(n) => keys[..n].iter().any(|key| matches!(key, b'q' | b'Q')),
            Err(errno) => errno != Errno::INTR && errno != Errno::AGAIN,
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = write(LEAVE);
        if let Some(before) = &self.before {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}

fn watch(fd: BorrowedFd<'_>) -> PollFd<'_> {
    PollFd::from_borrowed_fd(fd, PollFlags::IN)
}

/// Keys at once and unseen; Ctrl-C stays a signal, Ctrl-Z would leave the screen as it is. Returns how it was.
fn read_keys() -> io::Result<Termios> {
    let before = tcgetattr(io::stdin())?;
    let mut now = before.clone();
    now.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    now.special_codes[SpecialCodeIndex::VMIN] = 0;
    now.special_codes[SpecialCodeIndex::VTIME] = 0;
    now.special_codes[SpecialCodeIndex::VSUSP] = 0;
    tcsetattr(io::stdin(), OptionalActions::Now, &now)?;
    Ok(before)
}

fn write(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
