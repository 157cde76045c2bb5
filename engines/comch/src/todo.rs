//! Notes for the hardware of a server or client, from whatever thread: which seats to look at.

use crate::sync::{AtomicBool, Ordering};
use softdpu_room::hardware::Alarm;
use std::sync::{Arc, Mutex, PoisonError};

/// Seats that somebody wants to be looked at.
#[derive(Debug)]
pub(crate) struct Todo {
    noted: AtomicBool,
    seats: Mutex<Vec<u32>>,
    alarm: Arc<Alarm>,
}

impl Todo {
    pub(crate) fn new(alarm: Arc<Alarm>) -> Arc<Todo> {
        Arc::new(Todo { noted: AtomicBool::new(false), seats: Mutex::default(), alarm })
    }

    /// What wakes the hardware's program.
    pub(crate) fn alarm(&self) -> &Arc<Alarm> {
        &self.alarm
    }

    /// Something happened that the seat's connection, or whoever is to sit there, must be looked at for.
    pub(crate) fn look_at(&self, seat: u32) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if !seats.contains(&seat) {
            seats.push(seat);
        }
        drop(seats);
        self.noted.store(true, Ordering::Release);
        self.alarm.ring();
    }

    /// Is anything noted?
    #[inline]
    pub(crate) fn is_noted(&self) -> bool {
        self.noted.load(Ordering::Acquire)
    }

    /// What was noted.
    pub(crate) fn take(&self) -> Vec<u32> {
        self.noted.store(false, Ordering::Release);
        core::mem::take(&mut *self.seats.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
