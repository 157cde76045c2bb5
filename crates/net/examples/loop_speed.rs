//! Frames per second through a wire of the card, within a thread: the ports alone, without queues of an engine.
//!
//! `cargo run --release -p softdpu-net --example loop_speed`

use softdpu_card::Machine;
use softdpu_net::steer::{Action, Match, Rules};
use softdpu_net::{InletSetup, Taken, Wake, port};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Instant;

struct Nobody;

impl Wake for Nobody {
    fn wake(&self) {}
}

/// Nanoseconds per frame, the best of several rounds.
fn measure(rules: Rules, frames: &[Vec<u8>]) -> f64 {
    let functions = Machine::builder().build().expect("the default machine").functions().to_vec();
    let (p0, p1) = (port(&functions[0]), port(&functions[1]));
    let mut inlet = p1.inlet(InletSetup::new(Arc::new(Nobody))).expect("a receive queue");
    inlet.queue().set_number(0).expect("a free number");
    p1.steer(Some(Arc::new(rules.compile().expect("sound rules"))));
    let mut outlet = p0.outlet().expect("a send queue");
    let mut place = vec![0; 2048];
    let rounds = 2_000_000 / frames.len();
    (0..7).fold(f64::MAX, |best, _| {
        let start = Instant::now();
        let mut got = 0;
        for _ in 0..rounds {
            for chunk in frames.chunks(64) {
                let mut batch = outlet.batch();
                for frame in chunk {
                    batch.send(&[frame]);
                }
                drop(batch);
                got += inlet.receive(64, |frame| {
                    frame.copy_to(0, &mut place);
                    Taken::Yes
                });
            }
        }
        assert_eq!(got, rounds * frames.len());
        best.min(start.elapsed().as_nanos() as f64 / got as f64)
    })
}

fn datagram(flow: u16, len: usize) -> Vec<u8> {
    let mut frame = vec![0; len];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&(len as u16 - 14).to_be_bytes());
    frame[23] = 17;
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..36].copy_from_slice(&flow.to_be_bytes());
    frame
}

fn main() {
    let flow = |number: u16| {
        let (src, dst) = (IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)), IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));
        Match::any().src(src, 32).dst(dst, 32).protocol(17).src_port(number).dst_port(0)
    };
    for len in [64, 1514] {
        let frames: Vec<_> = (0..1024).map(|number| datagram(number, len)).collect();
        let plain = measure(Rules::all_to(0), &frames);
        let mut rules = Rules::new();
        for number in 0..1000 {
            rules = rules.rule(flow(number), Action::queue(0));
        }
        let many = measure(rules.rule(Match::any(), Action::queue(0)), &frames);
        println!("{len:5} bytes: {plain:6.1} ns per frame, {:6.1} million/s", 1e3 / plain);
        println!("{len:5} bytes: {many:6.1} ns with 1,000 rules on 5-tuples, {:+.1} ns", many - plain);
    }
}
