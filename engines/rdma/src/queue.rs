//! Send queues: for each connection the tasks that wait for their turn, all in one store that never grows.

use crate::engine::Rdma;
use softdpu_room::hardware::Ticket;
use softdpu_status::{Code, Error, Result};

const NONE: u32 = u32::MAX;

/// The tasks of one connection, first in first out.
#[derive(Debug)]
pub(crate) struct Queue {
    head: u32,
    tail: u32,
}

impl Queue {
    pub(crate) const fn new() -> Queue {
        Queue { head: NONE, tail: NONE }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

#[derive(Debug)]
struct Place {
    ticket: Option<Ticket<Rdma>>,
    next: u32,
}

/// Places for all tasks of a context.
#[derive(Debug)]
pub(crate) struct Store {
    places: Vec<Place>,
    free: u32,
}

impl Store {
    /// For `count` tasks.
    ///
    /// # Errors
    /// NoMemory.
    pub(crate) fn new(count: u32) -> Result<Store> {
        let mut places = Vec::new();
        places
            .try_reserve_exact(count as usize)
            .map_err(|_| Error::new(Code::NoMemory, "no memory for send queues"))?;
        for at in 1..=count {
            places.push(Place { ticket: None, next: if at == count { NONE } else { at } });
        }
        Ok(Store { free: if count == 0 { NONE } else { 0 }, places })
    }

    /// Puts a task at the end; gives it back when there is no place, which no engine should see.
    pub(crate) fn push(&mut self, queue: &mut Queue, ticket: Ticket<Rdma>) -> Result<(), Ticket<Rdma>> {
        let at = self.free;
        let Some(place) = self.places.get_mut(at as usize) else { return Err(ticket) };
        self.free = place.next;
        *place = Place { ticket: Some(ticket), next: NONE };
        match self.places.get_mut(queue.tail as usize) {
            Some(last) => last.next = at,
            None => queue.head = at,
        }
        queue.tail = at;
        Ok(())
    }

    /// The task at the front.
    pub(crate) fn front(&mut self, queue: &Queue) -> Option<&mut Ticket<Rdma>> {
        self.places.get_mut(queue.head as usize)?.ticket.as_mut()
    }

    /// Takes it.
    pub(crate) fn pop(&mut self, queue: &mut Queue) -> Option<Ticket<Rdma>> {
        let at = queue.head;
        let place = self.places.get_mut(at as usize)?;
        let ticket = place.ticket.take();
        queue.head = place.next;
        if queue.head == NONE {
            queue.tail = NONE;
        }
        place.next = self.free;
        self.free = at;
        ticket
    }
}
