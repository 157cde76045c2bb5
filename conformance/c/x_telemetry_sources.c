/*
 * Schemas, types and sources in every wrong order: before the start, after it, twice, NULL, of the wrong
 * kind; who owns a field or a type; records that do not fit; what is bigger than the buffer; sources that
 * outlive nothing.
 *
 * clauses: telemetry Schema and types; Source; Metrics; OTLP logs
 * covers: @
 */
#define _GNU_SOURCE
#include "telemetry_rig.h"

#define BAD DOCA_ERROR_INVALID_VALUE

static struct doca_telemetry_exporter_type *type_of(const char *kind, uint16_t len)
{
	struct doca_telemetry_exporter_type *type = NULL;

	MUST(doca_telemetry_exporter_type_create(&type));
	CHECK_OK(doca_telemetry_exporter_type_add_field(
		type, rig_field("time", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_TIMESTAMP, 1)));
	CHECK_OK(doca_telemetry_exporter_type_add_field(type, rig_field("what", kind, len)));
	return type;
}

static void types(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source = NULL;
	struct doca_telemetry_exporter_type *type = NULL, *none = NULL, *twin;
	struct doca_telemetry_exporter_field *field = NULL, *same = NULL;
	doca_telemetry_exporter_type_index_t first = 77, second = 77;

	CHECK_STATUS(doca_telemetry_exporter_schema_init(NULL, &schema), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_init("s", NULL), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_destroy(NULL), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_start(NULL), BAD);
	CHECK_STATUS(doca_telemetry_exporter_type_create(NULL), BAD);
	CHECK_STATUS(doca_telemetry_exporter_field_create(NULL), BAD);
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(NULL), BAD);
	MUST(doca_telemetry_exporter_schema_init("rules", &schema));
	/* Not started: no sources. */
	CHECK_REFUSED(doca_telemetry_exporter_source_create(schema, &source));
	MUST(doca_telemetry_exporter_type_create(&none));
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(none, NULL), BAD);
	same = rig_field("a", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT32, 1);
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(NULL, same), BAD);
	CHECK_OK(doca_telemetry_exporter_type_add_field(none, same));
	/* The type has it now. */
	type = type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 16);
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(type, same), BAD);
	CHECK_OK(doca_telemetry_exporter_type_destroy(none));
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(none), BAD);
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(type, same), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, NULL, type, &first), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", NULL, &first), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", none, &first), BAD);
	CHECK_OK(doca_telemetry_exporter_schema_add_type(schema, "t", type, &first));
	/* The schema has it. */
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(type), BAD);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "u", type, &second), BAD);
	field = rig_field("late", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT32, 1);
	CHECK_REFUSED(doca_telemetry_exporter_type_add_field(type, field));
	twin = type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64, 1);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", twin, &second), BAD);
	/* Still ours. */
	CHECK_OK(doca_telemetry_exporter_schema_add_type(schema, "u", twin, &second));
	CHECK(first != second);
	type = type_of("int31_t", 1);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "odd", type, &second), BAD);
	CHECK_OK(doca_telemetry_exporter_type_destroy(type));
	CHECK_OK(doca_telemetry_exporter_schema_start(schema));
	CHECK_REFUSED(doca_telemetry_exporter_schema_start(schema));
	type = type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64, 1);
	CHECK_REFUSED(doca_telemetry_exporter_schema_add_type(schema, "late", type, &second));
	CHECK_OK(doca_telemetry_exporter_type_destroy(type));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	CHECK_STATUS(doca_telemetry_exporter_schema_destroy(schema), BAD);
	/* One that never started takes its types along. */
	MUST(doca_telemetry_exporter_schema_init("never", &schema));
	CHECK_OK(doca_telemetry_exporter_schema_add_type(
		schema, "t", type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64, 1), &first));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	/* A folder that cannot be. */
	MUST(doca_telemetry_exporter_schema_init("nowhere", &schema));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, "/proc/self/nowhere/at/all");
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	CHECK_STATUS(doca_telemetry_exporter_schema_start(schema), DOCA_ERROR_INITIALIZATION);
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
}

static void sources(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source = NULL, *other;
	doca_telemetry_exporter_type_index_t index = 0, big = 0;
	doca_telemetry_exporter_timestamp_t now = 0, then = 0;
	static uint8_t record[4096];
	const char *folder = rig_folder("sources");

	CHECK_STATUS(doca_telemetry_exporter_get_timestamp(NULL), BAD);
	CHECK_OK(doca_telemetry_exporter_get_timestamp(&now));
	CHECK_OK(doca_telemetry_exporter_get_timestamp(&then));
	CHECK(now > 1700000000000000ull && then >= now && then - now < 60000000ull);
	MUST(doca_telemetry_exporter_schema_init("src", &schema));
	doca_telemetry_exporter_schema_set_buf_size(schema, 256);
	doca_telemetry_exporter_schema_set_buf_data_root(schema, folder);
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	doca_telemetry_exporter_schema_set_ipc_enabled(schema); /* nobody is there */
	CHECK_OK(doca_telemetry_exporter_schema_add_type(
		schema, "small", type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 24), &index));
	CHECK_OK(doca_telemetry_exporter_schema_add_type(
		schema, "big", type_of(DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 2000), &big));
	MUST(doca_telemetry_exporter_schema_start(schema));
	CHECK_STATUS(doca_telemetry_exporter_source_create(NULL, &source), BAD);
	CHECK_STATUS(doca_telemetry_exporter_source_create(schema, NULL), BAD);
	MUST(doca_telemetry_exporter_source_create(schema, &source));
	CHECK_REFUSED(doca_telemetry_exporter_source_report(source, index, record, 1));
	CHECK_STATUS(doca_telemetry_exporter_source_start(source), BAD);
	doca_telemetry_exporter_source_set_id(source, "id");
	CHECK_STATUS(doca_telemetry_exporter_source_start(source), BAD);
	doca_telemetry_exporter_source_set_tag(source, "");
	CHECK_REFUSED(doca_telemetry_exporter_metrics_create_context(source)); /* not started */
	CHECK_OK(doca_telemetry_exporter_source_start(source));
	CHECK_REFUSED(doca_telemetry_exporter_source_start(source));
	/* With a source a schema cannot go. */
	CHECK_REFUSED(doca_telemetry_exporter_schema_destroy(schema));
	memcpy(record + 8, "hello \"world\"\n\\", 15);
	CHECK_OK(doca_telemetry_exporter_source_report(source, index, record, 1));
	CHECK_REFUSED(doca_telemetry_exporter_source_report(source, index, record, -1));
	CHECK_REFUSED(doca_telemetry_exporter_source_report(source, index, NULL, 1));
	CHECK_REFUSED(doca_telemetry_exporter_source_report(source, 200, record, 1));
	CHECK_REFUSED(doca_telemetry_exporter_source_report(NULL, index, record, 1));
	CHECK_STATUS(doca_telemetry_exporter_source_report(source, big, record, 1), DOCA_ERROR_NO_MEMORY);
	/* Many more than the buffer holds, at once. */
	CHECK_OK(doca_telemetry_exporter_source_report(source, index, record, 100));
	CHECK_OK(doca_telemetry_exporter_source_flush(source));
	CHECK_STATUS(doca_telemetry_exporter_source_flush(NULL), BAD);
	other = rig_source(schema);
	CHECK_OK(doca_telemetry_exporter_source_report(other, index, record, 2));
	CHECK_OK(doca_telemetry_exporter_source_destroy(other));
	CHECK_STATUS(doca_telemetry_exporter_source_destroy(other), BAD);
	CHECK_STATUS(doca_telemetry_exporter_source_report(other, index, record, 2), BAD);
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	/* 1 + 100 + 2 records came out, or at least the files they are in. */
	CHECK(rig_read(folder, "") > 0);
	/* One that never started. */
	MUST(doca_telemetry_exporter_source_create(schema, &source));
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
}

static void metrics_and_logs(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source, *plain;
	doca_telemetry_exporter_otlp_logs_resource_id_t resource = 0;
	doca_telemetry_exporter_otlp_logs_scope_id_t scope = 0;
	doca_telemetry_exporter_label_set_id_t id = 0;
	doca_telemetry_exporter_timestamp_t now = 0;
	doca_telemetry_exporter_otlp_attribute_type_t kinds[2] = {
		DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_STRING, DOCA_TELEMETRY_EXPORTER_OTLP_ATTRIBUTE_TYPE_INT};
	doca_telemetry_exporter_otlp_attribute_value_t values[2];
	const char *names[2] = {"a", "b"}, *texts[2] = {"x", "y"};
	const char *folder = rig_folder("metrics");

	MUST(doca_telemetry_exporter_schema_init("met", &schema));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, folder);
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	doca_telemetry_exporter_schema_set_opaque_events_enabled(schema);
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);
	MUST(doca_telemetry_exporter_get_timestamp(&now));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_label_names(source, names, 2, &id));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_counter(source, now, "c", 1, id, texts));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_flush(source));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_create_context(NULL));
	CHECK_OK(doca_telemetry_exporter_metrics_create_context(source));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_create_context(source));
	CHECK_OK(doca_telemetry_exporter_metrics_set_flush_interval_ms(source, 10));
	CHECK_OK(doca_telemetry_exporter_metrics_add_constant_label(source, "host", "h"));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_constant_label(source, NULL, "h"));
	CHECK_OK(doca_telemetry_exporter_metrics_add_label_names(source, names, 2, &id));
	CHECK_OK(doca_telemetry_exporter_metrics_add_counter(source, now, "c", 5, id, texts));
	CHECK_OK(doca_telemetry_exporter_metrics_add_counter_increment(source, now, "c", 3, id, texts));
	CHECK_OK(doca_telemetry_exporter_metrics_add_gauge(source, now, "g", 1.5, id, texts));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_gauge(source, now, "g", 1.5, id + 1000, texts));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_gauge(source, now, "g", 1.5, id, NULL));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_add_gauge(source, now, NULL, 1.5, id, texts));
	CHECK_OK(doca_telemetry_exporter_metrics_flush(source));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_create_context(source));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_create_context(source));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource(source, &resource));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource_attribute_string(source, resource, "k", "v"));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(source, resource, "n", -5));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_add_resource_attribute_int(source, resource + 99, "n", -5));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_add_scope(source, "s", "1", "e", "INFO", names, kinds, 2, &scope));
	memset(values, 0, sizeof(values));
	values[0].string_value = "text";
	values[1].int_value = -7;
	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope, values));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_write_event_with_severity(source, resource, scope, values, "WARN"));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_write_event(source, resource + 99, scope, values));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope + 99, values));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_write_event(source, resource, scope, NULL));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_flush(source));
	CHECK_OK(doca_telemetry_exporter_otlp_logs_destroy_context(source));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_destroy_context(source));
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_flush(source));
	CHECK_OK(doca_telemetry_exporter_metrics_destroy_context(source));
	CHECK_REFUSED(doca_telemetry_exporter_metrics_destroy_context(source));
	CHECK_OK(doca_telemetry_exporter_metrics_create_context(source)); /* and once more */
	/* The source goes with a context, or says that it cannot. */
	plain = source;
	if (doca_telemetry_exporter_source_destroy(source) != DOCA_SUCCESS) {
		CHECK_OK(doca_telemetry_exporter_metrics_destroy_context(plain));
		CHECK_OK(doca_telemetry_exporter_source_destroy(plain));
	}
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	/* Without opaque events there are no logs. */
	MUST(doca_telemetry_exporter_schema_init("plain", &schema));
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);
	CHECK_REFUSED(doca_telemetry_exporter_otlp_logs_create_context(source));
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
}

int main(void)
{
	types();
	sources();
	metrics_and_logs();
	return check_result();
}
