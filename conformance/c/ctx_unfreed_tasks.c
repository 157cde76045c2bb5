/*
 * Tasks handed back but not freed hold a stopping context; tasks freed in flight do not. Freed tasks
 * still know their context.
 *
 * clauses: core-exec 3f, 5 (freed task, in-flight task freed)
 * covers: @
 */
#include "rig.h"

#define TASKS 8
#define PIECE 200

static struct doca_task *kept[TASKS];
static unsigned kept_count;

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	kept[kept_count++] = doca_dma_task_memcpy_as_task(task);
}

static void handed_back(int allocate_only)
{
	struct rig rig;
	struct doca_dma_task_memcpy *task = NULL;
	unsigned i;

	rig_setup(&rig, 8192, TASKS);
	rig.free_tasks = 0;
	rig.on_done = keep;
	kept_count = 0;
	if (allocate_only) {
		/* Allocated and never submitted: the same. */
		for (i = 0; i < TASKS; i++) {
			task = rig_task(&rig, NULL, NULL, i);
			kept[kept_count++] = doca_dma_task_memcpy_as_task(task);
		}
	} else {
		for (i = 0; i < TASKS; i++)
			(void)rig_copy(&rig, i * PIECE, 4000, PIECE, i);
		rig_drain(&rig);
	}
	CHECK_U64(kept_count, TASKS);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
	for (i = 0; i < 100; i++)
		CHECK_U64(rig_progress(&rig), 0);
	/* Refused here, the task stays the program's. */
	CHECK_STATUS(doca_task_submit(kept[0]), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_task_try_submit(kept[0]), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_task_submit_ex(kept[0], DOCA_TASK_SUBMIT_FLAG_FLUSH), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_dma_destroy(rig.dma), DOCA_ERROR_IN_USE);
	for (i = 0; i < TASKS; i++) {
		CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
		CHECK_U64(rig_progress(&rig), 0);
		doca_task_free(kept[i]);
		/* Not inside free. */
		CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
		CHECK_PTR(doca_task_get_ctx(kept[i]), rig.ctx);
	}
	CHECK_U64(rig_progress(&rig), 1);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.changes, 3);
	rig_teardown(&rig);
}

/* Freed while the library owns them, and their buffers dropped as well, before stop. */
static void freed_in_flight(int stop_first, size_t len)
{
	struct rig rig;
	struct doca_task *tasks[TASKS];
	struct doca_buf *src[TASKS], *dst[TASKS];
	unsigned i;

	rig_setup(&rig, 2 * TASKS * len + 8192, TASKS);
	rig.free_tasks = 0;
	rig.drop_bufs = 0;
	rig.on_done = keep;
	kept_count = 0;
	for (i = 0; i < TASKS; i++) {
		src[i] = rig_src(&rig, i * len, len);
		dst[i] = rig_dst(&rig, (TASKS + i) * len, len);
		tasks[i] = doca_dma_task_memcpy_as_task(rig_task(&rig, src[i], dst[i], i));
		MUST(doca_task_submit(tasks[i]));
	}
	if (stop_first)
		CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	for (i = 0; i < TASKS; i++) {
		doca_task_free(tasks[i]);
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
	if (!stop_first)
		CHECK_STATUS2(doca_ctx_stop(rig.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	/* Callbacks may run or not; nothing may hold the context. */
	rig_until_idle(&rig);
	CHECK(rig.good + rig.bad <= TASKS);
	CHECK_U64(rig_inflight(&rig), 0);
	/* The pool is whole again. */
	rig.on_done = NULL;
	rig.free_tasks = 1;
	rig.drop_bufs = 1;
	MUST(doca_ctx_start(rig.ctx));
	rig.good = rig.bad = 0;
	for (i = 0; i < TASKS; i++)
		(void)rig_copy(&rig, 0, 4096, PIECE, i);
	rig_drain(&rig);
	CHECK_U64(rig.good, TASKS);
	rig_teardown(&rig);
}

/* Freed long after, outside of callbacks, while running: the slot serves again. */
static void freed_later(void)
{
	struct rig rig;
	union doca_data none = {0};
	struct doca_dma_task_memcpy *task = NULL;
	unsigned round, i;

	rig_setup(&rig, 8192, TASKS);
	rig.free_tasks = 0;
	rig.on_done = keep;
	for (round = 0; round < 50; round++) {
		kept_count = 0;
		for (i = 0; i < TASKS; i++)
			(void)rig_copy(&rig, i * PIECE, 4000, PIECE, i);
		rig_drain(&rig);
		CHECK_U64(kept_count, TASKS);
		CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, NULL, NULL, none, &task), DOCA_ERROR_NO_MEMORY);
		for (i = 0; i < TASKS; i++)
			doca_task_free(kept[i]);
	}
	CHECK_U64(rig.good, 50 * TASKS);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	rig_teardown(&rig);
}

int main(void)
{
	int i;

	handed_back(0);
	handed_back(1);
	for (i = 0; i < 10; i++) {
		freed_in_flight(0, 100);
		freed_in_flight(1, 100);
		freed_in_flight(0, 100000);
		freed_in_flight(1, 100000);
		freed_in_flight(0, 2000000);
		freed_in_flight(1, 2000000);
	}
	freed_later();
	return check_result();
}
