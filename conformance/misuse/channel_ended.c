/*
 * rule: not-connected
 *
 * The server keeps the handle of a client that has gone, and sends to it.
 */
#include "misuse.h"

#include "../c/x_comch.h"

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_comch_task_send *task = NULL;
	struct doca_comch_connection *peer;
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "gone", 4);
	comch_make_client(&client, pe, "gone", 4);
	comch_run(&server);
	comch_run(&client);
	COMCH_UNTIL(pe, server.connects == 1);
	peer = server.peer;
	comch_send(&server, peer, "hello", 5);
	COMCH_UNTIL(pe, client.messages == 1 && server.sent == 1);
	comch_stop(&client);
	COMCH_UNTIL(pe, server.disconnects == 1);
	if (WRONG)
		CHECK_REFUSED(doca_comch_server_task_send_alloc_init(server.server, peer, "hello", 5, &task));
	else
		MUST_BE(server.peer == NULL);
	comch_stop(&server);
	comch_destroy(&client);
	comch_destroy(&server);
	MUST(doca_pe_destroy(pe));
	return check_result();
}
