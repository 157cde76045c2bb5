//! Two processes, one of which is killed: at any moment, in whatever state. The other one's tasks all come back, and its
//! context goes on.

mod common;

use common::{happening, in_own_folder, options, side};
use softdpu_rdma::{Happening, Receive, Send, Write};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// The side that is killed: connects, then writes, sends and receives as fast as it can.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn victim() {
    common::watchdog();
    let mut a = side(2, options());
    let connection = a.endpoint.export().unwrap();
    println!("blob {}", hex(connection.description()));
    let mut lines = std::io::stdin().lock().lines();
    connection.join(&unhex(&lines.next().unwrap().unwrap())).unwrap();
    let remote = a.import(&unhex(&lines.next().unwrap().unwrap()));
    println!("ready");
    let to = connection.target();
    loop {
        let mut flying = Vec::new();
        for _ in 0..16 {
            let write = Write {
                to,
                src: a.filled(0, &[7; 4096]),
                dst: remote.buf(0..4096).unwrap(),
                immediate: None,
            };
            drop(a.rdma.submit(write));
            let receive = Receive { dst: Some(a.room(65536, 32768)), message: None };
            drop(a.rdma.submit(receive));
            match a.rdma.submit(Send { to, src: Some(a.filled(8192, &[9; 30000])), immediate: None }) {
                Ok(task) => flying.push(task),
                Err(_) => break,
            }
        }
        a.pe.progress();
        drop(flying);
    }
}

fn spawn() -> (Child, BufReader<std::process::ChildStdout>, Vec<u8>) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["victim", "--exact", "--nocapture", "--include-ignored"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let blob = line(&mut out, "blob ");
    (child, out, unhex(&blob))
}

fn line(from: &mut impl std::io::BufRead, start: &str) -> String {
    loop {
        let mut line = String::new();
        assert_ne!(from.read_line(&mut line).unwrap(), 0, "the victim ended early");
        // The test harness of the victim writes to the same place.
        if let Some(at) = line.find(start) {
            return line[at + start.len()..].trim().to_owned();
        }
    }
}

#[test]
fn killed_peers_give_every_task_back() {
    if in_own_folder("killed_peers_give_every_task_back") {
        return;
    }
    let mut b = side(0, options());
    let export = b.memory.export_rdma(b.device.shared()).unwrap();
    for round in 0..12u64 {
        let connection = b.endpoint.export().unwrap();
        let (mut child, mut out, blob) = spawn();
        let mut stdin = child.stdin.take().unwrap();
        if round != 0 {
            connection.join(&blob).unwrap();
        }
        writeln!(stdin, "{}\n{}", hex(connection.description()), hex(export.bytes())).unwrap();
        line(&mut out, "ready");
        let to = connection.target();
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        for at in 0..8 {
            let dst = Some(b.room(65536 * (at + 1), 32768));
            receives.push(b.rdma.submit(Receive { dst, message: None }).unwrap());
            if round != 0 {
                let src = Some(b.filled(0, &[3; 32000]));
                sends.push(b.rdma.submit(Send { to, src, immediate: None }).unwrap());
            }
        }
        let start = common::now();
        while start.elapsed() < Duration::from_micros(round * round * 300) {
            b.pe.progress();
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Whatever waits for the peer comes back, one way or the other; receives stay for the next peer.
        for task in sends {
            let _ = b.pe.run(task).result;
        }
        if round != 0 {
            loop {
                b.pe.progress();
                match b.endpoint.happened() {
                    Some(Happening::Ended(id)) if id == connection.id() => break,
                    Some(other) => panic!("{other:?}"),
                    None => std::thread::yield_now(),
                }
            }
        }
        let late = b.rdma.submit(Send { to, src: None, immediate: None }).unwrap();
        assert!(round == 0 || b.pe.run(late).result.is_err());
        drop(connection);
        // The receives are good for another peer.
        let mut c = side(2, options());
        let (bc, cb) = (b.endpoint.export().unwrap(), c.endpoint.export().unwrap());
        bc.join(cb.description()).unwrap();
        cb.join(bc.description()).unwrap();
        // In whatever order: those that the dead one had claimed were posted again.
        let mut left: Vec<_> = receives.into_iter().filter_map(|task| task.try_take().err()).collect();
        for _ in 0..left.len() {
            let send = Send { to: cb.target(), src: Some(c.filled(0, b"again")), immediate: None };
            let send = c.rdma.submit(send).unwrap();
            c.pe.run(send).result.unwrap();
        }
        while !left.is_empty() {
            b.pe.progress();
            left = left.into_iter().filter_map(|task| task.try_take().err()).collect();
        }
        drop(cb);
        while !matches!(happening(&mut b, &mut c), Happening::Ended(id) if id == bc.id()) {}
    }
}
