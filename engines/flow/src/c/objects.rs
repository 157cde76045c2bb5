//! The handles that programs hold: three configurations, ports, pipes, entries.

use softdpu_memory::device::Device;
use softdpu_memory::handle::{Head, Object, Slab, kind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

macro_rules! objects {
    ($($(#[$doc:meta])* $name:ident: $kind:ident, $label:literal, $slab:ident { $($field:ident: $type:ty),* })*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        #[repr(C)]
        pub struct $name {
            pub(super) head: Head,
            $(pub(super) $field: $type,)*
        }

        // SAFETY: repr(C), head first.
        unsafe impl Object for $name {
            const KIND: u32 = kind::$kind;
            const NAME: &'static str = $label;
        }

        pub(super) static $slab: Slab<$name> = Slab::new();
    )*};
}

/// What a configuration of the library says.
#[derive(Clone, Copy, Debug)]
pub(super) struct LibrarySettings {
    pub(super) queues: u16,
}

/// What the configuration of a port says.
#[derive(Clone, Debug, Default)]
pub(super) struct PortSettings {
    pub(super) id: u16,
    pub(super) device: Option<Arc<Device>>,
}

/// What the configuration of a pipe says.
#[derive(Clone, Debug, Default)]
pub(super) struct PipeSettings {
    pub(super) name: String,
    pub(super) is_root: bool,
    pub(super) marks: Vec<u32>,
}

objects! {
    /// `struct doca_flow_cfg`.
    FlowCfg: FLOW_CFG, "flow configuration", CFGS { settings: Mutex<LibrarySettings> }
    /// `struct doca_flow_port_cfg`.
    PortCfg: FLOW_PORT_CFG, "port configuration", PORT_CFGS { settings: Mutex<PortSettings> }
    /// `struct doca_flow_port`.
    FlowPort: FLOW_PORT, "flow port", PORTS { id: u16 }
    /// `struct doca_flow_pipe_cfg`.
    PipeCfg: FLOW_PIPE_CFG, "pipe configuration", PIPE_CFGS { port: u16, settings: Mutex<PipeSettings> }
    /// `struct doca_flow_pipe`, which is its entries as well: they have no life of their own.
    FlowPipe: FLOW_PIPE, "flow pipe", PIPES { port: u16, number: u64 }
}

/// Ports and pipes that programs hold; they go with what they belong to.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) ports: Vec<&'static FlowPort>,
    pub(super) pipes: Vec<&'static FlowPipe>,
}

static LIVE: Mutex<Live> = Mutex::new(Live { ports: Vec::new(), pipes: Vec::new() });

/// See [`Live`].
pub(super) fn held() -> MutexGuard<'static, Live> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Live {
    /// Ends the handles of pipes that `which` names.
    pub(super) fn end_pipes(&mut self, which: impl Fn(&FlowPipe) -> bool) {
        self.pipes.retain(|pipe| {
            let ends = which(pipe);
            if ends {
                // SAFETY: the slab's own, and off the list in the same moment.
                unsafe { PIPES.retire_at(*pipe) };
            }
            !ends
        });
    }

    /// Ends the handles of ports that `which` names, and of their pipes.
    pub(super) fn end_ports(&mut self, which: impl Fn(&FlowPort) -> bool) {
        for at in (0..self.ports.len()).rev().filter(|at| which(self.ports[*at])).collect::<Vec<_>>() {
            let port = self.ports.swap_remove(at);
            let id = port.id;
            // SAFETY: as above.
            unsafe { PORTS.retire_at(port) };
            self.end_pipes(|pipe| pipe.port == id);
        }
    }
}
