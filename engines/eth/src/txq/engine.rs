//! The engine of send queues: its settings, and what submits look at.

use super::hardware::SendQueue;
use super::number::Number;
use super::task::SendJob;
use crate::caps::TxCaps;
use softdpu_card::{EngineKind, Function};
use softdpu_memory::copy::Gate;
use softdpu_memory::device::Device;
use softdpu_room::engine::{Engine, EngineInfo, Work};
use softdpu_status::{Code, Error, Result};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The send queue engine.
#[derive(Debug)]
pub struct EthTxq;

/// What a send queue is asked to be, by either face.
#[derive(Clone, Copy, Debug)]
pub struct TxSetup {
    /// Most elements of a packet's list.
    pub list_len: u32,
    /// Longest header of a large send in bytes.
    pub max_header: u16,
    /// Tasks that may be added while it runs.
    pub expansion: u32,
}

impl Default for TxSetup {
    /// One element, headers of 74 bytes.
    fn default() -> Self {
        TxSetup { list_len: 1, max_header: 74, expansion: 0 }
    }
}

/// Configuration of a send queue of the Rust face. 0 stands for the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct TxConfig {
    /// Sends in flight; 256.
    pub tasks: u32,
    /// Most buffers chained to one packet; what the device can do.
    pub list_len: u32,
}

/// What submits, turns and the faces look at.
#[derive(Debug)]
pub struct Terms {
    /// What one packet may be.
    pub(crate) gate: Gate,
    /// What the data of a large send may be.
    pub(crate) large: Gate,
    pub(crate) max_packet: usize,
    pub(crate) max_header: usize,
    pub(crate) expansion: u32,
    number: Mutex<Option<Number>>,
}

impl Terms {
    fn lock(&self) -> MutexGuard<'_, Option<Number>> {
        self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of the queue while it runs.
    pub fn number(&self) -> Option<u16> {
        self.lock().as_ref().map(Number::get)
    }

    /// Gives the running queue a number.
    ///
    /// # Errors
    /// AlreadyExist: another queue of the port has it. BadState unless it runs.
    pub fn set_number(&self, number: u16) -> Result<()> {
        match &mut *self.lock() {
            Some(mine) => mine.change(number),
            None => Err(Error::new(Code::BadState, "the queue does not run")),
        }
    }

    pub(crate) fn claim(&self, number: Option<Number>) {
        *self.lock() = number;
    }
}

impl EthTxq {
    /// The work of a queue.
    ///
    /// # Errors
    /// NotSupported when the device has no send queues.
    pub fn work(device: &Arc<Device>, setup: TxSetup) -> Result<(Box<dyn Work>, Arc<Terms>)> {
        let caps = TxCaps::of(device.function())?;
        let terms = Arc::new(Terms {
            gate: Gate::new(device.bit(), caps.max_packet_size.into(), setup.list_len),
            large: Gate::new(device.bit(), caps.max_lso_msg_size.into(), setup.list_len),
            max_packet: caps.max_packet_size as usize,
            max_header: setup.max_header.into(),
            expansion: setup.expansion,
            number: Mutex::new(None),
        });
        Ok((SendQueue::work(device, terms.clone()), terms))
    }
}

impl Engine for EthTxq {
    const INFO: &'static EngineInfo = &EngineInfo {
        name: "eth_txq",
        kind: EngineKind::EthTxq,
        tasks: &["send", "lso_send", "batch_send", "batch_lso_send"],
        fatal: false,
    };
    type Caps = TxCaps;
    type Config = TxConfig;
    type Job = SendJob;
    type Event = core::convert::Infallible;

    fn caps(function: &Function) -> Result<TxCaps> {
        TxCaps::of(function)
    }

    fn build(device: &Arc<Device>, config: TxConfig) -> Result<(Box<dyn Work>, u32)> {
        let caps = TxCaps::of(device.function())?;
        let tasks = if config.tasks == 0 { 256 } else { config.tasks };
        let list_len = if config.list_len == 0 { caps.max_send_buf_list_len } else { config.list_len };
        if tasks > caps.max_burst_size || list_len > caps.max_send_buf_list_len {
            log::error!(target: crate::LOG, "send queue on {}: {tasks} tasks with lists of {list_len} asked for, limits {} and {}",
                device.function(), caps.max_burst_size, caps.max_send_buf_list_len);
            return Err(Error::new(Code::InvalidValue, "above a limit of the device"));
        }
        let setup = TxSetup { list_len, max_header: caps.max_lso_header_size, expansion: 0 };
        Ok((EthTxq::work(device, setup)?.0, tasks))
    }
}
