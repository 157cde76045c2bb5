//! Flow records. The exporter is the process's own; templates and fields are handles.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter_netflow.h"
)]

use super::{Held, LOG, on, put, refuse, words};
use crate::entry::{guard, guard_value};
use crate::log::softdpu_log_init;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::{Code, Result};
use softdpu_telemetry::netflow::{Builder, Exporter, FieldSpec, Template};
use std::ffi::{c_char, c_int, c_void};

#[derive(Debug)]
enum State {
    Absent,
    Prepared(Builder),
    Started(Box<Exporter>),
}

static EXPORTER: Held<State> = Held::new(State::Absent);

/// What C calls `struct doca_telemetry_exporter_netflow_template`.
#[derive(Debug)]
#[repr(C)]
pub struct TemplateObject {
    head: Head,
    template: Held<Template>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for TemplateObject {
    const KIND: u32 = kind::NETFLOW_TEMPLATE;
    const NAME: &'static str = "NetFlow template";
}

/// What C calls `struct doca_telemetry_exporter_netflow_flowset_field`.
#[derive(Debug)]
#[repr(C)]
pub struct FlowField {
    head: Head,
    spec: Held<FieldSpec>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for FlowField {
    const KIND: u32 = kind::NETFLOW_FIELD;
    const NAME: &'static str = "NetFlow field";
}

static TEMPLATES: Slab<TemplateObject> = Slab::new();
static FIELDS: Slab<FlowField> = Slab::new();

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_init(source_id: u16) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_init";
    guard(|| {
        softdpu_log_init();
        EXPORTER.with(|state| match state {
            State::Absent => {
                *state = State::Prepared(Builder::new(source_id));
                Ok(())
            }
            _ => refuse(Code::BadState, CALL, format_args!("the exporter is prepared already")),
        })
    })
}

/// Something that is set between init and start.
fn prepare(call: &str, f: impl FnOnce(&mut Builder)) {
    guard_value((), || {
        // Said in the log.
        let _ = EXPORTER.with(|state| match state {
            State::Prepared(builder) => {
                f(builder);
                Ok(())
            }
            _ => {
                refuse(Code::BadState, call, format_args!("only between init and start: nothing was changed"))
            }
        });
    });
}

macro_rules! texts {
    ($($name:ident $to:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(text: *const c_char) {
            const CALL: &str = stringify!($name);
            // SAFETY: a text of the program, or NULL.
            if let Ok(text) = unsafe { words(text, CALL, "the text") } {
                prepare(CALL, |builder| {
                    builder.$to(text);
                });
            }
        }
    )*};
}

texts! {
    doca_telemetry_exporter_netflow_set_collector_addr collector;
    doca_telemetry_exporter_netflow_source_set_id id;
    doca_telemetry_exporter_netflow_source_set_tag tag;
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_set_collector_port(collector_port: u16) {
    prepare("doca_telemetry_exporter_netflow_set_collector_port", |builder| {
        builder.port(collector_port);
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_set_file_write_enabled() {
    prepare("doca_telemetry_exporter_netflow_set_file_write_enabled", |builder| {
        builder.write_files();
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_set_ipc_enabled() {
    prepare("doca_telemetry_exporter_netflow_set_ipc_enabled", |builder| {
        builder.deliver_to_service();
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_start() -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_start";
    guard(|| {
        EXPORTER.with(|state| match state {
            State::Prepared(builder) => {
                let exporter = builder.start().or_else(|error| match error.code() {
                    Code::InvalidValue => start_alone(builder, CALL),
                    _ => Err(error),
                })?;
                *state = State::Started(Box::new(exporter));
                Ok(())
            }
            State::Absent => refuse(Code::BadState, CALL, format_args!("the exporter is not prepared")),
            State::Started(_) => {
                refuse(Code::BadState, CALL, format_args!("the exporter is started already"))
            }
        })
    })
}

/// The collector's name leads nowhere. A program does not fail for want of a collector, now or later.
#[cold]
fn start_alone(builder: &mut Builder, call: &str) -> Result<Exporter> {
    log::warn!(target: LOG, "{call}: flow records for the collector are lost; the program goes on without");
    builder.without_collector().start()
}

/// A call on the started exporter.
fn started(call: &str, f: impl FnOnce(&mut Exporter) -> Result<()>) -> Result<()> {
    EXPORTER.with(|state| match state {
        State::Started(exporter) => f(exporter),
        _ => refuse(Code::BadState, call, format_args!("the exporter is not started")),
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_send(
    template: *const TemplateObject,
    records: *const *const c_void,
    nof_records: usize,
    nof_records_sent: *mut usize,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_send";
    // SAFETY: a handle, as many records of its length as it says, and an out parameter of the program, or NULL.
    unsafe {
        on(template, CALL, |template| {
            if records.is_null() {
                return refuse(Code::InvalidValue, CALL, format_args!("records is NULL"));
            }
            put(nof_records_sent, 0, CALL)?;
            // Copied, so that the template may be used on other threads while packets leave.
            let template = template.template.with(|template| Ok(template.clone()))?;
            let mut slices = Vec::new();
            let no_memory = |_| softdpu_status::Error::new(Code::NoMemory, "no memory for records");
            slices.try_reserve(nof_records).map_err(no_memory)?;
            for i in 0..nof_records {
                // SAFETY: as many as the program says.
                let record = records.add(i).read();
                if record.is_null() {
                    return refuse(
                        Code::InvalidValue,
                        CALL,
                        format_args!("record {i} of {nof_records} is NULL"),
                    );
                }
                // SAFETY: records have the length that their template says.
                slices.push(std::slice::from_raw_parts(record.cast::<u8>(), template.size()));
            }
            started(CALL, |exporter| {
                let outcome = exporter.send(&template, &slices);
                // What only could not be written to a file was taken all the same.
                if outcome.is_ok() || outcome.as_ref().is_err_and(|e| e.code() == Code::IoFailed) {
                    put(nof_records_sent, nof_records, CALL)?;
                }
                outcome
            })
        })
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_flush() -> c_int {
    guard(|| started("doca_telemetry_exporter_netflow_flush", Exporter::flush))
}

#[unsafe(no_mangle)]
pub extern "C" fn doca_telemetry_exporter_netflow_destroy() -> c_int {
    guard(|| {
        let before = EXPORTER.with(|state| Ok(std::mem::replace(state, State::Absent)))?;
        match before {
            // Called on error paths too: no reason for a line.
            State::Absent => Err(softdpu_status::Error::new(Code::BadState, "the exporter is not prepared")),
            // It sends what is gathered, after the state is free for others.
            _ => Ok(()),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_template_create(
    template: *mut *const TemplateObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_template_create";
    guard(|| {
        softdpu_log_init();
        if template.is_null() {
            return refuse(Code::InvalidValue, CALL, format_args!("netflow_template is NULL"));
        }
        let made = TemplateObject { head: Head::unborn(), template: Held::new(Template::new()) };
        // SAFETY: an out parameter that is not NULL.
        unsafe { put(template, TEMPLATES.make(made)?.as_ptr().cast_const(), CALL) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_template_add_field(
    template: *const TemplateObject,
    field: *const FlowField,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_template_add_field";
    // SAFETY: handles, or NULL; the field is the template's from here on.
    unsafe {
        on(template, CALL, |template| {
            let spec = checked(field, CALL)?.spec.with(|spec| Ok(*spec))?;
            template.template.with(|template| template.add(spec))?;
            FIELDS.retire_at(field);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_template_destroy(
    template: *const TemplateObject,
) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL; not used any more.
        unsafe {
            checked(template, "doca_telemetry_exporter_netflow_template_destroy")?;
            TEMPLATES.retire_at(template);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_field_create(field: *mut *const FlowField) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_netflow_field_create";
    guard(|| {
        softdpu_log_init();
        if field.is_null() {
            return refuse(Code::InvalidValue, CALL, format_args!("field is NULL"));
        }
        let spec = Held::new(FieldSpec { kind: 0, length: 0 });
        // SAFETY: an out parameter that is not NULL.
        unsafe {
            put(field, FIELDS.make(FlowField { head: Head::unborn(), spec })?.as_ptr().cast_const(), CALL)
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_field_set_type(field: *const FlowField, type_: u16) {
    // SAFETY: a handle, or NULL.
    unsafe {
        super::set(field, "doca_telemetry_exporter_netflow_field_set_type", |field| {
            field.spec.with(|spec| {
                spec.kind = type_;
                Ok(())
            })
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_field_set_len(field: *const FlowField, length: u16) {
    // SAFETY: a handle, or NULL.
    unsafe {
        super::set(field, "doca_telemetry_exporter_netflow_field_set_len", |field| {
            field.spec.with(|spec| {
                spec.length = length;
                Ok(())
            })
        });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_netflow_field_destroy(field: *const FlowField) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL; not used any more.
        unsafe {
            checked(field, "doca_telemetry_exporter_netflow_field_destroy")?;
            FIELDS.retire_at(field);
        }
        Ok(())
    })
}
