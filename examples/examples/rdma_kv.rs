//! A key-value store that is read without its help: clients look into its memory by one-sided reads, and send it messages
//! only to change something.
//!
//! Every slot of the table begins with a version, which is odd while the slot is being changed; who reads compares the
//! version before and after. `cargo run --example rdma_kv` runs both sides as threads, `-- two` as two processes.

use softdpu::prelude::*;
use softdpu::rdma::{Connection, Endpoint, Options, Rdma, Read, Receives, Send, Target};
use softdpu_examples::wire::Wire;
use std::error::Error;

type Fallible<T> = Result<T, Box<dyn Error + std::marker::Send + Sync>>;

/// Version, key, value: eight bytes each.
const SLOT: usize = 24;
const SLOTS: u64 = 1024;
const TABLE: usize = SLOT * SLOTS as usize;
const KEYS: u64 = 500;

fn main() -> Fallible<()> {
    match std::env::args().nth(1).as_deref() {
        Some("store") => store(Wire::stdio()),
        Some("two") => client(Wire::child("store")?),
        _ => {
            let (here, there) = Wire::pair();
            let other = std::thread::spawn(|| store(there));
            client(here)?;
            other.join().map_err(|_| "the store panicked")?
        }
    }
}

struct Side {
    device: Device,
    pe: ProgressEngine,
    rdma: Context<Rdma>,
    connection: Connection,
}

fn side(device: &str) -> Fallible<Side> {
    let session = Session::open()?;
    let device = session.device(device)?.open()?;
    let endpoint = Endpoint::new(&device, Options { peers: Access::RDMA_READ, ..Options::default() })?;
    let mut pe = ProgressEngine::new(&session)?;
    let rdma = Context::<Rdma>::start(&mut pe, &device, endpoint.config())?.wait(&mut pe)?;
    let connection = endpoint.export()?;
    Ok(Side { device, pe, rdma, connection })
}

fn home(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54
}

fn field(bytes: &[u8], which: usize) -> u64 {
    bytes[8 * which..][..8].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Owns the table; changes it as clients ask, and answers with a message.
fn store(mut wire: Wire) -> Fallible<()> {
    let Side { device, mut pe, mut rdma, connection } = side("03:00.0")?;
    let table =
        Memory::memfd(TABLE).access(Access::LOCAL_READ_WRITE | Access::RDMA_READ).register(&[&device])?;
    let messages = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?.pool(16)?;
    let export = table.export_rdma(&device)?;
    wire.put(connection.description())?;
    wire.put(export.bytes())?;
    connection.join(&wire.get()?)?;

    let mut slots = table.buf(..)?;
    slots.write_at(0, &vec![0; TABLE])?;
    let mut receives = Receives::new();
    for _ in 0..8 {
        receives.post(&mut rdma, messages.take().ok_or("a buffer")?)?;
    }
    loop {
        let received = pe.run(receives.next()).ok_or("posted")??;
        let (from, bytes) = (received.message.from, received.bytes());
        let mut buf = received.buf;
        buf.reset();
        receives.post(&mut rdma, buf)?;
        if bytes.is_empty() {
            return Ok(()); // the client is through
        }
        put(&mut slots, field(&bytes, 0), field(&bytes, 1))?;
        let done = pe.run(rdma.submit(Send { to: from, src: None, immediate: None })?);
        done.result?;
    }
}

/// Writes a slot; whoever reads it meanwhile sees an odd version, or two different ones.
fn put(slots: &mut Buf, key: u64, value: u64) -> Fallible<()> {
    let mut at = home(key);
    let mut slot = [0; SLOT];
    loop {
        slots.read_at(SLOT * at as usize, &mut slot)?;
        if field(&slot, 0) == 0 || field(&slot, 1) == key {
            break;
        }
        at = (at + 1) % SLOTS;
    }
    let (begin, version) = (SLOT * at as usize, field(&slot, 0));
    slots.write_at(begin, &(version + 1).to_le_bytes())?;
    slots.write_at(begin + 8, &key.to_le_bytes())?;
    slots.write_at(begin + 16, &value.to_le_bytes())?;
    slots.write_at(begin, &(version + 2).to_le_bytes())?;
    Ok(())
}

fn client(mut wire: Wire) -> Fallible<()> {
    let Side { device, mut pe, mut rdma, connection } = side("b1:00.0")?;
    let messages = Memory::heap(4096).access(Access::LOCAL_READ_WRITE).register(&[&device])?;
    connection.join(&wire.get()?)?;
    let table = RemoteMemory::import(&device, &wire.get()?)?;
    wire.put(connection.description())?;

    let to = connection.target();
    let mut receives = Receives::new();
    let mut room = messages.buf(..SLOT)?;
    for key in 0..KEYS {
        let mut request = messages.alias(64..80)?;
        request.push_slice(&[key.to_le_bytes(), (key * key).to_le_bytes()].concat())?;
        receives.post(&mut rdma, messages.alias(128..144)?)?;
        pe.run(rdma.submit(Send { to, src: Some(request), immediate: None })?).result?;
        pe.run(receives.next()).ok_or("posted")??; // the store has done it
    }
    let mut looks = 0;
    for key in 0..KEYS {
        let (value, back) = get(&mut pe, &mut rdma, to, &table, room, key, &mut looks)?;
        room = back;
        assert_eq!(value, Some(key * key), "key {key}");
    }
    let (value, _) = get(&mut pe, &mut rdma, to, &table, room, KEYS + 1, &mut looks)?;
    assert_eq!(value, None);
    println!("{KEYS} values found by {looks} one-sided reads");
    pe.run(rdma.submit(Send { to, src: None, immediate: None })?).result?;
    wire.close()?;
    Ok(())
}

/// Looks for a key from its home on; the store takes no part in it.
fn get(
    pe: &mut ProgressEngine,
    rdma: &mut Context<Rdma>,
    from: Target,
    table: &RemoteMemory,
    mut room: Buf,
    key: u64,
    looks: &mut u32,
) -> Fallible<(Option<u64>, Buf)> {
    let mut at = home(key);
    loop {
        let mut seen = Vec::new();
        for _ in 0..2 {
            let begin = SLOT * at as usize;
            let mut src = table.buf(begin..begin + SLOT)?;
            src.set_data(..)?;
            room.reset();
            let done = pe.run(rdma.submit(Read { from, src, dst: room })?);
            done.result?;
            *looks += 1;
            room = done.task.dst;
            seen.push(room.to_vec());
        }
        let version = field(&seen[0], 0);
        if !version.is_multiple_of(2) || seen[0] != seen[1] {
            continue; // it is being changed
        }
        if version == 0 {
            return Ok((None, room));
        }
        if field(&seen[0], 1) == key {
            return Ok((Some(field(&seen[0], 2)), room));
        }
        at = (at + 1) % SLOTS;
    }
}
