/*
 * The first program people write: options for device and text, a DMA context found by capability,
 * one copy, and everything released on every way out.
 *
 * clauses: core-base argp, log; engine-dma-sha DMA
 * covers: @
 */
#define _GNU_SOURCE

#include <stdbool.h>

#include <doca_dma.h>

#include "app_common.h"

DOCA_LOG_REGISTER(DMA_COPY::MAIN);

struct config {
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	char text[1024];
	int repeat;
	bool verify;
};

APP_CALLBACKS(doca_dma_task_memcpy, doca_dma_task_memcpy_as_task)

static doca_error_t pci_callback(void *param, void *opaque)
{
	struct config *config = (struct config *)opaque;
	const char *pci = (const char *)param;

	if (strnlen(pci, DOCA_DEVINFO_PCI_ADDR_SIZE) == DOCA_DEVINFO_PCI_ADDR_SIZE) {
		DOCA_LOG_ERR("Entered device PCI address exceeds %d characters", DOCA_DEVINFO_PCI_ADDR_SIZE - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy(config->pci, pci);
	return DOCA_SUCCESS;
}

static doca_error_t text_callback(void *param, void *opaque)
{
	struct config *config = (struct config *)opaque;

	if (strlen((const char *)param) >= sizeof(config->text))
		return DOCA_ERROR_INVALID_VALUE;
	strcpy(config->text, (const char *)param);
	return DOCA_SUCCESS;
}

static doca_error_t repeat_callback(void *param, void *opaque)
{
	((struct config *)opaque)->repeat = *(int *)param;
	return DOCA_SUCCESS;
}

static doca_error_t verify_callback(void *param, void *opaque)
{
	((struct config *)opaque)->verify = *(bool *)param;
	return DOCA_SUCCESS;
}

static doca_error_t add_param(const char *short_name, const char *long_name, const char *description,
			      doca_argp_param_cb_t callback, enum doca_argp_type type)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_param_create(&param);

	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, description);
	doca_argp_param_set_callback(param, callback);
	doca_argp_param_set_type(param, type);
	return doca_argp_register_param(param);
}

static void copy(const struct config *config)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	union doca_data user = {0};
	struct app_core core;
	struct doca_dma *dma;
	size_t len = strlen(config->text) + 1;
	struct doca_dev *by_address;
	uint32_t most, i;

	MUST(app_open_device(config->pci, doca_dma_cap_task_memcpy_is_supported, &by_address));
	app_core_make(&core, doca_dma_cap_task_memcpy_is_supported, 1024, 1024, 2);
	strcpy((char *)core.src, config->text);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_cap_get_max_num_tasks(dma, &most));
	MUST_BE(most >= 1);
	MUST(doca_dma_task_memcpy_set_conf(dma, app_doca_dma_task_memcpy_done, app_doca_dma_task_memcpy_failed, 1));
	app_core_start(&core, doca_dma_as_ctx(dma));
	src = app_data(&core, 0, len);
	dst = app_room(&core, 0, 1024);
	for (i = 0; i < (uint32_t)config->repeat; i++) {
		MUST(doca_buf_reset_data_len(dst));
		MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, user, &task));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		app_wait(&core, i + 1);
		if (config->verify)
			CHECK_TEXT((char *)core.dst, config->text);
		CHECK_U64(app_length(dst), len);
	}
	CHECK_U64(core.failed, 0);
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	app_core_free(&core);
	CHECK_OK(doca_dev_close(by_address));
}

int main(void)
{
	struct config config = {"0000:03:00.0", "nothing", 1, false};
	char *arguments[] = {(char *)"dma_copy", (char *)"-p", (char *)"b1:00.0", (char *)"--text",
			     (char *)"copied by the card", (char *)"-n", (char *)"5", (char *)"--verify",
			     (char *)"-l", (char *)"40", NULL};

	app_log();
	MUST(doca_argp_init("dma_copy", &config));
	MUST(add_param("p", "pci-addr", "DOCA DMA device PCI address", pci_callback, DOCA_ARGP_TYPE_STRING));
	MUST(add_param("t", "text", "Text to copy", text_callback, DOCA_ARGP_TYPE_STRING));
	MUST(add_param("n", "repeat", "How often", repeat_callback, DOCA_ARGP_TYPE_INT));
	MUST(add_param("c", "verify", "Compare", verify_callback, DOCA_ARGP_TYPE_BOOLEAN));
	MUST(doca_argp_start(10, arguments));
	CHECK_TEXT(config.pci, "b1:00.0");
	CHECK_TEXT(config.text, "copied by the card");
	CHECK_U64(config.repeat, 5);
	CHECK(config.verify);
	copy(&config);
	CHECK_OK(doca_argp_destroy());
	return check_result();
}
