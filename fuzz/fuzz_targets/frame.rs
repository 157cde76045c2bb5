//! Frames: headers, checksums, rules and hashes of any bytes; filled in checksums verify; a frame that is known only by its
//! first bytes is decided about as the whole one is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use softdpu_net::checksum::{Check, fill, verify};
use softdpu_net::headers::{HEAD, MIN_FRAME, headers};
use softdpu_net::steer::{Action, Classifier, HashFields, Match, Rules};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::OnceLock;

fn classifier() -> &'static Classifier {
    static CLASSIFIER: OnceLock<Classifier> = OnceLock::new();
    CLASSIFIER.get_or_init(|| {
        let v4 = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
        let v6 = IpAddr::V6(Ipv6Addr::LOCALHOST);
        Rules::new()
            .rule(Match::any().vlan(7), Action::queue(1))
            .rule(Match::any().src(v4, 24).dst_port(53), Action::queue(2))
            .rule(Match::any().dst(v6, 64).protocol(6), Action::drop())
            .rule(Match::any().version(6), Action::queues(&[3, 4], HashFields::ALL))
            .rule(Match::any().ether_type(0x0800), Action::queues(&[5, 6, 7], HashFields::ALL))
            .compile()
            .expect("sound rules")
    })
}

fuzz_target!(|frame: &[u8]| {
    let found = headers(frame, frame.len());
    assert!(found.end <= frame.len());
    assert!(found.l4_at.is_none_or(|at| at <= found.end));
    let verdict = classifier().classify(frame, &found);
    if frame.len() >= MIN_FRAME {
        let head = &frame[..frame.len().min(HEAD)];
        let short = headers(head, frame.len());
        assert_eq!((short.ether_type, short.vlan, short.l3, short.end), (found.ether_type, found.vlan, found.l3, found.end));
        if short == found {
            assert_eq!(classifier().classify(head, &short), verdict);
        }
    }
    let before = verify(frame);
    let mut filled = frame.to_vec();
    fill(&mut filled, true, true);
    let after = verify(&filled);
    assert_eq!(after.0, if before.0 == Check::Unknown { Check::Unknown } else { Check::Good });
    if before.1 != Check::Unknown {
        assert_eq!(after.1, Check::Good);
    }
});
