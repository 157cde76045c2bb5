/*
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * doca_telemetry_exporter_netflow.h: telemetry: NetFlow version 9
 *
 * Sends flow records to a collector, to files or to the telemetry service of this machine. The
 * exporter is one per process: init, settings, start, send, destroy. Templates may be made before
 * init.
 *
 * Threads: global state, one thread at a time.
 */
#ifndef DOCA_TELEMETRY_EXPORTER_NETFLOW_H_
#define DOCA_TELEMETRY_EXPORTER_NETFLOW_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_telemetry_exporter.h>
#include <doca_telemetry_exporter_netflow_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_telemetry_exporter_netflow_template;
struct doca_telemetry_exporter_netflow_flowset_field;

/** UDP port of the collector when none is set. */
#define DOCA_NETFLOW_DEFAULT_PORT 2055

/* Exporter */

/**
 * Prepares the exporter; source_id goes into every packet.
 *
 * Errors: DOCA_ERROR_BAD_STATE (prepared already), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_INITIALIZATION.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_init(uint16_t source_id);

/** Sets the collector's address; copied. Between init and start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_set_collector_addr(const char *collector_addr);

/** Sets the collector's UDP port. Between init and start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_set_collector_port(uint16_t collector_port);

/** Switches output to files on. Between init and start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_set_file_write_enabled(void);

/** Switches delivery to the telemetry service of this machine on. Between init and start. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_set_ipc_enabled(void);

/** Sets who reports; copied. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_source_set_id(const char *source_id);

/** Sets the tag; copied. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_source_set_tag(const char *source_tag);

/**
 * Opens the exporter for records. A collector that is not found is said in the log; the exporter
 * goes on without.
 *
 * Errors: DOCA_ERROR_BAD_STATE (not prepared, or started), DOCA_ERROR_INITIALIZATION (no folder for
 * files), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_start(void);

/**
 * Sends records: pointers to packed values in template order, numbers in network order.
 * *nof_records_sent, which may be less than asked for, tells how many were taken. A packet has at
 * most 30 records and 1400 bytes, unless one record is larger.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, template without fields), DOCA_ERROR_BAD_STATE (not
 * started), DOCA_ERROR_NO_MEMORY, DOCA_ERROR_IO_FAILED (files cannot be written).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_send(
	const struct doca_telemetry_exporter_netflow_template *netflow_template,
	const void **records, size_t nof_records, size_t *nof_records_sent);

/**
 * Sends what is buffered now.
 *
 * Errors: DOCA_ERROR_BAD_STATE (not started).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_flush(void);

/**
 * Stops the exporter and clears it; harmless when repeated.
 *
 * Errors: DOCA_ERROR_BAD_STATE (not prepared).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_destroy(void);

/* Templates and fields */

/**
 * Makes a template without fields.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_template_create(
	struct doca_telemetry_exporter_netflow_template **netflow_template);

/**
 * Appends a field as it is now; the field belongs to the template on success.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL, no number, no length), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_template_add_field(
	struct doca_telemetry_exporter_netflow_template *netflow_template,
	struct doca_telemetry_exporter_netflow_flowset_field *field);

/**
 * Frees a template with its fields.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_template_destroy(
	struct doca_telemetry_exporter_netflow_template *netflow_template);

/**
 * Makes a field.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL), DOCA_ERROR_NO_MEMORY.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_field_create(
	struct doca_telemetry_exporter_netflow_flowset_field **field);

/** Sets the field's number, see doca_telemetry_exporter_netflow_types.h. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_field_set_type(
	struct doca_telemetry_exporter_netflow_flowset_field *field, uint16_t type);

/** Sets the field's length in bytes. */
DOCA_EXPERIMENTAL
void doca_telemetry_exporter_netflow_field_set_len(
	struct doca_telemetry_exporter_netflow_flowset_field *field, uint16_t length);

/**
 * Frees a field that was not added to a template.
 *
 * Errors: DOCA_ERROR_INVALID_VALUE (NULL).
 */
DOCA_EXPERIMENTAL
doca_error_t doca_telemetry_exporter_netflow_field_destroy(
	struct doca_telemetry_exporter_netflow_flowset_field *field);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* DOCA_TELEMETRY_EXPORTER_NETFLOW_H_ */
