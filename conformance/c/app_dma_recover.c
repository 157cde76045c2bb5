/*
 * A copy service that survives its own mistakes: now and then a task is wrong, the context stops, what
 * flew is flushed, and the program starts it again and repeats what was lost, until every block is
 * where it belongs.
 *
 * clauses: engine-dma-sha Failure; core-exec Contexts
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_dma.h>

#include "app_common.h"

#define BLOCKS 400u
#define BLOCK 3000u
#define FLYING 8u

static struct app_core core;
static struct doca_dma *dma;
static uint8_t state[BLOCKS]; /* 0 to do, 1 flies, 2 done */
static uint32_t restarts, flushed;

static void end(struct doca_dma_task_memcpy *task, union doca_data user, uint8_t now)
{
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	if (user.u64 < BLOCKS)
		state[user.u64] = now;
}

static void good(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	CHECK(user.u64 < BLOCKS);
	end(task, user, 2);
}

static void bad(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)ctx;
	CHECK_STATUS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)), DOCA_ERROR_IO_FAILED);
	if (user.u64 < BLOCKS)
		flushed++;
	end(task, user, 0);
}

static doca_error_t submit(uint64_t block, size_t room)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src = app_data(&core, block % BLOCKS * BLOCK, BLOCK);
	struct doca_buf *dst = app_room(&core, block % BLOCKS * BLOCK, room);
	union doca_data user;
	doca_error_t result;

	user.u64 = block;
	result = doca_dma_task_memcpy_alloc_init(dma, src, dst, user, &task);
	if (result == DOCA_SUCCESS) {
		result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
		if (result != DOCA_SUCCESS)
			doca_task_free(doca_dma_task_memcpy_as_task(task));
	}
	if (result != DOCA_SUCCESS) {
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
		CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	}
	return result;
}

int main(void)
{
	uint32_t i, left = BLOCKS, accident = 0;

	app_core_make(&core, doca_dma_cap_task_memcpy_is_supported, BLOCKS * BLOCK, BLOCKS * BLOCK, 4 * FLYING);
	app_text(core.src, BLOCKS * BLOCK, 6);
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, good, bad, FLYING));
	app_core_start(&core, doca_dma_as_ctx(dma));
	while (left != 0) {
		for (i = 0; i < BLOCKS; i++) {
			doca_error_t result;

			if (state[i] != 0)
				continue;
			/* Every fiftieth submit goes wrong. */
			result = ++accident % 50 == 0 ? submit(BLOCKS + i, BLOCK - 1) : submit(i, BLOCK);
			if (result == DOCA_SUCCESS) {
				if (accident % 50 != 0)
					state[i] = 1;
				continue;
			}
			CHECK(result == DOCA_ERROR_NO_MEMORY || result == DOCA_ERROR_BAD_STATE);
			break;
		}
		if (doca_pe_progress(core.pe) == 0)
			app_nap();
		if (core.state == DOCA_CTX_STATE_IDLE) {
			size_t flying = 1;

			CHECK_OK(doca_ctx_get_num_inflight_tasks(core.ctx, &flying));
			CHECK_U64(flying, 0);
			MUST(doca_ctx_start(core.ctx));
			restarts++;
		}
		for (i = 0, left = 0; i < BLOCKS; i++)
			left += state[i] != 2;
	}
	CHECK(restarts > 3);
	CHECK(flushed > 0);
	CHECK_BYTES(core.dst, core.src, BLOCKS * BLOCK);
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	app_core_free(&core);
	return check_result();
}
