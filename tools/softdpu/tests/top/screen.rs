//! A terminal to run the command on.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetattr, tcsetwinsize};

/// What ends the command.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Key(&'static [u8]),
    Signal(Signal),
}

const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";

/// The command's side and ours.
fn open() -> (OwnedFd, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let ours = openpt(flags).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let path = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let no_control = rustix::fs::OFlags::NOCTTY.bits() as i32;
    let theirs = OpenOptions::new().read(true).write(true).custom_flags(no_control).open(path).unwrap();
    (theirs.into(), File::from(ours))
}

fn spawn(mut command: Command, theirs: &OwnedFd) -> Child {
    let end = || theirs.try_clone().unwrap();
    command.stdin(end()).stdout(end()).spawn().unwrap()
}

/// Reads until `found` says that it is enough.
fn read(ours: &mut File, text: &mut String, mut found: impl FnMut(&str) -> bool) {
    let mut bytes = [0; 4096];
    let mut all = Vec::new();
    while !found(text) {
        let n = ours.read(&mut bytes).unwrap();
        assert!(n > 0, "the terminal is closed: {text:?}");
        all.extend_from_slice(&bytes[..n]);
        if let Ok(more) = std::str::from_utf8(&all) {
            text.push_str(more);
            all.clear();
        }
    }
}

/// Runs the command on a terminal of so many columns and lines until it has drawn often enough, and ends it. Returns
/// what it drew.
pub(crate) fn run(
    command: Command,
    (columns, lines): (u16, u16),
    end: End,
    times: usize,
) -> Vec<Vec<String>> {
    let (theirs, mut ours) = open();
    let size = Winsize { ws_row: lines, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&ours, size).unwrap();
    let before = format!("{:?}", tcgetattr(&theirs).unwrap());
    let mut child = spawn(command, &theirs);
    let mut text = String::new();
    read(&mut ours, &mut text, |text| text.matches("\x1b[J").count() >= times);
    assert_ne!(format!("{:?}", tcgetattr(&theirs).unwrap()), before, "keys are read one by one");
    match end {
        End::Key(key) => ours.write_all(key).unwrap(),
        End::Signal(signal) => kill_process(Pid::from_child(&child), signal).unwrap(),
    }
    read(&mut ours, &mut text, |text| text.ends_with(LEAVE));
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(format!("{:?}", tcgetattr(&theirs).unwrap()), before, "as it was");
    let drawn = text.strip_prefix(ENTER).unwrap().strip_suffix(LEAVE).unwrap();
    let frame = |frame: &str| {
        // The terminal makes two ends of one.
        let lines = frame.trim_end_matches("\x1b[J").replace("\r\r\n", "\r\n");
        lines.split("\r\n").map(|line| line.strip_suffix("\x1b[K").unwrap().to_owned()).collect()
    };
    drawn.split_terminator("\x1b[H").skip(1).map(frame).collect()
}

/// Runs the command on a terminal until it has said something; then ends it. Returns all it said.
pub(crate) fn read_plainly(command: Command, what: &str) -> String {
    let (theirs, mut ours) = open();
    let mut child = spawn(command, &theirs);
    let mut text = String::new();
    read(&mut ours, &mut text, |text| text.contains(what));
    child.kill().unwrap();
    child.wait().unwrap();
    text
}
