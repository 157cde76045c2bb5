/*
 * What the telemetry conformance programs share: a folder of their own, and files of lines read back.
 */
#ifndef CONFORMANCE_TELEMETRY_RIG_H
#define CONFORMANCE_TELEMETRY_RIG_H

#include <dirent.h>
#include <sys/stat.h>

#include <doca_telemetry_exporter.h>

#include "check.h"

static char rig_text[1 << 20];

/* A fresh folder below the working folder; its name is good until the next call. */
static inline const char *rig_folder(const char *name)
{
	static char path[4096];

	MUST_BE(getcwd(path, sizeof(path) - 64) != NULL);
	strcat(path, "/");
	strcat(path, name);
	MUST_BE(mkdir(path, 0700) == 0);
	return path;
}

static inline int rig_compare(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* The text of all files of a folder whose names have `part`, in order; how many files there are. */
static inline int rig_read(const char *folder, const char *part)
{
	struct dirent **entries = NULL;
	char path[8192];
	size_t used = 0;
	int count, i, files = 0;

	rig_text[0] = '\0';
	count = scandir(folder, &entries, NULL, rig_compare);
	for (i = 0; i < count; i++) {
		FILE *file;

		if (strstr(entries[i]->d_name, part) != NULL && entries[i]->d_name[0] != '.') {
			snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
			file = fopen(path, "r");
			MUST_BE(file != NULL);
			used += fread(rig_text + used, 1, sizeof(rig_text) - 1 - used, file);
			rig_text[used] = '\0';
			fclose(file);
			files++;
		}
		free(entries[i]);
	}
	free(entries);
	return files;
}

static inline int rig_count(const char *what)
{
	const char *at = rig_text;
	int n = 0;

	while ((at = strstr(at, what)) != NULL) {
		at += strlen(what);
		n++;
	}
	return n;
}

static inline struct doca_telemetry_exporter_field *rig_field(const char *name, const char *type, uint16_t len)
{
	struct doca_telemetry_exporter_field *field = NULL;

	MUST(doca_telemetry_exporter_field_create(&field));
	doca_telemetry_exporter_field_set_name(field, name);
	doca_telemetry_exporter_field_set_description(field, "what it says");
	doca_telemetry_exporter_field_set_type_name(field, type);
	doca_telemetry_exporter_field_set_array_len(field, len);
	return field;
}

/* A started source of a started schema with id "src" and tag "tag". */
static inline struct doca_telemetry_exporter_source *rig_source(struct doca_telemetry_exporter_schema *schema)
{
	struct doca_telemetry_exporter_source *source = NULL;

	MUST(doca_telemetry_exporter_source_create(schema, &source));
	doca_telemetry_exporter_source_set_id(source, "src");
	doca_telemetry_exporter_source_set_tag(source, "tag");
	MUST(doca_telemetry_exporter_source_start(source));
	return source;
}

#endif
