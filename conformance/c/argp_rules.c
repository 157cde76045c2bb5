/*
 * Life cycle of the parser: calls out of order, incomplete and duplicate registrations, mandatory
 * flags, version and logger callbacks, destroy from inside a callback, the split for DPDK programs.
 *
 * clauses: core-base doca_argp.h life cycle, registration, params
 * covers: @
 */
#define _GNU_SOURCE
#include "argp_rig.h"

static struct argp_seen seen;

static void out_of_order(int argc, char **argv)
{
	struct doca_argp_param *param = NULL;
	struct doca_argp_cmd *cmd = NULL;

	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_param_create(&param), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_cmd_create(&cmd), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_register_version_callback(argp_take_text), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS2(doca_argp_register_validation_callback(NULL), DOCA_ERROR_BAD_STATE, DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_disable_pedantic_config_parsing(), DOCA_ERROR_BAD_STATE);
	doca_argp_usage();
	CHECK_OK(doca_argp_init(NULL, &seen));
	CHECK_STATUS(doca_argp_init("again", &seen), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_param_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_cmd_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_param(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_cmd(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_version_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_validation_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_logger_callback(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_param_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
	/* Setters ignore NULL. */
	doca_argp_param_set_short_name(NULL, "a");
	doca_argp_param_set_type(NULL, DOCA_ARGP_TYPE_INT);
	doca_argp_cmd_set_name(NULL, "a");

	MUST(doca_argp_param_create(&param));
	CHECK_OK(doca_argp_param_destroy(param));
	param = argp_param("a", "alpha", DOCA_ARGP_TYPE_STRING);
	CHECK_OK(doca_argp_register_param(param));
	CHECK_STATUS(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_param_destroy(param), DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_BAD_STATE);
	CHECK_U64(seen.texts, 1);
	CHECK_OK(doca_argp_destroy());
	CHECK_STATUS(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
}

static void incomplete(int argc, char **argv)
{
	struct doca_argp_param *param;

	(void)argc;
	(void)argv;
	MUST(doca_argp_init("prog", &seen));
	MUST(doca_argp_param_create(&param));
	CHECK_STATUS(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	param = argp_param(NULL, NULL, DOCA_ARGP_TYPE_STRING);
	CHECK_STATUS(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	MUST(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "b");
	doca_argp_param_set_callback(param, argp_take_text);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	CHECK_STATUS(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	MUST(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, "b");
	doca_argp_param_set_description(param, "no callback");
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	CHECK_STATUS(doca_argp_register_param(param), DOCA_ERROR_INITIALIZATION);
	CHECK_OK(doca_argp_register_param(argp_param("b", "beta", DOCA_ARGP_TYPE_INT)));
	CHECK_STATUS(doca_argp_register_param(argp_param("b", "other", DOCA_ARGP_TYPE_INT)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_param(argp_param("o", "beta", DOCA_ARGP_TYPE_INT)), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_register_param(argp_param("j", "mine", DOCA_ARGP_TYPE_INT)), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_argp_destroy());
}

static void declare_mandatory(void)
{
	struct doca_argp_param *param;

	MUST(doca_argp_init("prog", &seen));
	param = argp_param("m", "must", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(param);
	MUST(doca_argp_register_param(param));
	MUST(doca_argp_register_param(argp_param("a", "alpha", DOCA_ARGP_TYPE_STRING)));
}

static void mandatory_given(int argc, char **argv)
{
	declare_mandatory();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(seen.number[0], 4);
	CHECK_OK(doca_argp_destroy());
}

static void mandatory_missing(int argc, char **argv)
{
	declare_mandatory();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_argp_destroy());
}

static doca_error_t version(void *value, void *config)
{
	(void)value;
	CHECK_PTR(config, &seen);
	CHECK_OK(doca_argp_destroy());
	printf("version of the program\n");
	exit(5);
}

static void own_version(int argc, char **argv)
{
	MUST(doca_argp_init("prog", &seen));
	MUST(doca_argp_register_version_callback(version));
	(void)doca_argp_start(argc, argv);
	CHECK(!"start came back");
}

static char logged[4096];

static doca_error_t own_logger(enum doca_log_level level, const char *format, va_list args)
{
	size_t used = strlen(logged);

	CHECK(level >= DOCA_LOG_LEVEL_CRIT && level <= DOCA_LOG_LEVEL_TRACE);
	vsnprintf(logged + used, sizeof(logged) - used, format, args);
	return DOCA_SUCCESS;
}

static void with_logger(int argc, char **argv)
{
	MUST(doca_argp_init("prog", &seen));
	CHECK_OK(doca_argp_register_logger_callback(own_logger));
	CHECK_STATUS(doca_argp_register_logger_callback(own_logger), DOCA_ERROR_ALREADY_EXIST);
	CHECK_OK(doca_argp_disable_logger_callback());
	CHECK_OK(doca_argp_register_logger_callback(own_logger));
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_NOT_SUPPORTED);
	CHECK(strstr(logged, "unknown-one") != NULL);
	CHECK_OK(doca_argp_destroy());
}

static int dpdk_count;
static char dpdk_words[256];

static doca_error_t take_dpdk(int argc, char **argv)
{
	int i;

	dpdk_count = argc;
	for (i = 0; i < argc; i++)
		snprintf(dpdk_words + strlen(dpdk_words), sizeof(dpdk_words) - strlen(dpdk_words), "%s,", argv[i]);
	return DOCA_SUCCESS;
}

static void dpdk(int argc, char **argv)
{
	MUST(doca_argp_init("prog", &seen));
	doca_argp_set_dpdk_program(take_dpdk);
	MUST(doca_argp_register_param(argp_param("a", "alpha", DOCA_ARGP_TYPE_STRING)));
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(dpdk_count, 4);
	CHECK_TEXT(dpdk_words, "prog,-a,03:00.0,-c0x3,");
	CHECK_U64(seen.texts, 1);
	CHECK_TEXT(seen.text[0], "mine");
	CHECK_OK(doca_argp_destroy());
}

int main(void)
{
	CHECK_U64(ARGP_RUN(out_of_order, "-a", "x"), 0);
	CHECK_U64(ARGP_RUN(incomplete, "-b", "1"), 0);
	CHECK_U64(ARGP_RUN(mandatory_given, "-a", "x", "-m", "4"), 0);
	CHECK_U64(ARGP_RUN(mandatory_missing, "-a", "x"), 0);
	CHECK(strstr(argp_out, "must") || strstr(argp_err, "must"));
	CHECK_U64(ARGP_RUN(own_version, "-v"), 5);
	CHECK_TEXT(argp_out, "version of the program\n");
	CHECK_U64(ARGP_RUN(with_logger, "--unknown-one"), 0);
	CHECK_U64(ARGP_RUN(dpdk, "-a", "03:00.0", "-c0x3", "--", "-a", "mine"), 0);
	return check_result();
}
