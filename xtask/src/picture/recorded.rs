//! Pictures of behaviour, drawn from what programs printed: `softdpu demo --json`, `softdpu devices --json` and the
//! manual's own `turns.c`.

use super::canvas::{Canvas, Tint};
use crate::root;
use serde::Deserialize;

#[derive(Deserialize)]
struct Demo {
    bytes: u64,
    stages: Vec<Stage>,
}

#[derive(Deserialize)]
struct Stage {
    name: String,
    seconds: f64,
}

fn demo() -> Result<Demo, String> {
    serde_json::from_str(&root::read("book/data/demo.json")?).map_err(|e| format!("book/data/demo.json: {e}"))
}

/// Words for a time.
fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1e-3 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// Rows with a bar each, as long as the square root of the time: the shortest stay visible beside the longest.
fn bars(c: &mut Canvas, rows: &[(&str, &str, f64, Tint)], top: f64) {
    let longest = rows.iter().map(|r| r.2).fold(f64::MIN_POSITIVE, f64::max);
    for (n, (name, what, seconds, tint)) in rows.iter().enumerate() {
        let y = top + n as f64 * 34.0;
        let width = ((seconds / longest).sqrt() * 260.0).round().max(3.0);
        c.words(20.0, y + 17.0, "start", "head", name);
        c.words(130.0, y + 17.0, "start", "line", what);
        c.bar([440.0, y, width, 24.0], *tint);
        c.words(450.0 + width, y + 17.0, "start", "note", &time(*seconds));
    }
}

/// The phases of a program, and what they took.
pub(super) fn phases() -> Result<String, String> {
    const WHAT: [(&str, &str, &str, Tint); 7] = [
        ("create", "1 create", "a session: what the process knows of the cards", Tint::Program),
        ("open", "2 open", "a device that can do what is wanted", Tint::Card),
        ("register", "3 register", "memory, with the rights devices get", Tint::Memory),
        ("construct", "4 construct", "buffers: windows on that memory", Tint::Memory),
        ("submit", "5 submit", "tasks to a running context, and progress", Tint::Work),
        ("reclaim", "6 reclaim", "stop the context, buffers and memory go back", Tint::Memory),
        ("release", "7 release", "device and session", Tint::Card),
    ];
    let demo = demo()?;
    let mut rows = Vec::new();
    for (stage, name, what, tint) in WHAT {
        let found = demo.stages.iter().find(|s| s.name == stage);
        rows.push((name, what, found.ok_or(format!("book/data/demo.json: no stage {stage}"))?.seconds, tint));
    }
    let mut c =
        Canvas::new(820.0, 300.0, "The seven phases of a program, with the time each took in a recorded run");
    bars(&mut c, &rows, 20.0);
    let mib = demo.bytes >> 20;
    c.words(20.0, 282.0, "start", "note", &format!("softdpu demo, {mib} MiB copied; recorded once, your machine differs. Lengths grow with the square root."));
    Ok(c.finish())
}

/// Host and card, two processes.
pub(super) fn sides() -> Result<String, String> {
    let demo = demo()?;
    let took = |name: &str| -> Result<String, String> {
        let stage = demo.stages.iter().find(|s| s.name == name);
        Ok(time(stage.ok_or(format!("book/data/demo.json: no stage {name}"))?.seconds))
    };
    let mut c = Canvas::new(
        820.0,
        330.0,
        "A host process exports memory; a card process imports it, fetches, hashes and stores back",
    );
    c.block([20.0, 20.0, 330.0, 270.0], Tint::Group, "host process, function b1:00.0", &[]);
    c.block([470.0, 20.0, 330.0, 270.0], Tint::Group, "card process, function 03:00.0", &[]);
    c.block([50.0, 55.0, 150.0, 60.0], Tint::Memory, "memory", &["PCI read and write"]);
    c.block([50.0, 150.0, 150.0, 50.0], Tint::Program, "export", &[&took("host_export")?]);
    c.block([50.0, 230.0, 150.0, 46.0], Tint::Turn, "sync event", &["the host only waits"]);
    c.block([620.0, 55.0, 150.0, 60.0], Tint::Work, "DMA context", &["fetches, stores"]);
    c.block([620.0, 150.0, 150.0, 50.0], Tint::Memory, "import", &[&took("card_import")?]);
    c.block([620.0, 230.0, 150.0, 46.0], Tint::Work, "SHA context", &[&took("card_sha")?]);
    c.arrow(&[(125.0, 150.0), (125.0, 117.0)], "");
    c.arrow(&[(200.0, 175.0), (618.0, 175.0)], "descriptor: plain bytes, by file, socket or channel");
    c.arrow(&[(200.0, 75.0), (618.0, 75.0)], &format!("fetch: {}", took("card_fetch")?));
    c.arrow(&[(620.0, 100.0), (202.0, 100.0)], &format!("store: {}", took("card_store")?));
    c.arrow(&[(695.0, 150.0), (695.0, 117.0)], "");
    c.arrow(&[(620.0, 253.0), (202.0, 253.0)], "set: done");
    let mib = demo.bytes >> 20;
    c.words(20.0, 314.0, "start", "note", &format!("Times of softdpu demo with {mib} MiB, recorded once. Nobody of the host's program helps with fetch and store."));
    Ok(c.finish())
}

/// What happened at a call of the program.
#[derive(Debug, PartialEq, Eq)]
enum Turn {
    Submit { task: usize, bytes: u64 },
    Callback { task: usize },
    Empty { calls: u64 },
}

fn parse(line: &str) -> Option<Turn> {
    let mut words = line.split_whitespace();
    let kind = words.next()?;
    let number: u64 = words.next()?.parse().ok()?;
    let task = usize::try_from(number).ok()?;
    Some(match kind {
        "submit" => Turn::Submit { task, bytes: words.next()?.parse().ok()? },
        "callback" => Turn::Callback { task },
        "nothing" => Turn::Empty { calls: number },
        _ => return None,
    })
}

/// Tasks of several sizes, from submit to callback, call by call.
pub(super) fn turns() -> Result<String, String> {
    let text = root::read("book/data/turns.txt")?;
    let turns: Option<Vec<Turn>> = text.lines().map(parse).collect();
    let turns = turns.ok_or("book/data/turns.txt: a line that cannot be read")?;
    let tasks = turns.iter().filter(|t| matches!(t, Turn::Submit { .. })).count();
    let step = (620.0 / turns.len() as f64).min(60.0);
    let x = |turn: usize| (150.0 + turn as f64 * step).round();
    let row = |task: usize| 60.0 + task as f64 * 34.0;
    let mut c = Canvas::new(
        820.0,
        row(tasks) + 60.0,
        "Tasks from submit to callback, one call of the program after the other",
    );
    c.words(20.0, 30.0, "start", "head", "task");
    for (n, turn) in turns.iter().enumerate() {
        let middle = x(n) + step / 2.0;
        match turn {
            Turn::Submit { task, bytes } => {
                let end = turns.iter().position(|t| *t == Turn::Callback { task: *task });
                let end = end.ok_or(format!("book/data/turns.txt: task {task} never came back"))?;
                c.words(20.0, row(*task) + 16.0, "start", "line", &format!("{task}: {bytes} bytes"));
                c.bar([middle, row(*task), x(end) - x(n), 22.0], Tint::Work);
                c.words(x(end) + step / 2.0 + 5.0, row(*task) + 16.0, "start", "note", "callback");
            }
            Turn::Empty { calls } => c.words(middle, 46.0, "middle", "note", &format!("{calls} silent")),
            Turn::Callback { .. } => {}
        }
    }
    // Which call the columns are, said once per run of them.
    let submits = |turn: &Turn| matches!(turn, Turn::Submit { .. });
    let mut begin = 0;
    for run in turns.chunk_by(|a, b| submits(a) == submits(b)) {
        let words = if submits(&run[0]) { "submit" } else { "progress" };
        let (from, to) = (x(begin) + 4.0, x(begin + run.len()) - 4.0);
        c.words(from, 30.0, "start", "head", words);
        c.arrow(&[(from + 68.0, 26.0), (to, 26.0)], "");
        begin += run.len();
    }
    c.words(20.0, row(tasks) + 30.0, "start", "note", "Each column is a call: what turns.c printed, recorded once. Silent calls carry out parts of the large task, or find that workers have them;");
    c.words(
        20.0,
        row(tasks) + 47.0,
        "start",
        "note",
        "results come in the order of submission, and one call runs one callback at most.",
    );
    Ok(c.finish())
}

#[derive(Deserialize)]
struct Devices {
    devices: Vec<Device>,
}

#[derive(Deserialize)]
struct Device {
    pci: String,
    side: String,
    ibdev: String,
    iface: String,
    ipv4: Option<String>,
    representors: Vec<Representor>,
}

#[derive(Deserialize)]
struct Representor {
    pci: String,
    name: String,
}

/// The functions of the default card.
pub(super) fn card() -> Result<String, String> {
    let text = root::read("book/data/devices.json")?;
    let found: Devices = serde_json::from_str(&text).map_err(|e| format!("book/data/devices.json: {e}"))?;
    let mut c = Canvas::new(
        820.0,
        320.0,
        "The default card: two functions on the card's side with a port each, two on the host's side",
    );
    c.block([20.0, 20.0, 780.0, 130.0], Tint::Group, "the card's side: SOFTDPU_SIDE=dpu", &[]);
    c.block([20.0, 200.0, 780.0, 100.0], Tint::Group, "the host's side: SOFTDPU_SIDE=host", &[]);
    let place = |n: usize| 90.0 + n as f64 * 380.0;
    let ports: Vec<&Device> = found.devices.iter().filter(|d| d.side == "dpu").collect();
    let hosts: Vec<&Device> = found.devices.iter().filter(|d| d.side == "host").collect();
    let words = |d: &Device| format!("{}, {}, {}", d.ibdev, d.iface, d.ipv4.as_deref().unwrap_or("no IPv4"));
    for (n, device) in ports.iter().enumerate() {
        c.block([place(n), 50.0, 260.0, 50.0], Tint::Card, &device.pci, &[&words(device)]);
        for representor in &device.representors {
            let shown = hosts.iter().position(|h| h.pci == representor.pci);
            let shown = shown.ok_or(format!("{} represents nobody", representor.name))?;
            c.block(
                [place(n), 112.0, 260.0, 26.0],
                Tint::Turn,
                "",
                &[&format!("representor {}", representor.name)],
            );
            c.arrow(&[(place(n) + 240.0, 138.0), (place(shown) + 240.0, 228.0)], "stands for");
        }
    }
    for (n, device) in hosts.iter().enumerate() {
        c.block([place(n), 230.0, 260.0, 54.0], Tint::Card, &device.pci, &[&words(device)]);
    }
    c.arrow(&[(350.0, 75.0), (468.0, 75.0)], "wire");
    Ok(c.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_recorded_program() {
        assert_eq!(parse("submit 3 64"), Some(Turn::Submit { task: 3, bytes: 64 }));
        assert_eq!(
            (parse("callback 2"), parse("nothing 5")),
            (Some(Turn::Callback { task: 2 }), Some(Turn::Empty { calls: 5 }))
        );
        assert_eq!((parse("submit x"), parse("other 1")), (None, None));
        assert_eq!((time(0.0012), time(15e-6)), ("1.2 ms".into(), "15 us".into()));
    }
}
