/*
 * What graphs refuse: circles, changes after start, start without configuration or without a context node,
 * foreign nodes, nodes of another kind, tasks of another context, too many instances, destroying and
 * stopping out of order.
 *
 * clauses: core-sync-graph Graph
 * covers: @
 */
#define _GNU_SOURCE
#include "x_graph.h"

#define INVALID DOCA_ERROR_INVALID_VALUE
#define STATE DOCA_ERROR_BAD_STATE

static struct graph_rig rig;

static doca_error_t nothing(void *cookie)
{
	(void)cookie;
	graph_steps++;
	return DOCA_SUCCESS;
}

static void nulls(void)
{
	struct doca_graph *graph = NULL;
	struct doca_graph_node *node = NULL;
	struct doca_graph_instance *instance = NULL;
	union doca_data user = {0};

	CHECK_STATUS(doca_graph_create(NULL, &graph), INVALID);
	CHECK_STATUS(doca_graph_create(rig.pe, NULL), INVALID);
	CHECK_STATUS(doca_graph_destroy(NULL), INVALID);
	CHECK_STATUS(doca_graph_start(NULL), INVALID);
	CHECK_STATUS(doca_graph_stop(NULL), INVALID);
	graph = graph_make(&rig, 1);
	CHECK_STATUS(doca_graph_set_conf(graph, NULL, graph_bad_cb, 1), INVALID);
	CHECK_STATUS(doca_graph_set_conf(graph, graph_good_cb, NULL, 1), INVALID);
	CHECK_STATUS(doca_graph_set_conf(NULL, graph_good_cb, graph_bad_cb, 1), INVALID);
	CHECK_STATUS(doca_graph_set_user_data(NULL, user), INVALID);
	CHECK_STATUS(doca_graph_get_user_data(graph, NULL), INVALID);
	CHECK_STATUS(doca_graph_node_create_from_ctx(graph, NULL, &node), INVALID);
	CHECK_STATUS(doca_graph_node_create_from_ctx(graph, rig.ctx[0], NULL), INVALID);
	CHECK_STATUS(doca_graph_node_create_from_user(graph, NULL, &node), INVALID);
	CHECK_STATUS(doca_graph_node_create_from_graph(graph, NULL, &node), INVALID);
	CHECK_STATUS(doca_graph_add_dependency(graph, NULL, NULL), INVALID);
	CHECK_STATUS(doca_graph_instance_create(NULL, &instance), INVALID);
	CHECK_STATUS(doca_graph_instance_create(graph, NULL), INVALID);
	CHECK_STATUS(doca_graph_instance_destroy(NULL), INVALID);
	CHECK_STATUS(doca_graph_instance_submit(NULL), INVALID);
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_STATUS(doca_graph_destroy(graph), INVALID);
}

static void building(void)
{
	struct doca_graph *graph = NULL, *other = graph_make(&rig, 1);
	struct doca_graph_node *a, *b, *c, *foreign;
	struct doca_graph_instance *instance = NULL;

	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_node_create_from_ctx(other, rig.ctx[0], &foreign));
	MUST(doca_graph_node_create_from_user(graph, nothing, &a));
	MUST(doca_graph_node_create_from_user(graph, nothing, &b));
	CHECK_STATUS(doca_graph_instance_create(graph, &instance), STATE);
	CHECK_REFUSED(doca_graph_start(graph)); /* no configuration */
	MUST(doca_graph_set_conf(graph, graph_good_cb, graph_bad_cb, 2));
	CHECK_STATUS(doca_graph_start(graph), STATE); /* no context node */
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[1], &c));
	CHECK_OK(doca_graph_add_dependency(graph, a, b));
	CHECK_OK(doca_graph_add_dependency(graph, b, c));
	CHECK_STATUS(doca_graph_add_dependency(graph, c, a), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_add_dependency(graph, b, a), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_add_dependency(graph, a, a), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_add_dependency(graph, a, foreign), INVALID);
	/* Its contexts have to run. */
	CHECK_OK(doca_ctx_stop(rig.ctx[1]));
	CHECK_STATUS(doca_graph_start(graph), STATE);
	CHECK_OK(doca_ctx_start(rig.ctx[1]));
	CHECK_OK(doca_graph_start(graph));
	CHECK_STATUS2(doca_graph_start(graph), DOCA_SUCCESS, STATE);
	CHECK_STATUS(doca_graph_set_conf(graph, graph_good_cb, graph_bad_cb, 5), STATE);
	{
		union doca_data user = {0};

		CHECK_STATUS(doca_graph_set_user_data(graph, user), STATE);
	}
	CHECK_STATUS(doca_graph_node_create_from_user(graph, nothing, &foreign), STATE);
	CHECK_STATUS(doca_graph_add_dependency(graph, a, c), STATE);
	CHECK_STATUS(doca_graph_destroy(graph), STATE);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_stop(graph));
	/* Stopped, it can be extended. */
	CHECK_OK(doca_graph_node_create_from_user(graph, nothing, &foreign));
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_OK(doca_graph_destroy(other));
}

static void instances(void)
{
	struct doca_graph *graph = graph_make(&rig, 2), *other = graph_make(&rig, 1);
	struct doca_graph_node *copy, *user_node, *foreign;
	struct doca_graph_instance *one = NULL, *two = NULL, *three = NULL;
	struct doca_dma_task_memcpy *task, *stranger;
	doca_error_t status;

	MUST(doca_graph_node_create_from_ctx(other, rig.ctx[0], &foreign));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[0], &copy));
	MUST(doca_graph_node_create_from_user(graph, nothing, &user_node));
	MUST(doca_graph_add_dependency(graph, copy, user_node));
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &one));
	MUST(doca_graph_instance_create(graph, &two));
	CHECK_STATUS(doca_graph_instance_create(graph, &three), DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_graph_instance_destroy(two));
	CHECK_STATUS(doca_graph_instance_destroy(two), INVALID);
	CHECK_OK(doca_graph_instance_create(graph, &two));
	task = graph_task(&rig, 0, 0, 5000, 5000);
	stranger = graph_task(&rig, 1, 0, 5000, 5000);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(one, foreign, doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(one, user_node, doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(one, copy, doca_dma_task_memcpy_as_task(stranger)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_user_node_data(one, copy, NULL), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(one, copy, NULL), INVALID);
	MUST(doca_graph_instance_set_user_node_data(one, user_node, &rig));
	/* A context node without its task. */
	status = doca_graph_instance_submit(one);
	CHECK_STATUS2(status, INVALID, STATE);
	graph_bind(one, copy, task);
	MUST(doca_graph_instance_submit(one));
	CHECK_STATUS(doca_graph_instance_submit(one), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_graph_instance_destroy(one), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(one, copy, doca_dma_task_memcpy_as_task(task)), STATE);
	CHECK_STATUS(doca_graph_instance_set_user_node_data(one, user_node, NULL), STATE);
	{
		union doca_data user = {0};

		CHECK_STATUS(doca_graph_instance_set_user_data(one, user), DOCA_ERROR_IN_USE);
	}
	while (graph_good == 0)
		graph_progress(&rig);
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_graph_instance_destroy(one));
	CHECK_OK(doca_graph_instance_destroy(two));
	graph_task_free(task);
	graph_task_free(stranger);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_OK(doca_graph_destroy(other));
}

int main(void)
{
	graph_setup(&rig, 4);
	nulls();
	building();
	instances();
	graph_teardown(&rig);
	return check_result();
}
