//! The board of sessions on a card: the workers of the threaded board, and contexts whose work the card does.

use crate::card::Card;
use crate::driver::OnCard;
use softdpu_card::EngineKind;
use softdpu_memory::device::Device;
use softdpu_room::board::{Bell, Board};
use softdpu_room::context::Core;
use softdpu_room::engine::{EngineInfo, Work};
use softdpu_status::{Code, Error, Result};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct CardBoard {
    pub(crate) card: &'static Card,
    /// Who turns lanes besides progress.
    pub(crate) workers: &'static dyn Board,
}

impl Board for CardBoard {
    fn attach(&'static self, core: &'static Core) {
        self.workers.attach(core);
    }
    fn detach(&self, core: &'static Core) {
        self.workers.detach(core);
    }
    fn bell(&self) -> &Bell {
        self.workers.bell()
    }
    fn has_no_workers(&self) -> bool {
        self.workers.has_no_workers()
    }
    fn visit(&self, look: &mut dyn FnMut(&'static Core)) {
        self.workers.visit(look);
    }
    fn workers(&self) -> u32 {
        self.workers.workers()
    }
    fn name(&self) -> &'static str {
        "card"
    }

    fn fit(
        &self,
        engine: &'static EngineInfo,
        device: &Arc<Device>,
        tasks: u32,
        work: Box<dyn Work>,
    ) -> Result<Box<dyn Work>> {
        let card = self.card;
        match engine.kind {
            EngineKind::Dma => OnCard::make::<softdpu_dma::Dma>(card, device, tasks, work),
            EngineKind::Sha => OnCard::make::<softdpu_sha::Sha>(card, device, tasks, work),
            EngineKind::Compress => OnCard::make::<softdpu_compress::Compress>(card, device, tasks, work),
            EngineKind::ErasureCoding => {
                OnCard::make::<softdpu_erasure_coding::ErasureCoding>(card, device, tasks, work)
            }
            EngineKind::AesGcm => OnCard::make::<softdpu_aes_gcm::AesGcm>(card, device, tasks, work),
            // They reach the card anyway.
            EngineKind::SyncEvent | EngineKind::Comch => Ok(work),
            _ => {
                log::error!(target: "softdpu::bridge", "{}: the bridge to the card does not drive this engine", engine.name);
                Err(Error::new(Code::NotSupported, "the bridge to the card does not drive this engine"))
            }
        }
    }
}
