/*
 * Server and client in one process on one progress engine: what is told when. The server runs at once,
 * the client only later and never inside start; the connect callback comes before any message; nothing
 * reaches the client in the same progress call that made it run; user data of connections; who owns a
 * connection; a plain end with the disconnect callback.
 *
 * clauses: comch Server life, Client life, Event order, Connection
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

static struct comch_end server, client;
static int nested; /* inside doca_ctx_start */

static void server_state(struct comch_end *end, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)end;
	if (next == DOCA_CTX_STATE_RUNNING) {
		CHECK_U64(prev, DOCA_CTX_STATE_IDLE);
		CHECK(nested);
	}
}

static void client_state(struct comch_end *end, enum doca_ctx_states prev, enum doca_ctx_states next)
{
	(void)prev;
	if (next == DOCA_CTX_STATE_RUNNING) {
		CHECK(!nested);
		/* The server's greeting is on its way, but this call brings no message. */
		CHECK_U64(end->messages, 0);
		CHECK_U64(comch_calls, 0);
	}
}

static void greet(struct comch_end *end, struct doca_comch_connection *peer)
{
	union doca_data user = {0};

	CHECK_PTR(doca_comch_connection_get_user_data(peer).ptr, NULL);
	user.u64 = 4711;
	CHECK_OK(doca_comch_connection_set_user_data(peer, user));
	CHECK_PTR(doca_comch_server_get_server_ctx(peer), end->server);
	CHECK_PTR(doca_comch_client_get_client_ctx(peer), NULL);
	CHECK_U64(end->messages, 0);
	comch_send(end, peer, "welcome", 7);
}

static void heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	CHECK_U64(doca_comch_connection_get_user_data(peer).u64, 4711);
	comch_send(end, peer, bytes, len); /* as it came */
}

static void client_heard(struct comch_end *end, struct doca_comch_connection *peer, uint8_t *bytes, uint32_t len)
{
	(void)bytes, (void)len;
	/* Programs set this after they see RUNNING, and count on it here. */
	CHECK_U64(doca_comch_connection_get_user_data(peer).u64, 42);
	CHECK_PTR(doca_comch_client_get_client_ctx(peer), end->client);
	CHECK_PTR(doca_comch_server_get_server_ctx(peer), NULL);
}

static void gone(struct comch_end *end, struct doca_comch_connection *peer)
{
	/* The handle still serves here. */
	CHECK_U64(doca_comch_connection_get_user_data(peer).u64, 4711);
	CHECK_PTR(doca_comch_server_get_server_ctx(peer), end->server);
}

int main(void)
{
	struct doca_comch_connection *connection = NULL;
	union doca_data user = {0};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	server.on_state = server_state;
	server.on_connect = greet;
	server.on_message = heard;
	server.on_disconnect = gone;
	client.on_state = client_state;
	client.on_message = client_heard;
	comch_make_server(&server, pe, "first words", 4);
	comch_make_client(&client, pe, "first words", 4);
	CHECK_STATUS(doca_comch_client_get_connection(client.client, &connection), DOCA_ERROR_BAD_STATE);
	nested = 1;
	CHECK_OK(doca_ctx_start(server.ctx));
	CHECK_U64(comch_state(&server), DOCA_CTX_STATE_RUNNING);
	CHECK_U64(server.changes, 1);
	CHECK_STATUS(doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(comch_state(&client), DOCA_CTX_STATE_STARTING);
	CHECK_U64(client.changes, 1);
	CHECK_U64(client.to[0], DOCA_CTX_STATE_STARTING);
	nested = 0;
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_RUNNING);
	CHECK_U64(client.to[1], DOCA_CTX_STATE_RUNNING);
	MUST(doca_comch_client_get_connection(client.client, &connection));
	CHECK_PTR(doca_comch_connection_get_user_data(connection).ptr, NULL);
	user.u64 = 42;
	MUST(doca_comch_connection_set_user_data(connection, user));
	COMCH_UNTIL(pe, client.messages == 1 && server.sent == 1);
	CHECK_U64(server.connects, 1);
	CHECK_U64(client.last_len, 7);
	CHECK_BYTES(client.last, "welcome", 7);
	comch_send(&client, connection, "a word back", 11);
	COMCH_UNTIL(pe, client.messages == 2 && client.sent == 1 && server.sent == 2);
	CHECK_U64(client.last_len, 11);
	CHECK_BYTES(client.last, "a word back", 11);

	CHECK_STATUS(doca_ctx_stop(client.ctx), DOCA_ERROR_IN_PROGRESS);
	CHECK_U64(comch_state(&client), DOCA_CTX_STATE_STOPPING);
	COMCH_UNTIL(pe, comch_state(&client) == DOCA_CTX_STATE_IDLE && server.disconnects == 1);
	CHECK_U64(client.changes, 4);
	CHECK_U64(client.to[2], DOCA_CTX_STATE_STOPPING);
	CHECK_U64(client.to[3], DOCA_CTX_STATE_IDLE);
	CHECK_U64(comch_state(&server), DOCA_CTX_STATE_RUNNING);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	return check_result();
}
