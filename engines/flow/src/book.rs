//! The ports there are, their pipes and entries, and the rules they come to.

use softdpu_memory::device::Device;
use softdpu_net::Port;
use softdpu_net::steer::{Action, HashFields, Match, Rules};
use softdpu_status::{Code, Error, Result};
use std::fmt::Arguments;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where packets go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Queues { numbers: Vec<u16>, fields: HashFields },
    Nowhere,
}

/// An entry of a pipe: it matches every packet.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// None: where its pipe says.
    pub(crate) target: Option<Target>,
    /// Word 0 of the metadata.
    pub(crate) mark: u32,
}

/// A pipe.
#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) number: u64,
    pub(crate) is_root: bool,
    pub(crate) target: Option<Target>,
    pub(crate) miss: Target,
    /// What its actions write into the metadata, by their index.
    pub(crate) marks: Vec<u32>,
    pub(crate) entries: Vec<Entry>,
}

/// A port, from its start to its stop.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) id: u16,
    /// Kept open.
    pub(crate) device: Arc<Device>,
    port: Arc<Port>,
    pipes: Vec<Pipe>,
}

/// The library between init and destroy.
#[derive(Debug)]
pub(crate) struct Book {
    pub(crate) queues: u16,
    ports: Vec<Started>,
    next: u64,
}

static BOOK: Mutex<Option<Book>> = Mutex::new(None);

/// The library, started or not.
pub(crate) fn open() -> MutexGuard<'static, Option<Book>> {
    BOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cold]
pub(crate) fn refuse<T>(code: Code, what: &'static str, line: Arguments<'_>) -> Result<T> {
    log::error!(target: crate::LOG, "{line}");
    Err(Error::new(code, what))
}

impl Book {
    pub(crate) fn new(queues: u16) -> Book {
        Book { queues, ports: Vec::new(), next: 1 }
    }

    /// Starts a port.
    ///
    /// # Errors
    /// AlreadyExist: the number, or the device, has one.
    pub(crate) fn start(&mut self, id: u16, device: Arc<Device>) -> Result<()> {
        let port = softdpu_net::port(device.function());
        if let Some(other) = self.ports.iter().find(|p| p.id == id || Arc::ptr_eq(&p.port, &port)) {
            let line = format_args!(
                "doca_flow_port_start: port {id} on {}: port {} on {} was started before",
                device.function(),
                other.id,
                other.device.function()
            );
            return refuse(Code::AlreadyExist, "started before", line);
        }
        self.ports.push(Started { id, device, port, pipes: Vec::new() });
        Ok(())
    }

    fn port(&mut self, id: u16) -> Result<&mut Started> {
        self.ports.iter_mut().find(|p| p.id == id).ok_or(Error::new(Code::InvalidValue, "no such port"))
    }

    /// Stops a port; its pipes go with it. Their numbers.
    pub(crate) fn stop(&mut self, id: u16) -> Vec<u64> {
        let Some(at) = self.ports.iter().position(|p| p.id == id) else { return Vec::new() };
        let port = self.ports.swap_remove(at);
        port.port.steer(None);
        port.pipes.iter().map(|pipe| pipe.number).collect()
    }

    /// The numbers of the ports.
    pub(crate) fn ids(&self) -> Vec<u16> {
        self.ports.iter().map(|p| p.id).collect()
    }

    /// Adds a pipe to a port; its number.
    ///
    /// # Errors
    /// InvalidValue: no such port, or queues that no rule can have.
    pub(crate) fn add(&mut self, id: u16, pipe: Pipe) -> Result<u64> {
        let number = self.next;
        let port = self.port(id)?;
        port.pipes.push(Pipe { number, ..pipe });
        if let Err(error) = port.apply() {
            port.pipes.pop();
            return Err(error);
        }
        self.next += 1;
        Ok(number)
    }

    /// Removes a pipe.
    ///
    /// # Errors
    /// InvalidValue: no such port.
    pub(crate) fn remove(&mut self, id: u16, number: u64) -> Result<()> {
        let port = self.port(id)?;
        port.pipes.retain(|pipe| pipe.number != number);
        port.apply()
    }

    /// Changes a pipe, if its port goes along with that.
    ///
    /// # Errors
    /// What `change` or the port refuses; nothing changes then.
    pub(crate) fn change(
        &mut self,
        id: u16,
        number: u64,
        change: impl FnOnce(&mut Pipe) -> Result<()>,
    ) -> Result<()> {
        let port = self.port(id)?;
        let gone = Error::new(Code::InvalidValue, "no such pipe");
        let at = port.pipes.iter().position(|pipe| pipe.number == number).ok_or(gone)?;
        let before = port.pipes[at].entries.len();
        change(&mut port.pipes[at])?;
        port.apply().inspect_err(|_| port.pipes[at].entries.truncate(before))
    }
}

impl Started {
    /// The rules that the pipes come to.
    fn rules(&self) -> Rules {
        let mut rules = Rules::new();
        for pipe in self.pipes.iter().filter(|pipe| pipe.is_root) {
            for entry in &pipe.entries {
                let target = entry.target.as_ref().or(pipe.target.as_ref());
                rules = rules.rule(Match::any(), action(target.unwrap_or(&Target::Nowhere)).mark(entry.mark));
            }
            if pipe.entries.is_empty() && pipe.miss != Target::Nowhere {
                rules = rules.rule(Match::any(), action(&pipe.miss));
            }
        }
        rules
    }

    fn apply(&self) -> Result<()> {
        let rules = self.rules();
        let none = rules == Rules::new();
        self.port.steer(if none { None } else { Some(Arc::new(rules.compile()?)) });
        Ok(())
    }
}

fn action(target: &Target) -> Action {
    match target {
        Target::Queues { numbers, fields } => Action::queues(numbers, *fields),
        Target::Nowhere => Action::drop(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use softdpu_card::Machine;

    fn pipe(is_root: bool, target: Option<Target>, miss: Target) -> Pipe {
        Pipe { number: 0, is_root, target, miss, marks: vec![7], entries: Vec::new() }
    }

    fn queue(number: u16) -> Target {
        Target::Queues { numbers: vec![number], fields: HashFields::default() }
    }

    #[test]
    fn entries_come_first_and_then_what_missed_them() {
        let machine = Machine::builder().config_text("[[card]]\nname = \"book\"\n").build().unwrap();
        let device = Device::open(machine.functions()[0].clone()).unwrap();
        let other = Device::open(machine.functions()[1].clone()).unwrap();
        let mut book = Book::new(1);
        book.start(3, device.clone()).unwrap();
        assert_eq!(book.start(3, other.clone()).unwrap_err().code(), Code::AlreadyExist);
        assert_eq!(book.start(4, device).unwrap_err().code(), Code::AlreadyExist);
        book.start(4, other).unwrap();
        let count = |book: &mut Book| book.port(3).unwrap().port.rules().is_some();
        let unseen = book.add(3, pipe(false, Some(queue(1)), queue(2))).unwrap();
        assert!(!count(&mut book));
        let root = book.add(3, pipe(true, Some(queue(1)), queue(2))).unwrap();
        assert_eq!(book.port(3).unwrap().rules(), Rules::all_to(2));
        book.change(3, root, |pipe| {
            pipe.entries.push(Entry { target: None, mark: 7 });
            pipe.entries.push(Entry { target: Some(Target::Nowhere), mark: 0 });
            Ok(())
        })
        .unwrap();
        let expected =
            Rules::new().rule(Match::any(), Action::queue(1).mark(7)).rule(Match::any(), Action::drop());
        assert_eq!(book.port(3).unwrap().rules(), expected);
        // What no rule can be changes nothing.
        let none = Target::Queues { numbers: Vec::new(), fields: HashFields::default() };
        let refused = book.change(3, root, |pipe| {
            pipe.entries.push(Entry { target: Some(none), mark: 0 });
            Ok(())
        });
        assert!(refused.is_err());
        assert_eq!(book.port(3).unwrap().rules(), expected);
        book.remove(3, root).unwrap();
        assert!(!count(&mut book));
        assert_eq!((book.ids().len(), book.stop(3)), (2, vec![unseen]));
        assert_eq!(book.add(3, pipe(true, None, Target::Nowhere)).unwrap_err().code(), Code::InvalidValue);
    }
}
