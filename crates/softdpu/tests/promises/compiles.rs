// Compiles: everything moves between threads, borrows nothing, and may be dropped in any order.
use softdpu::comch::{Client, Connection, Consumer, Message, Payload, Producer, Server};
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
    shares::<Server>();
    shares::<Client>();
    shares::<Connection>();
    shares::<Producer>();
    shares::<Consumer>();
    shares::<Message>();
    moves::<Payload>();
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

pub fn futures_move(
    connection: &'static Connection,
    producer: &'static Producer,
    consumer: &'static Consumer,
) {
    fn moves<T: Send + 'static>(_: T) {}
    moves(connection.send(b"bytes"));
    moves(connection.recv());
    moves(producer.send(1.into(), Payload::default()));
    moves(consumer.next());
}

pub fn rooms<E: softdpu_room::engine::Engine>() {}
