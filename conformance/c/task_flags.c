/*
 * Submit flags: held or not, everything comes back once it was flushed, by whichever of the three
 * means; with the reporting hint the completions come back with a later task.
 *
 * clauses: core-exec doca_task_submit_ex, doca_ctx_flush_tasks, 6 (submit flags)
 * covers: @
 */
#include "rig.h"

#define TASKS 32
#define PIECE 48

static void submit(struct rig *rig, uint64_t number, uint32_t flags)
{
	struct doca_dma_task_memcpy *task =
		rig_task(rig, rig_src(rig, 0, PIECE), rig_dst(rig, 2048, PIECE), number);

	CHECK_OK(doca_task_submit_ex(doca_dma_task_memcpy_as_task(task), flags));
}

static void finish(struct rig *rig, unsigned want)
{
	unsigned i;

	rig_drain(rig);
	CHECK_U64(rig->good, want);
	CHECK_U64(rig->bad, 0);
	for (i = 0; i < want; i++)
		CHECK_U64(rig->order[i], i);
	rig->good = 0;
}

int main(void)
{
	struct rig rig;
	unsigned i;

	rig_setup(&rig, 4096, TASKS);
	/* A plain submit at the end. */
	for (i = 0; i < TASKS - 1; i++)
		submit(&rig, i, DOCA_TASK_SUBMIT_FLAG_NONE);
	CHECK_U64(rig_inflight(&rig), TASKS - 1);
	(void)rig_copy(&rig, 0, 2048, PIECE, TASKS - 1);
	finish(&rig, TASKS);
	/* A flag on the last. */
	for (i = 0; i < TASKS; i++)
		submit(&rig, i, i == TASKS - 1 ? DOCA_TASK_SUBMIT_FLAG_FLUSH : DOCA_TASK_SUBMIT_FLAG_NONE);
	finish(&rig, TASKS);
	/* A call of its own. */
	for (i = 0; i < TASKS; i++)
		submit(&rig, i, DOCA_TASK_SUBMIT_FLAG_NONE);
	doca_ctx_flush_tasks(rig.ctx);
	finish(&rig, TASKS);
	doca_ctx_flush_tasks(rig.ctx); /* nothing there: nothing happens */
	/* Reports gathered, the last one without the hint. */
	for (i = 0; i < TASKS; i++)
		submit(&rig, i,
		       i % 8 == 7 ? DOCA_TASK_SUBMIT_FLAG_FLUSH
				  : DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS | DOCA_TASK_SUBMIT_FLAG_FLUSH);
	finish(&rig, TASKS);
	/* Held tasks are in flight: stop brings each of them back. */
	for (i = 0; i < 5; i++)
		submit(&rig, i, DOCA_TASK_SUBMIT_FLAG_NONE);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	rig_until_idle(&rig);
	CHECK_U64(rig.good + rig.bad, 5);
	rig_teardown(&rig);
	return check_result();
}
