/* Telemetry: packed records and a counter, in files that other tools read. */
#include "tutorial.h"

#include <dirent.h>
#include <doca_telemetry_exporter.h>
#include <sys/stat.h>

/* Fields in order, without gaps: what the type says below. */
struct transfer {
	uint64_t time;
	uint32_t bytes;
	char file[16];
} __attribute__((packed));

static void add_field(struct doca_telemetry_exporter_type *type, const char *name, const char *kind, uint16_t count)
{
	struct doca_telemetry_exporter_field *field;

	MUST(doca_telemetry_exporter_field_create(&field));
	doca_telemetry_exporter_field_set_name(field, name);
	doca_telemetry_exporter_field_set_type_name(field, kind);
	doca_telemetry_exporter_field_set_array_len(field, count);
	MUST(doca_telemetry_exporter_type_add_field(type, field)); /* whose it is now */
}

/* The files of a folder, and how many lines they have. */
static void show(const char *folder)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, NULL, alphasort);

	for (int i = 0; i < count; free(entries[i]), i++) {
		int lines = 0;
		char path[512];
		FILE *file;

		if (entries[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		file = fopen(path, "r");
		for (int c = fgetc(file); c != EOF; c = fgetc(file))
			lines += c == '\n';
		fclose(file);
		/* Their names end in the time at which they were begun. */
		printf("lines of %s: %d\n", strstr(path, "metrics") ? "metrics" : "records", lines);
	}
	free(entries);
}

int main(void)
{
	struct doca_telemetry_exporter_schema *schema;
	struct doca_telemetry_exporter_source *source;
	struct doca_telemetry_exporter_type *type;
	doca_telemetry_exporter_type_index_t index;
	doca_telemetry_exporter_label_set_id_t labels;
	doca_telemetry_exporter_timestamp_t now;
	const char *names[] = {"file"}, *photo[] = {"photo.jpg"};
	struct transfer transfers[2] = {{.bytes = 4096, .file = "photo.jpg"}, {.bytes = 17, .file = "note.txt"}};

	/* What records look like, and where they go. */
	MUST(doca_telemetry_exporter_schema_init("copies", &schema));
	doca_telemetry_exporter_schema_set_buf_data_root(schema, "reports");
	doca_telemetry_exporter_schema_set_file_write_enabled(schema);
	MUST(doca_telemetry_exporter_type_create(&type));
	add_field(type, "time", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_TIMESTAMP, 1);
	add_field(type, "bytes", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_UINT32, 1);
	add_field(type, "file", DOCA_TELEMETRY_EXPORTER_FIELD_TYPE_CHAR, 16);
	MUST(doca_telemetry_exporter_schema_add_type(schema, "transfer", type, &index));
	MUST(doca_telemetry_exporter_schema_start(schema));

	/* Who reports. */
	MUST(doca_telemetry_exporter_source_create(schema, &source));
	doca_telemetry_exporter_source_set_id(source, "copier");
	doca_telemetry_exporter_source_set_tag(source, "demo");
	MUST(doca_telemetry_exporter_source_start(source));

	/* Records are copied; they are written when the buffer is full, or now. */
	MUST(doca_telemetry_exporter_get_timestamp(&now));
	transfers[0].time = transfers[1].time = now;
	MUST(doca_telemetry_exporter_source_report(source, index, transfers, 2));
	MUST(doca_telemetry_exporter_source_flush(source));

	/* Metrics: numbers with labels. The set of names is told once, the values each time. */
	MUST(doca_telemetry_exporter_metrics_create_context(source));
	MUST(doca_telemetry_exporter_metrics_add_label_names(source, names, 1, &labels));
	MUST(doca_telemetry_exporter_metrics_add_counter_increment(source, 0, "copied_bytes", 4096, labels, photo));
	MUST(doca_telemetry_exporter_metrics_add_gauge(source, 0, "load", 0.25, 0, NULL));
	MUST(doca_telemetry_exporter_metrics_flush(source));
	MUST(doca_telemetry_exporter_metrics_destroy_context(source));

	MUST(doca_telemetry_exporter_source_destroy(source));
	MUST(doca_telemetry_exporter_schema_destroy(schema));
	show("reports/copies");
	return 0;
}
