/*
 * The well-known graph: two copies on two contexts, both roots, and a function of the program's that runs
 * after both and looks at the results; ten instances submitted at once, their order of completion free.
 * Task callbacks are not called; results are in place before the function runs.
 *
 * clauses: core-sync-graph Graph, Behaviour
 * covers: @
 */
#define _GNU_SOURCE
#include "x_graph.h"

#define INSTANCES 10
#define LEN 5000

struct run {
	struct doca_graph_instance *instance;
	struct doca_dma_task_memcpy *tasks[2];
	unsigned checked, done;
};

static struct graph_rig rig;

static doca_error_t look(void *cookie)
{
	struct run *run = cookie;
	int i;

	graph_steps++;
	CHECK(graph_in_progress);
	for (i = 0; i < 2; i++) {
		struct doca_buf *dst = doca_dma_task_memcpy_get_dst(run->tasks[i]);
		const struct doca_buf *src = doca_dma_task_memcpy_get_src(run->tasks[i]);
		void *got = NULL, *want = NULL;
		size_t len = 0;

		CHECK_STATUS(doca_task_get_status(doca_dma_task_memcpy_as_task(run->tasks[i])), DOCA_SUCCESS);
		CHECK_OK(doca_buf_get_data(dst, &got));
		CHECK_OK(doca_buf_get_data_len(dst, &len));
		CHECK_U64(len, LEN);
		CHECK_OK(doca_buf_get_data(src, &want));
		CHECK_BYTES(got, want, LEN);
	}
	CHECK_U64(run->done, 0);
	run->checked++;
	return DOCA_SUCCESS;
}

static void done(struct doca_graph_instance *instance, union doca_data user, int good)
{
	struct run *run = user.ptr;

	CHECK(good);
	CHECK_PTR(instance, run->instance);
	CHECK_U64(run->checked, 1);
	run->done++;
}

int main(void)
{
	struct doca_graph_node *copies[2] = {NULL, NULL}, *user_node = NULL;
	struct run runs[INSTANCES] = {0};
	struct doca_graph *graph = NULL;
	union doca_data user, got;
	size_t i;

	graph_setup(&rig, INSTANCES);
	graph_on_done = done;
	for (i = 0; i < GRAPH_BYTES / 2; i++)
		rig.mem[i] = (uint8_t)(i * 7 + i / 251);
	/* Configured after the nodes. */
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[0], &copies[0]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[1], &copies[1]));
	MUST(doca_graph_node_create_from_user(graph, look, &user_node));
	MUST(doca_graph_add_dependency(graph, copies[0], user_node));
	MUST(doca_graph_add_dependency(graph, copies[1], user_node));
	MUST(doca_graph_set_conf(graph, graph_good_cb, graph_bad_cb, INSTANCES));
	user.u64 = 0x6172;
	MUST(doca_graph_set_user_data(graph, user));
	CHECK_OK(doca_graph_get_user_data(graph, &got));
	CHECK_U64(got.u64, 0x6172);
	MUST(doca_graph_start(graph));
	for (i = 0; i < INSTANCES; i++) {
		MUST(doca_graph_instance_create(graph, &runs[i].instance));
		runs[i].tasks[0] = graph_task(&rig, 0, i * LEN, GRAPH_BYTES / 2 + 2 * i * LEN, LEN);
		runs[i].tasks[1] = graph_task(&rig, 1, i * LEN + 77, GRAPH_BYTES / 2 + (2 * i + 1) * LEN, LEN);
		graph_bind(runs[i].instance, copies[0], runs[i].tasks[0]);
		graph_bind(runs[i].instance, copies[1], runs[i].tasks[1]);
		MUST(doca_graph_instance_set_user_node_data(runs[i].instance, user_node, &runs[i]));
		user.ptr = &runs[i];
		MUST(doca_graph_instance_set_user_data(runs[i].instance, user));
		CHECK_OK(doca_graph_instance_get_user_data(runs[i].instance, &got));
		CHECK_PTR(got.ptr, &runs[i]);
	}
	for (i = 0; i < INSTANCES; i++)
		MUST(doca_graph_instance_submit(runs[i].instance));
	CHECK_U64(graph_good, 0);
	while (graph_good < INSTANCES)
		graph_progress(&rig);
	for (i = 0; i < 50; i++)
		graph_progress(&rig);
	CHECK_U64(graph_good, INSTANCES);
	CHECK_U64(graph_bad, 0);
	for (i = 0; i < INSTANCES; i++) {
		CHECK_U64(runs[i].done, 1);
		CHECK_OK(doca_graph_instance_destroy(runs[i].instance));
		graph_task_free(runs[i].tasks[0]);
		graph_task_free(runs[i].tasks[1]);
	}
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	graph_teardown(&rig);
	return check_result();
}
