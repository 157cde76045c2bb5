//! Settings of a context, with the contract's rules.
#![cfg_attr(not(feature = "capi"), expect(dead_code, reason = "some settings are the C face's alone"))]

use crate::caps::{Caps, Transport};
use crate::job::Op;
use softdpu_memory::Access;
use softdpu_status::{Code, Error, Result};

/// Path units by the contract's numbers.
const MTU: [u32; 5] = [256, 512, 1024, 2048, 4096];

/// Connections of a context that asks for no other number.
const CONNECTIONS: u16 = 16;
/// Milliseconds that an attempt to connect may take.
const TIMEOUT: u16 = 5000;
/// Repeats without end.
pub(crate) const RNR_FOREVER: u8 = 7;

/// Settings of a context.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    pub(crate) transport: Transport,
    /// Rights of peers: RDMA flags.
    pub(crate) rights: u32,
    pub(crate) send_queue: Option<u32>,
    pub(crate) send_list: u32,
    pub(crate) receive_list: u32,
    /// By number.
    pub(crate) mtu: u32,
    pub(crate) gid_index: u32,
    pub(crate) sl: u32,
    pub(crate) timeout: u16,
    pub(crate) connections: u16,
    pub(crate) rnr: u8,
    /// Pool sizes, by task kind.
    pub(crate) tasks: [u32; Op::ALL.len()],
    /// Rust: tasks of all kinds in flight at most.
    pub(crate) slots: u32,
    /// Does the program want to be told of its connections?
    pub(crate) told: bool,
}

fn invalid<T>(call: &str, what: &'static str, value: u64, allowed: std::fmt::Arguments<'_>) -> Result<T> {
    log::error!(target: crate::LOG, "{call}: {what} {value}, allowed {allowed}");
    Err(Error::new(Code::InvalidValue, what))
}

fn lacking<T>(call: &str, what: &'static str, value: u64, limit: u64) -> Result<T> {
    log::error!(target: crate::LOG, "{call}: {what} {value}, the device has at most {limit}");
    Err(Error::new(Code::NotSupported, what))
}

impl Settings {
    pub(crate) fn new(caps: &Caps) -> Settings {
        let largest = MTU.iter().rposition(|&bytes| bytes <= caps.max_mtu).unwrap_or(0);
        Settings {
            transport: Transport::Reliable,
            rights: 0,
            send_queue: None,
            send_list: 1,
            receive_list: 1,
            mtu: largest as u32,
            gid_index: 0,
            sl: 0,
            timeout: TIMEOUT,
            connections: CONNECTIONS.min(caps.max_num_connections.clamp(1, 65535) as u16),
            rnr: RNR_FOREVER,
            tasks: [0; Op::ALL.len()],
            slots: 0,
            told: false,
        }
    }

    /// Send-side tasks of a connection in flight at most.
    pub(crate) fn send_queue(&self, caps: &Caps) -> u32 {
        let tasks: u32 = self.tasks[1..].iter().fold(0, |sum, &n| sum.saturating_add(n));
        let follow = tasks.max(1).checked_next_power_of_two().unwrap_or(1 << 31);
        self.send_queue.unwrap_or(follow.min(caps.max_send_queue_size.max(1)).max(1))
    }

    pub(crate) fn set_send_queue(&mut self, size: u32, caps: &Caps, call: &str) -> Result<()> {
        if size == 0 {
            return invalid(call, "send queue size", 0, format_args!("1 to {}", caps.max_send_queue_size));
        }
        match size.checked_next_power_of_two() {
            Some(size) if size <= caps.max_send_queue_size => {
                self.send_queue = Some(size);
                Ok(())
            }
            _ => lacking(call, "send queue size", size.into(), caps.max_send_queue_size.into()),
        }
    }

    pub(crate) fn set_send_list(&mut self, len: u32, caps: &Caps, call: &str) -> Result<()> {
        let most = caps.max_send_buf_list_len;
        if len == 0 || len > most {
            return invalid(call, "length of a send list", len.into(), format_args!("1 to {most}"));
        }
        self.send_list = len;
        Ok(())
    }

    pub(crate) fn set_receive_list(&mut self, len: u32, caps: &Caps, call: &str) -> Result<()> {
        let most = caps.max_recv_buf_list_len;
        if len == 0 || len > most {
            return invalid(call, "length of a receive list", len.into(), format_args!("1 to {most}"));
        }
        self.receive_list = len;
        Ok(())
    }

    pub(crate) fn set_transport(&mut self, number: u32, caps: &Caps, call: &str) -> Result<()> {
        let Some(transport) = Transport::from_number(number) else {
            return invalid(call, "transport type", number.into(), format_args!("0 and 1"));
        };
        if !caps.has_transport(transport) {
            log::error!(target: crate::LOG, "{call}: the device has no {transport:?} transport");
            return Err(Error::new(Code::NotSupported, "transport type"));
        }
        self.transport = transport;
        Ok(())
    }

    pub(crate) fn set_mtu(&mut self, number: u32, caps: &Caps, call: &str) -> Result<()> {
        let Some(&bytes) = MTU.get(number as usize) else {
            return invalid(call, "path MTU number", number.into(), format_args!("0 to {}", MTU.len() - 1));
        };
        if bytes > caps.max_mtu {
            return lacking(call, "path MTU", bytes.into(), caps.max_mtu.into());
        }
        self.mtu = number;
        Ok(())
    }

    pub(crate) fn set_rights(&mut self, mask: u32, call: &str) -> Result<()> {
        let remote = (Access::RDMA_READ | Access::RDMA_WRITE | Access::RDMA_ATOMIC).bits();
        let local = Access::LOCAL_READ_WRITE.bits();
        if mask & !(remote | local) != 0 {
            return invalid(call, "permissions", mask.into(), format_args!("the RDMA flags, {remote:#x}"));
        }
        self.rights = mask & remote;
        Ok(())
    }

    pub(crate) fn set_grh(&mut self, on: u8, call: &str) -> Result<()> {
        match on {
            0 => {
                log::error!(target: crate::LOG, "{call}: Ethernet ports cannot do without the global route header");
                Err(Error::new(Code::NotSupported, "global route header"))
            }
            1 => Ok(()),
            n => invalid(call, "value", n.into(), format_args!("0 and 1")),
        }
    }

    pub(crate) fn set_gid_index(&mut self, row: u32, caps: &Caps, call: &str) -> Result<()> {
        if row >= caps.gid_table_size {
            let most = caps.gid_table_size.saturating_sub(1);
            return invalid(call, "row of the GID table", row.into(), format_args!("0 to {most}"));
        }
        self.gid_index = row;
        Ok(())
    }

    pub(crate) fn set_sl(&mut self, sl: u32, call: &str) -> Result<()> {
        if sl > 15 {
            return invalid(call, "service level", sl.into(), format_args!("0 to 15"));
        }
        self.sl = sl;
        Ok(())
    }

    pub(crate) fn set_timeout(&mut self, milliseconds: u16, call: &str) -> Result<()> {
        if milliseconds == 0 {
            return invalid(call, "timeout", 0, format_args!("1 to 65535 ms"));
        }
        self.timeout = milliseconds;
        Ok(())
    }

    pub(crate) fn set_connections(&mut self, count: u16, caps: &Caps, call: &str) -> Result<()> {
        if count == 0 || u32::from(count) > caps.max_num_connections {
            let most = caps.max_num_connections;
            return invalid(call, "number of connections", count.into(), format_args!("1 to {most}"));
        }
        self.connections = count;
        Ok(())
    }

    pub(crate) fn set_rnr(&mut self, count: u8, call: &str) -> Result<()> {
        if count > RNR_FOREVER {
            return invalid(call, "retry count", count.into(), format_args!("0 to {RNR_FOREVER}"));
        }
        self.rnr = count;
        Ok(())
    }

    pub(crate) fn set_tasks(&mut self, op: Op, count: u32, caps: &Caps, call: &str) -> Result<()> {
        if !caps.has(op) {
            log::error!(target: crate::LOG, "{call}: the device has no {} tasks", op.name());
            return Err(Error::new(Code::NotSupported, "the device lacks this task"));
        }
        let most = if op == Op::Receive { caps.max_recv_queue_size } else { caps.max_send_queue_size };
        if count == 0 || count > most {
            return invalid(call, "number of tasks", count.into(), format_args!("1 to {most}"));
        }
        self.tasks[op as usize] = count;
        Ok(())
    }
}

/// How many senders a context tells apart: one per connection; of a dynamic one anybody may come.
pub(crate) fn senders(settings: &Settings) -> u32 {
    let own = u32::from(settings.connections);
    match settings.transport {
        Transport::Reliable => own,
        Transport::Dynamic => own.max(1024),
    }
}
