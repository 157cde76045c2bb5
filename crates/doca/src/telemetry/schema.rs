//! Schemas.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter.h"
)]

use super::{Held, TypeObject, on, put, refuse, set, words};
use crate::entry::guard;
use crate::log::softdpu_log_init;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::{Code, Result};
use softdpu_telemetry::{Schema, SchemaBuilder};
use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

#[derive(Debug)]
struct State {
    /// What was said about it; kept after the start, which may be tried again when it failed.
    builder: SchemaBuilder,
    /// Sources hold it too.
    started: Option<Arc<Schema>>,
}

/// What C calls `struct doca_telemetry_exporter_schema`.
#[derive(Debug)]
#[repr(C)]
pub struct SchemaObject {
    head: Head,
    state: Held<State>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for SchemaObject {
    const KIND: u32 = kind::TELEMETRY_SCHEMA;
    const NAME: &'static str = "telemetry schema";
}

static SCHEMAS: Slab<SchemaObject> = Slab::new();

impl SchemaObject {
    /// The schema, once it is started.
    pub(super) fn started(&self, call: &str) -> Result<Arc<Schema>> {
        match self.state.with(|state| Ok(state.started.clone()))? {
            Some(schema) => Ok(schema),
            None => refuse(Code::BadState, call, format_args!("the schema is not started")),
        }
    }

    /// Changes what was said about it, before it is started.
    fn change(&self, call: &str, f: impl FnOnce(SchemaBuilder) -> SchemaBuilder) -> Result<()> {
        self.state.with(|state| {
            if state.started.is_some() {
                return refuse(
                    Code::BadState,
                    call,
                    format_args!("the schema is started: nothing was changed"),
                );
            }
            state.builder = f(state.builder.clone());
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_init(
    schema_name: *const c_char,
    doca_schema: *mut *const SchemaObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_schema_init";
    guard(|| {
        softdpu_log_init();
        // SAFETY: a text of the program, or NULL.
        let name = unsafe { words(schema_name, CALL, "schema_name")? };
        if doca_schema.is_null() || name.is_empty() {
            return refuse(
                Code::InvalidValue,
                CALL,
                format_args!("the output is NULL, or the name is empty"),
            );
        }
        let builder = Schema::builder(name);
        let state = Held::new(State { builder, started: None });
        let made = SCHEMAS.make(SchemaObject { head: Head::unborn(), state })?;
        // SAFETY: an out parameter that is not NULL.
        unsafe { put(doca_schema, made.as_ptr().cast_const(), CALL) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_set_buf_size(schema: *const SchemaObject, size: u64) {
    const CALL: &str = "doca_telemetry_exporter_schema_set_buf_size";
    // SAFETY: a handle, or NULL.
    unsafe { set(schema, CALL, |schema| schema.change(CALL, |builder| builder.buf_size(size))) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_set_buf_data_root(
    schema: *const SchemaObject,
    path: *const c_char,
) {
    const CALL: &str = "doca_telemetry_exporter_schema_set_buf_data_root";
    // SAFETY: a handle, or NULL; a path of the program, or NULL.
    unsafe {
        set(schema, CALL, |schema| {
            let Ok(path) = crate::entry::text(path, "path is NULL") else {
                return refuse(Code::InvalidValue, CALL, format_args!("path is NULL"));
            };
            schema.change(CALL, |builder| builder.data_root(OsStr::from_bytes(path.to_bytes())))
        });
    }
}

macro_rules! switches {
    ($($name:ident $to:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(schema: *const SchemaObject) {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle, or NULL.
            unsafe { set(schema, CALL, |schema| schema.change(CALL, SchemaBuilder::$to)) };
        }
    )*};
}

switches! {
    doca_telemetry_exporter_schema_set_file_write_enabled write_files;
    doca_telemetry_exporter_schema_set_ipc_enabled deliver_to_service;
    doca_telemetry_exporter_schema_set_opaque_events_enabled opaque_events;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_add_type(
    schema: *const SchemaObject,
    new_type_name: *const c_char,
    type_: *const TypeObject,
    type_index: *mut u8,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_schema_add_type";
    // SAFETY: handles, a text and an out parameter of the program, or NULL; the type is the schema's from here on.
    unsafe {
        on(schema, CALL, |schema| {
            let name = words(new_type_name, CALL, "new_type_name")?;
            let record = checked(type_, CALL)?.record(&name, CALL)?;
            if type_index.is_null() {
                return refuse(Code::InvalidValue, CALL, format_args!("type_index is NULL"));
            }
            let index = schema.state.with(|state| {
                if state.started.is_some() {
                    return refuse(Code::BadState, CALL, format_args!("the schema is started"));
                }
                state.builder.add_type(record)
            })?;
            TypeObject::retire(type_);
            put(type_index, index, CALL)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_start(schema: *const SchemaObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_schema_start";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(schema, CALL, |schema| {
            schema.state.with(|state| {
                if state.started.is_some() {
                    return refuse(Code::BadState, CALL, format_args!("the schema is started already"));
                }
                state.started = Some(Arc::new(state.builder.clone().start()?));
                Ok(())
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_schema_destroy(schema: *const SchemaObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_schema_destroy";
    guard(|| {
        // SAFETY: a handle, or NULL; not used any more once it is let go.
        unsafe {
            let state = &checked(schema, CALL)?.state;
            let sources = state.with(|s| Ok(s.started.as_ref().map_or(0, |s| Arc::strong_count(s) - 1)))?;
            if sources > 0 {
                let line = format_args!("{sources} sources of the schema are still there");
                return refuse(Code::InvalidValue, CALL, line);
            }
            SCHEMAS.retire_at(schema);
        }
        Ok(())
    })
}
