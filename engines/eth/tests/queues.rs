//! Both queues, through the wire that joins two ports of a card.

mod common;
#[path = "../../../crates/link/tests/common/mod.rs"]
mod process;

use common::{Rig, frame, now};
use process::alone;
use softdpu_eth::rxq::{EthRxq, Receive, RxConfig, Want};
use softdpu_eth::txq::{Checksums, EthTxq, LargeSend, Send, TxConfig};
use softdpu_room::context::State;
use softdpu_room::typed::Context;
use softdpu_status::Code;

#[test]
fn frames_arrive_as_they_were_sent_and_in_order() {
    alone("frames_arrive_as_they_were_sent_and_in_order", || {
        for mut rig in Rig::both() {
            let mut receiver = rig.receiver(Want::default());
            let mut sender = rig.sender(TxConfig::default());
            rig.steer(&[receiver.number().unwrap()]);
            let mut sent = Vec::new();
            for n in 0..600u32 {
                let bytes = frame(14 + (n as usize * 7) % 1400, n);
                let send = Send { frame: rig.buf(&bytes), checksums: Checksums::NONE };
                rig.send(&mut sender, send).unwrap();
                sent.push(bytes);
                if n % 50 == 49 {
                    for bytes in sent.drain(..) {
                        assert_eq!(&*rig.next(&mut receiver).bytes(), &bytes[..]);
                    }
                }
            }
            assert!(receiver.try_next().is_none());
            assert_eq!(receiver.counters().frames, 600);
            receiver.stop().wait(&mut rig.pe).unwrap();
        }
    });
}

#[test]
fn a_frame_goes_into_a_posted_list_and_tells_about_itself() {
    alone("a_frame_goes_into_a_posted_list_and_tells_about_itself", || {
        for mut rig in Rig::both() {
            let want = Want { words: 2, flow_tag: true, hash: true, timestamp: true };
            let config = RxConfig { tasks: 8, max_packet: 1500, want };
            let mut receives = Context::<EthRxq>::start(&mut rig.pe, &rig.there, config.into())
                .unwrap()
                .wait(&mut rig.pe)
                .unwrap();
            let mut sender = rig.sender(TxConfig::default());
            // The first number that no program chose.
            rig.steer(&[0x8000]);
            let mut into = rig.window(40);
            into.chain(rig.window(100));
            let posted = receives.submit(Receive::new(into)).unwrap();
            let short = receives.submit(Receive::new(rig.window(40))).unwrap();
            let before = now();
            let bytes = common::udp(&[5; 50]);
            let (filled, kept) =
                (common::checked(&bytes), Send { frame: rig.buf(&bytes), checksums: Checksums::ALL });
            rig.send(&mut sender, kept).unwrap();
            let done = rig.pe.run(posted);
            assert_eq!(done.result, Ok(bytes.len() as u64));
            assert_eq!(done.task.into.to_vec(), filled);
            let info = done.task.info;
            assert!(info.l3_ok && info.l4_ok);
            assert_eq!((info.metadata[0], info.flow_tag), (1234, 77));
            assert!(info.hash != 0 && info.timestamp >= before);
            // A frame that is longer than the buffer fails that receive alone, one that is longer than the queue takes none.
            rig.send(&mut sender, Send { frame: rig.buf(&frame(1501, 1)), checksums: Checksums::NONE })
                .unwrap();
            rig.send(&mut sender, Send { frame: rig.buf(&frame(41, 1)), checksums: Checksums::NONE })
                .unwrap();
            let done = rig.pe.run(short);
            assert_eq!(done.result.unwrap_err().code(), Code::TooBig);
            assert_eq!(receives.state(), State::Running);
            let again = receives.submit(Receive::new(done.task.into)).unwrap();
            rig.send(&mut sender, Send { frame: rig.buf(&bytes[..40]), checksums: Checksums::NONE }).unwrap();
            let done = rig.pe.run(again);
            assert_eq!((done.result, done.task.info.l3_ok), (Ok(40), false));
        }
    });
}

#[test]
fn large_sends_are_cut() {
    alone("large_sends_are_cut", || {
        for mut rig in Rig::both() {
            let mut receiver = rig.receiver(Want::default());
            let mut sender = rig.sender(TxConfig::default());
            rig.steer(&[receiver.number().unwrap()]);
            let data: Vec<u8> = (0..60_000u32).map(|n| (n % 251) as u8).collect();
            let header = common::tcp();
            let payload = rig.large(&data);
            let done =
                rig.send(&mut sender, LargeSend { header: header.clone(), payload, mss: 1400 }).unwrap();
            assert_eq!(done, 43);
            let mut back = Vec::new();
            for _ in 0..43 {
                let frame = rig.next(&mut receiver);
                assert!(frame.info.l3_ok && frame.info.l4_ok);
                back.extend_from_slice(&frame.bytes()[header.len()..]);
            }
            assert!(back == data);
        }
    });
}

#[test]
fn what_cannot_be_sent_is_refused() {
    alone("what_cannot_be_sent_is_refused", || {
        for mut rig in Rig::both() {
            let mut sender = rig.sender(TxConfig::default());
            let runt =
                sender.submit(Send { frame: rig.buf(&[1; 13]), checksums: Checksums::NONE }).unwrap_err();
            assert_eq!(runt.error.code(), Code::InvalidValue);
            let long =
                sender.submit(Send { frame: rig.large(&[1; 9601]), checksums: Checksums::NONE }).unwrap_err();
            assert_eq!(long.error.code(), Code::InvalidValue);
            let header = vec![0; 300];
            let large = LargeSend { header, payload: rig.buf(&[1; 100]), mss: 50 };
            assert_eq!(sender.submit(large).unwrap_err().error.code(), Code::InvalidValue);
            let none = LargeSend { header: common::tcp(), payload: rig.buf(&[1; 100]), mss: 0 };
            assert_eq!(sender.submit(none).unwrap_err().error.code(), Code::InvalidValue);
            // Nobody receives: it left all the same.
            let lost = Send { frame: rig.buf(&frame(60, 1)), checksums: Checksums::NONE };
            rig.send(&mut sender, lost).unwrap();
        }
    });
}

#[test]
fn what_there_is_no_room_for_is_lost_and_counted() {
    alone("what_there_is_no_room_for_is_lost_and_counted", || {
        for mut rig in Rig::both() {
            let mut receiver = rig.receiver(Want::default());
            let mut sender = rig.sender(TxConfig::default());
            rig.steer(&[receiver.number().unwrap()]);
            // Nobody takes anything.
            for n in 0..4000 {
                let send = Send { frame: rig.buf(&frame(1000, n)), checksums: Checksums::NONE };
                rig.send(&mut sender, send).unwrap();
            }
            let port = softdpu_net::port(rig.there.shared().function());
            assert!(port.counters().rx_missed > 0, "{:?}", port.counters());
            // What is there is what came first.
            for n in 0..500 {
                assert_eq!(&*rig.next(&mut receiver).bytes(), &frame(1000, n)[..]);
            }
        }
    });
}

#[test]
fn a_stop_gives_receives_back() {
    alone("a_stop_gives_receives_back", || {
        for mut rig in Rig::both() {
            let config = RxConfig { tasks: 8, ..RxConfig::default() };
            let mut receives = Context::<EthRxq>::start(&mut rig.pe, &rig.there, config.into())
                .unwrap()
                .wait(&mut rig.pe)
                .unwrap();
            let flying: Vec<_> =
                (0..5).map(|_| receives.submit(Receive::new(rig.window(100))).unwrap()).collect();
            rig.pe.progress();
            receives.stop().wait(&mut rig.pe).unwrap();
            for receive in flying {
                let done = receive.try_take().expect("everything is back after a stop");
                assert_eq!(done.result.unwrap_err().code(), Code::IoFailed);
            }
        }
    });
}

#[test]
fn a_sleeper_is_woken() {
    alone("a_sleeper_is_woken", || {
        for mut rig in Rig::both() {
            let mut receiver = rig.receiver(Want::default());
            rig.steer(&[receiver.number().unwrap()]);
            let mut other = rig.elsewhere();
            let sending = std::thread::spawn(move || {
                let mut sender = other.sender(TxConfig::default());
                for n in 0..20 {
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    let send = Send { frame: other.buf(&frame(100, n)), checksums: Checksums::NONE };
                    other.send(&mut sender, send).unwrap();
                }
            });
            for n in 0..20 {
                let got = loop {
                    match receiver.try_next() {
                        Some(got) => break got,
                        None => drop(rig.pe.wait(None).unwrap()),
                    }
                };
                assert_eq!(&*got.bytes(), &frame(100, n)[..]);
            }
            sending.join().unwrap();
        }
    });
}

#[test]
fn numbers_are_each_queue_s_own() {
    alone("numbers_are_each_queue_s_own", || {
        let mut rig = Rig::new(softdpu_board::inline());
        let (a, b) = (rig.receiver(Want::default()), rig.receiver(Want::default()));
        assert!(a.number().unwrap() != b.number().unwrap());
        a.set_number(3).unwrap();
        assert_eq!(b.set_number(3).unwrap_err().code(), Code::AlreadyExist);
        a.set_number(3).unwrap();
        assert_eq!(a.number().unwrap(), 3);
        drop(a);
        rig.pe.progress();
        rig.pe.progress();
        b.set_number(3).unwrap();
    });
}

#[test]
fn the_name_of_the_engine_is_that_of_plans() {
    use softdpu_room::engine::Engine;
    assert_eq!((EthTxq::INFO.name, EthRxq::INFO.name), ("eth_txq", "eth_rxq"));
}
