/*
 * What the argument-parser programs share. There is one parser per process, so each command line is
 * parsed in a child, whose output and exit status come back.
 */
#ifndef CONFORMANCE_ARGP_RIG_H
#define CONFORMANCE_ARGP_RIG_H

#include <stdbool.h>
#include <sys/wait.h>

#include <doca_argp.h>

#include "check.h"

static char argp_out[1 << 15], argp_err[1 << 15]; /* what the child wrote */

/* Everything callbacks record; the config of the parser. */
struct argp_seen {
	char text[8][64];
	unsigned texts;
	int number[8];
	unsigned numbers;
	unsigned flags;
	double real;
	unsigned calls;
	char order[64]; /* one letter per callback */
};

static inline void argp_note(struct argp_seen *seen, char letter)
{
	size_t at = strlen(seen->order);

	seen->calls++;
	if (at + 1 < sizeof(seen->order)) {
		seen->order[at] = letter;
		seen->order[at + 1] = '\0';
	}
}

static inline doca_error_t argp_take_text(void *value, void *config)
{
	struct argp_seen *seen = (struct argp_seen *)config;

	argp_note(seen, 't');
	if (seen->texts < 8)
		snprintf(seen->text[seen->texts], 64, "%s", (const char *)value);
	seen->texts++;
	return DOCA_SUCCESS;
}

static inline doca_error_t argp_take_number(void *value, void *config)
{
	struct argp_seen *seen = (struct argp_seen *)config;

	argp_note(seen, 'n');
	if (seen->numbers < 8)
		seen->number[seen->numbers] = *(int *)value;
	seen->numbers++;
	return DOCA_SUCCESS;
}

static inline doca_error_t argp_take_flag(void *value, void *config)
{
	struct argp_seen *seen = (struct argp_seen *)config;

	argp_note(seen, 'f');
	CHECK(*(bool *)value);
	seen->flags++;
	return DOCA_SUCCESS;
}

static inline doca_error_t argp_take_real(void *value, void *config)
{
	struct argp_seen *seen = (struct argp_seen *)config;

	argp_note(seen, 'r');
	seen->real = *(double *)value;
	return DOCA_SUCCESS;
}

static inline struct doca_argp_param *argp_param(const char *short_name, const char *long_name,
						 enum doca_argp_type type)
{
	struct doca_argp_param *param = NULL;
	doca_argp_param_cb_t callback = argp_take_text;

	if (type == DOCA_ARGP_TYPE_INT)
		callback = argp_take_number;
	else if (type == DOCA_ARGP_TYPE_BOOLEAN)
		callback = argp_take_flag;
	else if (type == DOCA_ARGP_TYPE_DOUBLE)
		callback = argp_take_real;
	MUST(doca_argp_param_create(&param));
	if (short_name != NULL)
		doca_argp_param_set_short_name(param, short_name);
	if (long_name != NULL)
		doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_arguments(param, "<thing>");
	doca_argp_param_set_description(param, "described here");
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	return param;
}

static inline void argp_slurp(FILE *file, char *text, size_t size)
{
	size_t len;

	rewind(file);
	len = fread(text, 1, size - 1, file);
	text[len] = '\0';
	fclose(file);
}

/*
 * Runs `body` on this command line in a child. `body` returns normally when its checks are done; the
 * answer is the child's exit status (0: it returned and its checks held), negative for a signal.
 */
static inline int argp_child(void (*body)(int argc, char **argv), char **argv)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int argc = 0, status = 0;
	pid_t pid;

	MUST_BE(out != NULL && err != NULL);
	while (argv[argc] != NULL)
		argc++;
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0) {
		alarm(30);
		dup2(fileno(out), STDOUT_FILENO);
		dup2(fileno(err), STDERR_FILENO);
		body(argc, argv);
		exit(check_result());
	}
	MUST_BE(waitpid(pid, &status, 0) == pid);
	argp_slurp(out, argp_out, sizeof(argp_out));
	argp_slurp(err, argp_err, sizeof(argp_err));
	status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
	if (status != 0)
		fprintf(stderr, "child `%s %s ...` ended with %d:\n%s", argv[0], argc > 1 ? argv[1] : "", status,
			argp_err);
	return status;
}

/* A command line in pieces; ends with NULL by itself. */
#define ARGP_RUN(body, ...) argp_child(body, (char *[]){(char *)"prog", __VA_ARGS__, NULL})

#endif
