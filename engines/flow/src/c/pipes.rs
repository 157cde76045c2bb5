//! Pipes and their entries.
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_flow.h"
)]

use super::layout::{Actions, FlowMatch, Fwd};
use super::objects::{FlowPipe, FlowPort, PIPE_CFGS, PIPES, PipeCfg, PipeSettings, held};
use super::{null, started};
use crate::book::{Entry, Pipe, Target, refuse};
use core::ffi::{CStr, c_char, c_void};
use softdpu_memory::handle::{Head, checked};
use softdpu_room::entry::{guard, guard_value};
use softdpu_status::{Code, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most actions of a pipe: entries name them by a byte.
const MOST_ACTIONS: usize = 255;
/// The flags of entries, all of them hints here.
const FLAGS: u32 = 3;

fn settings(cfg: &PipeCfg) -> MutexGuard<'_, PipeSettings> {
    cfg.settings.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_create(cfg: *mut *const PipeCfg, port: *const FlowPort) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_create";
    guard(|| {
        if cfg.is_null() {
            return null(CALL, "cfg");
        }
        // SAFETY: a handle, or NULL.
        let port = unsafe { checked(port, CALL)? }.id;
        let made = PIPE_CFGS.make(PipeCfg { head: Head::unborn(), port, settings: Mutex::default() })?;
        // SAFETY: a non-NULL out parameter.
        unsafe { cfg.write(made.as_ptr()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_set_name(cfg: *const PipeCfg, name: *const c_char) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_set_name";
    guard(|| {
        // SAFETY: a handle and a text, or NULL.
        unsafe {
            let cfg = checked(cfg, CALL)?;
            if name.is_null() {
                return null(CALL, "name");
            }
            settings(cfg).name = CStr::from_ptr(name).to_string_lossy().into_owned();
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_set_type(cfg: *const PipeCfg, r#type: u32) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_set_type";
    guard(|| {
        // SAFETY: a handle, or NULL.
        unsafe { checked(cfg, CALL)? };
        match r#type {
            0 => Ok(()),
            1..=6 => refuse(
                Code::NotSupported,
                "kind of pipe",
                format_args!("{CALL}: kind {}, not basic (0)", r#type),
            ),
            _ => refuse(
                Code::InvalidValue,
                "kind of pipe",
                format_args!("{CALL}: kind {}, allowed 0 to 6", r#type),
            ),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_set_is_root(cfg: *const PipeCfg, is_root: bool) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_set_is_root";
    guard(|| {
        // SAFETY: a handle, or NULL.
        settings(unsafe { checked(cfg, CALL)? }).is_root = is_root;
        Ok(())
    })
}

/// Whatever the mask, of a match that asks for nothing nothing is left.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_set_match(
    cfg: *const PipeCfg,
    r#match: *const FlowMatch,
    match_mask: *const FlowMatch,
) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_set_match";
    guard(|| {
        // SAFETY: a handle and filled-in structures, or NULL.
        unsafe {
            checked(cfg, CALL)?;
            let Some(what) = r#match.as_ref() else { return null(CALL, "match") };
            what.check(CALL)?;
            match_mask.as_ref().map_or(Ok(()), |mask| mask.check(CALL))
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_set_actions(
    cfg: *const PipeCfg,
    actions: *const *const Actions,
    actions_masks: *const *const Actions,
    action_descs: *const *const c_void,
    nr_actions: usize,
) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_set_actions";
    guard(|| {
        // SAFETY: a handle and as many filled-in structures as it says, or NULL.
        unsafe {
            let cfg = checked(cfg, CALL)?;
            if actions.is_null() {
                return null(CALL, "actions");
            }
            if !actions_masks.is_null() || !action_descs.is_null() {
                let line =
                    format_args!("{CALL}: masks and descriptors of actions are not gone by; leave them NULL");
                return refuse(Code::NotSupported, "masks or descriptors of actions", line);
            }
            if nr_actions == 0 || nr_actions > MOST_ACTIONS {
                let line = format_args!("{CALL}: {nr_actions} actions, allowed 1 to {MOST_ACTIONS}");
                return refuse(Code::InvalidValue, "number of actions", line);
            }
            let read = |action: &*const Actions| match action.as_ref() {
                Some(action) => action.mark(CALL),
                None => null(CALL, "an action"),
            };
            let marks: Result<Vec<u32>> =
                core::slice::from_raw_parts(actions, nr_actions).iter().map(read).collect();
            settings(cfg).marks = marks?;
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_create(
    cfg: *const PipeCfg,
    fwd: *const Fwd,
    fwd_miss: *const Fwd,
    pipe: *mut *const FlowPipe,
) -> i32 {
    const CALL: &str = "doca_flow_pipe_create";
    guard(|| {
        // SAFETY: a handle, filled-in structures, an out parameter, or NULL.
        unsafe {
            let cfg = checked(cfg, CALL)?;
            if pipe.is_null() {
                return null(CALL, "pipe");
            }
            let target = fwd.as_ref().map_or(Ok(None), |fwd| fwd.target(CALL))?;
            let miss = fwd_miss.as_ref().map_or(Ok(None), |fwd| fwd.target(CALL))?.unwrap_or(Target::Nowhere);
            let PipeSettings { is_root, marks, name, .. } = settings(cfg).clone();
            let made = Pipe { number: 0, is_root, target, miss, marks, entries: Vec::new() };
            let number = started(CALL, |book| book.add(cfg.port, made))?;
            let handle = PIPES.make(FlowPipe { head: Head::unborn(), port: cfg.port, number });
            let handle = handle.inspect_err(|_| {
                let _ = started(CALL, |book| book.remove(cfg.port, number));
            })?;
            log::debug!(target: crate::LOG, "pipe \"{name}\" of port {} at {:p}", cfg.port, handle.as_ptr());
            // Places of slabs are never given back.
            held().pipes.push(&*handle.as_ptr());
            pipe.write(handle.as_ptr());
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_cfg_destroy(cfg: *const PipeCfg) -> i32 {
    const CALL: &str = "doca_flow_pipe_cfg_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; last use.
        unsafe {
            checked(cfg, CALL)?;
            PIPE_CFGS.retire_at(cfg);
        }
        Ok(())
    })
}

/// The entry's handle is its pipe's, with which it lives: nothing of the contract takes one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_basic_add_entry(
    pipe_queue: u16,
    pipe: *const FlowPipe,
    r#match: *const FlowMatch,
    action_idx: u8,
    actions: *const Actions,
    monitor: *const c_void,
    fwd: *const Fwd,
    flags: u32,
    _usr_ctx: *const c_void,
    entry: *mut *const FlowPipe,
) -> i32 {
    const CALL: &str = "doca_flow_pipe_basic_add_entry";
    guard(|| {
        // SAFETY: a handle, filled-in structures, an out parameter, or NULL.
        unsafe {
            let handle = checked(pipe, CALL)?;
            if entry.is_null() {
                return null(CALL, "entry");
            }
            r#match.as_ref().map_or(Ok(()), |what| what.check(CALL))?;
            let mark = actions.as_ref().map(|actions| actions.mark(CALL)).transpose()?;
            let target = fwd.as_ref().map_or(Ok(None), |fwd| fwd.target(CALL))?;
            if !monitor.is_null() || flags & !FLAGS != 0 {
                let line = format_args!(
                    "{CALL}: monitor {monitor:p}, flags {flags:#x}; no monitors, flags {FLAGS:#x}"
                );
                return refuse(Code::NotSupported, "monitor or flags", line);
            }
            started(CALL, |book| {
                if pipe_queue >= book.queues {
                    let line = format_args!("{CALL}: queue {pipe_queue}, there are {}", book.queues);
                    return refuse(Code::InvalidValue, "no such queue", line);
                }
                book.change(handle.port, handle.number, |pipe| add(pipe, action_idx, mark, target))
            })?;
            entry.write(pipe);
        }
        Ok(())
    })
}

fn add(pipe: &mut Pipe, action: u8, mark: Option<u32>, target: Option<Target>) -> Result<()> {
    let has = pipe.marks.get(usize::from(action)).copied();
    if has.is_none() && !(pipe.marks.is_empty() && action == 0) {
        let line = format_args!(
            "doca_flow_pipe_basic_add_entry: action {action}, the pipe has {}",
            pipe.marks.len()
        );
        return refuse(Code::InvalidValue, "no such action", line);
    }
    pipe.entries.push(Entry { target, mark: mark.or(has).unwrap_or(0) });
    Ok(())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_flow_pipe_destroy(pipe: *const FlowPipe) {
    const CALL: &str = "doca_flow_pipe_destroy";
    guard_value((), || {
        if pipe.is_null() {
            return;
        }
        // SAFETY: a handle. What is wrong is in the log.
        let Ok(handle) = (unsafe { checked(pipe, CALL) }) else { return };
        let (port, number) = (handle.port, handle.number);
        let _ = started(CALL, |book| book.remove(port, number));
        held().end_pipes(|known| known.number == number);
    });
}
