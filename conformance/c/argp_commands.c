/*
 * Sub-commands: nested, with flags of their own, inherited flags, callbacks at the leaf, names that
 * clash with general flags, hidden commands, usage of the innermost command.
 *
 * clauses: core-base doca_argp.h commands; Short names may clash
 * covers: @
 */
#define _GNU_SOURCE
#include "argp_rig.h"

static struct argp_seen seen;

static doca_error_t leaf(void *config)
{
	argp_note(config, 'L');
	return DOCA_SUCCESS;
}

static doca_error_t helpful_leaf(void *config)
{
	argp_note(config, 'H');
	doca_argp_usage();
	return DOCA_ERROR_SKIPPED;
}

static struct doca_argp_cmd *command(const char *name, doca_argp_cmd_cb_t callback)
{
	struct doca_argp_cmd *cmd = NULL;

	MUST(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "what the command does");
	if (callback != NULL)
		doca_argp_cmd_set_callback(cmd, callback);
	return cmd;
}

static void declare(void)
{
	struct doca_argp_cmd *port, *show, *set, *secret;
	struct doca_argp_param *param;

	MUST(doca_argp_init("prog", &seen));
	param = argp_param("i", "inherit", DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_inherited(param);
	MUST(doca_argp_register_param(param));
	MUST(doca_argp_register_param(argp_param("o", "own", DOCA_ARGP_TYPE_STRING)));

	port = command("port", NULL);
	show = command("show", helpful_leaf);
	set = command("set", leaf);
	/* -v is the version flag elsewhere. */
	param = argp_param("v", "value", DOCA_ARGP_TYPE_INT);
	doca_argp_param_set_mandatory(param);
	MUST(doca_argp_cmd_register_param(set, param));
	MUST(doca_argp_cmd_register_param(show, argp_param("w", "wide", DOCA_ARGP_TYPE_BOOLEAN)));
	MUST(doca_argp_cmd_register_cmd(port, show));
	MUST(doca_argp_cmd_register_cmd(port, set));
	MUST(doca_argp_register_cmd(port));
	secret = command("secret", leaf);
	doca_argp_cmd_set_hidden(secret);
	MUST(doca_argp_register_cmd(secret));
}

static void set_value(int argc, char **argv)
{
	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_U64(seen.number[0], 9);
	CHECK_U64(seen.numbers, 1);
	CHECK_TEXT(seen.text[0], "passed down");
	CHECK(strchr(seen.order, 'L') && !strchr(seen.order, 'H'));
	CHECK_OK(doca_argp_destroy());
}

static void show_wide(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_SKIPPED);
	CHECK_U64(seen.flags, 1);
	CHECK(strchr(seen.order, 'H') && !strchr(seen.order, 'L'));
	CHECK_OK(doca_argp_destroy());
}

static void hidden_works(int argc, char **argv)
{
	declare();
	CHECK_OK(doca_argp_start(argc, argv));
	CHECK_TEXT(seen.order, "L");
	CHECK_OK(doca_argp_destroy());
}

static void unknown_flag(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_NOT_SUPPORTED);
	CHECK(!strchr(seen.order, 'L') && !strchr(seen.order, 'H'));
	CHECK_OK(doca_argp_destroy());
}

static void invalid(int argc, char **argv)
{
	declare();
	CHECK_STATUS(doca_argp_start(argc, argv), DOCA_ERROR_INVALID_VALUE);
	CHECK(!strchr(seen.order, 'L') && !strchr(seen.order, 'H'));
	CHECK_OK(doca_argp_destroy());
}

static void help(int argc, char **argv)
{
	declare();
	(void)doca_argp_start(argc, argv);
	CHECK(!"start came back");
}

static void incomplete(int argc, char **argv)
{
	struct doca_argp_cmd *cmd;

	(void)argc;
	(void)argv;
	MUST(doca_argp_init("prog", &seen));
	MUST(doca_argp_cmd_create(&cmd));
	CHECK_OK(doca_argp_cmd_destroy(cmd));
	MUST(doca_argp_cmd_create(&cmd));
	doca_argp_cmd_set_name(cmd, "nameless");
	CHECK_STATUS(doca_argp_register_cmd(cmd), DOCA_ERROR_INITIALIZATION);
	cmd = command("twice", leaf);
	CHECK_OK(doca_argp_register_cmd(cmd));
	CHECK_STATUS(doca_argp_register_cmd(cmd), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_cmd_destroy(cmd), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_argp_cmd_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_cmd_register_param(cmd, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_argp_cmd_register_cmd(NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_argp_destroy());
}

int main(void)
{
	CHECK_U64(ARGP_RUN(set_value, "port", "set", "-v", "9", "--inherit", "passed down"), 0);
	CHECK_U64(ARGP_RUN(show_wide, "port", "show", "-w"), 0);
	CHECK(strstr(argp_out, "wide") != NULL); /* usage of the command at hand */
	CHECK_U64(ARGP_RUN(hidden_works, "secret"), 0);
	CHECK_U64(ARGP_RUN(invalid, "port", "set"), 0);		 /* mandatory flag of the leaf */
	CHECK_U64(ARGP_RUN(invalid, "port", "nothing"), 0);	 /* no such command */
	CHECK_U64(ARGP_RUN(unknown_flag, "port", "show", "-o", "x"), 0); /* not inherited */
	CHECK_U64(ARGP_RUN(unknown_flag, "port", "set", "-v", "1", "-w"), 0);
	CHECK_U64(ARGP_RUN(help, "-h"), 0);
	CHECK(strstr(argp_out, "port") && strstr(argp_out, "what the command does") && !strstr(argp_out, "secret"));
	CHECK_U64(ARGP_RUN(help, "port", "set", "-h"), 0);
	CHECK(strstr(argp_out, "--value") != NULL && strstr(argp_out, "--wide") == NULL);
	CHECK_U64(ARGP_RUN(incomplete, "x"), 0);
	return check_result();
}
