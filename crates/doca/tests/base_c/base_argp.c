/*
 * A program as people write them: constructors, standard log, flags, a version callback that leaves the
 * process. The test runs it with many command lines and looks at output and status.
 */
#include <stdbool.h>

#include <doca_argp.h>
#include <doca_error.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(BASE::ARGP);

struct config {
	char path[64];
	int number;
	bool verbose;
	double factor;
	int count;
};

static doca_error_t
on_path(void *value, void *config)
{
	struct config *cfg = config;

	snprintf(cfg->path, sizeof(cfg->path), "%s", (char *)value);
	return DOCA_SUCCESS;
}

static doca_error_t
on_number(void *value, void *config)
{
	struct config *cfg = config;

	cfg->number = *(int *)value;
	cfg->count++;
	printf("number %d\n", cfg->number);
	return cfg->number == 13 ? DOCA_ERROR_TOO_BIG : DOCA_SUCCESS;
}

static doca_error_t
on_verbose(void *value, void *config)
{
	((struct config *)config)->verbose = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t
on_factor(void *value, void *config)
{
	((struct config *)config)->factor = *(double *)value;
	return DOCA_SUCCESS;
}

static doca_error_t
on_version(void *value, void *config)
{
	printf("own version %s, library %s, value %p, config %d\n", doca_version(), doca_version_runtime(), value,
	       config != NULL);
	if (doca_argp_destroy() != DOCA_SUCCESS)
		return DOCA_ERROR_UNEXPECTED;
	exit(EXIT_SUCCESS);
}

static doca_error_t
on_validate(void *config)
{
	return ((struct config *)config)->factor < 0 ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
}

static doca_error_t
on_show(void *config)
{
	printf("show, number %d\n", ((struct config *)config)->number);
	doca_argp_usage();
	return DOCA_SUCCESS;
}

static doca_error_t
on_dpdk(int argc, char **argv)
{
	int i;

	printf("dpdk");
	for (i = 0; i < argc; i++)
		printf(" %s", argv[i]);
	printf("%s\n", argv[argc] == NULL ? "" : " NOT TERMINATED");
	return DOCA_SUCCESS;
}

static doca_error_t
on_message(enum doca_log_level level, const char *format, va_list args)
{
	printf("<%d ", (int)level);
	vprintf(format, args);
	printf(">\n");
	return DOCA_SUCCESS;
}

#define CHECK(call) \
	do { \
		doca_error_t answer_ = (call); \
		if (answer_ != DOCA_SUCCESS) { \
			printf("%s: %s\n", #call, doca_error_get_name(answer_)); \
			exit(3); \
		} \
	} while (0)

static struct doca_argp_param *
param(const char *s, const char *l, enum doca_argp_type type, doca_argp_param_cb_t callback)
{
	struct doca_argp_param *p;

	CHECK(doca_argp_param_create(&p));
	if (s != NULL)
		doca_argp_param_set_short_name(p, s);
	if (l != NULL)
		doca_argp_param_set_long_name(p, l);
	doca_argp_param_set_arguments(p, "<x>");
	doca_argp_param_set_description(p, "a flag");
	doca_argp_param_set_callback(p, callback);
	doca_argp_param_set_type(p, type);
	return p;
}

int
main(int argc, char **argv)
{
	struct config cfg = {"none", 0, false, 1.0, 0};
	struct doca_argp_param *p;
	struct doca_argp_cmd *show;
	struct doca_log_backend *sdk;
	const char *mode = getenv("BASE_MODE");
	doca_error_t result;
	int level;

	if (mode == NULL)
		mode = "";
	CHECK(doca_log_backend_create_standard());
	CHECK(doca_log_backend_create_with_file_sdk(stderr, &sdk));
	CHECK(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));
	CHECK(doca_argp_init(strstr(mode, "noname") ? NULL : "base_argp", &cfg));

	p = param("p", "path", DOCA_ARGP_TYPE_STRING, on_path);
	if (strstr(mode, "mandatory"))
		doca_argp_param_set_mandatory(p);
	CHECK(doca_argp_register_param(p));
	p = param("nd", "number", DOCA_ARGP_TYPE_INT, on_number);
	doca_argp_param_set_multiplicity(p);
	doca_argp_param_set_inherited(p);
	CHECK(doca_argp_register_param(p));
	CHECK(doca_argp_register_param(param("b", "verbose", DOCA_ARGP_TYPE_BOOLEAN, on_verbose)));
	CHECK(doca_argp_register_param(param(NULL, "factor", DOCA_ARGP_TYPE_DOUBLE, on_factor)));
	CHECK(doca_argp_cmd_create(&show));
	doca_argp_cmd_set_name(show, "show");
	doca_argp_cmd_set_description(show, "shows things");
	doca_argp_cmd_set_callback(show, on_show);
	CHECK(doca_argp_register_cmd(show));
	if (strstr(mode, "version"))
		CHECK(doca_argp_register_version_callback(on_version));
	if (strstr(mode, "dpdk"))
		doca_argp_set_dpdk_program(on_dpdk);
	if (strstr(mode, "logger"))
		CHECK(doca_argp_register_logger_callback(on_message));
	if (strstr(mode, "tolerant"))
		CHECK(doca_argp_disable_pedantic_config_parsing());
	CHECK(doca_argp_register_validation_callback(on_validate));

	printf("before start\n");
	result = doca_argp_start(argc, argv);
	if (result != DOCA_SUCCESS) {
		DOCA_LOG_ERR("Failed to parse: %s", doca_error_get_name(result));
		doca_argp_destroy();
		return EXIT_FAILURE;
	}
	CHECK(doca_argp_get_log_level(&level));
	printf("path %s number %d verbose %d factor %g count %d level %d\n", cfg.path, cfg.number, cfg.verbose, cfg.factor,
	       cfg.count, level);
	DOCA_LOG_DBG("a detail");
	CHECK(doca_argp_destroy());
	return EXIT_SUCCESS;
}
