/*
 * A graph inside a graph: the inner instance runs as one node of the outer, its own callbacks stay silent or
 * speak, but the outer's come once; circles of graphs are refused; an inner instance in use is not
 * destroyed; an inner failure is the outer's failure.
 *
 * clauses: core-sync-graph Graph (sub graphs)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_graph.h"

#define LEN 1000

static struct graph_rig rig;
static unsigned inner_ran, outer_ran, outer_good, outer_bad;
static doca_error_t inner_answer;

static doca_error_t inner_step(void *cookie)
{
	(void)cookie;
	CHECK(memcmp(rig.mem + LEN, rig.mem, LEN) == 0); /* the inner copy came first */
	inner_ran++;
	return inner_answer;
}

static doca_error_t outer_step(void *cookie)
{
	(void)cookie;
	CHECK(memcmp(rig.mem + 2 * LEN, rig.mem, LEN) == 0);
	CHECK_U64(inner_ran, outer_ran + 1);
	outer_ran++;
	return DOCA_SUCCESS;
}

static void outer_good_cb(struct doca_graph_instance *instance, union doca_data instance_user,
			  union doca_data graph_user)
{
	(void)instance, (void)instance_user, (void)graph_user;
	outer_good++;
}

static void outer_bad_cb(struct doca_graph_instance *instance, union doca_data instance_user,
			 union doca_data graph_user)
{
	(void)instance, (void)instance_user, (void)graph_user;
	outer_bad++;
}

static void run_outer(struct doca_graph_instance *instance)
{
	unsigned before = outer_good + outer_bad;

	MUST(doca_graph_instance_submit(instance));
	while (outer_good + outer_bad == before)
		if (doca_pe_progress(rig.pe) == 0)
			sched_yield();
}

int main(void)
{
	struct doca_graph *inner, *outer = NULL;
	struct doca_graph_node *inner_copy, *inner_user, *sub, *outer_copy, *outer_user;
	struct doca_graph_instance *inside = NULL, *outside = NULL;
	struct doca_dma_task_memcpy *tasks[2];
	size_t i;

	graph_setup(&rig, 4);
	graph_in_progress = 1; /* the inner graph's own callbacks may come from here on */
	for (i = 0; i < LEN; i++)
		rig.mem[i] = (uint8_t)(i + 1);
	inner = graph_make(&rig, 1);
	MUST(doca_graph_node_create_from_ctx(inner, rig.ctx[0], &inner_copy));
	MUST(doca_graph_node_create_from_user(inner, inner_step, &inner_user));
	MUST(doca_graph_add_dependency(inner, inner_copy, inner_user));
	MUST(doca_graph_create(rig.pe, &outer));
	MUST(doca_graph_set_conf(outer, outer_good_cb, outer_bad_cb, 1));
	CHECK_STATUS(doca_graph_node_create_from_graph(outer, inner, &sub), DOCA_ERROR_BAD_STATE); /* not started */
	CHECK_REFUSED(doca_graph_node_create_from_graph(outer, outer, &sub));
	MUST(doca_graph_start(inner));
	/* inner -> copy -> function */
	MUST(doca_graph_node_create_from_graph(outer, inner, &sub));
	MUST(doca_graph_node_create_from_ctx(outer, rig.ctx[1], &outer_copy));
	MUST(doca_graph_node_create_from_user(outer, outer_step, &outer_user));
	MUST(doca_graph_add_dependency(outer, sub, outer_copy));
	MUST(doca_graph_add_dependency(outer, outer_copy, outer_user));
	MUST(doca_graph_start(outer));
	MUST(doca_graph_instance_create(inner, &inside));
	MUST(doca_graph_instance_create(outer, &outside));
	tasks[0] = graph_task(&rig, 0, 0, LEN, LEN);
	tasks[1] = graph_task(&rig, 1, LEN, 2 * LEN, LEN);
	graph_bind(inside, inner_copy, tasks[0]);
	graph_bind(outside, outer_copy, tasks[1]);
	MUST(doca_graph_instance_set_user_node_data(inside, inner_user, NULL));
	MUST(doca_graph_instance_set_user_node_data(outside, outer_user, NULL));
	CHECK_STATUS(doca_graph_instance_set_sub_graph_node_data(outside, outer_copy, inside), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_sub_graph_node_data(outside, sub, NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_graph_instance_set_sub_graph_node_data(outside, sub, inside));
	CHECK_STATUS(doca_graph_instance_destroy(inside), DOCA_ERROR_IN_USE);
	for (i = 0; i < 20; i++) {
		memset(rig.mem + LEN, 0, 2 * LEN);
		run_outer(outside);
		CHECK_U64(outer_good, i + 1);
		CHECK_U64(outer_ran, i + 1);
		graph_task_reset(tasks[0]);
		graph_task_reset(tasks[1]);
	}
	/* The inner one fails: nothing behind it runs. */
	inner_answer = DOCA_ERROR_UNEXPECTED;
	memset(rig.mem + LEN, 0, 2 * LEN);
	run_outer(outside);
	CHECK_U64(outer_bad, 1);
	CHECK_U64(outer_ran, 20);
	CHECK_U64(rig.mem[2 * LEN], 0);
	CHECK_OK(doca_graph_instance_destroy(outside));
	CHECK_OK(doca_graph_instance_destroy(inside));
	graph_task_free(tasks[0]);
	graph_task_free(tasks[1]);
	CHECK_OK(doca_graph_stop(outer));
	CHECK_OK(doca_graph_destroy(outer));
	CHECK_OK(doca_graph_stop(inner));
	CHECK_OK(doca_graph_destroy(inner));
	graph_teardown(&rig);
	return check_result();
}
