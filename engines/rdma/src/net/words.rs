//! Requests for one word: atomics, and events of the peer.

use super::ask::{Asker, Begun};
use super::ask::{Known, MOST_WANTED};
use super::frame::{Act, HEAD, RECORD, Record};
use super::pipe::Inner;
use crate::event;
use crate::ffi::Class;
use crate::job::{Job, Op};
use crate::link::Step;
use softdpu_memory::peer::{self, Change, Use};

impl Inner {
    pub(super) fn change(&mut self, begun: &mut Begun, job: &Job, asker: &mut Asker<'_>) -> Step {
        // In Rust the number before is the task's result alone.
        let (result, word) = match (job.local(), job.remote()) {
            (Ok(result), Ok(Some(word))) if result.is_some() || job.owned.is_some() => (result, word),
            _ => {
                log::error!(target: crate::LOG, "{}: a buffer is missing or was released", job.op.name());
                return Step::Failed;
            }
        };
        let checked = self.may(Use::Atomic, asker).and_then(|()| {
            result
                .map_or(Ok(()), |result| peer::check_word(result, &asker.tools.send))
                .and_then(|()| peer::check_change(word, asker.tools.device))
                .map_err(|_| Step::Failed)
        });
        let map = match checked.and_then(|()| self.there(word, asker)) {
            Ok(map) => map,
            Err(step) => return step,
        };
        if self.ask.wanted + RECORD + HEAD > MOST_WANTED || self.room(Class::Request, 0, 0).is_none() {
            return Step::Wait;
        }
        let change = match job.op {
            Op::FetchAdd => Change::Add(job.words[0]),
            _ => Change::Swap(job.words[0], job.words[1]),
        };
        begun.last = self.request(Record::Change { map, addr: word.data() as u64, change }, 0);
        self.ask.wanted += RECORD + HEAD;
        Step::Done(0)
    }

    pub(super) fn event(&mut self, begun: &mut Begun, job: &Job, asker: &mut Asker<'_>) -> Step {
        let complain = |line: &str| {
            log::error!(target: crate::LOG, "connection {}: {}: {line}", asker.connection, job.op.name());
            Step::Failed
        };
        let Ok(local) = job.local() else { return complain("the buffer was released") };
        if local.is_none() && job.owned.is_none() {
            return complain("a buffer is missing");
        }
        let Some(event) = event::event(job) else { return complain("the event was destroyed") };
        let descriptor = *event.descriptor();
        let (act, right) = match job.op {
            Op::EventGet => (Act::Get, Use::Read),
            Op::EventSet => (Act::Set, Use::Write),
            _ => (Act::Add, Use::Atomic),
        };
        if let Err(step) = self.may(right, asker) {
            return step;
        }
        let gate = &asker.tools.send;
        let number = match (act, local) {
            (Act::Get, Some(to)) => event::check_room(to, gate).map(|()| 0),
            (Act::Add, Some(result)) => peer::check_word(result, gate).map(|()| job.words[0]),
            (Act::Set, local) => event::number_of(local, job.words[0], asker.tools),
            (_, None) => Ok(job.words[0]),
        };
        let Ok(value) = number else { return Step::Failed };
        let Some(map) = self.name(&Known::Event(descriptor)) else { return Step::Wait };
        if self.ask.wanted + RECORD + HEAD > MOST_WANTED || self.room(Class::Request, 0, 0).is_none() {
            return Step::Wait;
        }
        begun.last = self.request(Record::Event { map, act, value }, 0);
        self.ask.wanted += RECORD + HEAD;
        Step::Done(0)
    }
}
