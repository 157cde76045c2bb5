/*
 * Order: a diamond of functions and copies runs by its dependencies and nothing twice; root functions run in
 * progress as well; two hundred runs of one instance, resubmitted from inside the completion callback with
 * its buffers reset, while others run beside it.
 *
 * clauses: core-sync-graph Graph, Behaviour (order, resubmission)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_graph.h"

#define RUNS 200
#define LEN 100

struct diamond {
	struct doca_graph_instance *instance;
	struct doca_dma_task_memcpy *tasks[2];
	unsigned trace, runs;
	uint8_t *area;
};

static struct graph_rig rig;

/* Traces are digits: 1 first, then 2 and 3 in any order, then 4. */
static doca_error_t first(void *cookie)
{
	struct diamond *diamond = cookie;

	graph_steps++;
	CHECK(graph_in_progress);
	diamond->trace = 1;
	memset(diamond->area, (int)(diamond->runs + 1), LEN); /* what the copies take */
	return DOCA_SUCCESS;
}

static doca_error_t left(void *cookie)
{
	struct diamond *diamond = cookie;

	graph_steps++;
	CHECK_U64(diamond->area[LEN], (uint8_t)(diamond->runs + 1)); /* the first copy has been here */
	diamond->trace = diamond->trace * 10 + 2;
	return DOCA_SUCCESS;
}

static doca_error_t last(void *cookie)
{
	struct diamond *diamond = cookie;
	size_t i;

	graph_steps++;
	diamond->trace = diamond->trace * 10 + 4;
	CHECK_U64(diamond->trace, 124);
	for (i = 0; i < 3 * LEN; i++)
		CHECK_U64(diamond->area[i], (uint8_t)(diamond->runs + 1));
	return DOCA_SUCCESS;
}

static void again(struct doca_graph_instance *instance, union doca_data user, int good)
{
	struct diamond *diamond = user.ptr;

	CHECK(good);
	CHECK_U64(diamond->trace, 124);
	diamond->trace = 0;
	if (++diamond->runs < RUNS) {
		graph_task_reset(diamond->tasks[0]);
		graph_task_reset(diamond->tasks[1]);
		CHECK_OK(doca_graph_instance_submit(instance));
		return;
	}
	/* It is no longer submitted: all of it may go, right here. */
	CHECK_OK(doca_graph_instance_destroy(instance));
	graph_task_free(diamond->tasks[0]);
	graph_task_free(diamond->tasks[1]);
}

int main(void)
{
	struct doca_graph_node *nodes[5];
	struct diamond diamonds[4] = {0};
	struct doca_graph *graph;
	union doca_data user;
	size_t i;

	graph_setup(&rig, 8);
	graph_on_done = again;
	graph = graph_make(&rig, 4);
	/* first -> copy 0 -> left -> last, first -> copy 1 -> last */
	MUST(doca_graph_node_create_from_user(graph, first, &nodes[0]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[0], &nodes[1]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[1], &nodes[2]));
	MUST(doca_graph_node_create_from_user(graph, left, &nodes[3]));
	MUST(doca_graph_node_create_from_user(graph, last, &nodes[4]));
	MUST(doca_graph_add_dependency(graph, nodes[3], nodes[4]));
	MUST(doca_graph_add_dependency(graph, nodes[2], nodes[4]));
	MUST(doca_graph_add_dependency(graph, nodes[1], nodes[3]));
	MUST(doca_graph_add_dependency(graph, nodes[0], nodes[2]));
	MUST(doca_graph_add_dependency(graph, nodes[0], nodes[1]));
	MUST(doca_graph_start(graph));
	for (i = 0; i < 4; i++) {
		struct diamond *diamond = &diamonds[i];
		size_t at = i * 10 * LEN;

		diamond->area = rig.mem + at;
		MUST(doca_graph_instance_create(graph, &diamond->instance));
		diamond->tasks[0] = graph_task(&rig, 0, at, at + LEN, LEN);
		diamond->tasks[1] = graph_task(&rig, 1, at, at + 2 * LEN, LEN);
		graph_bind(diamond->instance, nodes[1], diamond->tasks[0]);
		graph_bind(diamond->instance, nodes[2], diamond->tasks[1]);
		MUST(doca_graph_instance_set_user_node_data(diamond->instance, nodes[0], diamond));
		MUST(doca_graph_instance_set_user_node_data(diamond->instance, nodes[3], diamond));
		MUST(doca_graph_instance_set_user_node_data(diamond->instance, nodes[4], diamond));
		user.ptr = diamond;
		MUST(doca_graph_instance_set_user_data(diamond->instance, user));
	}
	for (i = 0; i < 4; i++)
		MUST(doca_graph_instance_submit(diamonds[i].instance));
	while (graph_good < 4 * RUNS)
		graph_progress(&rig);
	CHECK_U64(graph_bad, 0);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	graph_teardown(&rig);
	return check_result();
}
