/*
 * Connect, say a word, leave; 60 times with the same client object, 60 times with a new one, and with a
 * server that is stopped under its guests and started again. No connection, no message, no descriptor of
 * the system is left over.
 *
 * clauses: comch Client life, Server life (stop with connections)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define ROUNDS 60

static void echo(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	comch_send(end, peer, bytes, len);
}

static void visit(struct comch_end *client, struct comch_end *server, struct doca_pe *pe)
{
	unsigned before = client->messages, left = server->disconnects;

	comch_run(client);
	comch_send(client, client->peer, "hello", 5);
	COMCH_UNTIL(pe, client->messages == before + 1);
	comch_stop(client);
	COMCH_UNTIL(pe, server->disconnects == left + 1);
}

int main(void)
{
	struct comch_end server = {.on_message = echo}, client = {0}, fresh;
	struct doca_pe *pe = NULL;
	unsigned files = 0;
	int i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "again", 4);
	comch_make_client(&client, pe, "again", 4);
	comch_run(&server);
	for (i = 0; i < ROUNDS; i++) {
		visit(&client, &server, pe);
		if (i == 4)
			files = two_open_files();
	}
	for (i = 0; i < ROUNDS; i++) {
		memset(&fresh, 0, sizeof(fresh));
		comch_make_client(&fresh, pe, "again", 4);
		visit(&fresh, &server, pe);
		comch_destroy(&fresh);
	}
	CHECK_U64(server.connects, 2 * ROUNDS);
	CHECK_U64(server.messages, 2 * ROUNDS);
	two_no_leak(files);
	for (i = 0; i < 10; i++) {
		comch_run(&client);
		COMCH_UNTIL(pe, server.connects == 2 * ROUNDS + (unsigned)i + 1);
		CHECK_STATUS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
		CHECK_U64(comch_state(&server), DOCA_CTX_STATE_STOPPING);
		CHECK_STATUS(doca_ctx_stop(server.ctx), DOCA_ERROR_IN_PROGRESS);
		COMCH_UNTIL(pe, comch_state(&server) == DOCA_CTX_STATE_IDLE &&
					comch_state(&client) == DOCA_CTX_STATE_IDLE);
		comch_run(&server);
	}
	visit(&client, &server, pe);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
