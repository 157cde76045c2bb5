/*
 * Graphs that run: two copies with a check between them, alone, ten at a time on two contexts, again
 * and again, ended by their own callbacks, failing in a function and in a task.
 *
 * clauses: core-sync-graph Behaviour (graph)
 * covers: @
 */
#define _GNU_SOURCE
#include <doca_graph.h>

#include "rig.h"

#define COUNT 10
#define BYTES 4096

struct run {
	struct doca_graph_instance *instance;
	struct doca_dma_task_memcpy *first, *second;
	struct doca_buf *src, *middle, *end;
	uint8_t *mem; /* source, middle, end */
	int fails;    /* the function answers a failure */
	int calls;
	int again; /* submissions still to come, from the callback */
	int leaves; /* the callback destroys the instance */
};

static struct rig rig, other;
static struct run runs[COUNT];
static unsigned good, bad, inside_submit;
static struct doca_graph *graph;
static struct doca_graph_node *copy_one, *check, *copy_two;
static const uint64_t graph_mark = 0x6772617068;

/* Between the copies: the first one's result is in place, nothing of the second has begun. */
static doca_error_t check_cb(void *cookie)
{
	struct run *run = (struct run *)cookie;
	size_t len = 0;

	run->calls++;
	CHECK_U64(inside_submit, 0);
	CHECK_OK(doca_buf_get_data_len(run->middle, &len));
	CHECK_U64(len, BYTES);
	CHECK_BYTES(run->mem + BYTES, run->mem, BYTES);
	CHECK_STATUS(doca_task_get_status(doca_dma_task_memcpy_as_task(run->first)), DOCA_SUCCESS);
	CHECK_OK(doca_buf_get_data_len(run->end, &len));
	CHECK_U64(len, 0);
	/* Progress is not for callbacks. */
	CHECK_U64(doca_pe_progress(rig.pe), 0);
	return run->fails ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
}

static void reset(struct run *run)
{
	CHECK_OK(doca_buf_reset_data_len(run->middle));
	CHECK_OK(doca_buf_reset_data_len(run->end));
	memset(run->mem + BYTES, 0, 2 * BYTES);
}

static void submit(struct run *run)
{
	inside_submit++;
	CHECK_OK(doca_graph_instance_submit(run->instance));
	inside_submit--;
	CHECK_STATUS(doca_graph_instance_submit(run->instance), DOCA_ERROR_IN_USE);
}

static void completed(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	struct run *run = (struct run *)user.ptr;
	size_t len = 0;

	good++;
	CHECK_U64(inside_submit, 0);
	CHECK_PTR(instance, run->instance);
	CHECK_U64(graph_user.u64, graph_mark);
	CHECK_OK(doca_buf_get_data_len(run->end, &len));
	CHECK_U64(len, BYTES);
	CHECK_BYTES(run->mem + 2 * BYTES, run->mem, BYTES);
	if (run->again > 0) {
		run->again--;
		reset(run);
		submit(run);
	} else if (run->leaves) {
		CHECK_OK(doca_graph_instance_destroy(instance));
		run->instance = NULL;
	}
}

static void failed(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	struct run *run = (struct run *)user.ptr;

	bad++;
	CHECK_PTR(instance, run->instance);
	CHECK_U64(graph_user.u64, graph_mark);
}

/* One report per call that answers non-zero; none otherwise. Callbacks of the tasks are never called. */
static uint8_t progress(void)
{
	unsigned before = good + bad, changes = rig.changes + other.changes;
	uint8_t moved = doca_pe_progress(rig.pe);
	unsigned reports = good + bad - before;

	if (moved == 0) {
		CHECK_U64(reports, 0);
		CHECK_U64(rig.changes + other.changes, changes);
	} else {
		CHECK(reports == 1 || rig.changes + other.changes > changes);
	}
	CHECK_U64(rig.good + rig.bad + other.good + other.bad, 0);
	return moved;
}

static void until(unsigned reports)
{
	while (good + bad < reports)
		if (progress() == 0)
			sched_yield();
	CHECK_U64(good + bad, reports);
}

static void make_graph(void)
{
	union doca_data user;

	user.u64 = graph_mark;
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx, &copy_one));
	MUST(doca_graph_node_create_from_user(graph, check_cb, &check));
	MUST(doca_graph_node_create_from_ctx(graph, other.ctx, &copy_two));
	MUST(doca_graph_add_dependency(graph, copy_one, check));
	MUST(doca_graph_add_dependency(graph, check, copy_two));
	MUST(doca_graph_set_conf(graph, completed, failed, COUNT));
	MUST(doca_graph_set_user_data(graph, user));
	user.u64 = 0;
	CHECK_OK(doca_graph_get_user_data(graph, &user));
	CHECK_U64(user.u64, graph_mark);
	MUST(doca_graph_start(graph));
}

static void make_run(struct run *run, unsigned i)
{
	union doca_data user;

	memset(run, 0, sizeof(*run));
	run->mem = rig.mem + (size_t)i * 3 * BYTES;
	run->src = rig_src(&rig, (size_t)i * 3 * BYTES, BYTES);
	run->middle = rig_dst(&rig, (size_t)(i * 3 + 1) * BYTES, BYTES);
	run->end = rig_dst(&rig, (size_t)(i * 3 + 2) * BYTES, BYTES);
	memset(run->mem + BYTES, 0, 2 * BYTES);
	MUST(doca_graph_instance_create(graph, &run->instance));
	user.u64 = 0;
	user.ptr = run;
	MUST(doca_graph_instance_set_user_data(run->instance, user));
	run->first = rig_task(&rig, run->src, run->middle, 1);
	run->second = rig_task(&other, run->middle, run->end, 2);
	MUST(doca_graph_instance_set_ctx_node_data(run->instance, copy_one, doca_dma_task_memcpy_as_task(run->first)));
	MUST(doca_graph_instance_set_user_node_data(run->instance, check, run));
	MUST(doca_graph_instance_set_ctx_node_data(run->instance, copy_two, doca_dma_task_memcpy_as_task(run->second)));
}

static void end_run(struct run *run)
{
	if (run->instance != NULL)
		CHECK_OK(doca_graph_instance_destroy(run->instance));
	doca_task_free(doca_dma_task_memcpy_as_task(run->first));
	doca_task_free(doca_dma_task_memcpy_as_task(run->second));
	CHECK_OK(doca_buf_dec_refcount(run->src, NULL));
	CHECK_OK(doca_buf_dec_refcount(run->middle, NULL));
	CHECK_OK(doca_buf_dec_refcount(run->end, NULL));
}

int main(void)
{
	unsigned i, round;

	rig_setup(&rig, (size_t)COUNT * 3 * BYTES, COUNT);
	memset(&other, 0, sizeof(other));
	rig_make_ctx(&other, rig.dev, rig.pe, COUNT);
	MUST(doca_ctx_start(other.ctx));
	make_graph();
	for (i = 0; i < COUNT; i++)
		make_run(&runs[i], i);
	{
		struct doca_graph_instance *more = NULL;

		CHECK_STATUS(doca_graph_instance_create(graph, &more), DOCA_ERROR_NO_MEMORY);
	}

	/* Alone. */
	submit(&runs[0]);
	/* A task that a graph runs is not the program's. */
	CHECK_REFUSED(doca_task_submit(doca_dma_task_memcpy_as_task(runs[0].first)));
	doca_task_free(doca_dma_task_memcpy_as_task(runs[0].first));
	CHECK_STATUS(doca_graph_instance_destroy(runs[0].instance), DOCA_ERROR_IN_USE);
	CHECK_STATUS(doca_graph_instance_set_user_node_data(runs[0].instance, check, &runs[0]), DOCA_ERROR_BAD_STATE);
	CHECK_STATUS(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
	until(1);
	CHECK_U64(runs[0].calls, 1);
	for (i = 0; i < 100; i++)
		CHECK_U64(progress(), 0);

	/* All at once, several times, submitted again from the callback as well. */
	for (round = 0; round < 3; round++) {
		unsigned before = good;

		for (i = 0; i < COUNT; i++) {
			reset(&runs[i]);
			runs[i].again = 20;
			submit(&runs[i]);
		}
		until(before + COUNT * 21);
	}
	CHECK_U64(bad, 0);

	/* A function fails: nothing behind it runs, one callback. */
	reset(&runs[3]);
	runs[3].fails = 1;
	submit(&runs[3]);
	until(good + bad + 1);
	CHECK_U64(bad, 1);
	{
		size_t len = 1;

		CHECK_OK(doca_buf_get_data_len(runs[3].end, &len));
		CHECK_U64(len, 0);
	}
	runs[3].fails = 0;
	reset(&runs[3]);
	submit(&runs[3]);
	until(good + bad + 1);
	CHECK_U64(bad, 1);

	/* The callback destroys the instance. */
	reset(&runs[4]);
	runs[4].leaves = 1;
	submit(&runs[4]);
	until(good + bad + 1);
	CHECK(runs[4].instance == NULL);

	/* A task fails: the last, since its context stops. The middle has no room left. */
	CHECK_OK(doca_buf_set_data(runs[5].middle, runs[5].mem + BYTES, BYTES));
	runs[5].calls = 0;
	submit(&runs[5]);
	until(good + bad + 1);
	CHECK_U64(bad, 2);
	CHECK_U64(runs[5].calls, 0);
	CHECK_REFUSED(doca_task_get_status(doca_dma_task_memcpy_as_task(runs[5].first)));
	CHECK_U64(rig_state(&rig), DOCA_CTX_STATE_STOPPING);
	/* A root that is refused is told by the submit itself. */
	reset(&runs[6]);
	CHECK_STATUS(doca_graph_instance_submit(runs[6].instance), DOCA_ERROR_BAD_STATE);

	for (i = 0; i < COUNT; i++)
		end_run(&runs[i]);
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_STATUS2(doca_ctx_stop(other.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	rig_until_idle(&other);
	CHECK_OK(doca_dma_destroy(other.dma));
	rig.drop_bufs = 0;
	rig_teardown(&rig);
	return check_result();
}
