/*
 * The first program everybody writes: one copy inside one process, from opening the card to closing
 * it, with a state callback, a callback pair and the customary second stop in the clean-up.
 *
 * clauses: core-exec 1-3, 9; core-memory Buffers; dma Behaviour
 * covers: @
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "check.h"

DOCA_LOG_REGISTER(USE_LOCAL_COPY::MAIN);

#define TEXT_LEN 4096

struct app {
	struct doca_dev *dev;
	struct doca_mmap *src_map, *dst_map;
	struct doca_buf_inventory *inv;
	struct doca_pe *pe;
	struct doca_dma *dma;
	struct doca_ctx *ctx;
	size_t left;
	int running;
	doca_error_t result;
};

static void copy_done(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	struct app *app = ctx_user.ptr;

	*(doca_error_t *)task_user.ptr = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	app->left--;
	if (app->left == 0)
		(void)doca_ctx_stop(app->ctx);
}

static void copy_failed(struct doca_dma_task_memcpy *task, union doca_data task_user, union doca_data ctx_user)
{
	CHECK(!"the copy failed");
	copy_done(task, task_user, ctx_user);
}

static void state_changed(const union doca_data user, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct app *app = user.ptr;

	(void)ctx;
	CHECK(prev != next);
	switch (next) {
	case DOCA_CTX_STATE_IDLE:
		app->running = 0;
		break;
	case DOCA_CTX_STATE_STARTING:
		CHECK(!"a DMA context starts at once");
		break;
	case DOCA_CTX_STATE_RUNNING:
		app->running = 1;
		break;
	case DOCA_CTX_STATE_STOPPING:
		break;
	}
}

static void open_card(struct app *app)
{
	struct doca_devinfo **list;
	uint32_t count, i;
	uint8_t equal;

	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count && app->dev == NULL; i++) {
		if (doca_devinfo_is_equal_pci_addr(list[i], "03:00.0", &equal) != DOCA_SUCCESS || equal == 0)
			continue;
		if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
			MUST(doca_dev_open(list[i], &app->dev));
	}
	MUST(doca_devinfo_destroy_list(list));
	MUST_BE(app->dev != NULL);
}

int main(void)
{
	struct app app = {0};
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	union doca_data ctx_user = {0}, task_user = {0};
	struct doca_log_backend *sdk;
	char *from = malloc(TEXT_LEN), *to = calloc(1, TEXT_LEN);
	doca_error_t task_result = DOCA_ERROR_UNKNOWN;
	void *data;
	size_t len, i;

	MUST_BE(from != NULL && to != NULL);
	for (i = 0; i < TEXT_LEN; i++)
		from[i] = (char)('a' + i % 26);
	MUST(doca_log_backend_create_standard());
	MUST(doca_log_backend_create_with_file_sdk(stderr, &sdk));
	MUST(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));

	open_card(&app);
	MUST(doca_mmap_create(&app.src_map));
	MUST(doca_mmap_add_dev(app.src_map, app.dev));
	MUST(doca_mmap_create(&app.dst_map));
	MUST(doca_mmap_add_dev(app.dst_map, app.dev));
	MUST(doca_buf_inventory_create(2, &app.inv));
	MUST(doca_buf_inventory_start(app.inv));
	MUST(doca_pe_create(&app.pe));
	MUST(doca_dma_create(app.dev, &app.dma));
	app.ctx = doca_dma_as_ctx(app.dma);
	ctx_user.ptr = &app;
	MUST(doca_ctx_set_user_data(app.ctx, ctx_user));
	MUST(doca_ctx_set_state_changed_cb(app.ctx, state_changed));
	MUST(doca_dma_task_memcpy_set_conf(app.dma, copy_done, copy_failed, 1));
	MUST(doca_pe_connect_ctx(app.pe, app.ctx));
	/* The context first, the maps later: both orders are in use. */
	MUST(doca_ctx_start(app.ctx));
	CHECK(app.running);

	/* Nothing about permissions is said: the engine may write all the same. */
	MUST(doca_mmap_set_memrange(app.dst_map, to, TEXT_LEN));
	MUST(doca_mmap_start(app.dst_map));
	MUST(doca_mmap_set_memrange(app.src_map, from, TEXT_LEN));
	MUST(doca_mmap_start(app.src_map));
	MUST(doca_buf_inventory_buf_get_by_addr(app.inv, app.src_map, from, TEXT_LEN, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(app.inv, app.dst_map, to, TEXT_LEN, &dst));
	MUST(doca_buf_set_data(src, from, TEXT_LEN));
	task_user.ptr = &task_result;
	app.left = 1;
	MUST(doca_dma_task_memcpy_alloc_init(app.dma, src, dst, task_user, &task));
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	while (app.running)
		(void)doca_pe_progress(app.pe);
	CHECK_STATUS(task_result, DOCA_SUCCESS);
	MUST(doca_buf_get_data(dst, &data));
	MUST(doca_buf_get_data_len(dst, &len));
	CHECK_PTR(data, to);
	CHECK_U64(len, TEXT_LEN);
	CHECK_BYTES(to, from, TEXT_LEN);
	DOCA_LOG_INFO("Copied: %.26s", to);

	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	/* Clean-up code stops once more, whatever happened before. */
	CHECK_OK(doca_ctx_stop(app.ctx));
	CHECK_OK(doca_dma_destroy(app.dma));
	CHECK_OK(doca_pe_destroy(app.pe));
	CHECK_OK(doca_buf_inventory_destroy(app.inv));
	CHECK_OK(doca_mmap_destroy(app.dst_map));
	CHECK_OK(doca_mmap_destroy(app.src_map));
	CHECK_OK(doca_dev_close(app.dev));
	free(from);
	free(to);
	return check_result();
}
