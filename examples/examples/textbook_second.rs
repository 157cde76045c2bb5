//! The textbook's second skeleton in Rust: device, huge pages, progress engine, an asynchronous RDMA write, the loop.
//!
//! The write goes through a real connection, both ends of which are in this program.
//!
//! `cargo run --example textbook_second`

use softdpu::prelude::*;
use softdpu::rdma::{Connection, Endpoint, Options, Rdma, Write};

const MIB: usize = 1 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // 1 enumerate and open a device
    let session = Session::open()?;
    let device = session.first_with(EngineKind::Rdma)?.open()?;

    // 2 allocate and register memory: 64 MiB on huge pages, if there are any
    let access = Access::LOCAL_READ_WRITE | Access::RDMA_WRITE;
    let pages = HugePage::Prefer(PageSize::Mib2);
    let memory = Memory::hugepage(64 * MIB, pages).access(access).register(&[&device])?;
    println!("{} MiB in pages of {} bytes", memory.len() / MIB, memory.page_size());

    // 3 a progress engine, and the RDMA context whose events it takes
    let mut pe = ProgressEngine::new(&session)?;
    let endpoint = Endpoint::new(&device, Options { peers: Access::RDMA_WRITE, ..Options::default() })?;
    let mut rdma = Context::<Rdma>::start(&mut pe, &device, endpoint.config())?.wait(&mut pe)?;
    let (here, _there) = loop_back(&endpoint)?;

    // 4 submit an asynchronous task: it owns its buffer while it flies
    let export = memory.export_rdma(&device)?;
    let remote = RemoteMemory::import(&device, export.bytes())?;
    let mut src = memory.alias(0..1024)?;
    src.push_slice(&[0x5a; 1024])?;
    let dst = remote.buf(32 * MIB..32 * MIB + 1024)?;
    let mut flying = rdma.submit(Write { to: here.target(), src, dst, immediate: None })?;

    // 5 turn the loop until it has landed
    let done = loop {
        pe.progress(); // does not block
        match flying.try_take() {
            Ok(done) => break done,
            Err(still) => flying = still,
        }
    };
    println!("{} bytes written, {} in flight", done.result?, rdma.in_flight());

    let mut landed = memory.alias(32 * MIB..32 * MIB + 1024)?;
    landed.advance(1024)?;
    let mut bytes = [0; 1024];
    landed.read_at(0, &mut bytes)?;
    assert_eq!(bytes, [0x5a; 1024]);
    println!("every byte has arrived");
    rdma.stop().wait(&mut pe)?;
    Ok(())
}

/// A connection of an endpoint with itself.
fn loop_back(endpoint: &Endpoint) -> softdpu::Result<(Connection, Connection)> {
    let (here, there) = (endpoint.export()?, endpoint.export()?);
    here.join(there.description())?;
    there.join(here.description())?;
    Ok((here, there))
}
