// E0382: a job is completed once.
use softdpu_room::engine::Engine;
use softdpu_room::hardware::{Port, Ticket};

pub fn twice<E: Engine>(port: &mut Port<'_, E>, ticket: Ticket<E>) {
    port.complete(ticket, Ok(0));
    port.complete(ticket, Ok(0));
}
