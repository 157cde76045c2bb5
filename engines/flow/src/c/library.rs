//! Starting and ending the library.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_flow.h"
)]

use super::null;
use super::objects::{CFGS, FlowCfg, LibrarySettings, held};
use crate::book::{Book, open, refuse};
use core::ffi::{CStr, c_char};
use softdpu_memory::handle::{Head, checked};
use softdpu_room::entry::{guard, guard_unforked, guard_value};
use softdpu_status::Code;
use std::sync::{Mutex, PoisonError};

/// The mode there is, by its two names: a network function of its own, no switch, with rules the card goes by.
const MODES: [&str; 2] = ["vnf", "vnf,hws"];

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_cfg_create(cfg: *mut *const FlowCfg) -> i32 {
    const CALL: &str = "doca_flow_cfg_create";
    guard(|| {
        if cfg.is_null() {
            return null(CALL, "cfg");
        }
        let settings = Mutex::new(LibrarySettings { queues: 1 });
        let made = CFGS.make(FlowCfg { head: Head::unborn(), settings })?;
        // SAFETY: a non-NULL out parameter.
        unsafe { cfg.write(made.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_cfg_set_pipe_queues(cfg: *const FlowCfg, pipe_queues: u16) -> i32 {
    const CALL: &str = "doca_flow_cfg_set_pipe_queues";
    guard(|| {
        // SAFETY: a handle, or NULL.
        let cfg = unsafe { checked(cfg, CALL)? };
        if pipe_queues == 0 {
            return refuse(Code::InvalidValue, "no queues", format_args!("{CALL}: 0 queues, at least 1"));
        }
        cfg.settings.lock().unwrap_or_else(PoisonError::into_inner).queues = pipe_queues;
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_cfg_set_mode_args(cfg: *const FlowCfg, mode_args: *const c_char) -> i32 {
    const CALL: &str = "doca_flow_cfg_set_mode_args";
    guard(|| {
        // SAFETY: a handle and a text, or NULL.
        let mode = unsafe {
            checked(cfg, CALL)?;
            if mode_args.is_null() {
                return null(CALL, "mode_args");
            }
            CStr::from_ptr(mode_args)
        };
        let text = mode.to_string_lossy();
        if MODES.contains(&text.as_ref()) {
            return Ok(());
        }
        refuse(
            Code::NotSupported,
            "mode",
            format_args!("{CALL}: mode \"{text}\"; {MODES:?} are the ones there are"),
        )
    })
}

/// Every rule counts its packets; none has to be kept ready for that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_cfg_set_nr_counters(cfg: *const FlowCfg, _nr_counters: u32) -> i32 {
    const CALL: &str = "doca_flow_cfg_set_nr_counters";
    // SAFETY: a handle, or NULL.
    guard(|| unsafe { checked(cfg, CALL) }.map(|_| ()))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_init(cfg: *const FlowCfg) -> i32 {
    const CALL: &str = "doca_flow_init";
    guard_unforked(CALL, || {
        // SAFETY: a handle, or NULL.
        let settings =
            unsafe { checked(cfg, CALL)? }.settings.lock().map_or_else(|e| *e.into_inner(), |s| *s);
        let mut book = open();
        if book.is_some() {
            return refuse(Code::BadState, "initialised before", format_args!("{CALL}: called before"));
        }
        *book = Some(Book::new(settings.queues));
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_cfg_destroy(cfg: *const FlowCfg) -> i32 {
    const CALL: &str = "doca_flow_cfg_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; last use.
        unsafe {
            checked(cfg, CALL)?;
            CFGS.retire_at(cfg);
        }
        Ok(())
    })
}

/// Whatever is left ends: ports, pipes, and the device handles they keep open.
#[unsafe(no_mangle)]
pub extern "C" fn doca_flow_destroy() {
    guard_value((), || {
        let book = open().take();
        let Some(mut book) = book else { return };
        for id in book.ids() {
            book.stop(id);
        }
        held().end_ports(|_| true);
    });
}
