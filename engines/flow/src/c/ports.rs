//! Ports.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_flow.h"
)]

use super::objects::{FlowPort, PORT_CFGS, PORTS, PortCfg, PortSettings, held};
use super::{null, started};
use crate::book::refuse;
use softdpu_memory::handle::{Head, OpenDevice, checked};
use softdpu_room::entry::{guard, guard_unforked};
use softdpu_status::{Code, Error};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

fn settings(cfg: &PortCfg) -> MutexGuard<'_, PortSettings> {
    cfg.settings.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_cfg_create(cfg: *mut *const PortCfg) -> i32 {
    const CALL: &str = "doca_flow_port_cfg_create";
    guard(|| {
        if cfg.is_null() {
            return null(CALL, "cfg");
        }
        let made = PORT_CFGS.make(PortCfg { head: Head::unborn(), settings: Mutex::default() })?;
        // SAFETY: a non-NULL out parameter.
        unsafe { cfg.write(made.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_cfg_set_port_id(cfg: *const PortCfg, port_id: u16) -> i32 {
    const CALL: &str = "doca_flow_port_cfg_set_port_id";
    guard(|| {
        // SAFETY: a handle, or NULL.
        settings(unsafe { checked(cfg, CALL)? }).id = port_id;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_cfg_set_dev(cfg: *const PortCfg, dev: *const OpenDevice) -> i32 {
    const CALL: &str = "doca_flow_port_cfg_set_dev";
    guard(|| {
        // SAFETY: handles, or NULL.
        let (cfg, dev) = unsafe { (checked(cfg, CALL)?, checked(dev, CALL)?) };
        settings(cfg).device = Some(Arc::clone(dev.device()));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_start(cfg: *const PortCfg, port: *mut *const FlowPort) -> i32 {
    const CALL: &str = "doca_flow_port_start";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let PortSettings { id, device } = settings(unsafe { checked(cfg, CALL)? }).clone();
        if port.is_null() {
            return null(CALL, "port");
        }
        let Some(device) = device else {
            return refuse(Code::InvalidValue, "no device", format_args!("{CALL}: port {id} has no device"));
        };
        started(CALL, |book| book.start(id, device))?;
        let made = PORTS.make(FlowPort { head: Head::unborn(), id });
        let made = made.inspect_err(|_| drop(started(CALL, |book| Ok(book.stop(id)))))?;
        // SAFETY: places of slabs are never given back; a non-NULL out parameter.
        unsafe {
            held().ports.push(&*made.as_ptr());
            port.write(made.as_ptr());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_cfg_destroy(cfg: *const PortCfg) -> i32 {
    const CALL: &str = "doca_flow_port_cfg_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; last use.
        unsafe {
            checked(cfg, CALL)?;
            PORT_CFGS.retire_at(cfg);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_port_stop(port: *const FlowPort) -> i32 {
    const CALL: &str = "doca_flow_port_stop";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let id = unsafe { checked(port, CALL)? }.id;
        started(CALL, |book| Ok(book.stop(id)))?;
        held().end_ports(|known| known.id == id);
        Ok(())
    })
}

/// Entries take effect when they are added, so that there is nothing left to carry out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_entries_process(
    port: *const FlowPort,
    pipe_queue: u16,
    _timeout: u64,
    _max_processed_entries: u32,
) -> i32 {
    const CALL: &str = "doca_flow_entries_process";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { checked(port, CALL)? };
        started(CALL, |book| match book.queues {
            queues if pipe_queue < queues => Ok(()),
            queues => {
                log::error!(target: crate::LOG, "{CALL}: queue {pipe_queue}, there are {queues}");
                Err(Error::new(Code::InvalidValue, "no such queue"))
            }
        })
    })
}
