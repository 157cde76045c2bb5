/*
 * Graphs that end where they are told of: the completion callback destroys the instance, frees its task and
 * buffers, stops and destroys the graph. Nothing of it is left after that call of progress: the context, the
 * progress engine and the device go without another one. The callback comes after a task, after a few
 * functions, or after more functions than one call carries out; the graph is stopped and started again in there,
 * too. Another graph is ended from within a function of this one. What the library needs for itself is not among
 * the tasks in flight.
 *
 * clauses: core-sync-graph Graph; Behaviour (its callback may destroy it, clean-up order); core-exec 3, 7
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_graph.h>

#include "rig.h"

#define CHAIN 200

static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_dma *dma;
static struct doca_ctx *ctx;
static struct doca_mmap *map;
static struct doca_buf_inventory *inv;
static uint8_t memory[4096];
static struct doca_graph *graph, *other;
static struct doca_graph_node *copy, *step[CHAIN];
static struct doca_dma_task_memcpy *task;
static struct doca_buf *from, *to;
static unsigned length, calls, ended, failures, again, side_by_side;

static void stray_cb(struct doca_dma_task_memcpy *stray, union doca_data user, union doca_data ctx_user)
{
	(void)stray, (void)user, (void)ctx_user;
	check_fail(__FILE__, __LINE__, "the callback of a task inside a graph was called");
}

static size_t in_flight(void)
{
	size_t count = SIZE_MAX;

	CHECK_OK(doca_pe_get_num_inflight_tasks(pe, &count));
	return count;
}

static doca_error_t call(void *cookie)
{
	CHECK_PTR(cookie, &calls);
	calls++;
	/* Nothing but the copy, when that is not before it. */
	CHECK(in_flight() <= side_by_side);
	if (other != NULL) {
		CHECK_OK(doca_graph_stop(other));
		CHECK_OK(doca_graph_destroy(other));
		other = NULL;
	}
	return DOCA_SUCCESS;
}

static struct doca_graph_instance *instance_of_task(void)
{
	struct doca_graph_instance *instance = NULL;
	unsigned i;

	MUST(doca_graph_instance_create(graph, &instance));
	MUST(doca_graph_instance_set_ctx_node_data(instance, copy, doca_dma_task_memcpy_as_task(task)));
	for (i = 0; i < length; i++)
		MUST(doca_graph_instance_set_user_node_data(instance, step[i], &calls));
	return instance;
}

static void completed_cb(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)user, (void)graph_user;
	ended++;
	CHECK_U64(in_flight(), 0);
	CHECK_BYTES(memory + 1000, memory, 1000);
	CHECK_OK(doca_graph_instance_destroy(instance));
	CHECK_STATUS(doca_graph_instance_destroy(instance), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_stop(graph));
	if (again > 0) {
		again--;
		CHECK_OK(doca_buf_reset_data_len(to));
		MUST(doca_graph_start(graph));
		MUST(doca_graph_instance_submit(instance_of_task()));
		return;
	}
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	CHECK_OK(doca_buf_dec_refcount(from, NULL));
	CHECK_OK(doca_buf_dec_refcount(to, NULL));
}

static void failed_cb(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance, (void)user, (void)graph_user;
	failures++;
}

/* `functions` after the copy, or beside it. */
static struct doca_graph *make(unsigned functions, unsigned beside)
{
	struct doca_graph *made = NULL;
	unsigned i;

	MUST(doca_graph_create(pe, &made));
	MUST(doca_graph_node_create_from_ctx(made, ctx, &copy));
	for (i = 0; i < functions; i++) {
		MUST(doca_graph_node_create_from_user(made, call, &step[i]));
		if (!beside)
			MUST(doca_graph_add_dependency(made, i == 0 ? copy : step[i - 1], step[i]));
	}
	MUST(doca_graph_set_conf(made, completed_cb, failed_cb, 1));
	MUST(doca_graph_start(made));
	return made;
}

static void run(unsigned functions, unsigned beside, unsigned repeats)
{
	const union doca_data nothing = {.u64 = 0};

	dev = rig_open_dev(NULL);
	MUST(doca_pe_create(&pe));
	MUST(doca_dma_create(dev, &dma));
	ctx = doca_dma_as_ctx(dma);
	MUST(doca_dma_task_memcpy_set_conf(dma, stray_cb, stray_cb, 1));
	MUST(doca_pe_connect_ctx(pe, ctx));
	MUST(doca_ctx_start(ctx));
	map = rig_map(dev, memory, sizeof(memory), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	MUST(doca_buf_inventory_create(2, &inv));
	MUST(doca_buf_inventory_start(inv));
	MUST(doca_buf_inventory_buf_get_by_data(inv, map, memory, 1000, &from));
	MUST(doca_buf_inventory_buf_get_by_addr(inv, map, memory + 1000, 1000, &to));
	MUST(doca_dma_task_memcpy_alloc_init(dma, from, to, nothing, &task));
	memset(memory, (int)functions + 1, 1000);

	length = functions;
	side_by_side = beside;
	calls = ended = 0;
	again = repeats;
	other = functions > 0 && !beside ? make(0, 0) : NULL;
	graph = make(functions, beside);
	MUST(doca_graph_instance_submit(instance_of_task()));
	/* The copy, whatever else is to be done. */
	CHECK_U64(in_flight(), 1);
	while (ended <= repeats)
		doca_pe_progress(pe);
	CHECK_U64(ended, repeats + 1);
	CHECK_U64(calls, (repeats + 1) * functions);
	CHECK_U64(failures, 0);

	/* No more progress. */
	CHECK_OK(doca_ctx_stop(ctx));
	CHECK_OK(doca_dma_destroy(dma));
	CHECK_OK(doca_pe_destroy(pe));
	CHECK_OK(doca_buf_inventory_destroy(inv));
	CHECK_OK(doca_mmap_destroy(map));
	CHECK_OK(doca_dev_close(dev));
}

int main(void)
{
	unsigned repeats;

	for (repeats = 0; repeats < 4; repeats++) {
		run(0, 0, repeats);
		run(1, 0, repeats);
		run(CHAIN, 0, repeats);
	}
	run(1, 1, 0);
	run(CHAIN, 1, 3);
	return check_result();
}
