/*
 * rule: wrong-representor
 *
 * The server was given the representor of one host function, the client runs on another one.
 */
#include "misuse.h"

#include "../c/x_comch.h"

int main(void)
{
	struct comch_end server = {0}, client = {0};
	struct doca_pe *pe = NULL;

	MUST(doca_pe_create(&pe));
	comch_make_server(&server, pe, "rendezvous", 2);
	comch_run(&server);
	client.pe = pe;
	client.dev = comch_open(WRONG ? "b1:00.1" : COMCH_HOST, 0);
	MUST(doca_comch_client_create(client.dev, "rendezvous", &client.client));
	client.ctx = doca_comch_client_as_ctx(client.client);
	comch_common(&client);
	MUST(doca_comch_client_task_send_set_conf(client.client, comch_sent_cb, comch_failed_cb, 2));
	MUST_BE(doca_ctx_start(client.ctx) == DOCA_ERROR_IN_PROGRESS);
	COMCH_UNTIL(pe, comch_state(&client) != DOCA_CTX_STATE_STARTING);
	MUST_BE(comch_state(&client) == (WRONG ? DOCA_CTX_STATE_IDLE : DOCA_CTX_STATE_RUNNING));
	if (!WRONG)
		comch_stop(&client);
	comch_destroy(&client);
	comch_stop(&server);
	comch_destroy(&server);
	MUST(doca_pe_destroy(pe));
	return check_result();
}
