/*
 * 255 copies of which the third has nothing to copy. It is accepted, fails when its turn comes and
 * takes the context down with it; the program never calls stop and waits for IDLE all the same.
 *
 * clauses: core-exec 4, 3e, 3f; dma Behaviour (any failed task stops the context)
 * covers: @
 */
#include "rig.h"

#define TASKS 255
#define BAD 2
#define PIECE 64

static struct doca_task *kept[TASKS];
static unsigned kept_count;
static int stopping_seen_before_failure;

static void keep(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	kept[kept_count++] = doca_dma_task_memcpy_as_task(task);
	/* Until the failure is delivered the context runs. */
	if (rig->good + rig->bad <= BAD && rig_state(rig) != DOCA_CTX_STATE_RUNNING)
		stopping_seen_before_failure = 1;
}

int main(void)
{
	struct rig rig;
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	union doca_data none = {0};
	size_t i;

	rig_setup(&rig, (size_t)2 * TASKS * PIECE, TASKS);
	rig.free_tasks = 0;
	rig.on_done = keep;
	for (i = 0; i < TASKS; i++) {
		src = rig_src(&rig, i * PIECE, PIECE);
		if (i == BAD)
			MUST(doca_buf_set_data_len(src, 0));
		task = rig_task(&rig, src, rig_dst(&rig, (TASKS + i) * PIECE, PIECE), i);
		CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	}
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig_inflight(&rig), TASKS);
	rig_drain(&rig);

	CHECK_U64(rig.good + rig.bad, TASKS);
	CHECK(!stopping_seen_before_failure);
	for (i = 0; i < BAD; i++)
		CHECK_STATUS(rig.status[i], DOCA_SUCCESS);
	CHECK_U64(rig.order[BAD], BAD);
	CHECK_STATUS(rig.status[BAD], DOCA_ERROR_IO_FAILED);
	for (i = BAD + 1; i < TASKS; i++)
		CHECK_STATUS2(rig.status[i], DOCA_SUCCESS, DOCA_ERROR_IO_FAILED);

	/* All tasks are back but not freed: the context waits for that. */
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
	for (i = 0; i < 50; i++)
		CHECK_U64(rig_progress(&rig), 0);
	src = rig_src(&rig, 0, PIECE);
	dst = rig_dst(&rig, PIECE, PIECE);
	CHECK_STATUS(doca_dma_task_memcpy_alloc_init(rig.dma, src, dst, none, &task), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_task_submit(kept[0]), DOCA_ERROR_BAD_STATE);
	for (i = 0; i < kept_count; i++)
		doca_task_free(kept[i]);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
	rig_until_idle(&rig);
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig.from[2], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.to[2], DOCA_CTX_STATE_IDLE);

	/* Such a context may be started again. */
	rig.on_done = NULL;
	rig.free_tasks = 1;
	MUST(doca_ctx_start(rig.ctx));
	task = rig_task(&rig, src, dst, 1000);
	CHECK_OK(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	rig_drain(&rig);
	CHECK_STATUS(rig.status[TASKS], DOCA_SUCCESS);
	CHECK_BYTES(rig.mem + PIECE, rig.mem, PIECE);
	rig_teardown(&rig);
	return check_result();
}
