/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_telemetry_exporter.h: telemetry: records, metrics and log events for collectors
 *
 * A schema holds types, a type holds fields; sources report packed records of these types, which
 * are buffered and flushed. Metrics and OTLP log events hang on a started source.
 *
 *   schema init, options, types, start; source create, id and tag, start; reports; source destroy;
 *   schema destroy
 *
 * A schema passes into use with start: options and types come before it. Strings are copied. A
 * collector that is not there makes nothing fail.
 *
 * What is written, and where to:
 *   records     JSON lines in files; Fluent Forward to the service that SOFTDPU_TELEMETRY_SERVICE
 *               names (host:port or unix:/path) when delivery to a service is on
 *   metrics     OTLP/JSON lines in files; OTLP/HTTP to OTEL_EXPORTER_OTLP_ENDPOINT; text for
 *               Prometheus at http://PROMETHEUS_ENDPOINT/metrics (host:port)
 *   log events  OTLP/JSON lines in files; OTLP/HTTP to OTEL_EXPORTER_OTLP_ENDPOINT, else to port
 *               4318 of this machine
 * Files go to the data root, else to SOFTDPU_TELEMETRY_DIR, else to the user's folder for state.
 * The network is served by a thread of the library: no call waits for a collector.
 *
 * Threads: one thread at a time per schema with its sources.
 */
#ifndef DOCA_TELEMETRY_EXPORTER_H_
#define DOCA_TELEMETRY_EXPORTER_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_telemetry_exporter_schema;
struct doca_telemetry_exporter_source;
struct doca_telemetry_exporter_type;
struct doca_telemetry_exporter_field;

/** Number of a type within its schema. */
typedef uint8_t doca_telemetry_exporter_type_index_t;
/** Microseconds since 1970-01-01 UTC. */
typedef uint64_t doca_telemetry_exporter_timestamp_t;
/** Number of a set of label names within its source. */
typedef size_t doca_telemetry_exporter_label_set_id_t;
/** Number of a resource of log events within its source. */
typedef size_t doca_telemetry_exporter_otlp_logs_resource_id_t;
/** Number of a scope of log events within its source. */
typedef size_t doca_telemetry_exporter_otlp_logs_scope_id_t;

/** Type of an attribute of a log event. */
typedef enum doca_telemetry_exporter_otlp_attribute_type {
	DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_STRING = 0,
	DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_INT = 1,
} doca_telemetry_exporter_otlp_attribute_type_t;

/** Value of an attribute of a log event. */
typedef union doca_telemetry_exporter_otlp_attribute_value {
	const char *string_value;
	int64_t int_value;
} doca_telemetry_exporter_otlp_attribute_value_t;

/* Types of fields, by the name of the C type. */
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_BOOL "bool"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR "char"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_SHORT "short"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT "int"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_LONG "long"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_LONGLONG "long long"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UCHAR "unsigned char"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_USHORT "unsigned short"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT "unsigned int"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_ULONG "unsigned long"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_ULONGLONG "unsigned long long"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_FLOAT "float"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_DOUBLE "double"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT8 "int8_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT16 "int16_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT32 "int32_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT64 "int64_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT8 "uint8_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT16 "uint16_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT32 "uint32_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64 "uint64_t"
#define DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_TIMESTAMP DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64

/* Schema */

/**
 * Makes a schema with a name. Free it with doca_telemetry_exporter_schema_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_schema_init(
	const char *schema_name, struct doca_telemetry_exporter_schema **doca_schema);

/** Sets how many bytes a source buffers before a flush; 60000 by default. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_schema_set_buf_size(
	struct doca_telemetry_exporter_schema *doca_schema, uint64_t size);

/** Sets the folder for schema and data files. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_schema_set_buf_data_root(
	struct doca_telemetry_exporter_schema *doca_schema, const char *path);

/** Switches output to files on; at most 1 MB and one hour per file. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_schema_set_file_write_enabled(
	struct doca_telemetry_exporter_schema *doca_schema);

/** Switches delivery to a telemetry service of this machine on. The service need not be there. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_schema_set_ipc_enabled(
	struct doca_telemetry_exporter_schema *doca_schema);

/** Allows events without a type; log events need it. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_schema_set_opaque_events_enabled(
	struct doca_telemetry_exporter_schema *doca_schema);

/**
 * Adds a type under a name and gives its number; the type belongs to the schema on success.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, name taken, unknown field type), DOCA_ERROR_BAD_STATE
 * (started), DOCA_ERROR_NO_MEMORY (more than 256 types).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_schema_add_type(
	struct doca_telemetry_exporter_schema *doca_schema, const char *new_type_name,
	struct doca_telemetry_exporter_type *type,
	doca_telemetry_exporter_type_index_t *type_index);

/**
 * Freezes the schema; sources can be made.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (started),
 * DOCA_ERROR_INITIALIZATION (e.g. the folder cannot be written).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_schema_start(
	struct doca_telemetry_exporter_schema *doca_schema);

/**
 * Frees a schema, started or not, after its sources are gone.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, sources left).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_schema_destroy(
	struct doca_telemetry_exporter_schema *doca_schema);

/* Types and fields */

/**
 * Makes a type without fields.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_type_create(struct doca_telemetry_exporter_type **type);

/**
 * Appends a field as it is now; the field belongs to the type on success.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_type_add_field(struct doca_telemetry_exporter_type *type,
						    struct doca_telemetry_exporter_field *field);

/**
 * Frees a type that was not added to a schema, with its fields.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_type_destroy(struct doca_telemetry_exporter_type *type);

/**
 * Makes a field.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_field_create(struct doca_telemetry_exporter_field **field);

/** Sets the field's name. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_field_set_name(struct doca_telemetry_exporter_field *field_info,
					    const char *name);

/** Sets the field's description. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_field_set_description(
	struct doca_telemetry_exporter_field *field_info, const char *desc);

/** Sets the field's type, one of the names above. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_field_set_type_name(struct doca_telemetry_exporter_field *field_info,
						 const char *type);

/** Sets how many values the field holds; 1 is a single value. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_field_set_array_len(struct doca_telemetry_exporter_field *field_info,
						 uint16_t len);

/* Sources */

/**
 * Makes a source of a started schema. Free it with doca_telemetry_exporter_source_destroy().
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (schema not started),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_source_create(
	struct doca_telemetry_exporter_schema *doca_schema,
	struct doca_telemetry_exporter_source **doca_source);

/** Sets who reports; mandatory before start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_source_set_id(struct doca_telemetry_exporter_source *doca_source,
					   const char *source_id);

/** Sets the tag, which may be empty; mandatory before start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_source_set_tag(struct doca_telemetry_exporter_source *doca_source,
					    const char *source_tag);

/**
 * Opens the source for reports.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, id or tag missing), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_source_start(
	struct doca_telemetry_exporter_source *doca_source);

/**
 * Copies count records of a type, fields in order and without padding, into the buffer, and flushes
 * when it is full.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown type), DOCA_ERROR_BAD_STATE (not started),
 * DOCA_ERROR_NO_MEMORY (record larger than the buffer), DOCA_ERROR_IO_FAILED (the buffer was full
 * and could not be written: its records are lost, these ones were taken).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_source_report(
	struct doca_telemetry_exporter_source *doca_source,
	doca_telemetry_exporter_type_index_t index, void *data, int count);

/**
 * Writes the buffer out now.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (not started), DOCA_ERROR_IO_FAILED
 * (the file cannot be written: what was buffered is lost).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_source_flush(
	struct doca_telemetry_exporter_source *doca_source);

/**
 * Flushes a source and frees it.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_source_destroy(
	struct doca_telemetry_exporter_source *doca_source);

/**
 * Reads the present time. Any thread.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_get_timestamp(doca_telemetry_exporter_timestamp_t *timestamp);

/*
 * Metrics
 *
 * One metrics context per started source. id names a set of label names and values has one text for
 * each of them; id 0 is the empty set. A timestamp of 0 stands for now.
 */

/**
 * Makes the metrics context of a started source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (source not started),
 * DOCA_ERROR_ALREADY_EXIST, DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_create_context(
	struct doca_telemetry_exporter_source *source);

/**
 * Frees the metrics context, before the source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_destroy_context(
	struct doca_telemetry_exporter_source *source);

/**
 * Sets how often metrics are written out, in milliseconds; 1000 at first, 0 for never by itself.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_set_flush_interval_ms(
	struct doca_telemetry_exporter_source *source, uint32_t interval_ms);

/**
 * Puts a label on every metric of the source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_add_constant_label(
	struct doca_telemetry_exporter_source *source, const char *name, const char *value);

/**
 * Registers a set of label names.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_add_label_names(
	struct doca_telemetry_exporter_source *source, const char **names, size_t num_names,
	doca_telemetry_exporter_label_set_id_t *id);

/**
 * Reports the value of a counter.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_add_counter(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_timestamp_t timestamp, const char *name, uint64_t value,
	doca_telemetry_exporter_label_set_id_t id, const char **values);

/**
 * Reports by how much a counter grew.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_add_counter_increment(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_timestamp_t timestamp, const char *name, uint64_t value,
	doca_telemetry_exporter_label_set_id_t id, const char **values);

/**
 * Reports the value of a gauge.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_add_gauge(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_timestamp_t timestamp, const char *name, double value,
	doca_telemetry_exporter_label_set_id_t id, const char **values);

/**
 * Writes metrics out now.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (no metrics context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_metrics_flush(struct doca_telemetry_exporter_source *source);

/*
 * Log events
 *
 * One log context per started source of a schema that allows opaque events.
 */

/**
 * Makes the log context of a started source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_BAD_STATE (source not started, opaque events
 * off), DOCA_ERROR_ALREADY_EXIST, DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_create_context(
	struct doca_telemetry_exporter_source *source);

/**
 * Frees the log context, before the source.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_destroy_context(
	struct doca_telemetry_exporter_source *source);

/**
 * Makes a resource: what the events are about.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_add_resource(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_otlp_logs_resource_id_t *id);

/**
 * Gives a resource a text attribute.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_add_resource_attribute_string(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_otlp_logs_resource_id_t id, const char *key, const char *value);

/**
 * Gives a resource a number attribute.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_otlp_logs_resource_id_t id, const char *key, int64_t value);

/**
 * Describes a kind of event: names and types of its attributes and its usual severity.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_add_scope(
	struct doca_telemetry_exporter_source *source, const char *name, const char *version,
	const char *event_name, const char *severity, const char **keys,
	const doca_telemetry_exporter_otlp_attribute_type_t *types, size_t num_attributes,
	doca_telemetry_exporter_otlp_logs_scope_id_t *id);

/**
 * Writes an event with one value per attribute of its scope.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_write_event(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_otlp_logs_resource_id_t resource,
	doca_telemetry_exporter_otlp_logs_scope_id_t scope,
	const doca_telemetry_exporter_otlp_attribute_value_t *values);

/**
 * Writes an event with a severity of its own.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_write_event_with_severity(
	struct doca_telemetry_exporter_source *source,
	doca_telemetry_exporter_otlp_logs_resource_id_t resource,
	doca_telemetry_exporter_otlp_logs_scope_id_t scope,
	const doca_telemetry_exporter_otlp_attribute_value_t *values, const char *severity);

/**
 * Writes events out now.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, unknown number), DOCA_ERROR_BAD_STATE (no log context),
 * DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_otlp_logs_flush(struct doca_telemetry_exporter_source *source);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_TELEMETRY_EXPORTER_H_ */
