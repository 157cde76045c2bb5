//! Peers that write anything anywhere: the server goes on, loses the peer at most, and panics never.

use super::*;
use crate::layout::{SERVER, TAKEN_BY_CLIENT, Terms};
use crate::outlet::tag;
use crate::wire::Kind;
use process::{alone, until};
use softdpu_card::Machine;
use softdpu_link::{Doorbell, Line, Segment, Sender};
use softdpu_room::context::Core;
use softdpu_room::pump::ProgressEngine;
use softdpu_room::session::{Session, inline};
use softdpu_room::typed::Context;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[path = "../tests/common/process.rs"]
mod process;

/// Xorshift: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// A number that is likely to be at some edge.
    fn edge(&mut self) -> u64 {
        let base = [0, 1, 7, 8, 64, 256, 8192, 1 << 16, 1 << 31, u64::from(u32::MAX), u64::MAX, 1 << 63];
        match self.below(3) {
            0 => self.next(),
            1 => base[self.below(base.len())],
            _ => base[self.below(base.len())].wrapping_add(self.next() % 5).wrapping_sub(2),
        }
    }

    fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..1 + self.below(most)).map(|_| self.next() as u8).collect()
    }
}

#[derive(Default)]
struct Counts {
    connected: usize,
    disconnected: usize,
    messages: usize,
}

#[derive(Default)]
struct Tally(Mutex<Counts>);

impl Listener for Tally {
    fn tell(&self, _: &'static Core, event: Event) {
        let mut counts = self.0.lock().unwrap();
        match event {
            Event::Connected(_) => counts.connected += 1,
            Event::Disconnected(_) => counts.disconnected += 1,
            _ => {}
        }
    }

    fn message(&self, _: &'static Core, _: &Arc<Connection>, message: Message) -> Option<Message> {
        assert!(message.bytes().len() <= 4080);
        self.0.lock().unwrap().messages += 1;
        Some(message)
    }
}

struct Victim {
    pe: ProgressEngine,
    context: Context<ComchServer>,
    tally: Arc<Tally>,
    name: String,
    session: Session,
}

const MINE: Terms = Terms { msg: 100, queue: 4 };

impl Victim {
    fn new() -> Victim {
        let session = Session::new(Machine::builder().build().unwrap(), inline());
        let devices = session.devices();
        let card = devices.iter().find(|device| !device.function().representors().is_empty()).unwrap();
        let device = card.open().unwrap();
        let host_function = device.function().representors()[0].vhca_id();
        let tally = Arc::new(Tally::default());
        let name = place::name(device.function(), host_function, b"victim");
        let ends = Ends::new(device.function(), 0, 0, 0, tally.clone()).unwrap();
        let setup =
            ServerSetup { name: b"victim".to_vec(), host_function, host_text: "a host".to_owned(), ends };
        let mut pe = ProgressEngine::new(&session).unwrap();
        let context = Context::start(&mut pe, &device, Some(setup)).unwrap().wait(&mut pe).unwrap();
        Victim { pe, context, tally, name, session }
    }

    fn call(
        &self,
        packet: &[u8],
        fds: &[BorrowedFd<'_>],
    ) -> Result<(Vec<u8>, Vec<OwnedFd>, Line), softdpu_status::Code> {
        softdpu_link::call(&self.name, packet, fds, Duration::from_secs(20)).map_err(|error| error.code())
    }

    fn progress(&mut self) {
        for _ in 0..20 {
            self.pe.progress();
        }
    }

    fn counts(&self) -> (usize, usize) {
        let counts = self.tally.0.lock().unwrap();
        (counts.connected, counts.disconnected)
    }

    /// Everybody who is connected is lost sooner or later.
    fn until_empty(&mut self) {
        until("the end of all connections", || {
            self.progress();
            let (connected, disconnected) = self.counts();
            connected == disconnected
        });
    }

    /// An honest client is served as before.
    fn still_works(&mut self) {
        let (before, messages) = (self.counts().0, self.tally.0.lock().unwrap().messages);
        let (line, segment, shape) = self.sit_down();
        until("an honest client", || {
            self.progress();
            self.counts().0 == before + 1
        });
        assert_eq!(segment.word32(SERVER).load(sync::Ordering::Relaxed), layout::ACCEPTED);
        let mut sender = Sender::new(segment, shape.up_at(), shape.up);
        assert!(sender.push(tag::MESSAGE, &[b"honest"]).unwrap());
        until("its message", || {
            self.progress();
            self.tally.0.lock().unwrap().messages == messages + 1
        });
        drop(line);
        self.until_empty();
    }

    /// The handshake, up to the second packet.
    fn greet(&self) -> Option<(Line, layout::Shape)> {
        let (answer, _, line) =
            self.call(&wire::packet(Kind::Hello, &[MINE.msg, MINE.queue], &[]), &[]).ok()?;
        let ([msg, queue, ..], _) = wire::read::<5>(Kind::Welcome, &answer)?;
        Some((line, Terms::shape(MINE, Terms { msg, queue })))
    }

    fn sit_down(&self) -> (Line, Arc<Segment>, layout::Shape) {
        let (line, shape) = self.greet().expect("there is a seat");
        let segment = Segment::create("hostile", shape.bytes()).unwrap();
        let bell = Doorbell::new().unwrap();
        let invitation = bell.invitation();
        let join = wire::packet(Kind::Join, &[shape.up as u32, shape.down as u32, invitation.index], &[]);
        line.send(&join, &[segment.fd(), invitation.page, invitation.event]).unwrap();
        (line, Arc::new(segment), shape)
    }
}

#[test]
fn the_entrance_withstands_anything() {
    alone("hostile_tests::the_entrance_withstands_anything", || {
        let mut victim = Victim::new();
        let mut random = Random(0x1357_9bdf_2468_ace0);
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        let segment = Segment::create("hostile", 64).unwrap();
        for round in 0..1500 {
            let mut packet = wire::packet(Kind::Hello, &[random.edge() as u32, random.edge() as u32], &[]);
            match random.below(3) {
                0 => packet = random.bytes(200),
                1 => {
                    let at = random.below(packet.len());
                    packet[at] ^= 1 << random.below(8);
                }
                _ => {}
            }
            let fds = [file.as_fd(), segment.fd()];
            drop(victim.call(&packet, &fds[..random.below(3)]));
            if round % 100 == 0 {
                victim.progress();
            }
        }
        victim.still_works();
    });
}

#[test]
fn joining_withstands_anything_and_seats_come_back() {
    alone("hostile_tests::joining_withstands_anything_and_seats_come_back", || {
        let mut victim = Victim::new();
        let mut random = Random(0xfeed_face_cafe_beef);
        let bell = Doorbell::new().unwrap();
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        // More than there are seats.
        for round in 0..1200 {
            let Some((line, shape)) = victim.greet() else { panic!("no seat in round {round}") };
            let bytes = if random.below(2) == 0 { shape.bytes() } else { 1 + random.below(shape.bytes()) };
            let segment = Segment::create("hostile", bytes).unwrap();
            let invitation = bell.invitation();
            let mut numbers = [shape.up as u32, shape.down as u32, invitation.index];
            if random.below(2) == 0 {
                numbers[random.below(3)] = random.edge() as u32;
            }
            let mut fds = vec![segment.fd(), invitation.page, invitation.event];
            match random.below(4) {
                0 => fds.truncate(random.below(4)),
                1 => fds[random.below(3)] = file.as_fd(),
                2 => fds.swap(random.below(3), random.below(3)),
                _ => {}
            }
            let packet = if random.below(4) == 0 {
                random.bytes(100)
            } else {
                wire::packet(Kind::Join, &numbers, &[])
            };
            line.send(&packet, &fds).unwrap();
            if random.below(2) == 0 {
                // Whatever comes after it.
                let _ = line.send(&random.bytes(300), &[]);
            }
            victim.progress();
        }
        victim.until_empty();
        victim.still_works();
    });
}

#[test]
fn rings_withstand_anything() {
    alone("hostile_tests::rings_withstand_anything", || {
        let mut victim = Victim::new();
        let mut random = Random(0x0123_4567_89ab_cdef);
        for _ in 0..400 {
            let (line, segment, shape) = victim.sit_down();
            let before = victim.counts().0;
            until("the connection", || {
                victim.progress();
                victim.counts().0 > before
            });
            let mut sender = Sender::new(segment.clone(), shape.up_at(), shape.up);
            for _ in 0..1 + random.below(20) {
                let tag =
                    if random.below(3) == 0 { random.edge() as u32 } else { 1 + random.below(5) as u32 };
                let body = random.bytes(120);
                match random.below(6) {
                    0 | 1 => drop(sender.push(tag, &[&body])),
                    2 => {
                        let at = 8 * random.below(shape.bytes() / 8);
                        segment.word64(at).store(random.edge(), sync::Ordering::Release);
                    }
                    3 => {
                        let words =
                            [0, 64, TAKEN_BY_CLIENT, shape.up_at(), shape.down_at(), shape.down_at() + 64];
                        let at = words[random.below(words.len())];
                        segment.word64(at).store(random.edge(), sync::Ordering::Release);
                    }
                    4 => {
                        // Headers of the records that are read next.
                        let at = shape.up_at() + 128 + 8 * random.below(64);
                        segment.word64(at).store(random.edge(), sync::Ordering::Release);
                    }
                    _ => {
                        let numbers = [random.edge() as u32 % 9, 4, 32, 0];
                        let receives = Segment::create("hostile", 1 + random.below(4096)).unwrap();
                        let bell = Doorbell::new().unwrap();
                        let fds = [receives.fd(), bell.invitation().page, bell.invitation().event];
                        let _ = line.send(&wire::packet(Kind::Parcel, &numbers, &body), &fds);
                    }
                }
                victim.progress();
            }
            drop(line);
            victim.until_empty();
        }
        victim.still_works();
        let Victim { mut pe, context, session, .. } = victim;
        context.stop().wait(&mut pe).unwrap();
        drop(session);
    });
}
