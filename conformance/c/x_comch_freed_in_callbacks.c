/*
 * Sends and their tasks in unusual hands: a task kept and submitted again in its own callback a thousand
 * times, a client destroyed in its own IDLE callback, a client stopped in the callback that says it runs,
 * a server stopped in its connect callback.
 *
 * clauses: core-exec 2, 5; comch Server life (stop inside callbacks)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define TIMES 1000

static struct comch_end server, client;
static unsigned again;
static int destroyed;

static void resubmitted(struct doca_comch_task_send *task, union doca_data task_user, union doca_data ctx_user)
{
	(void)ctx_user;
	CHECK_U64(task_user.u64, 5);
	comch_called();
	if (++again < TIMES) {
		CHECK_OK(doca_task_submit(doca_comch_task_send_as_task(task)));
		return;
	}
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void resubmits(struct doca_pe *pe)
{
	struct doca_comch_task_send *task = NULL;
	union doca_data user = {.u64 = 5};
	const char text[] = "the same bytes every time";

	comch_make_client(&client, pe, "hands", 1);
	MUST(doca_comch_client_task_send_set_conf(client.client, resubmitted, comch_failed_cb, 1));
	comch_run(&client);
	MUST(doca_comch_client_task_send_alloc_init(client.client, client.peer, text, sizeof(text), &task));
	doca_task_set_user_data(doca_comch_task_send_as_task(task), user);
	MUST(doca_task_submit(doca_comch_task_send_as_task(task)));
	COMCH_UNTIL(pe, again == TIMES && server.messages == TIMES);
	CHECK_BYTES(server.last, text, sizeof(text));
	comch_stop(&client);
	comch_destroy(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
}

static void destroy_when_idle(struct comch_end *end, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)prev;
	if (next != DOCA_CTX_STATE_IDLE)
		return;
	CHECK_OK(doca_comch_client_destroy(end->client));
	destroyed = 1;
}

static void stop_when_running(struct comch_end *end, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	if (next == DOCA_CTX_STATE_RUNNING)
		CHECK_STATUS(doca_ctx_stop(end->ctx), DOCA_ERROR_IN_PROGRESS);
	destroy_when_idle(end, prev, next);
}

static void client_that_ends_itself(struct doca_pe *pe, int at_once)
{
	unsigned before = server.disconnects;

	memset(&client, 0, sizeof(client));
	destroyed = 0;
	client.on_state = at_once ? stop_when_running : destroy_when_idle;
	comch_make_client(&client, pe, "hands", 1);
	CHECK_STATUS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	if (!at_once) {
		COMCH_UNTIL(pe, client.changes >= 2);
		CHECK_U64(client.to[1], DOCA_CTX_STATE_RUNNING);
		CHECK_STATUS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	}
	COMCH_UNTIL(pe, destroyed);
	COMCH_UNTIL(pe, server.disconnects == before + 1);
	CHECK_OK(doca_dev_close(client.dev));
}

static void stop_on_connect(struct comch_end *end, struct doca_comch_connection *peer)
{
	(void)peer;
	CHECK_STATUS(doca_ctx_stop(end->ctx), DOCA_ERROR_IN_PROGRESS);
}

int main(void)
{
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "hands", 4);
	comch_run(&server);
	resubmits(pe);
	client_that_ends_itself(pe, 0);
	client_that_ends_itself(pe, 1);
	/* The guest arrives and the house closes. */
	server.on_connect = stop_on_connect;
	memset(&client, 0, sizeof(client));
	comch_make_client(&client, pe, "hands", 1);
	CHECK_STATUS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&server) == DOCA_CTX_STATE_IDLE && comch_state(&client) == DOCA_CTX_STATE_IDLE);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
