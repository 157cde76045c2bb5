/*
 * Progress inside a callback: of the same engine it does nothing, of another engine it works, down to
 * waiting there for a whole copy; submit and stop inside callbacks run no other callback.
 *
 * clauses: core-exec 5 (nested progress), dma Behaviour (progress of another engine in a callback)
 * covers: @
 */
#include "rig.h"

static struct rig outer, inner;
static unsigned depth, deepest, inner_runs;

static void wait_inside(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	unsigned good = outer.good, i;

	(void)task;
	depth++;
	if (depth > deepest)
		deepest = depth;
	/* The same engine: nothing, however often. */
	for (i = 0; i < 10; i++)
		CHECK_U64(doca_pe_progress(rig->pe), 0);
	CHECK_U64(outer.good, good);
	/* Another engine: a whole copy. */
	(void)rig_copy(&inner, 0, 2048, 100, 5);
	rig_drain(&inner);
	inner_runs++;
	CHECK_U64(inner.good, inner_runs);
	CHECK_U64(outer.good, good);
	depth--;
}

static void resubmit_and_look(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	unsigned done = rig->good + rig->bad;

	(void)task;
	if (done >= 50)
		return;
	/* Submitting runs no callback, however quick the copy is. */
	(void)rig_copy(rig, 0, 2048, 8, done);
	(void)rig_copy(rig, 0, 2048, 8, done);
	CHECK_U64(rig->good + rig->bad, done);
}

static unsigned nested_states;

static void progress_in_state(struct rig *rig, enum doca_ctx_states now)
{
	(void)now;
	CHECK_U64(doca_pe_progress(rig->pe), 0);
	nested_states++;
}

int main(void)
{
	unsigned i;

	rig_setup(&outer, 4096, 64);
	rig_setup(&inner, 4096, 4);
	outer.on_done = wait_inside;
	for (i = 0; i < 20; i++)
		(void)rig_copy(&outer, 0, 2048, 100, i);
	rig_drain(&outer);
	CHECK_U64(outer.good, 20);
	CHECK_U64(inner_runs, 20);
	CHECK_U64(deepest, 1);

	outer.on_done = resubmit_and_look;
	outer.good = 0;
	(void)rig_copy(&outer, 0, 2048, 8, 0);
	rig_drain(&outer);
	CHECK_U64(outer.good, 99); /* 1 + 2 * 49 */
	CHECK_U64(outer.bad, 0);

	outer.on_done = NULL;
	outer.on_state = progress_in_state;
	CHECK_OK(doca_ctx_stop(outer.ctx));
	MUST(doca_ctx_start(outer.ctx));
	CHECK_U64(nested_states, 3);
	rig_teardown(&inner);
	rig_teardown(&outer);
	return check_result();
}
