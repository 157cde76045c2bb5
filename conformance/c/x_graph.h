/*
 * What the graph programs share: DMA contexts on one progress engine whose task callbacks must never run,
 * copies as tasks for nodes, and callbacks of the graph that count.
 *
 * A program that includes this defines _GNU_SOURCE first.
 */
#ifndef CONFORMANCE_X_GRAPH_H
#define CONFORMANCE_X_GRAPH_H

#include <doca_graph.h>

#include "rig.h"

#define GRAPH_BYTES (1u << 20)

static unsigned graph_stray; /* task callbacks: none may run for tasks inside a graph */
static unsigned graph_good, graph_bad;
static unsigned graph_steps; /* functions of the program's that ran as nodes */
static int graph_in_progress;
static __attribute__((unused)) void (*graph_on_done)(struct doca_graph_instance *instance, union doca_data user,
						     int good);

static inline void graph_stray_cb(struct doca_dma_task_memcpy *task, union doca_data task_user,
				  union doca_data ctx_user)
{
	(void)task, (void)task_user, (void)ctx_user;
	graph_stray++;
}

static inline void graph_good_cb(struct doca_graph_instance *instance, union doca_data instance_user,
				 union doca_data graph_user)
{
	CHECK(graph_in_progress);
	CHECK_U64(graph_user.u64, 0x6172);
	graph_good++;
	if (graph_on_done != NULL)
		graph_on_done(instance, instance_user, 1);
}

static inline void graph_bad_cb(struct doca_graph_instance *instance, union doca_data instance_user,
				union doca_data graph_user)
{
	CHECK(graph_in_progress);
	CHECK_U64(graph_user.u64, 0x6172);
	graph_bad++;
	if (graph_on_done != NULL)
		graph_on_done(instance, instance_user, 0);
}

struct graph_rig {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_dma *dma[2];
	struct doca_ctx *ctx[2];
	struct doca_buf_inventory *inv;
	struct doca_mmap *map;
	uint8_t *mem;
};

static inline void graph_setup(struct graph_rig *rig, uint32_t tasks)
{
	int i;

	memset(rig, 0, sizeof(*rig));
	rig->dev = rig_open_dev(NULL);
	MUST(doca_pe_create(&rig->pe));
	for (i = 0; i < 2; i++) {
		MUST(doca_dma_create(rig->dev, &rig->dma[i]));
		rig->ctx[i] = doca_dma_as_ctx(rig->dma[i]);
		MUST(doca_pe_connect_ctx(rig->pe, rig->ctx[i]));
		MUST(doca_dma_task_memcpy_set_conf(rig->dma[i], graph_stray_cb, graph_stray_cb, tasks));
		MUST(doca_ctx_start(rig->ctx[i]));
	}
	rig->mem = (uint8_t *)malloc(GRAPH_BYTES);
	MUST_BE(rig->mem != NULL);
	memset(rig->mem, 0, GRAPH_BYTES);
	rig->map = rig_map(rig->dev, rig->mem, GRAPH_BYTES, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(4 * tasks + 64, &rig->inv));
	MUST(doca_buf_inventory_start(rig->inv));
}

static inline enum doca_ctx_states graph_ctx_state(struct doca_ctx *ctx)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	CHECK_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

static inline uint8_t graph_progress(struct graph_rig *rig)
{
	unsigned before = graph_good + graph_bad, steps = graph_steps;
	uint8_t moved;

	graph_in_progress = 1;
	moved = doca_pe_progress(rig->pe);
	graph_in_progress = 0;
	CHECK(graph_good + graph_bad <= before + 1);
	if (moved == 0) {
		CHECK_U64(graph_good + graph_bad, before);
		sched_yield();
	} else {
		/* Steps that call nobody are no news. */
		CHECK(graph_good + graph_bad + graph_steps > before + steps);
	}
	return moved;
}

/* In the order of sample programs: instances, tasks and buffers are gone, contexts still run. */
static inline void graph_teardown(struct graph_rig *rig)
{
	uint32_t total = 0, free_now = 0;
	int i;

	CHECK_U64(graph_stray, 0);
	for (i = 0; i < 2; i++) {
		CHECK_STATUS2(doca_ctx_stop(rig->ctx[i]), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
		while (graph_ctx_state(rig->ctx[i]) != DOCA_CTX_STATE_IDLE)
			doca_pe_progress(rig->pe);
		CHECK_OK(doca_dma_destroy(rig->dma[i]));
	}
	CHECK_OK(doca_pe_destroy(rig->pe));
	CHECK_OK(doca_buf_inventory_get_num_elements(rig->inv, &total));
	CHECK_OK(doca_buf_inventory_get_num_free_elements(rig->inv, &free_now));
	CHECK_U64(free_now, total);
	CHECK_OK(doca_buf_inventory_destroy(rig->inv));
	CHECK_OK(doca_mmap_destroy(rig->map));
	CHECK_OK(doca_dev_close(rig->dev));
	free(rig->mem);
}

/* A copy of `len` bytes inside the rig's memory; a length of 0 makes a task that will fail. */
static inline struct doca_dma_task_memcpy *graph_task(struct graph_rig *rig, int which, size_t from, size_t to,
						      size_t len)
{
	struct doca_buf *src = NULL, *dst = NULL;
	struct doca_dma_task_memcpy *task = NULL;
	union doca_data user;

	user.u64 = 0;
	if (len == 0)
		MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, rig->mem + from, 16, &src));
	else
		MUST(doca_buf_inventory_buf_get_by_data(rig->inv, rig->map, rig->mem + from, len, &src));
	MUST(doca_buf_inventory_buf_get_by_addr(rig->inv, rig->map, rig->mem + to, len == 0 ? 16 : len, &dst));
	MUST(doca_dma_task_memcpy_alloc_init(rig->dma[which], src, dst, user, &task));
	return task;
}

static inline void graph_task_free(struct doca_dma_task_memcpy *task)
{
	CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_dma_task_memcpy_get_src(task), NULL));
	CHECK_OK(doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static inline void graph_task_reset(struct doca_dma_task_memcpy *task)
{
	CHECK_OK(doca_buf_reset_data_len(doca_dma_task_memcpy_get_dst(task)));
}

/* An empty graph with callbacks and user data. */
static inline struct doca_graph *graph_make(struct graph_rig *rig, uint32_t instances)
{
	struct doca_graph *graph = NULL;
	union doca_data user;

	user.u64 = 0x6172;
	MUST(doca_graph_create(rig->pe, &graph));
	MUST(doca_graph_set_conf(graph, graph_good_cb, graph_bad_cb, instances));
	MUST(doca_graph_set_user_data(graph, user));
	return graph;
}

static inline void graph_bind(struct doca_graph_instance *instance, struct doca_graph_node *node,
			      struct doca_dma_task_memcpy *task)
{
	MUST(doca_graph_instance_set_ctx_node_data(instance, node, doca_dma_task_memcpy_as_task(task)));
}

/* Submits, and progresses to the end; 1 if it went well. */
static inline int graph_run(struct graph_rig *rig, struct doca_graph_instance *instance)
{
	unsigned good = graph_good, bad = graph_bad;

	MUST(doca_graph_instance_submit(instance));
	CHECK_U64(graph_good + graph_bad, good + bad); /* never inside submit */
	while (graph_good + graph_bad == good + bad)
		graph_progress(rig);
	return graph_good == good + 1;
}

#endif
