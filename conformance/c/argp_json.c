/*
 * Settings from a JSON file: comments, trailing commas, every value type, arrays for repeated flags;
 * flags beside the file come after it; unknown keys, wrong types and broken files are refused.
 *
 * clauses: core-base Argument parser: JSON
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include <doca_log.h>

#include "argp_rig.h"

static struct argp_seen seen;
static int lenient;
static char file_name[] = "/tmp/conformance-argp-XXXXXX";

static void declare(void)
{
	struct doca_argp_param *param;

	MUST(doca_argp_init("prog", &seen));
	param = argp_param("t", "text", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_multiplicity(param);
	MUST(doca_argp_register_param(param));
	param = argp_param("n", "number", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_multiplicity(param);
	MUST(doca_argp_register_param(param));
	MUST(doca_argp_register_param(argp_param("f", "flag", DOCA_ARGP_TYPE_BOOLEAN)));
	MUST(doca_argp_register_param(argp_param("r", "real", DOCA_ARGP_TYPE_DOUBLE)));
	param = argp_param("c", "cli", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_cli_only(param);
	MUST(doca_argp_register_param(param));
	if (lenient)
		MUST(doca_argp_disable_pedantic_config_parsing());
}

static void write_file(const char *text)
{
	FILE *file = fopen(file_name, "w");

	MUST_BE(file != NULL && fputs(text, file) >= 0);
	MUST_BE(fclose(file) == 0);
}

static void full(int argc, char **argv)
{
	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(seen.texts, 3);
	CHECK_TEXT(seen.text[0], "one // no comment");
	CHECK_TEXT(seen.text[1], "two \"quoted\" /* */ \n");
	CHECK_TEXT(seen.text[2], "from the command line");
	CHECK_U64(seen.numbers, 2);
	CHECK(seen.number[0] == -3 && seen.number[1] == 2147483647);
	CHECK_U64(seen.flags, 1);
	CHECK(seen.real > -0.26 && seen.real < -0.24);
	CHECK_U64(doca_log_level_get_global_lower_limit(), 30);
	CHECK_U64(doca_log_level_get_global_sdk_limit(), 70);
	CHECK_OK(doca_argp_destroy());
}

static void no_callback(int argc, char **argv)
{
	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(seen.calls, 0);
	CHECK_OK(doca_argp_destroy());
}

static void refused(int argc, char **argv)
{
	doca_error_t want = (doca_error_t)atoi(getenv("WANT"));

	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), want);
	CHECK_OK(doca_argp_destroy());
}

static void refuse(const char *text, doca_error_t want)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", (int)want);
	setenv("WANT", number, 1);
	write_file(text);
	if (ARGP_RUN(refused, "-j", file_name) != 0)
		check_fail(__FILE__, __LINE__, "with the file: %s", text);
}

int main(void)
{
	static char deep[70000];
	int fd = mkstemp(file_name);

	MUST_BE(fd >= 0);
	close(fd);
	write_file("/*\n * licence { \"block\": 1 }\n */\n"
		   "{ // start\n"
		   "  \"doca_general_flags\": { \"log-level\": 30, \"sdk-log-level\": 70, },\n"
		   "  \"doca_program_flags\": {\n"
		   "    \"text\": [\"one // no comment\", \"two \\\"quoted\\\" \\/* *\\/ \\u000a\",],\n"
		   "    \"number\": [-3, 2147483647],\n"
		   "    \"flag\": true, /* set */\n"
		   "    \"real\": -2.5e-1,\n"
		   "  },\n"
		   "}\n");
	CHECK_U64(ARGP_RUN(full, "--json", file_name, "-t", "from the command line"), 0);
	CHECK_U64(ARGP_RUN(full, "-t", "from the command line", "-j", file_name), 0);

	write_file("{\"doca_program_flags\": {\"flag\": false}}");
	CHECK_U64(ARGP_RUN(no_callback, "-j", file_name), 0);
	write_file("{}");
	CHECK_U64(ARGP_RUN(no_callback, "-j", file_name), 0);

	refuse("{\"doca_program_flags\": {\"elsewhere\": 1}}", DOCA_ERROR_NOT_SUPPORTED);
	refuse("{\"doca_program_flags\": {\"cli\": \"no\"}}", DOCA_ERROR_NOT_SUPPORTED);
	refuse("{\"doca_program_flags\": {\"flag\": \"true\"}}", DOCA_ERROR_INVALID_VALUE);
	refuse("{\"doca_program_flags\": {\"number\": \"7\"}}", DOCA_ERROR_INVALID_VALUE);
	refuse("{\"doca_program_flags\": {\"number\": 2147483648}}", DOCA_ERROR_INVALID_VALUE);
	refuse("{\"doca_program_flags\": {\"text\": {\"a\": 1}}}", DOCA_ERROR_INVALID_VALUE);
	refuse("{\"doca_program_flags\": {\"flag\": [true, true]}}", DOCA_ERROR_INVALID_VALUE);
	refuse("{\"doca_general_flags\": {\"log-level\": 31}}", DOCA_ERROR_INVALID_VALUE);
	refuse("", DOCA_ERROR_IO_FAILED);
	refuse("{\"doca_program_flags\": {\"number\": 1}", DOCA_ERROR_IO_FAILED);
	refuse("{\"doca_program_flags\": {\"text\": \"open}}", DOCA_ERROR_IO_FAILED);
	refuse("{\"doca_program_flags\": {\"number\": 1 2}}", DOCA_ERROR_IO_FAILED);
	refuse("{} trailing", DOCA_ERROR_IO_FAILED);
	refuse("/* never closed", DOCA_ERROR_IO_FAILED);
	memset(deep, '[', sizeof(deep) - 1);
	memcpy(deep, "{\"x\":", 5);
	refuse(deep, DOCA_ERROR_IO_FAILED);
	unlink(file_name);
	CHECK_U64(ARGP_RUN(refused, "-j", "/nowhere/at/all.json"), 0);

	fd = open(file_name, O_CREAT | O_WRONLY, 0600);
	MUST_BE(fd >= 0);
	close(fd);
	lenient = 1;
	write_file("{\"doca_program_flags\": {\"elsewhere\": {\"x\": [1]}, \"flag\": false}, \"more\": 2}");
	CHECK_U64(ARGP_RUN(no_callback, "-j", file_name), 0);
	unlink(file_name);
	return check_result();
}
