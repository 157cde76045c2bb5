/*
 * The task pool as back-pressure: exactly as many tasks as configured, NO_MEMORY beyond, nothing lost
 * over ten thousand copies at depth 16, every allocated task can be submitted.
 *
 * clauses: core-exec 6; dma task_memcpy_set_conf, alloc_init
 * covers: @
 */
#include "rig.h"

#define DEPTH 16
#define COPIES 10000
#define PIECE 32

static void exact_size(uint32_t size)
{
	struct rig rig;
	struct doca_dma_task_memcpy **tasks = calloc(size, sizeof(*tasks)), *extra = NULL;
	union doca_data none = {0};
	uint32_t i;

	MUST_BE(tasks != NULL);
	rig_setup(&rig, 4096, size);
	rig.drop_bufs = 0;
	for (i = 0; i < size; i++)
		tasks[i] = rig_task(&rig, NULL, NULL, i);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, none, &extra), DOCA_ERROR_NO_MEMORY);
	CHECK_PTR(extra, NULL);
	/* One freed, one to be had. */
	doca_task_free(doca_dma_task_memcpy_as_task(tasks[size / 2]));
	tasks[size / 2] = rig_task(&rig, NULL, NULL, 1);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, none, &extra), DOCA_ERROR_NO_MEMORY);
	/* All of them at once in flight, never AGAIN. */
	{
		struct doca_buf *src = rig_src(&rig, 0, PIECE), **dst = calloc(size, sizeof(*dst));

		MUST_BE(dst != NULL);
		for (i = 0; i < size; i++) {
			dst[i] = rig_dst(&rig, 2048, PIECE);
			doca_dma_task_memcpy_set_src(tasks[i], src);
			doca_dma_task_memcpy_set_dst(tasks[i], dst[i]);
			CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(tasks[i])));
		}
		CHECK_U64(rig_inflight(&rig), size);
		rig_drain(&rig);
		CHECK_U64(rig.good, size);
		CHECK_OK(doca_buf_dec_refcount(src, NULL));
		for (i = 0; i < size; i++)
			CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
		free(dst);
	}
	rig_teardown(&rig);
	free(tasks);
}

static void back_pressure(void)
{
	struct rig rig;
	union doca_data user;
	unsigned refused = 0;
	uint64_t sent = 0, i;

	rig_setup(&rig, 4096, DEPTH);
	while (sent < COPIES) {
		struct doca_dma_task_memcpy *task = NULL;
		doca_error_t result;

		user.u64 = sent;
		result = doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, user, &task);
		if (result == DOCA_ERROR_NO_MEMORY) {
			refused++;
			rig_progress(&rig);
			continue;
		}
		MUST(result);
		doca_dma_task_memcpy_set_src(task, rig_src(&rig, 0, PIECE));
		doca_dma_task_memcpy_set_dst(task, rig_dst(&rig, 2048, PIECE));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		sent++;
		CHECK(rig_inflight(&rig) <= DEPTH);
	}
	rig_drain(&rig);
	CHECK_U64(rig.good, COPIES);
	CHECK(refused >= COPIES - DEPTH);
	for (i = 0; i < RIG_LOG; i++)
		CHECK_U64(rig.order[i], i);
	rig_teardown(&rig);
}

int main(void)
{
	exact_size(1);
	exact_size(2);
	exact_size(33);
	exact_size(1000);
	back_pressure();
	return check_result();
}
