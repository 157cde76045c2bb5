/*
 * A command-line tool as people write them: flags by the argument parser, the same from a JSON file,
 * a device by PCI address, then copies of the size and number asked for. The parser serves one
 * command line per process, so each one runs in a child.
 *
 * clauses: core-base Argument parser (command line, JSON), core-exec 10
 * covers: @
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <sys/wait.h>

#include <doca_argp.h>
#include <doca_log.h>

#include "rig.h"

DOCA_LOG_REGISTER(COPY_TOOL);

struct config {
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	int size, count;
	bool verify;
};

static doca_error_t take_pci(void *value, void *config)
{
	const char *text = value;

	if (strnlen(text, DOCA_DEVINFO_PCI_ADDR_SIZE) == DOCA_DEVINFO_PCI_ADDR_SIZE) {
		DOCA_LOG_ERR("PCI address longer than %d", DOCA_DEVINFO_PCI_ADDR_SIZE - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy(((struct config *)config)->pci, text);
	return DOCA_SUCCESS;
}

static doca_error_t take_size(void *value, void *config)
{
	((struct config *)config)->size = *(int *)value;
	return *(int *)value > 0 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t take_count(void *value, void *config)
{
	((struct config *)config)->count = *(int *)value;
	return DOCA_SUCCESS;
}

static doca_error_t take_verify(void *value, void *config)
{
	((struct config *)config)->verify = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t sensible(void *config)
{
	const struct config *c = config;

	return c->count >= 1 && c->count <= 64 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static void flag(const char *short_name, const char *long_name, const char *hint, const char *text,
		 enum doca_argp_type type, doca_argp_param_cb_t callback, int mandatory)
{
	struct doca_argp_param *param;

	MUST(doca_argp_param_create(&param));
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_arguments(param, hint);
	doca_argp_param_set_description(param, text);
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	if (mandatory)
		doca_argp_param_set_mandatory(param);
	MUST(doca_argp_register_param(param));
}

static int tool(int argc, char **argv)
{
	struct config config = {.pci = "03:00.0", .size = 4096, .count = 1};
	struct doca_log_backend *sdk;
	struct rig rig;
	struct doca_dev *dev;
	int i;

	MUST(doca_log_backend_create_standard());
	MUST(doca_log_backend_create_with_file_sdk(stderr, &sdk));
	MUST(doca_argp_init("copy_tool", &config));
	flag("p", "pci-addr", "<address>", "device to copy with", DOCA_ARGP_TYPE_STRING, take_pci, 0);
	flag("sz", "size", "<bytes>", "bytes per copy", DOCA_ARGP_TYPE_INT, take_size, 1);
	flag("n", "count", "<number>", "copies", DOCA_ARGP_TYPE_INT, take_count, 0);
	flag("c", "verify", NULL, "compare the result", DOCA_ARGP_TYPE_BOOLEAN, take_verify, 0);
	MUST(doca_argp_register_validation_callback(sensible));
	if (doca_argp_start(argc, argv) != DOCA_SUCCESS) {
		(void)doca_argp_destroy();
		return 3;
	}
	dev = rig_open_dev(config.pci);
	rig_setup(&rig, (size_t)2 * (size_t)config.size, (uint32_t)config.count);
	for (i = 0; i < config.count; i++)
		(void)rig_copy(&rig, 0, (size_t)config.size, (size_t)config.size, (uint64_t)i);
	rig_drain(&rig);
	CHECK_U64(rig.good, config.count);
	if (config.verify)
		CHECK_BYTES(rig.mem + config.size, rig.mem, (size_t)config.size);
	printf("%d x %d verify=%d\n", config.count, config.size, config.verify);
	rig_teardown(&rig);
	CHECK_OK(doca_dev_close(dev));
	CHECK_OK(doca_argp_destroy());
	return check_result();
}

static int in_child(char **argv)
{
	int argc = 0, status = 0;
	pid_t pid;

	while (argv[argc] != NULL)
		argc++;
	fflush(NULL);
	pid = fork();
	MUST_BE(pid >= 0);
	if (pid == 0)
		exit(tool(argc, argv));
	MUST_BE(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void)
{
	static const char json[] = "/* settings */\n{\n  // program\n  \"doca_general_flags\": {\"log-level\": 60,},\n"
				   "  \"doca_program_flags\": {\"size\": 9000, \"count\": 5, \"verify\": true,\n"
				   "    \"pci-addr\": \"b1:00.1\",},\n}\n";
	char name[] = "/tmp/conformance-json-XXXXXX";
	int fd = mkstemp(name);
	char *plain[] = {"copy_tool", "-sz", "700", "-n", "8", "-c", "-p", "0000:b1:00.0", NULL};
	char *with_long[] = {"copy_tool", "--size=1", "--count", "64", "--verify", "-l", "70", NULL};
	char *from_json[] = {"copy_tool", "-j", name, NULL};
	char *no_size[] = {"copy_tool", "-n", "4", NULL};
	char *too_many[] = {"copy_tool", "--size", "8", "-n", "65", NULL};
	char *long_pci[] = {"copy_tool", "--size", "8", "-p", "0000:03:00.00000", NULL};
	char *help[] = {"copy_tool", "--help", NULL};

	MUST_BE(fd >= 0 && write(fd, json, sizeof(json) - 1) == (ssize_t)sizeof(json) - 1);
	CHECK_U64(in_child(plain), 0);
	CHECK_U64(in_child(with_long), 0);
	CHECK_U64(in_child(from_json), 0);
	CHECK_U64(in_child(no_size), 3);
	CHECK_U64(in_child(too_many), 3);
	CHECK_U64(in_child(long_pci), 3);
	CHECK_U64(in_child(help), 0);
	unlink(name);
	close(fd);
	return check_result();
}
