//! Network ports of a process that sends itself frames: some that a queue gets, some that no rule matches.

use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use softdpu::eth::{self, Action, Checksums, EthTxq, Match, Receiver, ReceiverConfig, Rules, Send, TxConfig};
use softdpu::prelude::*;

use crate::common::{folder, ok, watchdog};
use crate::roles::{Process, listen, say};
use crate::{look, process, top};

/// Bytes of a frame.
const LEN: usize = 100;

/// Sends frames from p0 to p1, every fourth of a type that no rule matches, a few thousand times a second, until standard
/// input ends.
pub(crate) fn frames() {
    let told = listen();
    let session = Session::builder().open().unwrap();
    let open = |name: &str| session.device(name).unwrap().open().unwrap();
    let (p0, p1) = (open("p0"), open("p1"));
    let mut pe = ProgressEngine::new(&session).unwrap();
    let memory = Memory::heap(1 << 16).access(Access::LOCAL_READ_WRITE).register(&[&p0, &p1]).unwrap();
    let pool = memory.pool(256).unwrap();
    let mut sender =
        Context::<EthTxq>::start(&mut pe, &p0, TxConfig::default()).unwrap().wait(&mut pe).unwrap();
    let mut receiver = Receiver::start(&mut pe, &p1, pool.clone(), ReceiverConfig::default()).unwrap();
    let number = receiver.number().unwrap();
    let rules = Rules::new().rule(Match::any().ether_type(0x88b5), Action::queue(number)).compile().unwrap();
    eth::port(&p1).steer(Some(rules.into()));
    let mut is_ready = false;
    while told.try_recv() != Err(TryRecvError::Disconnected) {
        for n in 0..8u8 {
            let mut frame = pool.take().unwrap();
            let mut bytes = [n; LEN];
            bytes[12..14].copy_from_slice(if n % 4 == 0 { &[0x88, 0xb6] } else { &[0x88, 0xb5] });
            frame.push_slice(&bytes).unwrap();
            pe.run(sender.submit(Send { frame, checksums: Checksums::NONE }).unwrap()).result.unwrap();
        }
        pe.progress();
        while let Some(frame) = receiver.try_next() {
            assert_eq!(frame.bytes().len(), LEN);
        }
        if !is_ready {
            say("ready");
            is_ready = true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn ports_are_listed_with_their_rates() {
    let _watchdog = watchdog("ports_are_listed_with_their_rates");
    let folder = folder("top ports");
    let running = Process::start("frames", &folder);
    let (first, second) = (look(&folder), look(&folder));
    let port = |document, name: &str| {
        let all = process(document, running.pid())["ports"].as_array().unwrap().clone();
        all.into_iter()
            .find(|port| port["name"] == name)
            .unwrap_or_else(|| panic!("no {name} in {document:#}"))
    };
    let count = |port: &serde_json::Value, name: &str| {
        port[name].as_u64().unwrap_or_else(|| panic!("{name} in {port}"))
    };
    let (before, sent, received) = (port(&first, "p0"), port(&second, "p0"), port(&second, "p1"));
    assert_eq!(
        (&sent["backend"], &sent["queues"], &received["queues"]),
        (&"loop".into(), &0.into(), &1.into())
    );
    assert!(count(&sent, "tx_frames") > count(&before, "tx_frames"), "{before} {sent}");
    let per_frame = |port, way: &str| {
        count(port, &format!("{way}_bytes")) as f64 / count(port, &format!("{way}_frames")) as f64
    };
    assert_eq!((per_frame(&sent, "tx"), per_frame(&received, "rx")), (LEN as f64, LEN as f64));
    assert_eq!((count(&sent, "rx_frames"), count(&received, "tx_frames")), (0, 0));
    // A quarter of what arrives has no rule.
    let (arrived, unmatched) = (count(&received, "rx_frames"), count(&received, "rx_unmatched"));
    assert!(unmatched > 0 && arrived.abs_diff(3 * unmatched) <= 8, "{received}");
    let rate = |name: &str| sent[name].as_f64().unwrap_or_else(|| panic!("{name} in {sent}"));
    assert!((rate("tx_bytes_per_s") / rate("tx_frames_per_s") - LEN as f64).abs() < 1.0, "{sent}");
    let table = ok(top(&folder).args(["--once", "--interval", "0.1"]));
    for word in ["PORT OF", "p0", "p1", "loop", "rx frames/s"] {
        assert!(table.contains(word), "{word} in\n{table}");
    }
}
