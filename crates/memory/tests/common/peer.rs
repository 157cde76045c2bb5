//! A second process: this test program again, as an owner of memory that does what it is told line by line.
#![allow(dead_code, reason = "each test program uses its part")]

use softdpu_card::{Machine, Side};
use softdpu_memory::device::Device;
use softdpu_memory::{Access, Export, HugePage, Memory, PageSize, RemoteMemory};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

const OWNER: &str = "owner_process";

/// Runs the ignored test `name` of this program in a process and a runtime folder of its own.
pub(crate) fn in_own_folder(name: &str) {
    let folder = std::env::temp_dir().join(format!("softdpu-test-{}-{name}", std::process::id()));
    let output = again(name).env("SOFTDPU_RUNTIME_DIR", &folder).output().unwrap();
    let _ = std::fs::remove_dir_all(&folder);
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    print!("{text}");
    assert!(output.status.success() && text.contains("1 passed"), "{name} in its own process failed");
}

/// This program, to run one ignored test.
pub(crate) fn again(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([name, "--exact", "--ignored", "--nocapture", "--test-threads=1"]);
    command
}

/// The card's first function.
pub(crate) fn card() -> Arc<Device> {
    function(Side::Dpu)
}

/// The host's first function.
pub(crate) fn host() -> Arc<Device> {
    function(Side::Host)
}

fn function(side: Side) -> Arc<Device> {
    let machine = Machine::from_env().unwrap();
    let function = machine.functions().iter().find(|f| f.side() == side).unwrap();
    Device::open(function.clone()).unwrap()
}

/// An owner in another process.
pub(crate) struct Owner {
    pub(crate) child: Child,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Owner {
    pub(crate) fn start() -> Owner {
        Owner::run(again(OWNER))
    }

    /// As the child of a command that runs what follows its arguments.
    pub(crate) fn start_under(mut command: Command) -> Owner {
        let owner = again(OWNER);
        command.arg(owner.get_program()).args(owner.get_args());
        Owner::run(command)
    }

    fn run(mut command: Command) -> Owner {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (orders, answers) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Owner { child, orders, answers }
    }

    /// One order, and what the owner says to it.
    pub(crate) fn tell(&mut self, order: &str) -> String {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
        self.answer()
    }

    /// Gives an order and does not wait.
    pub(crate) fn send(&mut self, order: &str) {
        writeln!(self.orders.as_mut().unwrap(), "{order}").unwrap();
    }

    pub(crate) fn answer(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(self.answers.read_line(&mut line).unwrap() > 0, "the owner ended");
            // The test harness talks, too, and does not end its line.
            if let Some((_, answer)) = line.split_once("owner: ") {
                return answer.trim().to_owned();
            }
        }
    }

    /// Exports memory of a kind (`heap`, `vec`, `memfd`, `huge`) for `pci` or `rdma`.
    pub(crate) fn export(&mut self, kind: &str, len: usize, access: Access, link: &str) -> Vec<u8> {
        unhex(&self.tell(&format!("export {kind} {len} {} {link}", access.bits())))
    }

    /// Ends it in an orderly way.
    pub(crate) fn finish(mut self) {
        drop(self.orders.take());
        assert!(self.child.wait().unwrap().success());
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

/// What byte `at` of fresh memory of an owner is.
pub(crate) fn pattern(at: usize) -> u8 {
    (at as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]
}

/// The owner process: to be called from an ignored test named `owner_process`.
pub(crate) fn owner_process() {
    super::common::watchdog();
    let (host, card) = (host(), card());
    let mut held: Option<(Memory, Option<Export>)> = None;
    let mut passed_on: Vec<Export> = Vec::new();
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["export", kind, len, access, link] => {
                let len = len.parse().unwrap();
                let memory = allocate(kind, len)
                    .access(Access::from_bits(access.parse().unwrap()).unwrap())
                    .register(&[&host])
                    .unwrap();
                let mut buf = memory.buf(..).unwrap();
                let fill: Vec<u8> = (0..len.min(1 << 20)).map(pattern).collect();
                buf.write_at(0, &fill).unwrap();
                let export =
                    if link == "rdma" { memory.export_rdma(&host) } else { memory.export(&host) }.unwrap();
                let text = hex(export.bytes());
                drop(buf);
                held = Some((memory, Some(export)));
                text
            }
            ["pass_on", descriptor] => {
                let remote = RemoteMemory::import(&card, &unhex(descriptor)).unwrap();
                let export = remote.export_rdma().unwrap();
                let text = format!("{} {}", remote.reach(), hex(export.bytes()));
                passed_on.push(export);
                text
            }
            ["end_pass_on"] => {
                passed_on.clear();
                "done".into()
            }
            ["peek", at, len] => {
                let mut bytes = vec![0; len.parse().unwrap()];
                held.as_ref().unwrap().0.alias(..).unwrap().read_at(at.parse().unwrap(), &mut bytes).unwrap();
                hex(&bytes)
            }
            ["stop"] => {
                held.as_mut().unwrap().1 = None;
                "stopped".into()
            }
            ["free"] => {
                held = None;
                "freed".into()
            }
            _ => panic!("unknown order {line}"),
        };
        println!("owner: {answer}");
    }
}

fn allocate(kind: &str, len: usize) -> softdpu_memory::MemoryBuilder {
    match kind {
        "heap" => Memory::heap(len),
        "vec" => Memory::vec(vec![0; len]),
        "memfd" => Memory::memfd(len),
        "huge" => Memory::hugepage(len, HugePage::Prefer(PageSize::Mib2)),
        // Of the kernel where it makes them; its bytes begin within a page.
        "dmabuf" => {
            let access = Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE;
            let memory = Memory::memfd(len + 100).access(access).register(&[&host()]).unwrap();
            let dmabuf = memory.export_dmabuf().unwrap();
            let from = dmabuf.offset() + 100;
            Memory::dmabuf(dmabuf.into(), from..from + len as u64)
        }
        _ => panic!("unknown kind {kind}"),
    }
}
