/*
 * A graph of mixed engines, driven by sleeping: a wait task of a sync event holds the copies back until
 * another process sets the event; the program sleeps in poll() on the progress engine meanwhile. The last
 * node sets a second event, for which the other process waits.
 *
 * clauses: core-sync-graph Graph and Sync event together; core-exec 7
 * covers: @
 */
#define _GNU_SOURCE
#include <poll.h>

#include "x_graph.h"
#include "x_sync.h"

#define LEN 4000

static void other_side(int line)
{
	struct doca_dev *dev = sync_open(SYNC_CARD);
	struct doca_sync_event *go, *done;
	struct sync_blob blob;

	two_recv(line, &blob, sizeof(blob));
	go = sync_import(&blob, dev);
	two_recv(line, &blob, sizeof(blob));
	done = sync_import(&blob, dev);
	MUST(doca_sync_event_start(go));
	MUST(doca_sync_event_start(done));
	two_sleep_ms(150);
	CHECK_U64(sync_value(done), 0);
	CHECK_OK(doca_sync_event_update_set(go, 7));
	CHECK_OK(doca_sync_event_wait_eq_yield(done, 9, UINT64_MAX));
	sync_end(go);
	sync_end(done);
	CHECK_OK(doca_dev_close(dev));
	close(line);
}

/* A context of an event on the graph's engine. */
static struct doca_ctx *event_ctx(struct doca_sync_event *event, struct doca_pe *pe)
{
	static struct sync_rig unused;
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	union doca_data user;

	MUST_BE(ctx != NULL);
	user.ptr = &unused;
	MUST(doca_pe_connect_ctx(pe, ctx));
	MUST(doca_ctx_set_user_data(ctx, user));
	MUST(doca_sync_event_task_wait_eq_set_conf(event, sync_wait_eq_good, sync_wait_eq_bad, 1));
	MUST(doca_sync_event_task_notify_set_set_conf(event, sync_notify_set_good, sync_notify_set_bad, 1));
	MUST(doca_ctx_start(ctx));
	return ctx;
}

static void sleep_until_done(struct graph_rig *rig)
{
	struct pollfd waiting = {.events = POLLIN};

	MUST(doca_pe_get_notification_handle(rig->pe, &waiting.fd));
	while (graph_good + graph_bad == 0) {
		if (graph_progress(rig) != 0)
			continue;
		MUST(doca_pe_request_notification(rig->pe));
		MUST_BE(poll(&waiting, 1, -1) == 1);
		MUST(doca_pe_clear_notification(rig->pe, 0));
	}
}

static void main_side(int line)
{
	struct doca_sync_event_task_notify_set *set = NULL;
	struct doca_sync_event_task_wait_eq *wait = NULL;
	struct doca_graph_instance *instance = NULL;
	struct doca_dma_task_memcpy *copies[2];
	struct doca_sync_event *go, *done;
	struct doca_ctx *go_ctx, *done_ctx;
	struct doca_graph_node *nodes[4];
	struct doca_graph *graph;
	union doca_data none;
	struct sync_blob blob;
	struct graph_rig rig;
	struct doca_dev *host;
	size_t i;

	none.u64 = 0;
	graph_setup(&rig, 2);
	two_fill(rig.mem, LEN, 1);
	host = sync_open(SYNC_HOST);
	go = sync_remote_pci(host);
	done = sync_remote_pci(host);
	go_ctx = event_ctx(go, rig.pe);
	done_ctx = event_ctx(done, rig.pe);
	graph = graph_make(&rig, 1);
	MUST(doca_graph_node_create_from_ctx(graph, go_ctx, &nodes[0]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[0], &nodes[1]));
	MUST(doca_graph_node_create_from_ctx(graph, rig.ctx[1], &nodes[2]));
	MUST(doca_graph_node_create_from_ctx(graph, done_ctx, &nodes[3]));
	for (i = 0; i < 3; i++)
		MUST(doca_graph_add_dependency(graph, nodes[i], nodes[i + 1]));
	MUST(doca_graph_start(graph));
	MUST(doca_graph_instance_create(graph, &instance));
	MUST(doca_sync_event_task_wait_eq_alloc_init(go, 7, UINT64_MAX, none, &wait));
	MUST(doca_sync_event_task_notify_set_alloc_init(done, 9, none, &set));
	copies[0] = graph_task(&rig, 0, 0, LEN, LEN);
	copies[1] = graph_task(&rig, 1, LEN, 2 * LEN, LEN);
	MUST(doca_graph_instance_set_ctx_node_data(instance, nodes[0], doca_sync_event_task_wait_eq_as_doca_task(wait)));
	graph_bind(instance, nodes[1], copies[0]);
	graph_bind(instance, nodes[2], copies[1]);
	MUST(doca_graph_instance_set_ctx_node_data(instance, nodes[3],
						   doca_sync_event_task_notify_set_as_doca_task(set)));
	MUST(doca_graph_instance_submit(instance));
	for (i = 0; i < 100; i++)
		graph_progress(&rig);
	CHECK_U64(rig.mem[LEN], 0); /* nothing has begun */
	sync_export(go, host, &blob);
	two_send(line, &blob, sizeof(blob));
	sync_export(done, host, &blob);
	two_send(line, &blob, sizeof(blob));
	sleep_until_done(&rig);
	CHECK_U64(graph_good, 1);
	CHECK(two_is(rig.mem + 2 * LEN, LEN, 1));
	two_recv_or_end(line, &i, 1); /* until the other side has gone */
	CHECK_OK(doca_graph_instance_destroy(instance));
	graph_task_free(copies[0]);
	graph_task_free(copies[1]);
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(wait));
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(set));
	CHECK_OK(doca_graph_stop(graph));
	CHECK_OK(doca_graph_destroy(graph));
	CHECK_OK(doca_ctx_stop(go_ctx));
	CHECK_OK(doca_ctx_stop(done_ctx));
	CHECK_OK(doca_sync_event_destroy(go));
	CHECK_OK(doca_sync_event_destroy(done));
	CHECK_OK(doca_dev_close(host));
	graph_teardown(&rig);
}

int main(void)
{
	int line;
	pid_t pid = two_fork(&line);

	if (pid == 0) {
		other_side(line);
		exit(check_result());
	}
	main_side(line);
	two_reap(pid);
	close(line);
	return check_result();
}
