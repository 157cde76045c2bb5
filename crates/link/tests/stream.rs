//! A stream of messages between two processes, both directions, with sizes that change and checksums.

mod common;
#[path = "common/rig.rs"]
mod rig;

use common::{Process, Random, alone, role};
use rig::{Side, guest, host};
use softdpu_link::{Receiver, Sender, ring_bytes};

const DATA: usize = 1 << 14;
const MESSAGES: u32 = 200_000;
const BYTES: usize = 2 * ring_bytes(DATA);

/// The message of a number is the same wherever it is made.
fn message(random: &mut Random, n: u32) -> Vec<u8> {
    let most = if n.is_multiple_of(64) { DATA / 2 - 8 } else { 200 };
    let len = random.below(most + 1);
    let first = random.next() as u8;
    (0..len).map(|i| first.wrapping_add((i as u8).wrapping_mul(7))).collect()
}

/// Sends and receives at once; sleeps when neither is possible.
fn both_ways(side: &Side, first: bool) {
    let (out, inward) = if first { (0, ring_bytes(DATA)) } else { (ring_bytes(DATA), 0) };
    let mut sender = Sender::new(side.segment.clone(), out, DATA);
    let mut receiver = Receiver::new(side.segment.clone(), inward, DATA);
    let seeds = if first { [11, 22] } else { [22, 11] };
    let [mut outgoing, mut expected] = seeds.map(Random);
    let (mut sent, mut received) = (0, 0);
    let mut next = message(&mut outgoing, 0);
    let mut into = vec![0; DATA];
    while sent < MESSAGES || received < MESSAGES {
        let mut idle = true;
        // Staged in groups, as a stream is.
        let mut group = 0;
        while sent < MESSAGES && group < 8 && sender.stage(sent, &[&next]).unwrap() {
            sent += 1;
            group += 1;
            next = message(&mut outgoing, sent);
        }
        if group > 0 {
            sender.publish();
            side.other.ring();
            idle = false;
        }
        while let Some(front) = receiver.front().unwrap() {
            let wanted = message(&mut expected, received);
            assert_eq!((front.tag, front.len), (received, wanted.len()));
            assert_eq!(receiver.take(&mut into), front.len);
            assert!(into[..front.len] == wanted[..], "message {received} was changed");
            received += 1;
            if receiver.pop() {
                side.other.ring();
            }
            idle = false;
        }
        if idle {
            side.sleep_until(|| !receiver.is_empty() || sent < MESSAGES && sender.fits(next.len()).unwrap());
        }
    }
}

#[test]
fn roles() {
    if let Some((role, _)) = role() {
        assert_eq!(role, "partner");
        both_ways(&guest("stream", BYTES), false);
    }
}

#[test]
fn a_stream_in_both_directions() {
    alone("a_stream_in_both_directions", || {
        let mut partner = None;
        let side = host("stream", BYTES, || partner = Some(Process::start("partner", "")));
        both_ways(&side, true);
        assert!(partner.unwrap().wait(), "the other side found a mistake");
    });
}
