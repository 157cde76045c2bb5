//! A server or client of the card's library.

use crate::abi::{self, Changed, Comch, Common, Completion, IDLE, Object, RUNNING, Received, Representors};
use crate::card::{check, made};
use crate::live::becomes;
use softdpu::{Code, Error, Result};
use softdpu_comch::real::{RealEnd, Said, Wanted};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};

/// How many callbacks one look waits for.
const AT_ONCE: usize = 64;
/// How long an end may take to come to rest.
const PATIENCE: Duration = Duration::from_secs(5);

/// The calls in which servers and clients differ.
pub(super) struct Kind {
    serves: bool,
    destroy: fn(&Comch, Object) -> i32,
    as_context: fn(&Comch, Object) -> Option<Object>,
    set_msg: fn(&Comch, Object, u32) -> i32,
    set_queue: fn(&Comch, Object, u32) -> i32,
    set_conf: fn(&Comch, Object, Completion, Completion, u32) -> i32,
    register: fn(&Comch, Object, Received) -> i32,
    allocate: fn(&Comch, Object, Object, *const u8, u32, &mut Option<Object>) -> i32,
}

pub(super) static SERVER: Kind = Kind {
    serves: true,
    destroy: Comch::doca_comch_server_destroy,
    as_context: Comch::doca_comch_server_as_ctx,
    set_msg: Comch::doca_comch_server_set_max_msg_size,
    set_queue: Comch::doca_comch_server_set_recv_queue_size,
    set_conf: Comch::doca_comch_server_task_send_set_conf,
    register: Comch::doca_comch_server_event_msg_recv_register,
    allocate: Comch::doca_comch_server_task_send_alloc_init,
};

pub(super) static CLIENT: Kind = Kind {
    serves: false,
    destroy: Comch::doca_comch_client_destroy,
    as_context: Comch::doca_comch_client_as_ctx,
    set_msg: Comch::doca_comch_client_set_max_msg_size,
    set_queue: Comch::doca_comch_client_set_recv_queue_size,
    set_conf: Comch::doca_comch_client_task_send_set_conf,
    register: Comch::doca_comch_client_event_msg_recv_register,
    allocate: Comch::doca_comch_client_task_send_alloc_init,
};

/// What a callback was told.
enum Heard {
    Connected(Object),
    Disconnected(Object),
    Message(Object, Vec<u8>),
    Sent(u64),
}

thread_local! {
    /// What the callbacks on this thread were told since somebody asked: those of the one end that it is busy with.
    static HEARD: RefCell<Vec<Heard>> = const { RefCell::new(Vec::new()) };
}

fn hear(heard: Heard) {
    HEARD.with_borrow_mut(|all| all.push(heard));
}

extern "C" fn sent(_: Option<Object>, number: u64, _: u64) {
    hear(Heard::Sent(number));
}

extern "C" fn received(_: Option<Object>, bytes: *const u8, len: u32, connection: Option<Object>) {
    if let Some(connection) = connection {
        hear(Heard::Message(connection, abi::bytes(bytes, len as usize)));
    }
}

extern "C" fn connected(_: Option<Object>, connection: Option<Object>, well: u8) {
    if let Some(connection) = connection.filter(|_| well != 0) {
        hear(Heard::Connected(connection));
    }
}

extern "C" fn disconnected(_: Option<Object>, connection: Option<Object>, well: u8) {
    if let Some(connection) = connection.filter(|_| well != 0) {
        hear(Heard::Disconnected(connection));
    }
}

/// See the module.
pub(super) struct End {
    common: &'static Common,
    comch: &'static Comch,
    kind: &'static Kind,
    own: Object,
    context: Option<Object>,
    progress: Option<Object>,
    representor: Option<(&'static Representors, Object)>,
    /// Connections by the numbers that they are given.
    connections: HashMap<u64, Object>,
    next: u64,
    /// Tasks in flight, by their numbers.
    flights: HashMap<u64, Object>,
    /// Those that the card would not take yet, in order.
    again: VecDeque<u64>,
    heard: VecDeque<Heard>,
    runs: bool,
    rests: bool,
}

impl End {
    /// One that was made, started: a server runs then, a client looks for its server.
    pub(super) fn start(
        common: &'static Common,
        comch: &'static Comch,
        kind: &'static Kind,
        own: Object,
        representor: Option<(&'static Representors, Object)>,
        wanted: Wanted<'_>,
    ) -> Result<End> {
        let mut end = End {
            common,
            comch,
            kind,
            own,
            context: None,
            progress: None,
            representor,
            connections: HashMap::new(),
            next: 1,
            flights: HashMap::new(),
            again: VecDeque::new(),
            heard: VecDeque::new(),
            runs: false,
            rests: false,
        };
        // What was made of it goes with it.
        end.prepare(wanted).map(|()| end)
    }

    fn prepare(&mut self, wanted: Wanted<'_>) -> Result<()> {
        let (common, comch, kind, own) = (self.common, self.comch, self.kind, self.own);
        check((kind.set_msg)(comch, own, wanted.msg), "set_max_msg_size")?;
        check((kind.set_queue)(comch, own, wanted.queue), "set_recv_queue_size")?;
        check((kind.set_conf)(comch, own, sent, sent, wanted.tasks), "task_send_set_conf")?;
        check((kind.register)(comch, own, received), "event_msg_recv_register")?;
        if kind.serves {
            let (on, off): (Changed, Changed) = (connected, disconnected);
            let status = comch.doca_comch_server_event_connection_status_changed_register(own, on, off);
            check(status, "doca_comch_server_event_connection_status_changed_register")?;
        }
        let context = made(0, (kind.as_context)(comch, own), "as_ctx")?;
        let mut progress = None;
        let status = common.doca_pe_create(&mut progress);
        let progress = *self.progress.insert(made(status, progress, "doca_pe_create")?);
        check(common.doca_pe_connect_ctx(progress, context), "doca_pe_connect_ctx")?;
        self.context = Some(context);
        let status = common.doca_ctx_start(context);
        if status != Code::InProgress.number() {
            check(status, "doca_ctx_start")?;
        }
        if kind.serves && !becomes(common, context, Some(progress), RUNNING) {
            return Err(Error::new(Code::TimeOut, "the server does not start"));
        }
        self.runs = kind.serves;
        self.listen();
        Ok(())
    }

    /// What callbacks were told on this thread.
    fn listen(&mut self) {
        self.heard.extend(HEARD.with_borrow_mut(core::mem::take));
    }

    fn state(&self) -> i32 {
        let mut state = IDLE;
        match self.context {
            Some(context) if self.common.doca_ctx_get_state(context, &mut state) == 0 => state,
            _ => IDLE,
        }
    }

    /// The number of a connection. A client has one, and it is 0.
    fn number(&self, connection: Object) -> Option<u64> {
        if !self.kind.serves {
            return Some(0);
        }
        self.connections.iter().find(|(_, known)| **known == connection).map(|(number, _)| *number)
    }

    /// The card may take by now what it would not take before.
    fn send_again(&mut self, said: &mut Vec<Said>) {
        while let Some(&number) = self.again.front() {
            let Some(&task) = self.flights.get(&number) else {
                self.again.pop_front();
                continue;
            };
            let status = self.common.doca_task_submit(task);
            self.listen();
            if status == Code::Again.number() {
                return;
            }
            self.again.pop_front();
            if let Err(error) = check(status, "doca_task_submit") {
                self.flights.remove(&number);
                self.common.doca_task_free(task);
                said.push(Said::Sent(number, Err(error)));
            }
        }
    }

    fn tell(&mut self, heard: Heard) -> Option<Said> {
        match heard {
            Heard::Connected(connection) => {
                let number = self.next;
                self.next += 1;
                self.connections.insert(number, connection);
                Some(Said::Connected(number))
            }
            Heard::Disconnected(connection) => {
                let number = self.number(connection)?;
                self.connections.remove(&number);
                Some(Said::Disconnected(number))
            }
            Heard::Message(connection, bytes) => Some(Said::Message(self.number(connection)?, bytes)),
            Heard::Sent(number) => {
                let task = self.flights.remove(&number)?;
                let status = self.common.doca_task_get_status(task);
                self.common.doca_task_free(task);
                Some(Said::Sent(number, check(status, "a message of the card")))
            }
        }
    }
}

impl RealEnd for End {
    fn look(&mut self, said: &mut Vec<Said>) {
        if let Some(progress) = self.progress {
            for _ in 0..AT_ONCE {
                if self.common.doca_pe_progress(progress) == 0 {
                    break;
                }
            }
            self.listen();
        }
        let state = self.state();
        if !self.runs && state == RUNNING {
            let mut connection = None;
            let status = self.comch.doca_comch_client_get_connection(self.own, &mut connection);
            if let Ok(connection) = made(status, connection, "doca_comch_client_get_connection") {
                self.runs = true;
                self.connections.insert(0, connection);
                said.push(Said::Running);
            }
        }
        while let Some(heard) = self.heard.pop_front() {
            said.extend(self.tell(heard));
        }
        self.send_again(said);
        if state == IDLE && !core::mem::replace(&mut self.rests, true) {
            said.push(Said::Idle);
        }
    }

    fn send(&mut self, over: u64, bytes: &[u8], number: u64) -> Result<()> {
        let gone = Error::new(Code::ConnectionReset, "the connection is over");
        let connection = *self.connections.get(&over).ok_or(gone)?;
        let (comch, mut task) = (self.comch, None);
        let len = bytes.len() as u32;
        let status = (self.kind.allocate)(comch, self.own, connection, bytes.as_ptr(), len, &mut task);
        let own = made(status, task, "task_send_alloc_init")?;
        let task = made(0, comch.doca_comch_task_send_as_task(own), "doca_comch_task_send_as_task")?;
        self.common.doca_task_set_user_data(task, number);
        let later = Code::Again.number();
        // Messages keep their order.
        let status = if self.again.is_empty() { self.common.doca_task_submit(task) } else { later };
        self.listen();
        if status == later {
            self.again.push_back(number);
        } else {
            check(status, "doca_task_submit").inspect_err(|_| self.common.doca_task_free(task))?;
        }
        self.flights.insert(number, task);
        Ok(())
    }

    fn disconnect(&mut self, over: u64) -> Result<()> {
        let Some(&connection) = self.connections.get(&over) else { return Ok(()) };
        let status = self.comch.doca_comch_server_disconnect(self.own, connection);
        self.listen();
        if status == Code::Again.number() {
            return Err(Error::new(Code::Again, "not now"));
        }
        self.connections.remove(&over);
        check(status, "doca_comch_server_disconnect")
    }

    fn stop(&mut self) {
        let Some(context) = self.context else { return };
        let status = self.common.doca_ctx_stop(context);
        self.listen();
        if status != Code::InProgress.number() && status != Code::BadState.number() {
            let _ = check(status, "doca_ctx_stop");
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let until = Instant::now() + PATIENCE;
        let mut unheard = Vec::new();
        if self.state() != IDLE {
            self.stop();
        }
        while self.state() != IDLE {
            if Instant::now() > until {
                log::error!(target: "softdpu::bridge", "comch: the context of the card does not come to rest; it is left alone");
                return;
            }
            self.look(&mut unheard);
        }
        // What cannot be given back is lost; the log line says what.
        let _ = check((self.kind.destroy)(self.comch, self.own), "destroy");
        if let Some(progress) = self.progress {
            let _ = check(self.common.doca_pe_destroy(progress), "doca_pe_destroy");
        }
        if let Some((representors, representor)) = self.representor {
            let _ = check(representors.doca_dev_rep_close(representor), "doca_dev_rep_close");
        }
    }
}
