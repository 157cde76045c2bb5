//! The exporter's side of an import by another process. Runs on the service thread.

use super::copier::Copier;
use super::descriptor::Descriptor;
use super::share::Share;
use super::table;
use super::wire::{self, Wish};
use crate::far::STAGE_BYTES;
use softdpu_link::{Answer, Desk, Peer, Segment, Tie};
use softdpu_status::{Code, Error, Result};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Answers importers.
pub(super) struct ExportDesk;

impl Desk for ExportDesk {
    fn ask(&self, peer: &Peer, request: &[u8], _: Vec<OwnedFd>) -> Answer {
        answer(peer, request).unwrap_or_else(|error| {
            // The importer logs it; here a hostile one could fill the log.
            log::debug!(target: super::LOG, "request of process {}: {error}", peer.pid);
            Answer { bytes: wire::answer(Err(error.code())), ..Answer::default() }
        })
    }
}

fn answer(peer: &Peer, request: &[u8]) -> Result<Answer> {
    let no = |what| Error::new(Code::InvalidValue, what);
    let (wish, bytes) = wire::read_request(request).ok_or(no("no request"))?;
    let descriptor = Descriptor::decode(bytes).map_err(|_| no("no descriptor"))?;
    let share = table::lend(descriptor.id, bytes).map_err(|_| no("no such export"))?;
    match wish {
        Wish::Import => lend(share, peer),
        Wish::Stage => stage(share),
    }
}

fn lend(share: Arc<Share>, peer: &Peer) -> Result<Answer> {
    let (index, page) = share.admit(peer.pid)?;
    let (grant, file) = share.grant();
    let fds = std::iter::once(page).chain(file).collect();
    Ok(Answer { bytes: wire::answer(Ok(&grant)), fds, tie: Some(Box::new(Lent { share, index })) })
}

fn stage(share: Arc<Share>) -> Result<Answer> {
    if share.via.is_some() {
        return Err(Error::new(Code::NotSupported, "memory of another process"));
    }
    let memory = Segment::create("softdpu-stage", STAGE_BYTES)?;
    let fd = memory.fd().as_fd().try_clone_to_owned();
    let fd = fd.map_err(|_| Error::new(Code::NoMemory, "no descriptor for a stage"))?;
    let grant = share.grant().0;
    let tie: Box<dyn Tie> = Box::new(Copier::new(share, memory)?);
    Ok(Answer { bytes: wire::answer(Ok(&grant)), fds: vec![fd], tie: Some(tie) })
}

/// One importer, for as long as its line is there.
struct Lent {
    share: Arc<Share>,
    index: usize,
}

impl Tie for Lent {
    fn gone(&mut self) {
        self.share.release(self.index);
    }
}
