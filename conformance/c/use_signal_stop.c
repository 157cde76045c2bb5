/*
 * Ctrl+C in the middle of work: a signal sets a flag, the loop stops the context with copies in
 * flight, progresses to IDLE and takes everything down; many times over, each copy with one callback.
 *
 * clauses: core-exec 3e, 3h
 * covers: @
 */
#define _GNU_SOURCE
#include <sys/time.h>

#include "rig.h"

#define ROUNDS 100
#define DEPTH 32
#define PIECE 9000

static volatile sig_atomic_t interrupted;
static uint64_t submitted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void go_on(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	if (rig_state(rig) == DOCA_CTX_STATE_RUNNING && !interrupted) {
		MUST(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
		MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
		submitted++;
		return;
	}
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_interrupt};
	size_t round, i;

	MUST_BE(sigaction(SIGINT, &action, NULL) == 0);
	for (round = 0; round < ROUNDS; round++) {
		struct rig rig;
		doca_error_t result;

		interrupted = 0;
		submitted = DEPTH;
		rig_setup(&rig, (size_t)2 * DEPTH * PIECE, DEPTH);
		rig.free_tasks = 0;
		rig.drop_bufs = 0;
		rig.on_done = go_on;
		for (i = 0; i < DEPTH; i++)
			(void)rig_copy(&rig, i * PIECE, (DEPTH + i) * PIECE, PIECE, i);
		for (i = 0; !interrupted; i++) {
			rig_progress(&rig);
			if (i == 20 + round)
				MUST_BE(raise(SIGINT) == 0);
		}
		result = doca_ctx_stop(rig.ctx);
		CHECK_STATUS2(result, DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
		if (rig_inflight(&rig) != 0)
			CHECK_STATUS(result, DOCA_ERROR_IN_PROGRESS);
		rig_until_idle(&rig);
		CHECK_U64(rig.good + rig.bad, submitted);
		CHECK_U64(rig_inflight(&rig), 0);
		rig_teardown(&rig);
	}
	return check_result();
}
