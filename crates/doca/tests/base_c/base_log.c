/*
 * Logging as programs meet it: a constructor of their own that logs before main, records before any backend,
 * the standard pair, errno, long records, the end of the table of backends.
 */
#include <assert.h>
#include <errno.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(BASE::LOG);

static int constructed = -1;

__attribute__((constructor(200))) static void
early(void)
{
	constructed = (int)DOCA_LOG(DOCA_LOG_LEVEL_INFO, "dropped: no backend yet");
}

int
main(void)
{
	struct doca_log_backend *backend = NULL;
	char text[5000];
	uint32_t made = 0;
	int again = -1;
	FILE *full;
	doca_error_t result;

	assert(constructed == DOCA_SUCCESS);
	assert(doca_log_register_source("BASE::LOG", &again) == DOCA_SUCCESS && again == log_source);
	DOCA_LOG_CRIT("dropped, too");
	assert(doca_log_backend_create_standard() == DOCA_SUCCESS);
	assert(doca_log_backend_create_standard() == DOCA_SUCCESS);
	printf("[a printf");
	DOCA_LOG_INFO(" comes first");
	DOCA_LOG_DBG("hidden");
	assert(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE) == DOCA_SUCCESS);
	DOCA_LOG_DBG("shown with newline\n");
	DOCA_LOG_TRC("not compiled");
	DOCA_LOG_WARN("warning");
	DOCA_LOG_ERR("error %d", 5);
	errno = ENOENT;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat"
	DOCA_LOG_CRIT("critical: %m");
#pragma GCC diagnostic pop
	assert(errno == ENOENT);

	/* A destination that fails is not the program's concern: neither status nor errno tell of it. */
	full = fopen("/dev/full", "w");
	assert(full != NULL && doca_log_backend_create_with_file(full, &backend) == DOCA_SUCCESS);
	errno = EDOM;
	assert(DOCA_LOG(DOCA_LOG_LEVEL_INFO, "into the full device") == DOCA_SUCCESS && errno == EDOM);
	assert(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
	memset(text, 'l', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	DOCA_LOG_INFO("%s!", text);
	fflush(stdout);

	/* The table ends somewhere, with an error and nothing else; the standard pair counts. */
	while ((result = doca_log_backend_create_with_fd(2, &backend)) == DOCA_SUCCESS) {
		assert(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
		made++;
	}
	assert(result == DOCA_ERROR_NO_MEMORY && made + 3 == doca_log_get_max_num_backends());
	assert(doca_log_get_max_num_backends_sdk() > 0);

	/* A refused call: a record of the library, for whoever listens from outside. */
	assert(doca_log_level_set_global_sdk_limit(11) == DOCA_ERROR_INVALID_VALUE);
	if (getenv("BASE_OWN") != NULL) {
		assert(doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS);
		assert(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR) == DOCA_SUCCESS);
		assert(doca_log_level_set_global_sdk_limit(22) == DOCA_ERROR_INVALID_VALUE);
		assert(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE) == DOCA_SUCCESS);
		assert(doca_log_level_set_global_sdk_limit(33) == DOCA_ERROR_INVALID_VALUE);
	}
	return 0;
}
