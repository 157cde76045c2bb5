/*
 * Log sources: registered before main and by hand, twice under one name, as a tree whose branches get
 * levels of their own; trace statements that vanish with their arguments.
 *
 * clauses: core-base Sources and emission, Logger tree, Macros
 * covers: @
 */
#include "capture.h"

DOCA_LOG_REGISTER(SRC);

static int evaluated;

static int argument(void)
{
	return ++evaluated;
}

static int passes(int source, uint32_t level)
{
	capture_clear();
	CHECK_OK(doca_log(level, source, __FILE__, __LINE__, __func__, "from %d", source));
	return capture_count != 0;
}

/* A record from a constructor: before main, before any backend. */
__attribute__((constructor)) static void early(void)
{
	int id = -1;

	if (doca_log_register_source("SRC::EARLY", &id) != DOCA_SUCCESS || id < 0)
		check_failures++;
	DOCA_LOG_ERR("too early to be seen");
}

int main(void)
{
	struct doca_logger **list = NULL, *branch, *leaf, *top, *local = NULL;
	char long_name[400], name[DOCA_LOGGER_NAME_SIZE];
	int a = -1, a2 = -1, ax = -1, b = -1, id = -1, level = 0;
	uint32_t count = 0, i;

	MUST(doca_log_register_source("SRC::A", &a));
	MUST(doca_log_register_source("SRC::A::X", &ax));
	MUST(doca_log_register_source("SRC::B", &b));
	/* Two files may use one name. */
	CHECK_OK(doca_log_register_source("SRC::A", &a2));
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	CHECK_OK(doca_log_register_source(long_name, &id));
	CHECK_STATUS(doca_log_register_source(NULL, &id), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_log_register_source("x", NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_log_unregister_source(id));

	capture_program();
	MUST(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	CHECK(passes(a, DOCA_LOG_LEVEL_INFO) && passes(a2, DOCA_LOG_LEVEL_INFO) && passes(ax, DOCA_LOG_LEVEL_INFO));
	capture_clear();
	DOCA_LOG_TRC("not compiled in: %d", argument());
	CHECK_U64(evaluated, 0);
	DOCA_LOG_DBG("compiled in: %d", argument());
	CHECK_U64(evaluated, 1);
	CHECK_U64(capture_count, 1);
	CHECK(strstr(capture_text, "[DBG]") && strstr(capture_text, "compiled in: 1"));

	MUST(doca_logger_create_list(NULL, 0, &list, &count));
	CHECK(count >= 5);
	for (i = 0; i < count; i++) {
		CHECK_OK(doca_logger_get_name(list[i], name));
		CHECK(strlen(name) > 0 && strlen(name) < DOCA_LOGGER_NAME_SIZE);
	}
	top = doca_logger_find_by_name(list, "SRC");
	branch = doca_logger_find_by_name(list, "SRC::A");
	leaf = doca_logger_find_by_name(list, "SRC::A::X");
	CHECK_PTR(doca_logger_find_by_name(list, "SRC::NOWHERE"), NULL);
	CHECK_OK(doca_logger_destroy_list(list));
	MUST_BE(top != NULL && branch != NULL && leaf != NULL);

	/* Alone, then with all below. The loggers outlive the list. */
	CHECK_OK(doca_logger_set_level(branch, DOCA_LOG_LEVEL_ERROR, 0));
	CHECK_OK(doca_logger_get_level(branch, &level));
	CHECK_U64(level, DOCA_LOG_LEVEL_ERROR);
	CHECK(!passes(a, DOCA_LOG_LEVEL_INFO) && !passes(a2, DOCA_LOG_LEVEL_WARNING));
	CHECK(passes(a, DOCA_LOG_LEVEL_ERROR) && passes(ax, DOCA_LOG_LEVEL_INFO) && passes(b, DOCA_LOG_LEVEL_INFO));
	CHECK_OK(doca_logger_set_level(branch, DOCA_LOG_LEVEL_WARNING, 1));
	CHECK(!passes(ax, DOCA_LOG_LEVEL_INFO) && passes(ax, DOCA_LOG_LEVEL_WARNING) && passes(b, DOCA_LOG_LEVEL_INFO));
	CHECK_OK(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_CRIT, 1));
	CHECK(!passes(b, DOCA_LOG_LEVEL_ERROR) && passes(b, DOCA_LOG_LEVEL_CRIT));
	CHECK_STATUS(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_INFO, 0), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_logger_set_level(leaf, 45, 0), DOCA_ERROR_INVALID_VALUE);

	/* One level below a branch, and below nothing. */
	MUST(doca_logger_create_list(top, 1, &list, &count));
	CHECK(doca_logger_find_by_name(list, "SRC::A") == branch);
	CHECK_PTR(doca_logger_find_by_name(list, "SRC::A::X"), NULL);
	CHECK_OK(doca_logger_destroy_list(list));
	CHECK_STATUS(doca_logger_create_list(NULL, 0, NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_logger_create_list(NULL, 0, &list, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_logger_create_list((struct doca_logger *)&local, 0, &list, &count), DOCA_ERROR_NOT_FOUND);
	CHECK_STATUS(doca_logger_set_level((struct doca_logger *)&local, DOCA_LOG_LEVEL_INFO, 0), DOCA_ERROR_NOT_FOUND);
	CHECK_STATUS(doca_logger_get_level((struct doca_logger *)&local, &level), DOCA_ERROR_NOT_FOUND);
	CHECK_STATUS(doca_logger_get_level(leaf, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_logger_get_name(NULL, name), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_logger_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	return check_result();
}
