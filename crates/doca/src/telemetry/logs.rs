//! Log contexts.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter.h"
)]

use super::{SourceObject, many_words, on, put, refuse, words};
use softdpu_status::{Code, Result};
use softdpu_telemetry::{AttributeType, Logs, ResourceId, ScopeId, Value};
use std::borrow::Cow;
use std::ffi::{c_char, c_int};

/// `doca_telemetry_exporter_otlp_attribute_value_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub union AttributeValue {
    text: *const c_char,
    int: i64,
}

impl std::fmt::Debug for AttributeValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AttributeValue")
    }
}

/// A call on the log context of a source.
///
/// # Safety
/// `source` is a handle, or NULL.
unsafe fn logs(source: *const SourceObject, call: &str, f: impl FnOnce(&mut Logs) -> Result<()>) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        on(source, call, |source| {
            source.running(call, |running| match &mut running.logs {
                Some(logs) => f(logs),
                None => refuse(Code::BadState, call, format_args!("the source has no log context")),
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_create_context(
    source: *const SourceObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_create_context";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            source.running(CALL, |running| {
                if running.logs.is_some() {
                    return refuse(Code::AlreadyExist, CALL, format_args!("the source has a log context"));
                }
                running.logs = Some(running.source.logs()?);
                Ok(())
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_destroy_context(
    source: *const SourceObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_destroy_context";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            let taken = source.running(CALL, |running| Ok(running.logs.take()))?;
            // It writes out what is waiting, after the source is free for others.
            match taken {
                Some(_) => Ok(()),
                None => refuse(Code::BadState, CALL, format_args!("the source has no log context")),
            }
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_add_resource(
    source: *const SourceObject,
    id: *mut usize,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_add_resource";
    // SAFETY: a handle and an out parameter of the program, or NULL.
    unsafe {
        logs(source, CALL, |logs| {
            if id.is_null() {
                return refuse(Code::InvalidValue, CALL, format_args!("id is NULL"));
            }
            put(id, logs.add_resource().0, CALL)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_add_resource_attribute_string(
    source: *const SourceObject,
    id: usize,
    key: *const c_char,
    value: *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_add_resource_attribute_string";
    // SAFETY: a handle and texts of the program, or NULL.
    unsafe {
        logs(source, CALL, |logs| {
            let (key, value) = (words(key, CALL, "key")?, words(value, CALL, "value")?);
            logs.add_resource_attribute(ResourceId(id), &key, Value::Text(&value))
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(
    source: *const SourceObject,
    id: usize,
    key: *const c_char,
    value: i64,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_add_resource_attribute_int";
    // SAFETY: a handle and a text of the program, or NULL.
    unsafe {
        logs(source, CALL, |logs| {
            logs.add_resource_attribute(ResourceId(id), &words(key, CALL, "key")?, Value::Int(value))
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_add_scope(
    source: *const SourceObject,
    name: *const c_char,
    version: *const c_char,
    event_name: *const c_char,
    severity: *const c_char,
    keys: *const *const c_char,
    types: *const u32,
    num_attributes: usize,
    id: *mut usize,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_add_scope";
    // SAFETY: a handle, texts, as many keys and types as it says, and an out parameter of the program, or NULL.
    unsafe {
        logs(source, CALL, |logs| {
            if id.is_null() || (num_attributes > 0 && types.is_null()) {
                return refuse(Code::InvalidValue, CALL, format_args!("types or id is NULL"));
            }
            let (name, version) = (words(name, CALL, "name")?, words(version, CALL, "version")?);
            let (event, severity) =
                (words(event_name, CALL, "event_name")?, words(severity, CALL, "severity")?);
            let keys = many_words(keys, num_attributes, CALL, "keys")?;
            let mut attributes = Vec::with_capacity(keys.len());
            for (i, key) in keys.iter().enumerate() {
                // SAFETY: not NULL, and as many as the program says.
                let kind = match types.add(i).read() {
                    0 => AttributeType::Text,
                    1 => AttributeType::Int,
                    other => {
                        let line = format_args!("attribute '{key}': there is no type {other}");
                        return refuse(Code::InvalidValue, CALL, line);
                    }
                };
                attributes.push((key.as_ref(), kind));
            }
            put(id, logs.add_scope(&name, &version, &event, &severity, &attributes)?.0, CALL)
        })
    }
}

/// Reads the values that the scope wants, and writes the event.
///
/// # Safety
/// A handle, the values of the scope and a text of the program, or NULL.
unsafe fn write(
    call: &str,
    source: *const SourceObject,
    resource: usize,
    scope: usize,
    values: *const AttributeValue,
    severity: Option<*const c_char>,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        logs(source, call, |logs| {
            let Some(types) = logs.attribute_types(ScopeId(scope)) else {
                return refuse(Code::InvalidValue, call, format_args!("there is no scope {scope}"));
            };
            if values.is_null() && !types.is_empty() {
                return refuse(Code::InvalidValue, call, format_args!("values is NULL"));
            }
            let mut read: Vec<(Cow<'_, str>, i64)> = Vec::with_capacity(types.len());
            for (i, kind) in types.iter().enumerate() {
                // SAFETY: not NULL, and as many as the scope has attributes; the member is the one that the type says.
                let value = values.add(i).read();
                read.push(match kind {
                    AttributeType::Text => (words(value.text, call, "a text value")?, 0),
                    AttributeType::Int => (Cow::Borrowed(""), value.int),
                });
            }
            let values: Vec<Value<'_>> = types
                .iter()
                .zip(&read)
                .map(|(kind, (text, int))| match kind {
                    AttributeType::Text => Value::Text(text),
                    AttributeType::Int => Value::Int(*int),
                })
                .collect();
            let severity = severity.map(|text| words(text, call, "severity")).transpose()?;
            logs.write(ResourceId(resource), ScopeId(scope), &values, severity.as_deref())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_write_event(
    source: *const SourceObject,
    resource: usize,
    scope: usize,
    values: *const AttributeValue,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_write_event";
    // SAFETY: a handle and the values of the scope, or NULL.
    unsafe { write(CALL, source, resource, scope, values, None) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_write_event_with_severity(
    source: *const SourceObject,
    resource: usize,
    scope: usize,
    values: *const AttributeValue,
    severity: *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_otlp_logs_write_event_with_severity";
    // SAFETY: a handle, the values of the scope and a text of the program, or NULL.
    unsafe { write(CALL, source, resource, scope, values, Some(severity)) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_otlp_logs_flush(source: *const SourceObject) -> c_int {
    // SAFETY: a handle, or NULL.
    unsafe { logs(source, "doca_telemetry_exporter_otlp_logs_flush", Logs::flush) }
}
