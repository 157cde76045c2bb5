/* A graph: two copies side by side, a function that looks at both, and a copy of the first; run twice. */
#include "tutorial.h"

#include <doca_dma.h>
#include <doca_graph.h>

/* What one run works on. */
struct run {
	struct rig *rig;
	struct doca_dma_task_memcpy *tasks[3];
	struct doca_buf *sources[2], *copies[2], *last;
};

/* Contexts want callbacks. Those of tasks that a graph runs are not called. */
static void never(struct doca_dma_task_memcpy *task, union doca_data user, union doca_data ctx)
{
	(void)task, (void)user, (void)ctx;
	abort();
}

/* Runs when both copies are there; anything but success, and nothing more of the graph is started. */
static doca_error_t compare(void *cookie)
{
	struct run *run = cookie;
	size_t length = length_of(run->copies[0]);

	printf("copies of %zu and %zu bytes\n", length, length_of(run->copies[1]));
	if (length != length_of(run->copies[1]))
		return DOCA_ERROR_UNEXPECTED;
	return DOCA_SUCCESS;
}

static void well(struct doca_graph_instance *instance, union doca_data run_data, union doca_data graph_data)
{
	struct run *run = run_data.ptr;

	(void)instance, (void)graph_data;
	printf("done: %.*s\n", (int)length_of(run->last), run->rig->memory + 4096);
	run->rig->flying--;
}

static void badly(struct doca_graph_instance *instance, union doca_data run_data, union doca_data graph_data)
{
	struct run *run = run_data.ptr;

	(void)instance, (void)graph_data;
	printf("failed: %zu bytes of the last copy\n", length_of(run->last));
	run->rig->flying--;
}

static struct doca_task *copy(struct run *run, struct doca_dma *dma, int i, struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data none = {0};

	MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &run->tasks[i]));
	return doca_dma_task_memcpy_as_task(run->tasks[i]);
}

static void carry_out_graph(struct run *run, struct doca_graph_instance *instance)
{
	run->rig->flying++;
	MUST(doca_graph_instance_submit(instance));
	while (run->rig->flying > 0)
		doca_pe_progress(run->rig->pe);
}

int main(void)
{
	struct rig rig = make_rig(doca_dma_cap_task_memcpy_is_supported, 8192, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	struct doca_graph_node *first, *second, *look, *third;
	struct run run = {.rig = &rig};
	union doca_data user = {.ptr = &run};
	struct doca_graph_instance *instance;
	struct doca_graph *graph;
	struct doca_dma *dma;

	MUST(doca_dma_create(rig.dev, &dma));
	MUST(doca_dma_task_memcpy_set_conf(dma, never, never, 8));
	start(&rig, doca_dma_as_ctx(dma));

	/* What depends on what. All contexts run by the time the graph starts; then it is fixed. */
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &first));
	MUST(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &second));
	MUST(doca_graph_node_create_from_user(graph, compare, &look));
	MUST(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &third));
	MUST(doca_graph_add_dependency(graph, first, look));
	MUST(doca_graph_add_dependency(graph, second, look));
	MUST(doca_graph_add_dependency(graph, look, third));
	MUST(doca_graph_set_conf(graph, well, badly, 1));
	MUST(doca_graph_start(graph));

	/* What it works on this time: an instance, with a task or a cookie for each node. */
	memcpy(rig.memory, "one and the same", 16);
	run.sources[0] = data(&rig, 0, 16);
	run.sources[1] = data(&rig, 0, 16);
	run.copies[0] = room(&rig, 1024, 64);
	run.copies[1] = room(&rig, 2048, 64);
	run.last = room(&rig, 4096, 64);
	MUST(doca_graph_instance_create(graph, &instance));
	MUST(doca_graph_instance_set_user_data(instance, user));
	MUST(doca_graph_instance_set_ctx_node_data(instance, first,
						   copy(&run, dma, 0, run.sources[0], run.copies[0])));
	MUST(doca_graph_instance_set_ctx_node_data(instance, second,
						   copy(&run, dma, 1, run.sources[1], run.copies[1])));
	MUST(doca_graph_instance_set_user_node_data(instance, look, &run));
	MUST(doca_graph_instance_set_ctx_node_data(instance, third, copy(&run, dma, 2, run.copies[0], run.last)));
	carry_out_graph(&run, instance);

	/* Again: destinations have grown by what was copied, and are emptied first. */
	MUST(doca_buf_reset_data_len(run.copies[0]));
	MUST(doca_buf_reset_data_len(run.copies[1]));
	MUST(doca_buf_reset_data_len(run.last));
	MUST(doca_buf_set_data(run.sources[1], rig.memory, 7));
	carry_out_graph(&run, instance);

	MUST(doca_graph_instance_destroy(instance));
	for (int i = 0; i < 3; i++)
		doca_task_free(doca_dma_task_memcpy_as_task(run.tasks[i]));
	MUST(doca_graph_stop(graph));
	MUST(doca_graph_destroy(graph));
	for (int i = 0; i < 2; i++) {
		MUST(doca_buf_dec_refcount(run.sources[i], NULL));
		MUST(doca_buf_dec_refcount(run.copies[i], NULL));
	}
	MUST(doca_buf_dec_refcount(run.last, NULL));
	stop(&rig, doca_dma_as_ctx(dma));
	MUST(doca_dma_destroy(dma));
	free_rig(&rig);
	return 0;
}
