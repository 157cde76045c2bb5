/*
 * Records: types and fields, reports that fill the buffer, flushing, the files that come out, the description of the
 * schema, and delivery to a service that is not there.
 *
 * clauses: records are packed fields; a full buffer is written by itself; flush and destroy write the rest
 * covers: @
 */
#define _GNU_SOURCE
#include "telemetry_rig.h"

/* 8 + 4 + 4 + 8 + 256 bytes. */
struct record {
	uint64_t time;
	int32_t one;
	int32_t two;
	uint64_t three;
	char text[256];
} __attribute__((packed));

static doca_telemetry_exporter_type_index_t add_types(struct doca_telemetry_exporter_schema *schema)
{
	struct doca_telemetry_exporter_type *type = NULL;
	doca_telemetry_exporter_type_index_t first = 77, second = 77;

	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_type_add_field(
		type, rig_field("time", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_TIMESTAMP, 1)));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("one", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT32, 1)));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("two", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_INT, 1)));
	MUST(doca_telemetry_exporter_type_add_field(type,
						    rig_field("three", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT64, 1)));
	MUST(doca_telemetry_exporter_type_add_field(type,
						    rig_field("text", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 256)));
	MUST(doca_telemetry_exporter_schema_add_type(schema, "event", type, &first));
	CHECK_U64(first, 0);

	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("x", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_SHORT, 2)));
	MUST(doca_telemetry_exporter_schema_add_type(schema, "pair", type, &second));
	CHECK_U64(second, 1);
	return first;
}

int main(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source;
	doca_telemetry_exporter_timestamp_t before = 0, after = 0;
	doca_telemetry_exporter_type_index_t event;
	struct record records[10];
	const char *root = rig_folder("data");
	char folder[4200];
	int16_t pair[2] = {-5, 7};
	int i, batch;

	snprintf(folder, sizeof(folder), "%s/plant", root);
	MUST(doca_telemetry_exporter_schema_init("plant", &schema));
	doca_telemetry_exporter_schema_set_buf_size(schema, 5 * sizeof(struct record));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, root);
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	doca_telemetry_exporter_schema_set_ipc_enabled(schema);
	doca_telemetry_exporter_schema_set_opaque_events_enabled(schema);
	event = add_types(schema);
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);

	CHECK_OK(doca_telemetry_exporter_get_timestamp(&before));
	CHECK(before > 1700000000000000ull);
	for (batch = 0; batch < 5; batch++) {
		memset(records, 0, sizeof(records));
		for (i = 0; i < 10; i++) {
			records[i].time = before;
			records[i].one = -(batch * 10 + i);
			records[i].two = i;
			records[i].three = UINT64_MAX;
			snprintf(records[i].text, sizeof(records[i].text), "say \"%d\"", i);
		}
		CHECK_OK(doca_telemetry_exporter_source_report(source, event, records, 10));
	}
	CHECK_OK(doca_telemetry_exporter_get_timestamp(&after));
	CHECK(after >= before);
	/* Ten records are two full buffers each time: nothing waits. */
	CHECK(rig_read(folder, "src-tag-") >= 1);
	CHECK_U64(rig_count("\n"), 50);
	CHECK_U64(rig_count("\"three\":18446744073709551615"), 50);
	CHECK_U64(rig_count("\"one\":-49,\"two\":9,"), 1);
	CHECK_U64(rig_count("\"text\":\"say \\\"3\\\"\"}}\n"), 5);
	CHECK_U64(rig_count("\"source\":\"src\",\"tag\":\"tag\",\"type\":\"event\""), 50);

	/* What does not fill the buffer waits for a flush, or for the end of the source. */
	CHECK_OK(doca_telemetry_exporter_source_report(source, 1, pair, 1));
	rig_read(folder, "src-tag-");
	CHECK_U64(rig_count("\n"), 50);
	CHECK_OK(doca_telemetry_exporter_source_flush(source));
	CHECK_OK(doca_telemetry_exporter_source_flush(source));
	rig_read(folder, "src-tag-");
	CHECK_U64(rig_count("\n"), 51);
	CHECK_U64(rig_count("\"type\":\"pair\",\"data\":{\"x\":[-5,7]}"), 1);
	CHECK_OK(doca_telemetry_exporter_source_report(source, event, records, 0));
	CHECK_OK(doca_telemetry_exporter_source_report(source, event, records, 1));
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	rig_read(folder, "src-tag-");
	CHECK_U64(rig_count("\n"), 52);

	CHECK_U64(rig_read(root, "plant.schema.json"), 1);
	CHECK_U64(rig_count("\"type\": \"char\""), 1);
	CHECK_U64(rig_count("\"size\": 280"), 1);
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	return check_result();
}
