/*
 * As many clients as the capability allows, up to a thousand, and one more: that one is not let in, goes
 * from STARTING to IDLE, and gets in when another has left. All of them can be heard. (One process for all
 * of them; they connect side by side.)
 *
 * clauses: comch doca_comch_cap_get_max_clients, Client life (server full)
 * covers: @
 */
#define _GNU_SOURCE
#include "x_comch.h"

#define MOST 1000

static struct comch_end server;

int main(void)
{
	struct comch_end *clients;
	struct doca_pe *pe = NULL;
	uint32_t most = 0, count, i;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "house", 8);
	MUST(doca_comch_cap_get_max_clients(doca_dev_as_devinfo(server.dev), &most));
	count = most < MOST ? most : MOST;
	clients = calloc(count + 1, sizeof(*clients));
	MUST_BE(clients != NULL);
	comch_run(&server);
	for (i = 0; i < count; i++) {
		comch_make_client(&clients[i], pe, "house", 1);
		MUST_BE(doca_ctx_start(clients[i].ctx) == DOCA_ERROR_IN_PROGRESS);
		/* Ten at a time. */
		if (i % 10 == 9 || i + 1 == count)
			COMCH_UNTIL(pe, server.connects == i + 1);
	}
	for (i = 0; i < count; i++) {
		COMCH_UNTIL(pe, comch_state(&clients[i]) != DOCA_CTX_STATE_STARTING);
		MUST_BE(comch_state(&clients[i]) == DOCA_CTX_STATE_RUNNING);
		MUST(doca_comch_client_get_connection(clients[i].client, &clients[i].peer));
	}
	if (count == most) {
		comch_make_client(&clients[count], pe, "house", 1);
		MUST_BE(doca_ctx_start(clients[count].ctx) == DOCA_ERROR_IN_PROGRESS);
		COMCH_UNTIL(pe, comch_state(&clients[count]) != DOCA_CTX_STATE_STARTING);
		CHECK_U64(comch_state(&clients[count]), DOCA_CTX_STATE_IDLE);
		CHECK_U64(server.connects, count);
		comch_stop(&clients[0]);
		COMCH_UNTIL(pe, server.disconnects == 1);
		comch_run(&clients[count]);
		comch_stop(&clients[count]);
		COMCH_UNTIL(pe, server.disconnects == 2);
		comch_destroy(&clients[count]);
		comch_run(&clients[0]);
	}
	for (i = 0; i < count; i++)
		comch_send(&clients[i], clients[i].peer, &i, sizeof(i));
	COMCH_UNTIL(pe, server.messages == count);
	for (i = 0; i < count; i++)
		CHECK_STATUS(doca_ctx_stop(clients[i].ctx), DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, server.disconnects == server.connects);
	for (i = 0; i < count; i++) {
		COMCH_UNTIL(pe, comch_state(&clients[i]) == DOCA_CTX_STATE_IDLE);
		CHECK_U64(clients[i].sent, 1);
		comch_destroy(&clients[i]);
	}
	comch_stop(&server);
	comch_destroy(&server);
	CHECK_OK(doca_pe_destroy(pe));
	free(clients);
	return check_result();
}
