//! The AES-GCM engine on the measuring bench: messages sealed and opened under one 256-bit key, against aws-lc called
//! directly. Every message is sealed under a vector of its own; additional data is none, tags have 16 bytes.

use softdpu::aes_gcm::{AesGcm, Config, Decrypt, Encrypt, Iv, Key, TagLen};
use softdpu::card::{EngineKind, Machine};
use softdpu::memory::{Buf, Memory};
use softdpu::{Access, Context, Device, Handler, ProgressEngine, Starting};
use softdpu_aes_gcm::bare::Bare;

use super::Row;
use super::lane::{Names, Subject, leave_out, length, row, shapes, text};
use super::measure::Lane;
use super::options::Options;
use crate::session;

const KEY: [u8; 32] = [7; 32];
const TAG: TagLen = TagLen::Bits128;

/// All rows that the options ask for.
pub(crate) fn rows(machine: &Machine, options: &Options) -> Result<Vec<Row>, String> {
    let session = session::open(machine.clone());
    let device = session.first_with(EngineKind::AesGcm).and_then(|d| d.open()).map_err(text)?;
    let limit = device.function().limits().aes_gcm.max_buf_size;
    let key = Key::new(&KEY).map_err(text)?;
    let mut rows = Vec::new();
    for &size in &options.sizes {
        if size + TAG.len() as u64 > limit {
            leave_out("aes_gcm", size, format_args!("a task takes at most {limit} bytes, the tag included"));
            continue;
        }
        let bytes = length(size)?;
        for shape in shapes(options) {
            let names = |op| Names { engine: "aes_gcm", op, yardstick: "aws-lc" };
            let seal = |(i, (src, dst)): (usize, (Buf, Buf))| Encrypt {
                src,
                dst,
                key: key.clone(),
                iv: vector(i as u64),
                aad_len: 0,
                tag: TAG,
            };
            let messages = || messages(&device, bytes, shape.depth);
            let tasks = || Ok(messages()?.into_iter().enumerate().map(seal).collect());
            let direct = || Direct::new(messages()?, true);
            rows.push(row((&session, &device), options, (names("encrypt"), size, shape), tasks, direct)?);

            let open =
                |(src, dst)| Decrypt { src, dst, key: key.clone(), iv: vector(0), aad_len: 0, tag: TAG };
            let tasks = || Ok(sealed(messages()?)?.into_iter().map(open).collect());
            let direct = || Direct::new(sealed(messages()?)?, false);
            rows.push(row((&session, &device), options, (names("decrypt"), size, shape), tasks, direct)?);
        }
    }
    Ok(rows)
}

fn vector(n: u64) -> Iv {
    let mut bytes = [0; Iv::MAX];
    bytes[..8].copy_from_slice(&n.to_ne_bytes());
    Iv::from(bytes)
}

impl Subject for Encrypt {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<AesGcm>> {
        Context::start(pe, device, Config { tasks: depth, on_encrypt: Some(handler), ..Config::default() })
    }

    fn renew(&mut self) {
        self.dst.reset();
        // Tasks begin with different vectors and go on in steps larger than there are tasks.
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.iv.to_array()[..8]);
        self.iv = vector(u64::from_ne_bytes(bytes).wrapping_add(1 << 20));
    }
}

impl Subject for Decrypt {
    fn start(
        pe: &mut ProgressEngine,
        device: &Device,
        depth: u32,
        handler: Handler<Self>,
    ) -> softdpu::Result<Starting<AesGcm>> {
        Context::start(pe, device, Config { tasks: depth, on_decrypt: Some(handler), ..Config::default() })
    }

    fn renew(&mut self) {
        self.dst.reset();
    }
}

/// Source and destination of as many messages as fly at once, with room for a tag each, the sources filled.
fn messages(device: &Device, size: usize, depth: u32) -> Result<Vec<(Buf, Buf)>, String> {
    let stride = (size + TAG.len()).next_multiple_of(64);
    let memory = Memory::heap(2 * depth as usize * stride).access(Access::LOCAL_READ_WRITE);
    let memory = memory.register(&[device.shared()]).map_err(text)?;
    let window = |n: usize| memory.buf(n * stride..(n + 1) * stride).map_err(|e| e.to_string());
    let message = |i: usize| -> Result<(Buf, Buf), String> {
        let (mut src, mut dst) = (window(2 * i)?, window(2 * i + 1)?);
        for buf in [&mut src, &mut dst] {
            // Pages that were never written would all be the one zero page.
            buf.set_data(..).map_err(|e| e.to_string())?;
            buf.as_mut_slice().ok_or("the memory is not private")?.fill(i as u8 | 1);
        }
        src.set_data(..size).map_err(|e| e.to_string())?;
        dst.reset();
        Ok((src, dst))
    };
    (0..depth as usize).map(message).collect()
}

/// The same, the sources being sealed messages.
fn sealed(messages: Vec<(Buf, Buf)>) -> Result<Vec<(Buf, Buf)>, String> {
    let bare = Bare::new(&KEY).map_err(text)?;
    let seal = |(mut src, dst): (Buf, Buf)| -> Result<(Buf, Buf), String> {
        let plain = src.to_vec();
        let mut message = vec![0; plain.len() + TAG.len()];
        bare.seal(vector(0), &plain, &mut message).map_err(text)?;
        src.reset();
        src.push_slice(&message).map_err(|e| e.to_string())?;
        Ok((src, dst))
    };
    messages.into_iter().map(seal).collect()
}

/// The yardstick: aws-lc on the same kind of memory, without an engine.
struct Direct {
    bare: Bare,
    messages: Vec<(Buf, Buf)>,
    seals: bool,
    next: usize,
    vectors: u64,
}

impl Direct {
    fn new(mut messages: Vec<(Buf, Buf)>, seals: bool) -> Result<Self, String> {
        for (src, dst) in &mut messages {
            let written = if seals { src.data_len() + TAG.len() } else { src.data_len() - TAG.len() };
            dst.set_data(..written).map_err(|e| e.to_string())?;
        }
        Ok(Self { bare: Bare::new(&KEY).map_err(text)?, messages, seals, next: 0, vectors: 0 })
    }
}

impl Lane for Direct {
    fn run(&mut self, tasks: u64) -> Result<(), String> {
        for _ in 0..tasks {
            let (src, dst) = &mut self.messages[self.next];
            let (Some(src), Some(dst)) = (src.as_slice(), dst.as_mut_slice()) else {
                return Err("the memory is not private".to_owned());
            };
            if self.seals {
                self.vectors += 1;
                self.bare.seal(vector(self.vectors), src, dst).map_err(text)?;
            } else if !self.bare.open(vector(0), src, dst) {
                return Err("a message was not authentic".to_owned());
            }
            self.next = (self.next + 1) % self.messages.len();
        }
        Ok(())
    }
}
