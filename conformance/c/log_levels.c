/*
 * Log levels: which records pass a backend, defaults, global against own limits, limits pinned by
 * "strict", values that are no level.
 *
 * clauses: core-base Levels of application backends, SDK backends
 * covers: @
 */
#include "capture.h"

DOCA_LOG_REGISTER(LOG::LEVELS);

static const uint32_t levels[] = {DOCA_LOG_LEVEL_CRIT, DOCA_LOG_LEVEL_ERROR, DOCA_LOG_LEVEL_WARNING,
				  DOCA_LOG_LEVEL_INFO, DOCA_LOG_LEVEL_DEBUG, DOCA_LOG_LEVEL_TRACE};

/* Which of the six levels come through, as a bit mask with CRIT in bit 0. */
static unsigned passing(void)
{
	unsigned mask = 0, i;

	for (i = 0; i < 6; i++) {
		capture_clear();
		CHECK_OK(doca_log(levels[i], log_source, __FILE__, __LINE__, __func__, "record %u", i));
		if (capture_count != 0)
			mask |= 1u << i;
		CHECK(capture_count <= 1);
	}
	return mask;
}

int main(void)
{
	struct doca_log_backend *backend, *sdk;
	char other_record[256];

	CHECK_U64(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_INFO);
	CHECK_U64(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_CRIT);
	CHECK_U64(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_INFO);
	/* No backend: fine, and nowhere to go. */
	CHECK_OK(doca_log(DOCA_LOG_LEVEL_CRIT, log_source, __FILE__, __LINE__, __func__, "nobody hears this"));

	backend = capture_program();
	CHECK_U64(passing(), 0x0f);
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE));
	CHECK_U64(passing(), 0x3f);
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK_U64(passing(), 0x3c);
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK_U64(passing(), 0x04);
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE));
	CHECK_U64(passing(), 0);

	/* Global limits reach the existing backends and the default of new ones. */
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK_U64(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_DEBUG);
	CHECK_U64(doca_log_level_get_global_upper_limit(), DOCA_LOG_LEVEL_ERROR);
	CHECK_U64(passing(), 0x1e);

	/* Numbers that are no level. */
	CHECK_STATUS(doca_log_backend_set_level_lower_limit(backend, 55), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_set_level_upper_limit(backend, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_level_set_global_lower_limit(80), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_level_set_global_upper_limit(1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_level_set_global_sdk_limit(7), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log(33, log_source, __FILE__, __LINE__, __func__, "x"), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log(DOCA_LOG_LEVEL_INFO, 1 << 30, __FILE__, __LINE__, __func__, "x"),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(passing(), 0x1e);

	/* Pinned limits may be narrowed, not widened, by whatever call. */
	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(backend));
	CHECK_STATUS(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE), DOCA_ERROR_NOT_PERMITTED);
	CHECK_U64(passing(), 0x1e);
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	CHECK_U64(passing(), 0x1e);
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(backend));
	CHECK_STATUS(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_CRIT), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_CRIT));
	CHECK_U64(passing(), 0x1e);
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK_U64(passing(), 0x06);

	/* SDK backends: their own limits, which the application's do not touch. */
	MUST(doca_log_backend_create_with_buf_sdk(other_record, sizeof(other_record), capture_flush, &sdk));
	CHECK_OK(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_CRIT));
	CHECK_STATUS(doca_log_backend_set_sdk_level(sdk, 61), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_backend_set_sdk_level(backend, DOCA_LOG_LEVEL_DEBUG), DOCA_ERROR_NOT_PERMITTED);
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_ERROR));
	CHECK_U64(doca_log_level_get_global_sdk_limit(), DOCA_LOG_LEVEL_ERROR);
	CHECK_U64(doca_log_level_get_global_lower_limit(), DOCA_LOG_LEVEL_TRACE);
	CHECK_U64(passing(), 0x06);
	return check_result();
}
