/*
 * A node that fails: a function that says so, a copy that goes wrong. No further node is started, what is
 * under way ends first, then one error callback; the instance may run again once its cause is gone.
 *
 * clauses: core-sync-graph Behaviour (any node fails)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_graph.h"

#define LEN 200000

static struct graph_rig rig;
static doca_error_t answer;
static unsigned asked, after;
static struct doca_dma_task_memcpy *long_copy;

static doca_error_t gate(void *cookie)
{
	(void)cookie;
	graph_steps++;
	asked++;
	return answer;
}

static doca_error_t behind(void *cookie)
{
	(void)cookie;
	graph_steps++;
	after++;
	return DOCA_SUCCESS;
}

static void ended(struct doca_graph_instance *instance, union doca_data user, int good)
{
	size_t len = 0;

	(void)instance, (void)user, (void)good;
	/* Nothing is under way any more: the long copy is through. */
	CHECK_OK(doca_buf_get_data_len(doca_dma_task_memcpy_get_dst(long_copy), &len));
	CHECK_U64(len, LEN);
}

/* gate and a long copy side by side, something behind each. */
static void failing_function(void)
{
	struct doca_graph *graph = graph_make(&rig, 1);
	struct doca_graph_node *nodes[4];
	struct doca_graph_instance *instance = NULL;

	graph_on_done = ended;
	MUST(doca_graph_node_create_from_user(graph, gate, &nodes[0]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[0], &nodes[1]));
	MUST(doca_graph_node_create_from_user(graph, behind, &nodes[2]));
	MUST(doca_graph_node_create_from_user(graph, behind, &nodes[3]));
	MUST(doca_graph_add_dependency(graph, nodes[0], nodes[2]));
	MUST(doca_graph_add_dependency(graph, nodes[1], nodes[3]));
	MUST(doca_graph_add_dependency(graph, nodes[0], nodes[3]));
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &instance));
	long_copy = graph_task(&rig, 0, 0, LEN, LEN);
	graph_bind(instance, nodes[1], long_copy);
	MUST(doca_graph_instance_set_user_node_data(instance, nodes[0], &rig));
	MUST(doca_graph_instance_set_user_node_data(instance, nodes[2], &rig));
	MUST(doca_graph_instance_set_user_node_data(instance, nodes[3], &rig));
	answer = DOCA_ERROR_UNKNOWN;
	CHECK(!graph_run(&rig, instance));
	CHECK_U64(asked, 1);
	CHECK_U64(after, 0);
	CHECK_U64(graph_bad, 1);
	for (int i = 0; i < 100; i++)
		graph_progress(&rig);
	CHECK_U64(graph_bad, 1);
	CHECK_U64(after, 0);
	graph_task_reset(long_copy);
	answer = DOCA_SUCCESS;
	CHECK(graph_run(&rig, instance));
	CHECK_U64(asked, 2);
	CHECK_U64(after, 2);
	graph_on_done = NULL;
	CHECK_OK(doca_graph_instance_destroy(instance));
	graph_task_free(long_copy);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
}

static void failing_copy(void)
{
	struct doca_graph *graph = graph_make(&rig, 2);
	struct doca_graph_node *copy, *user_node;
	struct doca_graph_instance *sick = NULL, *sound = NULL;
	struct doca_dma_task_memcpy *empty, *fine;

	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[1], &copy));
	MUST(doca_graph_node_create_from_user(graph, behind, &user_node));
	MUST(doca_graph_add_dependency(graph, copy, user_node));
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &sick));
	MUST(doca_graph_instance_create(graph, &sound));
	empty = graph_task(&rig, 1, 0, 100, 0);
	fine = graph_task(&rig, 1, 0, 100, 50);
	MUST(doca_graph_instance_set_user_node_data(sick, user_node, &rig));
	MUST(doca_graph_instance_set_user_node_data(sound, user_node, &rig));
	graph_bind(sick, copy, empty);
	graph_bind(sound, copy, fine);
	after = 0;
	graph_good = graph_bad = 0;
	CHECK(graph_run(&rig, sound));
	CHECK_U64(after, 1);
	CHECK(!graph_run(&rig, sick));
	CHECK_U64(after, 1);
	CHECK_U64(graph_bad, 1);
	CHECK_STATUS(doca_task_get_status(doca_dma_task_memcpy_as_task(empty)), DOCA_ERROR_IO_FAILED);
	/* A failed copy takes its context down, as always; that is told by submit, or by the error callback. */
	graph_task_reset(fine);
	if (graph_ctx_state(rig.ctx[1]) != DOCA_CTX_STATE_RUNNING) {
		doca_error_t status = doca_graph_instance_submit(sound);

		if (status == DOCA_SUCCESS) {
			while (graph_bad == 1)
				graph_progress(&rig);
			CHECK_U64(graph_bad, 2);
		}
		CHECK_U64(after, 1);
	}
	CHECK_OK(doca_graph_instance_destroy(sick));
	CHECK_OK(doca_graph_instance_destroy(sound));
	graph_task_free(empty);
	graph_task_free(fine);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
}

int main(void)
{
	graph_setup(&rig, 4);
	failing_function();
	failing_copy();
	graph_teardown(&rig);
	return check_result();
}
