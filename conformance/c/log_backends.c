/*
 * Log backends: buffer, stream, descriptor, the standard pair; the layout of a record; records that
 * do not fit; refused arguments.
 *
 * clauses: core-base Application backends, Log record
 * covers: @
 */
#define _GNU_SOURCE
#include <regex.h>
#include <sys/wait.h>

#include "capture.h"

DOCA_LOG_REGISTER(LOG::BACKENDS);

static char tiny[80];
static unsigned tiny_flushes;

static void tiny_flush(char *record)
{
	CHECK_PTR(record, tiny);
	CHECK(strlen(record) < sizeof(tiny));
	tiny_flushes++;
}

static void check_layout(const char *text, const char *level, const char *message)
{
	char pattern[512];
	regex_t regex;

	snprintf(pattern, sizeof(pattern),
		 "^\\[[0-2][0-9]:[0-5][0-9]:[0-5][0-9]:[0-9]{6}\\]\\[[0-9]+\\]\\[DOCA\\]\\[%s\\]"
		 "\\[log_backends\\.c:[0-9]+\\]\\[[a-z_]+\\] %s\n$",
		 level, message);
	MUST_BE(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
	if (regexec(&regex, text, 0, NULL, 0) != 0)
		check_fail(__FILE__, __LINE__, "record \"%s\" does not match %s", text, pattern);
	regfree(&regex);
}

static size_t slurp(FILE *file, char *text, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	return len;
}

/* What the standard pair writes where, seen from a child whose stdout and stderr are files. */
static void standard_pair(void)
{
	char out_text[4096], err_text[4096];
	FILE *out = tmpfile(), *err = tmpfile();
	int status = 1;
	pid_t pid;

	MUST_BE(out != NULL && err != NULL);
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		if (doca_log_backend_create_standard() != DOCA_SUCCESS)
			_exit(1);
		DOCA_LOG_CRIT("c1");
		DOCA_LOG_ERR("e1");
		DOCA_LOG_WARN("w1");
		DOCA_LOG_INFO("i1");
		DOCA_LOG_DBG("d1");
		if (doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG) != DOCA_SUCCESS)
			_exit(1);
		DOCA_LOG_DBG("d2");
		DOCA_LOG_ERR("e2");
		/* Records are flushed one by one: nothing is lost by this. */
		_exit(0);
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	CHECK_U64(status, 0);
	slurp(out, out_text, sizeof(out_text));
	slurp(err, err_text, sizeof(err_text));
	CHECK(strstr(out_text, "] i1\n") && strstr(out_text, "] d2\n"));
	CHECK(!strstr(out_text, "] c1") && !strstr(out_text, "] e1") && !strstr(out_text, "] w1") &&
	      !strstr(out_text, "] d1") && !strstr(out_text, "] e2"));
	CHECK(strstr(err_text, "] c1\n") && strstr(err_text, "] e1\n") && strstr(err_text, "] w1\n") &&
	      strstr(err_text, "] e2\n"));
	CHECK(!strstr(err_text, "] i1") && !strstr(err_text, "] d1") && !strstr(err_text, "] d2"));
	fclose(out);
	fclose(err);
}

int main(void)
{
	struct doca_log_backend *backend, *none = NULL;
	char text[4096], record[64];
	FILE *file = tmpfile(), *raw = tmpfile();

	MUST_BE(file != NULL && raw != NULL);
	standard_pair();

	capture_program();
	MUST(doca_log_backend_create_with_file(file, &backend));
	MUST(doca_log_backend_create_with_fd(fileno(raw), &backend));
	DOCA_LOG_INFO("number %d and %s", 42, "text");
	CHECK_U64(capture_count, 1);
	check_layout(capture_text, "INF", "number 42 and text");
	slurp(file, text, sizeof(text));
	check_layout(text, "INF", "number 42 and text");
	slurp(raw, text, sizeof(text));
	check_layout(text, "INF", "number 42 and text");
	capture_clear();
	DOCA_LOG_ERR("no arguments");
	check_layout(capture_text, "ERR", "no arguments");
	capture_clear();
	DOCA_LOG_WARN("%s", "");
	check_layout(capture_text, "WRN", "");

	/* Too long for one buffer, not for the other. */
	MUST(doca_log_backend_create_with_buf(tiny, sizeof(tiny), tiny_flush, &backend));
	capture_clear();
	DOCA_LOG_INFO("%0200d", 7);
	CHECK_U64(tiny_flushes, 0);
	CHECK_U64(capture_count, 1);

	CHECK_STATUS(doca_log_backend_create_with_file(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_file(stderr, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_fd(-1, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_fd(987654, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_fd(1, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_buf(NULL, 5, tiny_flush, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_buf(record, 0, tiny_flush, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_buf(record, 64, NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_buf(record, 64, tiny_flush, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_syslog(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_file_sdk(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_fd_sdk(-1, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_buf_sdk(NULL, 1, tiny_flush, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_create_with_syslog_sdk(NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(none, NULL);
	CHECK_OK(doca_log_backend_create_with_syslog("conformance", &none));
	CHECK(doca_log_get_max_num_backends() >= 8);
	CHECK(doca_log_get_max_num_backends_sdk() >= 2);
	return check_result();
}
