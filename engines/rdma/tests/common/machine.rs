//! Other machines: processes with runtime folders of their own that do what they are told, line by line; on a network of
//! this machine, or behind a cable of their own.

use super::{Folder, Side};
use softdpu_memory::{Export, RemoteMemory};
use softdpu_rdma::Connection;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Is the library there that the path needs?
pub(crate) fn has_fabric() -> bool {
    super::fabric().inspect_err(|why| eprintln!("skipped: {why}")).is_ok()
}

/// How a peer begins: it says how it and its memory are reached, and joins whoever answers ([`Peer::connect`]).
pub(crate) fn offer(b: &Side, lines: &mut impl Iterator<Item = String>) -> (Connection, Export) {
    let export = b.memory.export_rdma(b.device.shared()).unwrap();
    let connection = b.endpoint.export().unwrap();
    println!("blob {}", hex(connection.description()));
    println!("memory {}", hex(export.bytes()));
    connection.join(&unhex(&lines.next().unwrap())).unwrap();
    (connection, export)
}

/// Which part of a peer a process plays.
pub(crate) const ROLE: &str = "NETWORK_TEST_ROLE";

/// Another machine.
pub(crate) struct Peer {
    pub(crate) child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _folder: Option<Folder>,
}

impl Peer {
    /// Runs the test `peer` of this program.
    pub(crate) fn new(role: &str) -> Peer {
        Peer::start(Command::new(std::env::current_exe().unwrap()), role)
    }

    /// The same, where `command` runs this program somewhere else.
    pub(crate) fn start(mut command: Command, role: &str) -> Peer {
        let folder = Folder::new();
        command.env("SOFTDPU_RUNTIME_DIR", &folder.0);
        Peer::run(command, role, Some(folder))
    }

    /// The same on this machine: with the runtime folder of this process.
    pub(crate) fn here(role: &str) -> Peer {
        Peer::run(Command::new(std::env::current_exe().unwrap()), role, None)
    }

    fn run(mut command: Command, role: &str, folder: Option<Folder>) -> Peer {
        let mut child = command
            .args(["peer", "--exact", "--nocapture", "--include-ignored"])
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Peer { child, to, from, _folder: folder }
    }

    pub(crate) fn hear(&mut self, start: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the peer ended early");
            // The test harness of the peer writes to the same place.
            if let Some(at) = line.find(start) {
                return line[at + start.len()..].trim().to_owned();
            }
        }
    }

    pub(crate) fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    /// Connects with what the peer offers.
    pub(crate) fn connect(&mut self, a: &Side) -> (Connection, RemoteMemory) {
        let connection = a.endpoint.export().unwrap();
        let blob = unhex(&self.hear("blob "));
        let remote = a.import(&unhex(&self.hear("memory ")));
        connection.join(&blob).unwrap();
        self.say(&hex(connection.description()));
        (connection, remote)
    }

    /// It ends by itself, as soon as it learns that its connections did.
    pub(crate) fn until_it_ends(&mut self, a: &mut Side) {
        let status = loop {
            a.pe.progress();
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None => std::thread::yield_now(),
            }
        };
        assert!(status.success(), "{status}");
    }

    pub(crate) fn end(mut self) {
        self.say("end");
        assert!(self.child.wait().unwrap().success());
    }

    /// Sends it a signal by name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        // Threads stop one by one.
        let tasks = format!("/proc/{}/task", self.child.id());
        let all_stopped = || {
            std::fs::read_dir(&tasks).unwrap().flatten().all(|task| {
                let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
                stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'))
            })
        };
        if name == "-STOP" {
            super::until(all_stopped);
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two namespaces, joined by a cable; they go with this value.
pub(crate) struct Machines([String; 2]);

/// Their addresses.
pub(crate) const ADDRESSES: [&str; 2] = ["10.77.0.1", "10.77.0.2"];

impl Machines {
    pub(crate) fn new() -> Result<Machines, String> {
        let id = std::process::id();
        let names = [format!("sdpu-{id}-a"), format!("sdpu-{id}-b")];
        let machines = Machines(names.clone());
        let [a, b] = names;
        let (end, other) = (format!("sd{id}a"), format!("sd{id}b"));
        let [here, there] = ADDRESSES;
        let script = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("link add {end} netns {a} type veth peer name {other} netns {b}"),
            format!("-n {a} addr add {here}/24 dev {end}"),
            format!("-n {b} addr add {there}/24 dev {other}"),
            format!("-n {a} link set {end} up"),
            format!("-n {b} link set {other} up"),
            format!("-n {a} link set lo up"),
            format!("-n {b} link set lo up"),
        ];
        for line in script {
            let ran = Command::new("ip").args(line.split(' ')).stderr(Stdio::piped()).output();
            let ran = ran.map_err(|error| format!("ip: {error}"))?;
            if !ran.status.success() {
                return Err(format!("ip {line}: {}", String::from_utf8_lossy(&ran.stderr).trim()));
            }
        }
        Ok(machines)
    }

    /// What this program is run by on one of the machines.
    pub(crate) fn command(&self, which: usize) -> Command {
        on_machine(&self.0[which])
    }

    /// Its name there.
    pub(crate) fn name(&self, which: usize) -> &str {
        &self.0[which]
    }
}

/// What this program is run by on the machine of this name.
pub(crate) fn on_machine(name: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", name]).arg(std::env::current_exe().unwrap());
    command
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in &self.0 {
            let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
        }
    }
}
