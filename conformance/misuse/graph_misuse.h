/*
 * What the programs of the gallery about graphs share: a graph of one copy, and an instance of it.
 */
#ifndef CONFORMANCE_GRAPH_MISUSE_H
#define CONFORMANCE_GRAPH_MISUSE_H

#include "misuse.h"

#include <doca_graph.h>

static struct rig rig;
static struct doca_graph *graph;
static struct doca_graph_node *node;
static struct doca_graph_instance *instance;
static struct doca_dma_task_memcpy *task;
static struct doca_buf *src, *dst;
static unsigned graph_done;

static inline void graph_ended(struct doca_graph_instance *run, union doca_data user, union doca_data graph_user)
{
	(void)run, (void)user, (void)graph_user;
	graph_done++;
}

static inline void graph_setup(void)
{
	rig_setup(&rig, 4096, 4);
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx, &node));
	MUST(doca_graph_set_conf(graph, graph_ended, graph_ended, 1));
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &instance));
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 1024, 64);
	task = rig_task(&rig, src, dst, 0);
	MUST(doca_graph_instance_set_ctx_node_data(instance, node, doca_dma_task_memcpy_as_task(task)));
}

static inline void graph_until(unsigned runs)
{
	while (graph_done < runs)
		(void)doca_pe_progress(rig.pe);
}

/* The instance is the program's. */
static inline void graph_teardown(void)
{
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	MUST(doca_buf_dec_refcount(src, NULL));
	MUST(doca_buf_dec_refcount(dst, NULL));
	rig_teardown(&rig);
}

#endif
