/*
 * A program that reacts to states alone: work is submitted from the RUNNING callback, stop is called
 * when the last copy is back, and the context is destroyed from its own IDLE callback. Once by way
 * of progress, once inside a synchronous stop, once after a failed task. Run under address sanitizer.
 *
 * clauses: core-exec 2, 3b, 3g, 4
 * covers: @
 */
#include "rig.h"

#define TASKS 16
#define PIECE 256

static int fail_one;

static void react(struct rig *rig, enum doca_ctx_states now)
{
	size_t i;

	switch (now) {
	case DOCA_CTX_STATE_RUNNING:
		for (i = 0; i < TASKS && rig->len != 0; i++) {
			struct doca_buf *src = rig_src(rig, i * PIECE, PIECE);

			if (fail_one && i == 5)
				MUST(doca_buf_reset_data_len(src));
			MUST(doca_task_submit(doca_dma_task_memcpy_as_task(
				rig_task(rig, src, rig_dst(rig, (TASKS + i) * PIECE, PIECE), i))));
		}
		break;
	case DOCA_CTX_STATE_IDLE:
		/* Nothing may touch the context after this. */
		CHECK_OK(doca_dma_destroy(rig->dma));
		rig->dma = NULL;
		break;
	case DOCA_CTX_STATE_STARTING:
	case DOCA_CTX_STATE_STOPPING:
		break;
	}
}

static void stop_after_last(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)task;
	if (rig->good + rig->bad == TASKS && rig->bad == 0)
		CHECK_STATUS(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
}

/* Like rig_make_ctx, over what is there. */
static void again(struct rig *rig)
{
	rig->good = rig->bad = rig->changes = 0;
	rig_make_ctx(rig, rig->dev, rig->pe, TASKS);
}

int main(void)
{
	struct rig rig;
	size_t len;

	rig_setup(&rig, (size_t)2 * TASKS * PIECE, TASKS);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_OK(doca_dma_destroy(rig.dma));
	rig.on_state = react;
	rig.on_done = stop_after_last;

	/* By way of progress: gone within the call that ran the last callback. */
	again(&rig);
	CHECK_OK(doca_ctx_start(rig.ctx));
	while (rig.good < TASKS)
		(void)doca_pe_progress(rig.pe);
	CHECK_U64(rig.good, TASKS);
	CHECK_PTR(rig.dma, NULL);
	CHECK_U64(rig.changes, 3);
	CHECK_BYTES(rig.mem + TASKS * PIECE, rig.mem, TASKS * PIECE);

	/* After a failure: the context stops itself and goes. */
	fail_one = 1;
	again(&rig);
	CHECK_OK(doca_ctx_start(rig.ctx));
	while (rig.dma != NULL)
		(void)doca_pe_progress(rig.pe);
	CHECK_U64(rig.good + rig.bad, TASKS);
	CHECK(rig.good >= 5 && rig.bad >= 1);
	CHECK_U64(rig.changes, 3);

	/* Inside a synchronous stop. */
	len = rig.len;
	rig.len = 0; /* no work from the RUNNING callback */
	again(&rig);
	CHECK_OK(doca_ctx_start(rig.ctx));
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_PTR(rig.dma, NULL);
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig.from[1], DOCA_CTX_STATE_RUNNING);
	CHECK_U64(rig.to[1], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.from[2], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.to[2], DOCA_CTX_STATE_IDLE);
	CHECK_U64(doca_pe_progress(rig.pe), 0);
	rig.len = len;
	rig_teardown(&rig);
	return check_result();
}
