/*
 * Callbacks that change the set of contexts of their own engine: a completion that starts a new
 * context, one that stops and destroys another, a pipeline in which each completion feeds the next
 * context.
 *
 * clauses: core-exec 2, 5, 9 (what callbacks may do)
 * covers: @
 */
#include "rig.h"

#define STAGES 4
#define ITEMS 60
#define PIECE 500

static struct rig base, stage[STAGES], extra;
static unsigned finished;

/* Completion of one stage hands the item to the next one. */
static void next_stage(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	size_t number = (size_t)(rig - stage), item = doca_task_get_user_data(doca_dma_task_memcpy_as_task(task)).u64;

	if (number + 1 == STAGES) {
		finished++;
		return;
	}
	(void)rig_copy(&stage[number + 1], ((number + 1) * ITEMS + item) * PIECE, ((number + 2) * ITEMS + item) * PIECE,
		       PIECE, item);
}

static void make(struct rig *rig)
{
	memset(rig, 0, sizeof(*rig));
	rig_make_ctx(rig, base.dev, base.pe, ITEMS);
	rig->map = base.map;
	rig->mem = base.mem;
	rig->inv = base.inv;
	rig->free_tasks = rig->drop_bufs = 1;
}

static void pipeline(void)
{
	size_t i;

	for (i = 0; i < STAGES; i++) {
		make(&stage[i]);
		stage[i].on_done = next_stage;
		MUST(doca_ctx_start(stage[i].ctx));
	}
	for (i = 0; i < ITEMS; i++)
		(void)rig_copy(&stage[0], i * PIECE, (ITEMS + i) * PIECE, PIECE, i);
	while (finished < ITEMS)
		(void)doca_pe_progress(base.pe);
	CHECK_BYTES(base.mem + (size_t)STAGES * ITEMS * PIECE, base.mem, ITEMS * PIECE);
	for (i = 0; i < STAGES; i++) {
		CHECK_U64(stage[i].good, ITEMS);
		CHECK_OK(doca_ctx_stop(stage[i].ctx));
		CHECK_OK(doca_dma_destroy(stage[i].dma));
	}
}

static unsigned phase;

static void change_the_set(struct rig *rig, struct doca_dma_task_memcpy *task)
{
	unsigned step = phase++;

	(void)task;
	switch (step % 3) {
	case 0: /* a new one, at work at once */
		make(&extra);
		CHECK_OK(doca_ctx_start(extra.ctx));
		(void)rig_copy(&extra, 0, 1000, 100, step);
		break;
	case 1: /* the engine is in use, and says so in here as well */
		CHECK_STATUS(doca_pe_destroy(rig->pe), DOCA_ERROR_IN_USE);
		CHECK_STATUS(doca_dma_destroy(extra.dma), DOCA_ERROR_IN_USE);
		break;
	default: /* idle by now: gone from inside the callback of another */
		CHECK_U64(extra.good, 1);
		CHECK_U64(rig_state(&extra), DOCA_CTX_STATE_IDLE);
		CHECK_OK(doca_dma_destroy(extra.dma));
		break;
	}
}

int main(void)
{
	unsigned round;

	rig_setup(&base, (size_t)(STAGES + 1) * ITEMS * PIECE, 2);
	pipeline();
	base.on_done = change_the_set;
	for (round = 0; round < 60; round++) {
		(void)rig_copy(&base, 0, 2000, 100, round);
		while (phase <= round)
			(void)doca_pe_progress(base.pe);
		if (round % 3 == 1) {
			while (extra.good == 0)
				(void)doca_pe_progress(base.pe);
			CHECK_OK(doca_ctx_stop(extra.ctx));
		}
	}
	CHECK_U64(base.good, 60);
	rig_teardown(&base);
	return check_result();
}
