/*
 * Log events: resources, scopes, values, severities, and the files they are written to, with no collector there.
 *
 * clauses: events have the attributes of their scope; without a collector nothing fails
 * covers: @
 * env: OTEL_LOGS_EXPORTER=none
 */
#define _GNU_SOURCE
#include "telemetry_rig.h"

int main(void)
{
	const doca_telemetry_exporter_otlp_attribute_type_t types[] = {
		DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_STRING, DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_INT};
	const doca_telemetry_exporter_otlp_attribute_type_t wrong[] = {
		DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_STRING, (doca_telemetry_exporter_otlp_attribute_type_t)7};
	const char *keys[] = {"why", "count"};
	doca_telemetry_exporter_otlp_attribute_value_t values[2] = {{.string_value = "hot"}, {.int_value = -7}};
	const doca_telemetry_exporter_otlp_attribute_value_t hole[2] = {{.string_value = NULL}, {.int_value = 0}};
	doca_telemetry_exporter_otlp_logs_resource_id_t resource = 0;
	doca_telemetry_exporter_otlp_logs_scope_id_t scope = 0, plain = 0;
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source;
	const char *root = rig_folder("data");
	char folder[4200];

	snprintf(folder, sizeof(folder), "%s/plant", root);
	MUST(doca_telemetry_exporter_schema_init("plant", &schema));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, root);
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	doca_telemetry_exporter_schema_set_opaque_events_enabled(schema);
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);

	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_resource(source, &resource), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_flush(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_destroy_context(source), DOCA_ERROR_BAD_STATE);
	MUST(doca_telemetry_exporter_otlp_logs_create_context(source));
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_create_context(source), DOCA_ERROR_ALREADY_EXIST);

	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_resource(source, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource(source, &resource));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource_attribute_string(source, resource, "host", "h\n1"));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(source, resource, "cores", 8));
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(source, resource + 1, "x", 8),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_resource_attribute_string(source, resource, "x", NULL),
		     DOCA_ERROR_INVALID_VALUE);

	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_scope(source, "scope", "1.2", "stopped", "ERROR", keys, wrong,
								 2, &scope),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_add_scope(source, "scope", "1.2", "stopped", "ERROR", NULL, types,
								 2, &scope),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_scope(source, "scope", "1.2", "stopped", "ERROR", keys, types, 2,
							     &scope));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_scope(source, "scope", "1.2", "begun", "INFO", NULL, NULL, 0,
							     &plain));

	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope, values));
	values[1].int_value = INT64_MIN;
	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event_with_severity(source, resource, scope, values, "WARN"));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event(source, resource, plain, NULL));
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope, NULL),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope, hole),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_write_event(source, resource, 99, values),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_write_event(source, 99, scope, values), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(
		doca_telemetry_exporter_otlp_logs_write_event_with_severity(source, resource, scope, values, NULL),
		DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_otlp_logs_flush(source));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_flush(source));

	CHECK_U64(rig_read(folder, "src-tag-logs"), 1);
	CHECK_U64(rig_count("\"timeUnixNano\""), 3);
	CHECK_U64(rig_count("\"stringValue\":\"h\\n1\""), (uint64_t)rig_count("\n"));
	CHECK_U64(rig_count("\"intValue\":\"-9223372036854775808\""), 1);
	CHECK_U64(rig_count("\"severityText\":\"ERROR\""), 1);
	CHECK_U64(rig_count("\"severityText\":\"WARN\""), 1);
	CHECK_U64(rig_count("\"severityNumber\":9"), 1);
	CHECK_U64(rig_count("\"eventName\":\"stopped\""), 2);

	/* What was not flushed is written at the end. */
	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event(source, resource, plain, NULL));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_destroy_context(source));
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_write_event(source, resource, plain, NULL), DOCA_ERROR_BAD_STATE);
	rig_read(folder, "src-tag-logs");
	CHECK_U64(rig_count("\"timeUnixNano\""), 4);
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	return check_result();
}
