//! How long each hash kernel takes for its lanes, in units of one message alone: where [`Algorithm::choose`] has its
//! thresholds from. `cargo run --release -p softdpu-kernels --example sha_kernels`

use softdpu_kernels::sha::{Algorithm, Kernel, LANES, Lanes, Sha1, Sha256, Sha512};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds per call, the best of some rounds.
fn time(mut f: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..20 {
        let start = Instant::now();
        (0..200).for_each(|_| f());
        best = best.min(start.elapsed().as_secs_f64() * 1e9 / 200.0);
    }
    best
}

fn table<A: Algorithm>(name: &str) {
    const BLOCKS: usize = 16;
    let bytes = vec![7u8; BLOCKS * A::BLOCK];
    let mut state = A::START;
    let one = time(|| A::blocks(black_box(&mut state), black_box(&bytes)));
    println!("{name}: one message {:.3} GB/s", bytes.len() as f64 / one);
    for kernel in Kernel::ALL {
        let width = A::width(kernel);
        let mut lanes = Lanes::<A>::start();
        let data = [&bytes[..]; LANES];
        if lanes.advance_with(kernel, &data[..width]) {
            let t = time(|| {
                lanes.advance_with(kernel, black_box(&data[..width]));
            });
            println!(
                "  {kernel:?}: {width} messages in the time of {:.2}, {:.3} GB/s",
                t / one,
                (width * bytes.len()) as f64 / t
            );
        }
    }
}

fn main() {
    table::<Sha1>("SHA-1");
    table::<Sha256>("SHA-256");
    table::<Sha512>("SHA-512");
}
