/*
 * Cache invalidation: a task that changes nothing and completes in the next progress.
 *
 * clauses: core-memory "mmap advise"; core-exec states, pool, IN_USE; ruling 12
 * covers: @
 */
#include "rig.h"

#include <doca_mmap_advise.h>

static int completions;
static int errors;

static void done(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data,
		 union doca_data ctx_data)
{
	CHECK(task_data.u64 == 7 && ctx_data.u64 == 9);
	CHECK_STATUS(doca_task_get_status(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)), DOCA_SUCCESS);
	completions++;
}

static void failed(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_data,
		   union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	CHECK_STATUS(doca_task_get_status(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)),
		     DOCA_ERROR_INVALID_VALUE);
	errors++;
}

int main(void)
{
	struct rig rig;
	struct doca_mmap_advise *advise = NULL;
	struct doca_mmap_advise_task_invalidate_cache *task = NULL, *second = NULL;
	struct doca_devinfo **list = NULL;
	struct doca_buf *buf = NULL;
	struct doca_ctx *ctx;
	union doca_data task_data = {.u64 = 7}, ctx_data = {.u64 = 9};
	uint32_t count = 0, i;
	uint64_t max = 0;
	int card_sides = 0;

	rig_setup(&rig, 65536, 4);

	/* The card side has it, the host side has not; one error does not end a scan. */
	MUST(doca_devinfo_create_list(&list, &count));
	for (i = 0; i < count; i++)
		if (doca_mmap_advise_cap_task_cache_invalidate_is_supported(list[i]) == DOCA_SUCCESS)
			card_sides++;
	CHECK_U64(card_sides, 2);
	MUST(doca_devinfo_destroy_list(list));
	CHECK_STATUS(doca_mmap_advise_cap_task_cache_invalidate_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(doca_dev_as_devinfo(rig.dev), &max));
	CHECK(max >= 65536);
	CHECK_STATUS(doca_mmap_advise_task_cache_invalidate_get_max_buf_size(doca_dev_as_devinfo(rig.dev), NULL),
		     DOCA_ERROR_INVALID_VALUE);

	CHECK_STATUS(doca_mmap_advise_create(NULL, &advise), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_advise_create(rig.dev, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_advise_create(rig.dev, &advise));
	ctx = doca_mmap_advise_as_ctx(advise);
	CHECK(ctx != NULL && doca_mmap_advise_as_ctx(NULL) == NULL);
	/* A context of another engine is not one of these. */
	CHECK(doca_mmap_advise_as_ctx((struct doca_mmap_advise *)rig.dma) == NULL);
	CHECK(doca_dma_as_ctx((struct doca_dma *)advise) == NULL);

	MUST(doca_pe_connect_ctx(rig.pe, ctx));
	CHECK_STATUS(doca_ctx_start(ctx), DOCA_ERROR_INVALID_VALUE); /* not configured */
	CHECK_STATUS(doca_mmap_advise_task_invalidate_cache_set_conf(advise, NULL, failed, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_advise_task_invalidate_cache_set_conf(advise, done, NULL, 1), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_mmap_advise_task_invalidate_cache_set_conf(advise, done, failed, 1));
	MUST(doca_ctx_set_user_data(ctx, ctx_data));
	MUST(doca_buf_inventory_buf_get_by_data(rig.inv, rig.map, rig.mem, 4096, &buf));
	CHECK_STATUS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, task_data, &task),
		     DOCA_ERROR_BAD_STATE);
	MUST(doca_ctx_start(ctx));
	CHECK_STATUS(doca_mmap_advise_task_invalidate_cache_set_conf(advise, done, failed, 1), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, task_data, &task));
	CHECK_STATUS(doca_mmap_advise_task_invalidate_cache_alloc_init(advise, buf, task_data, &second),
		     DOCA_ERROR_NO_MEMORY);
	CHECK_PTR(doca_mmap_advise_task_invalidate_cache_get_buf(task), buf);

	memset(rig.mem, 0x5a, 4096);
	MUST(doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)));
	while (completions + errors < 1)
		doca_pe_progress(rig.pe);
	CHECK_U64(completions, 1);
	for (i = 0; i < 4096; i++)
		CHECK(rig.mem[i] == 0x5a);

	/* Without a buffer the task fails, and the context goes on. */
	doca_mmap_advise_task_invalidate_cache_set_buf(task, NULL);
	CHECK_PTR(doca_mmap_advise_task_invalidate_cache_get_buf(task), NULL);
	CHECK_STATUS(doca_task_try_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)),
		     DOCA_ERROR_INVALID_VALUE);
	MUST(doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)));
	while (completions + errors < 2)
		doca_pe_progress(rig.pe);
	CHECK_U64(errors, 1);
	doca_mmap_advise_task_invalidate_cache_set_buf(task, buf);
	MUST(doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(task)));
	while (completions + errors < 3)
		doca_pe_progress(rig.pe);
	CHECK_U64(completions, 2);

	CHECK_STATUS(doca_mmap_advise_destroy(advise), DOCA_ERROR_IN_USE);
	doca_task_free(doca_mmap_advise_task_invalidate_cache_as_doca_task(task));
	CHECK_OK(doca_ctx_stop(ctx));
	CHECK_OK(doca_mmap_advise_destroy(advise));
	CHECK_STATUS(doca_mmap_advise_destroy(advise), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_mmap_advise_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_buf_dec_refcount(buf, NULL));
	rig_teardown(&rig);
	return check_result();
}
