//! What a device's DMA engine can do.

use softdpu_card::{EngineKind, Function};
use softdpu_status::{Code, Error, Result};

/// Limits of the DMA engine of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Caps {
    /// Most bytes one task may move (its whole list).
    pub max_buf_size: u64,
    /// Most elements of a source or destination list.
    pub max_buf_list_len: u32,
    /// Most tasks in flight of one context.
    pub max_num_tasks: u32,
}

impl Caps {
    /// Of this function.
    ///
    /// # Errors
    /// NotSupported when its card has no DMA engine.
    pub fn of(function: &Function) -> Result<Caps> {
        if !function.supports(EngineKind::Dma) {
            return Err(Error::new(Code::NotSupported, "the device has no DMA engine"));
        }
        let limits = &function.limits().dma;
        Ok(Caps {
            max_buf_size: limits.max_buf_size,
            max_buf_list_len: limits.max_buf_list_len,
            max_num_tasks: limits.max_num_tasks,
        })
    }
}
