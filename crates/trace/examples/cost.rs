//! What a trace costs per task: the events of small tasks, as the room tells of them, in bursts that fit into a ring.
//!
//! `cargo run --release -p softdpu-trace --example cost`

use softdpu_room::sys::cycles;
use softdpu_trace::event::{Event, What};
use softdpu_trace::record::{Context, finish};
use std::time::{Duration, Instant};

/// Three events each: they fit into a ring together.
const TASKS: u64 = 16_000;
const BURSTS: usize = 20;

fn main() -> std::io::Result<()> {
    let path = std::env::temp_dir().join(format!("softdpu-trace-cost-{}.json", std::process::id()));
    let recorder = softdpu_trace::trace(&path, 1 << 30)?;
    recorder.context(Context {
        number: 1,
        engine: "dma".to_owned(),
        device: "0000:03:00.0".to_owned(),
        kinds: vec!["memcpy".to_owned()],
        id: 0,
        bytes: true,
        computes: true,
    });
    let mut all = Vec::new();
    let mut task = 0;
    for _ in 0..BURSTS {
        let begin = Instant::now();
        for _ in 0..TASKS {
            task += 1;
            for what in [What::Submitted, What::AtOnce, What::Returned] {
                let at = cycles();
                recorder.event(&Event { at, task, context: 1, what, kind: 0, status: 0, value: 64 });
            }
        }
        all.push(begin.elapsed().as_nanos() as f64 / TASKS as f64);
        // Until the writer has emptied the ring.
        std::thread::sleep(Duration::from_millis(100));
    }
    finish();
    all.sort_by(f64::total_cmp);
    println!(
        "{:.1} ns per task in the median of {BURSTS} bursts, {:.1} in the best",
        all[BURSTS / 2],
        all[0]
    );
    std::fs::remove_file(&path)
}
