/*
 * Eight threads log to one stream, one descriptor and one buffer while levels change: each record
 * comes out in one piece, none is lost, none doubled.
 *
 * clauses: core-base doca_log (thread safe, one piece), Threads
 * covers: @
 */
#define _GNU_SOURCE
#include "capture.h"

#define THREADS 8
#define RECORDS 400

DOCA_LOG_REGISTER(LOG::THREADS);

static void *chatter(void *argument)
{
	unsigned number = (unsigned)(size_t)argument, i;

	for (i = 0; i < RECORDS; i++) {
		DOCA_LOG_INFO("<%u/%u/%.*s>", number, i, (int)(i % 97),
			      "....................................................................................................");
		if (i % 50 == 0)
			CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_WARNING));
	}
	return NULL;
}

static void check_file(FILE *file)
{
	static unsigned seen[THREADS][RECORDS];
	char line[4096];
	unsigned lines = 0, number, i;

	memset(seen, 0, sizeof(seen));
	rewind(file);
	while (fgets(line, sizeof(line), file) != NULL) {
		char *mark = strchr(line, '<');

		lines++;
		CHECK(line[0] == '[' && mark != NULL && strchr(mark + 1, '<') == NULL);
		if (mark == NULL || sscanf(mark, "<%u/%u/", &number, &i) != 2 || number >= THREADS || i >= RECORDS) {
			check_fail(__FILE__, __LINE__, "broken record: %s", line);
			continue;
		}
		seen[number][i]++;
		CHECK_U64(strspn(strrchr(mark, '/') + 1, "."), i % 97);
		CHECK_TEXT(mark + strlen(mark) - 2, ">\n");
	}
	CHECK_U64(lines, THREADS * RECORDS);
	for (number = 0; number < THREADS; number++)
		for (i = 0; i < RECORDS; i++)
			CHECK_U64(seen[number][i], 1);
}

int main(void)
{
	pthread_t threads[THREADS];
	struct doca_log_backend *backend;
	FILE *file = tmpfile(), *raw = tmpfile();
	size_t i;

	MUST_BE(file != NULL && raw != NULL);
	MUST(doca_log_backend_create_with_file(file, &backend));
	MUST(doca_log_backend_create_with_fd(fileno(raw), &backend));
	capture_program();
	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_create(&threads[i], NULL, chatter, (void *)i) == 0);
	for (i = 0; i < THREADS; i++)
		MUST_BE(pthread_join(threads[i], NULL) == 0);
	CHECK_U64(capture_count, THREADS * RECORDS);
	check_file(file);
	check_file(raw);
	return check_result();
}
