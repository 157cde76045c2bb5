//! What the tests of ports share.
#![allow(dead_code, reason = "each test uses a part")]

use softdpu_card::{Function, Machine};
use softdpu_net::steer::Rules;
use softdpu_net::{Inlet, InletSetup, Outlet, Port, Sent, Taken, Wake};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Counts wakes.
#[derive(Default)]
pub(crate) struct Count(pub(crate) AtomicU32);

impl Wake for Count {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The functions of a machine of its own, so that tests of one process do not share ports.
pub(crate) fn machine(card: &str) -> Vec<Arc<Function>> {
    let text = format!("[[card]]\nname = \"{card}\"\n");
    Machine::builder().config_text(text).build().unwrap().functions().to_vec()
}

pub(crate) fn inlet(port: &Arc<Port>) -> Inlet {
    port.inlet(InletSetup::new(Arc::new(Count::default()))).unwrap()
}

/// A queue that gets everything.
pub(crate) fn only_inlet(port: &Arc<Port>) -> Inlet {
    let inlet = inlet(port);
    port.steer(Some(Arc::new(Rules::all_to(inlet.queue().number()).compile().unwrap())));
    inlet
}

/// A frame with a number in it.
pub(crate) fn frame(number: u32, len: usize) -> Vec<u8> {
    let mut frame: Vec<u8> =
        (0..len).map(|at| (at as u32).wrapping_mul(7).wrapping_add(number) as u8).collect();
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    if let Some(place) = frame.get_mut(14..18) {
        place.copy_from_slice(&number.to_be_bytes());
    }
    frame
}

pub(crate) fn send(outlet: &mut Outlet, frames: &[Vec<u8>]) {
    let mut batch = outlet.batch();
    for frame in frames {
        let (first, second) = frame.split_at(frame.len() / 2);
        assert_eq!(batch.send(&[first, second]), Sent::Yes);
    }
}

/// Everything that is there now.
pub(crate) fn receive(inlet: &mut Inlet) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while inlet.receive(64, |frame| {
        let mut bytes = vec![0; frame.len()];
        assert_eq!(frame.copy_to(0, &mut bytes), bytes.len());
        assert_eq!(frame.bytes(), bytes);
        let mut end = vec![0; 20];
        let n = frame.copy_to(frame.len() - 4, &mut end);
        assert_eq!(end[..n], bytes[bytes.len() - 4..]);
        frames.push(bytes);
        Taken::Yes
    }) > 0
    {}
    frames
}
