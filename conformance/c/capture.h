/*
 * What the log conformance programs share: a log backend that keeps the text of all records.
 */
#ifndef CONFORMANCE_CAPTURE_H
#define CONFORMANCE_CAPTURE_H

#include <pthread.h>

#include <doca_log.h>

#include "check.h"

static char capture_record[4096];
static char capture_text[1 << 17];
static unsigned capture_count;
static pthread_mutex_t capture_lock = PTHREAD_MUTEX_INITIALIZER;

static inline void capture_flush(char *record)
{
	size_t used, more;

	pthread_mutex_lock(&capture_lock);
	used = strlen(capture_text);
	more = strlen(record);
	if (used + more < sizeof(capture_text))
		memcpy(capture_text + used, record, more + 1);
	capture_count++;
	pthread_mutex_unlock(&capture_lock);
}

static inline void capture_clear(void)
{
	pthread_mutex_lock(&capture_lock);
	capture_text[0] = '\0';
	capture_count = 0;
	pthread_mutex_unlock(&capture_lock);
}

/* Records of the library itself. */
static inline struct doca_log_backend *capture_sdk(uint32_t level)
{
	struct doca_log_backend *backend = NULL;

	MUST(doca_log_backend_create_with_buf_sdk(capture_record, sizeof(capture_record), capture_flush, &backend));
	MUST(doca_log_backend_set_sdk_level(backend, level));
	capture_clear();
	return backend;
}

/* Records of the program. */
static inline struct doca_log_backend *capture_program(void)
{
	struct doca_log_backend *backend = NULL;

	MUST(doca_log_backend_create_with_buf(capture_record, sizeof(capture_record), capture_flush, &backend));
	capture_clear();
	return backend;
}

#endif
