// Compiles: everything moves between threads, borrows nothing, and may be dropped in any order.
use softdpu::dma::{Dma, Memcpy};
use softdpu::prelude::*;

pub fn moves<T: Send + 'static>() {}
pub fn shares<T: Send + Sync + 'static>() {}

pub fn all() {
    moves::<Buf>();
    moves::<Memcpy>();
    moves::<InFlight<Memcpy>>();
    moves::<Context<Dma>>();
    moves::<ProgressEngine>();
    shares::<Session>();
    shares::<Device>();
    shares::<DeviceInfo>();
    shares::<Memory>();
    shares::<BufPool>();
}

pub fn any_order(
    session: Session,
    device: Device,
    memory: Memory,
    pe: ProgressEngine,
    flying: InFlight<Memcpy>,
) {
    drop(session);
    drop(pe);
    drop(memory);
    drop(flying);
    drop(device);
}

pub fn rooms<E: softdpu_room::engine::Engine>() {}
