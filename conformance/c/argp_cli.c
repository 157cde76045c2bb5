/*
 * The command line: each type, both name forms, short names of several letters, values that begin
 * with a dash, repetition, order of callbacks, general flags, and everything that has to be refused.
 *
 * clauses: core-base Argument parser: command line
 * covers: @
 */
#define _GNU_SOURCE
#include <limits.h>

#include <doca_log.h>

#include "argp_rig.h"

static struct argp_seen seen;

static doca_error_t validate(void *config)
{
	argp_note(config, 'v');
	return DOCA_SUCCESS;
}

static doca_error_t refuse(void *value, void *config)
{
	(void)value;
	(void)config;
	return DOCA_ERROR_AUTHENTICATION;
}

static void declare(void)
{
	struct doca_argp_param *param;

	MUST(doca_argp_init("prog", &seen));
	param = argp_param("t", "text", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_multiplicity(param);
	MUST(doca_argp_register_param(param));
	MUST(doca_argp_register_param(argp_param("num", "number", DOCA_ARGP_TYPE_INT)));
	MUST(doca_argp_register_param(argp_param("nu", "nu-other", DOCA_ARGP_TYPE_INT)));
	MUST(doca_argp_register_param(argp_param("f", NULL, DOCA_ARGP_TYPE_BOOLEAN)));
	MUST(doca_argp_register_param(argp_param(NULL, "real", DOCA_ARGP_TYPE_DOUBLE)));
	param = argp_param("s", "single", DOCA_ARGP_TYPE_BOOLEAN);
	doca_argp_param_set_singular(param);
	MUST(doca_argp_register_param(param));
	param = argp_param("x", "explode", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_callback(param, refuse);
	MUST(doca_argp_register_param(param));
	param = argp_param("hid", "hidden-one", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_hidden(param);
	MUST(doca_argp_register_param(param));
	MUST(doca_argp_register_validation_callback(validate));
}

static void good(int argc, char **argv)
{
	int level = 0;

	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(seen.texts, 2);
	CHECK_TEXT(seen.text[0], "-1");
	CHECK_TEXT(seen.text[1], "second value");
	CHECK_U64(seen.numbers, 2);
	CHECK(seen.number[0] == -17 && seen.number[1] == INT_MAX);
	CHECK_U64(seen.flags, 1);
	CHECK(seen.real > 2.4 && seen.real < 2.6);
	CHECK_TEXT(seen.order, "tnfrtnv");
	CHECK_OK(doca_argp_get_log_level(&level));
	CHECK_U64(level, 60);
	CHECK_U64(doca_log_level_get_global_lower_limit(), 60);
	CHECK_OK(doca_argp_get_sdk_log_level(&level));
	CHECK_U64(level, 20);
	CHECK_U64(doca_log_level_get_global_sdk_limit(), 20);
	CHECK_STATUS(doca_argp_get_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_get_sdk_log_level(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_argp_destroy());
}

static void nothing(int argc, char **argv)
{
	int level = 0;

	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_TEXT(seen.order, "v");
	CHECK_OK(doca_argp_get_log_level(&level));
	CHECK_U64(level, doca_log_level_get_global_lower_limit());
	CHECK_OK(doca_argp_destroy());
}

static void one_flag(int argc, char **argv)
{
	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_TEXT(seen.order, "fv");
	CHECK_OK(doca_argp_destroy());
}

static void invalid(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_INVALID_VALUE);
	CHECK(strchr(seen.order, 'v') == NULL);
	CHECK_OK(doca_argp_destroy());
}

static void unknown(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_argp_destroy());
}

static void passed_back(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_AUTHENTICATION);
	CHECK_OK(doca_argp_destroy());
}

static void ends_by_itself(int argc, char **argv)
{
	declare();
	(void)doca_argp_start(argc, argv);
	CHECK(!"start came back");
}

int main(void)
{
	CHECK_U64(ARGP_RUN(good, "-t", "-1", "-num", "-17", "-f", "-l", "60", "--real", "2.5", "--text", "second value",
			   "--sdk-log-level", "20", "-nu", "2147483647"), 0);
	CHECK_U64(ARGP_RUN(good, "--text=-1", "--number=-17", "-f", "--log-level", "60", "--real=2.5", "--text",
			   "second value", "--sdk-log-level=20", "--nu-other", "2147483647"), 0);
	CHECK_U64(argp_child(nothing, (char *[]){(char *)"prog", NULL}), 0);
	CHECK_U64(ARGP_RUN(one_flag, "-s"), 0);

	CHECK_U64(ARGP_RUN(invalid, "-num", "12x"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-num", "2147483648"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-num", ""), 0);
	CHECK_U64(ARGP_RUN(invalid, "-num"), 0);
	CHECK_U64(ARGP_RUN(invalid, "--real", "1.5.2"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-num", "1", "-num", "2"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-f", "-f"), 0);
	CHECK_U64(ARGP_RUN(invalid, "stray"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-f", "true"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-s", "-num", "1"), 0);
	CHECK_U64(ARGP_RUN(invalid, "-l", "55"), 0);
	CHECK_U64(ARGP_RUN(invalid, "--sdk-log-level", "1"), 0);
	/* The reason and the usage are shown. */
	CHECK(strstr(argp_out, "Usage:") || strstr(argp_err, "Usage:"));
	CHECK_U64(ARGP_RUN(unknown, "--nowhere"), 0);
	CHECK(strstr(argp_out, "nowhere") || strstr(argp_err, "nowhere"));
	CHECK_U64(ARGP_RUN(unknown, "-fs"), 0);
	CHECK_U64(ARGP_RUN(unknown, "-z", "1"), 0);
	CHECK_U64(ARGP_RUN(passed_back, "-x", "now"), 0);

	CHECK_U64(ARGP_RUN(ends_by_itself, "-h"), 0);
	CHECK(strncmp(argp_out, "Usage: prog [DOCA Flags] [Program Flags]\n", 41) == 0);
	CHECK(strstr(argp_out, "DOCA Flags:") && strstr(argp_out, "Program Flags:"));
	CHECK(strstr(argp_out, "-h, --help") && strstr(argp_out, "-j, --json <path>"));
	CHECK(strstr(argp_out, "-num, --number <thing>") && strstr(argp_out, "described here"));
	CHECK(strstr(argp_out, "--text") < strstr(argp_out, "--number"));
	CHECK(strstr(argp_out, "hidden-one") == NULL);
	CHECK_U64(ARGP_RUN(ends_by_itself, "--version"), 0);
	CHECK(strstr(argp_out, "3.3.0000") || strstr(argp_err, "3.3.0000"));
	return check_result();
}
