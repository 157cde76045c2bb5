//! The textbook example: 64 MiB of huge pages, registered, exported, and used by a second process without a copy: both
//! have the very same pages mapped.
//!
//! `cargo run --example shared_hugepage`; without free huge pages it goes on with ordinary ones and says so.

use softdpu::prelude::*;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

const BYTES: usize = 64 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Session::open()?.first_with(EngineKind::Dma)?.open()?;
    if std::env::args().any(|argument| argument == "second") { second(&device) } else { first(&device) }
}

fn first(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let memory = Memory::hugepage(BYTES, HugePage::Prefer(PageSize::Mib2))
        .access(Access::LOCAL_READ_WRITE | Access::PCI_READ_WRITE)
        .register(&[device])?;
    println!(
        "{} MiB in pages of {} KiB, key {:#x}",
        BYTES >> 20,
        memory.page_size() >> 10,
        memory.mkey(device)?
    );
    let dmabuf = memory.export_dmabuf()?;
    let kind = if dmabuf.is_real() { "a dmabuf of the kernel" } else { "a sealed memory file" };
    println!("exported as {kind}");
    let mut buf = memory.buf(..)?;
    buf.write_at(0, b"written by the first process")?;

    // Descriptors travel over sockets, or are inherited; here as the standard input of the second process.
    let input = Stdio::from(OwnedFd::from(dmabuf));
    let status = Command::new(std::env::current_exe()?).arg("second").stdin(input).status()?;
    let mut answer = [0; 29];
    buf.read_at(BYTES - 29, &mut answer)?;
    println!("first process sees: {}", String::from_utf8_lossy(&answer));
    if status.success() { Ok(()) } else { Err("the second process failed".into()) }
}

fn second(device: &Device) -> Result<(), Box<dyn std::error::Error>> {
    let dmabuf = std::io::stdin().as_fd().try_clone_to_owned()?;
    let memory = Memory::dmabuf(dmabuf, 0..BYTES as u64).register(&[device])?;
    let mut buf = memory.buf(..)?;
    let mut text = [0; 28];
    buf.read_at(0, &mut text)?;
    println!("second process sees: {}", String::from_utf8_lossy(&text));
    buf.write_at(BYTES - 29, b"written by the second process")?;
    println!("no byte was copied between the two");
    Ok(())
}
