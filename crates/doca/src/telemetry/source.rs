//! Sources: who reports.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter.h"
)]

use super::{Held, LOG, SchemaObject, on, put, refuse, set, words};
use crate::entry::guard;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::{Code, Result};
use softdpu_telemetry::{Logs, Metrics, Schema, Source, now_micros};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Arc;

/// A started source, and the contexts that hang on it; they end before it.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) metrics: Option<Metrics>,
    pub(super) logs: Option<Logs>,
    pub(super) source: Source,
}

#[derive(Debug)]
struct State {
    id: Option<String>,
    tag: Option<String>,
    running: Option<Running>,
    /// Ends last.
    schema: Arc<Schema>,
}

/// What C calls `struct doca_telemetry_exporter_source`.
#[derive(Debug)]
#[repr(C)]
pub struct SourceObject {
    head: Head,
    state: Held<State>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for SourceObject {
    const KIND: u32 = kind::TELEMETRY_SOURCE;
    const NAME: &'static str = "telemetry source";
}

static SOURCES: Slab<SourceObject> = Slab::new();

impl SourceObject {
    /// Something that only a started source does.
    pub(super) fn running<R>(&self, call: &str, f: impl FnOnce(&mut Running) -> Result<R>) -> Result<R> {
        self.state.with(|state| match &mut state.running {
            Some(running) => f(running),
            None => refuse(Code::BadState, call, format_args!("the source is not started")),
        })
    }

    fn name(&self, call: &str, f: impl FnOnce(&mut State)) -> Result<()> {
        self.state.with(|state| {
            if state.running.is_some() {
                return refuse(
                    Code::BadState,
                    call,
                    format_args!("the source is started: nothing was changed"),
                );
            }
            f(state);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_create(
    schema: *const SchemaObject,
    source: *mut *const SourceObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_source_create";
    // SAFETY: a handle and an out parameter of the program, or NULL.
    unsafe {
        on(schema, CALL, |schema| {
            if source.is_null() {
                return refuse(Code::InvalidValue, CALL, format_args!("doca_source is NULL"));
            }
            let schema = schema.started(CALL)?;
            let state = Held::new(State { id: None, tag: None, running: None, schema });
            let made = SOURCES.make(SourceObject { head: Head::unborn(), state })?;
            put(source, made.as_ptr().cast_const(), CALL)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_set_id(
    source: *const SourceObject,
    id: *const c_char,
) {
    const CALL: &str = "doca_telemetry_exporter_source_set_id";
    // SAFETY: a handle and a text of the program, or NULL.
    unsafe {
        set(source, CALL, |source| {
            let id = words(id, CALL, "source_id")?.into_owned();
            source.name(CALL, |state| state.id = Some(id))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_set_tag(
    source: *const SourceObject,
    tag: *const c_char,
) {
    const CALL: &str = "doca_telemetry_exporter_source_set_tag";
    // SAFETY: a handle and a text of the program, or NULL.
    unsafe {
        set(source, CALL, |source| {
            let tag = words(tag, CALL, "source_tag")?.into_owned();
            source.name(CALL, |state| state.tag = Some(tag))
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_start(source: *const SourceObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_source_start";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            source.state.with(|state| {
                if state.running.is_some() {
                    return refuse(Code::BadState, CALL, format_args!("the source is started already"));
                }
                let (Some(id), Some(tag)) = (&state.id, &state.tag) else {
                    return refuse(Code::InvalidValue, CALL, format_args!("id or tag was not set"));
                };
                let source = state.schema.source(id, tag)?;
                state.running = Some(Running { metrics: None, logs: None, source });
                Ok(())
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_report(
    source: *const SourceObject,
    index: u8,
    data: *const c_void,
    count: c_int,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_source_report";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            source.state.with(|state| {
                let Some(running) = &mut state.running else {
                    return refuse(Code::BadState, CALL, format_args!("the source is not started"));
                };
                let Ok(count) = usize::try_from(count) else {
                    return refuse(Code::InvalidValue, CALL, format_args!("{count} records"));
                };
                let size = state.schema.record_size(index).unwrap_or(0);
                if data.is_null() {
                    return refuse(Code::InvalidValue, CALL, format_args!("data is NULL"));
                }
                // SAFETY: the program hands over `count` records of the type; of a type that does not exist, none.
                let records = std::slice::from_raw_parts(data.cast::<u8>(), count.saturating_mul(size));
                running.source.report(index, records)
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_flush(source: *const SourceObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_source_flush";
    // SAFETY: a handle, or NULL.
    unsafe { on(source, CALL, |source| source.running(CALL, |running| running.source.flush())) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_source_destroy(source: *const SourceObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_source_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; not used any more once it is let go.
        unsafe {
            // Taken out first, so that nothing is written under the lock of the slab.
            let running = checked(source, CALL)?.state.with(|state| Ok(state.running.take()))?;
            if let Some(running) = running {
                let left =
                    [running.metrics.as_ref().map(|_| "metrics"), running.logs.as_ref().map(|_| "log")];
                for context in left.into_iter().flatten() {
                    log::warn!(target: LOG, "{CALL}: the {context} context was not destroyed before its source");
                }
            }
            SOURCES.retire_at(source);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_get_timestamp(timestamp: *mut u64) -> c_int {
    // SAFETY: an out parameter, or NULL.
    guard(|| unsafe { put(timestamp, now_micros(), "doca_telemetry_exporter_get_timestamp") })
}
