//! Fields and types of records, before they belong to a schema.
#![expect(unsafe_code, reason = "C entry points")]
#![expect(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the contract of every entry point is its declaration in doca_telemetry_exporter.h"
)]

use super::{Held, on, put, refuse, set, words};
use crate::entry::guard;
use crate::log::softdpu_log_init;
use softdpu_memory::handle::{Head, Object, Slab, checked, kind};
use softdpu_status::{Code, Result};
use softdpu_telemetry::{Field, FieldType, RecordType};
use std::ffi::{c_char, c_int};

/// What was said about a field.
#[derive(Clone, Debug)]
struct Settings {
    name: String,
    description: String,
    kind: String,
    len: u16,
}

impl Settings {
    fn field(&self, call: &str) -> Result<Field> {
        let Some(kind) = FieldType::from_name(&self.kind) else {
            return refuse(
                Code::InvalidValue,
                call,
                format_args!("field '{}': there is no type '{}'", self.name, self.kind),
            );
        };
        Ok(Field::new(self.name.clone(), kind).describe(self.description.clone()).array(self.len))
    }
}

/// What C calls `struct doca_telemetry_exporter_field`.
#[derive(Debug)]
#[repr(C)]
pub struct FieldObject {
    head: Head,
    settings: Held<Settings>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for FieldObject {
    const KIND: u32 = kind::TELEMETRY_FIELD;
    const NAME: &'static str = "telemetry field";
}

static FIELDS: Slab<FieldObject> = Slab::new();

/// What C calls `struct doca_telemetry_exporter_type`.
#[derive(Debug)]
#[repr(C)]
pub struct TypeObject {
    head: Head,
    fields: Held<Vec<Settings>>,
}

// SAFETY: repr(C), head first.
unsafe impl Object for TypeObject {
    const KIND: u32 = kind::TELEMETRY_TYPE;
    const NAME: &'static str = "telemetry type";
}

static TYPES: Slab<TypeObject> = Slab::new();

impl TypeObject {
    /// The type as a schema takes it.
    pub(super) fn record(&self, name: &str, call: &str) -> Result<RecordType> {
        self.fields.with(|fields| {
            let mut record = RecordType::new(name);
            for settings in fields.iter() {
                record = record.field(settings.field(call)?);
            }
            Ok(record)
        })
    }

    /// Ends it.
    ///
    /// # Safety
    /// Alive, and not used any more.
    pub(super) unsafe fn retire(this: *const TypeObject) {
        // SAFETY: the caller's promise.
        unsafe { TYPES.retire_at(this) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_type_create(type_: *mut *const TypeObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_type_create";
    guard(|| {
        softdpu_log_init();
        if type_.is_null() {
            return refuse(Code::InvalidValue, CALL, format_args!("type is NULL"));
        }
        let made = TYPES.make(TypeObject { head: Head::unborn(), fields: Held::new(Vec::new()) })?;
        // SAFETY: an out parameter that is not NULL.
        unsafe { put(type_, made.as_ptr().cast_const(), CALL) }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_type_add_field(
    type_: *const TypeObject,
    field: *const FieldObject,
) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_type_add_field";
    // SAFETY: handles, or NULL; the field is the type's from here on.
    unsafe {
        on(type_, CALL, |type_| {
            let settings = checked(field, CALL)?.settings.with(|settings| Ok(settings.clone()))?;
            type_.fields.with(|fields| {
                fields.push(settings);
                Ok(())
            })?;
            FIELDS.retire_at(field);
            Ok(())
        })
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_type_destroy(type_: *const TypeObject) -> c_int {
    guard(|| {
        // SAFETY: a handle, or NULL; not used any more.
        unsafe {
            checked(type_, "doca_telemetry_exporter_type_destroy")?;
            TypeObject::retire(type_);
        }
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_field_create(field: *mut *const FieldObject) -> c_int {
    const CALL: &str = "doca_telemetry_exporter_field_create";
    guard(|| {
        softdpu_log_init();
        if field.is_null() {
            return refuse(Code::InvalidValue, CALL, format_args!("field is NULL"));
        }
        let (name, description, kind) = (String::new(), String::new(), String::new());
        let settings = Held::new(Settings { name, description, kind, len: 1 });
        let made = FIELDS.make(FieldObject { head: Head::unborn(), settings })?;
        // SAFETY: an out parameter that is not NULL.
        unsafe { put(field, made.as_ptr().cast_const(), CALL) }
    })
}

macro_rules! texts {
    ($($name:ident $argument:literal $field:ident;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(field: *const FieldObject, text: *const c_char) {
            const CALL: &str = stringify!($name);
            // SAFETY: a handle, or NULL; a text of the program, or NULL.
            unsafe {
                set(field, CALL, |field| {
                    let text = words(text, CALL, $argument)?.into_owned();
                    field.settings.with(|settings| {
                        settings.$field = text;
                        Ok(())
                    })
                });
            }
        }
    )*};
}

texts! {
    doca_telemetry_exporter_field_set_name "name" name;
    doca_telemetry_exporter_field_set_description "desc" description;
    doca_telemetry_exporter_field_set_type_name "type" kind;
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn doca_telemetry_exporter_field_set_array_len(field: *const FieldObject, len: u16) {
    // SAFETY: a handle, or NULL.
    unsafe {
        set(field, "doca_telemetry_exporter_field_set_array_len", |field| {
            field.settings.with(|settings| {
                settings.len = len;
                Ok(())
            })
        });
    }
}
