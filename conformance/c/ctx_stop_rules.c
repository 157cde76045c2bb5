/*
 * The rules of stop one by one: (a) idle, (b) nothing outstanding, (c) from inside a completion or
 * state callback, (d) already stopping, (e) work in flight, (g) IDLE before the progress call that ran
 * the last callback returns, (h) the usual waiting loop. Rule (f) has a program of its own.
 *
 * clauses: core-exec 3
 * covers: @
 */
#include "rig.h"

#define PIECE 100

static doca_error_t stop_answer;
static unsigned stops;

static void stop_here(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)task;
	stop_answer = doca_ctx_stop(rig->ctx);
	stops++;
}

static void stop_when_running(struct rig *rig, enum doca_ctx_states now)
{
	if (now == DOCA_CTX_STATE_RUNNING) {
		unsigned changes = rig->changes;

		stop_answer = doca_ctx_stop(rig->ctx);
		/* The callback about STOPPING ran nested in this one. */
		CHECK_U64(rig->changes, changes + 1);
		CHECK_U64(rig_state(rig), DOCA_CTX_STATE_STOPPING);
	} else if (now == DOCA_CTX_STATE_STOPPING) {
		CHECK_STATUS(doca_ctx_stop(rig->ctx), DOCA_ERROR_IN_PROGRESS);
	} else if (now == DOCA_CTX_STATE_IDLE) {
		CHECK_OK(doca_ctx_stop(rig->ctx));
	}
}

static void a_and_b(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	(void)rig_copy(&rig, 0, 2048, PIECE, 0);
	rig_drain(&rig);
	CHECK_OK(doca_ctx_stop(rig.ctx)); /* b */
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.changes, 3);
	CHECK_OK(doca_ctx_stop(rig.ctx)); /* a */
	CHECK_OK(doca_ctx_stop(rig.ctx));
	CHECK_U64(rig.changes, 3);
	rig_teardown(&rig);
}

/* c and g: stop in the very last completion, task freed by the same callback. */
static void c_last_completion(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	rig.on_done = stop_here;
	stop_answer = DOCA_SUCCESS;
	(void)rig_copy(&rig, 0, 2048, PIECE, 0);
	while (rig.good == 0)
		rig_progress(&rig);
	CHECK_STATUS(stop_answer, DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig_progress(&rig), 0);
	rig_teardown(&rig);
}

/* c from a state callback, nothing in flight: one more progress call finishes it and says so. */
static void c_state_callback(void)
{
	struct rig rig;

	rig_setup(&rig, 4096, 4);
	CHECK_OK(doca_ctx_stop(rig.ctx));
	rig.changes = 0;
	rig.on_state = stop_when_running;
	stop_answer = DOCA_SUCCESS;
	CHECK_STATUS2(doca_ctx_start(rig.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	CHECK_STATUS(stop_answer, DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
	CHECK_U64(rig.changes, 2);
	CHECK_U64(rig_progress(&rig), 1);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.changes, 3);
	CHECK_U64(rig_progress(&rig), 0);
	rig.on_state = NULL;
	rig_teardown(&rig);
}

/* c across contexts: the callback belongs to another context of the same engine. */
static struct rig *other;

static void stop_other(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	(void)rig;
	(void)task;
	stop_answer = doca_ctx_stop(other->ctx);
}

static void c_other_context(void)
{
	struct rig rig, second = {0};

	rig_setup(&rig, 4096, 4);
	rig_make_ctx(&second, rig.dev, rig.pe, 4);
	MUST(doca_ctx_start(second.ctx));
	other = &second;
	rig.on_done = stop_other;
	stop_answer = DOCA_SUCCESS;
	(void)rig_copy(&rig, 0, 2048, PIECE, 0);
	rig_drain(&rig);
	CHECK_STATUS(stop_answer, DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(second.to[1], DOCA_CTX_STATE_STOPPING);
	while (rig_state(&second) != DOCA_CTX_STATE_IDLE)
		(void)doca_pe_progress(rig.pe);
	CHECK_U64(second.changes, 3);
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_dma_destroy(second.dma));
	rig_teardown(&rig);
}

/* e, d, h: everything in flight comes back through one callback, none inside stop. */
static void e_in_flight(uint32_t tasks, unsigned progress_first)
{
	struct rig rig;
	uint32_t i;

	rig_setup(&rig, 2 * (size_t)tasks * PIECE, tasks);
	for (i = 0; i < tasks; i++)
		(void)rig_copy(&rig, i * PIECE, (tasks + i) * PIECE, PIECE, i);
	while (rig.good < progress_first)
		rig_progress(&rig);
	CHECK_U64(rig_inflight(&rig), tasks - progress_first);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig.good + rig.bad, progress_first);
	CHECK_U64(rig_inflight(&rig), tasks - progress_first);
	CHECK_STATUS(doca_ctx_stop(rig.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(rig.changes, 2);
	rig_drain(&rig);
	/* g: by the time the count is zero it is idle. */
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_IDLE);
	CHECK_U64(rig.good + rig.bad, tasks);
	CHECK_U64(rig.changes, 3);
	for (i = 0; i < tasks; i++) {
		CHECK_U64(rig.order[i], i);
		if (rig.status[i] != DOCA_SUCCESS)
			CHECK_STATUS(rig.status[i], DOCA_ERROR_IO_FAILED);
	}
	rig_teardown(&rig);
}

/* An error callback that calls stop for every flushed task. */
static void d_stop_in_each_callback(void)
{
	struct rig rig;
	uint32_t i;

	rig_setup(&rig, 4096, 16);
	rig.on_done = stop_here;
	stops = 0;
	for (i = 0; i < 16; i++)
		(void)rig_copy(&rig, i * PIECE, 2000, PIECE, i);
	while (rig_state(&rig) != DOCA_CTX_STATE_IDLE) {
		rig_progress(&rig);
		if (stops > 0)
			CHECK_STATUS(stop_answer, DOCA_ERROR_IN_PROGRESS);
	}
	CHECK_U64(stops, 16);
	CHECK_U64(rig.changes, 3);
	rig_teardown(&rig);
}

int main(void)
{
	a_and_b();
	c_last_completion();
	c_state_callback();
	c_other_context();
	e_in_flight(1, 0);
	e_in_flight(32, 0);
	e_in_flight(200, 77);
	d_stop_in_each_callback();
	return check_result();
}
