//! Packets: requests go to desks, later ones to ties.

use super::turn::{Source, Turn, Watched, guarded};
use super::{Answer, DESKS, Desk, LineHandle, Topic, wire};
use crate::socket::{Line, MAX_FDS, Peer};
use softdpu_status::{Code, Error};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, PoisonError};

impl Turn {
    /// One packet of a line.
    pub(super) fn hear(&mut self, id: u64, line: &Arc<Line>, bytes: &[u8], fds: Vec<OwnedFd>) {
        match self.watched.get(&id) {
            Some(Watched::Fresh { source, .. }) => {
                let source = source.clone();
                self.request(id, line, &source, bytes, fds);
            }
            Some(Watched::Tied { .. }) => {
                let mut reply = None;
                self.with_tie(id, |tie| reply = tie.message(bytes, fds));
                if let Some(reply) = reply
                    && let Err(error) = line.send(&reply, &[])
                {
                    self.lose(id, line, &error);
                }
            }
            _ => {}
        }
    }

    fn request(&mut self, id: u64, line: &Arc<Line>, source: &Source, bytes: &[u8], fds: Vec<OwnedFd>) {
        let peer = line.peer();
        match wire::read_request(bytes) {
            wire::Request::Garbage => {
                self.complain(peer.pid, &format!("sent {} bytes that are no request", bytes.len()));
                self.forget(id);
            }
            wire::Request::Version(version) => {
                self.complain(peer.pid, &format!("speaks version {version}, this library {}", wire::VERSION));
                self.reply(id, line, Err(Code::UnsupportedVersion));
            }
            wire::Request::Of(topic, request) => {
                let answer = match source {
                    Source::Named(desk) if topic == wire::NAMED => decide(&**desk, &peer, request, fds),
                    Source::Named(_) => Err(Code::NotSupported),
                    Source::Process => match of_topic(topic) {
                        Some(desk) => decide(desk, &peer, request, fds),
                        None => Err(Code::NotSupported),
                    },
                };
                self.reply(id, line, answer);
            }
        }
    }

    /// Sends the answer; then the line is tied, or ends.
    fn reply(&mut self, id: u64, line: &Arc<Line>, answer: Result<Answer, Code>) {
        let (packet, answer) = match answer {
            Ok(answer) => (wire::answer(Ok(&answer.bytes)), answer),
            Err(code) => (wire::answer(Err(code)), Answer::default()),
        };
        let sent = match packet {
            Some(packet) if answer.fds.len() <= MAX_FDS => {
                let fds: Vec<BorrowedFd<'_>> = answer.fds.iter().map(AsFd::as_fd).collect();
                line.send(&packet, &fds)
            }
            _ => Err(Error::new(Code::TooBig, "the answer to its request is too long")),
        };
        let tied = answer.tie.is_some();
        if let Some(tie) = answer.tie {
            // First of all, so that the tie learns of the end of the line whatever happens.
            self.watched.insert(id, Watched::Tied { line: line.clone(), tie });
        }
        match sent {
            Err(error) => self.lose(id, line, &error),
            Ok(()) if tied => {
                let handle = LineHandle(Arc::downgrade(line));
                self.with_tie(id, |tie| tie.tied(handle));
            }
            Ok(()) => self.forget(id),
        }
    }

    /// Ends a line for a reason; that the peer hung up is none to complain about.
    pub(super) fn lose(&mut self, id: u64, line: &Line, error: &Error) {
        if error.code() != Code::ConnectionReset {
            self.complain(line.peer().pid, &format!("connection ended: {}", error.what()));
        }
        self.forget(id);
    }
}

fn of_topic(topic: Topic) -> Option<&'static dyn Desk> {
    let desks = DESKS.lock().unwrap_or_else(PoisonError::into_inner);
    desks.iter().find(|(known, _)| *known == topic).map(|(_, desk)| *desk)
}

fn decide(desk: &dyn Desk, peer: &Peer, request: &[u8], fds: Vec<OwnedFd>) -> Result<Answer, Code> {
    let mut answer = Err(Code::Unexpected);
    guarded(|| answer = Ok(desk.ask(peer, request, fds)));
    answer
}
