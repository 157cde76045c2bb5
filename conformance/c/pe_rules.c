/*
 * The progress engine itself: connecting, destroying, counting, one completion per call, fairness
 * among contexts, handles that are NULL, of another kind, gone.
 *
 * clauses: core-exec doca_pe.h progress engine, 5 (fair), doca_pe_progress return value
 * covers: @
 */
#include "rig.h"

#define CONTEXTS 3
#define TASKS 50
#define PIECE 16

static void connection(struct doca_dev *dev)
{
	struct doca_pe *pe = NULL, *second = NULL;
	struct doca_dma *dma = NULL;
	struct doca_ctx *ctx;
	size_t count = 9;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_create(&second));
	CHECK(pe != second);
	CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &count));
	CHECK_U64(count, 0);
	CHECK_U64(doca_pe_progress(pe), 0);
	MUST(doca_dma_create(dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	CHECK_STATUS(doca_pe_connect_ctx(NULL, ctx), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_connect_ctx(pe, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_pe_connect_ctx(pe, ctx));
	CHECK_STATUS(doca_pe_connect_ctx(second, ctx), DOCA_ERROR_NOT_PERMITTED);
	/* Connected for life; nothing is freed by a refused destroy. */
	CHECK_STATUS(doca_pe_destroy(pe), DOCA_ERROR_IN_USE);
	CHECK_U64(doca_pe_progress(pe), 0);
	CHECK_OK(doca_pe_destroy(second));
	/* The device may be closed before the engine, once no context uses it. */
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_STATUS(doca_pe_destroy(pe), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_get_num_inflight_tasks(pe, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(doca_pe_progress(pe), 0);
	CHECK_STATUS(doca_pe_create(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_destroy((struct doca_pe *)dev), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_pe_get_num_inflight_tasks(NULL, &count), DOCA_ERROR_INVALID_VALUE);
	CHECK_U64(doca_pe_progress(NULL), 0);
}

/* No context waits while another gets one completion after the other. */
static void fairness(void)
{
	static struct rig rigs[CONTEXTS];
	struct rig base;
	unsigned i, j, total = 0;

	rig_setup(&base, 2 * PIECE, 1);
	for (i = 0; i < CONTEXTS; i++) {
		memset(&rigs[i], 0, sizeof(rigs[i]));
		rig_make_ctx(&rigs[i], base.dev, base.pe, TASKS);
		rigs[i].inv = base.inv;
		rigs[i].map = base.map;
		rigs[i].mem = base.mem;
		rigs[i].free_tasks = rigs[i].drop_bufs = 1;
		MUST(doca_ctx_start(rigs[i].ctx));
	}
	for (i = 0; i < CONTEXTS; i++)
		for (j = 0; j < TASKS; j++)
			(void)rig_copy(&rigs[i], 0, PIECE, PIECE, j);
	while (total < CONTEXTS * TASKS) {
		unsigned before = total;
		uint8_t moved = doca_pe_progress(base.pe);

		for (total = 0, i = 0; i < CONTEXTS; i++)
			total += rigs[i].good;
		CHECK_U64(total - before, moved != 0);
		/* All of this has long been done; after the first half everybody has had a turn. */
		if (total == CONTEXTS * TASKS / 2)
			for (i = 0; i < CONTEXTS; i++)
				CHECK(rigs[i].good > 0);
	}
	for (i = 0; i < CONTEXTS; i++) {
		CHECK_OK(doca_ctx_stop(rigs[i].ctx));
		CHECK_OK(doca_dma_destroy(rigs[i].dma));
	}
	rig_teardown(&base);
}

/* Many idle contexts on one engine, work on one of them. */
static void many_idle(void)
{
	static struct rig rigs[200];
	struct rig base;
	unsigned i;

	rig_setup(&base, 4096, 4);
	for (i = 0; i < 200; i++) {
		memset(&rigs[i], 0, sizeof(rigs[i]));
		rig_make_ctx(&rigs[i], base.dev, base.pe, 1);
		if (i % 2 == 0)
			MUST(doca_ctx_start(rigs[i].ctx));
	}
	for (i = 0; i < 100; i++) {
		(void)rig_copy(&base, 0, 2048, PIECE, i);
		rig_drain(&base);
	}
	CHECK_U64(base.good, 100);
	for (i = 0; i < 200; i++) {
		CHECK_OK(doca_ctx_stop(rigs[i].ctx));
		CHECK_OK(doca_dma_destroy(rigs[i].dma));
	}
	rig_teardown(&base);
}

int main(void)
{
	struct doca_dev *dev = rig_open_dev(NULL);

	connection(dev);
	fairness();
	many_idle();
	CHECK_OK(doca_dev_close(dev));
	return check_result();
}
