/*
 * Connections that are no more: sends in flight when the server drops the peer end, each once; tasks that
 * were allocated for it before are refused or fail at submit; the old handle answers INVALID_VALUE, also
 * while another connection is there; a task that is never freed keeps its context from idle until it is.
 *
 * clauses: comch doca_comch_server_disconnect, Connection; core-exec 3
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

int main(void)
{
	struct comch_end server = {0}, client = {0}, other = {0};
	struct doca_comch_task_send *early = NULL, *task = NULL;
	struct doca_comch_connection *dead;
	struct doca_pe *pe = NULL, *far = NULL;
	union doca_data user = {0};
	uint64_t value = 0;
	unsigned i, sent = 0;

	MUST(doca_pe_create(&pe));
	MUST(doca_pe_create(&far));
	comch_make_server(&server, pe, "dead handles", 64);
	comch_make_client(&client, far, "dead handles", 4);
	MUST(doca_comch_client_set_recv_queue_size(client.client, 4));
	comch_make_client(&other, pe, "dead handles", 4);
	comch_run(&server);
	MUST_BE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
	while (comch_state(&client) != DOCA_CTX_STATE_RUNNING || server.connects == 0) {
		comch_progress(pe);
		comch_progress(far);
	}
	dead = server.peer;
	comch_run(&other);
	COMCH_UNTIL(pe, server.connects == 2);
	/* Nobody reads at the other end. */
	for (i = 0; i < 50; i++, sent++)
		CHECK_OK(comch_try_send(&server, dead, "unread", 6));
	MUST(doca_comch_server_task_send_alloc_init(server.server, dead, "early", 5, &early));
	CHECK_OK(doca_comch_server_disconnect(server.server, dead));
	CHECK_STATUS(doca_comch_server_disconnect(server.server, dead), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_server_task_send_alloc_init(server.server, dead, "x", 1, &task),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_set_user_data(dead, user), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_update_info(dead), DOCA_ERROR_INVALID_VALUE);
	CHECK_STATUS(doca_comch_connection_get_counter(dead, DOCA_COMCH_COUNTER_SENT_BYTES, &value),
		     DOCA_ERROR_INVALID_VALUE);
	CHECK_PTR(doca_comch_server_get_server_ctx(dead), NULL);
	CHECK_PTR(doca_comch_client_get_client_ctx(dead), NULL);
	/* The one from before. */
	if (doca_task_submit(doca_comch_task_send_as_task(early)) == DOCA_SUCCESS)
		sent++; /* its error callback frees it */
	else
		doca_task_free(doca_comch_task_send_as_task(early));
	COMCH_UNTIL(pe, server.sent + server.failed == sent);
	while (comch_state(&client) != DOCA_CTX_STATE_IDLE)
		comch_progress(far);
	comch_idle(pe, 20);
	CHECK_U64(server.sent + server.failed, sent);
	CHECK_U64(server.disconnects, 0);
	/* The other one never noticed. */
	comch_send(&server, server.peer, "you are fine", 12);
	COMCH_UNTIL(pe, other.messages == 1);
	/* An unfreed task. */
	MUST(doca_comch_client_task_send_alloc_init(other.client, other.peer, "x", 1, &task));
	CHECK_STATUS(doca_ctx_stop(other.ctx), DOCA_ERROR_IN_PROGRESS);
	comch_idle(pe, 50);
	CHECK_U64(comch_state(&other), DOCA_CTX_STATE_STOPPING);
	doca_task_free(doca_comch_task_send_as_task(task));
	COMCH_UNTIL(pe, comch_state(&other) == DOCA_CTX_STATE_IDLE && server.disconnects == 1);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&other);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(far));
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
