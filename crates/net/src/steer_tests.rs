//! Rules against a plain reading of them.

use super::*;
use crate::headers::{headers, tests::udp4};
use std::net::{IpAddr, Ipv4Addr};

fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(a, b, c, d))
}

fn verdict(classifier: &Classifier, frame: &[u8]) -> Verdict {
    classifier.classify(frame, &headers(frame, frame.len()))
}

#[test]
fn the_first_rule_that_matches_counts() {
    let classifier = Rules::new()
        .rule(Match::any().dst_port(53).protocol(17), Action::queue(1).mark(11).tag(12))
        .rule(Match::any().dst(v4(10, 0, 0, 0), 8), Action::drop())
        .rule(Match::any().ether_type(0x0806), Action::queue(2))
        .rule(Match::any().dst_mac([2, 0, 0, 0, 0, 2]).vlan(7), Action::queue(3))
        .rule(Match::any(), Action::queue(4))
        .rule(Match::any().dst_port(99), Action::queue(5))
        .compile()
        .unwrap();
    let frame = |dst, port| udp4([192, 0, 2, 1], dst, (1000, port), b"x");
    let first = verdict(&classifier, &frame([10, 1, 2, 3], 53));
    assert_eq!((first.rule, first.queue, first.mark, first.tag), (Some(0), Some(1), 11, 12));
    let dropped = verdict(&classifier, &frame([10, 1, 2, 3], 54));
    assert_eq!((dropped.rule, dropped.queue), (Some(1), None));
    assert_eq!(verdict(&classifier, &frame([11, 1, 2, 3], 54)).queue, Some(4));
    assert_eq!(
        verdict(&classifier, &frame([11, 1, 2, 3], 99)).queue,
        Some(4),
        "behind a rule for everything"
    );
    let mut arp = vec![0xff; 60];
    arp[12..14].copy_from_slice(&[8, 6]);
    assert_eq!(verdict(&classifier, &arp).queue, Some(2));
    let mut tagged = frame([11, 0, 0, 1], 1);
    tagged.splice(12..12, [0x81, 0, 0xe0, 7]);
    assert_eq!(verdict(&classifier, &tagged).queue, Some(3));
    assert_eq!(verdict(&classifier, &[0; 14]).queue, Some(4));
    let empty = Rules::new().compile().unwrap();
    assert_eq!((verdict(&empty, &arp).rule, empty.is_empty()), (None, true));
}

#[test]
fn wrong_rules_are_refused() {
    use softdpu_status::Code;
    let none = Rules::new().rule(Match::any(), Action::queues(&[], HashFields::ALL));
    assert_eq!(none.compile().unwrap_err().code(), Code::InvalidValue);
    let many = Rules::new().rule(Match::any(), Action::queues(&[0; 129], HashFields::ALL));
    assert_eq!(many.compile().unwrap_err().code(), Code::InvalidValue);
}

/// Whether a rule fits: source, destination, ports.
type Reading = dyn Fn(&[u8; 4], &[u8; 4], u16, u16) -> bool;

#[test]
fn rules_behave_as_a_plain_reading_of_them_does() {
    let mut seed = 3u64;
    let mut next = move |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    for round in 0..60 {
        let mut rules = Rules::new();
        let mut plain: Vec<Box<Reading>> = Vec::new();
        for number in 0..1 + next(40) as u16 {
            let (bits, dst_bits) = ([0, 8, 31, 32][next(4) as usize], [0, 24, 32][next(3) as usize]);
            let (src, dst) = ([10, 0, 0, next(4) as u8], [10, 0, next(2) as u8, next(4) as u8]);
            let (with_src, with_dst) = (next(2) == 1, next(2) == 1);
            let ports = (next(3) as u16, next(3) as u16);
            let (with_src_port, with_dst_port) = (next(3) == 1, next(2) == 1);
            let mut when = Match::any();
            if with_src {
                when = when.src(IpAddr::from(src), bits);
            }
            if with_dst {
                when = when.dst(IpAddr::from(dst), dst_bits);
            }
            if with_src_port {
                when = when.src_port(ports.0);
            }
            if with_dst_port {
                when = when.dst_port(ports.1);
            }
            rules = rules.rule(when, Action::queue(number));
            let fits = |a: &[u8; 4], b: &[u8; 4], bits: u8| {
                let mask = if bits == 0 { 0 } else { u32::MAX << (32 - bits) };
                u32::from_be_bytes(*a) & mask == u32::from_be_bytes(*b) & mask
            };
            plain.push(Box::new(move |s, d, sp, dp| {
                (!with_src || fits(s, &src, bits))
                    && (!with_dst || fits(d, &dst, dst_bits))
                    && (!with_src_port || sp == ports.0)
                    && (!with_dst_port || dp == ports.1)
            }));
        }
        let classifier = rules.compile().unwrap();
        for _ in 0..200 {
            let (src, dst) = ([10, 0, 0, next(4) as u8], [10, 0, next(2) as u8, next(4) as u8]);
            let ports = (next(3) as u16, next(3) as u16);
            let frame = udp4(src, dst, ports, b"");
            let expected = plain.iter().position(|rule| rule(&src, &dst, ports.0, ports.1));
            let found = verdict(&classifier, &frame);
            assert_eq!(found.queue.map(usize::from), expected, "round {round}: {src:?} {dst:?} {ports:?}");
        }
    }
}

#[test]
fn flows_hash_as_published() {
    // The verification values that come with the definition of receive-side scaling.
    let table = Toeplitz::new(false);
    for (src, dst, ports, with_ports, without) in [
        ([66, 9, 149, 187], [161, 142, 100, 80], (2794, 1766), 0x51cc_c178u32, 0x323e_8fc2u32),
        ([199, 92, 111, 2], [65, 69, 140, 83], (14230, 4739), 0xc626_b0ea, 0xd718_262a),
        ([24, 19, 198, 95], [12, 22, 207, 184], (12898, 38024), 0x5c2b_394a, 0xd2d0_a5de),
    ] {
        let mut frame = udp4(src, dst, ports, &[0; 20]);
        let found = headers(&frame, frame.len());
        assert_eq!(table.hash(&frame, &found, HashFields::ALL), with_ports);
        let addresses = HashFields { udp: false, ..HashFields::ALL };
        assert_eq!(table.hash(&frame, &found, addresses), without);
        frame[20] = 0x20;
        let piece = headers(&frame, frame.len());
        assert_eq!(table.hash(&frame, &piece, HashFields::ALL), without, "pieces of a packet stay together");
    }
    let symmetric = Toeplitz::new(true);
    let hash = |src, dst, ports| {
        let frame = udp4(src, dst, ports, b"");
        symmetric.hash(&frame, &headers(&frame, frame.len()), HashFields::ALL)
    };
    assert_eq!(hash([1, 2, 3, 4], [5, 6, 7, 8], (1, 2)), hash([5, 6, 7, 8], [1, 2, 3, 4], (2, 1)));
}

#[test]
fn queues_share_flows_and_each_flow_stays_with_one() {
    let classifier =
        Rules::new().rule(Match::any(), Action::queues(&[3, 5, 8], HashFields::ALL)).compile().unwrap();
    let mut counts = [0; 9];
    for flow in 0..3000u16 {
        let frame = udp4([10, 0, 0, 1], [10, 0, 0, 2], (flow, 7), b"");
        let queue = verdict(&classifier, &frame).queue.unwrap();
        assert_eq!(verdict(&classifier, &frame).queue, Some(queue));
        counts[usize::from(queue)] += 1;
    }
    assert!([3, 5, 8].iter().all(|&queue| counts[queue] > 700), "{counts:?}");
    assert_eq!(verdict(&classifier, &[0; 60]).queue, Some(3), "frames without headers go to the first");
}

#[test]
fn counts_are_kept_per_rule() {
    let classifier = Rules::new()
        .rule(Match::any().dst_port(1), Action::queue(0))
        .rule(Match::any(), Action::drop())
        .compile()
        .unwrap();
    let mut tally = Tally::default();
    for rule in [0, 0, 1, 0] {
        tally.add(&classifier, rule, 100);
    }
    tally.settle(&classifier);
    tally.settle(&classifier);
    assert_eq!(classifier.count(0), RuleCount { frames: 3, bytes: 300 });
    assert_eq!(classifier.count(1), RuleCount { frames: 1, bytes: 100 });
    assert_eq!(classifier.count(2), RuleCount::default());
}
