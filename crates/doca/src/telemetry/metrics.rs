//! Metrics contexts.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter.h"
)]

use super::{SourceObject, many_words, on, put, refuse, words};
use softdpu_status::{Code, Result};
use softdpu_telemetry::{LabelSetId, Metrics};
use std::borrow::Cow;
use std::ffi::{c_char, c_int};
use std::time::Duration;

/// A call on the metrics context of a source.
///
/// # Safety
/// `source` is a handle, or NULL.
unsafe fn metrics(
    source: *const SourceObject,
    call: &str,
    f: impl FnOnce(&mut Metrics) -> Result<()>,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        on(source, call, |source| {
            source.running(call, |running| match &mut running.metrics {
                Some(metrics) => f(metrics),
                None => refuse(Code::BadState, call, format_args!("the source has no metrics context")),
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_create_context(
    source: *const SourceObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_create_context";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            source.running(CALL, |running| {
                if running.metrics.is_some() {
                    return refuse(
                        Code::AlreadyExist,
                        CALL,
                        format_args!("the source has a metrics context"),
                    );
                }
                running.metrics = Some(running.source.metrics()?);
                Ok(())
            })
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_destroy_context(
    source: *const SourceObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_destroy_context";
    // SAFETY: a handle, or NULL.
    unsafe {
        on(source, CALL, |source| {
            let taken = source.running(CALL, |running| Ok(running.metrics.take()))?;
            // It writes out what is new, after the source is free for others.
            match taken {
                Some(_) => Ok(()),
                None => refuse(Code::BadState, CALL, format_args!("the source has no metrics context")),
            }
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_set_flush_interval_ms(
    source: *const SourceObject,
    interval_ms: u32,
) -> c_int {
    // SAFETY: a handle, or NULL.
    unsafe {
        metrics(source, "doca_telemetry_exporter_metrics_set_flush_interval_ms", |metrics| {
            let interval = Duration::from_millis(interval_ms.into());
            metrics.set_flush_interval((interval_ms > 0).then_some(interval));
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_add_constant_label(
    source: *const SourceObject,
    name: *const c_char,
    value: *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_add_constant_label";
    // SAFETY: a handle and texts of the program, or NULL.
    unsafe {
        metrics(source, CALL, |metrics| {
            metrics.add_constant_label(&words(name, CALL, "name")?, &words(value, CALL, "value")?)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_add_label_names(
    source: *const SourceObject,
    names: *const *const c_char,
    num_names: usize,
    id: *mut usize,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_add_label_names";
    // SAFETY: a handle, as many texts as it says, and an out parameter of the program, or NULL.
    unsafe {
        metrics(source, CALL, |metrics| {
            if id.is_null() || num_names == 0 {
                return refuse(Code::InvalidValue, CALL, format_args!("id is NULL, or there are no names"));
            }
            let names = many_words(names, num_names, CALL, "names")?;
            let set = metrics.add_label_names(&borrowed(&names))?;
            put(id, set.0, CALL)
        })
    }
}

fn borrowed<'a>(texts: &'a [Cow<'_, str>]) -> Vec<&'a str> {
    texts.iter().map(AsRef::as_ref).collect()
}

/// Reads name and label values, as many as the set has names, and hands them on.
///
/// # Safety
/// A handle and texts of the program, or NULL.
unsafe fn report(
    source: *const SourceObject,
    call: &str,
    name: *const c_char,
    set: usize,
    values: *const *const c_char,
    f: impl FnOnce(&mut Metrics, &str, LabelSetId, &[&str]) -> Result<()>,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        metrics(source, call, |metrics| {
            let (name, set) = (words(name, call, "name")?, LabelSetId(set));
            let Some(count) = metrics.label_count(set) else {
                return refuse(
                    Code::InvalidValue,
                    call,
                    format_args!("there is no set of label names {}", set.0),
                );
            };
            let values = many_words(values, count, call, "values")?;
            f(metrics, &name, set, &borrowed(&values))
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_add_counter(
    source: *const SourceObject,
    timestamp: u64,
    name: *const c_char,
    value: u64,
    id: usize,
    values: *const *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_add_counter";
    // SAFETY: a handle and texts of the program, or NULL.
    unsafe {
        report(source, CALL, name, id, values, |metrics, name, set, labels| {
            metrics.counter(timestamp, name, value, set, labels)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_add_counter_increment(
    source: *const SourceObject,
    timestamp: u64,
    name: *const c_char,
    value: u64,
    id: usize,
    values: *const *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_add_counter_increment";
    // SAFETY: a handle and texts of the program, or NULL.
    unsafe {
        report(source, CALL, name, id, values, |metrics, name, set, labels| {
            metrics.count(timestamp, name, value, set, labels)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_add_gauge(
    source: *const SourceObject,
    timestamp: u64,
    name: *const c_char,
    value: f64,
    id: usize,
    values: *const *const c_char,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_metrics_add_gauge";
    // SAFETY: a handle and texts of the program, or NULL.
    unsafe {
        report(source, CALL, name, id, values, |metrics, name, set, labels| {
            metrics.gauge(timestamp, name, value, set, labels)
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_metrics_flush(source: *const SourceObject) -> c_int {
    // SAFETY: a handle, or NULL.
    unsafe { metrics(source, "doca_telemetry_exporter_metrics_flush", Metrics::flush) }
}
