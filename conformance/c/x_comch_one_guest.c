/*
 * A server that takes one client: it refuses the second by disconnecting inside the connect callback and
 * hears nothing more of it; the first goes on talking undisturbed; the refused client ends by itself. A
 * later disconnect from the server's side is silent for the server as well.
 *
 * clauses: comch doca_comch_server_disconnect, Server life
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static void one_only(struct comch_end *end, struct doca_comch_connection *peer)
{
	static struct doca_comch_connection *first;

	if (end->connects == 1) {
		first = peer;
		return;
	}
	CHECK_OK(doca_comch_server_disconnect(end->server, peer));
	end->peer = first;
	/* The handle is dead from here on. */
	CHECK_STATUS(doca_comch_server_disconnect(end->server, peer), DOCA_ERROR_INVALID_VALUE);
}

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	comch_send(end, peer, bytes, len);
}

static void talk(struct comch_end *end, struct doca_pe *pe, const char *text)
{
	unsigned before = end->messages;

	comch_send(end, end->peer, text, (uint32_t)strlen(text));
	COMCH_UNTIL(pe, end->messages == before + 1);
	CHECK_BYTES(end->last, text, strlen(text));
}

int main(void)
{
	struct comch_end server = {.on_connect = one_only, .on_message = echo}, first = {0}, second = {0};
	struct doca_pe *pe = NULL;
	int round;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "guest", 8);
	comch_run(&server);
	comch_make_client(&first, pe, "guest", 8);
	comch_make_client(&second, pe, "guest", 8);
	comch_run(&first);
	talk(&first, pe, "one");
	for (round = 0; round < 5; round++) {
		CHECK_STATUS(doca_ctx_start(second.ctx), DOCA_ERROR_IN_PROGRESS);
		/* It may have run for a moment; it ends without any call of its own. */
		COMCH_UNTIL(pe, comch_state(&second) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(server.connects, 2 + round);
		CHECK_U64(server.disconnects, 0);
		talk(&first, pe, "still here");
	}
	/* A server drops the one it has: silent here, told there. */
	CHECK_OK(doca_comch_server_disconnect(server.server, server.peer));
	COMCH_UNTIL(pe, comch_state(&first) == DOCA_CTX_STATE_IDLE);
	CHECK_U64(first.to[first.changes - 2], DOCA_CTX_STATE_STOPPING);
	comch_idle(pe, 50);
	CHECK_U64(server.disconnects, 0);
	comch_stop(&server);
	CHECK_U64(server.disconnects, 0);
	comch_destroy(&first);
	comch_destroy(&second);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
