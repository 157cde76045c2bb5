/*
 * What telemetry refuses: wrong handles, wrong order, types that cannot be, folders that are none, records larger than
 * the buffer, a disk that takes nothing more.
 *
 * clauses: refused calls change nothing; a schema that did not start can be mended or destroyed
 * covers: @
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <sys/resource.h>

#include "telemetry_rig.h"

static void types(struct doca_telemetry_exporter_schema *schema)
{
	struct doca_telemetry_exporter_type *type = NULL, *same = NULL;
	struct doca_telemetry_exporter_field *field = NULL, *once;
	doca_telemetry_exporter_type_index_t index = 9;

	CHECK_STATUS(doca_telemetry_exporter_type_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_field_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_field_create(&field));
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(NULL, field), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(type, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "none", type, &index), DOCA_ERROR_INVALID_VALUE);
	/* Setters have no status; they must not fall over anything. */
	doca_telemetry_exporter_field_set_name(field, NULL);
	doca_telemetry_exporter_field_set_name(NULL, "x");
	doca_telemetry_exporter_field_set_description(field, NULL);
	doca_telemetry_exporter_field_set_type_name(field, NULL);
	doca_telemetry_exporter_field_set_array_len(NULL, 3);
	doca_telemetry_exporter_field_set_name(field, "f");
	doca_telemetry_exporter_field_set_type_name(field, "complex");
	CHECK_OK(doca_telemetry_exporter_type_add_field(type, field));
	CHECK_STATUS(doca_telemetry_exporter_type_add_field(type, field), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "bad", type, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_type_destroy(type));
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(type), DOCA_ERROR_INVALID_VALUE);

	MUST(doca_telemetry_exporter_type_create(&type));
	once = rig_field("f", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_DOUBLE, 4);
	MUST(doca_telemetry_exporter_type_add_field(type, once));
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(NULL, "t", type, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, NULL, type, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "", type, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", NULL, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", type, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(index, 9);
	CHECK_OK(doca_telemetry_exporter_schema_add_type(schema, "t", type, &index));
	CHECK_U64(index, 0);
	/* The type is the schema's now, and its name is taken. */
	CHECK_STATUS(doca_telemetry_exporter_type_destroy(type), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_telemetry_exporter_type_create(&same));
	MUST(doca_telemetry_exporter_type_add_field(same, rig_field("g", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_BOOL, 1)));
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "t", same, &index), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_type_destroy(same));
}

static void order(struct doca_telemetry_exporter_schema *schema)
{
	struct doca_telemetry_exporter_source *source = NULL;
	struct doca_telemetry_exporter_type *type = NULL;
	doca_telemetry_exporter_type_index_t index = 0;
	double data[4] = {0};

	CHECK_STATUS(doca_telemetry_exporter_source_create(schema, &source), DOCA_ERROR_BAD_STATE);
	MUST(doca_telemetry_exporter_schema_start(schema));
	CHECK_STATUS(doca_telemetry_exporter_schema_start(schema), DOCA_ERROR_BAD_STATE);
	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("g", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_BOOL, 1)));
	CHECK_STATUS(doca_telemetry_exporter_schema_add_type(schema, "late", type, &index), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_telemetry_exporter_type_destroy(type));
	doca_telemetry_exporter_schema_set_buf_size(schema, 1);

	CHECK_STATUS(doca_telemetry_exporter_source_create(schema, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_create(NULL, &source), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_telemetry_exporter_source_create(schema, &source));
	CHECK_STATUS(doca_telemetry_exporter_source_start(source), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 0, data, 1), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_source_flush(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_metrics_create_context(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_create_context(source), DOCA_ERROR_BAD_STATE);
	doca_telemetry_exporter_source_set_id(source, NULL);
	doca_telemetry_exporter_source_set_id(source, "s");
	CHECK_STATUS(doca_telemetry_exporter_source_start(source), DOCA_ERROR_INVALID_VALUE);
	doca_telemetry_exporter_source_set_tag(source, "");
	CHECK_OK(doca_telemetry_exporter_source_start(source));
	CHECK_STATUS(doca_telemetry_exporter_source_start(source), DOCA_ERROR_BAD_STATE);

	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 1, data, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 0, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 0, data, -1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_report(NULL, 0, data, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_source_report(source, 0, data, 1));
	/* Log events need a schema that allows them. */
	CHECK_STATUS(doca_telemetry_exporter_otlp_logs_create_context(source), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_telemetry_exporter_schema_destroy(schema), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	CHECK_STATUS(doca_telemetry_exporter_source_destroy(source), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_source_flush(source), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
	CHECK_STATUS(doca_telemetry_exporter_schema_destroy(schema), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_start(schema), DOCA_ERROR_INVALID_VALUE);
}

/* A folder that is a file, mended by another one; then a disk that takes nothing more. */
static void disk(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;
	struct doca_telemetry_exporter_source *source;
	struct doca_telemetry_exporter_type *type = NULL;
	doca_telemetry_exporter_type_index_t index = 0;
	struct rlimit limit;
	const char *root;
	char folder[4200], record[100];
	FILE *file;

	file = fopen("no-folder", "w");
	MUST_BE(file != NULL);
	fclose(file);
	MUST(doca_telemetry_exporter_schema_init("disk", &schema));
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	doca_telemetry_exporter_schema_set_buf_data_root(schema, NULL);
	doca_telemetry_exporter_schema_set_buf_data_root(schema, "no-folder");
	doca_telemetry_exporter_schema_set_buf_size(schema, 200);
	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("c", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 100)));
	MUST(doca_telemetry_exporter_schema_add_type(schema, "small", type, &index));
	MUST(doca_telemetry_exporter_type_create(&type));
	MUST(doca_telemetry_exporter_type_add_field(type, rig_field("c", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 201)));
	MUST(doca_telemetry_exporter_schema_add_type(schema, "large", type, &index));
	CHECK_STATUS(doca_telemetry_exporter_schema_start(schema), DOCA_ERROR_INITIALIZATION);
	root = rig_folder("disk");
	snprintf(folder, sizeof(folder), "%s/disk", root);
	doca_telemetry_exporter_schema_set_buf_data_root(schema, root);
	MUST(doca_telemetry_exporter_schema_start(schema));
	source = rig_source(schema);

	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 1, record, 1), DOCA_ERROR_NO_MEMORY);
	memset(record, 'a', sizeof(record));
	CHECK_OK(doca_telemetry_exporter_source_report(source, 0, record, 1));
	CHECK_OK(doca_telemetry_exporter_source_flush(source));

	/* Files may have 300 bytes: one line fits, half of the next one would. */
	signal(SIGXFSZ, SIG_IGN);
	MUST_BE(getrlimit(RLIMIT_FSIZE, &limit) == 0);
	limit.rlim_cur = 300;
	MUST_BE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	memset(record, 'b', sizeof(record));
	CHECK_OK(doca_telemetry_exporter_source_report(source, 0, record, 1));
	CHECK_STATUS(doca_telemetry_exporter_source_flush(source), DOCA_ERROR_IO_FAILED);
	CHECK_OK(doca_telemetry_exporter_source_report(source, 0, record, 1));
	CHECK_STATUS(doca_telemetry_exporter_source_report(source, 0, record, 1), DOCA_ERROR_IO_FAILED);
	limit.rlim_cur = limit.rlim_max;
	MUST_BE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	memset(record, 'c', sizeof(record));
	CHECK_OK(doca_telemetry_exporter_source_report(source, 0, record, 1));
	CHECK_OK(doca_telemetry_exporter_source_flush(source));
	/* The lines that could not be written as a whole are not there in part either. */
	CHECK(rig_read(folder, "src") >= 1);
	CHECK_U64(rig_count("\n"), 2);
	CHECK_U64(rig_count("b"), 0);
	CHECK_U64(rig_count("ccccccccccccccccccccc"), 4);
	CHECK_OK(doca_telemetry_exporter_source_destroy(source));
	CHECK_OK(doca_telemetry_exporter_schema_destroy(schema));
}

int main(void)
{
	struct doca_telemetry_exporter_schema *schema = NULL;

	CHECK_STATUS(doca_telemetry_exporter_get_timestamp(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_init(NULL, &schema), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_init("", &schema), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_init("x", NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_telemetry_exporter_schema_start(NULL), DOCA_ERROR_INVALID_VALUE);
	doca_telemetry_exporter_schema_set_buf_size(NULL, 5);
	doca_telemetry_exporter_schema_set_file_write_enabled(NULL);
	MUST(doca_telemetry_exporter_schema_init("rules", &schema));
	types(schema);
	order(schema);
	disk();
	return check_result();
}
