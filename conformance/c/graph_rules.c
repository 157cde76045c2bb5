/*
 * What graphs, nodes and instances refuse, and with which status.
 *
 * clauses: core-sync-graph Graph (functions)
 * covers: @
 */
#include <doca_graph.h>

#include "rig.h"

static void nothing(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance;
	(void)user;
	(void)graph_user;
}

static doca_error_t well(void *cookie)
{
	(void)cookie;
	return DOCA_SUCCESS;
}

int main(void)
{
	struct doca_graph *graph = NULL, *second = NULL;
	struct doca_graph_node *a = NULL, *b = NULL, *c = NULL, *foreign = NULL, *none = NULL;
	struct doca_graph_instance *instance = NULL, *more = NULL;
	struct doca_dma_task_memcpy *task, *strange;
	struct doca_buf *src, *dst;
	struct doca_pe *pe = NULL;
	union doca_data data;
	struct rig rig, other;

	data.u64 = 5;
	rig_setup(&rig, 4096, 4);
	memset(&other, 0, sizeof(other));
	MUST(doca_pe_create(&pe));
	rig_make_ctx(&other, rig.dev, pe, 4);
	src = rig_src(&rig, 0, 64);
	dst = rig_dst(&rig, 64, 64);

	CHECK_STATUS(doca_graph_create(NULL, &graph), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_create(rig.pe, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_create(rig.pe, &second));
	CHECK_STATUS(doca_graph_set_conf(graph, NULL, nothing, 1), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_start(graph), DOCA_ERROR_BAD_STATE); /* not configured */
	CHECK_STATUS(doca_graph_instance_create(graph, &instance), DOCA_ERROR_BAD_STATE);
	MUST(doca_graph_set_conf(graph, nothing, nothing, 1));
	MUST(doca_graph_set_conf(second, nothing, nothing, 1));
	MUST(doca_graph_node_create_from_user(graph, well, &b));
	CHECK_STATUS(doca_graph_start(graph), DOCA_ERROR_BAD_STATE); /* no context node */
	CHECK_STATUS(doca_graph_node_create_from_user(graph, NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_node_create_from_user(graph, well, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_node_create_from_ctx(graph, NULL, &none), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_node_create_from_graph(graph, second, &none), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_node_create_from_graph(graph, graph, &none), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx, &a));
	MUST(doca_graph_node_create_from_user(graph, well, &c));
	MUST(doca_graph_node_create_from_ctx(second, other.ctx, &foreign));
	CHECK_STATUS(doca_graph_start(second), DOCA_ERROR_BAD_STATE); /* its context does not run */
	MUST(doca_ctx_start(other.ctx));
	CHECK_STATUS(doca_graph_start(second), DOCA_ERROR_BAD_STATE); /* ... and has another progress engine */

	MUST(doca_graph_add_dependency(graph, a, b));
	MUST(doca_graph_add_dependency(graph, b, c));
	CHECK_STATUS(doca_graph_add_dependency(graph, c, a), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_add_dependency(graph, b, b), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_add_dependency(graph, a, foreign), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_add_dependency(graph, NULL, a), DOCA_ERROR_INVALID_VALUE);

	MUST(doca_graph_start(graph));
	CHECK_OK(doca_graph_start(graph));
	CHECK_STATUS(doca_graph_destroy(graph), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_set_conf(graph, nothing, nothing, 2), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_set_user_data(graph, data), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_get_user_data(graph, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_node_create_from_user(graph, well, &none), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_add_dependency(graph, a, c), DOCA_ERROR_BAD_STATE);

	MUST(doca_graph_instance_create(graph, &instance));
	CHECK_STATUS(doca_graph_instance_create(graph, &more), DOCA_ERROR_NO_MEMORY);
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_graph_instance_set_user_data(instance, data));
	data.u64 = 0;
	CHECK_OK(doca_graph_instance_get_user_data(instance, &data));
	CHECK_U64(data.u64, 5);
	CHECK_STATUS2(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE);
	task = rig_task(&rig, src, dst, 1);
	strange = rig_task(&other, src, dst, 1);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(instance, a, doca_dma_task_memcpy_as_task(strange)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(instance, b, doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(instance, foreign, doca_dma_task_memcpy_as_task(task)),
		     DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_ctx_node_data(instance, a, NULL), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_graph_instance_set_user_node_data(instance, a, NULL), DOCA_ERROR_NOT_PERMITTED);
	CHECK_STATUS(doca_graph_instance_set_sub_graph_node_data(instance, a, instance), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_graph_instance_set_ctx_node_data(instance, a, doca_dma_task_memcpy_as_task(task)));
	MUST(doca_graph_instance_set_user_node_data(instance, b, NULL));
	CHECK_STATUS2(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE, DOCA_ERROR_BAD_STATE);
	MUST(doca_graph_instance_set_user_node_data(instance, c, NULL));
	/* The task flies by itself. */
	MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	CHECK_REFUSED(doca_graph_instance_submit(instance));
	rig.free_tasks = rig.drop_bufs = 0;
	rig_drain(&rig);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	CHECK_REFUSED(doca_graph_instance_submit(instance)); /* and is gone */
	CHECK_OK(doca_graph_instance_destroy(instance));
	CHECK_STATUS(doca_graph_instance_destroy(instance), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_STATUS(doca_graph_destroy(graph), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_graph_destroy(second));
	CHECK_STATUS(doca_graph_add_dependency(second, foreign, foreign), DOCA_ERROR_INVALID_VALUE);

	doca_task_free(doca_dma_task_memcpy_as_task(strange));
	CHECK_OK(doca_buf_dec_refcount(src, NULL));
	CHECK_OK(doca_buf_dec_refcount(dst, NULL));
	CHECK_OK(doca_ctx_stop(other.ctx));
	CHECK_OK(doca_dma_destroy(other.dma));
	CHECK_OK(doca_pe_destroy(pe));
	rig_teardown(&rig);
	return check_result();
}
