/*
 * A client without its server: none at all, one of another name, one for another host function, one that
 * is idle. The start is accepted, the client goes from STARTING to IDLE during progress, may be started
 * again, and gets through as soon as there is a server. A start can be given up by stop.
 *
 * clauses: comch Client life (no such server), Roles and topology
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void expect_nobody(struct comch_end *client, struct doca_pe *pe)
{
	unsigned before = client->changes;

	CHECK_STATUS(doca_ctx_start(client->ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(client) != DOCA_CTX_STATE_STARTING);
	CHECK_U64(comch_state(client), DOCA_CTX_STATE_IDLE);
	CHECK_U64(client->changes, before + 2);
	CHECK_U64(client->to[before], DOCA_CTX_STATE_STARTING);
	CHECK_U64(client->to[before + 1], DOCA_CTX_STATE_IDLE);
}

int main(void)
{
	struct comch_end client = {0}, server = {0}, other = {0};
	struct doca_comch_server *elsewhere = NULL;
	struct doca_dev_rep *rep;
	struct doca_dev *dev;
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_client(&client, pe, "nobody", 4);
	expect_nobody(&client, pe);
	/* Almost the name. */
	comch_make_server(&other, pe, "nobody ", 4);
	comch_run(&other);
	expect_nobody(&client, pe);
	/* The name, for the other port's host function. */
	dev = comch_open("03:00.1", 1);
	rep = comch_open_rep(dev, "b1:00.1");
	MUST(doca_comch_server_create(dev, rep, "nobody", &elsewhere));
	MUST(doca_pe_connect_ctx(pe, doca_comch_server_as_ctx(elsewhere)));
	MUST(doca_comch_server_task_send_set_conf(elsewhere, comch_sent_cb, comch_failed_cb, 1));
	MUST(doca_comch_server_event_msg_recv_register(elsewhere, comch_message_cb));
	MUST(doca_comch_server_event_connection_status_changed_register(elsewhere, comch_connect_cb,
									comch_disconnect_cb));
	MUST(doca_ctx_start(doca_comch_server_as_ctx(elsewhere)));
	expect_nobody(&client, pe);
	/* The right one, not started. */
	comch_make_server(&server, pe, "nobody", 4);
	expect_nobody(&client, pe);
	/* Started at last. */
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	comch_send(&client, client.peer, "found you", 9);
	COMCH_UNTIL(pe, server.messages == 1 && client.sent == 1);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	/* Given up before anybody answered. */
	CHECK_STATUS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_STATUS2(doca_ctx_stop(client.ctx), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE);
	comch_idle(pe, 50);
	COMCH_UNTIL(pe, server.connects == server.disconnects);
	/* And with a server again. */
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == server.disconnects + 1);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.connects == server.disconnects);
	comch_stop(&server);
	comch_stop(&other);
	CHECK_STATUS2(doca_ctx_stop(doca_comch_server_as_ctx(elsewhere)), DOCA_SUCCESS, DOCA_ERROR_IN_PROGRESS);
	comch_idle(pe, 20);
	CHECK_OK(doca_comch_server_destroy(elsewhere));
	CHECK_OK(doca_dev_rep_close(rep));
	CHECK_OK(doca_dev_close(dev));
	comch_destroy(&client);
	comch_destroy(&server);
	comch_destroy(&other);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
