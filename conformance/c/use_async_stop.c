/*
 * Sixteen copies, a stop in the callback of the eighth: the stop answers "in progress", the other
 * eight come back through one of the two callbacks each, and only then the context is idle.
 *
 * clauses: core-exec 3c, 3d, 3e, 3g
 * covers: @
 */
#include "rig.h"

#define TASKS 16
#define PIECE 5000

static unsigned inflight_at_idle = 99;

static void stop_after_half(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)task;
	if (rig->good + rig->bad == TASKS / 2) {
		unsigned changes = rig->changes;

		CHECK_U64(rig_inflight(rig), TASKS / 2);
		CHECK_STATUS(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
		/* The callback about STOPPING ran inside that call. */
		CHECK_U64(rig->changes, changes + 1);
		CHECK_U64(rig->to[changes], DOCA_CTX_STATE_STOPPING);
		CHECK_U64(rig_state(rig), DOCA_CTX_STATE_STOPPING);
		/* Again: the same answer and no second callback. */
		CHECK_STATUS(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
		CHECK_U64(rig->changes, changes + 1);
	}
}

static void at_state(struct rig *rig, enum doca_ctx_states now)
{
	if (now == DOCA_CTX_STATE_IDLE)
		inflight_at_idle = (unsigned)rig_inflight(rig);
}

int main(void)
{
	struct rig rig;
	size_t i;

	rig_setup(&rig, (size_t)2 * TASKS * PIECE, TASKS);
	rig.on_done = stop_after_half;
	rig.on_state = at_state;
	for (i = 0; i < TASKS; i++)
		(void)rig_copy(&rig, i * PIECE, (TASKS + i) * PIECE, PIECE, i);
	CHECK_U64(rig.good + rig.bad, 0);
	rig_until_idle(&rig);

	CHECK_U64(rig.good + rig.bad, TASKS);
	CHECK(rig.good >= TASKS / 2);
	CHECK_U64(inflight_at_idle, 0);
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig.from[0], DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.to[0], DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig.from[1], DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig.to[1], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.from[2], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.to[2], DOCA_CTX_STATE_IDLE);
	for (i = 0; i < TASKS; i++) {
		CHECK_U64(rig.order[i], i);
		if (rig.status[i] == DOCA_SUCCESS)
			CHECK_BYTES(rig.mem + (TASKS + i) * PIECE, rig.mem + i * PIECE, PIECE);
		else
			CHECK_STATUS(rig.status[i], DOCA_ERROR_IO_FAILED);
	}
	/* Nothing arrives after IDLE. */
	for (i = 0; i < 100; i++)
		CHECK_U64(rig_progress(&rig), 0);

	/* The same context starts again and works. */
	rig.on_done = NULL;
	MUST(doca_ctx_start(rig.ctx));
	(void)rig_copy(&rig, 0, TASKS * PIECE, PIECE, 42);
	rig_drain(&rig);
	CHECK_U64(rig.order[TASKS], 42);
	CHECK_STATUS(rig.status[TASKS], DOCA_SUCCESS);
	rig_teardown(&rig);
	return check_result();
}
