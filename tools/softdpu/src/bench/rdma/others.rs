//! What others make of the same transfers: UCX by its own tool, `ucx_perftest` (package ucx-utils), if it is installed.
//!
//! Two processes of the tool on this machine, through shared memory, with as many transfers outstanding as a row has. Like
//! the row they use one window at either end, again and again.

use crate::bench::tool::Tool;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Name of the tool, and of what it measures.
pub(crate) const UCX: &str = "ucx_perftest";
/// A tool that has not come to an end by then is broken.
const PATIENCE: Duration = Duration::from_secs(20);
/// The transports of UCX that are of use between processes of one machine.
const TRANSPORTS: &str = "posix,self";

/// Is the tool installed?
pub(super) fn is_installed() -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(UCX).is_file()))
}

/// How many transfers come before those that count.
pub(super) fn warm_up(count: u64) -> u64 {
    count / 10 + 1
}

/// Nanoseconds per transfer of `bytes` bytes, `depth` outstanding, `count` of them. `op` as the row calls it.
pub(super) fn measure(op: &str, bytes: usize, depth: u32, count: u64) -> Result<f64, String> {
    let test = match op {
        "read" => "ucp_get",
        "send" => "ucp_am_bw",
        "latency" => "ucp_put_lat",
        _ => "ucp_put_bw",
    };
    let port = free_port()?;
    let _server = Tool(tool(port).stdout(Stdio::null()).spawn().map_err(|e| format!("{UCX}: {e}"))?);
    let (size, depth, warm) = (bytes.to_string(), depth.to_string(), warm_up(count).to_string());
    let count = count.max(1).to_string();
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The server takes a moment until it listens.
        std::thread::sleep(Duration::from_millis(20));
        let mut client = tool(port);
        client.args(["-f", "-t", test, "-s", &size, "-n", &count, "-w", &warm, "-O", &depth]);
        let client = client.arg("127.0.0.1").stdout(Stdio::piped()).spawn();
        match last_line(client.map_err(|e| format!("{UCX}: {e}"))?, deadline)
            .as_deref()
            .and_then(per_transfer)
        {
            Some(ns) => return Ok(ns),
            None if Instant::now() > deadline => return Err(format!("{UCX} {test} gives no figures")),
            None => {}
        }
    }
}

fn tool(port: u16) -> Command {
    let mut command = Command::new(UCX);
    command.args(["-p", &port.to_string()]).stdin(Stdio::null()).stderr(Stdio::null());
    command.env("UCX_TLS", TRANSPORTS);
    command
}

/// A port that nobody has at the moment.
fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let port = listener.and_then(|listener| listener.local_addr()).map(|address| address.port());
    port.map_err(|e| format!("no port for {UCX}: {e}"))
}

/// The last line of what it prints; `None` when it takes too long.
fn last_line(mut client: Child, deadline: Instant) -> Option<String> {
    let output = client.stdout.take()?;
    let reader = std::thread::spawn(move || BufReader::new(output).lines().map_while(Result::ok).last());
    while client.try_wait().ok()?.is_none() {
        if Instant::now() > deadline {
            let _ = client.kill();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().ok()?
}

/// From the line of final figures, whose last one is the number of transfers per second.
fn per_transfer(line: &str) -> Option<f64> {
    let figures: Vec<f64> = line.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
    let rate = *figures.last()?;
    (figures.len() == 8 && rate > 0.0).then_some(1e9 / rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn final_figures_are_read_and_other_lines_are_not() {
        let line =
            "     1000000      0.090     0.103     0.103    38021.07   38021.07     9733393     9733393";
        assert!((per_transfer(line).unwrap() - 102.74).abs() < 0.01);
        for line in ["", "[1234] UCX  ERROR refused", "1 2 3", "1 0 0 0 0 0 0 0"] {
            assert_eq!(per_transfer(line), None);
        }
    }
}
