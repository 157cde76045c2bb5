/*
 * Graphs in graphs, long chains of functions, roots of every kind, many paths that meet, a failure deep
 * inside, and a program that sleeps meanwhile.
 *
 * clauses: core-sync-graph Behaviour (graph); doca_graph_node_create_from_graph
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include <doca_graph.h>

#include "rig.h"

#define CHAIN 1000
#define WIDE 16

static struct rig rig;
static unsigned good, bad, inner_calls, chain_at;
static int fail_inner;

static void completed(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance;
	(void)user;
	CHECK_U64(graph_user.u64, 1); /* never the inner graph's */
	good++;
}

static void failed(struct doca_graph_instance *instance, union doca_data user, union doca_data graph_user)
{
	(void)instance;
	(void)user;
	CHECK_U64(graph_user.u64, 1);
	bad++;
}

static doca_error_t inner_cb(void *cookie)
{
	inner_calls++;
	CHECK_U64(*(int *)cookie, 77);
	return fail_inner ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static doca_error_t chain_cb(void *cookie)
{
	CHECK_U64((uintptr_t)cookie, chain_at);
	chain_at++;
	return DOCA_SUCCESS;
}

/* Progress until `reports` reports; sleeps on the descriptor in between when told to. */
static void until(unsigned reports, int sleeps)
{
	doca_notification_handle_t handle = doca_event_invalid_handle;
	struct pollfd fd;

	MUST(doca_pe_get_notification_handle(rig.pe, &handle));
	while (good + bad < reports) {
		unsigned before = good + bad;
		uint8_t moved = doca_pe_progress(rig.pe);

		CHECK_U64(moved, good + bad - before);
		if (moved || !sleeps)
			continue;
		MUST(doca_pe_request_notification(rig.pe));
		fd.fd = handle;
		fd.events = POLLIN;
		CHECK_U64(poll(&fd, 1, 50000), 1);
		CHECK_OK(doca_pe_clear_notification(rig.pe, 0));
	}
}

static struct doca_graph *make(uint64_t mark, uint32_t instances)
{
	struct doca_graph *graph = NULL;
	union doca_data data;

	data.u64 = mark;
	MUST(doca_graph_create(rig.pe, &graph));
	MUST(doca_graph_set_conf(graph, completed, failed, instances));
	MUST(doca_graph_set_user_data(graph, data));
	return graph;
}

/* outer: function (a root) -> inner graph twice, one after the other; inner: copy -> function. */
static void nested(int sleeps)
{
	struct doca_graph *inner = make(2, 2), *outer = make(1, 1);
	struct doca_graph_node *copy = NULL, *call = NULL, *first = NULL, *sub[2] = {NULL, NULL}, *own = NULL;
	struct doca_graph_instance *subs[2], *whole = NULL;
	struct doca_dma_task_memcpy *tasks[3];
	struct doca_buf *src[3], *dst[3];
	static int cookie = 77;
	unsigned i, round;

	MUST(doca_graph_node_create_from_ctx(inner, rig.ctx, &copy));
	MUST(doca_graph_node_create_from_user(inner, inner_cb, &call));
	MUST(doca_graph_add_dependency(inner, copy, call));
	MUST(doca_graph_start(inner));
	MUST(doca_graph_node_create_from_user(outer, inner_cb, &first));
	MUST(doca_graph_node_create_from_graph(outer, inner, &sub[0]));
	MUST(doca_graph_node_create_from_graph(outer, inner, &sub[1]));
	MUST(doca_graph_node_create_from_ctx(outer, rig.ctx, &own));
	MUST(doca_graph_add_dependency(outer, first, sub[0]));
	MUST(doca_graph_add_dependency(outer, sub[0], sub[1]));
	MUST(doca_graph_start(outer));
	MUST(doca_graph_instance_create(outer, &whole));
	for (i = 0; i < 3; i++) {
		src[i] = rig_src(&rig, i * 64, 64);
		dst[i] = rig_dst(&rig, 1024 + i * 64, 64);
		tasks[i] = rig_task(&rig, src[i], dst[i], 0);
		if (i == 2)
			break;
		MUST(doca_graph_instance_create(inner, &subs[i]));
		MUST(doca_graph_instance_set_ctx_node_data(subs[i], copy, doca_dma_task_memcpy_as_task(tasks[i])));
		MUST(doca_graph_instance_set_user_node_data(subs[i], call, &cookie));
		MUST(doca_graph_instance_set_sub_graph_node_data(whole, sub[i], subs[i]));
	}
	MUST(doca_graph_instance_set_user_node_data(whole, first, &cookie));
	MUST(doca_graph_instance_set_ctx_node_data(whole, own, doca_dma_task_memcpy_as_task(tasks[2])));
	CHECK_STATUS(doca_graph_instance_destroy(subs[0]), DOCA_ERROR_IN_USE);
	for (round = 0; round < 6; round++) {
		unsigned reports = good + bad;

		fail_inner = round % 3 == 2;
		inner_calls = 0;
		for (i = 0; i < 3; i++)
			CHECK_OK(doca_buf_reset_data_len(dst[i]));
		memset(rig.mem + 1024, 0, 192);
		CHECK_OK(doca_graph_instance_submit(whole));
		CHECK_U64(inner_calls, 0);
		if (round == 0) {
			CHECK_STATUS(doca_graph_instance_submit(whole), DOCA_ERROR_IN_USE);
			CHECK_STATUS(doca_graph_instance_destroy(whole), DOCA_ERROR_IN_USE);
		}
		until(reports + 1, sleeps);
		CHECK_U64(inner_calls, fail_inner ? 1 : 3);
		/* What had begun ended before the report. */
		CHECK_BYTES(rig.mem + 1024 + 128, rig.mem + 128, 64);
		if (!fail_inner)
			CHECK_BYTES(rig.mem + 1024, rig.mem, 128);
	}
	CHECK_U64(bad, 2);
	bad = good = 0;
	CHECK_OK(doca_graph_instance_destroy(whole));
	for (i = 0; i < 3; i++) {
		if (i < 2)
			CHECK_OK(doca_graph_instance_destroy(subs[i]));
		doca_task_free(doca_dma_task_memcpy_as_task(tasks[i]));
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
	CHECK_OK(doca_graph_stop(outer));
	CHECK_OK(doca_graph_stop(inner));
	CHECK_STATUS(doca_graph_destroy(inner), DOCA_ERROR_IN_USE);
	CHECK_OK(doca_graph_destroy(outer));
	CHECK_OK(doca_graph_destroy(inner));
}

/* A function before and behind many copies, and a long chain of functions behind them. */
static void wide_and_long(void)
{
	struct doca_graph *graph = make(1, 1);
	struct doca_graph_node *copies[WIDE], *first = NULL, *at = NULL, *next = NULL;
	struct doca_graph_node *chain[CHAIN];
	struct doca_dma_task_memcpy *tasks[WIDE];
	struct doca_buf *src[WIDE], *dst[WIDE];
	struct doca_graph_instance *run = NULL;
	static int cookie = 77;
	unsigned i, calls = 0;

	MUST(doca_graph_node_create_from_user(graph, inner_cb, &first));
	MUST(doca_graph_node_create_from_user(graph, chain_cb, &at));
	chain[0] = at;
	for (i = 0; i < WIDE; i++) {
		MUST(doca_graph_node_create_from_ctx(graph, rig.ctx, &copies[i]));
		MUST(doca_graph_add_dependency(graph, first, copies[i]));
		MUST(doca_graph_add_dependency(graph, copies[i], at));
	}
	for (i = 1; i < CHAIN; i++) {
		MUST(doca_graph_node_create_from_user(graph, chain_cb, &next));
		MUST(doca_graph_add_dependency(graph, at, next));
		chain[i] = at = next;
	}
	CHECK_STATUS(doca_graph_add_dependency(graph, at, first), DOCA_ERROR_NOT_PERMITTED);
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &run));
	fail_inner = 0;
	MUST(doca_graph_instance_set_user_node_data(run, first, &cookie));
	for (i = 0; i < CHAIN; i++)
		MUST(doca_graph_instance_set_user_node_data(run, chain[i], (void *)(uintptr_t)i));
	for (i = 0; i < WIDE; i++) {
		src[i] = rig_src(&rig, i * 32, 32);
		dst[i] = rig_dst(&rig, 2048 + i * 32, 32);
		tasks[i] = rig_task(&rig, src[i], dst[i], 0);
		MUST(doca_graph_instance_set_ctx_node_data(run, copies[i], doca_dma_task_memcpy_as_task(tasks[i])));
	}
	CHECK_OK(doca_graph_instance_submit(run));
	CHECK_U64(chain_at, 0);
	while (good == 0) {
		(void)doca_pe_progress(rig.pe);
		calls++;
	}
	CHECK(calls > CHAIN / 100); /* no call runs everything */
	CHECK_U64(chain_at, CHAIN);
	CHECK_BYTES(rig.mem + 2048, rig.mem, WIDE * 32);
	CHECK_OK(doca_graph_instance_destroy(run));
	for (i = 0; i < WIDE; i++) {
		doca_task_free(doca_dma_task_memcpy_as_task(tasks[i]));
		CHECK_OK(doca_buf_dec_refcount(src[i], NULL));
		CHECK_OK(doca_buf_dec_refcount(dst[i], NULL));
	}
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
}

int main(void)
{
	rig_setup(&rig, 4096, WIDE);
	nested(0);
	nested(1);
	wide_and_long();
	rig_teardown(&rig);
	return check_result();
}
