/*
 * A stream through the card: a pool of equal buffers, sixteen copies in flight that are submitted
 * again from their own callbacks with fresh buffers, twenty thousand blocks, each checked once.
 *
 * clauses: core-memory Pool; core-exec Resubmission
 * covers: @
 */
#define _GNU_SOURCE

#include <doca_buf_pool.h>
#include <doca_dma.h>

#include "app_common.h"

#define FLYING 16u
#define BLOCK 1024u
#define BLOCKS 20000u

static struct app_core core;
static struct doca_buf_pool *pool;
static uint32_t begun, landed;

static void next(struct doca_dma_task_memcpy *task)
{
	struct doca_buf *src, *dst;
	uint32_t words[2] = {begun, ~begun};
	union doca_data user;
	void *head;

	MUST(doca_buf_pool_buf_alloc(pool, &src));
	MUST(doca_buf_pool_buf_alloc(pool, &dst));
	MUST(doca_buf_get_head(src, &head));
	memcpy(head, words, sizeof(words));
	MUST(doca_buf_set_data(src, head, sizeof(words)));
	user.u64 = begun++;
	doca_dma_task_memcpy_set_src(task, src);
	doca_dma_task_memcpy_set_dst(task, dst);
	doca_task_set_user_data(doca_dma_task_memcpy_as_task(task), user);
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
}

static void done(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	struct doca_buf *dst = doca_dma_task_memcpy_get_dst(task);
	uint32_t words[2];
	void *data;

	(void)ctx;
	CHECK_U64(user.u64, landed); /* one after the other */
	MUST(doca_buf_get_data(dst, &data));
	memcpy(words, data, sizeof(words));
	CHECK(words[0] == landed && words[1] == ~landed);
	CHECK_U64(app_length(dst), sizeof(words));
	landed++;
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	if (begun < BLOCKS)
		next(task);
	else
		doca_task_free(doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct doca_dma_task_memcpy *task;
	struct doca_buf *one, *all[2 * FLYING];
	union doca_data user = {0};
	struct doca_mmap *map;
	struct doca_dma *dma;
	uint8_t *memory;
	uint32_t i, left;

	app_core_make(&core, doca_dma_cap_task_memcpy_is_supported, 64, 64, 2);
	memory = (uint8_t *)aligned_alloc(4096, 2 * FLYING * BLOCK);
	map = app_map(core.dev, memory, 2 * FLYING * BLOCK, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_pool_create(2 * FLYING, BLOCK, map, &pool));
	MUST(doca_buf_pool_set_element_alignment(pool, 64));
	MUST(doca_buf_pool_start(pool));
	/* All of it, once. */
	for (i = 0; i < 2 * FLYING; i++)
		MUST(doca_buf_pool_buf_alloc(pool, &all[i]));
	CHECK_STATUS(doca_buf_pool_buf_alloc(pool, &one), DOCA_ERROR_EMPTY);
	for (i = 0; i < 2 * FLYING; i++)
		CHECK_OK(doca_buf_dec_refcount(all[i], NULL));
	MUST(doca_dma_create(core.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, done, done, FLYING));
	app_core_start(&core, doca_dma_as_ctx(dma));
	for (i = 0; i < FLYING; i++) {
		MUST(doca_buf_pool_buf_alloc(pool, &one));
		MUST(doca_dma_task_memcpy_alloc_init(dma, one, one, user, &task));
		CHECK_OK(doca_buf_dec_refcount(one, NULL));
		next(task);
	}
	while (landed < BLOCKS)
		if (doca_pe_progress(core.pe) == 0)
			app_nap();
	MUST(doca_buf_pool_get_num_free_elements(pool, &left));
	CHECK_U64(left, 2 * FLYING);
	app_core_stop(&core);
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_buf_pool_destroy(pool));
	CHECK_OK(doca_mmap_destroy(map));
	app_core_free(&core);
	free(memory);
	return check_result();
}
