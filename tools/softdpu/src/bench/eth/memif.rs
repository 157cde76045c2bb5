//! What DPDK makes of frames between two processes: its `memif` devices under its own tool, `dpdk-testpmd` (package
//! dpdk), if it is installed. One process sends all the time, the other one drops what it gets; each has a processor.

use crate::bench::tool::Tool;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Name of the row's neighbour.
pub(super) const NAME: &str = "memif";
const TOOL: &str = "dpdk-testpmd";
/// A tool that has said nothing by then is broken.
const PATIENCE: Duration = Duration::from_secs(10);
/// Rates, one per second, that are waited for.
const RATES: usize = 3;

/// Is the tool installed, and are there two processors for it?
pub(super) fn is_installed() -> bool {
    let has_two = std::thread::available_parallelism().is_ok_and(|processors| processors.get() >= 2);
    let finds = |path| std::env::split_paths(&path).any(|folder: PathBuf| folder.join(TOOL).is_file());
    has_two && std::env::var_os("PATH").is_some_and(finds)
}

/// Nanoseconds per frame. `None`, with a line that says so: the tool does not work here.
pub(super) fn measure(bytes: usize) -> Option<f64> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("softdpu-bench-{}-{number}", std::process::id()));
    let rate = std::fs::create_dir(&folder).ok().and_then(|()| rate(&folder, bytes));
    let _ = std::fs::remove_dir_all(&folder);
    if rate.is_none() {
        eprintln!("softdpu: {NAME} is left out: {TOOL} gives no figures");
    }
    rate.map(|rate| 1e9 / rate)
}

/// Frames per second, the middle of some seconds.
fn rate(folder: &Path, bytes: usize) -> Option<f64> {
    let deadline = Instant::now() + PATIENCE;
    let socket = folder.join("socket");
    let device = |role: &str| {
        format!("--vdev=net_memif0,role={role},socket={},socket-abstract=no,id=0", socket.display())
    };
    let mut server = tool(1, &device("server"), "rxonly", folder);
    let mut server = Tool(server.stdout(Stdio::piped()).spawn().ok()?);
    let rates = read(&mut server.0)?;
    while !socket.exists() {
        std::thread::sleep(Duration::from_millis(20));
        if Instant::now() > deadline || server.0.try_wait().ok()?.is_some() {
            return None;
        }
    }
    let mut client = tool(0, &device("client"), "txonly", folder);
    let client = client.arg(format!("--txpkts={bytes}")).stdout(Stdio::null()).spawn().ok()?;
    let _client = Tool(client);
    let mut seen = Vec::new();
    while seen.len() <= RATES {
        let left = deadline.checked_duration_since(Instant::now())?;
        seen.extend(Some(rates.recv_timeout(left).ok()?).filter(|rate| *rate > 0.0));
    }
    // The first one began before frames did.
    let mut seen = seen.split_off(1);
    seen.sort_by(f64::total_cmp);
    Some(seen[seen.len() / 2])
}

fn tool(processor: u32, device: &str, mode: &str, folder: &Path) -> Command {
    let mut command = Command::new(TOOL);
    command.args(["--lcores", &format!("0@{processor},1@{processor}"), "--no-huge", "--no-pci"]);
    command.args(["--no-telemetry", "-m", "256", "--no-shconf", device, "--", "--auto-start"]);
    command.args([format!("--forward-mode={mode}").as_str(), "--total-num-mbufs=8192", "--stats-period=1"]);
    command.env("XDG_RUNTIME_DIR", folder).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// The rates that a receiver prints, as they come.
fn read(server: &mut Child) -> Option<Receiver<f64>> {
    let output = server.stdout.take()?;
    let (sender, rates) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.filter_map(|line| per_second(&line)).all(|rate| sender.send(rate).is_ok())
    });
    Some(rates)
}

/// From a line like `Rx-pps:  15400000  Rx-bps:  7884800000`.
fn per_second(line: &str) -> Option<f64> {
    line.trim_start().strip_prefix("Rx-pps:")?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_and_other_lines_are_not() {
        let line = "  Rx-pps:     15438211          Rx-bps:   7904364032";
        assert_eq!(per_second(line), Some(15_438_211.0));
        for line in ["", "  Tx-pps:  12", "  Rx-pps:", "  Rx-pps: many", "testpmd> Rx-packets: 1"] {
            assert_eq!(per_second(line), None, "{line}");
        }
    }
}
