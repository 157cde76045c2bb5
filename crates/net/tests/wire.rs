//! The wires of the card within a process, and between processes.

mod common;
#[path = "../../link/tests/common/mod.rs"]
mod process;

use common::{Count, frame, inlet, machine, only_inlet, receive, send};
use process::{Process, alone, listen, role, say, until};
use softdpu_net::headers::HEAD;
use softdpu_net::steer::{Action, HashFields, Match, Rules};
use softdpu_net::{InletSetup, MAX_FRAME, Outlet, Port, Sent, Taken, port, representor_port};
use std::sync::Arc;
use std::sync::atomic::Ordering;

#[test]
fn frames_go_from_port_to_port_and_back() {
    alone("frames_go_from_port_to_port_and_back", || {
        let functions = machine("card0");
        let ports = [port(&functions[0]), port(&functions[1])];
        let mut inlets = [only_inlet(&ports[0]), only_inlet(&ports[1])];
        let mut outlets = [ports[0].outlet().unwrap(), ports[1].outlet().unwrap()];
        for (from, to) in [(0, 1), (1, 0)] {
            let frames: Vec<_> =
                [14, 15, 60, HEAD, HEAD + 1, 1514, MAX_FRAME].map(|len| frame(len as u32, len)).into();
            send(&mut outlets[from], &frames);
            assert!(inlets[to].is_ready());
            assert_eq!(receive(&mut inlets[to]), frames);
            assert!(!inlets[to].is_ready() && receive(&mut inlets[from]).is_empty());
            let (sent, got) = (ports[from].counters(), ports[to].counters());
            assert_eq!((sent.tx_frames, got.rx_frames), (7, 7));
            assert_eq!((sent.tx_bytes, sent.tx_lost), (got.rx_bytes, 0));
        }
        assert!(Arc::ptr_eq(&ports[0], &port(&functions[0])));
    });
}

#[test]
fn host_functions_meet_their_representors() {
    alone("host_functions_meet_their_representors", || {
        let functions = machine("card0");
        let host = port(&functions[2]);
        let shown = representor_port(&functions[0], &functions[0].representors()[0]);
        assert_eq!(shown.name(), "pf0hpf");
        let mut at_card = only_inlet(&shown);
        send(&mut host.outlet().unwrap(), &[frame(1, 60)]);
        assert_eq!(receive(&mut at_card), [frame(1, 60)]);
        let mut at_host = only_inlet(&host);
        send(&mut shown.outlet().unwrap(), &[frame(2, 60)]);
        assert_eq!(receive(&mut at_host), [frame(2, 60)]);
    });
}

#[test]
fn frames_without_a_place_are_lost_and_counted() {
    alone("frames_without_a_place_are_lost_and_counted", || {
        let functions = machine("card0");
        let (p0, p1) = (port(&functions[0]), port(&functions[1]));
        let mut outlet = p0.outlet().unwrap();
        send(&mut outlet, &[frame(0, 60)]);
        assert_eq!((p0.counters().tx_frames, p0.counters().tx_lost), (1, 1), "nobody receives");
        let mut batch = outlet.batch();
        assert_eq!(batch.send(&[&[0; 13]]), Sent::Bad);
        assert_eq!(batch.send(&[&[0; MAX_FRAME], &[0]]), Sent::Bad);
        drop(batch);
        assert_eq!(p0.counters().tx_bad, 2);

        let mut lone = inlet(&p1);
        send(&mut outlet, &[frame(1, 60)]);
        assert!(receive(&mut lone).is_empty());
        assert_eq!(p1.counters().rx_unmatched, 1, "no rules");
        p1.steer(Some(Arc::new(Rules::new().rule(Match::any(), Action::drop()).compile().unwrap())));
        send(&mut outlet, &[frame(2, 60)]);
        assert!(receive(&mut lone).is_empty());
        assert_eq!(p1.counters().rx_dropped, 1);
        assert_eq!(p1.rules().unwrap().count(0).frames, 1);
        p1.steer(Some(Arc::new(Rules::all_to(77).compile().unwrap())));
        send(&mut outlet, &[frame(3, 60)]);
        assert!(receive(&mut lone).is_empty());
        assert_eq!(p1.counters().rx_no_queue, 1);
        // A number of one's own, and one that is taken.
        lone.queue().set_number(77).unwrap();
        assert!(inlet(&p1).queue().set_number(77).is_err());
        // A full ring: the rest is lost, what is in it arrives in order.
        let frames: Vec<_> = (0..2000).map(|number| frame(number, 1000)).collect();
        send(&mut outlet, &frames);
        let got = receive(&mut lone);
        assert!(got.len() > 500 && got.len() < 2000, "{}", got.len());
        assert_eq!(got[..], frames[..got.len()]);
        assert_eq!(p1.counters().rx_missed, 2000 - got.len() as u64);
        send(&mut outlet, &frames[..10]);
        assert_eq!(receive(&mut lone), frames[..10]);
        // The last queue goes: nobody receives any more.
        drop(lone);
        send(&mut outlet, &[frame(4, 60)]);
        send(&mut outlet, &[frame(4, 60)]);
        assert!(p0.counters().tx_lost > 2000 - got.len() as u64);
    });
}

#[test]
fn a_queue_without_buffers_keeps_its_frames() {
    alone("a_queue_without_buffers_keeps_its_frames", || {
        let functions = machine("card0");
        let p1 = port(&functions[1]);
        let mut outlet = port(&functions[0]).outlet().unwrap();
        let (mut a, mut b) = (inlet(&p1), inlet(&p1));
        a.queue().set_number(0).unwrap();
        b.queue().set_number(1).unwrap();
        let rules = Rules::new()
            .rule(Match::any().dst_mac([2, 0, 0, 0, 0, 1]), Action::queue(0).mark(5).tag(6))
            .rule(Match::any(), Action::queue(1));
        p1.steer(Some(Arc::new(rules.compile().unwrap())));
        let to = |queue: u8, number: u32| {
            let mut frame = frame(number, 200);
            frame[5] = 1 + queue;
            frame
        };
        let frames: Vec<_> = (0..60).map(|number| to(u8::from(number % 3 == 0), number)).collect();
        send(&mut outlet, &frames);
        assert_eq!(a.receive(64, |_| Taken::Later), 0);
        // What the first queue cannot take is not in the way of the second.
        let of = |queue: u8| frames.iter().filter(|f| f[5] == 1 + queue).cloned().collect::<Vec<_>>();
        assert_eq!(receive(&mut b), of(1));
        let mut metas = Vec::new();
        let mut got = Vec::new();
        while a.receive(7, |frame| {
            metas.push(*frame.meta());
            got.push(frame.bytes().to_vec());
            Taken::Yes
        }) > 0
        {}
        assert_eq!(got, of(0));
        assert!(metas.iter().all(|meta| meta.mark == 5 && meta.tag == 6));
    });
}

#[test]
fn metadata_comes_with_frames_that_ask_for_it() {
    alone("metadata_comes_with_frames_that_ask_for_it", || {
        use softdpu_net::{Check, Meta, checksum};
        let functions = machine("card0");
        let p1 = port(&functions[1]);
        let setup = InletSetup { hash: true, timestamp: true, checksums: true, ..setup() };
        let mut inlet = p1.inlet(setup).unwrap();
        p1.steer(Some(Arc::new(Rules::all_to(inlet.queue().number()).compile().unwrap())));
        let mut outlet = port(&functions[0]).outlet().unwrap();
        for len in [60, 700] {
            let mut good = vec![0; len];
            good[12..14].copy_from_slice(&[8, 0]);
            good[14] = 0x45;
            good[16..18].copy_from_slice(&(len as u16 - 14).to_be_bytes());
            good[23] = 17;
            good[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
            good[38..40].copy_from_slice(&(len as u16 - 34).to_be_bytes());
            checksum::fill(&mut good, true, true);
            let mut bad = good.clone();
            bad[len - 1] ^= 1;
            send(&mut outlet, &[good, bad]);
        }
        let mut metas: Vec<Meta> = Vec::new();
        inlet.receive(9, |frame| {
            // Known once the frame lies where its sender cannot change it.
            assert_eq!((frame.meta().l3, frame.meta().l4), (Check::Unknown, Check::Unknown));
            if metas.len() < 2 {
                frame.bytes();
            } else {
                let mut place = [0; 800];
                frame.deliver(&mut place);
                let len = frame.len();
                assert_eq!(frame.bytes(), &place[..len]);
            }
            metas.push(*frame.meta());
            Taken::Yes
        });
        let l4: Vec<_> = metas.iter().map(|meta| meta.l4).collect();
        assert_eq!(l4, [Check::Good, Check::Bad, Check::Good, Check::Bad]);
        assert!(metas.iter().all(|meta| meta.l3 == Check::Good && meta.hash != 0));
        let now =
            std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        assert!(metas.iter().all(|meta| meta.timestamp <= now && now - meta.timestamp < 3_600_000_000_000));
    });
}

fn setup() -> InletSetup {
    InletSetup::new(Arc::new(Count::default()))
}

#[test]
fn sleepers_are_woken_once_per_arming() {
    alone("sleepers_are_woken_once_per_arming", || {
        let functions = machine("card0");
        let p1 = port(&functions[1]);
        let wakes = [Arc::new(Count::default()), Arc::new(Count::default())];
        let mut a = p1.inlet(InletSetup::new(wakes[0].clone())).unwrap();
        let mut b = p1.inlet(InletSetup::new(wakes[1].clone())).unwrap();
        p1.steer(Some(Arc::new(Rules::all_to(b.queue().number()).compile().unwrap())));
        let count = |at: usize| wakes[at].0.load(Ordering::Relaxed);
        let mut outlet = port(&functions[0]).outlet().unwrap();
        send(&mut outlet, &[frame(0, 60)]);
        assert_eq!((count(0), count(1)), (0, 0), "nobody sleeps");
        receive(&mut b);
        b.arm();
        assert!(!b.is_ready());
        send(&mut outlet, &[frame(1, 60)]);
        send(&mut outlet, &[frame(2, 60)]);
        assert_eq!(count(1), 1);
        // The other queue's turn brings the frames, and wakes the one they are for.
        b.arm();
        assert!(receive(&mut a).is_empty());
        assert_eq!(count(1), 2);
        assert_eq!(receive(&mut b).len(), 2);
        b.arm();
        b.disarm();
        send(&mut outlet, &[frame(3, 60)]);
        assert_eq!(count(1), 2);
    });
}

#[test]
fn flows_are_shared_between_queues_of_threads() {
    alone("flows_are_shared_between_queues_of_threads", || {
        const FLOWS: u32 = 50;
        const EACH: u32 = 400;
        let functions = machine("card0");
        let p1 = port(&functions[1]);
        let inlets: Vec<_> = (0..3)
            .map(|number| {
                let inlet = inlet(&p1);
                inlet.queue().set_number(number).unwrap();
                inlet
            })
            .collect();
        let rules = Rules::new().rule(Match::any(), Action::queues(&[0, 1, 2], HashFields::ALL));
        p1.steer(Some(Arc::new(rules.compile().unwrap())));
        let mut outlet = port(&functions[0]).outlet().unwrap();
        let total = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let threads: Vec<_> = inlets
            .into_iter()
            .map(|mut inlet| {
                let total = Arc::clone(&total);
                std::thread::spawn(move || {
                    let mut last = vec![0u32; FLOWS as usize];
                    while total.load(Ordering::Relaxed) < FLOWS * EACH {
                        for bytes in receive(&mut inlet) {
                            let flow = u16::from_be_bytes([bytes[34], bytes[35]]);
                            let number = u32::from_be_bytes(bytes[42..46].try_into().unwrap());
                            let before = std::mem::replace(&mut last[usize::from(flow)], number);
                            assert!(before < number, "flow {flow}: {number} after {before}");
                            total.fetch_add(1, Ordering::Relaxed);
                        }
                        std::thread::yield_now();
                    }
                    last.iter().filter(|number| **number == EACH).count()
                })
            })
            .collect();
        for number in 1..=EACH {
            let frames: Vec<_> = (0..FLOWS).map(|flow| datagram(flow as u16, number)).collect();
            send(&mut outlet, &frames);
            until("room", || p1.counters().rx_frames >= u64::from((number * FLOWS).saturating_sub(2000)));
        }
        let complete: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(complete, FLOWS as usize, "each flow was one queue's");
        assert_eq!(p1.counters().rx_missed, 0);
    });
}

/// A UDP datagram of a flow with a number in it.
fn datagram(flow: u16, number: u32) -> Vec<u8> {
    let mut frame = vec![0; 60];
    frame[12..14].copy_from_slice(&[8, 0]);
    frame[14] = 0x45;
    frame[16..18].copy_from_slice(&46u16.to_be_bytes());
    frame[23] = 17;
    frame[26..34].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
    frame[34..36].copy_from_slice(&flow.to_be_bytes());
    frame[42..46].copy_from_slice(&number.to_be_bytes());
    frame
}

// ---- Between processes ------------------------------------------------------------------------------

#[test]
fn roles() {
    let Some((role, _)) = role() else { return };
    let functions = machine("card0");
    match role.as_str() {
        // Receives at p1: answers each word with the numbers of the frames that came.
        "receiver" => {
            let mut inlet = only_inlet(&port(&functions[1]));
            say("ready");
            let mut all = Vec::new();
            loop {
                let wanted: usize = listen().parse().unwrap();
                until("frames", || {
                    all.extend(receive(&mut inlet));
                    all.len() >= wanted
                });
                let numbers: Vec<_> = all.drain(..).map(|bytes| number(&bytes).to_string()).collect();
                say(numbers.join(" "));
            }
        }
        // Sends from p0 as many frames as it is told.
        "sender" => {
            let port = port(&functions[0]);
            let mut outlet = port.outlet().unwrap();
            say("ready");
            loop {
                let count: u32 = listen().parse().unwrap();
                send(&mut outlet, &(0..count).map(|number| frame(number, 100)).collect::<Vec<_>>());
                say(port.counters().tx_lost);
            }
        }
        // Sends as fast as it can until it is killed.
        "flood" => {
            let mut outlet = port(&functions[0]).outlet().unwrap();
            say("ready");
            for number in 0.. {
                send(&mut outlet, &[frame(number, 64), frame(number, 1514)]);
            }
        }
        _ => panic!("role {role}"),
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes(bytes[14..18].try_into().unwrap())
}

fn numbers(count: u32) -> String {
    (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

/// Sends until somebody receives: what connects two processes may take a moment.
fn reach(outlet: &mut Outlet, port: &Port) {
    until("a receiver", || {
        let before = port.counters().tx_lost;
        send(outlet, &[frame(0, 60)]);
        port.counters().tx_lost == before
    });
}

#[test]
fn processes_meet_whoever_comes_first() {
    alone("processes_meet_whoever_comes_first", || {
        // The receiver first: the sender asks for it.
        let mut receiver = Process::start("receiver", "");
        assert_eq!(receiver.hear(), "ready");
        let mut sender = Process::start("sender", "");
        assert_eq!(sender.hear(), "ready");
        sender.tell("50");
        assert_eq!(sender.hear(), "0");
        receiver.tell("50");
        assert_eq!(receiver.hear(), numbers(50));
        // A second receiver offers itself; each gets every frame.
        let mut second = Process::start("receiver", "");
        assert_eq!(second.hear(), "ready");
        sender.tell("30");
        assert_eq!(sender.hear(), "0");
        for receiver in [&mut receiver, &mut second] {
            receiver.tell("30");
            assert_eq!(receiver.hear(), numbers(30));
        }
        // One is killed: the other still gets everything.
        receiver.kill();
        sender.tell("20");
        sender.hear();
        second.tell("20");
        assert_eq!(second.hear(), numbers(20));
        second.kill();
        drop(sender);
    });
}

#[test]
fn a_killed_sender_leaves_what_it_sent_and_is_forgotten() {
    alone("a_killed_sender_leaves_what_it_sent_and_is_forgotten", || {
        let functions = machine("card0");
        let port = port(&functions[1]);
        let mut inlet = only_inlet(&port);
        for _ in 0..4 {
            let mut flood = Process::start("flood", "");
            assert_eq!(flood.hear(), "ready");
            let mut last = None;
            let mut count = 0;
            until("frames", || {
                for bytes in receive(&mut inlet) {
                    // The pattern tells torn frames.
                    assert_eq!(bytes, frame(number(&bytes), bytes.len()));
                    assert!(last <= Some(number(&bytes)), "{last:?} before {}", number(&bytes));
                    last = Some(number(&bytes));
                    count += 1;
                }
                count > 20_000
            });
            flood.kill();
            until("silence", || {
                let rest = receive(&mut inlet);
                rest.iter().for_each(|bytes| assert_eq!(*bytes, frame(number(bytes), bytes.len())));
                rest.is_empty()
            });
        }
    });
}

#[test]
fn sleepers_are_woken_across_processes() {
    alone("sleepers_are_woken_across_processes", || {
        let functions = machine("card0");
        let wakes = Arc::new(Count::default());
        let p1 = port(&functions[1]);
        let mut inlet = p1.inlet(InletSetup::new(wakes.clone())).unwrap();
        p1.steer(Some(Arc::new(Rules::all_to(inlet.queue().number()).compile().unwrap())));
        let mut sender = Process::start("sender", "");
        assert_eq!(sender.hear(), "ready");
        for round in 1..=20 {
            inlet.arm();
            assert!(!inlet.is_ready());
            sender.tell("5");
            until("a wake", || wakes.0.load(Ordering::Relaxed) == round);
            assert_eq!(receive(&mut inlet).len(), 5);
            sender.hear();
        }
        // And a sender of this process reaches receivers that come and go.
        let p0 = port(&functions[0]);
        let mut outlet = p0.outlet().unwrap();
        drop(inlet);
        let mut receiver = Process::start("receiver", "");
        assert_eq!(receiver.hear(), "ready");
        reach(&mut outlet, &p0);
        receiver.kill();
        until("the end of the receiver is noticed", || {
            let before = p0.counters().tx_lost;
            send(&mut outlet, &[frame(0, 60)]);
            p0.counters().tx_lost > before
        });
    });
}

#[test]
fn the_topology_steers_where_the_program_does_not() {
    alone("the_topology_steers_where_the_program_does_not", || {
        let text = "[[card]]\n[[card.function]]\nside = \"dpu\"\npci = \"03:00.0\"\nwire = \"p0\"\n\
            [[card.function.steer]]\nsrc_mac = \"02:00:00:00:00:01\"\nqueues = [7]\nmark = 3\ntag = 4\n";
        let machine = softdpu_card::Machine::builder().config_text(text).build().unwrap();
        let p0 = port(&machine.functions()[0]);
        let mut inlet = inlet(&p0);
        inlet.queue().set_number(7).unwrap();
        let mut outlet = p0.outlet().unwrap();
        send(&mut outlet, &[frame(1, 60), vec![0; 60]]);
        let mut metas = Vec::new();
        inlet.receive(9, |frame| {
            metas.push((frame.len(), frame.meta().mark, frame.meta().tag));
            Taken::Yes
        });
        assert_eq!(metas, [(60, 3, 4)], "a port that is wired to itself hears itself");
        p0.steer(Some(Arc::new(Rules::new().rule(Match::any(), Action::drop()).compile().unwrap())));
        send(&mut outlet, &[frame(2, 60)]);
        assert!(receive(&mut inlet).is_empty());
        p0.steer(None);
        send(&mut outlet, &[frame(3, 60)]);
        assert_eq!(receive(&mut inlet).len(), 1);
    });
}
