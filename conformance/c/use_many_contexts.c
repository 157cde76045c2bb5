/*
 * Several contexts on one progress engine, each with its own user data and its own share of work,
 * stopped one by one while the others go on.
 *
 * clauses: core-exec 5, 9; pe_get_num_inflight_tasks as a sum
 * covers: @
 */
#include "rig.h"

#define CONTEXTS 4
#define TASKS 16
#define PIECE 1000

static struct rig rigs[CONTEXTS];

static size_t pe_inflight(struct doca_pe *pe)
{
	size_t count = SIZE_MAX;

	CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &count));
	return count;
}

int main(void)
{
	struct rig base;
	size_t i, j, done;

	rig_setup(&base, (size_t)2 * CONTEXTS * TASKS * PIECE, TASKS);
	for (i = 0; i < CONTEXTS; i++) {
		memset(&rigs[i], 0, sizeof(rigs[i]));
		rig_make_ctx(&rigs[i], base.dev, base.pe, TASKS);
		rigs[i].map = base.map;
		rigs[i].inv = base.inv;
		rigs[i].mem = base.mem;
		rigs[i].free_tasks = 1;
		rigs[i].drop_bufs = 1;
		MUST(doca_ctx_start(rigs[i].ctx));
	}
	for (j = 0; j < TASKS; j++) {
		for (i = 0; i < CONTEXTS; i++) {
			size_t at = (i * TASKS + j) * PIECE;

			(void)rig_copy(&rigs[i], at, at + (size_t)CONTEXTS * TASKS * PIECE, PIECE, i * 100 + j);
		}
	}
	CHECK_U64(pe_inflight(base.pe), CONTEXTS * TASKS);
	/* A call to progress runs one completion of one of them. */
	while (pe_inflight(base.pe) != 0) {
		size_t before = 0, after = 0;
		uint8_t moved;

		for (i = 0; i < CONTEXTS; i++)
			before += rigs[i].good;
		moved = doca_pe_progress(base.pe);
		for (i = 0; i < CONTEXTS; i++)
			after += rigs[i].good;
		CHECK(after <= before + 1);
		CHECK_U64(moved != 0, after != before);
	}
	for (i = 0; i < CONTEXTS; i++) {
		CHECK_U64(rigs[i].good, TASKS);
		CHECK_U64(rigs[i].bad, 0);
		for (j = 0; j < TASKS; j++)
			CHECK_U64(rigs[i].order[j], i * 100 + j);
	}
	CHECK_BYTES(base.mem + (size_t)CONTEXTS * TASKS * PIECE, base.mem, (size_t)CONTEXTS * TASKS * PIECE);

	/* One leaves, the others do not notice. */
	CHECK_OK(doca_ctx_stop(rigs[1].ctx));
	CHECK_U64(rig_state(&rigs[1]), DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_dma_destroy(rigs[1].dma));
	(void)rig_copy(&rigs[2], 0, (size_t)CONTEXTS * TASKS * PIECE, PIECE, 7);
	for (done = rigs[2].good; rigs[2].good == done;)
		(void)doca_pe_progress(base.pe);
	/* The engine stays as long as one context is connected, idle or not. */
	for (i = 0; i < CONTEXTS; i++) {
		if (i == 1)
			continue;
		CHECK_STATUS(doca_pe_destroy(base.pe), DOCA_ERROR_IN_USE);
		CHECK_OK(doca_ctx_stop(rigs[i].ctx));
		CHECK_STATUS(doca_pe_destroy(base.pe), DOCA_ERROR_IN_USE);
		CHECK_OK(doca_dma_destroy(rigs[i].dma));
	}
	rig_teardown(&base);
	return check_result();
}
