//! Packets that a queue hands to the program, and the functions of the program that events run.
#![expect(unsafe_code, reason = "entry points for C, and its arrays")]

use super::checked;
use crate::place::Place;
use crate::shadow::Kind;
use crate::{rules, with};

/// The program's function for a kind of event of a context; 0 for none.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_listen(ctx: usize, kind: u32, function: usize) {
    checked(|shadow| {
        shadow.listeners.insert((ctx, kind), function);
    });
}

/// The same, to be called.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_listener(ctx: usize, kind: u32) -> usize {
    with(|shadow| shadow.listeners.get(&(ctx, kind)).copied()).flatten().unwrap_or(0)
}

/// A packet is the program's from now on, until it gives it back.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_packet(packet: usize, queue: usize, place: usize) {
    checked(|shadow| shadow.create(Kind::Buffer, "packet", packet, [queue, 0], Place(place)));
}

/// These came together, in this array.
#[unsafe(no_mangle)]
unsafe extern "C" fn softdpu_check_packets(array: *const usize, count: u16) {
    // SAFETY: as many packets as the library says.
    let packets = unsafe { core::slice::from_raw_parts(array, usize::from(count)) }.to_vec();
    checked(|shadow| {
        shadow.arrays.insert(array.addr(), packets);
    });
}

/// All packets of an array are given back.
#[unsafe(no_mangle)]
extern "C" fn softdpu_check_packets_freed(array: usize, place: usize) {
    let place = Place(place);
    checked(|shadow| {
        let Some(packets) = shadow.arrays.get(&array).cloned() else { return };
        for packet in packets {
            match shadow.objects.get(packet).map(|packet| packet.died) {
                Some(Some(died)) => {
                    let numbers = format_args!("with its batch at {place}, before at {died}");
                    return shadow.blame(&rules::DOUBLE_DESTROY, place, packet, numbers);
                }
                _ => shadow.bury(packet, place),
            }
        }
    });
}
